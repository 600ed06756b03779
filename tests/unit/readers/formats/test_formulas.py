"""Formulas in one line: what is raised, divided or in brackets stays apart, in Word's notation and in MathML."""

from __future__ import annotations

import pytest
from lxml import etree

from agentic_rag_readers.formats.formulas import formula
from agentic_rag_readers.formats.web_files import read_html


def omml(content: str) -> str:
    return formula(etree.fromstring(f'<m:oMath xmlns:m="m" xmlns:w="w">{content}</m:oMath>'))


def mathml(content: str) -> str:
    return formula(etree.fromstring(f"<math>{content}</math>"))


def t(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"<m:f><m:num>{t('a+b')}</m:num><m:den>{t('2')}</m:den></m:f>", "(a+b)/2"),
        (f"<m:f><m:num>{t('1')}</m:num><m:den>{t('n-1')}</m:den></m:f>", "1/(n-1)"),
        (f"<m:sSup><m:e>{t('10')}</m:e><m:sup>{t('-3')}</m:sup></m:sSup>{t(' m')}", "10^-3 m"),
        (f"<m:sSup><m:e>{t('e')}</m:e><m:sup>{t('2n+1')}</m:sup></m:sSup>", "e^(2n+1)"),
        (f"<m:sSubSup><m:e>{t('x')}</m:e><m:sub>{t('12')}</m:sub><m:sup>{t('k')}</m:sup></m:sSubSup>", "x₁₂^k"),
        (f"<m:d><m:e>{t('a+b')}</m:e></m:d>{t('c')}", "(a+b)c"),
        (
            f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="["/></m:dPr><m:e>{t("0")}</m:e></m:d>',
            "[0[",
        ),
        (
            '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'
            f"<m:sub>{t('i=1')}</m:sub><m:sup>{t('n')}</m:sup><m:e>{t('q')}</m:e></m:nary>",
            "∑_(i=1)^n q",
        ),
        (f"<m:nary><m:naryPr/><m:sub/><m:sup/><m:e>{t('f dx')}</m:e></m:nary>", "∫ f dx"),
        (f"<m:rad><m:deg/><m:e>{t('x+1')}</m:e></m:rad>", "√(x+1)"),
        (f"<m:rad><m:deg>{t('3')}</m:deg><m:e>{t('x')}</m:e></m:rad>", "^3√x"),
        (f"<m:func><m:fName>{t('sin')}</m:fName><m:e>{t('x')}</m:e></m:func>", "sin x"),
        (f"<m:m><m:mr><m:e>{t('1')}</m:e><m:e>{t('2')}</m:e></m:mr><m:mr><m:e>{t('3')}</m:e><m:e>{t('4')}</m:e></m:mr></m:m>", "1, 2; 3, 4"),
        (f"{t('a')}<w:del>{t('b')}</w:del>", "a"),
    ],
)  # fmt: skip
def test_of_word(content: str, expected: str) -> None:
    assert omml(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<msub><mi>v</mi><mi>max</mi></msub>", "v_max"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "^3√x"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<mi>f</mi><mo>\u2061</mo><mfenced><mi>x</mi><mi>y</mi></mfenced>", "f(x,y)"),
        (
            "<semantics><mrow><mi>E</mi></mrow><annotation encoding='application/x-tex'>E</annotation></semantics>",
            "E",
        ),
        ("<mrow>" * 1_500 + "<mi>x</mi>" + "</mrow>" * 1_500, "x"),
    ],
)
def test_of_pages(content: str, expected: str) -> None:
    parser = etree.XMLParser(huge_tree=True)
    assert formula(etree.fromstring(f"<math>{content}</math>", parser)) == expected


@pytest.mark.parametrize(
    ("wrapped", "expected"),
    [
        (
            "<span class='katex'><span><math><msup><mi>c</mi><mn>2</mn></msup></math></span>"
            "<span aria-hidden='true'>c2</span></span> holds",
            "c^2 holds",
        ),
        (
            "<mjx-container><mjx-math aria-hidden='true'>c2</mjx-math><mjx-assistive-mml><math><mi>c</mi></math>"
            "</mjx-assistive-mml></mjx-container>",
            "c",
        ),
        ("<math><mi>c</mi></math> <b aria-hidden='true'>is kept</b>", "c is kept"),
        ("<math alttext='a over b'></math>", "a over b"),
    ],
)
def test_a_formula_of_a_page_is_read_once(wrapped: str, expected: str) -> None:
    assert read_html(f"<html><body><p>{wrapped}</p></body></html>".encode()).text == f"{expected}\n"
