"""
Links between documents: given in the data, or found in their texts. Pure: no I/O, no settings.

Found are Markdown links, HTML links and `[[wiki links]]` whose target is a document's id, file name
or title, and references in words: "see section The try statement".
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from ccrag.types import DocId, Document

MAX_TITLE_WORDS = 12
"""Longer titles are found by links only, not in running text."""

_TARGET = re.compile(
    r"\]\(\s*<?(?P<markdown>[^)\s>]+)"
    r"|<a\s[^>]*?href\s*=\s*[\"']?(?P<html>[^\"'\s>]+)"
    r"|\[\[(?P<wiki>[^\]|#\n]+)"
    r"|^\s{0,3}\[[^\]\n]+\]:\s*<?(?P<defined>[^\s>]+)",
    re.IGNORECASE | re.MULTILINE,
)
_CUE = re.compile(
    r"\b(?:see(?:\s+also)?|refer(?:s|red)?\s+to|described\s+in|explained\s+in|cf\.?)\s+",
    re.IGNORECASE,
)
_BEFORE_TITLE = re.compile(
    r"(?:the|our|its|section|chapter|document|page|article|topic|part)\s+", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_PAGE_ENDING = re.compile(r"\.(?:md|markdown|html?|txt|rst)$", re.IGNORECASE)
_MARKS = "\"'“”‘’*_`([ \n"
_REACH = 160
"""Characters behind a cue in which a title may stand."""


class LinkFinder:
    """Knows the documents of a collection by their names; build it before reading texts."""

    def __init__(self, documents: Iterable[tuple[DocId, str]]) -> None:
        """
        Learn ids and titles.

        A name that two documents bear leads to neither; an id always leads to its document.
        """
        self._ids: set[DocId] = set()
        self._by_name: dict[str, DocId | None] = {}
        self._by_title: dict[tuple[str, ...], DocId | None] = {}
        self._short: dict[DocId, str] = {}
        """Titles of one word, as they are written."""
        for doc_id, title in documents:
            self._learn(doc_id, title)

    def _learn(self, doc_id: DocId, title: str) -> None:
        self._ids.add(doc_id)
        for name in {_file_name(doc_id), title.strip().casefold()} - {""}:
            self._by_name[name] = None if name in self._by_name else doc_id
        words = tuple(match[0].casefold() for match in _WORD.finditer(title))
        if 0 < len(words) <= MAX_TITLE_WORDS:
            self._by_title[words] = None if words in self._by_title else doc_id
        if len(words) == 1:
            self._short[doc_id] = title.strip(_MARKS)

    def links(self, document: Document, *, given: bool = True, found: bool = True) -> list[DocId]:
        """
        Return the documents that `document` leads to, each once, in order of mention, never itself.
        """
        targets: dict[DocId, None] = {}
        if given:
            targets |= dict.fromkeys(link for link in document.links if link in self._ids)
        if found:
            targets |= dict.fromkeys(self._linked(document.text))
            targets |= dict.fromkeys(self._named(document.text))
        targets.pop(document.doc_id, None)
        return list(targets)

    def _linked(self, text: str) -> Iterator[DocId]:
        if "](" not in text and "<a" not in text.lower() and "[[" not in text and "]:" not in text:
            return
        for match in _TARGET.finditer(text):
            address = match[match.lastgroup or 0]
            place = unquote(re.split(r"[#?]", address, maxsplit=1)[0]).strip()
            if place in self._ids:
                yield place
            # An address may also name a document by its file name or its title.
            elif target := self._by_name.get(_file_name(place)) or self._by_name.get(
                place.casefold()
            ):
                yield target

    def _named(self, text: str) -> Iterator[DocId]:
        """Yield documents whose title stands behind "see", "described in" and the like."""
        for cue in _CUE.finditer(text):
            start, found = cue.end(), self._title_at(text, cue.end())
            while found is None and (lead := _BEFORE_TITLE.match(text, start)):
                start, found = lead.end(), self._title_at(text, lead.end())
            if found is not None:
                yield found

    def _title_at(self, text: str, start: int) -> DocId | None:
        """Return the document with the longest title that begins at `start`."""
        behind = list(_WORD.finditer(text, start, start + _REACH))[:MAX_TITLE_WORDS]
        if not behind or text[start : behind[0].start()].strip(_MARKS):
            return None
        spelled = tuple(match[0].casefold() for match in behind)
        for length in range(len(behind), 0, -1):
            doc_id = self._by_title.get(spelled[:length])
            if doc_id is not None and (length > 1 or behind[0][0] == self._short[doc_id]):
                return doc_id
        return None


def _file_name(place: str) -> str:
    """Return the last part of a path, without the ending of a page."""
    return _PAGE_ENDING.sub("", place.rstrip("/").rsplit("/", 1)[-1]).casefold()
