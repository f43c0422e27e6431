"""What a validator reports."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a submission, and where."""

    path: Path
    line: int | None
    """From 1; None when it is about the whole file."""
    query_id: str | None
    message: str

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        query = "" if self.query_id is None else f" query {self.query_id!r}:"
        return f"{place}:{query} {self.message}"
