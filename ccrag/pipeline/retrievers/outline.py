"""Outline lists: the question against the headings above a passage and how its section begins."""

from ccrag.config import PipelineSettings
from ccrag.engine import bodies
from ccrag.pipeline.retrievers.base import ListKind, RetrievalRequest
from ccrag.text.markup import query_parts
from ccrag.types import JSON


def _search_bodies(settings: PipelineSettings, request: RetrievalRequest) -> list[JSON]:
    parts = query_parts(request.variant.searched)
    return [
        bodies.bm25_body(
            parts,
            request.query.candidates,
            depth=settings.retrieval.depth,
            title_weight=0,
            field="outline",
        )
    ]


OUTLINE = ListKind(_search_bodies, lambda inputs: inputs.engine)
