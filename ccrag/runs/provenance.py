"""A result as JSON: evidence spans, citations and the whole trace. Pure."""

from collections.abc import Iterable
from dataclasses import asdict

from ccrag.types import (
    JSON,
    Answerability,
    AnswerSentence,
    Evidence,
    Passage,
    Ranking,
    Result,
    Strength,
    Unit,
)


def result_json(result: Result) -> JSON:
    """Return everything that leads from an answer sentence back to a document's characters."""
    return {**answer_json(result), **trace_json(result)}


def answer_json(result: Result) -> JSON:
    """Return the answer, its references and evidence, and the passages it was read from."""
    return {
        "query_id": result.query.query_id,
        "query": result.query.text,
        "abstained": result.answer.abstained,
        "answer": [_sentence_json(sentence) for sentence in result.answer.sentences],
        "strength": strength_json(result.answer.strength),
        "references": result.answer.references,
        "evidence": [evidence_json(evidence) for evidence in result.answer.evidence],
        "read": [passage_json(result.passages[passage_id]) for passage_id in result.read],
        "selected": result.selected,
        **({"units": [unit_json(unit) for unit in result.units]} if result.units else {}),
        "ranked": [[passage.doc_id, passage.start, passage.end] for passage in _ranked(result)],
    }


def strength_json(strength: Strength | None) -> JSON | None:
    """Return how far the evidence matches the question; None where nobody looked."""
    return None if strength is None else asdict(strength)


def unit_json(unit: Unit) -> JSON:
    """Return a unit as it was read: its documents in reading order."""
    return {
        "unit_id": unit.unit_id,
        "documents": list(dict.fromkeys(part.doc_id for part in unit.parts)),
    }


def _ranked(result: Result) -> list[Passage]:
    """Return the passages of the final ranking, best first, as far as their texts were fetched."""
    known = result.passages
    return [known[hit.passage_id] for hit in result.ranking if hit.passage_id in known]


def trace_json(result: Result) -> JSON:
    """Return the variants, every ranking, the notes, seconds per stage, and calls to models."""
    trace = result.trace
    return {
        "variants": [{"name": v.name, "text": v.text} for v in trace.variants],
        "rankings": [ranking_json(ranking) for ranking in trace.rankings],
        "notes": [{"stage": note.stage, "message": note.message} for note in trace.notes],
        "seconds": {stage: round(seconds, 6) for stage, seconds in trace.seconds.items()},
        "calls": [asdict(call) for call in trace.calls],
        **_answerability_json(trace.answerability),
    }


def _answerability_json(decision: Answerability | None) -> JSON:
    """Return the decision with its features; nothing where nobody decided."""
    if decision is None:
        return {}
    rounded = {
        name: {feature: round(value, 6) for feature, value in values.items()}
        for name, values in (
            ("features", decision.features),
            ("contributions", decision.contributions),
        )
    }
    return {
        "answerability": {
            "calibration": decision.calibration,
            "probability": round(decision.probability, 6),
            "threshold": decision.threshold,
            "abstains": decision.abstains,
            **rounded,
        }
    }


def ranking_json(ranking: Ranking) -> JSON:
    """Return a ranking as `[passage_id, score]` pairs, best first."""
    return {
        "stage": ranking.stage,
        "hits": [[hit.passage_id, round(hit.score, 9)] for hit in ranking],
    }


def evidence_json(evidence: Evidence) -> JSON:
    """Return one evidence span; `text` is the document's text at `start:end`."""
    return {
        "evidence_id": evidence.evidence_id,
        "passage_id": evidence.passage_id,
        "doc_id": evidence.doc_id,
        "section": evidence.section,
        "start": evidence.start,
        "end": evidence.end,
        "text": evidence.text,
        "score": round(evidence.score, 9),
    }


def passage_json(passage: Passage) -> JSON:
    """Return where a passage stands; its text is the document's at `start:end`."""
    return {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "title": passage.title,
        "date": passage.date,
        "section": passage.section,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
    }


def passages_json(passages: Iterable[Passage]) -> list[JSON]:
    """Return several passages with their text."""
    return [{**passage_json(passage), "text": passage.text} for passage in passages]


def _sentence_json(sentence: AnswerSentence) -> JSON:
    return {
        "text": sentence.text,
        "evidence": sentence.evidence_ids,
        "citations": sentence.citations,
        **({} if sentence.supported is None else {"supported": sentence.supported}),
    }
