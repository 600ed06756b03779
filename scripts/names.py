"""List wrong names in src/: `python scripts/names.py [--locals] [FOLDER ...]`.

A name is a noun of the field: `summary`, not `told`. Functions, classes, arguments, attributes and module constants
are looked at, with or without a leading underscore; locals with --locals. A participle before a noun is fine
(`cached_rows`), and so is a function whose verb has one form (`read`). A bound is MAX or MIN of something. What a
docstring lists under `Args:` must be an argument of the function, or of the class's `__init__`. Exits with 1 where a
name is found.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

IRREGULAR = frozenset(
    """
    awoken beaten become been begun bent bitten blown born borne bought bound bred broken brought built burnt caught
    chosen clung come dealt done drawn dreamt driven drunk dug dwelt eaten fallen fed felt fled flown forbidden forgotten
    forgiven fought found frozen given gone gotten grown heard held hidden hung kept knelt known laid lain leapt learnt
    led left lent lit lost made meant met mistaken overridden overtaken paid proven read redone rewritten ridden risen
    rung said sat seen sent sewn shaken shone shot shown shrunk slept slid smelt sold sought spelled spelt spent spilt spoken sprung
    spun stolen stood struck stuck stung sung sunk sworn swept swum swung taken taught there thought thrown told torn
    undergone understood undone unheard unknown unseen unread unsaid untold unspoken withdrawn withheld withstood woken
    won worn woven written
    """.split()
)
NOUNS_AND_VERBS = frozenset(
    "bed breed embed exceed feed hundred indeed need proceed red seed shed speed succeed".split()
)
ONE_FORM = frozenset({"read"})
BOUND = re.compile(r"_*(?:MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST)(?:_[A-Z_]+)?")
# ``Class.attribute`` of what others name: keys of the JSON of answers, reports, journals and files beside a board; the
# tool ``related``; a file's ``closed``; jieba's own attribute; the left edge of a box.
ALLOWED = frozenset(
    """
    AgentTools.related Answer.abstained Answer.carried AnswerBody.abstained AnswerBody.carried AnswerValues.abstained
    AnswerValues.carried AskResult.abstained BoardValues.added BoardValues.kept BoardValues.removed DatasetValues.unfinished
    DatasetValues.unindexed FusionReport.moved IndexValues.indexed IndexValues.unindexed UsageValues.estimated
    BoardMade.abstained BoardMade.written BoardReport.added BoardReport.kept BoardReport.removed
    CanvasRAGState.abstained CheckBody.degraded CheckReport.degraded CheckedAnswer.expected CheckedAnswer.given
    Entry.named EntryValues.named ExtractionCounts.extracted ExtractionCounts.quarantined ExtractionCounts.retried Gain.chosen
    InsertState.inserted JobState.done JobState.ended JobState.started MendedDataset.lost MendedDataset.restored
    MendedTable.kept MendedTable.lost Model.created NoteTools.related Piece.left Provenance.written
    QueryValues.shown QuestionRecord.degraded Record.abstained Record.degraded ReindexReport.embedded RepairReport.checked
    Request.asked Request.carried Request.started Review.expected Review.given StoredMessage.abstained SourceScores.normalised Test.expected TuneReport.chosen TuneReport.grouped Turn.ordered Turn.unjudged Usage.estimated
    WeightsReport.given WeightsReport.used
    _ChecksumFile.closed .initialized
    """.split()
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Name(NamedTuple):
    """One definition; ``kind``: function, class, argument, attribute, constant, local or documented argument; ``owner``:
    its class."""

    line: int
    name: str
    kind: str
    owner: str


def is_participle(name: str, kind: str = "attribute") -> bool:
    """Whether the name is one participle alone, as `told`, `_KEPT` or `Updated`."""
    word = name.strip("_")
    if word not in (word.upper(), word.lower(), word.capitalize()) or (
        kind == "function" and word in ONE_FORM
    ):
        return False
    word = word.lower()
    return word in IRREGULAR or (word.isalpha() and word.endswith("ed") and word not in NOUNS_AND_VERBS)


def definitions(scope: ast.AST, owner: str = "", kind: str = "constant") -> Iterator[Name]:
    """Every name that is defined in the scope, in its order; ``kind`` is that of a plain assignment there."""
    for node in ast.iter_child_nodes(scope):
        inner_owner, inner_kind = owner, kind
        if isinstance(node, ast.ClassDef):
            yield Name(node.lineno, node.name, "class", owner)
            inner_owner, inner_kind = node.name, "attribute"
        elif isinstance(node, FUNCTIONS):
            yield Name(node.lineno, node.name, "function", owner)
            inner_kind = "local"
        elif isinstance(node, ast.arg):
            yield Name(node.lineno, node.arg, "argument", owner)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Name(node.lineno, node.id, kind, owner)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield Name(node.lineno, node.attr, "attribute", owner)
        elif isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            inner_kind = "local"
        yield from definitions(node, inner_owner, inner_kind)


def wrong_names(path: Path, with_locals: bool = False) -> list[Name]:
    """The participles and bounds that a file has as names and may not have."""
    return [
        one
        for one in definitions(ast.parse(path.read_text(encoding="utf-8")))
        if (is_participle(one.name, one.kind) or BOUND.fullmatch(one.name))
        and f"{one.owner}.{one.name}" not in ALLOWED
        and (with_locals or one.kind != "local")
    ]


def unknown_arguments(path: Path) -> Iterator[Name]:
    """What docstrings of a file list under ``Args:`` and nothing takes; a class that inherits its ``__init__`` is not
    looked at, nor is a function with ``**``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            continue
        listed = re.search(
            r"^Args:\n(.*?)(?=^\S|\Z)", ast.get_docstring(node) or "", re.DOTALL | re.MULTILINE
        )
        names = _parameters(node)
        if listed and names is not None:
            for documented in re.findall(
                r"^    (\*{0,2}\w[\w, *]*?)(?: \([^)]*\))?:", listed[1], re.MULTILINE
            ):
                for name in re.findall(r"\w+", documented):
                    if name not in names:
                        yield Name(node.lineno, name, "documented argument", node.name)


def _parameters(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> set[str] | None:
    """Names of the arguments of a function or of a class; None where they are not seen here."""
    if isinstance(node, ast.ClassDef):
        own = [one for one in node.body if isinstance(one, FUNCTIONS) and one.name == "__init__"]
        if own:
            return _parameters(own[0])
        fields = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}  # fmt: skip
        return None if node.bases else fields
    if node.args.kwarg:
        return None
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {one.arg for one in [*arguments, *filter(None, [node.args.vararg])]}


def main() -> int:
    """Print `file:line name (kind)` for each wrong name; 1 where there is any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=["src"])
    parser.add_argument("--locals", action="store_true", help="name local variables too")
    options = parser.parse_args()
    paths = sorted(path for folder in options.folders for path in Path(folder).rglob("*.py"))
    lines = [
        f"{path}:{one.line} {one.name} ({one.kind})"
        for path in paths
        for one in [*wrong_names(path, options.locals), *unknown_arguments(path)]
    ]
    sys.stdout.writelines(f"{line}\n" for line in dict.fromkeys(lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
