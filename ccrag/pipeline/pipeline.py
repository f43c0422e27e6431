"""
Run a query through its stages over one index, from the candidate check to the answer.

What ranks, selects and answers is pure and lives in `retrieval` and `answering`; the stages here
ask the index and the models, hand texts over, and keep the record of what each did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ccrag.answering.support import Support
from ccrag.config import FusionSettings, PipelineSettings
from ccrag.engine.index import Index
from ccrag.errors import (
    CcragError,
    UnknownCollectionError,
    UnknownDocumentError,
    some_ids,
)
from ccrag.llm.client import Llm
from ccrag.models.base import Encoder
from ccrag.models.reranker import Reranker
from ccrag.models.token_vectors import TokenEncoder
from ccrag.pipeline.abstention import Abstainer
from ccrag.pipeline.answering import AnswerGenerator, generate_answers, make_answer_generator
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.expansion import encode_variants, retrieval_requests, set_variants
from ccrag.pipeline.passage_selection import PassageSelector
from ccrag.pipeline.reranking import make_rerank_stage
from ccrag.pipeline.retrievers import make_retriever
from ccrag.pipeline.retrievers.base import RetrievalRequest, Retriever
from ccrag.pipeline.rewriting import Rewriter
from ccrag.pipeline.stages import Stage, StageCallback, StageLoop, StageStep, no_op
from ccrag.pipeline.state import Failure, QueryState
from ccrag.pipeline.unit_selection import UnitSelector
from ccrag.query.feedback import feedback_terms, feedback_variant
from ccrag.retrieval.fusion import highest, rrf
from ccrag.text.tokens import TokenCounter, estimate_tokens
from ccrag.types import Answer, Candidates, DocId, Query, Ranking, Result


@dataclass(frozen=True, slots=True)
class PipelineModels:
    """The models that the stages ask, see `config.requirements`; None where not needed."""

    encoder: Encoder | None = None
    tokens: TokenEncoder | None = None
    """Encodes single tokens, for the signals that compare them."""
    reranker: Reranker | None = None
    llm: Llm | None = None
    support: Support | None = None
    """Checks generated sentences against their evidence; None: by words."""
    count: TokenCounter = estimate_tokens
    """Counts the tokens of the text that is read against `budget.max_tokens`."""


class Pipeline(StageLoop):
    """A complete setting of all stages over one index."""

    def __init__(
        self,
        settings: PipelineSettings,
        index: Index,
        models: PipelineModels = PipelineModels(),  # frozen, so it can be shared
        *,
        generator: AnswerGenerator | None = None,
        abstainer: Abstainer | None = None,
    ) -> None:
        """
        Put the stages together; `factory.open_pipeline` finds models and index for settings.

        Args:
            generator: writes the answers instead of the one that `settings` name.
            abstainer: decides whether the candidates answer; None: that is not decided.
        """
        super().__init__(settings)
        self.index = index
        self._encoder = models.encoder
        self._rewriter = Rewriter(settings, models.llm)
        self._rerank = make_rerank_stage(
            settings,
            models.reranker,
            models.llm,
            max_edges=index.info.max_edges,
            encoder=models.encoder,
            tokens=models.tokens,
        )
        self._passages = PassageSelector(settings, index, models.count)
        self._units = UnitSelector(settings, index, models.encoder, models.count)
        self._evidence = EvidenceSelector(
            settings, models.encoder, models.reranker, models.tokens, models.count
        )
        self._generator = generator or make_answer_generator(
            settings, models.llm, support=models.support
        )
        self._abstainer = abstainer

    def answer(self, query: Query, *, on_stage: StageCallback = no_op) -> Result:
        """
        Answer one query.

        Raises:
            CcragError: whatever kept it from an answer.
        """
        return self._one(query, answering=True, on_stage=on_stage)

    def search(self, query: Query, *, on_stage: StageCallback = no_op) -> Result:
        """
        Rank and select only; the result's answer is empty.

        Raises:
            CcragError: whatever kept it from a ranking.
        """
        return self._one(query, answering=False, on_stage=on_stage)

    def _one(self, query: Query, *, answering: bool, on_stage: StageCallback) -> Result:
        [state] = self.run_batch([query], answering=answering, on_stage=on_stage)
        outcome = state.outcome()
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    def checked(self, query: Query) -> Query:
        """
        Return the query, without candidates that the index does not hold if settings let them pass.

        Raises:
            UnknownDocumentError, UnknownCollectionError: they do not.
            EngineError: the engine failed.
        """
        state = QueryState(query)
        self._check_candidates([state])
        if state.error is not None:
            raise state.error
        return state.query

    def steps(self, *, answering: bool) -> tuple[StageStep, ...]:
        retriever = make_retriever(self.settings, self.index, self._encoder)
        return (
            StageStep(Stage.CANDIDATES, self._check_candidates),
            StageStep(Stage.VARIANTS, self._make_variants),
            StageStep(Stage.ENCODE, self._encode_queries),
            StageStep(Stage.LISTS, partial(self._retrieve, retriever)),
            StageStep(Stage.FEEDBACK, partial(self._feed_back, retriever)),
            StageStep(Stage.FUSION, self._fuse),
            StageStep(Stage.TEXTS, self._fetch_shortlists),
            StageStep(Stage.RERANK, self._rerank.rerank),
            *self._selection(),
            *(self._answering() if answering else UNANSWERED),
        )

    def _selection(self) -> tuple[StageStep, ...]:
        if self.settings.select.read == "passages":
            return (
                StageStep(Stage.SELECT, self._passages.select),
                StageStep(Stage.NEIGHBOURS, self._passages.widen),
            )
        # units bring their neighbours with them
        return (StageStep(Stage.SELECT, self._units.select), StageStep(Stage.NEIGHBOURS, _leave))

    def _answering(self) -> tuple[StageStep, ...]:
        steps = [StageStep(Stage.EVIDENCE, self._evidence.select)]
        if self._abstainer is not None:
            steps.append(StageStep(Stage.ANSWERABILITY, self._abstainer.decide))
        steps.append(StageStep(Stage.ANSWER, partial(generate_answers, self._generator)))
        return tuple(steps)

    def _check_candidates(self, states: list[QueryState]) -> None:
        """Candidates the index does not hold: refuse the query, or note them and go on without."""
        self._check_collections(states)
        named = [doc_id for state in states for doc_id in state.query.candidates.doc_ids or ()]
        unknown = self.index.unknown(named)
        for state in states:
            missing = [d for d in state.query.candidates.doc_ids or () if d in unknown]
            if missing:
                self._leave_out(state, missing)

    def _check_collections(self, states: list[QueryState]) -> None:
        info = self.index.info
        for state in states:
            name = state.query.candidates.collection
            if name is not None and name not in info.collections:
                state.error = UnknownCollectionError(
                    state.query_id, name, known=info.collections, index=info.name
                )

    def _leave_out(self, state: QueryState, missing: Sequence[DocId]) -> None:
        left_out = set(missing)
        known = [d for d in state.query.candidates.doc_ids or () if d not in left_out]
        if self.settings.candidates.unknown == "error" or not known:
            state.error = UnknownDocumentError(state.query_id, missing, index=self.index.info.name)
            return
        state.note("candidates", f"not in the index, left out: {some_ids(missing)}")
        state.query = replace(state.query, candidates=Candidates.of(known, query_id=state.query_id))

    def _make_variants(self, states: list[QueryState]) -> None:
        self._rewriter.rewrite(states)
        for state in states:
            if state.error is None:
                set_variants(state, self.settings)

    def _encode_queries(self, states: list[QueryState]) -> None:
        encode_variants(states, self.settings, self._encoder)

    def _retrieve(self, retriever: Retriever, states: list[QueryState]) -> None:
        requests = [
            request for state in states for request in retrieval_requests(state, self.settings)
        ]
        state_of = {id(state.query): state for state in states}
        for request, result in zip(requests, retriever.rank(requests), strict=True):
            state = state_of[id(request.query)]
            if isinstance(result, CcragError):
                state.error = result
                continue
            state.lists.append(result.ranking)
            state.best_texts = state.best_texts or result.passages
            for note in result.notes:
                state.note("lists", note)

    def _feed_back(self, retriever: Retriever, states: list[QueryState]) -> None:
        """Terms of the original list's best passages, as one more list for each query."""
        settings = self.settings.feedback
        if not settings.enabled:
            return
        fed = [state for state in states if self._add_feedback_variant(state)]
        requests = [RetrievalRequest(state.query, state.variants[-1]) for state in fed]
        for state, result in zip(fed, retriever.rank(requests) if requests else (), strict=True):
            if isinstance(result, CcragError):
                state.error = result
            else:
                state.lists.append(result.ranking)

    def _add_feedback_variant(self, state: QueryState) -> bool:
        settings = self.settings.feedback
        terms = feedback_terms(
            [passage.text for passage in state.best_texts],
            keywords=state.keywords,
            max_terms=settings.max_terms,
            min_chars=settings.min_chars,
        )
        variant = feedback_variant(state.keywords, terms)
        if variant is None:
            state.note("feedback", f"no terms in the best {len(state.best_texts)} passages")
            return False
        state.variants = (*state.variants, variant)
        return True

    def _fuse(self, states: list[QueryState]) -> None:
        """One list stands as it is; several are fused."""
        for state in states:
            if len(state.lists) == 1:
                state.ranking = state.lists[0]
            else:
                state.now_ranked(_fused(state.lists, self.settings.fusion))

    def _fetch_shortlists(self, states: list[QueryState]) -> None:
        """Texts of all shortlists in one request; ranking so far needed ids alone."""
        depth = self.settings.rerank.shortlist
        ids = [hit.passage_id for state in states for hit in state.current().hits[:depth]]
        passages = self.index.passages(ids)
        for state in states:
            wanted = state.current().hits[:depth]
            state.passages = {hit.passage_id: passages[hit.passage_id] for hit in wanted}


def _fused(lists: Sequence[Ranking], settings: FusionSettings) -> Ranking:
    if settings.method == "highest":
        return highest(lists)
    weights = [settings.weights.get(ranking.stage, 1.0) for ranking in lists]
    return rrf(lists, k=settings.rrf_k, weights=weights)


def _leave(states: list[QueryState]) -> None:
    """Leave everything as it is: a search wants no evidence, units bring their neighbours."""


def _leave_unanswered(states: list[QueryState]) -> None:
    for state in states:
        state.answer = Answer(state.query_id, (), (), ())


UNANSWERED = (StageStep(Stage.EVIDENCE, _leave), StageStep(Stage.ANSWER, _leave_unanswered))
"""The last stages of a query that is only searched for."""
