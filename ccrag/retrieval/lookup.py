"""From hits to their passages, by id. Pure."""

from collections.abc import Iterable, Mapping

from ccrag.errors import InvariantError
from ccrag.types import Hit, Passage, PassageId


def passages_of(hits: Iterable[Hit], passages: Mapping[PassageId, Passage]) -> tuple[Passage, ...]:
    """
    Return the passage of each hit, in the order of `hits`.

    Raises:
        InvariantError: a ranked passage is not among `passages`.
    """
    found: list[Passage] = []
    for hit in hits:
        if hit.passage_id not in passages:
            raise InvariantError(
                f"passage {hit.passage_id!r} is ranked but its text was not fetched; "
                "fetch the texts of a shortlist before reading it"
            )
        found.append(passages[hit.passage_id])
    return tuple(found)
