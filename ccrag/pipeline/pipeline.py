"""
The way of a query: which stage follows which, and the record of what each did.

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
from ccrag.pipeline.abstention import Abstaining
from ccrag.pipeline.answering import Writer, write_answers, writer_of
from ccrag.pipeline.evidence import Reader
from ccrag.pipeline.expansion import asks_of, encode_wordings, put_wordings
from ccrag.pipeline.passage_selection import PassageReading
from ccrag.pipeline.reranking import reranking_of
from ccrag.pipeline.retrievers import Ask, Lists, lists_of
from ccrag.pipeline.rewriting import Rewriting, asks_for_rewrites
from ccrag.pipeline.state import Failure, Step, Watch, Way, unwatched, walk_stages
from ccrag.pipeline.unit_selection import UnitReading
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
        writer: Writer | None = None,
        tokens: TokenEncoder | None = None,
        count: TokenCounter = estimate_tokens,
        abstaining: Abstaining | None = None,
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
        self._rewriting = Rewriting(settings, llm)
        self._reranking = reranking_of(
            settings,
            reranker,
            llm,
            max_edges=index.facts.max_edges,
            encoder=encoder,
            tokens=tokens,
        )
        self._passages = PassageReading(settings, index, count)
        self._units = UnitReading(settings, index, encoder, count)
        self._reader = Reader(settings, encoder, reranker)
        self._writer = writer or writer_of(settings, llm, support=support)
        self._abstaining = abstaining

    def answer(self, query: Query, *, watch: Watch = unwatched) -> Result:
        """
        Answer one query.

        Raises:
            CcragError: whatever kept it from an answer.
        """
        return self._one(query, answering=True, watch=watch)

    def search(self, query: Query, *, watch: Watch = unwatched) -> Result:
        """
        Rank and select only; the result's answer is empty.

        Raises:
            CcragError: whatever kept it from a ranking.
        """
        return self._one(query, answering=False, watch=watch)

    def checked(self, query: Query) -> Query:
        """
        Return the query, without candidates that the index does not hold if settings let them pass.

        Raises:
            UnknownDocumentError, UnknownCollectionError: they do not.
            EngineError: the engine failed.
        """
        way = Way(query)
        self._check_candidates([way])
        if way.error is not None:
            raise way.error
        return way.query

    def _one(self, query: Query, *, answering: bool, watch: Watch) -> Result:
        [way] = self._walk([query], answering=answering, watch=watch)
        outcome = way.outcome()
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    def run(
        self, queries: Sequence[Query], *, answering: bool = True, watch: Watch = unwatched
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
        walk = partial(self._walk, answering=answering, watch=watch)
        for ways in in_order(walk, batches, workers=BATCHES_AT_ONCE):
            yield from (way.outcome() for way in ways)

    def _walk(self, queries: Sequence[Query], *, answering: bool, watch: Watch) -> list[Way]:
        ways = [Way(query) for query in queries]
        lists = lists_of(self.settings, self.index, self._encoder)
        steps: tuple[Step, ...] = (
            ("candidates", self._check_candidates),
            ("variants", self._make_variants),
            ("encode", self._encode_queries),
            ("lists", lambda alive: self._first_lists(alive, lists)),
            ("feedback", lambda alive: self._feed_back(alive, lists)),
            ("fusion", self._fuse),
            ("texts", self._fetch_shortlists),
            ("rerank", self._reranking.rerank),
            ("select", self._passages.select if self._by_passages else self._units.read),
            ("neighbours", self._passages.widen if self._by_passages else _leave),
            *(self._answering() if answering else UNANSWERED),
        )
        walk_stages(ways, steps, watch=watch)
        return ways

    @property
    def _by_passages(self) -> bool:
        return self.settings.select.read == "passages"

    def _answering(self) -> tuple[Step, ...]:
        decide: tuple[Step, ...] = ()
        if self._abstaining is not None:
            decide = ((ANSWERABILITY, self._abstaining.decide),)
        return (
            ("evidence", self._reader.read),
            *decide,
            ("answer", partial(write_answers, self._writer)),
        )

    def _check_candidates(self, ways: list[Way]) -> None:
        """Candidates the index does not hold: refuse the query, or note them and go on without."""
        self._check_collections(ways)
        named = [doc_id for way in ways for doc_id in way.query.candidates.doc_ids or ()]
        unknown = self.index.unknown(named)
        for way in ways:
            missing = [d for d in way.query.candidates.doc_ids or () if d in unknown]
            if missing:
                self._leave_out(way, missing)

    def _check_collections(self, ways: list[Way]) -> None:
        facts = self.index.facts
        for way in ways:
            name = way.query.candidates.collection
            if name is not None and name not in facts.collections:
                way.error = UnknownCollectionError(
                    way.query_id, name, known=facts.collections, index=facts.name
                )

    def _leave_out(self, way: Way, missing: Sequence[DocId]) -> None:
        left_out = set(missing)
        known = [d for d in way.query.candidates.doc_ids or () if d not in left_out]
        if self.settings.candidates.unknown == "error" or not known:
            way.error = UnknownDocumentError(way.query_id, missing, index=self.index.facts.name)
            return
        way.note("candidates", f"not in the index, left out: {some_ids(missing)}")
        way.query = replace(way.query, candidates=Candidates.of(known, query_id=way.query_id))

    def _make_variants(self, ways: list[Way]) -> None:
        self._rewriting.rewrite(ways)
        for way in ways:
            if way.error is None:
                put_wordings(way, self.settings)

    def _encode_queries(self, ways: list[Way]) -> None:
        encode_wordings(ways, self.settings, self._encoder)

    def _first_lists(self, ways: list[Way], lists: Lists) -> None:
        asks = [ask for way in ways for ask in asks_of(way, self.settings)]
        way_of = {id(way.query): way for way in ways}
        for ask, reply in zip(asks, lists.rank(asks), strict=True):
            way = way_of[id(ask.query)]
            if isinstance(reply, CcragError):
                way.error = reply
                continue
            way.lists.append(reply.ranking)
            way.best_texts = way.best_texts or reply.passages
            for note in reply.notes:
                way.note("lists", note)

    def _feed_back(self, ways: list[Way], lists: Lists) -> None:
        """Terms of the original list's best passages, as one more list for each query."""
        settings = self.settings.feedback
        if not settings.enabled:
            return
        fed = [way for way in ways if self._add_feedback_variant(way)]
        asks = [Ask(way.query, way.variants[-1]) for way in fed]
        for way, reply in zip(fed, lists.rank(asks) if asks else (), strict=True):
            if isinstance(reply, CcragError):
                way.error = reply
            else:
                way.lists.append(reply.ranking)

    def _add_feedback_variant(self, way: Way) -> bool:
        settings = self.settings.feedback
        terms = feedback_terms(
            [passage.text for passage in way.best_texts],
            keywords=way.keywords,
            max_terms=settings.max_terms,
            min_chars=settings.min_chars,
        )
        variant = feedback_variant(way.keywords, terms)
        if variant is None:
            way.note("feedback", f"no terms in the best {len(way.best_texts)} passages")
            return False
        way.variants = (*way.variants, variant)
        return True

    def _fuse(self, ways: list[Way]) -> None:
        """One list stands as it is; several are fused."""
        for way in ways:
            if len(way.lists) == 1:
                way.ranking = way.lists[0]
            else:
                way.now_ranked(_fused(way.lists, self.settings.fusion))

    def _fetch_shortlists(self, ways: list[Way]) -> None:
        """Texts of all shortlists in one request; ranking so far needed ids alone."""
        depth = self.settings.rerank.shortlist
        ids = [hit.passage_id for way in ways for hit in way.current().hits[:depth]]
        passages = self.index.passages(ids)
        for way in ways:
            wanted = way.current().hits[:depth]
            way.passages = {hit.passage_id: passages[hit.passage_id] for hit in wanted}


def _fused(lists: Sequence[Ranking], settings: FusionSettings) -> Ranking:
    if settings.method == "highest":
        return highest(lists)
    weights = [settings.weights.get(ranking.stage, 1.0) for ranking in lists]
    return rrf(lists, k=settings.rrf_k, weights=weights)


def _leave(ways: list[Way]) -> None:
    """Nothing is to be done: a search wants no evidence, units bring what they hold."""


def _leave_unanswered(ways: list[Way]) -> None:
    for way in ways:
        way.answer = Answer(way.query_id, (), (), ())


UNANSWERED: tuple[Step, ...] = (("evidence", _leave), ("answer", _leave_unanswered))
"""How the way of a query ends that is only searched for."""


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
    return settings.rerank.method == "listwise" or asks_for_rewrites(settings)


def needs_support(settings: PipelineSettings) -> bool:
    """Tell whether a model holds generated sentences against their evidence."""
    answer = settings.answer
    checked = answer.generator == "llm" and answer.unsupported != "keep"
    return checked and answer.support_model is not None
