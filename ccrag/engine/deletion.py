"""
Taking documents out of an index: out of every recipe's passages, every grouping's units, the texts.

What stays is copied into new indices under new fingerprints, verified, and takes all aliases in one
atomic call that removes the old indices: a crash leaves the old ones serving, and of what was
deleted no segment is left. A running command that opened the old indices has to open them again.
"""

import hashlib
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opensearchpy import OpenSearch

from ccrag.config import EngineSettings
from ccrag.engine import bodies
from ccrag.engine.build import SERVING
from ccrag.engine.client import engine_errors, reason_of
from ccrag.engine.hits import parse_passage
from ccrag.engine.index import count_items
from ccrag.engine.names import Recipe, UnitRecipe, check_name, fingerprint
from ccrag.engine.paging import PAGE
from ccrag.engine.templates import Kind, VectorMode
from ccrag.errors import EngineError, IndexMissingError, InputError
from ccrag.types import JSON, Candidates, DocId, Passage

POLL_S = 0.2
KEPT_SETTINGS = ("number_of_shards", "similarity", "knn")


@dataclass(frozen=True, slots=True)
class Stored:
    """One index that serves: a kind of item under an alias."""

    kind: Kind
    alias: str
    index: str
    meta: Mapping[str, Any]

    def after(self, doc_ids: Collection[DocId], collections: Mapping[str, int]) -> JSON:
        """`_meta` of the index without `doc_ids`."""
        corpus = _digest(self.meta["corpus"], doc_ids, size=16)
        if self.meta["fingerprint"] == self._fingerprint(self.meta["corpus"]):
            named = self._fingerprint(corpus)
        else:  # made by another version: it does not fit before, and must not seem to afterwards
            named = _digest(self.meta["fingerprint"], doc_ids, size=6)
        left = {
            name: count - collections.get(name, 0)
            for name, count in self.meta.get("collections", {}).items()
        }
        return {
            **self.meta,
            "corpus": corpus,
            "fingerprint": named,
            "documents": self.meta["documents"] - len(doc_ids),
            "collections": {name: count for name, count in left.items() if count},
        }

    def _fingerprint(self, corpus: str) -> str:
        parameters = tuple(sorted(self.meta["parameters"].items()))
        if self.kind == "documents":
            return fingerprint("documents", corpus)
        if self.kind == "units":
            return fingerprint("units", corpus, UnitRecipe(self.meta["recipe"], parameters))
        known = dict(parameters)
        vectors = known.get("vectors", "none")
        recipe = Recipe(
            name=self.meta["recipe"],
            parameters=parameters,
            k1=float(known["k1"]),
            b=float(known["b"]),
            vectors=None if vectors == "none" else cast("VectorMode", vectors),
            encoder=tuple(map(tuple, self.meta.get("encoder", ()))),
        )
        return fingerprint("passages", corpus, recipe)


def _digest(before: str, doc_ids: Collection[DocId], *, size: int) -> str:
    content = "\n".join((before, *sorted(doc_ids))).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=size).hexdigest()


def stored_indices(client: OpenSearch, name: str) -> list[Stored]:
    """
    Every index that serves the collection `name`, documents first.

    Raises:
        IndexMissingError: there is none.
    """
    named = re.compile(rf"ccrag-{re.escape(check_name(name))}-(documents|passages|units)(-.+)?")
    with engine_errors(f"look up {name}"):
        found = client.indices.get(index=f"ccrag-{name}-*", params={"ignore_unavailable": "true"})
    stored = [
        Stored(cast("Kind", match[1]), alias, index, body["mappings"]["_meta"])
        for index, body in found.items()
        for alias in body["aliases"]
        if (match := named.fullmatch(alias))
    ]
    if not any(item.kind == "documents" for item in stored):
        raise IndexMissingError(f"no index {name!r}; nothing was deleted")
    return sorted(stored, key=lambda item: (item.kind, item.alias))


def known_documents(
    client: OpenSearch, name: str, documents: Stored, doc_ids: Sequence[DocId]
) -> dict[str, int]:
    """
    How many of `doc_ids` lie in each named collection.

    Raises:
        InputError: the index does not hold one of them.
    """
    with engine_errors(f"read from {documents.index}"):
        answer = client.mget(
            body={"ids": list(doc_ids)}, index=documents.index, params={"_source": "collection"}
        )
    unknown = sorted(item["_id"] for item in answer["docs"] if not item.get("found"))
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise InputError(
            f"index {name!r} does not hold document {unknown[0]!r}{more}; nothing was deleted"
        )
    counts: dict[str, int] = {}
    for item in answer["docs"]:
        collection = item["_source"].get("collection")
        if collection is not None:
            counts[collection] = counts.get(collection, 0) + 1
    return counts


def delete_from(
    client: OpenSearch,
    stored: Sequence[Stored],
    doc_ids: Collection[DocId],
    collections: Mapping[str, int],
    settings: EngineSettings,
) -> dict[str, int]:
    """
    Let the aliases point to indices without `doc_ids`, and remove the old ones.

    Args:
        collections: how many of them lie in each named collection.

    Returns:
        Items taken out, by alias.

    Raises:
        EngineError: a request failed, or a copy is not complete; the old indices still serve.
    """
    actions: list[JSON] = []
    gone: dict[str, int] = {}
    for item in stored:
        meta = item.after(doc_ids, collections)
        copy = f"{item.alias}-{meta['fingerprint']}"
        gone[item.alias] = _copy(client, item, copy, meta, doc_ids, settings)
        actions.append({"add": {"index": copy, "alias": item.alias}})
    actions += [{"remove_index": {"index": item.index}} for item in stored]
    with engine_errors("switch the aliases"):
        client.indices.update_aliases(body={"actions": actions})
    return gone


def _copy(
    client: OpenSearch,
    item: Stored,
    copy: str,
    meta: JSON,
    doc_ids: Collection[DocId],
    settings: EngineSettings,
) -> int:
    """Everything but `doc_ids` into a new index; returns how many items were left out."""
    wait: JSON = {"request_timeout": settings.bulk_timeout_s}
    _create_like(client, item, copy, meta)
    before = count_items(client, item.index)
    staying: JSON = {"bool": {"must_not": [{"terms": {"doc_id": sorted(doc_ids)}}]}}
    with engine_errors(f"copy {item.index}"):
        expected = int(client.count(index=item.index, body={"query": staying})["count"])
        source = {"index": item.index, "query": staying}
        task = client.reindex(
            body={"source": source, "dest": {"index": copy, "op_type": "create"}},
            params={"wait_for_completion": "false"},
        )["task"]
        _await_task(client, task, copy)
        client.indices.refresh(index=copy, params=wait)
        if item.kind != "passages":
            _drop_links(client, copy, frozenset(doc_ids))
            client.indices.refresh(index=copy, params=wait)
        found = count_items(client, copy)
        if found != expected:
            raise EngineError(
                f"{copy} holds {found} of {expected} items; nothing was deleted, try again"
            )
        client.indices.forcemerge(index=copy, params={"max_num_segments": 1, **wait})
        client.indices.flush(index=copy, params=wait)
        serving = {"index": {**SERVING, "number_of_replicas": settings.replicas}}
        client.indices.put_settings(index=copy, body=serving)
    return before - expected


def _create_like(client: OpenSearch, item: Stored, copy: str, meta: JSON) -> None:
    """An empty index with the old one's mappings and settings; what an interruption left goes."""
    with engine_errors(f"create {copy}"):
        old = client.indices.get(index=item.index)[item.index]
        if client.indices.exists(index=copy):
            client.indices.delete(index=copy)
        own = old["settings"]["index"]
        kept = {key: own[key] for key in KEPT_SETTINGS if key in own}
        mappings = {**old["mappings"], "_meta": meta}
        client.indices.create(index=copy, body={"settings": {"index": kept}, "mappings": mappings})


def _await_task(client: OpenSearch, task: str, copy: str) -> None:
    while not (state := client.tasks.get(task_id=task))["completed"]:
        time.sleep(POLL_S)
    failures = state.get("response", {}).get("failures", [])
    problem = state.get("error") or (failures[0].get("cause") if failures else None)
    if problem:
        raise EngineError(f"cannot copy into {copy}: {reason_of({'error': problem})}")


def _drop_links(client: OpenSearch, index: str, doc_ids: frozenset[DocId]) -> None:
    """Links to what is deleted say that it was there: take them out of what stays."""
    actions: list[JSON] = []
    for hit in _items(client, index, ["links"], by="doc_id"):
        links = hit["_source"]["links"]
        kept = [link for link in links if link not in doc_ids]
        if len(kept) < len(links):
            actions += [{"update": {"_id": hit["_id"]}}, {"doc": {"links": kept}}]
    for at in range(0, len(actions), PAGE):
        answer = client.bulk(body=actions[at : at + PAGE], index=index)
        if answer["errors"]:
            raise EngineError(f"cannot take links out of {index}; nothing was deleted, try again")


def _items(
    client: OpenSearch,
    index: str,
    fields: Sequence[str] | JSON,
    *,
    by: str,
    query: JSON | None = None,
) -> Iterator[JSON]:
    """Every item of an index with some of its fields, in the order of `by`, page by page."""
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
        found = client.search(index=index, body=body)["hits"]["hits"]
        yield from found
        if len(found) < PAGE:
            return
        after = found[-1]["sort"]


def stored_passages(
    client: OpenSearch, stored: Sequence[Stored], doc_ids: Sequence[DocId] | None = None
) -> Iterator[Passage]:
    """The passages of `doc_ids`, or all there are, under every recipe."""
    query: JSON | None = None
    if doc_ids is not None:
        asked = Candidates.of(doc_ids, query_id="deletion")
        query = {"bool": {"filter": bodies.candidate_filter(asked)}}
    for item in stored:
        if item.kind == "passages":
            with engine_errors(f"read from {item.index}"):
                for hit in _items(
                    client, item.index, bodies.PASSAGES, by="passage_id", query=query
                ):
                    yield parse_passage(hit["_id"], hit["_source"])
