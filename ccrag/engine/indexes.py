"""Which indexes an engine holds, the documents of one by title, and taking one away."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opensearchpy import AuthorizationException, NotFoundError, OpenSearch

from ccrag.engine import bodies
from ccrag.engine.client import engine_errors
from ccrag.engine.hits import check_closure
from ccrag.engine.names import check_name
from ccrag.engine.reasons import with_advice
from ccrag.engine.stored import clear_leftovers, stored_indices
from ccrag.engine.templates import KINDS, IndexKind
from ccrag.errors import EngineDownError, EngineError, IndexMissingError
from ccrag.types import Candidates, DocId

_OURS = re.compile(r"ccrag-(.+?)-(?:documents|passages|units)-.+")
_DOCUMENTS = re.compile(r"ccrag-(.+)-documents")
_PASSAGES = re.compile(r"ccrag-(.+?)-passages-(.+)")
_UNITS = re.compile(r"ccrag-(.+?)-(units-.+)")


@dataclass(frozen=True, slots=True)
class ListedIndex:
    """An index that can be asked."""

    name: str
    documents: int
    specs: tuple[str, ...]
    """Names of the index specs of its passages, and `units-` groupings, sorted."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as a list shows it."""

    doc_id: DocId
    title: str
    date: str | None


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Some documents of a list, and where the next page begins."""

    documents: tuple[Listed, ...]
    after: tuple[Any, ...] | None
    """To be handed to the next call; None: this page is the last."""


def list_indexes(client: OpenSearch) -> list[ListedIndex]:
    """
    Return every index whose documents are complete, by name.

    Raises:
        EngineError: the engine failed.
    """
    with engine_errors("list the indexes"):
        indices = client.indices.get(index="ccrag-*", params={"ignore_unavailable": "true"})
    counts: dict[str, int] = {}
    specs: dict[str, list[str]] = {}
    for index in indices.values():
        for alias in index["aliases"]:
            if found := _PASSAGES.fullmatch(alias) or _UNITS.fullmatch(alias):
                specs.setdefault(found[1], []).append(found[2])
            elif found := _DOCUMENTS.fullmatch(alias):
                counts[found[1]] = int(index["mappings"]["_meta"]["documents"])
    return [
        ListedIndex(name, counts[name], tuple(sorted(specs.get(name, ()))))
        for name in sorted(counts)
    ]


def find_documents(
    client: OpenSearch,
    index: str,
    candidates: Candidates,
    *,
    text: str,
    size: int,
    after: tuple[Any, ...] | None = None,
) -> ListedPage:
    """
    Return candidates whose title holds the words of `text` (the last may be a beginning) or whose
    id begins with it, best first; all of them by id when `text` is blank.

    Args:
        index: of documents, concrete or an alias.
        after: `ListedPage.after` of the page before.

    Raises:
        IndexMissingError: there is no such index.
        EngineError: the engine failed, or `after` is not that of a page.
    """
    body = bodies.documents_body(text.strip(), candidates, size=size + 1, after=after)
    with engine_errors(f"list the documents of {index}"):
        try:
            answer = client.search(index=index, body=body)
        except NotFoundError as error:
            raise IndexMissingError(f"no index {index!r}") from error
    hits = answer["hits"]["hits"]
    places = ((hit["_id"], hit["_source"].get("collection")) for hit in hits)
    check_closure("a list of documents", candidates, places)
    sources = (hit["_source"] for hit in hits[:size])
    shown = tuple(Listed(s["doc_id"], s["title"], s.get("date")) for s in sources)
    return ListedPage(shown, tuple(hits[size - 1]["sort"]) if len(hits) > size else None)


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One of the indices that an index consists of."""

    kind: IndexKind
    spec: str
    """Name of its index spec or grouping; empty for documents."""
    index: str
    items: int
    bytes: int
    encoder: dict[str, str]
    """The identity of the encoder, where one was used."""
    built_by: str
    """The version of ccrag."""
    is_current: bool
    """True if this version can open and change it."""


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """All there is of an index."""

    name: str
    documents: int
    collections: dict[str, int]
    parts: tuple[IndexPart, ...]
    leftovers: tuple[str, ...]
    """Concrete indices that interrupted commands left; nothing serves from them."""
    bytes: int
    """On disk, leftovers and replicas included."""

    @property
    def passages(self) -> int:
        """Return the number of passages under all index specs."""
        return sum(part.items for part in self.parts if part.kind == "passages")

    @property
    def specs(self) -> frozenset[str]:
        """Return index specs of passages that this version can open, and `units-` groupings."""
        return frozenset(
            f"units-{part.spec}" if part.kind == "units" else part.spec
            for part in self.parts
            if part.kind != "documents" and part.is_current
        )


def describe_indexes(client: OpenSearch, name: str | None = None) -> list[IndexDescription]:
    """
    Return every index, or the one called `name`; those that were never finished too.

    Raises:
        IndexMissingError: nothing is stored under `name`.
        EngineError: the engine failed.
    """
    pattern = "ccrag-*" if name is None else f"ccrag-{check_name(name)}-*"
    with engine_errors("list the indexes"):
        found = client.indices.get(index=pattern, params={"ignore_unavailable": "true"})
        stats = client.indices.stats(index=pattern, metric="docs,store")["indices"]
    by_name: dict[str, list[str]] = {}
    for index in sorted(found):
        if match := _OURS.fullmatch(index):
            by_name.setdefault(match[1], []).append(index)
    names = sorted(by_name) if name is None else [name]
    if name is not None and name not in by_name:
        raise IndexMissingError(f"no index {name!r}; `ccrag indexes` lists those there are")
    return [_described(client, each, by_name[each], stats) for each in names]


def _described(
    client: OpenSearch, name: str, indices: list[str], stats: Mapping[str, Any]
) -> IndexDescription:
    stored = stored_indices(client, name)
    meta = stored[0].meta if stored else {}
    parts = tuple(
        IndexPart(
            kind=item.kind,
            spec=item.meta["recipe"] if item.kind != "documents" else "",
            index=item.index,
            items=stats[item.index]["primaries"]["docs"]["count"],
            bytes=stats[item.index]["total"]["store"]["size_in_bytes"],
            encoder=dict(item.meta["encoder"]) if item.kind == "passages" else {},
            built_by=item.meta.get("built_by", ""),
            is_current=item.is_current,
        )
        for item in stored
    )
    serving = {part.index for part in parts}
    return IndexDescription(
        name=name,
        documents=meta.get("documents", 0),
        collections=dict(meta.get("collections", {})),
        parts=parts,
        leftovers=tuple(index for index in indices if index not in serving),
        bytes=sum(stats[index]["total"]["store"]["size_in_bytes"] for index in indices),
    )


def drop_index(client: OpenSearch, name: str) -> list[str]:
    """
    Delete all indices of an index, aliases and leftovers too; returns their names.

    Nothing happens when there is none.

    Raises:
        EngineError: the engine failed.
    """
    clear_leftovers(client, name)
    prefix = f"ccrag-{check_name(name)}"
    dropped: list[str] = []
    with engine_errors(f"delete {name}"):
        for kind in KINDS:
            found = client.indices.get(
                index=f"{prefix}-{kind}-*", params={"ignore_unavailable": "true"}
            )
            for index in sorted(found):
                client.indices.delete(index=index)
                dropped.append(index)
    return dropped


def await_service(client: OpenSearch, *, timeout_s: float) -> None:
    """
    Wait until every index of ours can be searched.

    Raises:
        EngineDownError: they cannot within `timeout_s`, or the engine is out of reach.
    """
    with engine_errors("ask the engine for its health"):
        client.cluster.health(
            index="ccrag-*",
            params={"wait_for_status": "yellow", "request_timeout": timeout_s},
        )


def searchable(client: OpenSearch, *, timeout_s: float) -> tuple[set[str], str | None]:
    """
    Return the names of the indexes that can be searched, and why the first other one cannot.

    Raises:
        EngineDownError: the engine gave no answer.
        EngineError: it does not say which indexes it has.
    """
    params = {"request_timeout": timeout_s}
    with engine_errors("ask for the indexes"):
        found = client.indices.get_alias(name="ccrag-*", params=params)
    aliases: dict[str, list[str]] = {}
    for alias in sorted(alias for index in found.values() for alias in index["aliases"]):
        for pattern in (_DOCUMENTS, _PASSAGES, _UNITS):
            if match := pattern.fullmatch(alias):
                aliases.setdefault(match[1], []).append(alias)
                break
    names, reason = set(), None
    for name, own in aliases.items():
        try:
            _search_none(client, own, {**params, "allow_partial_search_results": "false"})
            names.add(name)
        except EngineDownError:
            raise
        except EngineError as error:
            reason = reason or str(error)
    return names, reason


def _search_none(client: OpenSearch, aliases: list[str], params: Mapping[str, Any]) -> None:
    body = {"size": 0, "track_total_hits": False, "terminate_after": 1}
    with engine_errors(f"search {aliases[0]}"):
        client.search(index=",".join(aliases), body=body, params=dict(params))


def check_writable(client: OpenSearch, *, timeout_s: float) -> None:
    """
    Raise EngineError where the whole engine takes no new index.

    A user who may not read its blocks is assumed to be allowed to write: a write will show.
    """
    with engine_errors("ask whether the engine takes writes"):
        try:
            answer = client.cluster.state(metric="blocks", params={"request_timeout": timeout_s})
        except AuthorizationException:
            return
    blocks = answer.get("blocks", {}).get("global", {}).values()
    for block in blocks:
        if not {"write", "metadata_write", "create_index"}.isdisjoint(block["levels"]):
            raise EngineError(with_advice(f"the engine takes no writes: {block['description']}"))
