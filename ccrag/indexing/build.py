"""
From files to a served index: scan, chunk, write, switch; or adding files to an index that serves.

Nothing that serves is lost by accident: documents that a name serves are replaced by others only on
request. That is decided here, once, for the command and the library.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Literal

from ccrag.concurrency import StillWanted, prefetched
from ccrag.config import ReadingSettings, Settings
from ccrag.corpus.corpus import Corpus
from ccrag.corpus.load import LoadReport
from ccrag.corpus.packed import SizeLimits
from ccrag.corpus.scan import CorpusScan
from ccrag.engine.build import BuildPlan, BuildReport, ChunkedDocument, build
from ccrag.engine.client import Client, Notify, open_client, silent
from ccrag.engine.index import count_items
from ccrag.engine.names import IndexSpec
from ccrag.engine.stored import clear_leftovers, items, require_stored, stored_indices
from ccrag.errors import InputError
from ccrag.indexing.builds import candidate_settings, existing_builds
from ccrag.indexing.passages import EncodingCounts, chunked_documents
from ccrag.indexing.spec import index_spec, unit_rules
from ccrag.indexing.update import OnDocuments, Update, UpdateReport, check_stored
from ccrag.models.base import Encoder, encoder_identity
from ccrag.models.encoder import load_encoder
from ccrag.models.tokens import load_token_counter
from ccrag.types import DocId
from ccrag.units.units import make_units

MEGABYTE = 1_000_000
MAX_EXAMPLES = 5
"""Ids of documents that would go, shown before anything is replaced."""


def no_op(_done: int, _total: int) -> None:
    """Do nothing: the callback of callers that show no progress."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The outcome of one `ccrag index`."""

    loaded: LoadReport
    built: BuildReport
    encoded: EncodingCounts
    seconds: float


@dataclass(frozen=True, slots=True)
class AddReport:
    """The outcome of one `ccrag index --add`."""

    loaded: LoadReport
    updated: UpdateReport
    encoded: EncodingCounts
    seconds: float


OpenCorpus = Callable[[], AbstractContextManager[Corpus]]


def open_files(
    paths: Sequence[Path],
    *,
    collections: Mapping[Path, str] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    citations: Path | None = None,
    reading: ReadingSettings | None = None,
) -> OpenCorpus:
    """
    Return what opens the documents of `paths`, for `index_corpus` and `add_corpus`.

    Args:
        collections: the collection of all documents below a path, by path.
        reading: how much of a file is read at most; None: the defaults.
    """
    reading = reading or ReadingSettings()
    sizes = SizeLimits(
        page=MEGABYTE * reading.max_page_mb,
        pdf=MEGABYTE * reading.max_pdf_mb,
        json=MEGABYTE * reading.max_json_mb,
        record=MEGABYTE * reading.max_record_mb,
    )
    return partial(
        CorpusScan,
        paths,
        collections=collections,
        on_error=on_error,
        citations=citations,
        sizes=sizes,
    )


def index_documents(
    paths: Sequence[Path],
    name: str,
    settings: Settings,
    *,
    collections: Mapping[Path, str] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    citations: Path | None = None,
    replace: bool = False,
    on_progress: OnDocuments = no_op,
    notify: Notify = silent,
) -> IndexReport:
    """
    Build what `settings`' pipeline needs of the collection `name` from `paths`.

    The files are read twice: once for the fingerprint, which tells whether anything changed, and
    once to chunk and write. Chunking runs ahead of writing in a thread, so both keep a core busy;
    memory does not grow with the collection.

    Args:
        collections: the collection of all documents below a path, by path.
        replace: let other documents that `name` serves be replaced.

    Raises:
        InputError: a file or record at fault (with `on_error="skip"`, only whole files); or `name`
            serves other documents, and `replace` is not set.
        EngineError: the engine could not be started or written to.
    """
    return index_corpus(
        open_files(
            paths,
            collections=collections,
            on_error=on_error,
            citations=citations,
            reading=settings.reading,
        ),
        name,
        settings,
        replace=replace,
        on_progress=on_progress,
        notify=notify,
    )


def index_corpus(
    open_corpus: OpenCorpus,
    name: str,
    settings: Settings,
    *,
    replace: bool = False,
    on_progress: OnDocuments = no_op,
    still_wanted: StillWanted | None = None,
    notify: Notify = silent,
) -> IndexReport:
    """
    Build what `settings`' pipeline needs of a collection, as `index_documents` does of files.

    The collection is opened when engine and models are there.

    Args:
        still_wanted: called while texts are encoded, and after each document.

    Raises:
        InputError: a document at fault; or `name` serves others, and `replace` is not set.
        EngineError: the engine could not be started or written to.
    """
    began = perf_counter()
    client = open_client(settings, notify=notify)
    spec, encoder = _spec_and_encoder(settings)
    counts = EncodingCounts()
    # The thread that chunks ahead is ended before the collection it reads is closed.
    with open_corpus() as corpus, ExitStack() as readers:
        if not replace:
            check_same_documents(client, name, corpus)
        plan = BuildPlan(
            name=name,
            corpus=corpus.fingerprint,
            documents=corpus.count,
            max_edges=corpus.max_edges,
            spec=spec,
            collections=corpus.report.collections,
        )

        def chunk() -> Iterator[ChunkedDocument]:
            done = chunked_documents(
                _unchunked(corpus, settings, with_units=spec.units is not None),
                settings.chunking,
                encoder,
                with_vectors=spec.vectors is not None,
                counts=counts,
                still_wanted=still_wanted,
            )
            for number, item in enumerate(done, start=1):
                yield item
                on_progress(number, corpus.count)
                if still_wanted is not None:
                    still_wanted()

        def chunk_ahead() -> Iterator[ChunkedDocument]:
            return readers.enter_context(closing(prefetched(chunk(), depth=512)))

        built = build(client, plan, chunk_ahead, settings.engine)
        return IndexReport(corpus.report, built, counts, perf_counter() - began)


def add_corpus(
    open_corpus: OpenCorpus,
    name: str,
    settings: Sequence[Settings],
    *,
    on_progress: OnDocuments = no_op,
    notify: Notify = silent,
) -> AddReport:
    """
    Add documents to the index `name` and update those that changed, under all its index specs.

    Args:
        settings: those given, the first for the engine; they are asked for what the index does not
            state: which encoder settings, tokenizer and grouping file it was built with.

    Raises:
        InputError: a document at fault.
        IndexMissingError: there is no such index.
        IndexMismatchError: an index cannot be updated; the message says which, why and what to do.
        EngineError: a request failed; the index is as it was, and the command can be repeated.
        ModelError: a model cannot be had.
    """
    began = perf_counter()
    client = open_client(settings[0], notify=notify)
    stored = require_stored(
        client, name, consequence=f"build it: ccrag index PATH... --index {name}"
    )
    check_stored(name, stored)
    counts = EncodingCounts()
    with open_corpus() as corpus:
        clear_leftovers(client, name)
        update = Update(client, name, stored, settings[0], given=corpus)
        builds = existing_builds(
            name, stored, lambda: candidate_settings(settings), load_encoder, for_adding=True
        )
        updated = update.run(builds, counts, on_progress)
        return AddReport(corpus.report, updated, counts, perf_counter() - began)


def check_same_documents(client: Client, name: str, corpus: Corpus) -> None:
    """
    Check that a collection can be built under `name` without losing documents.

    Raises:
        InputError: `name` serves other documents; says how many would go, and which for example.
    """
    stored = stored_indices(client, name)
    if not stored or stored[0].meta["corpus"] == corpus.fingerprint:
        return
    now = count_items(client, stored[0].index)
    examples: list[DocId] = []
    gone = 0
    for hit in items(client, stored[0].index, ["doc_id"], by="doc_id"):
        if not corpus.holds(hit["_id"]):
            gone += 1
            examples += [hit["_id"]] if len(examples) < MAX_EXAMPLES else []
    more = ", …" if gone > len(examples) else ""
    going = f"{gone} of them would go ({', '.join(examples)}{more})"
    other = "was made by another version" if not stored[0].is_current else "serves other documents"
    raise InputError(
        f"index {name!r} {other}: {now} now, {corpus.count} in what is given; "
        f"{going if gone else 'none of them would go'}; nothing was changed; "
        "pass --replace (replace=True) to serve what is given instead"
        + (", or --add (Library.add) to add it" if stored[0].is_current else "")
    )


def _unchunked(
    corpus: Corpus, settings: Settings, *, with_units: bool
) -> Iterator[ChunkedDocument]:
    """Yield the documents with all that is stored of them but their passages."""
    units = None
    if with_units:  # the collection is read for their links once or twice more
        count = load_token_counter(settings.budget.tokenizer)
        units = make_units(corpus.documents, unit_rules(settings), count)
    for document, digest in corpus.digested():
        yield ChunkedDocument(
            document,
            corpus.edges(document.doc_id),
            parts=() if units is None else units.parts(document),
            cites=corpus.cites(document.doc_id),
            digest=digest,
        )


def _spec_and_encoder(settings: Settings) -> tuple[IndexSpec, Encoder | None]:
    """
    Return the index spec, with the identity of the encoder it needs, and that encoder.
    """
    spec = index_spec(settings)
    if not spec.needs_encoder:
        return spec, None
    encoder = load_encoder(settings.encoder)
    identity = tuple(sorted(encoder_identity(encoder).items()))
    return replaced(spec, encoder=identity), encoder
