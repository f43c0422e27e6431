"""
Evidence ids to citations, and the finished answer. Pure; the one place that builds an `Answer`.

What does not resolve is reported, never dropped in silence and never pointed elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.errors import CandidateLeakError, InvariantError
from ccrag.types import Answer, AnswerSentence, DocId, Evidence, Note, Query

STAGE = "citations"


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence that wants into the answer, with the evidence it names, best first."""

    text: str
    evidence_ids: tuple[str, ...]
    supported: bool | None = None


def assemble(
    query: Query,
    drafts: Sequence[DraftSentence],
    evidence: Sequence[Evidence],
    *,
    abstention: str,
) -> tuple[Answer, tuple[Note, ...]]:
    """
    Return the answer and notes on every id and draft that is not in it as given.

    References are the cited documents, each once, in order of first citation; a sentence cites a
    document once, in the order of its evidence. Unknown and repeated ids are noted and left out;
    so is a draft without text or without known evidence. No draft left: the abstention.

    Args:
        query: whose candidates everything must come from.
        drafts: in the order of the answer.
        evidence: all that was shown, each id once.
        abstention: the sentence that says there is no answer.

    Raises:
        CandidateLeakError: evidence from a document that is not a candidate, cited or not.
        InvariantError: two pieces of evidence share an id.
    """
    shown = _by_id(query, evidence)
    references: dict[DocId, int] = {}
    sentences: list[AnswerSentence] = []
    notes: list[Note] = []
    for number, draft in enumerate(drafts, start=1):
        resolved, problems = _resolve(draft, shown)
        notes.extend(Note(STAGE, f"answer sentence {number}: {problem}") for problem in problems)
        if draft.text.strip() and resolved:
            sentences.append(_sentence(draft, resolved, references))
        else:
            reason = "no known evidence" if draft.text.strip() else "no text"
            notes.append(Note(STAGE, f"answer sentence {number} left out: {reason}"))
    answer = Answer(query.query_id, tuple(sentences), tuple(references), tuple(evidence))
    if not sentences:
        answer = _abstain(query, evidence, abstention)
    return answer, tuple(notes)


def _by_id(query: Query, evidence: Sequence[Evidence]) -> dict[str, Evidence]:
    leaked = {
        item.doc_id
        for item in evidence
        if not query.candidates.admits(item.doc_id, collection=item.collection)
    }
    if leaked:
        raise CandidateLeakError(query.query_id, leaked)
    shown = {item.evidence_id: item for item in evidence}
    if len(shown) != len(evidence):
        raise InvariantError(f"query {query.query_id!r}: two pieces of evidence share an id")
    return shown


def _resolve(
    draft: DraftSentence, shown: Mapping[str, Evidence]
) -> tuple[tuple[Evidence, ...], list[str]]:
    """Return the known evidence of a draft, each once, and what was wrong with the other ids."""
    resolved: dict[str, Evidence] = {}
    problems: list[str] = []
    for evidence_id in draft.evidence_ids:
        if evidence_id not in shown:
            problems.append(f"cites {evidence_id!r}, which was not shown")
        elif evidence_id in resolved:
            problems.append(f"cites {evidence_id!r} more than once")
        else:
            resolved[evidence_id] = shown[evidence_id]
    return tuple(resolved.values()), problems


def _sentence(
    draft: DraftSentence, resolved: Sequence[Evidence], references: dict[DocId, int]
) -> AnswerSentence:
    """
    Return a sentence with its citations; documents cited for the first time join `references`.
    """
    citations = [references.setdefault(item.doc_id, len(references)) for item in resolved]
    return AnswerSentence(
        text=draft.text,
        evidence_ids=tuple(item.evidence_id for item in resolved),
        citations=tuple(dict.fromkeys(citations)),
        supported=draft.supported,
    )


def _abstain(query: Query, evidence: Sequence[Evidence], abstention: str) -> Answer:
    return Answer(
        query_id=query.query_id,
        sentences=(AnswerSentence(abstention, (), ()),),
        references=(),
        evidence=tuple(evidence),
        abstained=True,
    )
