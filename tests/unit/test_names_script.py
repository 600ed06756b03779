"""scripts/names.py: which names it takes for bare participles, and which documented arguments for unknown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "names.py"


def refusals(folder: Path, source: str, *options: str) -> tuple[int, list[str]]:
    """The exit code, and the printed names with their kinds."""
    (folder / "module.py").write_text(source, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *options], capture_output=True, text=True, check=False
    )
    return run.returncode, [line.partition(" ")[2] for line in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (
            "def smeared(spilt, *, _burnt=None): ...\n",
            ["smeared (function)", "spilt (argument)", "_burnt (argument)"],
        ),
        (
            "class Baked:\n    frosted: int\n\n    def __init__(self) -> None:\n        self._eaten = 0\n",
            ["Baked (class)", "frosted (attribute)", "_eaten (attribute)"],
        ),
        ("SOLD, PRICE = 1, 2\nclass OvenOverheated(Exception): ...\n", ["SOLD (constant)"]),
    ],
)
def test_a_participle_alone_is_refused_as_a_name(tmp_path: Path, source: str, names: list[str]) -> None:
    code, names_printed = refusals(tmp_path, source)
    assert code == 1
    assert sorted(names_printed) == sorted(names)


def test_a_participle_before_a_noun_and_verbs_and_nouns_in_ed_are_names(tmp_path: Path) -> None:
    source = "def read(baked_loaves, seed, feed_speed):\n    burnt = [1]\n    return burnt\n\nRED = read\n"
    assert refusals(tmp_path, source) == (0, [])
    assert refusals(tmp_path, source, "--locals") == (1, ["burnt (local)"])


DOCUMENTED = '''
def bake(loaf, *, minutes=1):
    """Bake.

    Args:
        loaf: what is baked.
        hours, minutes: how long; see
            above: not an argument.

    Raises:
        OvenError: it is cold.
    """

class Oven:
    """An oven.

    Args:
        heat (float): in °C.
    """

    def __init__(self, temperature): ...

class Fan:
    """A fan.

    Args:
        speed: of the blades.
    """

    speed: int

class Grill(Oven):
    """Inherits what it takes.

    Args:
        fuel: of any kind.
    """
'''


def test_a_documented_argument_that_nothing_takes_is_refused(tmp_path: Path) -> None:
    assert refusals(tmp_path, DOCUMENTED) == (
        1,
        ["hours (documented argument)", "heat (documented argument)"],
    )
