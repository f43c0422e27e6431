"""The problems that a validator reports."""

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

    @property
    def place(self) -> str:
        """Return file, line and query, as far as they are known."""
        place = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        return place if self.query_id is None else f"{place}: query {self.query_id!r}"

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"
