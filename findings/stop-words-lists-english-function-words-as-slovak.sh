#!/bin/sh
# The Slovak list of stop-words contains the English words "and", "for", "of" and "the", which are no Slovak words. No other
# of its lists but English has more than two of them. Who tells the language of a short text by the list with the most hits
# takes English with a name in it for Slovak: of "compare the price of Ada and Bol", four words are "Slovak" (bol is: "was"),
# three are English.
# Seen with stop-words 2025.11.4.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "stop-words==2025.11.4"
"$folder/venv/bin/python" - <<'END'
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

ENGLISH = {"and", "for", "of", "the"}
lists = {name: set(get_stop_words(name)) for name in AVAILABLE_LANGUAGES}
shared = {name: sorted(ENGLISH & words) for name, words in lists.items() if name != "english"}
assert shared["slovak"] == ["and", "for", "of", "the"], shared["slovak"]
assert all(len(words) <= 2 for name, words in shared.items() if name != "slovak"), shared
print("of and, for, of, the:", {name: words for name, words in shared.items() if words})
sentence = "compare the price of ada and bol".split()
hits = {name: sum(word in words for word in sentence) for name, words in lists.items()}
assert max(hits, key=hits.get) == "slovak" and (hits["slovak"], hits["english"]) == (4, 3), hits
print("hits:", {name: count for name, count in hits.items() if count > 1})
END
