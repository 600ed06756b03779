"""Settings of post-retrieval: both shapes, every default described, every error names its key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs.post_retrieval.augment import AUGMENTS
from agentic_rag_lab.designs.post_retrieval.compress import COMPRESSIONS
from agentic_rag_lab.designs.post_retrieval.config import (
    SECTIONS,
    AugmentStep,
    CompressStep,
    FilterStep,
    FormatStep,
    MergeStep,
    NoneStep,
    RerankStep,
    SecondaryQuery,
    WeightedFactor,
    parse_steps,
)
from agentic_rag_lab.designs.post_retrieval.filters import FILTERS
from agentic_rag_lab.designs.post_retrieval.formats import FORMATS
from agentic_rag_lab.designs.post_retrieval.merge import MERGES
from agentic_rag_lab.designs.post_retrieval.operator import ACTIONS
from agentic_rag_lab.designs.post_retrieval.rerank import RERANKS


@pytest.mark.parametrize("value", [None, [], {"action": "none"}, [{"action": "none"}]])
def test_nothing_and_none_do_nothing(value: Any):
    assert parse_steps(value) == (NoneStep(),)


@pytest.mark.parametrize(
    ("section", "key", "registry"),
    [
        (RerankStep, "rerank_type", RERANKS),
        (FilterStep, "filter_type", FILTERS),
        (MergeStep, "merge_type", MERGES),
        (AugmentStep, "augment_type", AUGMENTS),
        (CompressStep, "compress_type", COMPRESSIONS),
        (FormatStep, "format_type", FORMATS),
    ],
)
def test_every_type_has_its_function_and_every_function_its_type(section: Any, key: str, registry: Any):
    assert get_args(section.model_fields[key].annotation) == tuple(registry)


def test_every_action_has_its_section_and_its_handler():
    assert tuple(SECTIONS) == tuple(ACTIONS)
    for action, section in SECTIONS.items():
        assert get_args(section.model_fields["action"].annotation) == (action,)


@pytest.mark.parametrize("section", [*SECTIONS.values(), WeightedFactor, SecondaryQuery])
def test_every_key_is_described(section: Any):
    for name, field in section.model_fields.items():
        assert name == "action" or field.description, name


ACTION_NAMES = "none, rerank, filter, merge, augment, compress, format"
RERANK = {"action": "rerank", "rerank_type": "weighted"}
MERGE = {"action": "merge", "merge_type": "multi_query"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("none", "operators.post_retrieval: a mapping such as {action: none}, or a list of them, not 'none'"),
        (["none"], "operators.post_retrieval[0]: a mapping such as {action: none}, not 'none'"),
        ({}, f"operators.post_retrieval.action: missing; use one of: {ACTION_NAMES}"),
        ({"action": "sort"}, f"operators.post_retrieval.action: unknown 'sort'; use one of: {ACTION_NAMES}"),
        (
            [{"action": "none"}, {"action": "rerank", "rerank_type": "magic"}],
            "'operators.post_retrieval[1].rerank_type': input should be 'semantic', 'time_weighted', "
            "'ppr', 'weighted' or 'cross_encoder' (given: 'magic')",
        ),
        (
            {"action": "rerank"},
            "'operators.post_retrieval.rerank_type': missing; use one of: "
            "semantic, time_weighted, ppr, weighted, cross_encoder",
        ),
        (
            {"action": "filter", "filter_type": "top_k", "rerank_top_k": 3},
            "'operators.post_retrieval.rerank_top_k': no such setting; use one of: conversation_format_prompt, "
            "action, filter_type, token_budget, threshold, top_k, llm_batch_size",
        ),
        (
            [{**RERANK, "weighted_factors": [{"field": "score"}, {"field": "age", "wieght": 1}]}],
            "'operators.post_retrieval[0].weighted_factors[1].wieght': no such setting; use one of: "
            "field, weight, default",
        ),
        (
            {**RERANK, "weighted_factors": [{"field": "score", "weight": 0}]},
            "'operators.post_retrieval.weighted_factors': all weights are 0; give one factor a weight above 0",
        ),
        (
            MERGE,
            "'operators.post_retrieval': merge_type multi_query needs secondary_queries, such as "
            "[{query: 'facts about {question}', top_k: 5}]",
        ),
        (
            {**MERGE, "secondary_queries": [{"query": " "}]},
            "'operators.post_retrieval.secondary_queries[0].query': the query is blank; write one, such as "
            "'facts about {question}'",
        ),
        (
            {**MERGE, "secondary_queries": [{"query": "{answer}?"}]},
            "'operators.post_retrieval.secondary_queries[0].query': the template '{answer}?' has the unknown "
            "{answer}; use of: {question}, or {{ for a brace",
        ),
        (
            {"action": "format", "format_type": "template", "memory_template": "{text} {mood}"},
            "'operators.post_retrieval.memory_template': the template '{text} {mood}' has the unknown {mood}; "
            "use of: {text}, {timestamp}, {speaker}, {score}, {index}, or {{ for a brace",
        ),
        (
            {"action": "format", "format_type": "template", "memory_template": "{score:.1f}"},
            "'operators.post_retrieval.memory_template': the template '{score:.1f}' gives {score} a format; "
            "write the name alone: {text}, {timestamp}, {speaker}, {score}, {index}",
        ),
        (
            {"action": "format", "format_type": "template", "memory_template": "{"},
            "'operators.post_retrieval.memory_template': the template '{' has a single brace "
            "(Single '{' encountered in format string); write {{ for one",
        ),
    ],
)
def test_an_error_names_its_key(value: Any, told: str):
    with pytest.raises(ConfigError) as refused:
        parse_steps(value)
    assert str(refused.value) == told


def test_all_wrong_keys_are_told_at_once():
    with pytest.raises(ConfigError, match=r"rerank_top_k.*; .*damping_factor"):
        parse_steps({**RERANK, "rerank_top_k": -1, "damping_factor": 1})


# --- the page in the docs ------------------------------------------------------------------------

PAGE = (Path(__file__).parents[4] / "docs" / "post-retrieval.md").read_text(encoding="utf-8")


def _part(action: str) -> str:
    return PAGE.partition(f"## {action}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("action", SECTIONS)
def test_the_page_names_every_key_with_its_default(action: str):
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", _part(action).partition("| key |")[2], re.MULTILINE))
    section = SECTIONS[action]
    keys = set(section.model_fields) - {"action", "conversation_format_prompt", f"{action}_type"}
    assert set(rows) == keys
    for key in keys:
        default = section.model_fields[key].default  # type: ignore[attr-defined]
        if key in ("weighted_factors", "secondary_queries"):  # lists and groups are told in words
            continue
        names = default if isinstance(default, tuple) else [json.dumps(default)]
        assert rows[key] in (f"`{default}`", ", ".join(f"`{name}`" for name in names)), key


@pytest.mark.parametrize("action", [action for action in SECTIONS if action != "none"])
def test_the_page_names_every_type(action: str):
    for kind in get_args(SECTIONS[action].model_fields[f"{action}_type"].annotation):
        assert f"`{kind}`" in _part(action)


def test_the_examples_of_the_page_can_be_read():
    examples = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    assert len(examples) == 7
    for example in examples:
        assert parse_steps(example.get("operators", {"post_retrieval": example})["post_retrieval"])
