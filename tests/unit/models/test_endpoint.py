"""Calls of an endpoint: concurrency, rate, retries, usage, and the budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.usage import Usage, count, counting, sum_usage, usage_text
from agentic_rag.errors import BudgetSpent, ConfigError
from agentic_rag.models.endpoint import Endpoint, Prices, Spending, most_tokens, retry_wait
from agentic_rag.settings.config import BudgetConfig
from local_openai_server import CUT, LocalOpenAIServer, refused

MAX_USAGE = Usage(prompt_tokens=100, completion_tokens=50)


class Refused(Exception):
    """What a client raises for a status."""

    def __init__(self, status_code: int, **headers: str) -> None:
        self.status_code = status_code
        self.response = SimpleNamespace(headers=headers)


class Work:
    """Requests that take their time, and may fail."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.running = self.most_running = self.begun = 0

    async def __call__(self) -> str:
        self.begun += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if self.failures:
            raise self.failures.pop(0)
        return "said"


def used(_: str) -> Usage:
    return Usage(prompt_tokens=80, completion_tokens=20)


async def test_no_more_calls_at_once_than_allowed():
    work, endpoint = Work(), Endpoint()
    await asyncio.gather(*(endpoint.call(work, MAX_USAGE, used) for _ in range(20)))
    assert (work.begun, work.most_running) == (20, 8)


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (Refused(429), True),
        (Refused(500), True),
        (ConnectionError(), True),
        (TimeoutError(), True),
        (Refused(400), False),
        (Refused(401), False),
        (ValueError("half an answer"), False),
    ],
)
async def test_what_may_pass_is_tried_again(error: Exception, again: bool):
    async def sleep(_: float) -> None: ...

    work = Work(error)
    endpoint = Endpoint(tries=2, sleep=sleep)
    if again:
        assert await endpoint.call(work, MAX_USAGE, used) == "said"
    else:
        with pytest.raises(type(error)):
            await endpoint.call(work, MAX_USAGE, used)
    assert work.begun == 1 + again


def test_waits_double_and_are_not_all_alike():
    waits = [[retry_wait(Refused(500), spent) or 0 for _ in range(20)] for spent in (1, 2, 3, 9)]
    for of_try, longest in zip(waits, (0.5, 1, 2, 8), strict=True):
        assert all(0.75 * longest <= wait <= longest for wait in of_try)
        assert len(set(of_try)) > 1


@pytest.mark.parametrize(
    ("date", "wait"),
    [
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sunday, 01-Mar-26 12:01:30 GMT", 90.0),
        ("Sun Mar  1 12:01:30 2026", 90.0),
        ("Sun, 01 Mar 2026 13:01:30 +0100", 90.0),
        ("Sun, 01 Mar 2026 11:59:00 GMT", 0.0),
        ("Sun, 01 Mar 2026 12:02:01 GMT", None),
    ],
    ids=["HTTP date", "RFC 850", "asctime", "zone", "gone by", "too late"],
)
def test_a_server_may_name_a_date(monkeypatch: pytest.MonkeyPatch, date: str, wait: float | None):
    class Noon(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2026, 3, 1, 12, tzinfo=tz)

    monkeypatch.setattr("agentic_rag.models.endpoint.datetime", Noon)
    assert retry_wait(Refused(429, **{"retry-after": date}), 1) == wait


@pytest.mark.parametrize("said", ["soon", "", "Sun, 99 Mar 2026 12:00:00 GMT", "nan"])
def test_what_is_no_time_is_passed_over(said: str):
    wait = retry_wait(Refused(429, **{"retry-after": said}), 1)
    assert wait is not None
    assert 0 < wait <= 0.5


async def test_what_is_used_is_counted_here_and_for_the_whole():
    spending = Spending()
    endpoint = Endpoint(prices=Prices(2.0, 10.0), spending=spending)
    with counting() as outer:
        await endpoint.call(Work(), MAX_USAGE, used)
        with counting() as inner:
            await asyncio.gather(*(endpoint.call(Work(), MAX_USAGE, used) for _ in range(2)))
    assert (inner.calls, outer.calls, spending.total_usage.calls) == (2, 3, 3)
    assert (inner.tokens, inner.cost) == (200, pytest.approx(2 * (80 * 2 + 20 * 10) / 1e6))


async def test_what_was_not_answered_may_have_been_charged_and_what_was_refused_was_not():
    spending = Spending()
    endpoint = Endpoint(timeout_seconds=0.01, spending=spending)

    async def hang() -> str:
        await asyncio.sleep(10)
        return "too late"

    with pytest.raises(TimeoutError):
        await endpoint.call(hang, MAX_USAGE, used)
    assert (spending.total_usage.tokens, spending.total_usage.estimated) == (150, True)
    with pytest.raises(Refused):
        await endpoint.call(Work(Refused(400)), MAX_USAGE, used)
    assert (spending.total_usage.tokens, spending.total_usage.calls) == (150, 1)


@pytest.mark.parametrize(
    "budget", [BudgetConfig(tokens=1000), BudgetConfig(cost=0.001)], ids=["tokens", "cost"]
)
async def test_a_budget_is_never_overspent_however_many_ask_at_once(budget: BudgetConfig):
    spending, work = Spending(budget), Work()
    endpoint = Endpoint(prices=Prices(1.0, 1.0), spending=spending)
    ends = await asyncio.gather(
        *(endpoint.call(work, MAX_USAGE, used) for _ in range(50)), return_exceptions=True
    )
    refusals = [end for end in ends if isinstance(end, BudgetSpent)]
    assert work.begun + len(refusals) == 50
    assert spending.total_usage.tokens == 100 * work.begun <= 1000
    assert "to go on" in str(refusals[0])
    # One after the other the whole of it is of use: what a call did not need is given back.
    while spending.total_usage.tokens <= 850:
        await endpoint.call(work, MAX_USAGE, used)
    with pytest.raises(BudgetSpent):
        await endpoint.call(work, MAX_USAGE, used)
    assert spending.total_usage.tokens == 900


def test_more_tokens_are_reserved_than_there_can_be():
    assert most_tokens("naïve 东西") >= len("naïve 东西".encode())
    assert most_tokens("\ud800") > 0


def test_usages_add_up_and_begin_anew():
    one = Usage(calls=1, prompt_tokens=3, cost=0.5).to_dict()
    assert sum_usage(sum_usage({}, one), one) == Usage(calls=2, prompt_tokens=6, cost=1.0).to_dict()
    assert sum_usage(one, None) == {}
    assert usage_text(one) == "1 call, 3 tokens, cost 0.5000"
    assert usage_text({**one, "cost": 0.0, "estimated": True}) == "1 call, 3 tokens (in part an upper bound)"
    count(Usage(calls=1))  # nobody counts: nothing happens


@asynccontextmanager
async def opened(folder: Path, server: LocalOpenAIServer, **settings: object) -> AsyncIterator[Rag]:
    note = folder / "vault" / "tea.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("Tea comes from China. It is brewed with hot water.\n", encoding="utf-8")
    chat = {
        "base_url": server.base_url,
        "model": "m",
        "max_tokens": 200,
        "input_price": 1.0,
        "output_price": 2.0,
    }
    given = {"data_dir": folder / "data", "chat": chat, "answer": {"method": "chat"}, **settings}
    async with open_rag(RagConfig.model_validate(given)) as rag:
        await rag.ingest(note.parent)
        yield rag


async def test_an_answer_tells_what_it_used(tmp_path: Path, model_server: LocalOpenAIServer):
    model_server.tokens = (300, 40)
    async with opened(tmp_path, model_server, rerank={"method": "chat"}) as rag:
        model_server.answer = "8"  # a rating of the one passage
        answer = await rag.ask("Where does tea come from?")
        # The rating does for an answer too: it cites nothing, so the passages are quoted.
        assert answer.outcomes["answer"]["status"] == "degraded"
        assert (answer.usage["calls"], answer.usage["prompt_tokens"]) == (2, 600)
        assert answer.usage["cost"] == pytest.approx(2 * (300 + 80) / 1e6)
        assert answer.to_dict()["usage"] == answer.usage
        again = await rag.ask("Where does tea come from?", thread_id=None)
        assert again.usage == answer.usage  # of that run alone
        assert rag.spending.total_usage.calls == 4


async def test_a_spent_budget_answers_with_quotes_and_says_so(
    tmp_path: Path, model_server: LocalOpenAIServer
):
    async with opened(tmp_path, model_server, budget={"tokens": 100}) as rag:
        answer = await rag.ask("Where does tea come from?")
    assert not model_server.requests
    assert "Tea comes from China" in answer.text
    assert "budget.tokens is 100" in answer.outcomes["answer"]["reason"]
    assert answer.usage == {}


async def test_a_stream_that_is_cut_answers_with_quotes(tmp_path: Path, model_server: LocalOpenAIServer):
    async with opened(tmp_path, model_server) as rag:
        model_server.tokens = (300, 40)
        seen = [part async for part in rag.stream("Where does tea come from?")]
        assert seen[-1].usage["prompt_tokens"] == 300  # type: ignore[union-attr]
        model_server.judge = lambda request: CUT
        seen = [part async for part in rag.stream("Where does tea come from?")]
    assert "Tea comes from China" in seen[-1].text  # type: ignore[union-attr]
    assert "the chat model" in seen[-1].outcomes["answer"]["reason"]  # type: ignore[union-attr]


async def test_a_refusal_is_counted_as_nothing(tmp_path: Path, model_server: LocalOpenAIServer):
    async with opened(tmp_path, model_server) as rag:
        model_server.judge = lambda request: refused(503)
        assert (await rag.ask("Where does tea come from?")).usage == {}


async def test_a_budget_needs_to_know_the_longest_answer(tmp_path: Path):
    config = RagConfig.model_validate({"data_dir": tmp_path, "budget": {"tokens": 100}})
    async with open_rag(config):
        pass  # nothing is asked of a chat model
    with pytest.raises(ConfigError, match=r"a budget needs chat\.max_tokens"):
        async with open_rag(config, chat=FakeListChatModel(responses=["x"])):
            pass


async def test_warming_up_asks_no_endpoint(tmp_path: Path, model_server: LocalOpenAIServer):
    embedding = {"base_url": model_server.base_url, "model": "e", "price": 3.0}
    async with opened(tmp_path, model_server, embedding=embedding) as rag:
        assert rag.spending.total_usage.embedded_tokens > 0
        assert rag.spending.total_usage.cost == pytest.approx(
            rag.spending.total_usage.embedded_tokens * 3 / 1e6
        )
        model_server.requests.clear()
        await rag.warm_up()
        assert not model_server.requests
