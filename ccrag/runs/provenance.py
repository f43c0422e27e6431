"""Turn a result into its record: evidence spans, citations and the whole trace. Pure."""

from ccrag.formats.provenance import (
    AnswerabilityRecord,
    AnswerRecord,
    CallRecord,
    EvidenceRecord,
    PassageRecord,
    QueryRecord,
    RankingRecord,
    SentenceRecord,
    StrengthRecord,
    TraceRecord,
    UnitRecord,
)
from ccrag.types import (
    Answerability,
    AnswerSentence,
    Evidence,
    ModelCall,
    Passage,
    Ranking,
    Result,
    Strength,
    Unit,
)


def result_json(result: Result) -> QueryRecord:
    """Return everything that leads from an answer sentence back to a document's characters."""
    return {**answer_json(result), **trace_json(result)}


def answer_json(result: Result) -> AnswerRecord:
    """Return the answer, its references and evidence, and the passages it was read from."""
    record: AnswerRecord = {
        "query_id": result.query.query_id,
        "query": result.query.text,
        "abstained": result.answer.abstained,
        "answer": [_sentence_json(sentence) for sentence in result.answer.sentences],
        "strength": strength_json(result.answer.strength),
        "references": result.answer.references,
        "evidence": [evidence_json(evidence) for evidence in result.answer.evidence],
        "read": [passage_json(result.passages[passage_id]) for passage_id in result.read],
        "selected": result.selected,
        "ranked": [(passage.doc_id, passage.start, passage.end) for passage in _ranked(result)],
    }
    if result.units:
        record["units"] = [unit_json(unit) for unit in result.units]
    return record


def strength_json(strength: Strength | None) -> StrengthRecord | None:
    """Return how far the evidence matches the question; None where nobody looked."""
    if strength is None:
        return None
    return {
        "level": strength.level,
        "reason": strength.reason,
        "covered": strength.covered,
        "missing": strength.missing,
    }


def unit_json(unit: Unit) -> UnitRecord:
    """Return a unit as it was read: its documents in reading order."""
    return {
        "unit_id": unit.unit_id,
        "documents": list(dict.fromkeys(part.doc_id for part in unit.parts)),
    }


def _ranked(result: Result) -> list[Passage]:
    """Return the passages of the final ranking, best first, as far as their texts were fetched."""
    known = result.passages
    return [known[hit.passage_id] for hit in result.ranking if hit.passage_id in known]


def trace_json(result: Result) -> TraceRecord:
    """Return the variants, every ranking, the notes, seconds per stage, and calls to models."""
    trace = result.trace
    record: TraceRecord = {
        "variants": [{"name": v.name, "text": v.text} for v in trace.variants],
        "rankings": [ranking_json(ranking) for ranking in trace.rankings],
        "notes": [{"stage": note.stage, "message": note.message} for note in trace.notes],
        "seconds": {stage: round(seconds, 6) for stage, seconds in trace.seconds.items()},
        "calls": [call_json(call) for call in trace.calls],
    }
    if trace.answerability is not None:
        record["answerability"] = _answerability_json(trace.answerability)
    return record


def call_json(call: ModelCall) -> CallRecord:
    """Return the record of one call to a language model."""
    return {
        "prompt": call.prompt,
        "digest": call.digest,
        "model": call.model,
        "parameters": call.parameters,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "finish_reason": call.finish_reason,
        "cached": call.cached,
    }


def _answerability_json(decision: Answerability) -> AnswerabilityRecord:
    return {
        "calibration": decision.calibration,
        "probability": round(decision.probability, 6),
        "threshold": decision.threshold,
        "abstains": decision.abstains,
        "features": {name: round(value, 6) for name, value in decision.features.items()},
        "contributions": {name: round(v, 6) for name, v in decision.contributions.items()},
    }


def ranking_json(ranking: Ranking) -> RankingRecord:
    """Return a ranking as `[passage_id, score]` pairs, best first."""
    return {
        "stage": ranking.stage,
        "hits": [(hit.passage_id, round(hit.score, 9)) for hit in ranking],
    }


def evidence_json(evidence: Evidence) -> EvidenceRecord:
    """Return one evidence span; `text` is the document's text at `start:end`."""
    record: EvidenceRecord = {
        "evidence_id": evidence.evidence_id,
        "passage_id": evidence.passage_id,
        "doc_id": evidence.doc_id,
        "section": evidence.section,
        "start": evidence.start,
        "end": evidence.end,
        "text": evidence.text,
        "score": round(evidence.score, 9),
    }
    if evidence.reasons:
        record["reasons"] = [(name, round(value, 3)) for name, value in evidence.reasons]
    return record


def passage_json(passage: Passage) -> PassageRecord:
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


def _sentence_json(sentence: AnswerSentence) -> SentenceRecord:
    record: SentenceRecord = {
        "text": sentence.text,
        "evidence": sentence.evidence_ids,
        "citations": sentence.citations,
    }
    if sentence.supported is not None:
        record["supported"] = sentence.supported
    return record
