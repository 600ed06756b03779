"""The declaration of parameters covers OpenAI's requests, and refuses by name."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from agentic_rag_service.openai.parameters import (
    CHAT,
    RESPONSES,
    Parameter,
    UnsupportedParameter,
    refuse_unsupported,
)


@pytest.mark.parametrize(
    ("declared", "request_type"),
    [(CHAT, CompletionCreateParamsStreaming), (RESPONSES, ResponseCreateParamsStreaming)],
)
def test_every_parameter_of_openais_client_is_declared_once(
    declared: tuple[Parameter, ...], request_type: Any
) -> None:
    names = [one.name for one in declared]
    assert len(names) == len(set(names))
    assert set(names) == request_type.__annotations__.keys()


@pytest.mark.parametrize("declared", [CHAT, RESPONSES])
def test_only_refused_parameters_have_a_remedy(declared: tuple[Parameter, ...]) -> None:
    for one in declared:
        assert (one.effect == "refused") is bool(one.remedy), one.name


def test_the_error_names_parameter_value_and_remedy() -> None:
    with pytest.raises(UnsupportedParameter, match=r"^n: 2 is not supported; .*send 1") as error:
        refuse_unsupported(CHAT, {"n": 2})
    assert error.value.param == "n"
    with pytest.raises(UnsupportedParameter) as error:
        refuse_unsupported(CHAT, {"response_format": {"type": "x" * 5000}})
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("value", ["", "\ud800", 1.5, -1])
def test_a_value_of_a_wrong_form_is_refused_by_name(value: Any) -> None:
    for declared in (CHAT, RESPONSES):
        for one in declared:
            if one.effect == "refused":
                with pytest.raises(UnsupportedParameter, match=f"^{one.name}: "):
                    refuse_unsupported(declared, {one.name: value})


def test_null_counts_as_left_out() -> None:
    for declared in (CHAT, RESPONSES):
        refuse_unsupported(declared, {one.name: None for one in declared})
