"""Claims with their evidence, one a line, as `ccrag support` reads them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ccrag.errors import InputError
from ccrag.evaluation.records import checked_records
from ccrag.evaluation.validate.shape import Kinds, is_text, items

KINDS: Kinds = {
    "id": "a non-empty string or a whole number",
    "claim": "a non-empty string",
    "evidence": "a list",
}
MAX_CLAIM_CHARS, MAX_EVIDENCE_CHARS = 5_000, 200_000
"""Characters at most: comparing takes as long as both lengths multiplied."""


class Claim(NamedTuple):
    """A claim, the texts that should support it, and the question it answers, if known."""

    claim_id: str
    text: str
    evidence: tuple[str, ...]
    question: str | None


def read_claims(path: Path) -> Iterator[Claim]:
    """
    Yield the claims of a JSON Lines file: `id`, `claim`, `evidence` (a list of texts), `question`.

    Raises:
        InputError: the file cannot be read, or a line is no claim; names the line and the id.
    """
    seen: dict[str, int] = {}
    for record in checked_records(path, KINDS):
        claim_id = str(record.value["id"])
        named = f"claim {claim_id!r}"
        if claim_id in seen:
            message = f"{named} stands twice, first on line {seen[claim_id]}"
            raise InputError(message, path=path, line=record.line)
        seen[claim_id] = record.line
        texts = items(record.value["evidence"])
        question = record.value.get("question")
        text = str(record.value["claim"])
        if not all(map(is_text, texts)):
            message = f"{named}: evidence must be a list of non-empty strings"
        elif question is not None and not isinstance(question, str):
            message = f"{named}: question must be a string"
        elif len(text) > MAX_CLAIM_CHARS:
            message = f"{named} has more than {MAX_CLAIM_CHARS:,} characters: give it by sentences"
        elif sum(len(str(one)) for one in texts) > MAX_EVIDENCE_CHARS:
            message = f"{named}: its evidence has more than {MAX_EVIDENCE_CHARS:,} characters"
        else:
            yield Claim(claim_id, text, tuple(map(str, texts)), question)
            continue
        raise InputError(message, path=path, line=record.line)
    if not seen:
        raise InputError("holds no claim", path=path)
