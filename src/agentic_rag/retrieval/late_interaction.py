"""Late interaction: a hybrid search compares question and passage token by token and corrects the relevance.

The token vectors were stored with the chunk, so that a question costs one read. Without stored tokens the relevance
stays as it is.

    log-odds(passage) = log-odds by vector and words − behind · weight + level
    weight            = WEIGHT · (1 + DOUBT · (1 − relevance of the best by vector and words))

``behind`` is the distance, in tenths of a cosine, between the similarity of the passage's tokens and that of the
nearest passage; a passage without tokens has the median. The tokens weigh more if vector and words find nothing
relevant. ``level`` restores the relevance of the best passage, because tokens rank passages but do not measure how
good the best one is. For an off-topic question all relevances fall: by UNFAMILIAR for each tenth of a cosine by
which the question's tokens are farther than FAMILIAR from the tokens of all passages together. If the question is in
another script than the nearest passage, they share no words, and the level of their cosine says little: all relevances
rise or fall by ACROSS for each tenth of a cosine by which that passage's tokens are nearer or farther than USUAL, and rise
by STANDING_OUT for each tenth by which its cosine exceeds the median of those found. A passage that has all words of the
question, which few others have, is at least as relevant as NAME_RELEVANCE: the vector of a short question such as "what is
X" carries little, but a note that mentions X answers it.

Source of the comparison: Khattab and Zaharia, ColBERT, SIGIR 2020.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from agentic_rag.domain import search_text
from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.domain.ports import ChunkReader, TokenEmbedding
from agentic_rag.domain.token_vectors import Similarities, similarities
from agentic_rag.retrieval.calibration import script_pair
from agentic_rag.retrieval.schemas import JudgedResults, RetrievalResult
from agentic_rag.text import asked_about, has_all, names_nothing, script, script_beside

WEIGHT, DOUBT = 0.5, 16.0
"""Log-odds for each tenth of a cosine. Chosen on the first halves of the judged sets and on two vaults."""
FAMILIAR, UNFAMILIAR = 0.423, 2.0
"""Chosen on two vaults, with their readers' questions and everyday questions, so that answerable questions are
not refused more often than without the term. No answerable question of the first halves lies below FAMILIAR."""
ACROSS, STANDING_OUT = 1.0, 2.0
USUAL: Mapping[str, float] = {"cjk_latin": 0.395, "latin_cjk": 0.45}
"""By ``script_pair``, the similarity of tokens at which a passage with the median cosine loses nothing. Chosen, with
STANDING_OUT, on half of the subjects of a set across Chinese and English (XQuAD), by their own questions and by those about
the other subjects, and on four vaults, so that of their questions in the other language and of everyday ones no more are
answered wrongly than before."""
NAME_RELEVANCE = 0.5
"""Minimum relevance of a passage that has all words the question asks about."""
MAX_LIFT = 0.1
"""Range, in log-odds, of the passages that are raised to NAME_RELEVANCE; they keep their order."""


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Judges results of a hybrid search by their tokens too.

    Args:
        embedding: makes the question's tokens; None: tokens are not compared.
        chunks: stores the passages' tokens.
    """

    embedding: TokenEmbedding | None
    chunks: ChunkReader

    async def judge(self, dataset: str, question: str, results: Sequence[RetrievalResult]) -> JudgedResults:
        """The results, rescored by their tokens and sorted by relevance descending, then id.

        Raises:
            StoreError: the tokens cannot be read.
            ModelError: the question's tokens cannot be made.
        """
        if not results:
            return JudgedResults([])
        near: dict[str, float] = {}
        together = None
        if self.embedding is not None:
            ids = [result.id for result in results]
            stored, asked = await asyncio.gather(
                self.chunks.get_token_vectors(dataset, ids), self.embedding.question_tokens(question)
            )
            if stored:
                compared: Similarities = await asyncio.to_thread(similarities, asked, list(stored.values()))
                near, together = dict(zip(stored, compared.each, strict=True)), compared.together
        return JudgedResults(judged_by_tokens(question, results, near, together), together)


def judged_by_tokens(
    question: str,
    results: Sequence[RetrievalResult],
    near: Mapping[str, float],
    together: float | None,
) -> list[RetrievalResult]:
    """Results by relevance descending, then id.

    Args:
        question: what was asked.
        results: judged by vector and words.
        near: similarity of a result's tokens to the question's, by id, for the results with tokens.
        together: the same for all passages read as one text; None if no result has tokens.
    """
    odds = {result.id: log_odds(result.score) for result in results}
    best = max(odds.values())
    if near:
        weight = 10.0 * WEIGHT * (1.0 + DOUBT * (1.0 - probability(best)))
        nearest, typical = max(near.values()), median(near.values())
        odds = {i: value - weight * (nearest - near.get(i, typical)) for i, value in odds.items()}
        level = best - max(odds.values()) - 10.0 * UNFAMILIAR * max(0.0, FAMILIAR - (together or 0.0))
        level += _across(question, results, near)
        odds = {i: value + level for i, value in odds.items()}
    for named in _naming(question, results):
        odds[named] = max(odds[named], log_odds(NAME_RELEVANCE) + MAX_LIFT * probability(odds[named]))
    judged = [
        replace(result, score=probability(odds[result.id]), tokens=near.get(result.id)) for result in results
    ]
    return sorted(judged, key=lambda result: (-result.score, result.id))


def _across(question: str, results: Sequence[RetrievalResult], near: Mapping[str, float]) -> float:
    """Log-odds by the nearest passage's tokens and cosine, if it is in another script than the question; else 0."""
    compared = (result for result in results if result.id in near)
    nearest = min(compared, key=lambda result: (-near[result.id], result.id))
    asked_in = script(question)
    usual = USUAL.get(script_pair((asked_in, script_beside(asked_in, nearest.chunk.text))))
    if usual is None:
        return 0.0
    cosines = {result.id: leg.score for result in results if (leg := result.legs.get("dense"))}
    typical = median(cosines.values()) if cosines else 0.0
    beyond = cosines.get(nearest.id, typical) - typical
    return 10.0 * (ACROSS * (near[nearest.id] - usual) + STANDING_OUT * beyond)


def _naming(question: str, results: Sequence[RetrievalResult]) -> list[str]:
    """Ids of the passages that have all terms the question asks about. None if more than √n of the n results have
    them: such words are everyday words of this dataset. None if the subject of the question stands in an earlier
    question ("when did she take over"). Turns of a dialogue do not count, because speakers mention each other all
    the time."""
    asked = frozenset() if names_nothing(question) else asked_about(question)
    if not asked:
        return []
    having = [result for result in results if has_all(asked, search_text(result.chunk))]
    if len(having) ** 2 > len(results):
        return []
    return [result.id for result in having if result.chunk.kind != "turn"]
