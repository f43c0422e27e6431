"""Answer from passages that came with the queries: no index is asked, nothing is ranked anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from ccrag.config import PipelineSettings
from ccrag.engine.index import IndexInfo
from ccrag.indexing.spec import index_spec
from ccrag.pipeline.answering import generate_answers, make_answer_generator
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.expansion import set_question
from ccrag.pipeline.pipeline import UNANSWERED, PipelineModels
from ccrag.pipeline.rewriting import Rewriter
from ccrag.pipeline.stages import Stage, StageLoop, StageStep
from ccrag.pipeline.state import QueryState
from ccrag.types import Candidates, Hit, Passage, QueryId, Ranking

CONTEXTS = "given"
"""The name of the ranking, and of the index in the record of a run."""


@dataclass(frozen=True, slots=True)
class ContextIndex:
    """The place of an index, for the record of a run."""

    info: IndexInfo


class ContextPipeline(StageLoop):
    """
    Read and answer as a pipeline does, from the passages that came with each query.

    Closure: a query's candidates are the documents that came with it.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        passages: Mapping[QueryId, Sequence[Passage]],
        models: PipelineModels,
    ) -> None:
        """
        Put the stages together; `factory.open_context_pipeline` finds the models.

        Args:
            passages: for every query, in the order they are read.
        """
        super().__init__(settings)
        self._passages = passages
        self._encoder = models.encoder
        self._evidence = EvidenceSelector(
            settings, models.encoder, models.reranker, models.tokens, models.count
        )
        self._generator = make_answer_generator(settings, models.llm, support=models.support)
        self._rewriter = Rewriter(settings, models.llm)
        self.index = ContextIndex(_info(settings, passages))

    def steps(self, *, answering: bool) -> tuple[StageStep, ...]:
        first = (
            StageStep(Stage.VARIANTS, self._take_contexts),
            StageStep(Stage.ENCODE, self._encode_questions),
        )
        if not answering:
            return (*first, *UNANSWERED)
        return (
            *first,
            StageStep(Stage.EVIDENCE, self._evidence.select),
            StageStep(Stage.ANSWER, partial(generate_answers, self._generator)),
        )

    def _take_contexts(self, states: list[QueryState]) -> None:
        """The question as it will be asked, and the passages given for it."""
        self._rewriter.rewrite(states)
        for state in states:
            if state.error is None:
                set_question(state, self.settings)
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
        state.now_ranked(Ranking.of(state.query_id, CONTEXTS, hits))
        state.passages = {passage.passage_id: passage for passage in given}
        state.read = tuple(given[: self.settings.select.passages])
        state.selected = tuple(hits[: self.settings.select.passages])


def _info(settings: PipelineSettings, passages: Mapping[QueryId, Sequence[Passage]]) -> IndexInfo:
    digest = blake2b(digest_size=16)
    for query_id, given in passages.items():
        digest.update(f"{query_id} {[passage.passage_id for passage in given]}\n".encode())
    held = {passage.passage_id for given in passages.values() for passage in given}
    return IndexInfo(
        name=CONTEXTS,
        passages_index=CONTEXTS,
        documents_index=CONTEXTS,
        corpus=digest.hexdigest(),
        documents=len(held),
        passages=len(held),
        max_edges=0,
        shards=0,
        spec=index_spec(settings),
    )
