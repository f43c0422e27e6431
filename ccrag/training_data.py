"""Judged queries from the files that a run and an evaluation read; no engine is needed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ccrag.corpus.chunking import window_passages
from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.queries import read_queries
from ccrag.errors import InputError
from ccrag.formats.trec_run import read_qrels
from ccrag.models.judged import JudgedQuery
from ccrag.retrieval.lexical import CandidateBm25
from ccrag.types import Candidates, DocId, Document, Part, Passage, PassageId, Query

POOL = 100
"""Candidates of a query that names none: so many of BM25's best, and those judged."""


def read_judged(
    queries: Path, documents: Sequence[Path], qrels: Path, *, max_words: int, k1: float, b: float
) -> list[JudgedQuery]:
    """
    Return the queries that are judged, with their candidates in BM25's order.

    A document stands where its best passage stands and is represented by that passage, so that
    texts of any length can be learnt from. BM25 counts over the passages of all candidates of all
    queries, which is what an index does; over one query's alone it is a weaker order to beat.

    Args:
        max_words: cap of a passage.

    Raises:
        InputError: a file that cannot be used, no query that is judged, or a candidate that
            `documents` do not hold.
    """
    judgements = read_qrels(qrels)
    asked = [q for q in read_queries(queries, whole_index=True) if q.query_id in judgements]
    if not asked:
        raise InputError("judges none of the queries; do both use the same ids?", path=qrels)
    held = _documents(documents, _named(asked))
    ranker = _Ranker(held, max_words=max_words, k1=k1, b=b)
    return [ranker.judged(query, judgements[query.query_id]) for query in asked]


def _named(queries: Iterable[Query]) -> Candidates:
    """Return the documents that any query names, or all if one names none."""
    named: dict[DocId, None] = {}
    for query in queries:
        if query.candidates.doc_ids is None:
            return Candidates.whole_index()
        named |= dict.fromkeys(query.candidates.doc_ids)
    return Candidates.of(named, query_id="all")


def _documents(paths: Sequence[Path], wanted: Candidates) -> dict[DocId, Document]:
    files = find_files(paths, LoadReport())
    return {d.doc_id: d for d in read_documents(files) if d.doc_id in wanted}


class _Ranker:
    """BM25 over the passages of some documents, asked for documents."""

    def __init__(
        self, documents: Mapping[DocId, Document], *, max_words: int, k1: float, b: float
    ) -> None:
        passages = [
            passage
            for document in documents.values()
            for passage in window_passages(document, max_words=max_words, overlap_sentences=1)
        ]
        self._documents = documents
        self._passages: dict[PassageId, Passage] = {p.passage_id: p for p in passages}
        self._first = {p.doc_id: p.text for p in passages if p.ordinal == 0}
        self._bm25 = CandidateBm25(passages, k1=k1, b=b, title_weight=0)

    def judged(self, query: Query, relevance: Mapping[DocId, int]) -> JudgedQuery:
        """
        Return the query with a text per candidate: its best passage; those without a hit last.
        """
        best = self._best_passages(query)
        named = query.candidates.doc_ids
        if named is None:
            known = [doc_id for doc_id in relevance if doc_id in self._documents]
            named = tuple(dict.fromkeys((*list(best)[:POOL], *known)))
        for doc_id in named:
            if doc_id not in self._documents:
                raise InputError(f"query {query.query_id!r}: no document {doc_id!r} was given")
        order = [doc_id for doc_id in best if doc_id in set(named)]
        order += sorted(set(named).difference(order))
        texts = {doc_id: best.get(doc_id) or self._beginning(doc_id) for doc_id in order}
        return JudgedQuery(query.query_id, query.text, texts, relevance)

    def _best_passages(self, query: Query) -> dict[DocId, str]:
        """
        Return the text of each document's best passage, of documents that share a term, best first.
        """
        best: dict[DocId, str] = {}
        asked = (Part(query.text, 1.0),)
        for hit in self._bm25.rank(query.query_id, "bm25", asked, depth=len(self._passages)):
            best.setdefault(hit.doc_id, self._passages[hit.passage_id].text)
        return best

    def _beginning(self, doc_id: DocId) -> str:
        return self._first.get(doc_id) or self._documents[doc_id].title
