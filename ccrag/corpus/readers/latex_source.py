"""
A LaTeX source before it is converted: its files put together, and what pandoc knows by another
name renamed. No TeX is run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ccrag.corpus.records import RecordError

MAX_PARTS = 200
_INPUT = re.compile(
    r"\\(?:input|include|subfile)\s*\{\s*(?P<braced>[^{}]+?)\s*\}|\\input\s+(?P<bare>[^\s{}%\\]+)"
)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_BIBLIOGRAPHY = re.compile(r"\\bibliography\s*\{[^{}]*\}|\\printbibliography(?:\[[^\]]*\])?")
_INPUTENC = re.compile(rb"^[^%\n]*\\usepackage\[([^\],]+)\]\{inputenc\}", re.MULTILINE)
_ENCODINGS = {
    "utf8": "utf-8",
    "utf8x": "utf-8",
    "ascii": "ascii",
    "latin1": "latin-1",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin9": "iso8859-15",
    "latin10": "iso8859-16",
    "ansinew": "cp1252",
    "cp1252": "cp1252",
    "cp1250": "cp1250",
    "applemac": "mac-roman",
    "koi8-r": "koi8-r",
}
"""Names of inputenc → Python's."""
_WHOLE_DOCUMENT = re.compile(rb"^[^%\n]*\\document(?:class|style)\b", re.MULTILINE)
_RENAMED = (
    (re.compile(r"\\(begin|end)\{(table|figure|algorithm)\*\}"), r"\\\1{\2}"),
    (re.compile(r"\\(begin|end)\{sideways(table|figure)\*?\}"), r"\\\1{\2}"),
    (re.compile(r"\\begin\{wrap(table|figure)\}(?:\[[^\]]*\])?(?:\{[^{}]*\}){2}"), r"\\begin{\1}"),
    (re.compile(r"\\end\{wrap(table|figure)\}"), r"\\end{\1}"),
    (re.compile(r"\\begin\{adjustbox\}\s*\{[^{}]*\}|\\end\{adjustbox\}"), ""),
    (re.compile(r"\\begin\{thebibliography\}\s*(?:\{[^{}]*\})?"), r"\\section*{References}"),
    (re.compile(r"\\end\{thebibliography\}"), ""),
    (re.compile(r"\\rule\s*(?:\[[^\]]*\])?(?:\{[^{}]*\}){2}"), ""),  # a drawn line
    (re.compile(r"\\bibitem\s*(?:\[[^\]]*\])?\s*\{([^{}]+)\}"), r"\n\n{[}\1{]} "),
)
"""Forms that pandoc skips, and what they mean to a reader."""
_BRACE = re.compile(r"(?<!\\)[{}]")
_BOXES = {"resizebox*": 3, "resizebox": 3, "scalebox": 2, "rotatebox": 2}
"""Commands around a table, by how many arguments; the last is what they hold."""


def is_whole_document(source: bytes) -> bool:
    """Whether a source is a document of its own, not a part that another one reads in."""
    return _WHOLE_DOCUMENT.search(source) is not None


def whole_source(path: Path, data: bytes) -> str:
    """
    The source that `path` holds as `data`, with every part that it reads in, ready for pandoc.

    Parts lie in the folder of `path` or below; the list of works comes from the `.bbl` file beside
    it when there is one.

    Raises:
        RecordError: it is not in the encoding it declares, UTF-8 if none; a part is missing, lies
            elsewhere, or reads itself in.
    """
    reading = _Reading(path.parent.resolve(), _encoding(data))
    joined = "".join(reading.lines(reading.decoded(data)))
    works = path.with_name(path.name.removesuffix(".gz")).with_suffix(".bbl")
    if works.is_file():
        listed = reading.decoded(works.read_bytes())
        joined = _BIBLIOGRAPHY.sub(lambda _: listed, joined)
    return _plain(joined)


@dataclass(slots=True)
class _Reading:
    """The files of one document while they are put together."""

    folder: Path
    encoding: str
    parts_left: int = MAX_PARTS

    def lines(self, source: str) -> Iterator[str]:
        """`source` piece by piece, parts in their places."""
        for line in source.splitlines(keepends=True):
            comment = _COMMENT.search(line)
            said = line[: comment.end() - 1] if comment else line
            at = 0
            for found in _INPUT.finditer(said):
                yield said[at : found.start()]
                yield from self.lines(self._part(found["braced"] or found["bare"]))
                at = found.end()
            yield line[at:]

    def decoded(self, data: bytes) -> str:
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError as error:
            problem = f"not {self.encoding}: byte 0x{data[error.start]:02x} at {error.start}"
            expected = "declare its encoding with inputenc, or convert it to UTF-8"
            raise RecordError("encoding", f"{problem}; {expected}") from error

    def _part(self, name: str) -> str:
        """What the file holds that a name in `\\input` stands for."""
        self.parts_left -= 1
        if self.parts_left < 0:
            raise RecordError("syntax", f"reads in over {MAX_PARTS} parts; one reads itself?")
        for path in (self.folder / f"{name}.tex", self.folder / name):
            whole = path.resolve()
            if not whole.is_relative_to(self.folder):
                raise RecordError("syntax", f"reads in {name!r}, outside its folder; copy it there")
            if whole.is_file():
                return self.decoded(whole.read_bytes())
        raise RecordError("syntax", f"reads in {name!r}, which is not in its folder; put it there")


def _encoding(data: bytes) -> str:
    """The encoding a source declares, as Python names it."""
    declared = _INPUTENC.search(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii", "replace").strip()
    if name not in _ENCODINGS:
        raise RecordError("encoding", f"inputenc {name!r} is not known; convert the file to UTF-8")
    return _ENCODINGS[name]


def _plain(source: str) -> str:
    for pattern, plain in _RENAMED:
        source = pattern.sub(plain, source)
    for name, arguments in _BOXES.items():
        source = _unboxed(source, f"\\{name}{{", arguments)
    return source


def _unboxed(source: str, opening: str, arguments: int) -> str:
    """`source` with what a box holds in the place of the box."""
    pieces: list[str] = []
    at = 0
    while (found := source.find(opening, at)) >= 0:
        groups = list(islice(_groups(source, found + len(opening) - 1), arguments))
        pieces.append(source[at:found])
        if len(groups) < arguments:  # another form of the command: left to pandoc
            at = found + len(opening)
            pieces.append(opening)
            continue
        start, end = groups[-1]
        pieces.append(source[start + 1 : end - 1])
        at = end
    return "".join([*pieces, source[at:]])


def _groups(source: str, at: int) -> Iterator[tuple[int, int]]:
    """The groups in braces that follow each other from `at` on."""
    while source[at : at + 1] == "{" and (end := _group_end(source, at)) is not None:
        yield at, end
        at = end
        while source[at : at + 1].isspace():
            at += 1


def _group_end(source: str, at: int) -> int | None:
    """Behind the brace that closes the one at `at`; None: nothing does."""
    depth = 0
    for brace in _BRACE.finditer(source, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return None
