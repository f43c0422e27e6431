"""Answers from passages that came with the queries: no index is asked, nothing is ranked anew."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from ccrag.config import PipelineSettings
from ccrag.engine.index import IndexInfo
from ccrag.indexing.spec import index_spec
from ccrag.llm.client import Llm
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.pipeline.answering import AnswerGenerator, generate_answers
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.expansion import set_question
from ccrag.pipeline.rewriting import Rewriter
from ccrag.pipeline.state import Failure, QueryState, run_stages
from ccrag.types import Candidates, Hit, Passage, Query, QueryId, Ranking, Result

STAGE = "given"


@dataclass(frozen=True, slots=True)
class ContextIndex:
    """What stands where an index would, for the record of a run."""

    info: IndexInfo


class ContextPipeline:
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
        generator: AnswerGenerator,
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
        self._evidence_selector = EvidenceSelector(settings, encoder, reranker)
        self._generator = generator
        self._rewriting = Rewriter(settings, llm)
        self.index = ContextIndex(_info(settings, passages))

    def run(self, queries: Sequence[Query]) -> Iterator[Result | Failure]:
        """Answer queries, in order."""
        size = self._settings.retrieval.batch
        for at in range(0, len(queries), size):
            yield from (state.outcome() for state in self._run_batch(queries[at : at + size]))

    def _run_batch(self, queries: Sequence[Query]) -> list[QueryState]:
        states = [QueryState(query) for query in queries]
        run_stages(
            states,
            (
                ("variants", self._take_contexts),
                ("encode", self._encode_questions),
                ("evidence", self._evidence_selector.read),
                ("answer", partial(generate_answers, self._generator)),
            ),
        )
        return states

    def _take_contexts(self, states: list[QueryState]) -> None:
        """The question as it will be asked, and the passages given for it."""
        self._rewriting.rewrite(states)
        for state in states:
            if state.error is None:
                set_question(state, self._settings)
                self._hand_over(state)

    def _encode_questions(self, states: list[QueryState]) -> None:
        if self._encoder is None:
            return
        vectors = self._encoder.encode_queries([state.question for state in states]).vectors
        for state, vector in zip(states, vectors, strict=True):
            state.vector = vector

    def _hand_over(self, state: QueryState) -> None:
        given = self._passages[state.query_id]
        if given:
            documents = [passage.doc_id for passage in given]
            candidates = Candidates.of(documents, query_id=state.query_id)
            state.query = replace(state.query, candidates=candidates)
        hits = [Hit(p.passage_id, p.doc_id, 1 / rank) for rank, p in enumerate(given, start=1)]
        state.now_ranked(Ranking.of(state.query_id, STAGE, hits))
        state.passages = {passage.passage_id: passage for passage in given}
        state.read = tuple(given[: self._settings.select.passages])
        state.selected = tuple(hits[: self._settings.select.passages])


def _info(settings: PipelineSettings, passages: Mapping[QueryId, Sequence[Passage]]) -> IndexInfo:
    digest = blake2b(digest_size=16)
    for query_id, given in passages.items():
        digest.update(f"{query_id} {[passage.passage_id for passage in given]}\n".encode())
    held = {passage.passage_id for given in passages.values() for passage in given}
    return IndexInfo(
        name=STAGE,
        passages_index=STAGE,
        documents_index=STAGE,
        corpus=digest.hexdigest(),
        documents=len(held),
        passages=len(held),
        max_edges=0,
        shards=0,
        spec=index_spec(settings),
    )
