"""
Documents with one short fact each, and the question for it: doses, prices, hours, ports, addresses.

Invented for the tests. Filler speaks of the same thing at greater length, so that what prefers long
or smooth sentences loses the fact.
"""

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_suffix(".txt")
OTHERS = 4
"""So many other documents are candidates beside the one that answers."""


class ShortFact(NamedTuple):
    """A question, the document that answers it, and the sentence of it that does."""

    doc_id: str
    language: str
    question: str
    fact: str
    text: str

    @property
    def start(self) -> int:
        """Where the fact stands in the text."""
        return self.text.index(self.fact)


def short_facts() -> list[ShortFact]:
    """All of them, in the order of the file."""
    blocks = FILE.read_text(encoding="utf-8").strip().split("\n\n")
    return [_read(f"{number:02}", block) for number, block in enumerate(blocks, start=1)]


def _read(number: str, block: str) -> ShortFact:
    head, *sentences = block.split("\n")
    language, question = head.split(" | ")
    [fact] = (line.removeprefix("* ") for line in sentences if line.startswith("* "))
    joined = "" if language in ("zh", "ja") else " "
    text = joined.join(line.removeprefix("* ") for line in sentences)
    return ShortFact(f"{language}-{number}", language, question, fact, text)


def candidates_of(fact: ShortFact, info: list[ShortFact]) -> list[str]:
    """The document of `fact` and those that follow it, from the first on after the last."""
    at = info.index(fact)
    return [info[(at + step) % len(info)].doc_id for step in range(OTHERS + 1)]
