"""The indices of one name, their documents, and what interrupted commands left behind."""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from opensearchpy import OpenSearch

from ccrag.engine import bodies
from ccrag.engine.client import engine_errors
from ccrag.engine.hits import parse_passage
from ccrag.engine.names import IndexSpec, UnitSpec, check_name, fingerprint, is_concrete
from ccrag.engine.pages import PAGE
from ccrag.engine.reasons import reason_of
from ccrag.engine.templates import IndexKind, VectorMode
from ccrag.errors import EngineError, IndexMissingError
from ccrag.types import JSON, DocId, Passage

IDS_PER_REQUEST = 1_000
WHOLE_PER_REQUEST = 50
"""Documents read with their texts, which may be long."""
SourceFields = Sequence[str] | JSON | bool
MAX_COLLECTIONS = 10_000
POLL_S = 0.2
WRITING_ENDS_S = 60.0
"""The longest time that a request of a killed process may go on writing."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One index that serves: a kind of item under an alias."""

    kind: IndexKind
    alias: str
    index: str
    meta: Mapping[str, Any]

    @property
    def spec(self) -> IndexSpec:
        """Return the index spec of passages, as the index states it; without units."""
        parameters = tuple(sorted(self.meta["parameters"].items()))
        known = dict(parameters)
        vectors = known.get("vectors", "none")
        return IndexSpec(
            name=self.meta["recipe"],
            parameters=parameters,
            k1=float(known["k1"]),
            b=float(known["b"]),
            vectors=None if vectors == "none" else cast("VectorMode", vectors),
            encoder=tuple(map(tuple, self.meta.get("encoder", ()))),
        )

    @property
    def units(self) -> UnitSpec:
        """Return the grouping of units, as the index states it."""
        return UnitSpec(self.meta["recipe"], tuple(sorted(self.meta["parameters"].items())))

    def fingerprint(self, corpus: str) -> str:
        """Return the fingerprint that this version gives such an index of `corpus`."""
        if self.kind == "documents":
            return fingerprint("documents", corpus)
        return fingerprint(self.kind, corpus, self.units if self.kind == "units" else self.spec)

    @property
    def is_current(self) -> bool:
        """Tell whether this version would build the same index from the same documents."""
        named: str = self.meta["fingerprint"]
        return named == self.fingerprint(self.meta["corpus"])


class StoredDocument(NamedTuple):
    """The fields of a stored document that a change is compared with."""

    digest: str
    edges: int
    links: tuple[DocId, ...]
    cites: tuple[DocId, ...]

    @property
    def targets(self) -> frozenset[DocId]:
        """Return the documents it leads to, in the index or not."""
        return frozenset((*self.links, *self.cites))


def stored_indices(client: OpenSearch, name: str) -> list[Stored]:
    """
    Return every index that serves the collection `name`, documents first; none if there is none.

    Raises:
        EngineError: the engine failed.
    """
    named = _names(name)
    stored = [
        Stored(cast("IndexKind", match[1]), alias, index, body["mappings"]["_meta"])
        for index, body in _found(client, name).items()
        for alias in body["aliases"]
        if (match := named.fullmatch(alias))
    ]
    if not any(item.kind == "documents" for item in stored):
        return []
    return sorted(stored, key=lambda item: (item.kind, item.alias))


def require_stored(client: OpenSearch, name: str, *, consequence: str) -> list[Stored]:
    """
    Return every index that serves the collection `name`, documents first.

    Raises:
        IndexMissingError: there is none.
    """
    stored = stored_indices(client, name)
    if not stored:
        raise IndexMissingError(f"no index {name!r}; {consequence}")
    return stored


def leftovers(client: OpenSearch, name: str) -> list[str]:
    """Return what interrupted commands left under `name`: concrete indices without an alias."""
    named = _names(name)
    return sorted(
        index
        for index, body in _found(client, name).items()
        if not body["aliases"] and named.fullmatch(index) and is_concrete(index, index[:-13])
    )


def clear_leftovers(client: OpenSearch, name: str, *, keep: Collection[str] = ()) -> list[str]:
    """
    Delete what interrupted commands left under `name`, and end requests that still write there.

    A document that is deleted must not live on in an index that nobody finished.

    Args:
        keep: indices that are about to be completed.

    Raises:
        EngineError: the engine failed.
    """
    left = [index for index in leftovers(client, name) if index not in keep]
    if left:
        # A bulk request of a killed process goes on in the engine, and would create them again.
        _end_writing(client, name)
    with engine_errors(f"clean up {name}"):
        for index in left:
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    return left


def _end_writing(client: OpenSearch, name: str) -> None:
    """Cancel tasks that write under `name`, and wait until none is left."""
    named = re.compile(rf"ccrag-{re.escape(check_name(name))}-(documents|passages|units)")
    deadline = time.monotonic() + WRITING_ENDS_S
    asked = {"detailed": "true", "actions": "*reindex,*bulk"}
    while True:
        with engine_errors(f"look for what writes to {name}"):
            nodes = client.tasks.list(params=asked).get("nodes", {})
            tasks = {
                task_id: task
                for node in nodes.values()
                for task_id, task in node["tasks"].items()
                if named.search(task.get("description", ""))
            }
            for task_id, task in tasks.items():
                if task.get("cancellable") and not task.get("cancelled"):
                    client.tasks.cancel(task_id=task_id)
        if not tasks:
            return
        if time.monotonic() > deadline:
            raise EngineError(
                f"another command writes to {name!r} ({min(tasks)}); wait until it ends, try again"
            )
        time.sleep(POLL_S)


def _names(name: str) -> re.Pattern[str]:
    return re.compile(rf"ccrag-{re.escape(check_name(name))}-(documents|passages|units)(-.+)?")


def _found(client: OpenSearch, name: str) -> Mapping[str, Any]:
    with engine_errors(f"look up {name}"):
        found: Mapping[str, Any] = client.indices.get(
            index=f"ccrag-{check_name(name)}-*", params={"ignore_unavailable": "true"}
        )
    return found


def stored_documents(
    client: OpenSearch, index: str, doc_ids: Iterable[DocId]
) -> dict[DocId, StoredDocument]:
    """Return the stored digests, edges and links of `doc_ids`; absent ids are left out."""
    fields = ["digest", "edges", "links", "cites"]
    return {
        doc_id: StoredDocument(
            source["digest"], source["edges"], tuple(source["links"]), tuple(source["cites"])
        )
        for doc_id, source in sources(client, index, doc_ids, fields)
    }


def sources(
    client: OpenSearch,
    index: str,
    ids: Iterable[str],
    fields: Sequence[str] | None = None,
    *,
    per_request: int | None = None,
) -> Iterator[tuple[str, JSON]]:
    """
    Yield the stored fields of items by id, in bounded requests; absent ids are left out.

    Args:
        fields: those wanted; None: all.
        per_request: ids asked for at once; None: few where whole documents come back.

    Raises:
        EngineError: a request failed, or the reading of one item did: it may not be absent.
    """
    # `mget` answers every id, found or not, so an id that fails is never taken for an absent one.
    wanted = list(dict.fromkeys(ids))
    step = per_request or (WHOLE_PER_REQUEST if fields is None else IDS_PER_REQUEST)
    for at in range(0, len(wanted), step):
        body = {"ids": wanted[at : at + step]}
        params = {} if fields is None else {"_source": ",".join(fields) or "false"}
        with engine_errors(f"read from {index}"):
            answer = client.mget(body=body, index=index, params=params)
        for item in answer["docs"]:
            if "error" in item:
                raise EngineError(f"cannot read from {index}: {reason_of(item)}")
            if item.get("found"):
                yield item["_id"], item.get("_source", {})


def linking_documents(client: OpenSearch, index: str, doc_ids: Iterable[DocId]) -> set[DocId]:
    """Return the documents of an index that link to or cite one of `doc_ids`."""
    wanted, found = sorted(set(doc_ids)), set[DocId]()
    for at in range(0, len(wanted), IDS_PER_REQUEST):
        some = wanted[at : at + IDS_PER_REQUEST]
        either = [{"terms": {"links": some}}, {"terms": {"cites": some}}]
        query: JSON = {"bool": {"should": either, "minimum_should_match": 1}}
        found |= {hit["_id"] for hit in items(client, index, [], by="doc_id", query=query)}
    return found


def items_of(
    client: OpenSearch, index: str, doc_ids: Iterable[DocId], fields: SourceFields, *, by: str
) -> Iterator[JSON]:
    """Yield the items of some documents with some of their fields; True: with all."""
    wanted = sorted(set(doc_ids))
    for at in range(0, len(wanted), IDS_PER_REQUEST):
        query: JSON = {"terms": {"doc_id": wanted[at : at + IDS_PER_REQUEST]}}
        yield from items(client, index, fields, by=by, query=query)


def items(
    client: OpenSearch,
    index: str,
    fields: SourceFields,
    *,
    by: str,
    query: JSON | None = None,
) -> Iterator[JSON]:
    """Yield every item of an index with some of its fields, in the order of `by`, by pages."""
    # By `search_after`: `from` ends at 10,000 hits, and a scroll would hold segments on the engine.
    after: list[Any] | None = None
    while True:
        body: JSON = {
            "size": PAGE,
            "_source": fields,
            "query": query or {"match_all": {}},
            "sort": [{by: "asc"}],
            "track_total_hits": False,
        }
        if after is not None:
            body["search_after"] = after
        with engine_errors(f"read from {index}"):
            found = client.search(index=index, body=body)["hits"]["hits"]
        yield from found
        if len(found) < PAGE:
            return
        after = found[-1]["sort"]


def stored_passages(
    client: OpenSearch, stored: Sequence[Stored], doc_ids: Sequence[DocId] | None = None
) -> Iterator[Passage]:
    """Yield the passages of `doc_ids`, or all there are, under every index spec."""
    for item in (item for item in stored if item.kind == "passages"):
        if doc_ids is None:
            found = items(client, item.index, bodies.PASSAGES, by="passage_id")
        else:
            found = items_of(client, item.index, doc_ids, bodies.PASSAGES, by="passage_id")
        for hit in found:
            yield parse_passage(hit["_id"], hit["_source"])


class CollectionCounts(NamedTuple):
    """Counts over an index of documents."""

    documents: int
    max_edges: int
    collections: dict[str, int]


def count_collections(client: OpenSearch, index: str) -> CollectionCounts:
    """Return how many documents an index holds, in which collections, and the most edges of one."""
    counted: JSON = {
        "max_edges": {"max": {"field": "edges"}},
        "collections": {"terms": {"field": "collection", "size": MAX_COLLECTIONS}},
    }
    body: JSON = {"size": 0, "track_total_hits": True, "aggs": counted}
    with engine_errors(f"count {index}"):
        answer = client.search(index=index, body=body)
    found = answer["aggregations"]
    named = {bucket["key"]: bucket["doc_count"] for bucket in found["collections"]["buckets"]}
    return CollectionCounts(
        documents=answer["hits"]["total"]["value"],
        max_edges=int(found["max_edges"]["value"] or 0),
        collections=dict(sorted(named.items())),
    )
