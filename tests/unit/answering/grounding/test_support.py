"""What passages support, by words, amounts and sign; with the bundled model's tokens and without any."""

from __future__ import annotations

import pytest

from agentic_rag.answering.grounding.comparison import read_passages
from agentic_rag.answering.grounding.support import fault
from agentic_rag.models.bundled import BundledEmbedding

MODEL = BundledEmbedding()
HARBOUR = (
    "Harbour\nThe pilot boat leaves at 06:40 and holds 12 people. Dogs may not come on board. The old crane was sold to "
    "Riga in 1988; the new crane lifts 45 t. The east quay is deeper than the west quay. Fuel is not sold after 18:00."
)
TANG = "汤面\n面条煮三分钟。汤里加酱油，不加盐。锅要先烧热，再放油。四人份用面四百克。"


async def _fault(statement: str, passage: str, model: BundledEmbedding | None = MODEL) -> str | None:
    read = await read_passages([passage], model)
    return fault(statement, read, None if model is None else await model.question_tokens(statement))


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("The pilot boat departs at 6:40 a.m.", HARBOUR),
        ("Twelve people fit into the pilot boat.", HARBOUR),
        ("Dogs are not allowed on board.", HARBOUR),
        ("In 1988 the old crane was sold to Riga.", HARBOUR),
        ("The new crane can lift 45,000 kg.", HARBOUR),
        ("The west quay is less deep than the east quay.", HARBOUR),
        ("No fuel is sold after 6 pm.", HARBOUR),
        ("面条要煮3分钟。", TANG),
        ("汤里不加盐。", TANG),
        ("四个人吃，用400克面。", TANG),
    ],
)
async def test_it_is_supported_in_other_words_and_forms(statement: str, passage: str) -> None:
    assert await _fault(statement, passage) is None


@pytest.mark.parametrize(
    ("statement", "passage", "why"),
    [
        ("The pilot boat departs at 6:40 p.m.", HARBOUR, "amount"),
        ("The new crane lifts 45 kg.", HARBOUR, "amount"),
        ("The old crane was sold in 1898.", HARBOUR, "amount"),
        ("The new crane lifts −45 t.", HARBOUR, "amount"),
        ("面条煮三小时。", TANG, "amount"),
        ("Dogs may come on board.", HARBOUR, "contradicted"),
        ("Fuel is sold after 18:00.", HARBOUR, "contradicted"),
        ("The west quay is deeper than the east quay.", HARBOUR, "contradicted"),
        ("The new crane was sold to Riga.", HARBOUR, "contradicted"),
        ("汤里加盐。", TANG, "contradicted"),
        ("The crane is radioactive.", HARBOUR, "unsupported"),
        ("The harbour master collects stamps.", HARBOUR, "unsupported"),
        ("It also cures cancer.", HARBOUR, "unsupported"),
        ("这种面起源于山西。", TANG, "unsupported"),
    ],
)
async def test_it_is_refused(statement: str, passage: str, why: str) -> None:
    assert await _fault(statement, passage) == why


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("The new crane lifts 45 t.", None),
        ("The crane is radioactive.", "unsupported"),
        ("The new crane lifts 54 t.", "amount"),
        ("Dogs may come on board.", "contradicted"),
        ("新吊车能吊45吨。", None),
        ("新吊车能吊54吨。", "amount"),
    ],
)
async def test_without_tokens_the_letters_decide_and_across_scripts_the_amounts(
    statement: str, why: str | None
) -> None:
    assert await _fault(statement, HARBOUR, None) == why


async def test_several_passages_support_together() -> None:
    statement = "The pilot boat holds 12 people, and the noodles cook for three minutes."
    noodles = "Soup\nThe noodles cook for three minutes."
    read = await read_passages([HARBOUR, noodles], MODEL)
    tokens = await MODEL.question_tokens(statement)
    assert fault(statement, read, tokens) is None
    assert fault(statement, read[:1], tokens) == "amount"


async def test_a_statement_of_no_words_is_supported_by_nothing() -> None:
    assert await _fault("It is.", HARBOUR) == "unsupported"
    assert await _fault("", HARBOUR) == "unsupported"


BAKERY = (
    "Bakery\nOpen Tuesday to Friday. The van of Nora Lind is grey; it comes every morning from Ystad. Half of the flour is rye. "
    "The dough rests for 40 minutes at 4 °C. It was founded on 6 May 1931. The oven is cleaned in January."
)
CAT = "猫\n猫叫团子，毛是橘色。每天喂两次。三月打疫苗，周三洗澡。"


@pytest.mark.parametrize(
    ("statement", "passage", "why"),
    [
        ("The bakery is open on Mondays.", BAKERY, "contradicted"),
        ("The van of Nora Lind is blue.", BAKERY, "contradicted"),
        ("The van comes every week.", BAKERY, "contradicted"),
        ("The oven is cleaned in October.", BAKERY, "contradicted"),
        ("All of the flour is rye.", BAKERY, "contradicted"),
        ("猫的毛是黑色。", CAT, "contradicted"),
        ("猫的毛是白色，每天喂。", CAT, "contradicted"),
        ("猫周五洗澡。", CAT, "contradicted"),
        ("The dough rests for more than an hour.", BAKERY, "amount"),
        ("The dough rests at 6 °C.", BAKERY, "amount"),
        ("The van comes every morning from Malmo.", BAKERY, "unsupported"),
        ("The van of Nora Berg comes every morning.", BAKERY, "unsupported"),
        ("The van comes every morning, and Edda drives it.", BAKERY, "unsupported"),
        (
            "The van of Nora Berg comes every morning.",
            f"{BAKERY} Its sign says: Brot und Kuchen, das ist alles.",
            "unsupported",
        ),
    ],
)
async def test_another_value_of_a_kind_or_a_new_name_is_refused(
    statement: str, passage: str, why: str
) -> None:
    assert await _fault(statement, passage) == why


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("The bakery is open on Wednesday.", BAKERY),
        ("The grey van of Nora Lind comes daily.", BAKERY),
        ("The van comes from Ystad every day.", BAKERY),
        ("Half the flour is rye.", BAKERY),
        ("The dough rests for less than an hour.", BAKERY),
        ("In May 1931 the bakery was founded.", BAKERY),
        ("猫的毛是橘色。", CAT),
        ("猫三月打疫苗。", CAT),
        (
            "Die Hefe mag Zucker und Wasser.",
            "Hefe\nHefe braucht Wasser. Zucker ist für die Hefe Futter, das sie mag.",
        ),
    ],
)
async def test_the_same_value_in_other_words_is_supported(statement: str, passage: str) -> None:
    assert await _fault(statement, passage) is None


KILL_GREEN = (
    "Kill-green\nKill-green follows withering. It stops the enzymes by heat, in a pan, before rolling. Green tea is "
    "panned at once."
)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("Kill-green is forbidden by law.", "unsupported"),
        ("Kill-green was patented by monks.", "unsupported"),
        ("Kill-green needs a licence.", "unsupported"),
        ("Kill-green follows withering.", None),
        ("Kill-green stops the enzymes.", None),
        ("Kill-green comes before rolling.", None),
    ],
)
async def test_words_of_the_question_and_the_title_support_nothing(statement: str, why: str | None) -> None:
    (read,) = await read_passages([KILL_GREEN], MODEL)
    assert (
        fault(statement, [read], await MODEL.question_tokens(statement), question="What is kill-green?")
        == why
    )


async def test_a_name_of_the_question_may_be_repeated() -> None:
    (read,) = await read_passages(["Van\nIt comes every morning from Ystad."], MODEL)
    statement = "It comes every morning for Edda."
    tokens = await MODEL.question_tokens(statement)
    assert fault(statement, [read], tokens) == "unsupported"
    assert fault(statement, [read], tokens, question="When does the van come for Edda?") is None
