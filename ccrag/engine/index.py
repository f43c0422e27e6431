"""Reading a built index: rankings, passages, documents. Nothing here writes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opensearchpy import NotFoundError, OpenSearch

from ccrag.config import EngineSettings
from ccrag.engine import bodies, hits
from ccrag.engine.client import engine_errors
from ccrag.engine.indexes import ListedPage, find_documents
from ccrag.engine.names import (
    IndexSpec,
    UnitSpec,
    documents_alias,
    fingerprint,
    passages_alias,
    units_alias,
)
from ccrag.engine.pages import PAGE, all_pages
from ccrag.engine.search import Slot, msearch
from ccrag.engine.stored import sources as stored_sources
from ccrag.errors import EngineError, IndexMismatchError, IndexMissingError, InputError
from ccrag.types import JSON, Candidates, DocId, Document, Passage, PassageId, Query, UnitPart

IDS_PER_REQUEST = 5_000


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The facts that a complete index states about itself."""

    name: str
    """The collection's name, as in `--index NAME`."""
    passages_index: str
    """The concrete index that answered at opening; searches stay on it, even if the alias moves."""
    documents_index: str
    corpus: str
    """Fingerprint of the documents."""
    documents: int
    passages: int
    max_edges: int
    shards: int
    spec: IndexSpec
    """With the encoder's identity, if one was used."""
    collections: Mapping[str, int] = field(default_factory=dict)
    """Documents per named collection, by name."""
    units_index: str | None = None
    """The concrete index of units, where the index spec reads them."""
    served_by: str | None = None
    """The index spec whose index, with vectors, serves this one; None: its own."""

    @property
    def passages_id(self) -> str:
        """Return the name of the spec's own index of passages, whichever index serves them."""
        if self.served_by is None:
            return self.passages_index
        own = fingerprint("passages", self.corpus, self.spec)
        return f"{passages_alias(self.name, self.spec)}-{own}"


class Index:
    """
    One collection under one index spec.

    Open with `open_index`. All reads go to the concrete indices found at opening, so a rebuild in
    the meantime changes nothing for a run that has begun.
    """

    def __init__(self, client: OpenSearch, info: IndexInfo, settings: EngineSettings) -> None:
        self.info = info
        self._client = client
        self._settings = settings

    def search(self, search_bodies: Sequence[JSON]) -> list[Slot]:
        """
        Return one response or error per body, in order; what is read from it goes through `hits`.

        Raises:
            EngineError: the request as a whole failed.
        """
        return self._msearch(self.info.passages_index, search_bodies)

    def _msearch(self, index: str, search_bodies: Sequence[JSON]) -> list[Slot]:
        return msearch(
            self._client,
            index,
            search_bodies,
            max_searches=self._settings.msearch_max_searches,
            dfs=self.info.shards > 1,
        )

    def passages(self, ids: Iterable[PassageId]) -> dict[PassageId, Passage]:
        """
        Return passages by id, in one request however many queries they are for.

        Raises:
            EngineError: the request failed, or an id that was ranked a moment ago is gone.
        """
        # Sorted, so that the same ids make the same requests.
        wanted = sorted(set(ids))
        pages = [wanted[at : at + PAGE] for at in range(0, len(wanted), PAGE)]
        found: dict[PassageId, Passage] = {}
        for slot in self.search([bodies.ids_body(page) for page in pages]):
            if isinstance(slot, EngineError):
                raise slot
            for hit in slot["hits"]["hits"]:
                found[hit["_id"]] = hits.parse_passage(hit["_id"], hit["_source"])
        gone = [passage_id for passage_id in wanted if passage_id not in found]
        if gone:
            raise EngineError(f"passage {gone[0]!r} vanished from {self.info.passages_index}")
        return found

    def candidate_passages(self, query: Query, *, at_most: int | None = None) -> list[Passage]:
        """
        Return every passage of the query's candidates, or the first `at_most`, by passage id.

        Raises:
            EngineError: a page failed.
        """
        passages: list[Passage] = []
        after: str | None = None
        while True:
            size = PAGE if at_most is None else min(PAGE, at_most - len(passages))
            [slot] = self.search([bodies.passages_body(query.candidates, size=size, after=after)])
            if isinstance(slot, EngineError):
                raise slot
            page = hits.parse_passages(query, slot)
            passages += page
            if len(page) < size or len(passages) == at_most:
                return passages
            after = page[-1].passage_id

    def unit_parts(
        self, asked: Sequence[tuple[Query, bodies.IdFilter | None]]
    ) -> list[list[UnitPart] | EngineError]:
        """
        Return for each query the unit parts `among` its candidates, or all of theirs, by document.

        One msearch for all of them, and one more for each `PAGE` parts of the longest.

        Raises:
            EngineError: a request as a whole failed.
            IndexMismatchError: the index was opened without units.
        """
        if self.info.units_index is None:
            raise IndexMismatchError(f"index {self.info.name!r} was opened without its units")
        units_index = self.info.units_index

        def body_of(at: int, after: str | None) -> JSON:
            query, among = asked[at]
            return bodies.parts_body(query.candidates, size=PAGE, among=among, after=after)

        pages = all_pages(
            range(len(asked)), body_of, lambda wanted: self._msearch(units_index, wanted)
        )
        return [
            found if isinstance(found, EngineError) else hits.parse_parts(query, found)
            for (query, _), found in zip(asked, pages.values(), strict=True)
        ]

    def passages_of(
        self, asked: Sequence[tuple[Query, Sequence[DocId]]]
    ) -> list[list[Passage] | EngineError]:
        """
        Return for each query all passages of some of its candidates, by passage id.

        Raises:
            EngineError: a request as a whole failed.
        """

        def body_of(at: int, after: str | None) -> JSON:
            query, doc_ids = asked[at]
            return bodies.passages_of_body(doc_ids, query.candidates, size=PAGE, after=after)

        pages = all_pages(range(len(asked)), body_of, self.search)
        return [
            found
            if isinstance(found, EngineError)
            else [p for page in found for p in hits.parse_passages(query, page)]
            for (query, _), found in zip(asked, pages.values(), strict=True)
        ]

    def unknown(self, doc_ids: Iterable[DocId]) -> set[DocId]:
        """Return those of `doc_ids` the index does not hold."""
        return self._missing(self.info.documents_index, doc_ids)

    def unknown_passages(self, ids: Iterable[PassageId]) -> set[PassageId]:
        """Return those of `ids` the index does not hold: of other text or other chunking."""
        return self._missing(self.info.passages_index, ids)

    def _missing(self, index: str, ids: Iterable[str]) -> set[str]:
        found = self._get(index, ids, sources=False)
        return {name for name, source in found.items() if source is None}

    def documents(self, candidates: Candidates, doc_ids: Iterable[DocId]) -> dict[DocId, Document]:
        """
        Return documents by id, whole; ids the index does not hold are left out.

        Raises:
            InputError: an id is not among the candidates.
        """
        wanted = list(doc_ids)
        found = self._get(self.info.documents_index, wanted)
        for doc_id in wanted:
            # Closure: an id that is not a candidate is an error even where the index lacks it.
            collection = (found[doc_id] or {}).get("collection")
            if not candidates.admits(doc_id, collection=collection):
                raise InputError(f"document {doc_id!r} is not among the candidates")
        return {
            doc_id: parse_document(doc_id, source)
            for doc_id, source in found.items()
            if source is not None
        }

    def listed(self, candidates: Candidates, *, text: str, size: int) -> ListedPage:
        """
        Return the first `size` candidates by id; with a `text`, those whose title holds its words.

        Raises:
            EngineError: the request failed.
        """
        documents = self.info.documents_index
        return find_documents(self._client, documents, candidates, text=text, size=size)

    def _get(
        self, index: str, ids: Iterable[str], *, sources: bool = True
    ) -> dict[str, JSON | None]:
        """Return `_source` by `_id`, in the order of `ids`; None where the index has no such id."""
        found: dict[str, JSON | None] = dict.fromkeys(ids)
        fields: list[str] | None = None if sources else []
        read = stored_sources(self._client, index, found, fields, per_request=IDS_PER_REQUEST)
        found.update(read)
        return found


def open_index(
    client: OpenSearch, name: str, spec: IndexSpec, settings: EngineSettings, *, command: str
) -> Index:
    """
    Return the index a pipeline needs, checked against it.

    An index with vectors also serves a spec without vectors, if its passages are the same:
    where its own is not built or was made of other documents.

    Args:
        command: builds what is missing; for the message of an error.

    Raises:
        IndexMissingError: it has not been built; the message names what is, and the command.
        IndexMismatchError: it was built from other documents or settings than it should be.
    """
    documents_index, documents_meta = _resolve(client, documents_alias(name), command)
    passages_index, passages_meta = _serving(client, name, spec, documents_meta, command)
    served_by = None if passages_meta["recipe"] == spec.name else passages_meta["recipe"]
    if served_by is None or spec.needs_encoder:
        spec = replace(spec, encoder=spec.with_vectors_of(passages_meta).encoder)
    units_index = None
    if spec.units is not None:
        units = units_alias(name, spec.units)
        units_index, units_meta = _resolve(client, units, command, built=built_specs(client, name))
        _check_units(name, spec.units, units_meta, documents_meta, command)
    info = IndexInfo(
        name=name,
        passages_index=passages_index,
        documents_index=documents_index,
        corpus=passages_meta["corpus"],
        documents=passages_meta["documents"],
        passages=count_items(client, passages_index),
        max_edges=passages_meta["max_edges"],
        shards=_shards(client, passages_index),
        spec=spec,
        collections=dict(sorted(passages_meta.get("collections", {}).items())),
        units_index=units_index,
        served_by=served_by,
    )
    return Index(client, info, settings)


def _serving(
    client: OpenSearch, name: str, spec: IndexSpec, documents: Mapping[str, Any], command: str
) -> tuple[str, Mapping[str, Any]]:
    """
    Return the first index of passages that serves `spec` and fits the documents, and its `_meta`.
    """
    built = built_specs(client, name)
    found = spec.served_by(built)
    if not found:
        raise missing(passages_alias(name, spec), built, command)
    # Its own index comes first; another that serves it too may fit where that one does not.
    mismatch: IndexMismatchError | None = None
    for serving in found:
        alias = passages_alias(name, replace(spec, name=serving))
        index, meta = _resolve(client, alias, command)
        try:
            _check_meta(name, spec.with_vectors_of(meta), meta, documents, command)
        except IndexMismatchError as error:
            mismatch = mismatch or error
            continue
        return index, meta
    raise mismatch or missing(passages_alias(name, spec), built, command)


def built_specs(client: OpenSearch, name: str) -> list[str]:
    """Return the index specs and groupings built under `name`, as `ListedIndex.specs` has them."""
    prefix = f"ccrag-{name}-"
    with engine_errors(f"list what is built of {name}"):
        found = client.indices.get_alias(
            index=f"{prefix}*", params={"ignore_unavailable": "true", "allow_no_indices": "true"}
        )
    aliases = {alias for index in found.values() for alias in index["aliases"]}
    kinds = (("passages-", "passages-"), ("units-", ""))
    return sorted(
        alias.removeprefix(prefix + removed)
        for alias in aliases
        for kind, removed in kinds
        if alias.startswith(prefix + kind)
    )


def missing(
    alias: str, built: Sequence[str], command: str, *, serves: Sequence[str] = ()
) -> IndexMissingError:
    """
    Return the error that `alias` is not built.

    Args:
        built: what is built of the index; none: it does not exist.
        serves: the pipelines that this serves.
    """
    there = f" (built: {', '.join(built)}" if built else ""
    if built:
        there += f"; serves: {', '.join(serves)})" if serves else ")"
    return IndexMissingError(
        f"no index {alias}{there}; build it: {command}", alias=alias, built=built
    )


def _resolve(
    client: OpenSearch, alias: str, command: str, *, built: Sequence[str] = ()
) -> tuple[str, Mapping[str, Any]]:
    """Return the one concrete index behind `alias` and its `_meta`."""
    with engine_errors(f"open {alias}"):
        try:
            answer = client.indices.get_mapping(index=alias)
        except NotFoundError as error:
            raise missing(alias, built, command) from error
    if len(answer) != 1:
        raise IndexMismatchError(f"{alias} points to {len(answer)} indices; rebuild it: {command}")
    [(index, body)] = answer.items()
    return index, body["mappings"]["_meta"]


def _check_meta(
    name: str,
    spec: IndexSpec,
    passages: Mapping[str, Any],
    documents: Mapping[str, Any],
    command: str,
) -> None:
    if passages["corpus"] != documents["corpus"]:
        raise IndexMismatchError(
            f"index {name!r}: passages {spec.name} were made of other documents "
            f"({passages['corpus'][:8]}) than are stored ({documents['corpus'][:8]}); "
            f"run again: {command}"
        )
    expected = fingerprint("passages", passages["corpus"], spec)
    if passages["fingerprint"] != expected:
        raise IndexMismatchError(
            f"index {name!r}: passages {spec.name} have fingerprint {passages['fingerprint']}, "
            f"this version and pipeline need {expected}; run again: {command}"
        )


def _check_units(
    name: str,
    spec: UnitSpec,
    units: Mapping[str, Any],
    documents: Mapping[str, Any],
    command: str,
) -> None:
    if units["fingerprint"] != fingerprint("units", documents["corpus"], spec):
        raise IndexMismatchError(
            f"index {name!r}: its units {spec.name} were made of other documents, or by other "
            f"rules; run again: {command}"
        )


def count_items(client: OpenSearch, index: str) -> int:
    """Return how many items an index holds, as of its last refresh."""
    with engine_errors(f"count {index}"):
        return int(client.count(index=index)["count"])


def _shards(client: OpenSearch, index: str) -> int:
    with engine_errors(f"open {index}"):
        answer = client.indices.get_settings(index=index)
    return int(answer[index]["settings"]["index"]["number_of_shards"])


def parse_document(doc_id: DocId, source: Mapping[str, Any]) -> Document:
    """Return a document from its stored fields."""
    return Document(
        doc_id=doc_id,
        title=source["title"],
        text=source["text"],
        date=source.get("date"),
        links=tuple(source["links"]),
        text_source=source["text_source"],
        version_of=source.get("version_of"),
        version=source.get("version_name"),
        collection=source.get("collection"),
        pages=tuple(source["pages"]),
    )


def document_source(
    document: Document, *, edges: int, cites: Sequence[DocId] = (), digest: str = ""
) -> JSON:
    """
    Return the stored fields of a document; the reverse of `parse_document`.

    Args:
        cites: what a table of citations says it cites.
        digest: over all its fields, by which a change is found.
    """
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "text": document.text,
        "date": document.date,
        "links": document.links,
        "text_source": document.text_source,
        "collection": document.collection,
        "edges": edges,
        "pages": document.pages,
        "version_of": document.version_of,
        "version_name": document.version,  # the bulk client takes "version" for its own
        "cites": cites,
        "digest": digest,
    }
