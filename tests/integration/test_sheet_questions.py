"""Questions to notes that are sheets of values, and to tables: ``**Speed** 6 knots``, ``***Towing***. The skiff …``, cells that
list several values, the measure that "how fast" asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

SKIFF = """## Skiff

*Open boat, oars*

**Speed** 6 knots

**Weight** 90 kg

**Hull** oak, larch

**Signals** lamp, horn

***Leaks***. A skiff that has dried out takes water for a day. Wet sacks on the planks stop it. The skiff then swells tight.

###### Tasks

***Towing***. It pulls one raft. The line is 12 metres long.
"""
BARGE = """## Barge

*Flat boat, towed*

**Speed** 3 knots

**Weight** 40 tonnes

**Hull** steel

**Signals** bell

***Leaks***. The bilge pump runs hourly.
"""
PUNT = """## Punt

*Flat boat, pole*

**Speed** 2 knots

**Weight** 150 kg

**Hull** pine

**Signals** none

***Rest***. Punts lie on the mud.
"""
KNOTS = """# Knots

Sailors tie a skiff with hundreds of knots, says the guide, and it takes four days to learn ten.

**Table- Common knots**

| Name | Use | Suits | Strength |
|---|---|---|---|
| Bowline | loop | Nylon, hemp (wet only) | 65 % |
| Sheet bend | joining | Hemp, cotton | 55 % |
| Clove hitch | post | Nylon | 60 % |

## Seizing

A loop with seizing is a bight that thin twine holds. Seizing takes an hour.

### Slipped hitch

It comes loose at a pull. In 2 gales of 9 it failed. A slipped knot takes 3 full turns.

## Frostbite of ropes

- Wet rope turns stiff.
- It breaks at a bend.
"""
VAULT = {
    "Craft/Skiff.md": SKIFF,
    "Craft/Barge.md": BARGE,
    "Craft/Punt.md": PUNT,
    "Craft/Ferry (Chain).md": "*Flat boat, chain*\n\n**Speed** 1 knot\n\n**Weight** 9 tonnes\n\n**Hull** steel\n\nThe ferry carries two cars.\n",
    "Rules/Knots.md": KNOTS,
    "Terms/luffing.md": "---\ncreated: 2024-01-05\nparent: '[[Sails]]'\ntags: [sailing/faults]\n---\n**Luffing**, dreaded by racers, empties the sail of wind.\nOne cure of luffing is to bear away.\n",
    "Terms/gybe.md": "---\ncreated: 2024-01-06\n---\nWhen the stern passes through the wind, this turn is called a gybe.\nIt is quick.\n",
    "Terms/baggywrinkle.md": "---\ncreated: 2024-01-07\nmodified: 2024-02-01\n---\n#stub\n",
    "Terms/points of sail.md": "Sailors know them by heart.\n\n- close-hauled\n- reach\n- run\n",
    "Regattas/Round Fyn.md": "---\nskipper: Ada Holm\ncrew: [Bo Lind, Cai Ross]\n---\nWindy.\n",
    "Regattas/Kattegat.md": "---\nskipper: Bo Lind\ncrew: [Ada Holm]\n---\nCalm.\n",
    "Regattas/Skagen.md": "---\nskipper: Cai Ross\ncrew: []\n---\nCold.\n",
    "Rules/Signals.md": "# Signals\n\n| Signals | Heard at |\n|---|---|\n| Barge | 900 m |\n| Skiff | 300 m |\n",
    "Rules/Shop of Sails.md": "| No | Sail | Price |\n|---|---|---|\n| 1 | jib | 200 |\n| 2 | storm jib | 350 |\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("harbour"), VAULT)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # a value after its name in bold, of the note that is named and not of what mentions it
        ("What is the hull of the barge?", "Barge: Hull: steel"),
        ("What signals does the skiff give?", "Skiff: Signals: lamp, horn"),
        ("What is the speed rating of the punt?", "Punt: Speed: 2 knots"),
        # the measure behind "how", by its name or with a number
        ("How fast is the skiff?", "Skiff: Speed: 6 knots"),
        ("How heavy is a ferry?", "Ferry (Chain): Weight: 9 tonnes"),
        ("How long is the line for towing?", "Towing: The line is 12 metres long."),
        # what stands under a label
        ("What stops leaks of a skiff?", "Leaks: Wet sacks on the planks stop it."),
        ("What is seizing?", "A loop with seizing is a bight that thin twine holds."),
        ("What is a slipped hitch?", "It comes loose at a pull."),
        # a definition, and the opening of the thing's own note
        ("What is luffing?", "Luffing, dreaded by racers, empties the sail of wind."),
        ("What is a gybe?", "When the stern passes through the wind, this turn is called a gybe."),
        ("What does luffing do?", "Luffing, dreaded by racers, empties the sail of wind."),
        ("What are the points of sail?", "- close-hauled"),
        # a price by the column that is called so, a number of what is counted
        ("How much does the storm jib cost?", "Shop of Sails: No: 2 · Sail: storm jib · Price: 350"),
        ("How many turns does a slipped knot take?", "A slipped knot takes 3 full turns."),
        # the section whose heading is asked for
        ("What happens to ropes when they get frostbite?", "- Wet rope turns stiff."),
        # of two sections both, in the order of the question
        (
            "What is the difference between a slipped hitch and seizing?",
            "Slipped hitch: It comes loose at a pull.",
        ),
        ("Compare seizing with the slipped hitch", "A loop with seizing is a bight"),
        # which of two, by the column that is compared
        ("Which is stronger, the bowline or the clove hitch?", "Knots: Name: Bowline"),
    ],
)
async def test_the_first_line(data_dir: Path, question: str, first: str) -> None:
    answer = await asked(data_dir, question)
    assert answer.text.splitlines()[0].split(" [")[0].startswith(first)


@pytest.mark.parametrize(
    ("question", "entries"),
    [
        ("Which knots suit hemp?", {"Bowline", "Sheet bend"}),
        ("Which knots are for cotton?", {"Sheet bend"}),
        ("Which craft have a hull of steel?", {"Barge", "Ferry (Chain)"}),
        ("Which sail is the most expensive?", {"2"}),
        # a person in several properties, and in the one that the question says
        ("Which regattas is Ada Holm on?", {"Round Fyn", "Kattegat"}),
        ("Which regattas has Ada Holm as skipper?", {"Round Fyn"}),
    ],
)
async def test_what_is_listed(data_dir: Path, question: str, entries: set[str]) -> None:
    answer = await asked(data_dir, question)
    lines = [line.removeprefix("- ") for line in answer.text.splitlines() if line.startswith("- ")]
    assert {line.split(" —")[0].split(";")[0].split(": ")[-1] for line in lines} == entries


@pytest.mark.parametrize(
    "question",
    [
        "What is baggywrinkle?",
        "Who built the skiff?",
        "What is the shipping number of the punt?",
        "Which knots suit silk?",
    ],
)
async def test_what_no_note_says(data_dir: Path, question: str) -> None:
    answer = await asked(data_dir, question)
    assert answer.abstained
