"""Building small indices without files, for tests of what lies behind loading."""

from collections.abc import Iterable, Iterator

from opensearchpy import OpenSearch

from ccrag.config import EngineSettings, PipelineSettings
from ccrag.engine.build import BuildPlan, BuildReport, CutDocument, build
from ccrag.engine.index import Index, open_index
from ccrag.pipeline import Pipeline
from ccrag.recipes import chunker_of, recipe_of
from ccrag.types import Document

ENGINE = EngineSettings()


def cut(documents: Iterable[Document], settings: PipelineSettings) -> Iterator[CutDocument]:
    chunker = chunker_of(settings.chunking)
    for document in documents:
        yield document, 0, chunker(document, 0)


def build_index(
    client: OpenSearch,
    name: str,
    documents: list[Document],
    settings: PipelineSettings | None = None,
    *,
    corpus: str = "c0",
    engine: EngineSettings = ENGINE,
    items: Iterable[CutDocument] | None = None,
) -> BuildReport:
    """Build `name` from `documents`; `items` replaces the cut documents, to make them fail."""
    settings = settings or PipelineSettings()
    plan = BuildPlan(name, corpus, len(documents), 0, recipe_of(settings))
    return build(client, plan, lambda: items or cut(documents, settings), engine)


def opened(client: OpenSearch, name: str, settings: PipelineSettings | None = None) -> Index:
    settings = settings or PipelineSettings()
    return open_index(client, name, recipe_of(settings), ENGINE, pipeline=settings.name)


def pipeline(client: OpenSearch, name: str, settings: PipelineSettings | None = None) -> Pipeline:
    settings = settings or PipelineSettings()
    return Pipeline(settings, opened(client, name, settings))
