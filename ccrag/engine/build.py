"""
Building an index: written completely, verified, then given the alias in one atomic call.

Until that call the old index serves. The concrete names carry fingerprints, so the same command
again finds a complete index and does nothing, or an incomplete one and goes on with it: complete is
what has the alias. (`_meta` is written once, at creation: k-NN 2.19 loses the shard of a graph-free
vector index when its mapping is updated.)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from opensearchpy import NotFoundError, OpenSearch, RequestError

from ccrag import __version__
from ccrag.config import EngineSettings
from ccrag.engine.bulk import WriteCounts, write
from ccrag.engine.client import engine_errors
from ccrag.engine.hits import part_id, part_source, passage_source
from ccrag.engine.index import count_items, document_source
from ccrag.engine.names import (
    Recipe,
    UnitRecipe,
    documents_alias,
    fingerprint,
    is_concrete,
    passages_alias,
    units_alias,
)
from ccrag.engine.templates import Kind, put_templates, vector_template
from ccrag.errors import EngineError
from ccrag.types import JSON, Document, Passage, UnitPart

Matrix = NDArray[np.float32]


class CutDocument(NamedTuple):
    """A document on its way into the index."""

    document: Document
    edges: int
    """Citation edges that touch it."""
    passages: Sequence[Passage]
    vectors: Matrix | None = None
    """`(n_passages, dim)` float32, unit rows, in the order of `passages`; None stores none."""
    searched: Sequence[JSON] | None = None
    """Further fields of each passage that are searched and never read; None stores none."""
    parts: Sequence[UnitPart] = ()
    """Its places in units, where the recipe stores units."""


LOADING: JSON = {
    "refresh_interval": "-1",
    "translog.durability": "async",
    "translog.flush_threshold_size": "1gb",
}
SERVING: JSON = {"refresh_interval": "30s", "translog.durability": "request"}


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What is to be built."""

    name: str
    corpus: str
    """Fingerprint of the documents."""
    documents: int
    max_edges: int
    recipe: Recipe
    collections: Mapping[str, int] = field(default_factory=dict)
    """Documents per named collection."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was built, or found complete."""

    documents: int
    passages: int
    kept: int
    """Passages an interrupted load had written before."""
    unchanged: bool
    passages_index: str
    documents_index: str


@dataclass(frozen=True, slots=True)
class _Target:
    """One concrete index to be built."""

    kind: Kind
    alias: str
    fingerprint: str

    @property
    def index(self) -> str:
        return f"{self.alias}-{self.fingerprint}"


def build(
    client: OpenSearch,
    plan: BuildPlan,
    cut_documents: Callable[[], Iterable[CutDocument]],
    settings: EngineSettings,
) -> BuildReport:
    """
    Build what is missing of a collection and let its aliases point to it.

    Args:
        cut_documents: called at most once, only when something has to be written.

    Raises:
        BulkWriteError: items were refused.
        EngineError: a request failed, or the index does not hold what was written.
    """
    targets = _targets(plan)
    documents, passages = targets[:2]
    missing = [target for target in targets if not _is_complete(client, target)]
    counts: dict[str, WriteCounts] = {}
    if missing:
        put_templates(client)
        for target in missing:
            _create(client, target, plan, settings)
        actions = _actions(cut_documents(), {target.kind: target.index for target in missing})
        counts = write(client, actions, settings)
        for target in missing:
            _finish(client, target, counts.get(target.index, WriteCounts()), settings)
    switched = _switch(client, targets)
    return BuildReport(
        documents=plan.documents,
        passages=count_items(client, passages.index),
        kept=counts.get(passages.index, WriteCounts()).kept,
        unchanged=not missing and not switched,
        passages_index=passages.index,
        documents_index=documents.index,
    )


def _targets(plan: BuildPlan) -> tuple[_Target, ...]:
    """Documents, passages and, where the recipe stores them, units."""
    name, corpus, recipe = plan.name, plan.corpus, plan.recipe
    documents = _Target("documents", documents_alias(name), fingerprint("documents", corpus))
    passages = _Target(
        "passages", passages_alias(name, recipe), fingerprint("passages", corpus, recipe)
    )
    if recipe.units is None:
        return documents, passages
    grouped = fingerprint("units", corpus, recipe.units)
    return documents, passages, _Target("units", units_alias(name, recipe.units), grouped)


def _actions(cut: Iterable[CutDocument], indices: dict[Kind, str]) -> Iterator[JSON]:
    """A document after its passages, so that a stored document has been cut completely."""
    for item in cut:
        if "units" in indices:
            yield from (
                {
                    "_op_type": "create",
                    "_index": indices["units"],
                    "_id": part_id(part),
                    **part_source(part, collection=item.document.collection),
                }
                for part in item.parts
            )
        if "passages" in indices:
            for at, passage in enumerate(item.passages):
                action = {
                    "_op_type": "create",
                    "_index": indices["passages"],
                    "_id": passage.passage_id,
                    **passage_source(passage),
                }
                if item.searched is not None:
                    action |= item.searched[at]
                if item.vectors is not None:
                    action["vector"] = item.vectors[at]
                yield action
        if "documents" in indices:
            yield {
                "_op_type": "create",
                "_index": indices["documents"],
                "_id": item.document.doc_id,
                **document_source(item.document, edges=item.edges),
            }


def _is_complete(client: OpenSearch, target: _Target) -> bool:
    return target.index in _behind(client, target.alias)


def _create(client: OpenSearch, target: _Target, plan: BuildPlan, settings: EngineSettings) -> None:
    """Create the concrete index, or find it half written; either way set it up for loading."""
    index_settings: JSON = {"number_of_shards": settings.shards, **LOADING}
    if target.kind == "passages":
        similarity = {"type": "BM25", "k1": plan.recipe.k1, "b": plan.recipe.b}
        index_settings["similarity"] = {"default": similarity}
    mappings: JSON = {"_meta": _facts(target, plan)}
    if target.kind == "passages" and plan.recipe.vectors is not None:
        extra, field = vector_template(plan.recipe.vectors, dimension=plan.recipe.dimension)
        index_settings |= extra
        mappings["properties"] = {"vector": field}
    body = {"settings": {"index": index_settings}, "mappings": mappings}
    with engine_errors(f"create {target.index}"):
        try:
            client.indices.create(index=target.index, body=body)
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise


def _finish(
    client: OpenSearch,
    target: _Target,
    counts: WriteCounts,
    settings: EngineSettings,
) -> None:
    """Make the load durable and one segment, once its count is right."""
    wait: JSON = {"request_timeout": settings.bulk_timeout_s}
    expected = counts.written + counts.kept
    with engine_errors(f"finish {target.index}"):
        client.indices.refresh(index=target.index, params=wait)
        found = count_items(client, target.index)
        if found != expected:
            raise EngineError(
                f"{target.index} holds {found} of {expected} items; "
                "run the same command again, it resumes"
            )
        client.indices.forcemerge(index=target.index, params={"max_num_segments": 1, **wait})
        client.indices.flush(index=target.index, params=wait)
        serving = {"index": {**SERVING, "number_of_replicas": settings.replicas}}
        client.indices.put_settings(index=target.index, body=serving)


def _facts(target: _Target, plan: BuildPlan) -> JSON:
    """What an index says about itself."""
    recipe: Recipe | UnitRecipe | None = plan.recipe
    if target.kind == "units":
        recipe = plan.recipe.units
    return {
        "owner": "ccrag",
        "built_by": __version__,
        "fingerprint": target.fingerprint,
        "corpus": plan.corpus,
        "documents": plan.documents,
        "max_edges": plan.max_edges,
        "collections": dict(plan.collections),
        "recipe": recipe.name if recipe else "",
        "parameters": dict(recipe.parameters) if recipe else {},
        "encoder": plan.recipe.encoder,
    }


def _switch(client: OpenSearch, targets: Sequence[_Target]) -> bool:
    """
    Point the aliases to the targets in one call, then delete what they pointed to before.

    Returns:
        Whether anything had to change.
    """
    add: list[JSON] = []
    old: list[str] = []
    for target in targets:
        before = _behind(client, target.alias)
        if before != [target.index]:
            add.append({"add": {"index": target.index, "alias": target.alias}})
            old += [index for index in before if index != target.index]
    remove = [{"remove_index": {"index": index}} for index in old]
    if add:
        with engine_errors("switch the aliases"):
            client.indices.update_aliases(body={"actions": [*add, *remove]})
    _drop_leftovers(client, targets)
    return bool(add)


def _behind(client: OpenSearch, alias: str) -> list[str]:
    with engine_errors(f"look up {alias}"):
        try:
            return sorted(client.indices.get_alias(name=alias))
        except NotFoundError:
            return []


def _drop_leftovers(client: OpenSearch, targets: Sequence[_Target]) -> None:
    """Delete half-written indices that earlier, interrupted loads of other texts left behind."""
    for target in targets:
        with engine_errors(f"clean up {target.alias}"):
            found = client.indices.get(
                index=f"{target.alias}-*", params={"ignore_unavailable": "true"}
            )
            leftovers = [
                index
                for index in found
                if is_concrete(index, target.alias) and index != target.index
            ]
            for index in leftovers:
                client.indices.delete(index=index)
