"""The operator: the seed documents' examples, and the invariants of every step."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, InputError
from agentic_rag_lab.designs.memory import Memory, Neighbours
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from agentic_rag_lab.designs.post_retrieval.config import SECTIONS, FormatStep
from word_counts import count_words

PROMPT = "The following is some history information."


class Service:
    """Finds the same two memories whatever is asked; each memory is linked to the next."""

    found: tuple[Memory, ...] = (
        Memory(text="found one", metadata=None, entry_id="f1", score=0.6),
        Memory(text="found two", metadata={"sources": [[1, 0, 1]]}, entry_id="b", score=0.2),
    )

    async def retrieve(
        self, query: Any = None, vector: Any = None, metadata: Any = None, *, top_k: int | None = None
    ) -> list[Memory]:
        return [copy.deepcopy(memory) for memory in self.found[:top_k]]

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        return [Memory(text="linked", metadata={}, entry_id=f"{entry_id}'"[:3], score=0.5)]


class Everything:
    """Rerank and chat model that say the same of everything."""

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [0.5] * len(passages)

    async def complete(self, system: str, user: str) -> str:
        if system.startswith("Choose"):
            return "1"
        return "They work [1]" if system.startswith("State") else "short"


TOOLS = PostRetrievalTools(Service(), Everything(), Everything(), count_words)
NO_TOOLS = PostRetrievalTools(None, None, None, count_words)


def operator(steps: Any = None, tools: PostRetrievalTools = TOOLS) -> PostRetrieval:
    return PostRetrieval(parse_steps(steps), tools)


# --- the seed documents' examples ----------------------------------------------------------------


async def test_the_short_term_example_gives_the_documented_history_text():
    data = {
        "question": "Where does Alice work?",
        "answer": "Google",
        "task_id": "conv-26",
        "session_id": 12,
        "question_id": 5,
        "memory_data": [
            {"text": "(2023-08-01)Alice: I work at Google"},
            {"text": "(2023-08-01)Bob: That's a great company!"},
            {"text": "(2023-08-01)Alice: Yes, I love it there"},
        ],
    }
    written = await operator({"action": "none"}, NO_TOOLS).execute(data)
    assert written["history_text"] == (
        "The following is some history information.\n"
        "(2023-08-01)Alice: I work at Google\n"
        "(2023-08-01)Bob: That's a great company!\n"
        "(2023-08-01)Alice: Yes, I love it there\n"
    )
    assert [memory["text"] for memory in written["memory_data"]] == [
        memory["text"] for memory in data["memory_data"]
    ]
    assert written["post_retrieval"] == [
        {"action": "none", "type": None, "before": 3, "after": 3, "status": "ok", "reason": None}
    ]


async def test_steps_run_in_order_and_each_is_recorded():
    memories = [{"text": f"memory {n}", "entry_id": f"m{n}", "score": n / 10} for n in range(5)]
    written = await operator(
        [
            {"action": "filter", "filter_type": "threshold", "threshold": 0.2},
            {"action": "merge", "merge_type": "multi_query", "secondary_queries": [{"query": "{question}"}]},
            {"action": "rerank", "rerank_type": "semantic", "rerank_top_k": 2},
            {"action": "format", "format_type": "template", "memory_template": "{index}. {text}"},
        ]
    ).execute({"question": "q", "memory_data": memories})
    assert written["history_text"] == f"{PROMPT}\n1. found one\n2. memory 4\n"
    assert [
        (record["action"], record["type"], record["before"], record["after"], record["status"])
        for record in written["post_retrieval"]
    ] == [
        ("filter", "threshold", 5, 3, "ok"),
        ("merge", "multi_query", 3, 5, "ok"),
        ("rerank", "semantic", 5, 2, "degraded"),
        ("format", "template", 2, 2, "ok"),
    ]
    assert "query_embedding" in written["post_retrieval"][2]["reason"]


@pytest.mark.parametrize(
    ("steps", "above"),
    [
        ({"action": "none", "conversation_format_prompt": "History:\n"}, "History:\n"),
        ({"action": "none", "conversation_format_prompt": ""}, ""),
        ([{"action": "none", "conversation_format_prompt": "A"}, {"action": "none"}], "A\n"),
        (
            [
                {"action": "none", "conversation_format_prompt": "A"},
                {"action": "none", "conversation_format_prompt": "B"},
            ],
            "B\n",
        ),
    ],
)
async def test_the_last_prompt_that_is_set_stands_above(steps: Any, above: str):
    written = await operator(steps).execute({"question": "q", "memory_data": [{"text": "tea"}]})
    assert written["history_text"] == f"{above}tea\n"


async def test_a_template_is_filled_for_each_memory():
    memories = [
        {"text": "I like {score}", "score": 0.5, "metadata": {"timestamp": "2023-08-01", "speaker": "Alice"}},
        {"text": "tea", "score": 0},
        {"text": "cake"},
    ]
    template = "{index}. [{timestamp}] {speaker}: {text} ({score})"
    step = {"action": "format", "format_type": "template", "memory_template": template}
    written = await operator(step).execute({"question": "q", "memory_data": memories})
    assert [memory["text"] for memory in written["memory_data"]] == ["I like {score}", "tea", "cake"]
    assert written["history_text"] == (
        f"{PROMPT}\n1. [2023-08-01] Alice: I like {{score}} (0.500)\n2. [] : tea (0.000)\n3. [] : cake ()\n"
    )


async def test_what_a_memory_came_with_goes_on_with_it():
    memory = {
        "text": "tea",
        "metadata": {"sources": [[12, 0, 2]], "speaker": "Alice"},
        "entry_id": "a",
        "score": 0,
        "embedding": [1.0, 0.0],
        "node": 7,
    }
    written = await operator().execute({"question": "q", "memory_data": [memory]})
    assert written["memory_data"] == [memory]
    assert written["memory_data"][0]["score"] == 0.0


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"question": "q"}, "have no memory_data"),
        ({"question": "q", "memory_data": "tea"}, "a list of memories, not str"),
        ({"question": "q", "memory_data": ["tea"]}, r"memory_data\[0\] is a mapping with a text, not str"),
        ({"question": "q", "memory_data": [{"text": None}]}, r"memory_data\[0\] has text None"),
        (
            {"question": "q", "memory_data": [{"text": "a"}, {"text": "b", "entry_id": 1}]},
            r"\[1\] has entry_id 1",
        ),
        ({"question": "q", "memory_data": [{"text": "a", "metadata": [1]}]}, "has metadata"),
        ({"question": "q", "memory_data": [{"text": "a", "score": "1"}]}, "has score '1'"),
        ({"question": "q", "memory_data": [{"text": "a", "score": float("nan")}]}, "has score nan"),
        ({"question": "q", "memory_data": [{"text": "a", "embedding": "abc"}]}, "no list of numbers"),
        ({"question": "q", "memory_data": [{"text": "a", "embedding": [None]}]}, "finite numbers"),
        ({"question": 3, "memory_data": []}, "question is a string, not int"),
        ({"question": "q", "memory_data": [], "reference_time": 3}, "reference_time is an ISO 8601 string"),
        (
            {"question": "q", "memory_data": [], "query_embedding": [float("inf")]},
            "the data have a query_embedding that is no list of finite",
        ),
    ],
)
async def test_data_that_cannot_be_read_is_refused(data: dict[str, Any], told: str):
    with pytest.raises(InputError, match=told):
        await operator().execute(data)


def test_format_must_be_last_however_the_steps_were_made():
    steps = (FormatStep(action="format", format_type="template"), *parse_steps(None))
    with pytest.raises(ConfigError, match=r"post_retrieval\[0\].action: format makes history_text"):
        PostRetrieval(steps, TOOLS)


# --- what a step needs ---------------------------------------------------------------------------

CROSS = {"action": "rerank", "rerank_type": "cross_encoder"}
PPR = {"action": "rerank", "rerank_type": "ppr"}
EXPAND = {"action": "merge", "merge_type": "link_expand"}
QUERIES = {"action": "merge", "merge_type": "multi_query", "secondary_queries": [{"query": "{question}"}]}
NO_RERANKER = (
    "rerank cross_encoder needs a rerank model, and none is configured; install the extra 'rerank' and set "
    "runtime.rerank_model, or configure a chat model (runtime.base_url)"
)
NO_SERVICE = "needs a memory service, and none is configured; set services.register_memory_service"
NO_CHAT = "needs a chat model, and none is configured; set runtime.base_url"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (CROSS, NO_RERANKER),
        (PPR, f"rerank ppr {NO_SERVICE}"),
        (EXPAND, f"merge link_expand {NO_SERVICE}"),
        (QUERIES, f"merge multi_query {NO_SERVICE}"),
        ({"action": "filter", "filter_type": "llm"}, f"filter llm {NO_CHAT}"),
        ({"action": "augment", "augment_type": "reflection"}, f"augment reflection {NO_CHAT}"),
    ],
)
def test_what_a_step_lacks_is_said_before_a_run(step: dict[str, Any], told: str):
    with pytest.raises(ConfigError) as alone:
        operator(step, NO_TOOLS)
    assert str(alone.value) == f"operators.post_retrieval: {told}"
    with pytest.raises(ConfigError) as second:
        operator([{"action": "none"}, step], NO_TOOLS)
    assert str(second.value) == f"operators.post_retrieval[1]: {told}"


def test_an_operator_needs_a_step():
    with pytest.raises(ConfigError, match=r"^operators\.post_retrieval: no step"):
        PostRetrieval((), NO_TOOLS)


class Unlinked:
    """A service without links."""

    retrieve = Service.retrieve


@pytest.mark.parametrize(("step", "kind"), [(PPR, "rerank ppr"), (EXPAND, "merge link_expand")])
def test_a_service_without_links_is_told_from_those_that_have_them(step: dict[str, Any], kind: str):
    assert isinstance(Service(), Neighbours)
    tools = PostRetrievalTools(Unlinked(), None, None, count_words, ("graph_memory", "vector_memory"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError) as refused:
        operator(step, tools)
    assert str(refused.value) == (
        f"operators.post_retrieval: {kind} needs links between memories, and Unlinked has none; set "
        "services.register_memory_service to one that has the capability neighbours (graph_memory, vector_memory)"
    )


# --- what is promised of every step --------------------------------------------------------------

STEPS: tuple[dict[str, Any], ...] = (
    {"action": "none"},
    {"action": "rerank", "rerank_type": "semantic"},
    {"action": "rerank", "rerank_type": "time_weighted", "rerank_top_k": 3},
    PPR,
    {**PPR, "walk_neighbours": True},
    {"action": "rerank", "rerank_type": "weighted"},
    CROSS,
    {"action": "filter", "filter_type": "token_budget", "token_budget": 4},
    {"action": "filter", "filter_type": "threshold"},
    {"action": "filter", "filter_type": "top_k", "top_k": 2},
    {"action": "filter", "filter_type": "llm"},
    EXPAND,
    {**EXPAND, "max_depth": 3},
    QUERIES,
    {"action": "augment", "augment_type": "reflection"},
    {"action": "augment", "augment_type": "context"},
    {"action": "augment", "augment_type": "context", "context_place": "preface"},
    {"action": "compress", "compress_type": "extractive", "compress_max_tokens": 3},
    {"action": "format", "format_type": "template"},
)


def test_every_type_is_among_the_steps_of_these_tests():
    listed = {(step.action, step.kind) for given in STEPS for step in parse_steps(given)}
    for action, section in SECTIONS.items():
        kinds = section.model_fields.get(f"{action}_type")
        assert {(action, kind) for kind in (get_args(kinds.annotation) if kinds else ())} <= listed


texts = st.text(alphabet="abc 茶。.\n<&", max_size=30)
memories = st.lists(
    st.fixed_dictionaries(
        {
            "text": texts,
            "entry_id": st.sampled_from(["a", "b", "c", "d", "e", "f", "g"]),
            "score": st.one_of(st.none(), st.sampled_from([0, 0.5, 1.0, -0.3])),
            "metadata": st.one_of(
                st.none(),
                st.fixed_dictionaries(
                    {
                        "timestamp": st.sampled_from(["2023-08-01", "yesterday", "2023-08-02T10:00:00"]),
                        "sources": st.just([[1, 0, 2]]),
                    }
                ),
            ),
        },
        optional={"embedding": st.just([0.6, 0.8])},
    ),
    max_size=6,
    unique_by=lambda memory: memory["entry_id"],
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: "-".join(map(str, step.values()))[:50])
@settings(max_examples=20)
@given(memories=memories, embedded=st.booleans(), now=st.sampled_from([None, "2023-08-03", "soon"]))
async def test_every_step_keeps_its_promises(
    step: dict[str, Any], memories: list[dict[str, Any]], embedded: bool, now: str | None
):
    data: dict[str, Any] = {"question": "a 茶?", "memory_data": memories, "reference_time": now}
    if embedded:
        data["query_embedding"] = [1.0, 0.0]
    before = copy.deepcopy(data)
    written = await operator(step).execute(data)
    assert data == before
    assert written == await operator(step).execute(before)
    assert set(written) == {"memory_data", "history_text", "post_retrieval"}
    assert isinstance(written["history_text"], str)
    assert written["history_text"].startswith(PROMPT)
    found = written["memory_data"]
    assert len({memory["entry_id"] for memory in found}) == len(found)
    (record,) = written["post_retrieval"]
    assert (record["before"], record["after"]) == (len(memories), len(found))
    assert record["status"] == "ok" or record["reason"]
    json.dumps(written)
    given_by_id = {memory["entry_id"]: memory for memory in memories}
    for memory in found:
        if memory["entry_id"] in given_by_id and given_by_id[memory["entry_id"]]["metadata"] is not None:
            assert memory["metadata"]["sources"] == [[1, 0, 2]]
    if step["action"] in ("rerank", "merge") and not (record["reason"] or "").endswith("order stays"):
        scored = [memory for memory in found if memory["score"] is not None]
        if len(scored) == len(found) and "no query_embedding" not in (record["reason"] or ""):
            keys = [(-memory["score"], memory["entry_id"]) for memory in found]
            assert keys == sorted(keys)
