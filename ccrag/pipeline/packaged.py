"""Read the JSON files of learnt weights: those that are packaged, and a user's own."""

from importlib import resources
from pathlib import Path

from ccrag.errors import ConfigError

SUFFIX = ".json"


def packaged_names(folder: str) -> list[str]:
    """Return the names of the files in `folder` of the package, without suffix, sorted."""
    found = (resources.files("ccrag") / folder).iterdir()
    return sorted(e.name.removesuffix(SUFFIX) for e in found if e.name.endswith(SUFFIX))


def packaged_text(
    name: str, *, folder: str, kind: str, made_by: str, others: tuple[str, ...] = ()
) -> str:
    """
    Return the text of a packaged file, or of a file of the user's own whose name ends in `.json`.

    Args:
        folder: the folder of the package.
        kind: what such a file is called in messages.
        made_by: the command that makes one.
        others: names that stand for no file.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    if name.endswith(SUFFIX):
        try:
            return Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{kind} {name} cannot be read: {error}") from error
    packaged = resources.files("ccrag") / folder / f"{name}{SUFFIX}"
    if not packaged.is_file():
        known = ", ".join((*others, *packaged_names(folder)))
        raise ConfigError(
            f"no {kind} {name!r}; there are {known}; or give a {SUFFIX} file, which {made_by} makes"
        )
    return packaged.read_text(encoding="utf-8")
