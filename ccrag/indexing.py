"""From files to a served index: scan, cut, write, switch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal

from ccrag.concurrency import prefetched
from ccrag.config import Settings
from ccrag.corpus.load import LoadReport
from ccrag.corpus.scan import CorpusScan
from ccrag.engine.build import BuildPlan, BuildReport, CutDocument, build
from ccrag.engine.client import Notify, open_client, silent
from ccrag.recipes import chunker_of, recipe_of


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one `ccrag index` did."""

    loaded: LoadReport
    built: BuildReport
    seconds: float


def index_documents(
    paths: Sequence[Path],
    name: str,
    settings: Settings,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    citations: Path | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
    notify: Notify = silent,
) -> IndexReport:
    """
    Build what `settings`' pipeline needs of the collection `name` from `paths`.

    The files are read twice: once for the fingerprint, which tells whether anything changed, and
    once to cut and write. Cutting runs ahead of writing in a thread, so both keep a core busy;
    memory does not grow with the collection.

    Raises:
        InputError: a file or record at fault (with `on_error="skip"`, only whole files).
        EngineError: the engine could not be started or written to.
    """
    began = perf_counter()
    client = open_client(settings, notify=notify)
    cut = chunker_of(settings.chunking)
    with CorpusScan(paths, on_error=on_error, citations=citations) as scan:
        plan = BuildPlan(
            name=name,
            corpus=scan.fingerprint,
            documents=scan.count,
            max_edges=scan.max_edges,
            recipe=recipe_of(settings),
        )

        def cut_documents() -> Iterator[CutDocument]:
            for document in scan.documents():
                edges = scan.edges(document.doc_id)
                yield document, edges, cut(document, edges)

        built = build(
            client,
            plan,
            lambda: prefetched(cut_documents(), depth=512),
            settings.engine,
            on_progress=on_progress,
        )
        return IndexReport(scan.report, built, perf_counter() - began)
