"""
Flip one thing in sentences of documents, and count how often the support check finds it.

    python -m benchmarks.flips DOCUMENTS.jsonl... [--each 40]

Each claim copies a sentence with one number, date, unit, comparison or denial changed; its evidence
is the sentence with its neighbours. Prints the share found, and that of untouched copies refused.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ccrag.answering.verdict import judge
from ccrag.indexing.build import open_files
from ccrag.pipeline.support_weights import support_weights
from ccrag.text.sentences import split_sentences

MONTHS = ("January", "March", "June", "July", "October", "December")
UNITS = {
    "percent": "dollars",
    "seconds": "hours",
    "years": "days",
    "bytes": "bits",
    "km": "mm",
    "%": "km",
}
_PAIRS = (
    "more/less higher/lower before/after largest/smallest increased/decreased larger/smaller "
    "greater/less first/last always/never same/different"
)
PAIRS = dict(pair.split("/") for pair in _PAIRS.split())
Flip = Callable[[str], str | None]


def number(text: str) -> str | None:
    """Change the first number."""
    found = re.search(r"(?<![\w.])\d{1,4}(?![\w.]*\d)", text)
    return text[: found.start()] + str(int(found[0]) + 17) + text[found.end() :] if found else None


def swapped(words: dict[str, str]) -> Flip:
    """Return a flip that puts one word of a pair in the place of the other."""

    def flip(text: str) -> str | None:
        for old, new in words.items():
            if re.search(rf"\b{re.escape(old)}\b", text):
                return re.sub(rf"\b{re.escape(old)}\b", new, text, count=1)
        return None

    return flip


def denial(text: str) -> str | None:
    """Deny the first plain verb, or take a denial out."""
    for old, new in (
        (" is not ", " is "),
        (" cannot ", " can "),
        (" is ", " is not "),
        (" are ", " are not "),
    ):
        if old in text:
            return text.replace(old, new, 1)
    return None


FLIPS: dict[str, Flip] = {
    "number": number,
    "date": swapped(dict(zip(MONTHS, MONTHS[1:] + MONTHS[:1], strict=True))),
    "unit": swapped(UNITS),
    "comparison": swapped(PAIRS),
    "denial": denial,
}


def sentences(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield sentences of ordinary length, each with its neighbours."""
    with open_files(paths)() as corpus:
        for document in corpus.documents():
            spans = list(split_sentences(document.text))
            for at, span in enumerate(spans):
                text = " ".join(document.text[span.start : span.end].split())
                if 8 <= len(text.split()) <= 40 and text.endswith("."):
                    near = spans[max(0, at - 1) : at + 2]
                    yield text, " ".join(document.text[near[0].start : near[-1].end].split())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--each", type=int, default=40)
    chosen = parser.parse_args()
    known = list(sentences(chosen.documents))
    order = np.random.default_rng(0).permutation(len(known)).tolist()
    table = Table("flipped", "claims", "found", "untouched refused", box=None)
    weights = support_weights()
    for name, flip in FLIPS.items():
        pairs = [(claim, *known[at]) for at in order if (claim := flip(known[at][0]))][
            : chosen.each
        ]
        found = [judge(claim, [near], weights).verdict == "unsupported" for claim, _, near in pairs]
        refused = [judge(text, [near], weights).verdict == "unsupported" for _, text, near in pairs]
        shares = (f"{np.mean(found):.3f}", f"{np.mean(refused):.3f}") if pairs else ("–", "–")
        table.add_row(name, str(len(pairs)), *shares)
    Console().print(table)


if __name__ == "__main__":
    main()
