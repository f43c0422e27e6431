"""Building small indices without files, for tests of what lies behind loading."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from opensearchpy import OpenSearch

from ccrag.config import EngineSettings, PipelineSettings
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.engine.build import BuildPlan, BuildReport, ChunkedDocument, build
from ccrag.engine.index import Index, open_index
from ccrag.indexing.passages import chunked_documents
from ccrag.indexing.spec import index_spec, unit_rules
from ccrag.llm.client import Llm
from ccrag.models.base import Encoder, encoder_identity
from ccrag.models.reranker import Reranker
from ccrag.pipeline.pipeline import Pipeline, PipelineModels
from ccrag.text.tokens import estimate_tokens
from ccrag.types import Document
from ccrag.units.units import make_units

ENGINE = EngineSettings()


def cut(
    documents: Iterable[Document], settings: PipelineSettings, encoder: Encoder | None = None
) -> Iterator[ChunkedDocument]:
    spec, documents = index_spec(settings), list(documents)
    with InMemoryCorpus(documents) as given:
        items = [
            ChunkedDocument(document, given.edges(document.doc_id), digest=digest)
            for document, digest in given.digested()
        ]
    stored = spec.vectors is not None
    done = chunked_documents(items, settings.chunking, encoder, with_vectors=stored)
    if spec.units is None:
        return done
    units = make_units(lambda: documents, unit_rules(settings), estimate_tokens)
    return (item._replace(parts=units.parts(item.document)) for item in done)


def build_index(
    client: OpenSearch,
    name: str,
    documents: list[Document],
    settings: PipelineSettings | None = None,
    *,
    corpus: str | None = None,
    engine: EngineSettings = ENGINE,
    items: Iterable[ChunkedDocument] | None = None,
    encoder: Encoder | None = None,
) -> BuildReport:
    """
    Build `name` from `documents`.

    Args:
        corpus: a fingerprint instead of the documents' own.
        items: instead of the cut documents, to make them fail.
    """
    settings = settings or PipelineSettings()
    spec = index_spec(settings)
    if encoder is not None and spec.needs_encoder:
        spec = replace(spec, encoder=tuple(sorted(encoder_identity(encoder).items())))
    named = Counter(doc.collection for doc in documents if doc.collection is not None)
    with InMemoryCorpus(documents) as given:
        corpus, max_edges = corpus or given.fingerprint, given.max_edges
    plan = BuildPlan(name, corpus, len(documents), max_edges, spec, named)
    return build(client, plan, lambda: items or cut(documents, settings, encoder), engine)


def opened(client: OpenSearch, name: str, settings: PipelineSettings | None = None) -> Index:
    settings = settings or PipelineSettings()
    command = f"ccrag index PATH... --index {name}"
    return open_index(client, name, index_spec(settings), ENGINE, command=command)


def pipeline(
    client: OpenSearch,
    name: str,
    settings: PipelineSettings | None = None,
    *,
    encoder: Encoder | None = None,
    reranker: Reranker | None = None,
    llm: Llm | None = None,
) -> Pipeline:
    settings = settings or PipelineSettings()
    index = opened(client, name, settings)
    models = PipelineModels(encoder=encoder, reranker=reranker, llm=llm)
    return Pipeline(settings, index, models)
