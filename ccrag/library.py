"""
The front door for programs: an index under one pipeline, opened once and asked often.

What `ccrag index`, `search` and `ask` do, without files and text in between. Everything it returns
is a value of `ccrag.types`; every error is a `CcragError` whose message says what to do.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from ccrag.answering.verdict import Verdict, judge
from ccrag.config.load import load_settings
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.engine.client import Notify, silent
from ccrag.errors import ONE_QUESTION, InputError, UnknownDocumentError
from ccrag.indexing.build import OpenCorpus, add_corpus, index_corpus, open_files
from ccrag.indexing.delete import DeletionReport, delete_documents
from ccrag.pipeline.factory import open_pipeline
from ccrag.pipeline.pipeline import Pipeline
from ccrag.pipeline.state import Failure
from ccrag.pipeline.support_weights import support_weights
from ccrag.types import Candidates, DocId, Document, Query, Result, Turn, require_text


class Library:
    """
    Documents that were indexed under a name, with the pipeline that answers from them.

    Safe to use from several threads.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        """Take a pipeline as it is; `open` and `build` make one from settings."""
        self.pipeline = pipeline

    @classmethod
    def open(
        cls,
        name: str,
        *,
        pipeline: str | Path | None = None,
        settings: Sequence[str] = (),
        notify: Notify = silent,
    ) -> Self:
        """
        Open what `ccrag index` or `build` made; starts the embedded OpenSearch when needed.

        Args:
            pipeline: a named pipeline, or a TOML file; None means the default one.
            settings: overrides as `section.key=value`, like `--set`.
            notify: takes a line on whatever takes a while.

        Raises:
            ConfigError: no such pipeline or setting.
            IndexMissingError: nothing was indexed under this name for this pipeline.
            EngineError: OpenSearch is out of reach, or the index does not fit the pipeline.
            ModelError: a model the pipeline needs cannot be had.
        """
        return cls(open_pipeline(load_settings(pipeline, settings), name, notify=notify))

    @classmethod
    def build(
        cls,
        name: str,
        documents: Iterable[Document] | Sequence[Path],
        *,
        pipeline: str | Path | None = None,
        settings: Sequence[str] = (),
        replace: bool = False,
        notify: Notify = silent,
    ) -> Self:
        """
        Index documents, or files and folders of them, and open the library.

        Does nothing twice: when the same documents lie there already, it only opens.

        Args:
            documents: `Document` values, or paths; not both.
            replace: let documents that were indexed under `name` before be replaced by others.

        Raises:
            InputError: a document, record or file that cannot be used; says which. Or `name` holds
                other documents, and `replace` is not set.
            CcragError: whatever `open` may raise.
        """
        loaded = load_settings(pipeline, settings)
        index_corpus(_opener(documents), name, loaded, replace=replace, notify=notify)
        return cls(open_pipeline(loaded, name, notify=notify))

    @classmethod
    def add(
        cls,
        name: str,
        documents: Iterable[Document] | Sequence[Path],
        *,
        pipeline: str | Path | None = None,
        settings: Sequence[str] = (),
        notify: Notify = silent,
    ) -> Self:
        """
        Add documents to what `name` holds, under all pipelines it was built for, and open it.

        Documents that `name` holds already are updated where they changed, and cost nothing where
        they did not. Libraries opened before have to be opened again.

        Args:
            documents: `Document` values, or paths; not both.

        Raises:
            InputError: a document, record or file that cannot be used; says which.
            IndexMismatchError: `name` cannot be kept up; says why and what to do.
            CcragError: whatever `open` may raise.
        """
        loaded = load_settings(pipeline, settings)
        add_corpus(_opener(documents), name, [loaded], notify=notify)
        return cls(open_pipeline(loaded, name, notify=notify))

    @staticmethod
    def delete(
        name: str,
        doc_ids: Iterable[DocId],
        *,
        settings: Sequence[str] = (),
        notify: Notify = silent,
    ) -> DeletionReport:
        """
        Delete documents from all that was indexed under `name`, and what was kept of them on disk.

        Libraries opened before have to be opened again.

        Raises:
            InputError: no id was given. (One that `name` does not hold is reported, no error.)
            CcragError: the engine or a cache failed; nothing is deleted then.
        """
        return delete_documents(name, list(doc_ids), load_settings(None, settings), notify=notify)

    def ask(
        self,
        text: str,
        *,
        candidates: Candidates | Iterable[DocId],
        turns: Iterable[Turn] = (),
    ) -> Result:
        """
        Answer a question from the candidate documents and nothing else.

        Args:
            candidates: document ids, or `Candidates.whole_index()`.
            turns: the dialogue before the question, oldest first. They tell what it refers to,
                where the pipeline reads them (`chat`, for one), and are never cited.

        Returns:
            The answer (or an abstention) with its evidence, the ranking, and each stage's trace.

        Raises:
            EmptyCandidatesError: no candidate was named.
            UnknownDocumentError: the library does not hold a candidate.
            CcragError: the engine or a model failed.
        """
        return self.pipeline.answer(make_query(text, candidates, turns=turns))

    def search(
        self,
        text: str,
        *,
        candidates: Candidates | Iterable[DocId],
        turns: Iterable[Turn] = (),
    ) -> Result:
        """
        Rank the candidates' passages; the result's answer is empty.

        Raises:
            CcragError: as `ask`.
        """
        return self.pipeline.search(make_query(text, candidates, turns=turns))

    def ask_many(self, queries: Sequence[Query]) -> Iterator[Result | Failure]:
        """
        Answer queries in order, many to a request; one that fails yields a `Failure`.

        Raises:
            EngineError: the engine itself failed.
        """
        return self.pipeline.run(queries)

    @staticmethod
    def support(claim: str, evidence: Sequence[str], *, question: str | None = None) -> Verdict:
        """
        Judge by words whether a claim is supported by evidence texts, of whatever origin.

        Args:
            question: the question that the claim answers, if known.
        """
        return judge(claim, evidence, support_weights(), question=question)

    def document(self, doc_id: DocId) -> Document:
        """
        Return a document as it was indexed, so that `text[start:end]` of any evidence can be read
        in it.

        Raises:
            UnknownDocumentError: the library does not hold it.
        """
        require_text(doc_id, what=f"document id {doc_id!r}")
        index = self.pipeline.index
        found = index.documents(Candidates.whole_index(), [doc_id])
        if doc_id not in found:
            raise UnknownDocumentError(ONE_QUESTION, [doc_id], index=index.info.name)
        return found[doc_id]


def make_query(
    text: str, candidates: Candidates | Iterable[DocId], *, turns: Iterable[Turn] = ()
) -> Query:
    """
    Return a question with what may answer it, and the dialogue before it.

    Raises:
        InputError: the question is blank, or a candidate is no id.
        EmptyCandidatesError: no candidate was named.
    """
    if not text.strip():
        raise InputError("the question is empty")
    if not isinstance(candidates, Candidates):
        candidates = Candidates.of(candidates, query_id=ONE_QUESTION)
    return Query(ONE_QUESTION, text, candidates, tuple(turns))


def _opener(documents: Iterable[Document] | Sequence[Path]) -> OpenCorpus:
    """Return what opens documents given as values, or as files."""
    paths, values = _parted(documents)
    return open_files(paths) if paths else lambda: InMemoryCorpus(values)


def _parted(
    documents: Iterable[Document] | Sequence[Path],
) -> tuple[list[Path], list[Document]]:
    """Return paths and documents, of which only one kind may be there."""
    given = list(documents)
    paths = [item for item in given if isinstance(item, Path)]
    values = [item for item in given if isinstance(item, Document)]
    if len(paths) + len(values) != len(given) or (paths and values):
        raise InputError("give either Document values or pathlib.Path values, nothing else")
    return paths, values
