"""Plain text and Markdown in the encodings that people's older files have."""

from __future__ import annotations

from made_documents.pieces import Made

_TEXTS = {
    "gb18030": "苏州的桥很多，河水从城中流过。老人每天早上在桥边喝茶，孩子们放学以后在河边放风筝。",
    "gbk": "会议定于三月五日下午举行，请各部门准备报告。预算比去年减少百分之三，图书馆的屋顶需要修理。",
    "big5": "臺灣的高山茶葉很有名，採茶的人在清晨上山。市場裡賣魚的老闆說，颱風過後價錢會上漲。",
    "shift_jis": "港の灯台は毎晩七時に光り始める。漁師たちは朝早く船を出し、昼前に市場へ魚を運ぶ。",
    "euc-jp": "図書館の屋根は来月修理される予定です。予算は去年より三パーセント少ないと聞きました。",
    "euc-kr": "항구의 등대는 매일 밤 일곱 시에 켜진다. 어부들은 아침 일찍 배를 타고 바다로 나간다.",
    "windows-1251": "Паром отходит утром в семь часов, а возвращается поздно вечером. Билеты продают на пристани.",
    "windows-1252": "Der Fährmann fährt täglich über den Fluß, außer wenn Überschwemmungen drohen. Das kostet fünf Euro – „günstig“, sagt er.",
    "windows-1250": "Przewoźnik płynie codziennie przez rzekę, chyba że grożą powodzie. Łódź została pomalowana na żółto w październiku.",
    "utf-16": "The ferry leaves at seven, and the tickets cost five crowns – told by the ferryman.",
}


def text_files(seed: int) -> list[Made]:
    """Ten notes of a few paragraphs, one in each encoding; ``seed`` is not used."""
    return [Made(name, (f"# 1\n\n{text}\n").encode(name), (text,)) for name, text in _TEXTS.items()]
