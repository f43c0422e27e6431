"""
The report of reading documents: how many, from where, and what was lost. Pure but for paths.

One loss check for every reader: the words of a file against the words of its text, and all that
the reader reports as left out. Where there may be many, the count and the first ones are enough.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ccrag.corpus.faults import Fault, RecordError, RecordPlace
from ccrag.corpus.fields import FIELD_NAMES, FULL_TEXT_NAMES
from ccrag.corpus.readers.conversions import how_to_convert
from ccrag.corpus.readers.page import Loss, LossUnit, ReadPage
from ccrag.errors import InputError
from ccrag.text.words import passage_words
from ccrag.types import Document

MAX_EXAMPLES = 20
MAX_COLLECTIONS = 1_000
MAX_LOST_SHARE = 0.03
"""
Part of a file that may be lost without a warning. Words at line ends, in tables and in formulas
are counted a little differently in a file and in its text: some 1 to 2 % of a long page.
"""
MIN_LOST_WORDS = 10
"""Words that may be missing however short the file is."""
_MAX_NAMES = 1_000
"""The most names of fields, or kinds of losses, that are counted one by one."""
_SHOWN_NAMES = 8
_MAX_SEEN = 30


def counted(number: int, thing: str) -> str:
    """Return a number and what is counted, in the plural if need be."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


@dataclass(slots=True)
class LostParts:
    """One kind of loss over all files."""

    kind: str
    unit: LossUnit
    intended: bool
    count: int = 0
    files: int = 0
    first: str = ""
    """The first file, and the place in it."""

    def __str__(self) -> str:
        unit = self.unit[:-1] if self.count == 1 else self.unit
        amount = f"{self.count:,}"
        if not self.kind.startswith(self.unit):
            amount = f"{amount} {unit}"
        first = "" if self.intended else f", first {self.first}"
        return f"{self.kind}: {amount} in {counted(self.files, 'file')}{first}"


@dataclass(slots=True)
class LoadReport:
    """Counts, losses and warnings of reading documents; filled while they are read."""

    documents: int = 0
    files: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    """Documents per named collection."""
    text_sources: Counter[str] = field(default_factory=Counter)
    """Documents per `text_source`; those under "none" have no text at all."""
    without_text: list[str] = field(default_factory=list)
    """Where the first documents without a text are."""
    field_names: Counter[str] = field(default_factory=Counter)
    """Number of records that have each field."""
    unsupported: Counter[str] = field(default_factory=Counter)
    """Files of other kinds in the folders, per suffix."""
    hidden: int = 0
    """Hidden files and folders in the folders, which are not read."""
    repeated_files: int = 0
    """Files that were named, or linked to, more than once; they are read once."""
    path_ids: int = 0
    """Page files whose id is their path, because their names repeat."""
    with_bom: list[Path] = field(default_factory=list)
    """The first record files that start with a byte order mark, which was left out."""
    words_in_file: int = 0
    """Words of all page files whose reader counts them, less what was left out on purpose."""
    words_read: int = 0
    """Words of the texts of the same files."""
    losses: dict[tuple[str, LossUnit, bool], LostParts] = field(default_factory=dict)
    """Losses of page files, by kind, unit, and True if they were on purpose."""
    warned: int = 0
    warnings: list[str] = field(default_factory=list)
    """The first of `warned` messages about files that lost more than a little."""
    skipped: Counter[Fault] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    """The first messages about skipped records."""

    def add(self, document: Document, place: RecordPlace | None = None) -> None:
        """
        Count a document.

        Raises:
            InputError: the documents belong to more collections than an index can name.
        """
        self.documents += 1
        self.text_sources[document.text_source] += 1
        if document.text_source == "none" and len(self.without_text) < MAX_EXAMPLES:
            self.without_text.append(document.doc_id if place is None else str(place))
        if document.collection is not None:
            self.collections[document.collection] += 1
            if len(self.collections) > MAX_COLLECTIONS:
                raise InputError(
                    f"the documents name more than {MAX_COLLECTIONS} collections, which an index "
                    "cannot hold; rename the field `collection` if it means something else"
                )

    def add_page(self, path: Path, page: ReadPage) -> None:
        """Count what the reader of a page file lost, and warn if it is more than a little."""
        for loss in page.losses:
            self._add_loss(path, loss)
        for problem in page_problems(page):
            self.warn(f"{path}: {problem}")
        if page.words_in_file is not None:
            self.words_in_file += expected_words(page)
            self.words_read += passage_words(page.text)

    def _add_loss(self, path: Path, loss: Loss) -> None:
        if not loss.count:
            return
        key = (loss.kind, loss.unit, loss.intended)
        if key not in self.losses and len(self.losses) >= _MAX_NAMES:
            key = ("others", loss.unit, loss.intended)
        lost = self.losses.setdefault(key, LostParts(*key))
        lost.count += loss.count
        lost.files += 1
        lost.first = lost.first or f"{path}{f' {loss.where}' if loss.where else ''}"

    def add_fields(self, fields: Mapping[str, object]) -> None:
        """Note which fields a record has."""
        self.field_names.update(fields.keys())
        if len(self.field_names) > 2 * _MAX_NAMES:  # not at every record
            self.field_names = Counter(dict(self.field_names.most_common(_MAX_NAMES)))

    def warn(self, message: str) -> None:
        """Count a loss that needs attention."""
        self.warned += 1
        if len(self.warnings) < MAX_EXAMPLES:
            self.warnings.append(message)

    def skip(self, error: RecordError) -> None:
        """Count a record that was left out."""
        self.skipped[error.fault] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(str(error))

    def require_text(self) -> None:
        """
        Check that there is something to search.

        Raises:
            InputError: none of the documents has a text.
        """
        if self.documents and self.documents == self.text_sources["none"]:
            first = self.without_text[0]
            raise InputError(f"{no_text(self.documents, self.field_names)}; the first: {first}")

    def unread_fields(self) -> dict[str, int]:
        """Return the number of records with each field that is not read, most first."""
        return {n: c for n, c in self.field_names.most_common() if n not in FIELD_NAMES}

    def lines(self) -> list[str]:
        """Return the report for a person, without lines for what did not happen."""
        return [*self._read_lines(), *self._left_out_lines(), *self._warning_lines()]

    def _read_lines(self) -> Iterator[str]:
        sources = ", ".join(f"{n} {name}" for name, n in self.text_sources.most_common())
        documents, files = counted(self.documents, "document"), counted(self.files, "file")
        yield f"{documents} from {files} (text: {sources or 'none'})"
        if self.collections:
            held = ", ".join(f"{name} {n}" for name, n in sorted(self.collections.items()))
            yield f"documents per collection: {held}"
        if self.path_ids:
            yield f"{counted(self.path_ids, 'file')} with repeated names: their ids are their paths"
        if self.repeated_files:
            yield f"{counted(self.repeated_files, 'file')} named or linked to again: read once"
        for path in self.with_bom:
            yield f"{path}: byte order mark left out"

    def _left_out_lines(self) -> Iterator[str]:
        if empty := self.text_sources["none"]:
            yield f"{counted(empty, 'document')} without text, first {self.without_text[0]}"
        if unread := self.unread_fields():
            shown = [f"{name} {n}" for name, n in list(unread.items())[:_SHOWN_NAMES]]
            more = f", and {len(unread) - len(shown)} more" if len(unread) > len(shown) else ""
            yield f"fields not read: {', '.join(shown)}{more}"
        intended = [str(lost) for lost in self.losses.values() if lost.intended]
        if intended:
            yield f"left out on purpose: {'; '.join(intended)}"
        yield from (f"lost: {lost}" for lost in self.losses.values() if not lost.intended)
        if self.hidden:
            yield f"hidden files and folders left out: {self.hidden:,}"
        if self.unsupported:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.unsupported.items()))
            yield f"files of other kinds left out: {kinds}"
            for kind in sorted(self.unsupported):
                if how := how_to_convert(kind):
                    yield f"  to read {kind}: {how}"

    def _warning_lines(self) -> Iterator[str]:
        yield from (f"warning: {warning}" for warning in self.warnings)
        if self.warned > len(self.warnings):
            yield f"warning: {self.warned - len(self.warnings):,} more of these"
        if self.skipped:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.skipped.items()))
            yield f"records skipped: {kinds}; the first:"
            yield from (f"  {example}" for example in self.examples)


def no_text(records: int, field_names: Iterable[str]) -> str:
    """Return the message about records none of which has a text."""
    names = list(field_names)
    seen = f"; their fields: {', '.join(names[:_MAX_SEEN])}" if names else ""
    known = ", ".join((*FULL_TEXT_NAMES, "abstract", "title"))
    return f"none of {counted(records, 'document')} has a text{seen}; a text is read from {known}"


def expected_words(page: ReadPage) -> int:
    """Return how many words the text should have: those of the file less intended losses."""
    out = sum(loss.count for loss in page.losses if loss.intended and loss.unit == "words")
    return max((page.words_in_file or 0) - out, 0)


def page_problems(page: ReadPage) -> Iterator[str]:
    """Yield a warning for each loss of a page file beyond a few percent, with its place."""
    expected = expected_words(page)
    words = passage_words(page.text)
    if expected - words >= MIN_LOST_WORDS and expected - words > MAX_LOST_SHARE * expected:
        share = 1 - words / expected
        yield f"{share:.0%} of the words are not in the text ({words:,} of {expected:,} are)"
    wholes: dict[LossUnit, int] = {
        "words": page.words_in_file or words,
        "bytes": len(page.text),
        "characters": len(page.text),
        "pages": len(page.pages),
    }  # "parts" are no share of a file: they are counted only
    for loss in page.losses:
        whole = wholes.get(loss.unit)
        if whole is None or loss.intended or loss.count <= MAX_LOST_SHARE * whole:
            continue
        kind = loss.kind if loss.kind.startswith(loss.unit) else f"{loss.unit} of {loss.kind}"
        of_all = f" of {whole:,}" if loss.unit == "pages" and loss.count <= whole else ""
        yield f"{loss.count:,}{of_all} {kind}{f' ({loss.where})' if loss.where else ''}"
