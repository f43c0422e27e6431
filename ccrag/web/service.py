"""
From a caller's question to a result: what may be read is decided here, before anything is searched.

Everything here blocks and belongs into the gate's threads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ccrag.answering.verdict import judge
from ccrag.config import ServeSettings
from ccrag.engine.indexes import ListedIndex, ListedPage
from ccrag.engine.names import check_name
from ccrag.errors import (
    ONE_QUESTION,
    ConfigError,
    EmptyCandidatesError,
    EngineError,
    UnknownDocumentError,
    some_ids,
)
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.stages import StageCallback, no_op
from ccrag.pipeline.support_weights import support_weights
from ccrag.types import Candidates, DocId, Document, Passage, PassageId, Query, Result
from ccrag.web.access import Caller
from ccrag.web.connection import UPLOAD_PREFIX
from ccrag.web.metrics import Metrics
from ccrag.web.problems import ProblemError, not_available, unknown_index
from ccrag.web.registry import IndexRegistry
from ccrag.web.schemas import SupportPlace, SupportRequest, SupportResponse
from ccrag.web.uploads import Uploads


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A caller's question, as it came."""

    index: str
    text: str
    doc_ids: tuple[DocId, ...] | None
    """None: every document of the index (or of `collection`) that the caller may read."""
    pipeline: str | None = None
    collection: str | None = None
    """Every document that the index files under it; never with `doc_ids`."""


@dataclass(frozen=True, slots=True)
class ReadableIndex:
    """An index as far as a caller may read it."""

    name: str
    documents: int
    pipelines: tuple[str, ...]


def check_support(request: SupportRequest) -> SupportResponse:
    """Judge a claim by the words of its evidence; no index is asked."""
    found = judge(request.claim, request.evidence, support_weights(), question=request.question)
    return SupportResponse(
        verdict=found.verdict,
        probability=found.probability,
        reason=found.reason,
        spans=[
            SupportPlace(text_index=span.text_index, start=span.start, end=span.end)
            for span in found.spans
        ],
    )


class QueryService:
    """Answers callers; safe for threads."""

    def __init__(
        self, settings: ServeSettings, registry: IndexRegistry, uploads: Uploads, metrics: Metrics
    ) -> None:
        self.settings = settings
        self.registry = registry
        self.uploads = uploads
        self.metrics = metrics

    def answer(
        self, caller: Caller, question: AskedQuestion, on_stage: StageCallback = no_op
    ) -> Result:
        """
        Return the answer to a question.

        Raises:
            ProblemError: too large, or something the caller may not read or that is not there.
            CcragError: the engine or a model failed.
        """
        result = self._ask(caller, question, on_stage, answering=True)
        self.metrics.count_answer(self._pipeline(question), abstained=result.answer.abstained)
        return result

    def search(
        self,
        caller: Caller,
        question: AskedQuestion,
        *,
        top_n: int,
        on_stage: StageCallback = no_op,
    ) -> tuple[Result, Mapping[PassageId, Passage]]:
        """
        Return the ranking for a question, and its best `top_n` passages with their text.

        Raises:
            ProblemError, CcragError: as `answer`.
        """
        result = self._ask(caller, question, on_stage, answering=False)
        best = [hit.passage_id for hit in result.ranking.hits[:top_n]]
        missing = [passage_id for passage_id in best if passage_id not in result.passages]
        found = dict(result.passages)
        if missing:
            found |= self.registry.using(
                question.index, question.pipeline, lambda p: p.index.passages(missing)
            )
        return result, {passage_id: found[passage_id] for passage_id in best}

    def document(self, caller: Caller, index: str, doc_id: DocId) -> Document:
        """
        Return one document, its links cut to what the caller may read.

        Raises:
            ProblemError: it is not there, or not for this caller.
        """
        caller = self.check_index(caller, index)
        if not caller.may_read(index, doc_id):
            raise not_available()
        found = self.registry.using(
            index,
            self.registry.any_pipeline(index),
            lambda p: p.index.documents(Candidates.whole_index(), [doc_id]),
        )
        if doc_id not in found:
            raise not_available()
        return _with_readable_links(found[doc_id], caller, index)

    def passages(self, caller: Caller, index: str, doc_id: DocId) -> tuple[Document, list[Passage]]:
        """
        Return one document with its passages in order.

        Raises:
            ProblemError: it is not there, or not for this caller.
        """
        document = self.document(caller, index, doc_id)
        only = Query(ONE_QUESTION, doc_id, Candidates.of([doc_id], query_id=ONE_QUESTION))
        passages = self.registry.using(
            index,
            self.registry.any_pipeline(index),
            lambda p: p.index.candidate_passages(only),
        )
        return document, sorted(passages, key=lambda passage: passage.ordinal)

    def documents(
        self,
        caller: Caller,
        index: str,
        *,
        text: str = "",
        size: int,
        after: tuple[object, ...] | None = None,
    ) -> ListedPage:
        """
        Return a page of the documents the caller may read.

        Raises:
            ProblemError: no such index for this caller.
        """
        self.check_index(caller, index)
        allowed = caller.allowed(index)
        if allowed is None:
            candidates = Candidates.whole_index()
        elif allowed:
            candidates = Candidates.of(allowed, query_id=ONE_QUESTION)
        else:
            return ListedPage((), None)
        return self.registry.listed(index, candidates, text=text, size=size, after=after)

    def indexes(self, caller: Caller) -> list[ReadableIndex]:
        """Return the indexes the caller may open, counted as far as they may be read."""
        return [
            self._readable(caller, info)
            for info in self.registry.indexes()
            if not info.name.startswith(UPLOAD_PREFIX) and caller.may_open(info.name)
        ]

    def check_index(self, caller: Caller, index: str) -> Caller:
        """
        Let a caller go on who may open the index, if there is one.

        Returns:
            The caller, who may read all of an upload of their own, whatever their token names.

        Raises:
            ProblemError: it is not theirs to open, or no name of an index.
        """
        try:
            check_name(index)
        except ConfigError as error:
            raise unknown_index() from error
        if index.startswith(UPLOAD_PREFIX):
            if not self.uploads.is_owner(caller.name, index):
                raise unknown_index()
            return Caller(caller.name, frozenset({index}))
        if not caller.may_open(index):
            raise unknown_index()
        return caller

    def _readable(self, caller: Caller, info: ListedIndex) -> ReadableIndex:
        allowed = caller.allowed(info.name)
        count = info.documents
        if allowed is not None:
            count = len(self._held(info.name, self.registry.any_pipeline(info.name), allowed))
        return ReadableIndex(info.name, count, tuple(self.registry.fitting(info)))

    def _ask(
        self, caller: Caller, question: AskedQuestion, on_stage: StageCallback, *, answering: bool
    ) -> Result:
        self._check_size(question)
        caller = self.check_index(caller, question.index)
        query = Query(ONE_QUESTION, question.text, self._candidates(caller, question))

        def work(pipeline: Pipeline) -> Result:
            ask = pipeline.answer if answering else pipeline.search
            return ask(query, on_stage=on_stage)

        try:
            result = self.registry.using(question.index, question.pipeline, work)
        except UnknownDocumentError as error:
            raise self._unknown(caller, question, error) from error
        except EngineError as error:
            self.metrics.count_engine_error(type(error).__name__)
            raise
        self.metrics.count_stages(self._pipeline(question), result.trace.seconds)
        return result

    def _check_size(self, question: AskedQuestion) -> None:
        limit = self.settings.max_query_chars
        if len(question.text) > limit:
            raise ProblemError("too_large", f"the question may have {limit} characters")
        if not question.text.strip():
            raise ProblemError("invalid_request", "the question is empty")
        limit = self.settings.max_candidates
        if question.doc_ids is not None and len(question.doc_ids) > limit:
            raise ProblemError("too_large", f"a request may name {limit} candidates")

    def _candidates(self, caller: Caller, question: AskedQuestion) -> Candidates:
        """
        Return what is asked for, cut to what may be read; an attempt beyond is refused as a whole.
        """
        allowed = caller.allowed(question.index)
        wanted = question.doc_ids
        if wanted is not None and not wanted:
            raise EmptyCandidatesError(ONE_QUESTION)
        if question.collection is not None:
            if allowed is not None:
                raise not_available()  # which of its documents lie there is not for them to know
            return Candidates.of_collection(question.collection)
        if allowed is None:
            if wanted is None:
                return Candidates.whole_index()
            return Candidates.of(wanted, query_id=ONE_QUESTION)
        held = self._held(question.index, question.pipeline, allowed)
        if wanted is None:
            wanted = held
        if not wanted or not set(wanted) <= set(held):
            raise not_available()
        return Candidates.of(wanted, query_id=ONE_QUESTION)

    def _held(
        self, index: str, pipeline: str | None, doc_ids: Iterable[DocId]
    ) -> tuple[DocId, ...]:
        """Return those of `doc_ids` that the index holds."""
        ids = tuple(doc_ids)
        unknown = self.registry.using(index, pipeline, lambda p: p.index.unknown(ids))
        return tuple(doc_id for doc_id in ids if doc_id not in unknown)

    def _unknown(
        self, caller: Caller, question: AskedQuestion, error: UnknownDocumentError
    ) -> ProblemError:
        if caller.allowed(question.index) is not None:
            return not_available()
        held = f"the index does not hold {some_ids(error.doc_ids)}"
        return ProblemError("not_available", held)

    def _pipeline(self, question: AskedQuestion) -> str:
        return question.pipeline or self.registry.default


def _with_readable_links(document: Document, caller: Caller, index: str) -> Document:
    links = tuple(link for link in document.links if caller.may_read(index, link))
    return Document(
        document.doc_id,
        document.title,
        document.text,
        document.date,
        links,
        document.text_source,
    )
