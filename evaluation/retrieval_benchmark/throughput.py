"""Texts per second of the bundled model's embedding, and the parts of a cold ``agentic-rag search``.

    python -m retrieval_benchmark.throughput TOKENS SECONDS WORKERS

is one process of the measurement: texts of about TOKENS tokens for about SECONDS, on WORKERS threads.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.preparing import embed_texts
from agentic_rag.models import bundled
from figures import COMMAND, HERE, Row, row

LENGTHS = (20, 100, 256)
ROUNDS = 5
GAIN = 0.9
"""Minimum share of two processes' gain over one thread that two threads must reach."""
_WORDS = (
    "the tea leaves of this spring were picked by hand and dried over a small fire in the old house".split()
)


def texts(tokens: int, count: int) -> list[str]:
    """Distinct texts of about this number of tokens."""
    made = []
    for number in range(count):
        turned = _WORDS[number % len(_WORDS) :] + _WORDS[: number % len(_WORDS)]
        made.append(" ".join([str(number), *(turned[i % len(turned)] for i in range(round(tokens * 0.82)))]))
    return made


async def speed(tokens: int, seconds: float, workers: int) -> tuple[float, float]:
    """Texts and tokens per second, with texts batched as by an ingest."""
    bundled.WORKERS = workers
    model = bundled.BundledEmbedding()
    given = texts(tokens, 256)
    counted = sum(bundled.count_tokens_batch(given)) / len(given)
    await model.embed_passages(given[:8])
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        await embed_texts(model, given, [0.0] * len(given), Meter(None, "texts", units=len(given), work=0.0))
        done += len(given)
    rate = done / (time.perf_counter() - started)
    return rate, rate * counted


def rows(seconds: float) -> list[Row]:
    """For each length: threads and processes, both against one thread, in turns.

    Medians over the rounds, of the gains too, because other load varies more between rounds than within one.
    """
    found: list[Row] = []
    for tokens in LENGTHS:
        rounds = []
        for _ in range(ROUNDS):
            one = _run(tokens, seconds, 1, 1)[0]
            rounds.append((one, *_run(tokens, seconds, 2, 1), _run(tokens, seconds, 1, 2)[0]))
        rates = np.array(rounds)
        _, threads, per_token, processes = np.median(rates, axis=0).tolist()
        gain, of_processes = np.median(rates[:, [1, 3]] / rates[:, :1], axis=0).tolist()
        told = f"embedding, about {tokens} tokens"
        found += [
            row(f"{told}: two threads", "texts/s", threads, bound="min", peer="two processes", theirs=processes),
            row(f"{told}: two threads", "tokens/s", per_token, bound="min"),
            row(f"{told}: gain over one thread", "×", gain, bound="min", peer="two processes",
                theirs=of_processes, floor=round(GAIN * of_processes, 3)),
        ]  # fmt: skip
    return found


def _run(tokens: int, seconds: float, workers: int, processes: int) -> tuple[float, float]:
    """Sum over concurrent processes."""
    command = [
        sys.executable,
        "-m",
        "retrieval_benchmark.throughput",
        str(tokens),
        str(seconds),
        str(workers),
    ]
    started = [
        subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    rates = [json.loads(process.communicate()[0]) for process in started]
    return sum(rate[0] for rate in rates), sum(rate[1] for rate in rates)


_LOADING = """
import json, time
began = time.perf_counter()
import onnxruntime, sentencepiece
imported = time.perf_counter()
from importlib import resources
folder = resources.files("agentic_rag") / "models/multilingual-e5-small"
sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
tokenizer = time.perf_counter()
options = onnxruntime.SessionOptions(); options.intra_op_num_threads = 1
onnxruntime.InferenceSession(str(folder / "encoder.onnx"), options, providers=["CPUExecutionProvider"])
print(json.dumps([imported - began, tokenizer - imported, time.perf_counter() - tokenizer]))
"""


def cold_rows(vault: Path, rounds: int = 3) -> list[Row]:
    """A search from the shell, and the loading time of the model and the tokenizer (they load beside the imports)."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*COMMAND, "ingest", str(vault), "--data-dir", folder, "--json"], check=True, capture_output=True)  # fmt: skip
        taken, loads = [], []
        for _ in range(rounds):
            started = time.perf_counter()
            subprocess.run([*COMMAND, "search", "oolong", "--data-dir", folder, "--json"], check=True, capture_output=True)  # fmt: skip
            taken.append(time.perf_counter() - started)
            loads.append(json.loads(subprocess.run([sys.executable, "-c", _LOADING], check=True, capture_output=True, text=True).stdout))  # fmt: skip
    imports, tokenizer, model = (sorted(parts)[rounds // 2] for parts in zip(*loads, strict=True))
    return [
        row("cold agentic-rag search, whole process", "s", sorted(taken)[rounds // 2]),
        row("of which, alone: importing onnxruntime and sentencepiece", "s", imports),
        row("of which, alone: loading the tokenizer", "s", tokenizer),
        row("of which, alone: loading the model", "s", model),
    ]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(speed(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))))
