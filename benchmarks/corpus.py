"""A corpus of any size: shuffled paragraphs of the language reference every Python ships."""

import random
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

import orjson

PARAGRAPHS_PER_DOCUMENT = 25
SEED = 13

QUESTIONS = (
    "In what order are the operands of a binary operation evaluated?",
    "When is the else clause of a loop executed?",
    "Which exception is raised when an attribute reference fails?",
    "How are default parameter values evaluated when a function is defined?",
    "What does the with statement do when the body raises an exception?",
    "How does the method resolution order change attribute lookup in classes?",
    "What is the recent change in format string syntax since version 3.1?",
    "Which names are bound by an import statement with a star?",
)


def paragraphs() -> list[str]:
    """Paragraphs of at least forty characters, as they stand."""
    found = [p for name in sorted(topics) for p in topics[name].split("\n\n")]
    return [paragraph for paragraph in found if len(paragraph) >= 40]


def documents(count: int) -> Iterator[dict[str, str]]:
    """`count` documents, the same ones every time; the first ones do not depend on `count`."""
    chance, stock = random.Random(SEED), paragraphs()
    for number in range(count):
        body = "\n\n".join(chance.choices(stock, k=PARAGRAPHS_PER_DOCUMENT))
        yield {"id": f"doc{number:06}", "title": f"Document {number}", "text": body}


def write_corpus(path: Path, count: int) -> Path:
    """Write `count` documents as JSON lines."""
    with path.open("wb") as file:
        for record in documents(count):
            file.write(orjson.dumps(record) + b"\n")
    return path
