"""Encodings without a mark: read where the detector is sure, refused or told where it is not."""

from __future__ import annotations

import pytest

from agentic_rag.ingest.files.encodings import decode_text, recognise

TEXTS = {
    "gb18030": "苏州的桥很多，河水从城中流过，老人在桥边喝茶。",
    "big5": "臺灣的高山茶葉很有名，採茶的人在清晨上山。",
    "cp932": "港の灯台は毎晩七時に光り始め、漁師たちは朝早く船を出す。",
    "cp949": "항구의 등대는 매일 밤 일곱 시에 켜진다.",
    "cp1251": "Паром отходит утром в семь часов, а возвращается поздно вечером.",
    "cp1253": "Το πλοίο φεύγει το πρωί στις επτά και επιστρέφει αργά το βράδυ.",
    "cp1255": "הספינה יוצאת בבוקר בשבע וחוזרת מאוחר בערב.",
    "cp1256": "السفينة تغادر في الصباح وتعود في وقت متأخر من المساء.",
    "cp1250": "Przewoźnik płynie codziennie przez rzekę, chyba że grożą powodzie.",
    "koi8_r": "Паром отходит утром в семь часов, билеты продают на пристани.",
    "cp866": "Список покупок: молоко, хлеб, сыр и яблоки к субботе.",
    "mac_roman": "Le gardien du phare préfère l'été, mais l'hiver il répare les bouées.",
    "cp850": "Größere Schlüssel hängen über der Tür, die übrigen liegen in der Küche.",
    "iso8859_2": "Životopis řezbáře uvádí, že dílnu měl u mlýna a učil tam též šest žáků.",
    "koi8_u": "Її брат Єгор живе біля ґанку й щодня лагодить човни.",
    "cp874": "เรือข้ามฟากออกเวลาเจ็ดโมงเช้าทุกวัน",
    "euc_jp": "港の灯台は毎晩七時に光り始め、漁師たちは朝早く船を出す。",
    "iso2022_jp": "港の灯台は毎晩七時に光り始める。",
    "utf_16_le": "The ferry leaves at seven.",
    "utf_16_be": "La barca è già partita.",
}


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("times", [1, 40])
def test_texts_are_recognised_and_the_encoding_is_told(encoding: str, times: int) -> None:
    text = "# Note\r\n" * (times > 1) + TEXTS[encoding] * times
    found, about = decode_text(text.encode(encoding))
    assert found == text
    assert about is not None
    assert about.startswith("read as ")


@pytest.mark.parametrize(
    "text",
    ["La rivière traverse la forêt et les élèves préfèrent l'été.", "El niño comió en la habitación mañana.", "Färjan går på måndag från ön."],
)  # fmt: skip
def test_latin_letters_of_the_west_are_recognised(text: str) -> None:
    found, about = decode_text(text.encode("cp1252"))
    assert found == text
    assert about is not None
    assert about.startswith("read as Windows-1252")


@pytest.mark.parametrize(
    "raw",
    [
        "你好".encode("gb18030"), "caf\xe9".encode("latin-1"), "Příliš žluťoučký kůň úpěl ďábelské ódy".encode("cp1250"), bytes(range(256)) * 4,
        "茶と水と花の話を書いた長いメモ。".encode() + b"\xff" + "続きの文もここにある。".encode(), b"\xff\xfea",
    ],
)  # fmt: skip
def test_what_is_not_sure_is_refused(raw: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        decode_text(raw)


def test_plain_texts_need_no_line() -> None:
    assert decode_text("茶".encode()) == ("茶", None)
    assert recognise(b"") is None


@pytest.mark.parametrize(
    ("encoding", "text"), [("gb18030", "苏州的桥很多，河水从城中流过。"), ("cp932", "港の灯台は毎晩光る。"), ("cp1251", "Паром отходит утром.")]
)  # fmt: skip
def test_a_long_text_is_recognised_by_its_lines_that_are_not_ascii(encoding: str, text: str) -> None:
    for long in ("An English line.\n" * 20_000 + text * 3, "a" + text * 20_000):
        assert decode_text(long.encode(encoding))[0] == long


@pytest.mark.parametrize(
    "text",
    [
        "a log with \x1b[31mred\x1b[0m letters and \x1b$ for a price of five",
        "one \0 in a text of plain words",
        "茶\0\0 und mehr",
    ],
)
def test_escapes_and_single_nuls_are_kept(text: str) -> None:
    assert decode_text(text.encode()) == (text, None)
