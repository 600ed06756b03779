"""Post-retrieval, action format: the memories as text for history_text."""

from __future__ import annotations

from agentic_rag_lab.designs.post_retrieval.config import FormatStep, fill_template
from agentic_rag_lab.designs.post_retrieval.items import Handlers, Items, StepOutcome, StepRequest


async def template(step: FormatStep, items: Items, request: StepRequest) -> StepOutcome:
    """``memory_template`` filled for each memory, one line each; missing values are empty."""
    lines = [
        fill_template(
            step.memory_template,
            {
                "text": item.text,
                "timestamp": _value_text(item.get(step.time_field)),
                "speaker": _value_text(item.get("speaker")),
                "score": "" if item.score is None else f"{item.score:.3f}",
                "index": str(index),
            },
        )
        for index, item in enumerate(items, start=1)
    ]
    return StepOutcome(items, body="\n".join(lines))


FORMATS: Handlers = {"template": template}


def _value_text(value: object) -> str:
    """The value on one line; "" for None."""
    return "" if value is None else " ".join(str(value).split())
