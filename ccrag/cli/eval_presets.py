"""The defaults of `ccrag eval --format`: measures, and gold data from the tasks' own file."""

from dataclasses import dataclass
from pathlib import Path

from ccrag.errors import InputError
from ccrag.evaluation import mtrag
from ccrag.evaluation.records import checked_records
from ccrag.formats import Format


@dataclass(frozen=True, slots=True)
class Preset:
    """Defaults that options win over."""

    measures: str | None = None
    stemmer: bool = True
    from_tasks: bool = False
    """Take gold data that was not given from the tasks' file."""

    def known(self, tasks: Path, key: str) -> Path | None:
        """The tasks' file, if gold may come from it and its first record holds `key`."""
        if not self.from_tasks or not mtrag.is_task_file(tasks):
            return None
        first = next(iter(checked_records(tasks, {})))
        return tasks if {key, key.capitalize()} & first.value.keys() else None


def preset_of(format_: Format | None) -> Preset:
    """
    The defaults of a shared task; of none, those of every evaluation.

    Raises:
        InputError: there are none for this one.
    """
    match format_:
        case None:
            return Preset()
        case Format.MTRAG_A:
            return Preset(",".join(mtrag.RETRIEVAL_MEASURES), from_tasks=True)
        case Format.MTRAG_B | Format.MTRAG_C:
            measures = ",".join(mtrag.GENERATION_MEASURES)
            return Preset(measures, stemmer=False, from_tasks=True)
    raise InputError(f"--format {format_.value}: there are defaults for mtrag-a, mtrag-b, mtrag-c")
