"""Write the graph that runs the bundled model: ``encoder.onnx``, with its weights in ``model_int8.onnx``.

    python evaluation/encoder_graph.py

``model_int8.onnx`` is kept as it was published. Its graph is changed in two ways, and written beside it:

- There is no mask to give: rows of one run have the same length, so nothing is padded.
- Token vectors are projected, and packed as ``domain.token_vectors`` says, in the graph: in numpy this took a third of
  the time of an ingest, for Python's threads waited for each other.

The vectors are those of the published graph to the last digits. Without a mask inside, or with
``SkipLayerNormalization`` as ``Add`` and ``LayerNormalization``, a fifth more texts a second would be embedded, and
vectors would differ by a cosine of .0006: rounding to 8 bits amplifies the last digit of a sum.

Weights of more than a kilobyte are external data, places in the published file, so that no byte is shipped twice.
The projection is that of the present ``encoder.onnx``; ``fit_token_projection.py --write`` gives another one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from agentic_rag.domain.ports import FloatArray
from agentic_rag.domain.token_vectors import MOST, STEP, ZERO
from agentic_rag.models.bundled import DIMENSION, TOKEN_DIMENSION

PUBLISHED, WRITTEN = "model_int8.onnx", "encoder.onnx"
EXTERNAL_FROM = 1_024
"""Minimum bytes of a weight that stays in the published file."""
TINY = 1e-9
_ONE = helper.make_tensor("one", TensorProto.INT32, [1], [1])
MEAN, COMPONENTS = "tokens.mean", "tokens.components"


def folder() -> Path:
    """The package's folder of the model."""
    return Path(str(resources.files("agentic_rag") / "models/multilingual-e5-small"))


def projection() -> tuple[FloatArray, FloatArray]:
    """Mean (dimension,) and components (dimension, TOKEN_DIMENSION) of the current graph."""
    held = {
        one.name: one
        for one in onnx.load(str(folder() / WRITTEN), load_external_data=False).graph.initializer
    }
    return numpy_helper.to_array(held[MEAN]), numpy_helper.to_array(held[COMPONENTS])


def write(mean: FloatArray, components: FloatArray) -> Path:
    """Write the graph with this projection of token vectors."""
    model = onnx.load(str(folder() / PUBLISHED))
    graph = model.graph
    nodes = [*_unpadded(graph.node), *_sentence(), *_tokens()]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [one for one in graph.initializer if one.name in used]
    del graph.initializer[:]
    graph.initializer.extend(_left_where_they_are(kept, (folder() / PUBLISHED).read_bytes()))
    graph.initializer.extend(_constants(mean, components))
    del graph.input[:]
    graph.input.append(helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"]))
    del graph.output[:]
    graph.output.extend(
        helper.make_tensor_value_info(name, kind, ["batch", *shape])
        for name, kind, shape in (
            ("sentence_embedding", TensorProto.FLOAT, [DIMENSION]),
            ("token_embeddings", TensorProto.FLOAT, ["tokens", DIMENSION]),
            ("token_vectors", TensorProto.FLOAT, ["tokens", TOKEN_DIMENSION]),
            ("packed_tokens", TensorProto.UINT8, ["tokens", TOKEN_DIMENSION // 2]),
        )
    )
    place = folder() / WRITTEN
    place.write_bytes(model.SerializeToString())
    return place


def _unpadded(nodes: Sequence[Any]) -> Iterator[Any]:
    """The nodes up to ``token_embeddings``, with an all-ones mask; the later nodes average under the given mask."""
    for node in nodes:
        if "attention_mask" in node.input:
            yield helper.make_node("ConstantOfShape", ["Shape_11"], list(node.output), value=_ONE)
        else:
            yield node
        if "token_embeddings" in node.output:
            return


def _sentence() -> Iterator[Any]:
    yield helper.make_node("ReduceMean", ["token_embeddings", "axis.tokens"], ["mean"], keepdims=0)
    yield from _unit("mean", "sentence_embedding")


def _tokens() -> Iterator[Any]:
    yield from _unit("token_embeddings", "tokens.unit")
    yield helper.make_node("Sub", ["tokens.unit", MEAN], ["tokens.centred"])
    yield helper.make_node("MatMul", ["tokens.centred", COMPONENTS], ["tokens.projected"])
    yield from _unit("tokens.projected", "token_vectors")
    yield helper.make_node("Mul", ["token_vectors", "steps"], ["tokens.scaled"])
    yield helper.make_node("Round", ["tokens.scaled"], ["tokens.rounded"])
    yield helper.make_node("Clip", ["tokens.rounded", "least", "most"], ["tokens.steps"])
    yield helper.make_node("Add", ["tokens.steps", "zero.step"], ["tokens.shifted"])
    yield helper.make_node("Cast", ["tokens.shifted"], ["tokens.bytes"], to=TensorProto.UINT8)
    yield helper.make_node("Reshape", ["tokens.bytes", "pairs"], ["tokens.pairs"])
    yield helper.make_node("Split", ["tokens.pairs"], ["tokens.high", "tokens.low"], axis=-1, num_outputs=2)
    yield helper.make_node("BitShift", ["tokens.high", "four"], ["tokens.shifted_high"], direction="LEFT")
    yield helper.make_node("BitwiseOr", ["tokens.shifted_high", "tokens.low"], ["tokens.joined"])
    yield helper.make_node("Squeeze", ["tokens.joined", "axis.last"], ["packed_tokens"])


def _unit(given: str, made: str) -> Iterator[Any]:
    yield helper.make_node("ReduceL2", [given, "axis.last"], [f"{made}.length"], keepdims=1)
    yield helper.make_node("Max", [f"{made}.length", "tiny.length"], [f"{made}.divisor"])
    yield helper.make_node("Div", [given, f"{made}.divisor"], [made])


def _constants(mean: FloatArray, components: FloatArray) -> list[Any]:
    values: dict[str, NDArray[Any]] = {
        MEAN: mean,
        COMPONENTS: components,
        "axis.tokens": np.array([1]),
        "axis.last": np.array([-1]),
        "tiny.length": np.array([TINY], np.float32),
        "steps": np.array([np.sqrt(TOKEN_DIMENSION) / STEP], np.float32),
        "least": np.array(-MOST, np.float32),
        "most": np.array(MOST, np.float32),
        "zero.step": np.array([ZERO], np.float32),
        "pairs": np.array([0, 0, TOKEN_DIMENSION // 2, 2]),
        "four": np.array([4], np.uint8),
    }
    return [numpy_helper.from_array(value, name) for name, value in values.items()]


def _left_where_they_are(weights: Sequence[Any], published: bytes) -> Iterator[Any]:
    for weight in weights:
        raw = weight.raw_data
        if len(raw) >= EXTERNAL_FROM:
            set_external_data(weight, PUBLISHED, offset=published.index(raw), length=len(raw))
            weight.ClearField("raw_data")
        yield weight


if __name__ == "__main__":
    print(f"written to {write(*projection())}")
    sys.exit()
