"""
Run a query through the stages, in their order, and record what each did.

The only module that knows the order of stages. The stages themselves are pure and live in
`retrieval` and `answering`; this one asks the index, hands texts over, and keeps the trace.
Queries travel in batches that share their requests; one that fails does not stop the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ccrag.answering.support import Support
from ccrag.concurrency import in_order
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
from ccrag.pipeline.abstention import STAGE as ANSWERABILITY
from ccrag.pipeline.abstention import Abstainer
from ccrag.pipeline.answering import AnswerGenerator, generate_answers, make_answer_generator
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.expansion import encode_variants, retrieval_requests, set_variants
from ccrag.pipeline.passage_selection import PassageSelector
from ccrag.pipeline.reranking import make_rerank_stage
from ccrag.pipeline.retrievers import RetrievalRequest, Retriever, make_retriever
from ccrag.pipeline.rewriting import Rewriter, needs_rewrites
from ccrag.pipeline.state import Failure, QueryState, StageCallback, Step, no_op, run_stages
from ccrag.pipeline.unit_selection import UnitSelector
from ccrag.query.feedback import feedback_terms, feedback_variant
from ccrag.retrieval.fusion import highest, rrf
from ccrag.text.tokens import TokenCounter, estimate_tokens
from ccrag.types import Answer, Candidates, DocId, Query, Ranking, Result

BATCHES_AT_ONCE = 2
"""While the engine searches for one batch, Python works on the other."""


class Pipeline:
    """A complete setting of all stages over one index."""

    def __init__(
        self,
        settings: PipelineSettings,
        index: Index,
        *,
        encoder: Encoder | None = None,
        reranker: Reranker | None = None,
        llm: Llm | None = None,
        support: Support | None = None,
        generator: AnswerGenerator | None = None,
        tokens: TokenEncoder | None = None,
        count: TokenCounter = estimate_tokens,
        abstainer: Abstainer | None = None,
    ) -> None:
        """
        Put the stages together; see `opening.open_pipeline` for models and index from settings.

        Args:
            encoder: needed by dense lists and bi-encoder scores.
            reranker: needed by cross-encoder stages.
            llm: needed by generated answers, listwise reranking and rewrites.
            support: holds generated sentences against their evidence; None: by words.
            writer: writes the answers instead of the one that `settings` name.
            tokens: needed by the signals that compare tokens.
            count: counts the tokens of what is read against `budget.max_tokens`.
            abstaining: decides whether the candidates answer; None: nobody does.
        """
        self.settings = settings
        self.index = index
        self._encoder = encoder
        self._rewriting = Rewriter(settings, llm)
        self._reranking = make_rerank_stage(
            settings,
            reranker,
            llm,
            max_edges=index.info.max_edges,
            encoder=encoder,
            tokens=tokens,
        )
        self._passages = PassageSelector(settings, index, count)
        self._units = UnitSelector(settings, index, encoder, count)
        self._evidence_selector = EvidenceSelector(settings, encoder, reranker)
        self._generator = generator or make_answer_generator(settings, llm, support=support)
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

    def _one(self, query: Query, *, answering: bool, on_stage: StageCallback) -> Result:
        [state] = self._run_batch([query], answering=answering, on_stage=on_stage)
        outcome = state.outcome()
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    def run(
        self, queries: Sequence[Query], *, answering: bool = True, on_stage: StageCallback = no_op
    ) -> Iterator[Result | Failure]:
        """
        Answer queries, in order, or only search for them.

        Args:
            watch: sees every batch after each stage; what it raises ends the work and is raised.

        Raises:
            EngineError: the engine itself failed; queries not yet yielded have no outcome.
        """
        size = self.settings.retrieval.batch
        batches = [queries[at : at + size] for at in range(0, len(queries), size)]
        walk = partial(self._run_batch, answering=answering, on_stage=on_stage)
        for states in in_order(walk, batches, workers=BATCHES_AT_ONCE):
            yield from (state.outcome() for state in states)

    def _run_batch(
        self, queries: Sequence[Query], *, answering: bool, on_stage: StageCallback
    ) -> list[QueryState]:
        states = [QueryState(query) for query in queries]
        retriever = make_retriever(self.settings, self.index, self._encoder)
        steps: tuple[Step, ...] = (
            ("candidates", self._check_candidates),
            ("variants", self._make_variants),
            ("encode", self._encode_queries),
            ("lists", lambda alive: self._retrieve(alive, retriever)),
            ("feedback", lambda alive: self._feed_back(alive, retriever)),
            ("fusion", self._fuse),
            ("texts", self._fetch_shortlists),
            ("rerank", self._reranking.rerank),
            ("select", self._passages.select if self._by_passages else self._units.read),
            ("neighbours", self._passages.widen if self._by_passages else _leave),
            *(self._answering() if answering else UNANSWERED),
        )
        run_stages(states, steps, on_stage=on_stage)
        return states

    @property
    def _by_passages(self) -> bool:
        return self.settings.select.read == "passages"

    def _answering(self) -> tuple[Step, ...]:
        decide: tuple[Step, ...] = ()
        if self._abstainer is not None:
            decide = ((ANSWERABILITY, self._abstainer.decide),)
        return (
            ("evidence", self._evidence_selector.read),
            *decide,
            ("answer", partial(generate_answers, self._generator)),
        )

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
        self._rewriting.rewrite(states)
        for state in states:
            if state.error is None:
                set_variants(state, self.settings)

    def _encode_queries(self, states: list[QueryState]) -> None:
        encode_variants(states, self.settings, self._encoder)

    def _retrieve(self, states: list[QueryState], retriever: Retriever) -> None:
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

    def _feed_back(self, states: list[QueryState], retriever: Retriever) -> None:
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


def _fused(retriever: Sequence[Ranking], settings: FusionSettings) -> Ranking:
    if settings.method == "highest":
        return highest(retriever)
    weights = [settings.weights.get(ranking.stage, 1.0) for ranking in retriever]
    return rrf(retriever, k=settings.rrf_k, weights=weights)


def _leave(states: list[QueryState]) -> None:
    """Nothing is to be done: a search wants no evidence, units bring what they hold."""


def _leave_unanswered(states: list[QueryState]) -> None:
    for state in states:
        state.answer = Answer(state.query_id, (), (), ())


UNANSWERED: tuple[Step, ...] = (("evidence", _leave), ("answer", _leave_unanswered))
"""The end of a query that is only searched for."""


def needs_reranker(settings: PipelineSettings) -> bool:
    """Tell whether a stage asks a cross-encoder."""
    coded = settings.rerank.method == "published-code" and settings.rerank.code_model > 0
    return (
        coded
        or settings.rerank.method == "cross-encoder"
        or settings.evidence.scorer == "cross-encoder"
    )


def needs_llm(settings: PipelineSettings) -> bool:
    """Tell whether a stage asks a language model."""
    return settings.answer.generator == "llm" or asks_before_answering(settings)


def asks_before_answering(settings: PipelineSettings) -> bool:
    """Tell whether a stage before the answer asks a language model."""
    return settings.rerank.method == "listwise" or needs_rewrites(settings)


def needs_support(settings: PipelineSettings) -> bool:
    """Tell whether a model holds generated sentences against their evidence."""
    answer = settings.answer
    checked = answer.generator == "llm" and answer.unsupported != "keep"
    return checked and answer.support_model is not None
