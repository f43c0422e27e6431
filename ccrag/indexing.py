"""From files to a served index: scan, cut, write, switch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Literal

from ccrag.concurrency import prefetched
from ccrag.config import Settings
from ccrag.corpus.given import Corpus
from ccrag.corpus.load import LoadReport
from ccrag.corpus.scan import CorpusScan
from ccrag.corpus.units import Units, make_units
from ccrag.cutting import EncodingCounts, cut_documents
from ccrag.engine.build import BuildPlan, BuildReport, CutDocument, build
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.names import Recipe
from ccrag.models.encoder import Encoder, encoder_identity, load_encoder
from ccrag.models.tokens import load_token_counter
from ccrag.recipes import recipe_of, unit_rules

OnDocuments = Callable[[int, int], None]
"""Called with the documents cut (and encoded) so far, and with how many there are."""


def ignore_documents(_done: int, _total: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one `ccrag index` did."""

    loaded: LoadReport
    built: BuildReport
    encoded: EncodingCounts
    seconds: float


def index_documents(
    paths: Sequence[Path],
    name: str,
    settings: Settings,
    *,
    collections: Mapping[Path, str] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    citations: Path | None = None,
    on_progress: OnDocuments = ignore_documents,
    notify: Notify = silent,
) -> IndexReport:
    """
    Build what `settings`' pipeline needs of the collection `name` from `paths`.

    The files are read twice: once for the fingerprint, which tells whether anything changed, and
    once to cut and write. Cutting runs ahead of writing in a thread, so both keep a core busy;
    memory does not grow with the collection.

    Args:
        collections: the collection of all documents below a path, by path.

    Raises:
        InputError: a file or record at fault (with `on_error="skip"`, only whole files).
        EngineError: the engine could not be started or written to.
    """
    return index_corpus(
        lambda: CorpusScan(paths, collections=collections, on_error=on_error, citations=citations),
        name,
        settings,
        on_progress=on_progress,
        notify=notify,
    )


def index_corpus(
    open_corpus: Callable[[], AbstractContextManager[Corpus]],
    name: str,
    settings: Settings,
    *,
    on_progress: OnDocuments = ignore_documents,
    notify: Notify = silent,
) -> IndexReport:
    """
    As `index_documents`, of any collection; it is opened when engine and models are there.

    Raises:
        InputError: a document at fault.
        EngineError: the engine could not be started or written to.
    """
    began = perf_counter()
    client = open_client(settings, notify=notify)
    recipe, encoder = _recipe_and_encoder(settings)
    counts = EncodingCounts()
    with open_corpus() as corpus:
        plan = BuildPlan(
            name=name,
            corpus=corpus.fingerprint,
            documents=corpus.count,
            max_edges=corpus.max_edges,
            recipe=recipe,
            collections=corpus.report.collections,
        )

        def cut() -> Iterator[CutDocument]:
            counted = ((document, corpus.edges(document.doc_id)) for document in corpus.documents())
            chunking, stored = settings.chunking, recipe.vectors is not None
            done = cut_documents(counted, chunking, encoder, with_vectors=stored, counts=counts)
            units = _units(corpus, settings) if recipe.units is not None else None
            for number, item in enumerate(done, start=1):
                yield item if units is None else item._replace(parts=units.parts(item.document))
                on_progress(number, corpus.count)

        built = build(client, plan, lambda: prefetched(cut(), depth=512), settings.engine)
        return IndexReport(corpus.report, built, counts, perf_counter() - began)


def _units(corpus: Corpus, settings: Settings) -> Units:
    """The units of the collection, which is read for their links once or twice more."""
    count = load_token_counter(settings.budget.tokenizer)
    return make_units(corpus.documents, unit_rules(settings), count)


def _recipe_and_encoder(settings: Settings) -> tuple[Recipe, Encoder | None]:
    """The recipe with the encoder's identity, and the encoder, where the recipe needs one."""
    recipe = recipe_of(settings)
    if not recipe.needs_encoder:
        return recipe, None
    encoder = load_encoder(settings.encoder)
    identity = tuple(sorted(encoder_identity(encoder).items()))
    return replace(recipe, encoder=identity), encoder
