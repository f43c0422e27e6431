"""
Offer an agent tools over a session's documents, as small outputs with cursors.

A session is a caller narrowed to one index, or to some of its documents: nothing else exists
for its tools. Everything here blocks and belongs into the gate's threads.
"""

from dataclasses import dataclass

from pydantic import BaseModel, Field

from ccrag.pipeline.stages import StageCallback, no_op
from ccrag.types import Answer, DocId, Evidence, Passage
from ccrag.web.access import Caller
from ccrag.web.cursors import read_document_cursor, read_offset_cursor, write_cursor
from ccrag.web.problems import ProblemError, not_available
from ccrag.web.service import AskedQuestion, QueryService

SNIPPET_CHARS = 280
SPAN_CHARS = 6_000
"""Of a document, read at once."""
REACH = 60
"""Passages a search goes down to; what lies deeper is better asked for in other words."""
PAGE_MAX = 20
NOTHING = (
    "Nothing was found. Ask again in the words the documents use (names, symbols, terms), or "
    "shorter; list_documents shows what there is."
)


@dataclass(frozen=True, slots=True)
class Session:
    """Whose tools these are, and over what."""

    caller: Caller
    """Narrowed to what the session may see."""
    index: str
    pipeline: str | None = None


class FoundPassage(BaseModel):
    """A passage, by its place; `read_span` reads it whole."""

    rank: int
    doc_id: str
    title: str
    section: str
    start: int
    end: int
    snippet: str = Field(description="How it begins, white space collapsed.")


class FoundPassages(BaseModel):
    """The best passages, and where the list goes on."""

    passages: list[FoundPassage]
    next_cursor: str | None
    hint: str | None = None


class AgentEvidence(BaseModel):
    """A sentence of a document: `text` is the document's text at `start:end`, exactly."""

    doc_id: str
    title: str
    section: str
    start: int
    end: int
    text: str


class FoundEvidence(BaseModel):
    """Sentences that may answer, best first."""

    evidence: list[AgentEvidence]
    next_cursor: str | None
    hint: str | None = None


class ReadSpan(BaseModel):
    """A piece of a document; `text` is the document's text at `start:end`, exactly."""

    doc_id: str
    title: str
    sections: list[str]
    start: int
    end: int
    text: str
    document_chars: int
    next_start: int | None = Field(description="Where it goes on; null: all is here.")


class AgentDocument(BaseModel):
    """A document."""

    doc_id: str
    title: str
    date: str | None


class AgentDocuments(BaseModel):
    """Documents of the session, and where the list goes on."""

    documents: list[AgentDocument]
    next_cursor: str | None


class AgentSource(BaseModel):
    """The words a sentence rests on."""

    doc_id: str
    start: int
    end: int
    quote: str


class AgentSentence(BaseModel):
    """A sentence of an answer."""

    text: str
    sources: list[AgentSource]


class AgentAnswer(BaseModel):
    """An answer, or that the documents have none."""

    abstained: bool
    sentences: list[AgentSentence]
    hint: str | None = None


def narrowed(caller: Caller, index: str, doc_ids: tuple[DocId, ...] | None) -> Caller:
    """
    The caller with nothing left to read but one index, or the named documents of it.

    Raises:
        ProblemError: a document is named that the caller may not read, or none.
    """
    allowed = caller.allowed(index)
    if doc_ids is not None:
        if (
            not doc_ids
            or not all(doc_ids)
            or (allowed is not None and not set(doc_ids) <= set(allowed))
        ):
            raise not_available()
        allowed = tuple(dict.fromkeys(doc_ids))
    indexes = frozenset({index}) if caller.may_open(index) else frozenset()
    return Caller(caller.name, indexes, {} if allowed is None else {index: allowed})


class AgentTools:
    """The tools, each over the session it is given; safe for threads."""

    def __init__(self, service: QueryService) -> None:
        self._service = service

    def search_candidates(
        self,
        session: Session,
        query: str,
        *,
        limit: int,
        cursor: str | None,
        on_stage: StageCallback = no_op,
    ) -> FoundPassages:
        """The best passages for `query`; see `mcp_server` for what an agent is told."""
        at = read_offset_cursor(cursor, most=REACH)
        last = min(at + limit, REACH)
        result, best = self._service.search(
            session.caller, _question(session, query), top_n=last, on_stage=on_stage
        )
        hits = list(enumerate(result.ranking.hits[:last], start=1))[at:]
        found = [_found(rank, best[hit.passage_id]) for rank, hit in hits]
        more = len(result.ranking) > last and last < REACH
        return FoundPassages(
            passages=found,
            next_cursor=write_cursor((last,)) if more else None,
            hint=None if found else NOTHING,
        )

    def get_evidence(
        self,
        session: Session,
        question: str,
        *,
        limit: int,
        cursor: str | None,
        on_stage: StageCallback = no_op,
    ) -> FoundEvidence:
        """Sentences that may answer `question`."""
        at = read_offset_cursor(cursor, most=REACH)
        result = self._service.answer(session.caller, _question(session, question), on_stage)
        evidence = result.answer.evidence
        page = evidence[at : at + limit]
        return FoundEvidence(
            evidence=[_evidence(item, result.passages[item.passage_id]) for item in page],
            next_cursor=write_cursor((at + limit,)) if at + limit < len(evidence) else None,
            hint=None if page else NOTHING,
        )

    def read_span(
        self, session: Session, doc_id: DocId, start: int, end: int, *, neighbours: int
    ) -> ReadSpan:
        """
        The passages that `start:end` touches, with so many before and behind them.

        Raises:
            ProblemError: no such document in the session, or no such span in it.
        """
        document, passages = self._service.passages(session.caller, session.index, doc_id)
        touched = [at for at, p in enumerate(passages) if p.start < end and start < p.end]
        if not touched or start >= end:
            raise ProblemError(
                "invalid_request",
                f"{start}-{end} is no span of this document, which has {len(document.text)} "
                "characters; take spans from search_candidates or get_evidence",
            )
        first, last = max(0, touched[0] - neighbours), touched[-1] + neighbours
        shown = passages[first : last + 1]
        low, high = shown[0].start, max(passage.end for passage in shown)
        cut = min(high, low + SPAN_CHARS)
        return ReadSpan(
            doc_id=document.doc_id,
            title=document.title,
            sections=list(dict.fromkeys(_section(p) for p in shown if p.section)),
            start=low,
            end=cut,
            text=document.text[low:cut],
            document_chars=len(document.text),
            next_start=cut if cut < high else None,
        )

    def list_documents(
        self, session: Session, title: str, *, limit: int, cursor: str | None
    ) -> AgentDocuments:
        """The session's documents, by title."""
        page = self._service.documents(
            session.caller,
            session.index,
            text=title,
            size=limit,
            after=read_document_cursor(cursor, title),
        )
        listed = [
            AgentDocument(doc_id=d.doc_id, title=d.title, date=d.date) for d in page.documents
        ]
        return AgentDocuments(documents=listed, next_cursor=write_cursor(page.after))

    def ask(self, session: Session, question: str, on_stage: StageCallback = no_op) -> AgentAnswer:
        """An answer with its sources."""
        answer = self._service.answer(session.caller, _question(session, question), on_stage).answer
        sentences = [
            AgentSentence(
                text=sentence.text,
                sources=[
                    AgentSource(doc_id=e.doc_id, start=e.start, end=e.end, quote=e.text)
                    for e in answer.evidence_of(sentence)
                ],
            )
            for sentence in answer.sentences
        ]
        return AgentAnswer(
            abstained=answer.abstained,
            sentences=sentences,
            hint=_hint(answer),
        )


def _hint(answer: Answer) -> str | None:
    """Return what an agent should know before it uses the answer."""
    if answer.abstained:
        return NOTHING
    if answer.strength is not None and answer.strength.level == "weak":
        return f"weak evidence: {answer.strength.reason}"
    return None


def _question(session: Session, text: str) -> AskedQuestion:
    return AskedQuestion(session.index, text, None, session.pipeline)


def _found(rank: int, passage: Passage) -> FoundPassage:
    text = " ".join(passage.text.split())
    return FoundPassage(
        rank=rank,
        doc_id=passage.doc_id,
        title=passage.title,
        section=_section(passage),
        start=passage.start,
        end=passage.end,
        snippet=text if len(text) <= SNIPPET_CHARS else text[: SNIPPET_CHARS - 1] + "…",
    )


def _evidence(item: Evidence, passage: Passage) -> AgentEvidence:
    return AgentEvidence(
        doc_id=item.doc_id,
        title=passage.title,
        section=_section(passage),
        start=item.start,
        end=item.end,
        text=item.text,
    )


def _section(passage: Passage) -> str:
    return " › ".join(passage.section)
