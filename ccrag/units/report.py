"""Figures about a grouping: how many units, how large, how many links stay inside. Pure."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ccrag.types import DocId, UnitId, UnitPart

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


class UnitReport:
    """Figures about the parts of a collection, added one document at a time; holds no texts."""

    def __init__(self, *, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._tokens: Counter[UnitId] = Counter()
        self._parts: Counter[UnitId] = Counter()
        self._number: dict[DocId, int] = {}
        self._units_of: dict[int, set[UnitId]] = {}
        self._from, self._to = array("q"), array("q")

    def add(self, parts: Iterable[UnitPart]) -> None:
        """Count the parts of one document."""
        for part in parts:
            number = self._numbered(part.doc_id)
            self._tokens[part.unit_id] += part.tokens
            self._parts[part.unit_id] += 1
            self._units_of.setdefault(number, set()).add(part.unit_id)
            for target in part.links:
                self._from.append(number)
                self._to.append(self._numbered(target))

    def _numbered(self, doc_id: DocId) -> int:
        return self._number.setdefault(doc_id, len(self._number))

    @property
    def units(self) -> int:
        """Return the number of units."""
        return len(self._tokens)

    @property
    def over_budget(self) -> int:
        """
        Count the units above the budget: single documents, unless a grouping file says otherwise.
        """
        return sum(tokens > self._max_tokens for tokens in self._tokens.values())

    def share_of_links_inside(self) -> float | None:
        """
        Return the share of links that do not leave their unit, of all links in the collection; None
        without any.
        """
        if not self._from:
            return None
        inside = sum(
            not self._units_of[a].isdisjoint(self._units_of.get(b, ()))
            for a, b in zip(self._from, self._to, strict=True)
        )
        return inside / len(self._from)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the report: what, and how much."""
        yield "documents", f"{len(self._units_of):,}"
        yield "units", f"{self.units:,}"
        yield "units of one part", f"{sum(n == 1 for n in self._parts.values()):,}"
        yield f"units over {self._max_tokens:,} tokens", f"{self.over_budget:,}"
        yield "links", f"{len(self._from):,}"
        share = self.share_of_links_inside()
        yield "links inside units", "–" if share is None else f"{share:.1%}"
        yield "parts in a unit", _distribution(sorted(self._parts.values()))
        yield "tokens in a unit", _distribution(sorted(self._tokens.values()))
        yield "quantiles", " / ".join(f"{q:.0%}" for q in QUANTILES)


def _distribution(values: Sequence[int]) -> str:
    """Return the values at the quantiles (nearest rank); `values` ascend."""
    if not values:
        return "–"
    at = (min(len(values) - 1, int(q * len(values))) for q in QUANTILES)
    return " / ".join(f"{values[place]:,}" for place in at)
