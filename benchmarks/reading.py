"""
What reading files loses: words in the files against words read, by kind, and the ten worst.

Run it with `python -m benchmarks.reading FOLDER...` over any folders of documents.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import typer

from ccrag.corpus.faults import RecordError
from ccrag.corpus.files import SourceFile, find_files
from ccrag.corpus.pages import read_page
from ccrag.corpus.readers.registry import data_suffix, is_page
from ccrag.corpus.report import LoadReport, expected_words, page_problems
from ccrag.text.words import passage_words

WORST = 10


class Lost(NamedTuple):
    """A file that lost something, for the list of the worst."""

    share: float
    path: Path
    reason: str


@dataclass
class Kind:
    """All files of one kind."""

    files: int = 0
    refused: int = 0
    warned: int = 0
    in_file: int = 0
    """Words in the files, less what is left out on purpose."""
    read: int = 0
    """Words of the texts."""
    missing: int = 0
    """Words that files have more than their texts; what a text has more makes up for nothing."""
    seconds: float = 0.0
    lost: list[Lost] = field(default_factory=list)

    def add(self, file: SourceFile) -> None:
        """Read one file and count what is lost."""
        self.files += 1
        started = perf_counter()
        try:
            _, page = read_page(file)
        except RecordError as error:
            self.refused += 1
            self.lost.append(Lost(1.0, file.path, f"refused: {error.problem}"))
            return
        finally:
            self.seconds += perf_counter() - started
        read = passage_words(page.text)
        expected = read if page.words_in_file is None else expected_words(page)
        self.in_file += expected
        self.read += read
        self.missing += max(expected - read, 0)
        problems = list(page_problems(page))
        self.warned += bool(problems)
        losses = [f"{loss.count} {loss.kind}" for loss in page.losses if not loss.intended]
        share = max(1 - read / expected, 0.0) if expected else 0.0
        if share or problems or losses:
            self.lost.append(Lost(share, file.path, "; ".join([*problems, *losses])))


def main(folders: list[Path]) -> None:
    """Print a table by kind, and the worst files of each with the reason."""
    report = LoadReport()
    kinds: defaultdict[str, Kind] = defaultdict(Kind)
    for file in find_files(folders, report):
        if is_page(file.path):
            kinds[data_suffix(file.path)].add(file)
    typer.echo("| kind | files | refused | warned | words in file | words read | lost | seconds |")
    typer.echo("|---|---|---|---|---|---|---|---|")
    for suffix, kind in sorted(kinds.items()):
        share = kind.missing / kind.in_file if kind.in_file else 0.0
        typer.echo(
            f"| {suffix} | {kind.files} | {kind.refused} | {kind.warned} | {kind.in_file:,} "
            f"| {kind.read:,} | {share:.2%} | {kind.seconds:.1f} |"
        )
    for suffix, kind in sorted(kinds.items()):
        for lost in sorted(kind.lost, key=lambda lost: (-lost.share, str(lost.path)))[:WORST]:
            typer.echo(f"{suffix} {lost.share:.1%} {lost.path}: {lost.reason}")
    for kind_left_out, number in report.unsupported.most_common(WORST):
        typer.echo(f"not read: {number:,} {kind_left_out}")


if __name__ == "__main__":
    typer.run(main)
