"""
The evidence for a question as JSON, for agents: small, and stable from version to version.

Fields are added and never renamed; `version` is raised when one changes its meaning. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.errors import InvariantError
from ccrag.text.analysis import unique_terms
from ccrag.text.markup import passage_searched, query_parts
from ccrag.types import JSON, DocId, Document, Passage, Result, SectionPath, WeightedText

BUNDLE_VERSION = 1
MAX_SECTIONS = 3
"""Other sections named at most."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Passages read that touch, in document order."""

    passages: tuple[Passage, ...]

    @property
    def start(self) -> int:
        return self.passages[0].start

    @property
    def end(self) -> int:
        return max(passage.end for passage in self.passages)


def evidence_bundle(result: Result, documents: Mapping[DocId, Document]) -> JSON:
    """
    Return spans of the documents that were read for a question, best first, and what to do next.

    Passages of one section that touch are one span; `text` is the document's at `start:end`.
    `hits` are the passages that were found in it, with rank and score; the rest are their
    neighbours. `next.action`: `none` (every word of the question is in the spans), `other-section`
    (`sections` hold words that the spans lack), `widen` (few words are missing: read more around),
    `ask-again` (most are missing: other words may help, or the documents do not answer).

    Args:
        documents: those of the passages read.
    """
    ranks = {passage_id: rank for rank, passage_id in enumerate(result.selected, start=1)}
    runs = sorted(_runs(result, documents), key=lambda run: _best_rank(run, ranks))
    spans = [_span(run, result, documents, ranks) for run in runs]
    return {
        "version": BUNDLE_VERSION,
        "question": result.query.text,
        "spans": spans,
        "chars": sum(run.end - run.start for run in runs),
        "next": _next(result),
    }


def _runs(result: Result, documents: Mapping[DocId, Document]) -> list[_Run]:
    read = sorted(
        (result.passages[passage_id] for passage_id in result.read),
        key=lambda passage: (passage.doc_id, passage.start, passage.end),
    )
    runs: list[_Run] = []
    for passage in read:
        if runs and _touch(runs[-1], passage, documents):
            runs[-1] = _Run((*runs[-1].passages, passage))
        else:
            runs.append(_Run((passage,)))
    return runs


def _touch(run: _Run, passage: Passage, documents: Mapping[DocId, Document]) -> bool:
    """Tell whether nothing but white space lies between, inside one section of one document."""
    last = run.passages[-1]
    if (last.doc_id, last.section) != (passage.doc_id, passage.section):
        return False
    return not documents[passage.doc_id].text[run.end : passage.start].strip()


def _best_rank(run: _Run, ranks: Mapping[str, int]) -> int:
    return min(ranks.get(passage.passage_id, len(ranks) + 1) for passage in run.passages)


def _span(
    run: _Run, result: Result, documents: Mapping[DocId, Document], ranks: Mapping[str, int]
) -> JSON:
    first = run.passages[0]
    document = documents[first.doc_id]
    text = document.text[run.start : run.end]
    if not text.startswith(first.text):
        raise InvariantError(f"passage {first.passage_id!r} is not the text of its document")
    scores = {hit.passage_id: hit.score for hit in result.ranking}
    hits = [
        {
            "rank": ranks[passage.passage_id],
            "score": round(scores[passage.passage_id], 6),
            "start": passage.start,
            "end": passage.end,
        }
        for passage in run.passages
        if passage.passage_id in ranks
    ]
    return {
        "doc_id": first.doc_id,
        "title": document.title,
        "section": first.section,
        "page": first.page,
        "start": run.start,
        "end": run.end,
        "hits": hits,
        "neighbours": len(run.passages) - len(hits),
        "text": text,
    }


def _next(result: Result) -> JSON:
    """Return what a reader who lacks something may do; by the question's words alone."""
    asked = _terms(query_parts((WeightedText(result.query.text, 1.0),)))
    read = [result.passages[passage_id] for passage_id in result.read]
    held = {term for passage in read for term in unique_terms(passage_searched(passage))}
    missing = [term for term in asked if term not in held]
    sections = _sections_with(missing, result)
    if not read or len(missing) * 2 > len(asked):
        action = "ask-again"
    elif sections:
        action = "other-section"
    else:
        action = "widen" if missing else "none"
    return {"action": action, "missing": missing, "sections": sections}


def _terms(parts: Sequence[WeightedText]) -> list[str]:
    return list(dict.fromkeys(term for part in parts for term in unique_terms(part.text)))


def _sections_with(missing: Sequence[str], result: Result) -> list[JSON]:
    """Return sections of ranked passages that were not read and hold a missing word, best first."""
    wanted, found = set(missing), dict[tuple[DocId, SectionPath], JSON]()
    read = {(p.doc_id, p.section) for p in (result.passages[i] for i in result.read)}
    for hit in result.ranking:
        passage = result.passages.get(hit.passage_id)
        if passage is None or (passage.doc_id, passage.section) in read:
            continue
        held = wanted & set(unique_terms(passage_searched(passage)))
        if held and len(found) < MAX_SECTIONS:
            found.setdefault(
                (passage.doc_id, passage.section),
                {"doc_id": passage.doc_id, "section": passage.section, "holds": sorted(held)},
            )
    return list(found.values())
