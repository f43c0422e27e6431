"""
The units that a query's ranked passages stand in.

Only the parts inside a query's candidates are ever seen here: what the index gives passed through
`hits.parse_parts`.
"""

from collections.abc import Sequence

from ccrag.config import PipelineSettings
from ccrag.engine.bodies import IdFilter
from ccrag.engine.index import Index
from ccrag.errors import EngineError
from ccrag.pipeline.state import QueryState
from ccrag.retrieval.units import newest_only
from ccrag.types import DocId, Query, Unit, UnitPart
from ccrag.units.units import regroup, units_of

Parts = list[UnitPart] | EngineError


class UnitGrouping:
    """Asks for stored units, or groups the candidates anew, as `units.within` says."""

    def __init__(self, settings: PipelineSettings, index: Index) -> None:
        self._settings = settings
        self._index = index

    def units(self, states: Sequence[QueryState]) -> list[list[Unit] | EngineError]:
        """
        Return for each query its units, cut to its candidates and, if wanted, to newest versions.
        """
        anew = [state for state in states if self._groups_anew(state.query)]
        stored = [state for state in states if not self._groups_anew(state.query)]
        found: dict[int, Parts] = {}
        for asked, answers in (
            (anew, self._index.unit_parts([(state.query, None) for state in anew])),
            (stored, self._stored_parts(stored)),
        ):
            found |= {id(state): parts for state, parts in zip(asked, answers, strict=True)}
        return [self._grouped(state, found[id(state)]) for state in states]

    def _grouped(self, state: QueryState, parts: Parts) -> list[Unit] | EngineError:
        settings = self._settings.units
        if isinstance(parts, EngineError):
            return parts
        if settings.newest:
            parts, notes = newest_only(parts)
            state.notes += notes
        if not self._groups_anew(state.query):
            return units_of(parts)
        together = settings.versions == "marked"
        return regroup(parts, max_tokens=settings.max_tokens, versions_together=together)

    def _groups_anew(self, query: Query) -> bool:
        """
        Tell whether units are made of the candidates alone; of the whole index they are the same.
        """
        units, candidates = self._settings.units, query.candidates
        named = candidates.doc_ids is not None or candidates.collection is not None
        return named and units.within == "candidates" and units.grouping == "links"

    def _stored_parts(self, states: Sequence[QueryState]) -> list[Parts]:
        """
        Return the parts of all units that a ranked passage stands in, and of their other versions.
        """
        depth, newest = self._settings.rerank.shortlist, self._settings.units.newest
        ranked = [sorted({hit.doc_id for hit in state.current().hits[:depth]}) for state in states]
        own = self._parts_among(
            [(state.query, ("doc_id", ids)) for state, ids in zip(states, ranked, strict=True)]
        )
        units, versions = [set[str]() for _ in states], [set[str]() for _ in states]
        for at, parts in enumerate(own):
            if not isinstance(parts, EngineError):
                units[at] = {part.unit_id for part in parts}
                versions[at] = {p.version_of for p in parts if newest and p.version_of is not None}
        whole = self._parts_among(
            [(state.query, ("unit_id", sorted(u))) for state, u in zip(states, units, strict=True)]
        )
        other = self._parts_among(
            [
                (state.query, ("version_of", sorted(v)))
                for state, v in zip(states, versions, strict=True)
            ]
        )
        return [_united(*found) for found in zip(own, whole, other, strict=True)]

    def _parts_among(self, asked: Sequence[tuple[Query, IdFilter]]) -> list[Parts]:
        """Return one list per ask; nothing is asked where there are no values."""
        wanted = [at for at, (_, (_, values)) in enumerate(asked) if values]
        answers = self._index.unit_parts([asked[at] for at in wanted]) if wanted else []
        found = dict(zip(wanted, answers, strict=True))
        return [found.get(at, []) for at in range(len(asked))]


def _united(*found: Parts) -> Parts:
    """Return the parts of several answers, each once."""
    parts: dict[tuple[DocId, int], UnitPart] = {}
    for held in found:
        if isinstance(held, EngineError):
            return held
        parts.update({(part.doc_id, part.start): part for part in held})
    return list(parts.values())
