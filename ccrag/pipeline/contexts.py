"""Answers from passages that came with the queries: no index is asked, nothing is ranked anew."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from ccrag.config import PipelineSettings
from ccrag.engine.index import IndexFacts
from ccrag.indexing.spec import recipe_of
from ccrag.llm.client import Llm
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.pipeline.answering import Writer, write_answers
from ccrag.pipeline.evidence import Reader
from ccrag.pipeline.expansion import put_question
from ccrag.pipeline.rewriting import Rewriting
from ccrag.pipeline.state import Failure, Way, walk_stages
from ccrag.types import Candidates, Hit, Passage, Query, QueryId, Ranking, Result

STAGE = "given"


@dataclass(frozen=True, slots=True)
class NoIndex:
    """What stands where an index would, for the record of a run."""

    facts: IndexFacts


class GivenContexts:
    """
    Reads and answers as a pipeline does, from the passages given for each query.

    Closure: a query's candidates are the documents given for it.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        passages: Mapping[QueryId, Sequence[Passage]],
        *,
        encoder: Encoder | None,
        reranker: Reranker | None,
        writer: Writer,
        llm: Llm | None = None,
    ) -> None:
        """
        Put the stages together; see `opening.open_given`.

        Args:
            passages: for every query, in the order they are read.
            encoder: needed by bi-encoder scores.
            reranker: needed by cross-encoder scores.
            llm: needed by rewrites.
        """
        self._settings = settings
        self._passages = passages
        self._encoder = encoder
        self._reader = Reader(settings, encoder, reranker)
        self._writer = writer
        self._rewriting = Rewriting(settings, llm)
        self.index = NoIndex(_facts(settings, passages))

    def run(self, queries: Sequence[Query]) -> Iterator[Result | Failure]:
        """Answer queries, in order."""
        size = self._settings.retrieval.batch
        for at in range(0, len(queries), size):
            yield from (way.outcome() for way in self._walk(queries[at : at + size]))

    def _walk(self, queries: Sequence[Query]) -> list[Way]:
        ways = [Way(query) for query in queries]
        walk_stages(
            ways,
            (
                ("variants", self._take_contexts),
                ("encode", self._encode_questions),
                ("evidence", self._reader.read),
                ("answer", partial(write_answers, self._writer)),
            ),
        )
        return ways

    def _take_contexts(self, ways: list[Way]) -> None:
        """The question as it will be asked, and the passages given for it."""
        self._rewriting.rewrite(ways)
        for way in ways:
            if way.error is None:
                put_question(way, self._settings)
                self._hand_over(way)

    def _encode_questions(self, ways: list[Way]) -> None:
        if self._encoder is None:
            return
        vectors = self._encoder.encode_queries([way.question for way in ways]).vectors
        for way, vector in zip(ways, vectors, strict=True):
            way.vector = vector

    def _hand_over(self, way: Way) -> None:
        given = self._passages[way.query_id]
        if given:
            documents = [passage.doc_id for passage in given]
            candidates = Candidates.of(documents, query_id=way.query_id)
            way.query = replace(way.query, candidates=candidates)
        hits = [Hit(p.passage_id, p.doc_id, 1 / rank) for rank, p in enumerate(given, start=1)]
        way.now_ranked(Ranking.of(way.query_id, STAGE, hits))
        way.passages = {passage.passage_id: passage for passage in given}
        way.read = tuple(given[: self._settings.select.passages])
        way.selected = tuple(hits[: self._settings.select.passages])


def _facts(settings: PipelineSettings, passages: Mapping[QueryId, Sequence[Passage]]) -> IndexFacts:
    digest = blake2b(digest_size=16)
    for query_id, given in passages.items():
        digest.update(f"{query_id} {[passage.passage_id for passage in given]}\n".encode())
    held = {passage.passage_id for given in passages.values() for passage in given}
    return IndexFacts(
        name=STAGE,
        passages_index=STAGE,
        documents_index=STAGE,
        corpus=digest.hexdigest(),
        documents=len(held),
        passages=len(held),
        max_edges=0,
        shards=0,
        recipe=recipe_of(settings),
    )
