#!/bin/sh
# jieba's part-of-speech dictionary has cities of millions as other words: 大连 and Seoul (首尔) are adverbs ("d"), 保定, 包头,
# 开封 and 遵义 verbs ("v"), 银川, 烟台 and 大理 common nouns ("n"), while their neighbours 沈阳, 洛阳 and 昆明 are places ("ns").
# The tag does not depend on the sentence: "我住在大连" has 大连 as an adverb as well. Who filters entities by "ns" loses the
# residents of these cities without an error. Most of them are places once 市 ("city") follows: 大连市 is "ns".
# Seen with jieba 0.42.1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "jieba==0.42.1" "setuptools<81"
"$folder/venv/bin/python" -W ignore - <<'END'
import jieba.posseg

jieba.setLogLevel(60)
EXPECTED = {
    "大连": "d", "首尔": "d", "保定": "v", "包头": "v", "开封": "v", "遵义": "v", "银川": "n", "烟台": "n", "大理": "n",
    "沈阳": "ns", "洛阳": "ns", "昆明": "ns",
}  # fmt: skip
for city, tag in EXPECTED.items():
    for sentence in (f"我住在{city}", f"{city}是一座城市"):
        tags = {pair.word: pair.flag for pair in jieba.posseg.cut(sentence)}
        assert tags.get(city) == tag, (sentence, tags)
for city in ("大连", "包头", "开封", "遵义", "银川", "烟台"):
    assert jieba.posseg.dt.word_tag_tab[f"{city}市"] == "ns", city
print("jieba", jieba.__version__, EXPECTED)
END
