"""OpenAI's surface as its clients use it: every parameter of both APIs, the official client, front ends' own prompts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from agentic_rag import RagConfig
from agentic_rag_service.openai.parameters import CHAT, RESPONSES, Parameter
from local_openai_server import LocalOpenAIServer
from service_server import chat_config, running_service

QUESTION = "At what temperature and for how long is the second fire?"
ASKED = [{"role": "user", "content": QUESTION}]
COMPLETIONS, ANSWERS = "/v1/chat/completions", "/v1/responses"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def service(example_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = Path(shutil.copytree(example_data, tmp_path_factory.mktemp("openai") / "data"))
    with running_service(RagConfig(data_dir=data)) as address:
        yield address


@pytest.fixture(scope="module")
def client(service: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def plain(client: httpx.Client) -> dict[str, str]:
    """By path: the answer to a request without parameters."""
    return {path: _text(_ask(client, path)) for path in (COMPLETIONS, ANSWERS)}


@pytest.fixture
def official(service: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service}/v1", api_key="any", max_retries=0) as client:
        yield client


def _ask(client: httpx.Client, path: str, **parameters: Any) -> httpx.Response:
    question = {"messages": ASKED} if path == COMPLETIONS else {"input": QUESTION}
    return client.post(path, json={"model": "default", **question, **parameters})


def _text(response: httpx.Response) -> str:
    body = response.json()
    if "choices" in body:
        return str(body["choices"][0]["message"]["content"])
    return str(body["output"][0]["content"][0]["text"])


def _blocks(response: httpx.Response) -> list[str]:
    return response.text.strip().split("\n\n")


Check = Callable[[httpx.Response, str], bool]
HONOURED: dict[tuple[str, str], tuple[dict[str, Any], Check]] = {
    (COMPLETIONS, "model"): (
        {"model": "default/document_retrieval"},
        lambda response, _: response.json()["model"] == "default/document_retrieval",
    ),
    (COMPLETIONS, "messages"): (
        {"messages": [{"role": "user", "content": "What is kill-green?"}]},
        lambda response, plain: _text(response) != plain,
    ),
    (COMPLETIONS, "stream"): ({"stream": True}, lambda response, _: _blocks(response)[-1] == "data: [DONE]"),
    (COMPLETIONS, "stream_options"): (
        {"stream": True, "stream_options": {"include_usage": True}},
        lambda response, _: '"choices": [], "usage": {"prompt_tokens": 0' in _blocks(response)[-2],
    ),
    (COMPLETIONS, "stop"): (
        {"stop": ["no such text", " °C"]},
        lambda response, plain: _text(response) == plain.partition(" °C")[0],
    ),
    **{
        (COMPLETIONS, name): (
            {name: 12},
            lambda response, plain: (
                response.json()["choices"][0]["finish_reason"] == "length"
                and plain.startswith(_text(response))
            ),
        )
        for name in ("max_tokens", "max_completion_tokens")
    },
    (ANSWERS, "model"): (
        {"model": "default/document_retrieval"},
        lambda response, _: response.json()["model"] == "default/document_retrieval",
    ),
    (ANSWERS, "input"): ({"input": "What is kill-green?"}, lambda response, plain: _text(response) != plain),
    (ANSWERS, "stream"): (
        {"stream": True},
        lambda response, _: _blocks(response)[-1].startswith("event: response.completed\n"),
    ),
    (ANSWERS, "max_output_tokens"): (
        {"max_output_tokens": 12},
        lambda response, plain: (
            response.json()["incomplete_details"] == {"reason": "max_output_tokens"}
            and response.json()["status"] == "incomplete"
            and plain.startswith(_text(response))
        ),
    ),
    (ANSWERS, "metadata"): (
        {"metadata": {"page": "7"}},
        lambda response, _: response.json()["metadata"] == {"page": "7"},
    ),
}
"""By path and parameter: a request, and whether the response shows the effect; its second argument is the plain text."""
REFUSED: dict[str, tuple[Any, Any]] = {
    "n": (2, 1),
    "response_format": ({"type": "json_schema", "json_schema": {"name": "x"}}, {"type": "text"}),
    "tool_choice": ("required", "auto"),
    "function_call": ({"name": "look_up"}, "none"),
    "logprobs": (True, False),
    "top_logprobs": (3, 0),
    "modalities": (["text", "audio"], ["text"]),
    "audio": ({"voice": "alloy", "format": "wav"}, None),
    "store": (True, False),
    "web_search_options": ({}, None),
    "previous_response_id": ("resp_1", None),
    "conversation": ("conv_1", None),
    "background": (True, False),
    "text": ({"format": {"type": "json_object"}}, {"format": {"type": "text"}, "verbosity": "low"}),
    "include": (["message.output_text.logprobs"], ["reasoning.encrypted_content"]),
    "prompt": ({"id": "pmpt_1"}, None),
}
"""By parameter: a value that is refused, and one that asks for nothing."""
IGNORED: dict[str, Any] = {
    "temperature": 0.2, "top_p": 0.5, "tools": [TOOL], "parallel_tool_calls": True, "moderation": {"model": "m"},
    "prompt_cache_key": "k", "prompt_cache_options": {"mode": "implicit"}, "prompt_cache_retention": "24h",
    "safety_identifier": "s", "service_tier": "flex", "user": "someone", "functions": [{"name": "look_up"}],
    "frequency_penalty": 1, "presence_penalty": 1, "logit_bias": {"50256": -100}, "seed": 7,
    "prediction": {"type": "content", "content": "x"}, "reasoning_effort": "high", "verbosity": "low",
    "metadata": {"page": "7"}, "instructions": "Answer in French.", "reasoning": {"effort": "high", "summary": "auto"},
    "stream_options": {"include_obfuscation": False}, "truncation": "auto", "max_tool_calls": 2,
    "context_management": [{"type": "compaction"}], "image": {"detail": "low"}, "access_programs": {"cyber": "standard"},
}  # fmt: skip
"""By parameter: a value."""
ROWS = [(COMPLETIONS, one) for one in CHAT] + [(ANSWERS, one) for one in RESPONSES]


@pytest.mark.parametrize(("path", "parameter"), ROWS, ids=lambda value: getattr(value, "name", value))
def test_each_parameter_does_what_the_table_says(
    client: httpx.Client, plain: dict[str, str], path: str, parameter: Parameter
) -> None:
    if parameter.effect == "honoured":
        request, shows_effect = HONOURED[path, parameter.name]
        response = _ask(client, path, **request)
        assert response.status_code == 200
        assert shows_effect(response, plain[path]), response.text
    elif parameter.effect == "ignored":
        assert _text(_ask(client, path, **{parameter.name: IGNORED[parameter.name]})) == plain[path]
    else:
        value, nothing = REFUSED[parameter.name]
        refused = _ask(client, path, **{parameter.name: value})
        assert refused.status_code == 400
        error = refused.json()["error"]
        assert error["param"] == parameter.name
        assert (
            error["message"] == f"{parameter.name}: {json.dumps(value)} is not supported; {parameter.remedy}"
        )
        assert _text(_ask(client, path, **{parameter.name: nothing})) == plain[path]


@pytest.mark.parametrize("path", [COMPLETIONS, ANSWERS])
def test_parameters_of_other_servers_are_ignored(
    client: httpx.Client, plain: dict[str, str], path: str
) -> None:
    assert _text(_ask(client, path, top_k=40, min_p=0.1, chat_id="c")) == plain[path]


@pytest.mark.parametrize(
    ("path", "request_body", "status", "param"),
    [
        (COMPLETIONS, {"max_tokens": 0}, 422, "max_tokens"),
        (COMPLETIONS, {"max_completion_tokens": "many"}, 422, "max_completion_tokens"),
        (COMPLETIONS, {"stop": ["a"] * 5}, 422, "stop"),
        (COMPLETIONS, {"stop": ""}, 422, "stop"),
        (COMPLETIONS, {"stop": 5}, 422, "stop"),
        (COMPLETIONS, {"stream": "perhaps"}, 422, "stream"),
        (COMPLETIONS, {"stream_options": {"include_usage": True}, "stream": False}, 400, "stream_options"),
        (COMPLETIONS, {"messages": []}, 422, "messages"),
        (COMPLETIONS, {"messages": [{"role": "king", "content": "x"}]}, 422, "messages"),
        (COMPLETIONS, {"messages": [{"role": "assistant", "content": "hm"}]}, 400, None),
        (COMPLETIONS, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400, "messages"),
        (COMPLETIONS, {"messages": [{"role": "user", "content": "x" * 20_001}]}, 400, None),
        (ANSWERS, {"input": ""}, 400, None),
        (ANSWERS, {"input": 5}, 422, "input"),
        (ANSWERS, {"input": [{"type": "item_reference", "id": "msg_1"}]}, 400, "input"),
        (ANSWERS, {"input": [{"type": "item_reference"}, {"role": "user", "content": "x"}]}, 400, "input"),
        (ANSWERS, {"input": [{"type": "item_reference", "id": 5}]}, 422, "input"),
        (ANSWERS, {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, 400, "input"),
        (ANSWERS, {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, 400, None),
        (ANSWERS, {"max_output_tokens": -1}, 422, "max_output_tokens"),
        (ANSWERS, {"metadata": {"a": 1}}, 422, "metadata"),
        (ANSWERS, {"instructions": 5}, 422, "instructions"),
        (ANSWERS, {"model": ""}, 422, "model"),
        (ANSWERS, {"model": "x" * 250}, 400, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_request_is_refused_before_the_stream(
    client: httpx.Client,
    path: str,
    request_body: dict[str, Any],
    status: int,
    param: str | None,
    stream: bool,
) -> None:
    refused = _ask(client, path, **{"stream": stream, **request_body})
    assert refused.status_code == status, refused.text
    assert refused.json()["error"].get("param") == param


@pytest.mark.parametrize("path", [COMPLETIONS, ANSWERS])
@pytest.mark.parametrize("name", ["metadata", "instructions", "user"])
def test_a_lone_surrogate_is_refused(client: httpx.Client, path: str, name: str) -> None:
    value = {"a": "\ud800"} if name == "metadata" else "\ud800"
    question = {"messages": ASKED, "input": QUESTION, "model": "default", name: value}
    headers = {"Content-Type": "application/json"}
    refused = client.post(path, content=json.dumps(question), headers=headers)
    assert refused.status_code == 400
    assert "lone surrogate" in refused.json()["error"]["message"]


def test_any_openai_client_talks_to_the_notes(service: str) -> None:
    with openai.OpenAI(base_url=f"{service}/v1", api_key="any") as client:
        names = [model.id for model in client.models.list()]
        assert "default" in names
        assert "default/verification_canvas" in names
        answer = client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": QUESTION}]
        )
        message = answer.choices[0].message
        assert message.content is not None
        assert message.annotations
        for annotation in message.annotations:
            cited = annotation.url_citation
            assert message.content[cited.start_index : cited.end_index].endswith(f"({cited.url})")
            assert httpx.get(cited.url).status_code == 200
        stream = client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": QUESTION}], stream=True
        )
        parts = [chunk.choices[0].delta.content or "" for chunk in stream]
        assert "".join(parts) == message.content


def test_a_chat_goes_on(service: str) -> None:
    first = {"role": "user", "content": "What is kill-green?"}
    with openai.OpenAI(base_url=f"{service}/v1", api_key="any") as client:
        said = client.chat.completions.create(model="default", messages=[first]).choices[0].message.content
        later = client.chat.completions.create(
            model="default/document_retrieval",
            messages=[
                first,
                {"role": "assistant", "content": said},
                {"role": "user", "content": "Why is it done?"},
            ],
        )
        assert "[[1]]" in str(later.choices[0].message.content)
        with pytest.raises(openai.NotFoundError, match="unknown dataset 'gpt-4o'"):
            client.chat.completions.create(model="gpt-4o", messages=[first])
        with pytest.raises(openai.BadRequestError, match="last message"):
            client.chat.completions.create(model="default", messages=[{"role": "assistant", "content": "hm"}])


def test_a_model_is_retrieved_by_its_id(official: openai.OpenAI) -> None:
    for model in official.models.list():
        assert official.models.retrieve(model.id) == model
    for unknown in ("gpt-4o", "default/no_such_operation", "x" * 250):
        with pytest.raises(openai.NotFoundError, match="unknown dataset"):
            official.models.retrieve(unknown)


def test_a_streamed_completion_ends_with_its_usage(
    example_data: Path, tmp_path: Path, model_server: LocalOpenAIServer
) -> None:
    config = chat_config(shutil.copytree(example_data, tmp_path / "data"), model_server)
    with running_service(config) as address, openai.OpenAI(base_url=f"{address}/v1", api_key="any") as client:
        options = {"include_usage": True}
        completion = client.chat.completions.create(
            model="default", messages=ASKED, stream=True, stream_options=options
        )
        *others, last = completion
        assert all(chunk.usage is None and chunk.choices for chunk in others)
        assert not last.choices
        assert last.usage is not None
        assert last.usage.completion_tokens == 1
        response = client.responses.create(model="default", input=QUESTION)
        assert response.usage is not None
        assert response.usage.output_tokens == 1
        assert response.usage.total_tokens == response.usage.input_tokens + 1


def test_a_response_cites_its_notes(official: openai.OpenAI) -> None:
    response = official.responses.create(model="default", input=QUESTION, instructions="Be brief.")
    assert response.status == "completed"
    assert response.instructions == "Be brief."
    (message,) = response.output
    (content,) = message.content
    assert content.annotations
    for cited in content.annotations:
        assert cited.type == "url_citation"
        assert response.output_text[cited.start_index : cited.end_index].endswith(f"({cited.url})")
        assert httpx.get(cited.url).status_code == 200


def test_a_streamed_response_has_openais_events(official: openai.OpenAI) -> None:
    whole = official.responses.create(model="default/document_retrieval", input="What is kill-green?")
    stream = official.responses.create(
        model="default/document_retrieval", input="What is kill-green?", stream=True
    )
    events = list(stream)
    assert [one.sequence_number for one in events] == list(range(len(events)))
    kinds = [one.type for one in events]
    text_kinds = {"response.output_text.delta", "response.output_text.annotation.added"}
    assert text_kinds == set(kinds[4:-4])
    assert [*kinds[:4], *kinds[-4:]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    text = "".join(one.delta for one in events if one.type == "response.output_text.delta")
    assert text == whole.output_text == events[-1].response.output_text
    added = [one.annotation for one in events if one.type == "response.output_text.annotation.added"]
    assert [one.model_dump() for one in added] == [
        one.model_dump() for one in events[-1].response.output[0].content[0].annotations
    ]
    ids = {one.item_id for one in events if hasattr(one, "item_id")}
    assert ids == {events[-1].response.output[0].id}
    with official.responses.stream(
        model="default/document_retrieval", input="What is kill-green?"
    ) as gathered:
        assert gathered.get_final_response().output_text == text
    *_, last = official.responses.create(model="default", input=QUESTION, max_output_tokens=16, stream=True)
    assert last.type == "response.incomplete"


def test_a_response_goes_on_with_the_turns_of_its_input(official: openai.OpenAI) -> None:
    first = official.responses.create(model="default", input="What is kill-green?")
    question = {"role": "user", "content": [{"type": "input_text", "text": "Why is it done?"}]}
    turns = [{"role": "user", "content": "What is kill-green?"}, *first.output, question]
    alone = official.responses.create(model="default", input=[question]).output_text
    later = official.responses.create(model="default", input=turns).output_text
    completion = official.chat.completions.create(
        model="default",
        messages=[
            {"role": "user", "content": "What is kill-green?"},
            {"role": "assistant", "content": first.output_text},
            {"role": "user", "content": "Why is it done?"},
        ],
    )
    assert later == completion.choices[0].message.content != alone
    with pytest.raises(openai.BadRequestError, match="send the earlier turns as items of input"):
        official.responses.create(model="default", input="Why?", previous_response_id=first.id)


def test_an_answer_can_be_referred_to_by_the_id_of_its_message(client: httpx.Client) -> None:
    """As the Vercel AI SDK does unless ``store`` is false: a system text, and references to earlier answers."""
    first = client.post(ANSWERS, json={"model": "default", "input": "What is kill-green?", "stream": True})
    message_id = json.loads(_blocks(first)[-1].partition("data: ")[2])["response"]["output"][0]["id"]
    asked = {"role": "user", "content": [{"type": "input_text", "text": "What is kill-green?"}]}
    reference = {"type": "item_reference", "id": message_id}
    question = {"role": "user", "content": [{"type": "input_text", "text": "Why is it done?"}]}
    system = {"role": "system", "content": "Be brief."}
    later = _ask(client, ANSWERS, input=[system, asked, reference, question])
    text = _text(first_whole := _ask(client, ANSWERS, input="What is kill-green?"))
    whole = [
        system,
        asked,
        {"role": "assistant", "content": [{"type": "output_text", "text": text}]},
        question,
    ]
    assert (
        _text(later)
        == _text(_ask(client, ANSWERS, input=whole))
        != _text(_ask(client, ANSWERS, input=[question]))
    )
    both = [asked, reference, asked, {**reference, "id": first_whole.json()["output"][0]["id"]}, question]
    assert _ask(client, ANSWERS, input=both).status_code == 200
    assert _ask(client, ANSWERS, input=[asked, reference]).status_code == 400
    client.delete("/memory")
    forgotten = _ask(client, ANSWERS, input=[asked, reference, question])
    assert forgotten.status_code == 400
    assert message_id in forgotten.json()["error"]["message"]
    assert "store: false" in forgotten.json()["error"]["message"]


def test_other_items_of_an_agents_history_are_ignored(official: openai.OpenAI) -> None:
    turns = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "look_up", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "nothing"},
        {"role": "developer", "content": "Answer in French."},
        {"type": "message", "role": "user", "content": QUESTION},
    ]
    plain = official.responses.create(model="default", input=QUESTION).output_text
    assert official.responses.create(model="default", input=turns).output_text == plain


TRANSCRIPT = f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: 96 °C, for 7 hours. [1]\n</chat_history>"


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('{ "title": "…" }', {"title": "At what temperature and for how long is the…"}),
        ('{ "queries": ["…"] }', {"queries": [QUESTION]}),
    ],
)
def test_open_webuis_own_prompts_are_not_answered_from_the_notes(
    client: httpx.Client, output: str, answer: dict[str, Any]
) -> None:
    """As its ``/api/v1/tasks`` send them, after it has taken its own ``metadata`` out."""
    text = f"### Task:\nDo it.\n### Output:\nJSON format: {output}\n### Chat History:\n{TRANSCRIPT}"
    task = {"model": "default", "messages": [{"role": "user", "content": text}], "stream": False}
    response = client.post(COMPLETIONS, json={**task, "max_completion_tokens": 1000})
    assert json.loads(_text(response)) == answer
    assert response.json()["choices"][0]["message"]["annotations"] == []
    assert json.loads(_text(client.post(ANSWERS, json={"model": "default", "input": text}))) == answer


def test_lobe_chats_own_prompts_are_not_answered_from_the_notes(official: openai.OpenAI) -> None:
    """As it sends them: a system prompt and one message of the user, streamed."""
    rules = {"role": "system", "content": "Name the conversation.\n- Output ONLY the title text"}
    transcript = {"role": "user", "content": "user: What is kill-green?\nassistant: A step. [1]"}
    stream = official.chat.completions.create(model="default", messages=[rules, transcript], stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "What is kill-green?"
    rules = {"role": "system", "content": "Translate it to zh-CN.\n- Output ONLY the translated text"}
    translation = {"role": "user", "content": QUESTION}
    with pytest.raises(openai.BadRequestError, match="choose another model for such tasks"):
        official.chat.completions.create(model="default", messages=[rules, translation], stream=True)
