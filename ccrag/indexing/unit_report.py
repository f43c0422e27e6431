"""From files to units: scanned, grouped, reported document by document."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import orjson

from ccrag.config import PipelineSettings
from ccrag.corpus.load import LoadReport
from ccrag.corpus.scan import CorpusScan
from ccrag.indexing.spec import unit_rules
from ccrag.models.tokens import load_token_counter
from ccrag.types import UnitId, UnitPart
from ccrag.units.report import UnitReport
from ccrag.units.units import Units, make_units


class GroupedFiles:
    """A collection on disk and its grouping; no text is held in memory."""

    def __init__(self, scan: CorpusScan, units: Units, settings: PipelineSettings) -> None:
        self._scan = scan
        self._units = units
        self._settings = settings

    @property
    def loaded(self) -> LoadReport:
        """Return the report of reading the files."""
        return self._scan.report

    def parts(self) -> Iterator[list[UnitPart]]:
        """Return the parts of each document, in the order of the files."""
        return (self._units.parts(document) for document in self._scan.documents())

    def report(self, out: Path | None = None) -> UnitReport:
        """Return the grouping measured and, with `out`, written as a grouping file."""
        report = UnitReport(max_tokens=self._settings.units.max_tokens)
        places: defaultdict[UnitId, list[tuple[int, int, str]]] = defaultdict(list)
        for parts in self.parts():
            report.add(parts)
            if out is not None:
                for part in parts:
                    places[part.unit_id].append((part.ordinal, part.start, part.doc_id))
        if out is not None:
            # A unit a line, by its first document; its documents in reading order, each once.
            lines = []
            for unit_id, held in sorted(places.items(), key=lambda u: min(p[2] for p in u[1])):
                doc_ids = list(dict.fromkeys(doc_id for _, _, doc_id in sorted(held)))
                lines.append(orjson.dumps({"unit_id": unit_id, "doc_ids": doc_ids}) + b"\n")
            out.write_bytes(b"".join(lines))
        return report


@contextmanager
def group_files(
    paths: Sequence[Path],
    settings: PipelineSettings,
    *,
    on_error: Literal["stop", "skip"] = "stop",
) -> Iterator[GroupedFiles]:
    """
    Group the documents of `paths` as `settings` say.

    Raises:
        InputError: a file or record at fault.
        ModelError: the tokenizer that `budget.tokenizer` names cannot be had.
    """
    count = load_token_counter(settings.budget.tokenizer)
    with CorpusScan(paths, on_error=on_error) as scan:
        units = make_units(scan.documents, unit_rules(settings), count)
        yield GroupedFiles(scan, units, settings)
