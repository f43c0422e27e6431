"""Find what supports, and what contradicts, the sentences of answers that somebody wrote."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ccrag.answering.verdict import SupportWeights, Verdict, judge, verdict_of
from ccrag.errors import UnknownDocumentError
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure
from ccrag.runs.provenance import evidence_json
from ccrag.runs.written import WrittenAnswer, WrittenSentence
from ccrag.types import JSON, Candidates, DocId, Evidence, Query, Result

BEST = 3
"""Pieces of supporting, and of contradicting evidence that a sentence gets at most."""


class CitationStatus(StrEnum):
    """The outcome of checking one citation."""

    KEPT = "kept"
    CORRECTED = "corrected"
    """The document does not support the sentence, and another candidate does."""
    UNSUPPORTED = "unsupported"
    """No candidate supports the sentence."""
    OUTSIDE = "outside"
    """The document is no candidate, or not in the index; it was not read."""


@dataclass(frozen=True, slots=True)
class JudgedEvidence:
    """A sentence of a candidate, and what it says of the claim."""

    evidence: Evidence
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation that the answer has, checked."""

    doc_id: DocId
    status: CitationStatus
    probability: float


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence with the evidence that was found for it."""

    text: str
    verdict: str
    probability: float
    reason: str
    supporting: tuple[JudgedEvidence, ...]
    contradicting: tuple[JudgedEvidence, ...]
    citations: tuple[CheckedCitation, ...]

    def to_json(self) -> JSON:
        """Return the sentence as it is written into the outcome."""
        return {
            "text": self.text,
            "verdict": self.verdict,
            "probability": self.probability,
            "reason": self.reason,
            "supporting": [_judged_json(item) for item in self.supporting],
            "contradicting": [_judged_json(item) for item in self.contradicting],
            "citations": [
                {"doc_id": c.doc_id, "status": c.status.value, "probability": c.probability}
                for c in self.citations
            ],
        }


def cite(
    pipeline: Pipeline, answers: Sequence[WrittenAnswer], weights: SupportWeights
) -> Iterator[tuple[WrittenAnswer, tuple[CheckedSentence, ...]]]:
    """
    Yield each answer with its sentences judged against the candidates, in order.

    Each sentence is searched for among the candidates, and in each document that it cites.

    Args:
        pipeline: chooses the evidence; it writes nothing, see `answering.NoAnswerGenerator`.

    Raises:
        CcragError: the engine or a model failed, or a candidate is not in the index.
    """
    for answer in answers:
        queries: list[Query] = []
        for at, sentence in enumerate(answer.sentences):
            queries.append(Query(f"{answer.answer_id}#{at}", sentence.text, answer.candidates))
            for doc_id in _readable(answer, sentence):
                one = Candidates.of([doc_id], query_id=answer.answer_id)
                queries.append(Query(f"{answer.answer_id}#{at} {doc_id}", sentence.text, one))
        outcomes = iter(pipeline.run(queries))
        yield (
            answer,
            tuple(_cited(answer, s, outcomes, weights) for s in answer.sentences),
        )


def _readable(answer: WrittenAnswer, sentence: WrittenSentence) -> list[DocId]:
    """Return the cited documents that may be read."""
    named = answer.candidates.doc_ids
    return [doc_id for doc_id in dict.fromkeys(sentence.cited) if named is None or doc_id in named]


def _cited(
    answer: WrittenAnswer,
    sentence: WrittenSentence,
    outcomes: Iterator[Result | Failure],
    weights: SupportWeights,
) -> CheckedSentence:
    found = next(outcomes)
    if isinstance(found, Failure):
        raise found.error
    judged = _judged(answer, sentence, found, weights)
    supporting = tuple(item for item in judged if item.verdict.verdict != "unsupported")[:BEST]
    contradicting = tuple(item for item in judged if item.verdict.disagreements)[:BEST]
    probabilities: dict[DocId, float] = {}
    for doc_id in _readable(answer, sentence):
        in_document = next(outcomes)
        if isinstance(in_document, Failure):
            if isinstance(in_document.error, UnknownDocumentError):
                continue
            raise in_document.error
        own = _judged(answer, sentence, in_document, weights)
        probabilities[doc_id] = max((item.verdict.probability for item in own), default=0.0)
    shown = (contradicting if contradicting and not supporting else judged)[:1]
    verdict = shown[0].verdict if shown else judge(sentence.text, [], weights)
    return CheckedSentence(
        text=sentence.text,
        verdict=verdict.verdict,
        probability=verdict.probability,
        reason=verdict.reason,
        supporting=supporting,
        contradicting=contradicting,
        citations=tuple(
            CheckedCitation(
                doc_id, _status(doc_id, probabilities, supporting), probabilities.get(doc_id, 0.0)
            )
            for doc_id in dict.fromkeys(sentence.cited)
        ),
    )


def _judged(
    answer: WrittenAnswer, sentence: WrittenSentence, result: Result, weights: SupportWeights
) -> list[JudgedEvidence]:
    """Return the evidence of a result, best first by the probability that it supports."""
    judged = [
        JudgedEvidence(item, judge(sentence.text, [item.text], weights, question=answer.question))
        for item in result.answer.evidence
    ]
    return sorted(judged, key=lambda one: (-one.verdict.probability, one.evidence.key))


def _status(
    doc_id: DocId, probabilities: dict[DocId, float], supporting: Sequence[JudgedEvidence]
) -> CitationStatus:
    if doc_id not in probabilities:
        return CitationStatus.OUTSIDE
    if verdict_of(probabilities[doc_id]) != "unsupported":
        return CitationStatus.KEPT
    return CitationStatus.CORRECTED if supporting else CitationStatus.UNSUPPORTED


def _judged_json(item: JudgedEvidence) -> JSON:
    told = {"probability": item.verdict.probability, "reason": item.verdict.reason}
    return {**evidence_json(item.evidence), **told}
