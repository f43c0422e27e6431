"""
Units of a collection: documents, or parts of them, that are read together. Reads one grouping file;
else pure.

`make_units` looks at the whole collection first, and then gives every document's place in a unit.
Four groupings share one interface, `Units`. No text is held in memory.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from ccrag.corpus.faults import RecordError, RecordPlace, at
from ccrag.corpus.fields import as_ids, required_field
from ccrag.corpus.records import read_records
from ccrag.errors import InputError, InvariantError
from ccrag.text.sections import split_sections
from ccrag.text.tokens import TokenCounter
from ccrag.types import DocId, Document, Section, Unit, UnitId, UnitPart
from ccrag.units.groups import Group, LinkGraph
from ccrag.units.links import LinkFinder

UNITS_VERSION = 1
"""Part of an index's fingerprint: raise it when the same documents would give other units."""

ReadDocuments = Callable[[], Iterable[Document]]
"""Reads the collection, again at every call, in any order."""


@dataclass(frozen=True, slots=True)
class UnitRules:
    """All that units depend on, apart from the documents."""

    grouping: Literal["links", "document", "sections", "file"]
    max_tokens: int
    links: Literal["given", "found", "both"] = "both"
    versions_together: bool = False
    """Let versions of one document stand in one unit; readers then see which is which."""
    file: Path | None = None


class Units(Protocol):
    """A grouping of a collection."""

    def parts(self, document: Document) -> list[UnitPart]:
        """
        Return where `document` stands: its parts, which tile it, each in one unit; at least one.
        """
        ...


def make_units(documents: ReadDocuments, rules: UnitRules, count: TokenCounter) -> Units:
    """
    Group a collection by `rules`.

    Args:
        documents: read up to twice here.

    Raises:
        InputError: the grouping file is at fault, or names a document twice or versions together.
    """
    match rules.grouping:
        case "document":
            return OneByOne(count)
        case "sections":
            return BySections(count, max_tokens=rules.max_tokens)
        case "links":
            graph, finder = read_graph(documents, rules, count)
            return Grouped(graph.group(max_tokens=rules.max_tokens), rules, count, finder)
        case "file":
            groups = _from_file(documents, rules)
            finder = LinkFinder((d.doc_id, d.title) for d in documents())
            return Grouped(groups, rules, count, finder)


def read_graph(
    documents: ReadDocuments, rules: UnitRules, count: TokenCounter
) -> tuple[LinkGraph, LinkFinder]:
    """Return the links of a collection, and what found them: names first, then the texts."""
    finder = LinkFinder((document.doc_id, document.title) for document in documents())
    graph = LinkGraph()
    for document in documents():
        graph.add(
            document.doc_id,
            tokens=count(document.text),
            links=links_of(document, finder, rules),
            version_of=None if rules.versions_together else document.version_of,
        )
    return graph, finder


def links_of(document: Document, finder: LinkFinder, rules: UnitRules) -> list[DocId]:
    """Return the links that `rules` count."""
    return finder.links(document, given=rules.links != "found", found=rules.links != "given")


class OneByOne:
    """Every document is a unit."""

    def __init__(self, count: TokenCounter) -> None:
        self._count = count

    def parts(self, document: Document) -> list[UnitPart]:
        return [_part(document, 0, len(document.text), self._count)]


class BySections:
    """Runs of a document's sections up to the budget are units; a longer section is one."""

    def __init__(self, count: TokenCounter, *, max_tokens: int) -> None:
        self._count = count
        self._max_tokens = max_tokens

    def parts(self, document: Document) -> list[UnitPart]:
        sections = split_sections(document.text) or [Section((), 0, 0)]
        sizes = [self._count(document.text[s.start : s.end]) for s in sections]
        return [
            _part(document, sections[first].start, sections[last - 1].end, self._count)
            for first, last in _runs(sizes, self._max_tokens)
        ]


def _runs(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield consecutive half-open ranges whose sums stay below `most`, as long as possible."""
    first = total = 0
    for at_, size in enumerate(sizes):
        if at_ > first and total + size > most:
            yield first, at_
            first, total = at_, 0
        total += size
    yield first, len(sizes)


class Grouped:
    """Whole documents in groups; a document in none is a unit of its own."""

    def __init__(
        self, groups: Iterable[Group], rules: UnitRules, count: TokenCounter, finder: LinkFinder
    ) -> None:
        self._rules = rules
        self._count = count
        self._finder = finder
        self._places: dict[DocId, tuple[UnitId, int]] = {}
        for group in groups:
            unit_id = make_unit_id(group)
            self._places.update({doc: (unit_id, at_) for at_, doc in enumerate(group)})

    def parts(self, document: Document) -> list[UnitPart]:
        alone = _part(document, 0, len(document.text), self._count)
        links = tuple(links_of(document, self._finder, self._rules))
        unit_id, ordinal = self._places.get(document.doc_id, (make_unit_id([document.doc_id]), 0))
        return [replace(alone, unit_id=unit_id, ordinal=ordinal, links=links)]


def _part(document: Document, start: int, end: int, count: TokenCounter) -> UnitPart:
    """Return a part that is a unit of its own."""
    whole = (start, end) == (0, len(document.text))
    name = document.doc_id if whole else f"{document.doc_id}:{start}:{end}"
    return UnitPart(
        unit_id=make_unit_id([name]),
        doc_id=document.doc_id,
        ordinal=0,
        start=start,
        end=end,
        tokens=count(document.text[start:end]),
        title=document.title,
        date=document.date,
        version_of=document.version_of,
        version=document.version,
    )


def make_unit_id(names: Iterable[str]) -> UnitId:
    """
    Return `u` and 12 hex digits of the members' names in any order: says nothing of its members.
    """
    content = "\n".join(sorted(names)).encode("utf-8", "surrogatepass")
    return f"u{hashlib.blake2b(content, digest_size=6).hexdigest()}"


def units_of(parts: Iterable[UnitPart]) -> list[Unit]:
    """Return parts put together to units, in order of their first ids; parts in reading order."""
    by_unit: defaultdict[UnitId, list[UnitPart]] = defaultdict(list)
    for part in parts:
        by_unit[part.unit_id].append(part)
    units = [
        Unit(unit_id, tuple(sorted(held, key=lambda p: (p.ordinal, p.doc_id, p.start))))
        for unit_id, held in by_unit.items()
    ]
    return sorted(units, key=lambda unit: min((part.doc_id, part.start) for part in unit.parts))


def regroup(parts: Sequence[UnitPart], *, max_tokens: int, versions_together: bool) -> list[Unit]:
    """
    Group whole documents anew, by the links among them alone.

    Args:
        parts: one per document, its `links` among what may be read.
    """
    graph = LinkGraph()
    by_id = {part.doc_id: part for part in parts}
    for part in parts:
        version_of = None if versions_together else part.version_of
        graph.add(part.doc_id, tokens=part.tokens, links=part.links, version_of=version_of)
    return units_of(
        replace(by_id[doc_id], unit_id=make_unit_id(group), ordinal=ordinal)
        for group in graph.group(max_tokens=max_tokens)
        for ordinal, doc_id in enumerate(group)
    )


def _from_file(documents: ReadDocuments, rules: UnitRules) -> list[Group]:
    """Return the groups of the grouping file, checked against the collection."""
    if rules.file is None:
        raise InvariantError("a grouping file is not named")
    versions = {d.doc_id: d.version_of for d in documents()}
    groups: list[Group] = []
    seen: set[DocId] = set()
    for place, doc_ids in read_groups(rules.file):
        for doc_id in doc_ids:
            if doc_id not in versions:
                raise at(place, InputError(f"document {doc_id!r} is not in the collection"))
            if doc_id in seen:
                raise at(place, InputError(f"document {doc_id!r} is in two units"))
            seen.add(doc_id)
        named = [versions[doc_id] for doc_id in doc_ids if versions[doc_id] is not None]
        if len(set(named)) < len(named) and not rules.versions_together:
            problem = (
                "holds two versions of one document; separate them, or set units.versions=marked"
            )
            raise at(place, InputError(problem))
        groups.append(doc_ids)
    return groups


def file_digest(path: Path) -> str:
    """
    Return 16 hex digits over a grouping file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def read_groups(path: Path) -> Iterator[tuple[RecordPlace, Group]]:
    """
    Yield the groups of a file: one record a unit, its `doc_ids` in reading order.

    Raises:
        InputError: a record without a list of ids, or that cannot be read.
    """
    for number, fields in read_records(path):
        place = RecordPlace(path, number)
        if isinstance(fields, RecordError):
            raise at(place, fields)
        try:
            name, value = required_field(fields, ("doc_ids",), what="list of documents")
            yield place, as_ids(value, field=name, in_cell=isinstance(value, str))
        except RecordError as error:
            raise at(place, error) from error
