"""The change of an index by documents added and removed: these, and others' citation edges."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from ccrag.corpus.corpus import Corpus
from ccrag.corpus.edges import edge_changes
from ccrag.engine.client import Client
from ccrag.engine.stored import StoredDocument, linking_documents, sources, stored_documents
from ccrag.types import DocId, Document

BATCH = 1_000
Cites = tuple[DocId, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Documents added, changed and removed, and the effect on others."""

    added: frozenset[DocId]
    changed: dict[DocId, StoredDocument]
    removed: dict[DocId, StoredDocument]
    touched: dict[DocId, StoredDocument]
    """Other documents whose edges, links or citations change, as they were."""
    unchanged: int
    edges: dict[DocId, int]
    """The difference in the number of edges, where it changes."""
    cites: dict[DocId, tuple[DocId, ...]]
    """Citations from tables, of documents added, changed and touched that have any."""

    @property
    def upserted(self) -> frozenset[DocId]:
        """Return the documents that are chunked anew."""
        return self.added | self.changed.keys()

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed or self.touched)

    def edges_of(self, doc_id: DocId) -> int:
        """Return the edges that touch an added, changed or touched document from now on."""
        known = self.changed.get(doc_id) or self.touched.get(doc_id)
        return (known.edges if known else 0) + self.edges.get(doc_id, 0)


def find_change(
    client: Client, index: str, *, given: Corpus | None, removed: Collection[DocId]
) -> Change:
    """
    Compare what an index of documents holds with what it is to hold; nothing is written.

    Args:
        given: documents that are to be in the index.
        removed: documents of the index that are to go.

    Raises:
        InputError: a given document cannot be used.
        EngineError: the engine failed.
    """
    added, changed, unchanged = set[DocId](), dict[DocId, StoredDocument](), 0
    cites: dict[DocId, Cites] = {}
    after: dict[DocId, frozenset[DocId]] = {}
    for document, digest, before in _given_documents(client, index, given):
        doc_id = document.doc_id
        cited = _cites(doc_id, before, given)
        if before and before.digest == digest and cited == before.cites:
            unchanged += 1
            continue
        if before is None:
            added.add(doc_id)
        else:
            changed[doc_id] = before
        cites[doc_id] = cited
        after[doc_id] = frozenset((*document.links, *cited))
    # Edges count only between documents of the collection: one that comes or goes changes the
    # number of edges of all that link to it, or that it links to.
    going = stored_documents(client, index, removed)
    others = linking_documents(client, index, added | going.keys())
    others |= set(given.citing() if given else ())
    linking = stored_documents(client, index, others - after.keys() - going.keys())
    for doc_id, before in linking.items():
        cites[doc_id] = tuple(c for c in _cites(doc_id, before, given) if c not in going)
        links = (link for link in before.links if link not in going)
        after[doc_id] = frozenset((*links, *cites[doc_id]))
    old = {**changed, **going, **linking}
    edges = _edge_changes(client, index, old, after, added=added, going=going)
    touched = {
        doc_id
        for doc_id, known in linking.items()
        if after[doc_id] != known.targets or cites[doc_id] != known.cites
    }
    touched |= edges.keys() - added - changed.keys() - going.keys()
    return Change(
        added=frozenset(added),
        changed=changed,
        removed=going,
        touched=stored_documents(client, index, touched),
        unchanged=unchanged,
        edges=edges,
        cites=cites,
    )


def _edge_changes(
    client: Client,
    index: str,
    old: dict[DocId, StoredDocument],
    after: dict[DocId, frozenset[DocId]],
    *,
    added: set[DocId],
    going: Collection[DocId],
) -> dict[DocId, int]:
    targets = {doc_id: known.targets for doc_id, known in old.items()}
    named = old.keys() | set[DocId]().union(*targets.values(), *after.values())
    held = {doc_id for doc_id, _ in sources(client, index, named, [])}
    return edge_changes(
        targets, after, known_before=held, known_after=(held | added).difference(going)
    )


def _given_documents(
    client: Client, index: str, given: Corpus | None
) -> Iterator[tuple[Document, str, StoredDocument | None]]:
    """Yield the given documents, each with its digest and the index's own entry, if it has one."""
    documents = given.digested() if given else iter(())
    while batch := list(islice(documents, BATCH)):
        stored = stored_documents(client, index, [document.doc_id for document, _ in batch])
        for document, digest in batch:
            yield document, digest, stored.get(document.doc_id)


def _cites(doc_id: DocId, before: StoredDocument | None, given: Corpus | None) -> Cites:
    """Return the documents one cites by tables: those of earlier commands and of this one."""
    now = given.cites(doc_id) if given else ()
    return tuple(sorted({*now, *(before.cites if before else ())}))
