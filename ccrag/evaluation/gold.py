"""Gold data that a run is measured against, as plain values; `run_files` reads them."""

from collections.abc import Mapping
from dataclasses import dataclass

from ccrag.formats.trec_run import QrelsByQuery
from ccrag.types import DocId, QueryId


@dataclass(frozen=True, slots=True)
class GoldQuote:
    """Words of a document that answer a query."""

    doc_id: DocId
    text: str


@dataclass(frozen=True, slots=True)
class Gold:
    """
    The queries that count, in order, and what is known about them.

    A part that was not given is None. Inside a part, a query without an entry is not known, and
    the measures that need it leave that query out.
    """

    queries: Mapping[QueryId, str]
    """Text by id: every measure looks at these queries and no others."""
    answers: Mapping[QueryId, str] | None = None
    qrels: QrelsByQuery | None = None
    quotes: Mapping[QueryId, tuple[GoldQuote, ...]] | None = None
    answerable: Mapping[QueryId, bool] | None = None
    texts: Mapping[DocId, str] | None = None
    """Texts of the documents that quotes stand in."""
