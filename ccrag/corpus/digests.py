"""
Digests of documents and of collections. Pure: no I/O, no settings.

A collection's digest is the sum, modulo 2**128, of one number for each document: whatever their
order, and a document that comes, goes or changes alters it by its own number alone. So the digest
of a grown collection is known without reading what was there before.
"""

import hashlib
from collections.abc import Iterable

from ccrag.types import DocId, Document

_DIGEST_BYTES = 16
_MODULUS = 1 << 8 * _DIGEST_BYTES


def document_digest(document: Document) -> str:
    """Return 32 hex digits over a document with all its fields."""
    rest: tuple[object, ...] = (
        document.doc_id,
        document.title,
        document.date,
        document.links,
        document.text_source,
        document.collection,
        document.pages,
    )
    if document.version_of is not None or document.version is not None:
        rest = (*rest, document.version_of, document.version)
    return _digest(f"{rest!r}{document.text}".encode())


def document_weight(digest: str) -> int:
    """Return the number that a document, without its edges, adds to its collection's digest."""
    return int(digest, 16)


def edges_weight(doc_id: DocId, edges: int, cites: Iterable[DocId]) -> int:
    """
    Return the number that a document's citation edges add to the digest of its collection.

    Args:
        edges: how many edges between documents of the collection touch it.
        cites: documents that it cites by a table of citations, inside the collection or not.
    """
    cited = sorted(cites)
    return int(_digest(repr((doc_id, edges, cited)).encode()), 16) if edges or cited else 0


def collection_digest(weights: Iterable[int]) -> str:
    """Return the digest of a collection, 32 hex digits, from the weights of its documents."""
    return f"{sum(weights) % _MODULUS:032x}"


def changed_digest(before: str, *, gone: Iterable[int], come: Iterable[int]) -> str:
    """Return the digest of a collection that had `before` and lost and gained weights."""
    return collection_digest((int(before, 16), -sum(gone), *come))


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
