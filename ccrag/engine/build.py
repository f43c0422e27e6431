"""
Building an index: written completely, verified, then given the alias in one atomic call.

Until that call the old index serves. The concrete names carry fingerprints, so the same command
again finds a complete index and does nothing, or an incomplete one and goes on with it: complete is
what has the alias. A complete index is never written to again: it is closed for writing, and what
changes is a copy of it (see `engine.derive`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from opensearchpy import NotFoundError, OpenSearch, RequestError

from ccrag.config import EngineSettings
from ccrag.engine.bulk import WriteCounts, write
from ccrag.engine.client import engine_errors
from ccrag.engine.hits import part_id, part_source, passage_source
from ccrag.engine.index import count_items, document_source
from ccrag.engine.names import (
    IndexSpec,
    UnitSpec,
    documents_alias,
    fingerprint,
    passages_alias,
    units_alias,
)
from ccrag.engine.stored import clear_leftovers, stored_indices
from ccrag.engine.templates import IndexKind, put_templates, vector_template
from ccrag.errors import EngineError
from ccrag.types import JSON, DocId, Document, Passage, UnitPart
from ccrag.version import __version__

PassageVectors = NDArray[np.float32]


class ChunkedDocument(NamedTuple):
    """A document on its way into the index; it has no passages until it is chunked."""

    document: Document
    edges: int
    """Citation edges that touch it."""
    passages: Sequence[Passage] = ()
    vectors: PassageVectors | None = None
    """`(n_passages, dim)` float32, unit rows, in the order of `passages`; None stores none."""
    searched: Sequence[JSON] | None = None
    """Further fields of each passage that are searched and never read; None stores none."""
    parts: Sequence[UnitPart] = ()
    """Its places in units, where the index spec stores units."""
    cites: Sequence[DocId] = ()
    """Documents that a table of citations says it cites, in the collection or not."""
    digest: str = ""
    """Digest of all its fields, by which a change is found."""


LOADING: JSON = {
    "refresh_interval": "-1",
    "translog.durability": "async",
    "translog.flush_threshold_size": "1gb",
}
SERVING: JSON = {
    "refresh_interval": "30s",
    "translog.durability": "request",
    "blocks.write": True,
}


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A collection to be indexed under one spec."""

    name: str
    corpus: str
    """Fingerprint of the documents."""
    documents: int
    max_edges: int
    spec: IndexSpec
    collections: Mapping[str, int] = field(default_factory=dict)
    """Documents per named collection."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The outcome of a build."""

    documents: int
    passages: int
    resumed: int
    """Passages that an interrupted load had written before."""
    unchanged: bool
    passages_index: str
    documents_index: str


@dataclass(frozen=True, slots=True)
class Target:
    """One concrete index to be built."""

    kind: IndexKind
    alias: str
    fingerprint: str

    @property
    def index(self) -> str:
        return f"{self.alias}-{self.fingerprint}"


def build(
    client: OpenSearch,
    plan: BuildPlan,
    chunked_documents: Callable[[], Iterable[ChunkedDocument]],
    settings: EngineSettings,
) -> BuildReport:
    """
    Build what is missing of a collection and let its aliases point to it.

    Args:
        chunked_documents: called at most once, only when something has to be written.

    Raises:
        BulkWriteError: items were refused.
        EngineError: a request failed, or the index does not hold what was written.
    """
    targets = _targets(plan)
    documents, passages = targets[:2]
    missing = [target for target in targets if target.index not in _behind(client, target.alias)]
    counts: dict[str, WriteCounts] = {}
    # Not what this build would resume: its targets, half written or not.
    clear_leftovers(client, plan.name, keep=[target.index for target in targets])
    if missing:
        put_templates(client)
        for target in missing:
            create_index(client, target, plan, settings)
        actions = _actions(chunked_documents(), {target.kind: target.index for target in missing})
        counts = write(client, actions, settings)
        for target in missing:
            count = counts.get(target.index, WriteCounts())
            finish_index(client, target.index, count.written + count.resumed, settings)
    switched = _switch(client, plan, targets)
    return BuildReport(
        documents=plan.documents,
        passages=count_items(client, passages.index),
        resumed=counts.get(passages.index, WriteCounts()).resumed,
        unchanged=not missing and not switched,
        passages_index=passages.index,
        documents_index=documents.index,
    )


def _targets(plan: BuildPlan) -> tuple[Target, ...]:
    """Return documents, passages and, where the index spec stores them, units."""
    name, corpus, spec = plan.name, plan.corpus, plan.spec
    documents = Target("documents", documents_alias(name), fingerprint("documents", corpus))
    passages = Target("passages", passages_alias(name, spec), fingerprint("passages", corpus, spec))
    if spec.units is None:
        return documents, passages
    grouped = fingerprint("units", corpus, spec.units)
    return documents, passages, Target("units", units_alias(name, spec.units), grouped)


def _actions(documents: Iterable[ChunkedDocument], indices: dict[IndexKind, str]) -> Iterator[JSON]:
    """Yield what creates the items of each document in `indices`."""
    # The document comes last: one that is stored has all its passages, whenever a load ends.
    for item in documents:
        if "units" in indices:
            yield from part_actions(item, indices["units"])
        if "passages" in indices:
            yield from passage_actions(item, indices["passages"])
        if "documents" in indices:
            yield document_action(item, indices["documents"])


def part_actions(item: ChunkedDocument, index: str) -> Iterator[JSON]:
    """Create the places of a document in units."""
    for part in item.parts:
        source = part_source(part, collection=item.document.collection)
        yield {"_op_type": "create", "_index": index, "_id": part_id(part), **source}


def passage_actions(item: ChunkedDocument, index: str) -> Iterator[JSON]:
    """Create the passages of a document."""
    for at, passage in enumerate(item.passages):
        action = {
            "_op_type": "create",
            "_index": index,
            "_id": passage.passage_id,
            **passage_source(passage),
        }
        if item.searched is not None:
            action |= item.searched[at]
        if item.vectors is not None:
            action["vector"] = item.vectors[at]
        yield action


def document_action(item: ChunkedDocument, index: str) -> JSON:
    """Create a document."""
    source = document_source(item.document, edges=item.edges, cites=item.cites, digest=item.digest)
    return {"_op_type": "create", "_index": index, "_id": item.document.doc_id, **source}


def create_index(
    client: OpenSearch, target: Target, plan: BuildPlan, settings: EngineSettings
) -> None:
    """Create the concrete index, or find it half written; either way set it up for loading."""
    index_settings: JSON = {"number_of_shards": settings.shards, **LOADING}
    if target.kind == "passages":
        similarity = {"type": "BM25", "k1": plan.spec.k1, "b": plan.spec.b}
        index_settings["similarity"] = {"default": similarity}
    mappings: JSON = {"_meta": _info(target, plan)}
    if target.kind == "passages" and plan.spec.vectors is not None:
        extra, field = vector_template(plan.spec.vectors, dimension=plan.spec.dimension)
        index_settings |= extra
        mappings["properties"] = {"vector": field}
    body = {"settings": {"index": index_settings}, "mappings": mappings}
    with engine_errors(f"create {target.index}"):
        try:
            client.indices.create(index=target.index, body=body)
        except RequestError as error:  # an interrupted load had created it: the load goes on there
            if error.error != "resource_already_exists_exception":
                raise


def finish_index(client: OpenSearch, index: str, expected: int, settings: EngineSettings) -> None:
    """Make the load durable and one segment, once its count is right."""
    wait: JSON = {"request_timeout": settings.bulk_timeout_s}
    with engine_errors(f"finish {index}"):
        client.indices.refresh(index=index, params=wait)
        check_count(client, index, expected)
        # One segment is searched fastest, and nothing is written to it any more.
        client.indices.forcemerge(index=index, params={"max_num_segments": 1, **wait})
        client.indices.flush(index=index, params=wait)
        serve_index(client, index, settings)


def check_count(client: OpenSearch, index: str, expected: int) -> None:
    """
    Check that an index holds what was written.

    Raises:
        EngineError: it does not.
    """
    found = count_items(client, index)
    if found != expected:
        raise EngineError(
            f"{index} holds {found} of {expected} items; run the same command again, it resumes"
        )


def serve_index(
    client: OpenSearch, index: str, settings: EngineSettings, *, others: Mapping[str, Any] = {}
) -> None:
    """Set a complete index up for searches, and close it for writing; with `others` set too."""
    serving = {"index": {**SERVING, **others, "number_of_replicas": settings.replicas}}
    client.indices.put_settings(index=index, body=serving)


def _info(target: Target, plan: BuildPlan) -> JSON:
    """Return what an index says about itself."""
    spec: IndexSpec | UnitSpec | None = plan.spec
    if target.kind == "units":
        spec = plan.spec.units
    return {
        "owner": "ccrag",
        "built_by": __version__,
        "fingerprint": target.fingerprint,
        "corpus": plan.corpus,
        "documents": plan.documents,
        "max_edges": plan.max_edges,
        "collections": dict(plan.collections),
        "recipe": spec.name if spec else "",  # the field's name in indices of every version
        "parameters": dict(spec.parameters) if spec else {},
        "encoder": plan.spec.encoder,
    }


def _switch(client: OpenSearch, plan: BuildPlan, targets: Sequence[Target]) -> bool:
    """
    Point the aliases to the targets in one call that deletes what they replace.

    All else that was made of other documents goes too: it could not be opened any more, and texts
    that were replaced must not stay.

    Returns:
        True if anything had to change.
    """
    serving = stored_indices(client, plan.name)
    behind = {item.alias: item.index for item in serving}
    add = [target for target in targets if behind.get(target.alias) != target.index]
    if not add:
        return False
    keep = {target.index for target in targets}
    added = {target.alias for target in add}
    old = [
        item
        for item in serving
        if item.index not in keep and (item.meta["corpus"] != plan.corpus or item.alias in added)
    ]
    actions: list[JSON] = [{"add": {"index": t.index, "alias": t.alias}} for t in add]
    actions += [{"remove_index": {"index": item.index}} for item in old]
    with engine_errors("switch the aliases"):
        client.indices.update_aliases(body={"actions": actions})
    return True


def _behind(client: OpenSearch, alias: str) -> list[str]:
    with engine_errors(f"look up {alias}"):
        try:
            return sorted(client.indices.get_alias(name=alias))
        except NotFoundError:
            return []
