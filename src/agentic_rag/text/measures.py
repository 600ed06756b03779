"""Units of measure as people write them, in the words of ``pint``, which converts them.

``pint`` is imported when a unit is first converted.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

DEGREES = "degrees"
"""A degree of no stated scale."""
ERA = "era"
"""Of a year that is counted from the birth of Christ; before it the year is negative."""
CURRENCIES = frozenset({"euro", "us_dollar", "sterling", "yuan", "yen", "jiao"})
HEADER_UNIT = re.compile(r"\s*[(（\[]\s*(?P<unit>[^()（）\[\]\d]{1,8}?)\s*[)）\]]\s*$")
"""Ends the name of a column or property whose values are all of one unit: ``Distance (km)``."""
TEMPERATURES = ("degC", "degF", "kelvin")
_DEFINITIONS = (
    "pico- = 1e-12, nano- = 1e-9, micro- = 1e-6, milli- = 1e-3, centi- = 1e-2, deci- = 0.1, deca- = 10, hecto- = 100, "
    "kilo- = 1e3, mega- = 1e6, giga- = 1e9, tera- = 1e12, peta- = 1e15, exa- = 1e18, "
    "meter = [length], gram = [mass], second = [time], kelvin = [temperature], ampere = [current], mole = [substance], "
    "candela = [luminosity], bit = [], radian = [], pixel = [printing_unit], decibel = [level], euro = [euro], "
    "us_dollar = [us_dollar], sterling = [sterling], yuan = [yuan], yen = [yen], jiao = 0.1 yuan, percent = 0.01, "
    "permille = 0.001, tenth = 0.1, degree = 3.141592653589793 / 180 * radian, byte = 8 bit, "
    "minute = 60 second, hour = 60 minute, day = 24 hour, week = 7 day, fortnight = 2 week, year = 365.25 day, "
    "month = year / 12, decade = 10 year, century = 100 year, ke = 15 minute, inch = 0.0254 meter, foot = 12 inch, "
    "yard = 3 foot, mile = 1760 yard, angstrom = 1e-10 meter, micron = 1e-6 meter, li = 500 meter, chi = meter / 3, "
    "acre = 66 * 660 * (1200 / 3937 * meter) ** 2, hectare = 1e4 * meter ** 2, mu = 2000 / 3 * meter ** 2, "
    "knot = 1852 * meter / hour, liter = 1e-3 * meter ** 3, gallon = 231 * inch ** 3, quart = gallon / 4, pint = quart / 2, "
    "cup = pint / 2, bushel = 2150.42 * inch ** 3, barrel = 31.5 * gallon, tablespoon = 15e-6 * meter ** 3, "
    "teaspoon = 5e-6 * meter ** 3, pound = 453.59237 gram, ounce = pound / 16, metric_ton = 1e6 gram, jin = 500 gram, "
    "liang = 50 gram, dalton = 1.6605390689252e-24 gram, hertz = 1 / second, newton = 1e3 * gram * meter / second ** 2, "
    "pascal = newton / meter ** 2, joule = newton * meter, watt = joule / second, volt = watt / ampere, ohm = volt / ampere, "
    "calorie = 4.184 joule, watt_hour = watt * hour, electron_volt = 1.602176634e-19 joule, "
    "pound_force = 4.4482216152605 newton, horsepower = 550 * foot * pound_force / second, bar = 1e5 pascal, "
    "atmosphere = 101325 pascal, torr = atmosphere / 760, psi = pound_force / inch ** 2, lumen = candela, "
    "becquerel = 1 / second, sievert = joule / gram / 1e3, katal = mole / second, degC = kelvin; offset: 273.15, "
    "degF = 5 / 9 * kelvin; offset: 255.3722222222222"
)
"""The units that text names, in the language of ``pint``, whose own thousand take .25 s to read."""
_HAN = dict(
    part.split("=")
    for part in (
        "毫克=milligram 微克=microgram 千克=kilogram 公斤=kilogram 克=gram 吨=metric_ton 斤=jin 两=liang 毫米=millimeter "
        "厘米=centimeter 公分=centimeter 分米=decimeter 千米=kilometer 公里=kilometer 纳米=nanometer 微米=micrometer 米=meter 里=li "
        "尺=chi 平方公里=kilometer**2 平方千米=kilometer**2 平方米=meter**2 平米=meter**2 立方米=meter**3 立方厘米=centimeter**3 "
        "公顷=hectare 亩=mu 毫升=milliliter 公升=liter 升=liter 茶匙=teaspoon 小勺=teaspoon 汤匙=tablespoon 大勺=tablespoon "
        "毫秒=millisecond 秒钟=second 秒=second 分钟=minute 刻钟=ke 小时=hour 个小时=hour 个钟头=hour 钟头=hour 天=day 周=week "
        "个星期=week 星期=week 个月=month 月=month 年=year 个世纪=century 世纪=century 摄氏度=degC 华氏度=degF 度=degrees 千瓦时=kilowatt_hour "
        "千瓦=kilowatt 兆瓦=megawatt 瓦=watt 千伏=kilovolt 伏=volt 毫安=milliampere 安=ampere 千欧=kiloohm 欧姆=ohm 千帕=kilopascal "
        "兆帕=megapascal 帕=pascal 千卡=kilocalorie 大卡=kilocalorie 卡=calorie 千焦=kilojoule 焦=joule 赫兹=hertz 美元=us_dollar "
        "欧元=euro 英镑=sterling 日元=yen 元钱=yuan 元=yuan 角钱=jiao 角=jiao 块钱=yuan 块=yuan 人民币=yuan 英里=mile 英尺=foot 英寸=inch 磅=pound "
        "分=minute 成=tenth 公里/小时=kilometer/hour 米/秒=meter/second"
    ).split()
)
_SIGNS = dict(
    part.split("=")
    for part in (
        "%=percent ‰=permille °C=degC °F=degF ℃=degC ℉=degF C=degC F=degF °=degrees K=kelvin h=hour hr=hour hrs=hour min=minute "
        "mins=minute sec=second secs=second d=day t=metric_ton lb=pound lbs=pound oz=ounce ft=foot in=inch mi=mile yd=yard ha=hectare "
        "kn=knot cc=milliliter cu=cup mph=mile/hour kph=kilometer/hour kmh=kilometer/hour bpm=1/minute rpm=1/minute psi=psi "
        "tsp=teaspoon tbsp=tablespoon kilo=kilogram kilos=kilogram ohm=ohm ohms=ohm kilohm=kiloohm kilohms=kiloohm megohm=megaohm €=euro $=us_dollar "
        "£=sterling ¥=yuan EUR=euro USD=us_dollar GBP=sterling CNY=yuan RMB=yuan JPY=yen bucks=us_dollar "
        "bar=bar kcal=kilocalorie Wh=watt_hour cup=cup ton=metric_ton day=day yen=yen"
    ).split()
)
_PREFIXES = {"": "", "µ": "micro", "μ": "micro", "u": "micro", "m": "milli", "c": "centi", "d": "deci"} | {"n": "nano", "k": "kilo", "M": "mega", "G": "giga", "T": "tera"}  # fmt: skip
_BASES = {"g": "gram", "m": "meter", "l": "liter", "L": "liter", "s": "second", "W": "watt", "V": "volt"} | {"A": "ampere", "Ω": "ohm", "Hz": "hertz", "J": "joule", "N": "newton", "Pa": "pascal", "B": "byte", "b": "bit", "cal": "calorie", "Wh": "watt_hour", "mol": "mole"}  # fmt: skip
_SYMBOLS = {
    sign + base: name + unit for sign, name in _PREFIXES.items() for base, unit in _BASES.items()
} | _SIGNS
_ANY_CASE = {symbol.casefold(): unit for symbol, unit in _SYMBOLS.items() if len(symbol) > 1}
_PREFIXES_IN_FULL = ("", *"pico nano micro milli centi deci deca hecto kilo mega giga tera peta exa".split())


def _aliases(names: str) -> dict[str, str]:
    """The unit by each of its names; the first of names between slashes is ``pint``'s."""
    return {alias: one.split("/")[0] for one in names.split() for alias in one.split("/")}


_NAMES = _aliases(
    "year month day week hour minute/min century/centuries decade fortnight percent degree degC/celsius/centigrade "
    "degF/fahrenheit kelvin mile inch/inches foot/feet yard acre hectare knot micron angstrom pound ounce metric_ton/ton/tonne "
    "gallon pint quart cup barrel bushel tablespoon teaspoon horsepower atmosphere torr euro us_dollar/dollar sterling yuan "
    "yen jiao jin liang decibel"
) | {
    prefix + alias: prefix + unit
    for prefix in _PREFIXES_IN_FULL
    for alias, unit in _aliases(
        "meter/metre gram/gramme liter/litre second watt volt ampere/amp ohm joule newton pascal hertz calorie byte bit pixel "
        "mole bar candela lumen dalton sievert becquerel katal radian electron_volt/electronvolt"
    ).items()
}
"""Names of units as people write them after a number, in the singular. ``pint`` takes many more words for units: an exam for
an exameter, acts for attocarats."""
_SIMPLE = re.compile(
    r"\s?-?(?:(?P<scale>degrees?\s?(?:Celsius|centigrade|Fahrenheit|C\b|F\b)|degrees?\b|deg\b)"
    r"|(?P<power>square|cubic)\s(?P<of>[a-z]{4,12})\b"
    r"|percentage\spoints?\b|(?P<percent>per\scent)\b"
    rf"|(?P<han>{'|'.join(sorted(map(re.escape, _HAN), key=len, reverse=True))})"
    r"|(?P<latin>(?:° ?)?[A-Za-zµμΩ]{1,14}|[%‰°℃℉€£$¥])(?P<exponent>\^?[23](?!\d)|[²³])?(?![A-Za-z]))",
)
_PER = re.compile(
    r"\s?(?:(?:times|beats|turns|revolutions|strokes)\s)?(?:/\s?|per\s|an?\s|each\s|every\s)(?P<unit>[A-Za-z]{1,8})\b"
)


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(_DEFINITIONS.split(", "), autoconvert_offset_to_baseunit=True)
    return registry


def to_base(value: float, unit: str) -> tuple[float, str]:
    """The amount in the base units of its dimension, and that dimension."""
    quantity = _registry().Quantity(value, unit or "dimensionless").to_base_units()
    return float(quantity.magnitude), str(quantity.dimensionality)


def convert(value: float, unit: str, to: str) -> float:
    """The amount in another unit of the same dimension."""
    return float(_registry().Quantity(value, unit).to(to).magnitude)


@cache
def dimension_of(unit: str) -> str:
    """What a unit measures: ``[mass]``."""
    return to_base(1.0, unit)[1]


def unit_at(text: str, start: int) -> tuple[str, int]:
    """The unit that begins at a place, and where it ends; "" and the place where there is none."""
    match = _SIMPLE.match(text, start)
    named = None if match is None else _unit_name(match)
    unit, end = ("", start) if match is None or named is None else (named, match.end())
    per = _PER.match(text, end)
    below = None if per is None else _word(per["unit"])
    if per is None or below is None or (not unit and dimension_of(below) != "[time]"):
        return unit, end
    return f"{unit or 1}/{below}", per.end()


def _unit_name(match: re.Match[str]) -> str | None:
    """The unit of a match of ``_SIMPLE``: "" for percentage points, None for a word that is no unit."""
    if match["scale"]:
        letter = match["scale"].casefold().removeprefix("degrees").removeprefix("degree").strip()[:1]
        return {"c": "degC", "f": "degF"}.get(letter, DEGREES)
    if match["power"]:
        unit = _word(match["of"])
        return unit and f"{unit}**{2 if match['power'] == 'square' else 3}"
    if match["percent"]:
        return "percent"
    if match["han"]:
        return _HAN[match["han"]]
    if match["latin"] is None:
        return ""
    unit = _word(match["latin"].replace(" ", ""))
    power = (match["exponent"] or "").strip("^").translate({ord("²"): "2", ord("³"): "3"})
    return unit and (f"{unit}**{power}" if power else unit)


@cache
def _word(word: str) -> str | None:
    """The unit that a word or symbol names; symbols in their case, else in any."""
    if word in _SYMBOLS:
        return _SYMBOLS[word]
    if word.casefold() in _ANY_CASE:
        return _ANY_CASE[word.casefold()]
    name = word.casefold()
    return _NAMES.get(name) or _NAMES.get(name.removesuffix("s"))
