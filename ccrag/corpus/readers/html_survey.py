"""
The text of a page, and the parts of it that are left out on purpose: navigation, controls, what is
hidden. Counted here from the tree alone, apart from how the text is written. Pure.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ccrag.corpus.readers.html_tokens import BLOCKS, HEADINGS, SPACED, HtmlTag, Token, tag_at
from ccrag.corpus.readers.page import Loss
from ccrag.text.words import passage_words

MIN_OUTSIDE_SHARE = 0.25
"""Text outside the main part is read as well from this share of the main part's characters on."""
MIN_LINKED = 0.5
"""Share of a list's or menu's characters that are links where it only leads elsewhere."""
MAX_NAV_CHARS = 300
"""Characters outside links from which on a navigation part with few links is read as text."""
MIN_CHARS = 300
"""Characters that hidden text or text outside the main part must have to be read at all."""
_LAYOUT = frozenset(("table", "pre"))
_LAYOUT_WITHOUT_HEADS = frozenset(("h1", "h2", "h3", "ul", "ol", "dl"))
_SOFT_HYPHEN = "\u00ad"


@dataclass(slots=True)
class _Part:
    """An element that may be left out, or decides how others are read."""

    tag: HtmlTag
    start: int
    """The place of its first tag among the tokens."""
    chars: int
    linked: int
    headings: int
    end: int = 0
    """The place of its last tag."""
    layout: bool = False
    heads: bool = False
    lists: bool = False


@dataclass(slots=True)
class Survey:
    """The plan for writing a page: what is read and what is left out; places are those of tags."""

    left_out: dict[int, int] = field(default_factory=dict)
    """Place of an element's first tag → that of its last, for all that is not read."""
    layout_tables: set[int] = field(default_factory=set)
    asides: set[int] = field(default_factory=set)
    """Parts whose headings open no section."""
    roots: list[tuple[int, int]] = field(default_factory=list)
    """The parts that are read, from tag to tag: the main part, or the whole page."""
    words: int = 0
    """Words a person sees, with those that are left out on purpose."""
    losses: tuple[Loss, ...] = ()


def survey(tokens: Sequence[Token]) -> Survey:
    """Return what a page shows and which of it is read."""
    seen = _PageSurvey()
    for token in tokens:
        if isinstance(token, str):
            seen.text(token)
        elif isinstance(token, HtmlTag):
            seen.begin(token)
        else:
            seen.end(tag_at(tokens, token), token)
    return _decided(seen)


class _PageSurvey:
    """One look at a page: all its text, and the parts that matter."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """One a token: its text, or what separates the words around a tag."""
        self.parts: list[_Part] = []
        self._open: list[_Part] = []
        self._tables: list[_Part] = []
        self._chars = 0
        self._linked = 0
        self._headings = 0
        self._links = 0

    @property
    def chars(self) -> int:
        """Return the number of characters so far."""
        return self._chars

    def text(self, text: str) -> None:
        """See a text."""
        self.texts.append(text)
        if not text.isspace():
            self._chars += len(text)
            if self._links:
                self._linked += len(text)

    def begin(self, tag: HtmlTag) -> None:
        """See the tag that begins an element."""
        name = tag.name
        if self._tables:
            self._see_in_table(name)
        if name in HEADINGS:
            self._headings += 1
        if tag.kind == "link":
            self._links += 1
        elif tag.kind or name == "table":
            place = len(self.texts)
            part = _Part(tag, place, self._chars, self._linked, self._headings)
            self._open.append(part)
            self.parts.append(part)
            if name == "table":
                self._tables.append(part)
        if name in ("img", "math"):
            alternative = tag.element.get("alt" if name == "img" else "alttext", "")
            self.texts.append(f" {alternative} ")
        else:
            self.texts.append(" " if name in BLOCKS or name in SPACED else "")

    def _see_in_table(self, name: str) -> None:
        table = self._tables[-1]
        table.layout |= name in _LAYOUT
        table.lists |= name in _LAYOUT_WITHOUT_HEADS
        table.heads |= name == "th"

    def end(self, tag: HtmlTag, start: int) -> None:
        """See the end of an element whose tag is at a place."""
        if tag.kind == "link":
            self._links -= 1
        elif self._open and self._open[-1].start == start:
            part = self._open.pop()
            part.end = len(self.texts)
            part.chars = self._chars - part.chars
            part.linked = self._linked - part.linked
            part.headings = self._headings - part.headings
            if tag.name == "table":
                self._tables.pop()
        self.texts.append(" " if tag.name in BLOCKS or tag.name in SPACED else "")


def _decided(seen: _PageSurvey) -> Survey:
    """Return the plan for a page from all its parts."""
    out = _read_if_alone(seen, [part for part in seen.parts if _goes(part, seen.texts)])
    shown = _outermost(out)
    mains, words = _mains(seen, shown), _words(seen.texts)
    return Survey(
        left_out={part.start: part.end for part in shown},
        layout_tables={
            part.start for part in seen.parts
            if part.tag.name == "table" and (part.layout or (part.lists and not part.heads))
        },
        asides={
            part.start for part in seen.parts
            if part.tag.kind in ("aside", "menu", "table of contents")
            and not (part.headings > 2 and 2 * part.chars > seen.chars)
        },
        roots=[(part.start, part.end) for part in mains] or [(0, len(seen.texts) - 1)],
        words=words,
        losses=tuple(_losses(seen, words, mains, shown)),
    )  # fmt: skip


def _read_if_alone(seen: _PageSurvey, out: list[_Part]) -> list[_Part]:
    """
    Return the parts of `out` that are left out although the page has not much else.

    A table of contents stays if it is most of it; so does what is hidden, as in a page that a
    script unfolds; and all stays of a page that has nothing else.
    """
    shown = _outermost(out)
    rest = seen.chars - sum(part.chars for part in shown)
    for kind, least in (("table of contents", 0), ("hidden", MIN_CHARS)):
        if sum(part.chars for part in shown if part.tag.kind == kind) > max(rest, least):
            out = [part for part in out if part.tag.kind != kind]
            shown = _outermost(out)
            rest = seen.chars - sum(part.chars for part in shown)
    return out if any(map(str.strip, _rest(seen.texts, shown, 0, len(seen.texts)))) else []


def _goes(part: _Part, text: list[str]) -> bool:
    """Tell whether a part is left out for its contents."""
    match part.tag.kind:
        case "" | "main" | "article":
            return False
        case "permalinks":
            words = "".join(text[part.start : part.end]) if part.chars <= 9 else "text"
            return not any(map(str.isalnum, words))
        case "navigation":
            bare = part.chars - part.linked
            return bare <= MAX_NAV_CHARS or part.linked > MIN_LINKED * part.chars
        case "menu" | "table of contents":
            return part.chars > 0 and part.linked > MIN_LINKED * part.chars
        case "aside":
            return _leads_elsewhere(part)
        case _:
            return True


def _leads_elsewhere(part: _Part) -> bool:
    """Tell whether an `<aside>` is a list of links; a footnote may be one link."""
    return (
        part.tag.name == "aside"
        and not part.tag.element.get("role", "").startswith("doc-")
        and "footnote" not in part.tag.element.get("class", "")
        and part.chars >= 60
        and part.linked > 0.8 * part.chars
    )


def _outermost(parts: list[_Part]) -> list[_Part]:
    """Return the parts that lie in no other of them, in the order of the page."""
    outer: list[_Part] = []
    for part in sorted(parts, key=attrgetter("start")):
        if not outer or part.start >= outer[-1].end:
            outer.append(part)
    return outer


def _rest(text: list[str], out: list[_Part], start: int, end: int) -> list[str]:
    """Return the texts between two places, without those of parts that go."""
    texts: list[str] = []
    at = start
    for nth in range(bisect_right(out, start, key=attrgetter("end")), len(out)):
        part = out[nth]
        if part.start >= end:
            break
        texts += text[at : max(part.start, at)]
        at = max(at, part.end)
    return [*texts, *text[at:end]]


def _words(texts: Iterable[str]) -> int:
    return passage_words("".join(texts).replace(_SOFT_HYPHEN, ""))


def _mains(seen: _PageSurvey, shown: list[_Part]) -> list[_Part]:
    """
    Return the parts that a page marks as its main ones, unless much text is outside them.

    Several `<article>`s without a `<main>` are a list whose heading belongs to it: no main part.
    """
    mains = _outermost([part for part in seen.parts if part.tag.kind == "main"])
    if not mains:
        mains = _outermost([part for part in seen.parts if part.tag.kind == "article"])
        mains = mains if len(mains) == 1 else []
    mains = [part for part in mains if not _covered(part, shown)]
    if not mains:
        return []
    within = [part for part in shown if _covered(part, mains)]
    inside = sum(part.chars for part in mains) - sum(part.chars for part in within)
    outside = seen.chars - sum(part.chars for part in shown) - inside
    much = outside >= MIN_CHARS and outside >= MIN_OUTSIDE_SHARE * inside
    return [] if much or inside <= 0 else mains


def _covered(part: _Part, out: list[_Part]) -> bool:
    """Tell whether a part lies in one of `out`, which do not overlap."""
    before = bisect_right(out, part.start, key=attrgetter("start"))
    return before > 0 and part.end <= out[before - 1].end


def _losses(
    seen: _PageSurvey, words: int, mains: list[_Part], shown: list[_Part]
) -> Iterator[Loss]:
    """Return what is left out on purpose, by kind; words of the main part's surroundings last."""
    counts: Counter[str] = Counter()
    for part in shown:
        kind = "navigation" if part.tag.kind in ("menu", "aside") else part.tag.kind
        counts[kind] += _words(seen.texts[part.start : part.end])
    if mains:
        inside = sum(_words(_rest(seen.texts, shown, part.start, part.end)) for part in mains)
        counts["outside the main part"] = words - inside - counts.total()
    for kind, count in counts.items():
        if count > 0:
            yield Loss(kind, count, "words", intended=True)
