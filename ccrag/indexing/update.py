"""
Changing an index: documents that come, change or go, under every index spec it was built by.

The outcome is that of building anew from the same documents: the same passages, statistics, edges
and fingerprints. The cost is that of the change, but for units: which documents are read together
depends on all of them, so units are made anew from the stored documents.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from ccrag.concurrency import all_at_once, prefetched
from ccrag.config import Settings
from ccrag.corpus.corpus import Corpus
from ccrag.corpus.digests import changed_digest, document_digest, document_weight, edges_weight
from ccrag.engine.build import (
    BuildPlan,
    ChunkedDocument,
    Target,
    create_index,
    document_action,
    finish_index,
    part_actions,
    passage_actions,
)
from ccrag.engine.bulk import write
from ccrag.engine.client import Client
from ccrag.engine.derive import derive, switch
from ccrag.engine.index import count_items, parse_document
from ccrag.engine.stored import (
    Stored,
    count_collections,
    items,
    items_of,
    sources,
)
from ccrag.errors import IndexMismatchError
from ccrag.indexing.builds import ExistingBuilds, PassageBuild, UnitBuild, made_by_another_version
from ccrag.indexing.changes import find_change
from ccrag.indexing.passages import EncodingCounts, chunked_documents
from ccrag.types import JSON, DocId, Document
from ccrag.units.units import make_units
from ccrag.version import __version__

OnDocuments = Callable[[int, int], None]
"""Called with the documents chunked (and encoded) so far, and with how many there are."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """Counts of an update."""

    documents: int
    """Documents in the index now."""
    added: int
    changed: int
    unchanged: int
    removed: int
    touched: int
    """Other documents whose citation edges or links changed."""
    items: dict[str, int]
    """Items an index holds more (or fewer, below 0) than before, by alias."""
    changed_ids: tuple[DocId, ...] = ()
    """Which documents changed, sorted."""
    dropped: tuple[str, ...] = ()
    """Aliases that could not be updated and were dropped."""


class Update:
    """One change of all indices that serve a name; nothing is written before `run`."""

    def __init__(
        self,
        client: Client,
        name: str,
        stored: Sequence[Stored],
        settings: Settings,
        *,
        given: Corpus | None = None,
        removed: Collection[DocId] = (),
    ) -> None:
        """
        Find out what changes.

        Args:
            stored: what serves, documents first; let through by `check_stored`.
            given: documents that are to be in the index.
            removed: ids of documents in the index that are to go.

        Raises:
            InputError: a given document cannot be used.
        """
        self._client, self._name, self._stored, self._settings = client, name, stored, settings
        self._documents = stored[0]
        self._given = given
        self._change = find_change(client, self._documents.index, given=given, removed=removed)

    def run(
        self, builds: ExistingBuilds, counts: EncodingCounts, on_progress: OnDocuments
    ) -> UpdateReport:
        """
        Write the change to copies of all indices and let them serve.

        Args:
            builds: how each index was built.

        Raises:
            EngineError: a request failed; what served before still does.
        """
        change = self._change
        report = UpdateReport(
            documents=self._documents.meta["documents"] + len(change.added) - len(change.removed),
            added=len(change.added),
            changed=len(change.changed),
            changed_ids=tuple(sorted(change.changed)),
            unchanged=change.unchanged,
            removed=len(change.removed),
            touched=len(change.touched),
            items={},
            dropped=tuple(item.alias for item in builds.dropped),
        )
        if change.is_empty:
            return report
        new_sources = self._touched_sources()
        corpus = self._corpus(new_sources)
        names = {item.alias: f"{item.alias}-{item.fingerprint(corpus)}" for item in self._stored}
        documents = names[self._documents.alias]
        deltas: dict[str, int] = {self._documents.alias: 0}

        def derive_documents() -> None:
            grown = self._derive_documents(documents, new_sources)
            deltas[self._documents.alias] = grown

        def derive_passages() -> None:
            for item in self._stored:
                if item.kind == "passages":
                    build = builds.passages[item.alias]
                    grown = self._derive_passages(
                        item, names[item.alias], build, counts, on_progress
                    )
                    deltas[item.alias] = grown

        # A small change mostly waits for the engine to set copies up: both wait at once.
        all_at_once(lambda work: work(), [derive_documents, derive_passages])
        # Units are made of the documents as they are stored now, so they come last.
        meta = self._meta(corpus, documents)
        for item, build in builds.units:
            deltas[item.alias] = self._make_units(item, names[item.alias], build, documents, meta)
        updated = [item for item in self._stored if item not in builds.dropped]
        derived = [
            (
                item,
                names[item.alias],
                {**item.meta, **meta, "fingerprint": item.fingerprint(corpus)},
            )
            for item in updated
        ]
        switch(self._client, derived, builds.dropped, self._settings.engine)
        return replace(report, items=deltas)

    def _touched_sources(self) -> dict[DocId, JSON]:
        """
        Return the stored fields of touched documents as they become; links to what goes end here.
        """
        change, index = self._change, self._documents.index
        found: dict[DocId, JSON] = {}
        for doc_id, source in sources(self._client, index, change.touched):
            links = [link for link in source["links"] if link not in change.removed]
            if len(links) < len(source["links"]):
                source["links"] = links
                source["digest"] = document_digest(parse_document(doc_id, source))
            if doc_id in change.cites:
                source["cites"] = list(change.cites[doc_id])
            source["edges"] = change.edges_of(doc_id)
            found[doc_id] = source
        return found

    def _corpus(self, touched: dict[DocId, JSON]) -> str:
        """Return the digest of the collection as it becomes."""
        change = self._change
        gone = [
            document_weight(known.digest) + edges_weight(doc_id, known.edges, known.cites)
            for known_by_id in (change.changed, change.removed, change.touched)
            for doc_id, known in known_by_id.items()
        ]
        come = [
            document_weight(source["digest"])
            + edges_weight(doc_id, source["edges"], source["cites"])
            for doc_id, source in touched.items()
        ]
        for item in self._upserted():
            come.append(document_weight(item.digest))
            come.append(edges_weight(item.document.doc_id, item.edges, item.cites))
        return changed_digest(self._documents.meta["corpus"], gone=gone, come=come)

    def _upserted(self) -> Iterator[ChunkedDocument]:
        """Yield the given documents that are new or changed, read again, without passages."""
        change = self._change
        wanted = change.upserted
        for document, digest in self._given.digested() if self._given and wanted else ():
            doc_id = document.doc_id
            if doc_id in wanted:
                edges, cites = change.edges_of(doc_id), change.cites[doc_id]
                yield ChunkedDocument(document, edges, cites=cites, digest=digest)

    def _derive_documents(self, target: str, touched: dict[DocId, JSON]) -> int:
        change = self._change

        def actions() -> Iterator[JSON]:
            for doc_id in change.removed:
                yield {"_op_type": "delete", "_id": doc_id}
            for doc_id, source in touched.items():
                yield {"_op_type": "index", "_id": doc_id, **source}
            for item in self._upserted():
                yield _stored_as(document_action(item, ""), change.changed)

        rewrites = bool(change.removed or touched or change.changed)
        return self._derived(self._documents, target, actions(), rewrites=rewrites)

    def _derive_passages(
        self,
        item: Stored,
        target: str,
        build: PassageBuild,
        counts: EncodingCounts,
        on_progress: OnDocuments,
    ) -> int:
        change, client = self._change, self._client
        replaced = [*change.changed, *change.removed]
        old = {
            hit["_id"]
            for hit in items_of(client, item.index, replaced, ["doc_id"], by="passage_id")
        }
        recounted = [doc_id for doc_id in change.touched if change.edges.get(doc_id)]

        def chunked() -> Iterable[ChunkedDocument]:
            if not change.upserted:
                return ()  # a deletion has no encoder, and needs none
            return chunked_documents(
                self._upserted(),
                build.chunking,
                build.encoder,
                with_vectors=item.spec.vectors is not None,
                counts=counts,
            )

        def actions() -> Iterator[JSON]:
            gone = set(old)
            for hit in items_of(client, item.index, recounted, True, by="passage_id"):
                edges = change.edges_of(hit["_source"]["doc_id"])
                yield {"_op_type": "index", "_id": hit["_id"], **hit["_source"], "edges": edges}
            for number, done in enumerate(chunked(), start=1):
                for action in passage_actions(done, ""):
                    gone.discard(action["_id"])
                    yield _stored_as(action, old)
                on_progress(number, len(change.upserted))
            for passage_id in sorted(gone):
                yield {"_op_type": "delete", "_id": passage_id}

        with closing(prefetched(actions(), depth=512)) as ahead:
            return self._derived(item, target, ahead, rewrites=bool(old or recounted))

    def _derived(
        self, item: Stored, target: str, actions: Iterable[JSON], *, rewrites: bool
    ) -> int:
        """Write the actions to a copy of an index; returns how many items it grew by."""
        done = derive(self._client, item, target, actions, self._settings.engine, rewrites=rewrites)
        return done.created - done.deleted

    def _make_units(
        self, item: Stored, target: str, build: UnitBuild, documents: str, meta: JSON
    ) -> int:
        """Group the documents anew, as they are stored from now on."""
        client, engine = self._client, self._settings.engine

        def read() -> Iterator[Document]:
            for hit in items(client, documents, True, by="doc_id"):
                yield parse_document(hit["_id"], hit["_source"])

        units = make_units(read, build.rules, build.count)
        plan = BuildPlan(
            name=self._name,
            corpus=meta["corpus"],
            documents=meta["documents"],
            max_edges=meta["max_edges"],
            spec=replace(build.spec, units=item.units),
            collections=meta["collections"],
        )
        named = target.rpartition("-")[2]
        create_index(client, Target("units", item.alias, named), plan, engine)
        actions = (
            action
            for document in read()
            for action in part_actions(
                ChunkedDocument(document, 0, parts=units.parts(document)), target
            )
        )
        with closing(prefetched(actions, depth=512)) as ahead:
            counts = write(client, ahead, engine)
        written = counts[target].written if target in counts else 0
        finish_index(client, target, written, engine)
        return written - count_items(client, item.index)

    def _meta(self, corpus: str, documents: str) -> JSON:
        """Return what every index says of the collection, read off the new documents."""
        count, max_edges, collections = count_collections(self._client, documents)
        return {
            "corpus": corpus,
            "built_by": __version__,
            "documents": count,
            "max_edges": max_edges,
            "collections": dict(collections),
        }


def _stored_as(action: JSON, held: Collection[str]) -> JSON:
    """Return an action that creates an item, or replaces it where it is held."""
    return {**action, "_op_type": "index"} if action["_id"] in held else action


def check_stored(name: str, stored: Sequence[Stored]) -> None:
    """
    Let only indices pass that can be changed: of this version, and all of the same documents.

    Raises:
        IndexMismatchError: one of them is not.
    """
    for item in stored:
        if not item.is_current:
            raise made_by_another_version(name, item)
        if item.meta["corpus"] != stored[0].meta["corpus"]:
            raise IndexMismatchError(
                f"index {name!r}: {item.alias} was made of other documents than are stored; "
                f"build it anew: ccrag index PATH... --index {name} --replace"
            )
