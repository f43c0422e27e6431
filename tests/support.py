"""Values that several tests build."""

import os
import signal
from collections.abc import Iterable

from ccrag.config import EngineSettings
from ccrag.engine.build import ChunkedDocument
from ccrag.types import Candidates, Document, Passage, Query, Span, make_passage_id

TOKEN_VARIABLE = "CCRAG_ENGINE__TOKEN"


def engine_settings(url: str | None = None) -> EngineSettings:
    """How to talk to the session's engine, where that wants a secret."""
    return EngineSettings.model_validate({"url": url, "token": os.environ.get(TOKEN_VARIABLE)})


def hear_interrupts() -> None:
    """Let a process that is about to begin end at Ctrl-C, also where its parents ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job hands "ignored" down


def query(text: str = "a question", *doc_ids: str, query_id: str = "q1") -> Query:
    """A query; with no ids given, over the whole index."""
    candidates = Candidates.of(doc_ids, query_id=query_id) if doc_ids else Candidates.whole_index()
    return Query(query_id, text, candidates)


def document(doc_id: str, text: str, *, title: str = "", date: str | None = None) -> Document:
    return Document(doc_id, title, text, date)


def whole_passage(doc: Document, *, edges: int = 0) -> Passage:
    """The document as one passage of one sentence."""
    span = Span(0, len(doc.text))
    return Passage(
        passage_id=make_passage_id(doc.doc_id, span, doc.text),
        doc_id=doc.doc_id,
        section=(),
        ordinal=0,
        start=span.start,
        end=span.end,
        sentences=(span,),
        text=doc.text,
        title=doc.title,
        date=doc.date,
        edges=edges,
        collection=doc.collection,
    )


def whole_passages(documents: Iterable[Document]) -> list[ChunkedDocument]:
    """Documents cut into one passage each, as `build` takes them."""
    return [ChunkedDocument(doc, 0, [whole_passage(doc)]) for doc in documents]
