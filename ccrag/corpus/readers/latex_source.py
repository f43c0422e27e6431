"""
A LaTeX source before it is converted: its files put together, and what pandoc knows by another
name renamed. No TeX is run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ccrag.corpus.faults import RecordError

MAX_PARTS = 200
MAX_BYTES = 20_000_000
"""Bytes of a document with all its parts; the largest theses have a tenth of it."""
_INPUT = re.compile(
    r"\\(?:input|include|subfile)\s*\{(?P<braced>[^{}]+)\}|\\input\s+(?P<bare>[^\s{}%\\]+)"
)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_BIBLIOGRAPHY = re.compile(r"\\bibliography\s*\{[^{}]*\}|\\printbibliography(?:\[[^\]]{0,999}\])?")
_INPUTENC = re.compile(rb"^[^%\n]*\\usepackage\[([^\],\n]{1,40})\]\{inputenc\}", re.MULTILINE)
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
    (
        re.compile(r"\\begin\{wrap(table|figure)\}(?:\[[^\]]{0,99}\])?(?:\{[^{}]*\}){2}"),
        r"\\begin{\1}",
    ),
    (re.compile(r"\\end\{wrap(table|figure)\}"), r"\\end{\1}"),
    (re.compile(r"\\begin\{adjustbox\}\s*\{[^{}]*\}|\\end\{adjustbox\}"), ""),
    (re.compile(r"\\begin\{thebibliography\}\s*(?:\{[^{}]*\})?"), r"\\section*{References}"),
    (re.compile(r"\\end\{thebibliography\}"), ""),
    (re.compile(r"\\rule\s*(?:\[[^\]]{0,99}\])?(?:\{[^{}]*\}){2}"), ""),  # a drawn line
    (re.compile(r"\\bibitem\s*(?:\[[^\]]{0,999}\])?\s*\{([^{}]+)\}"), r"\n\n{[}\1{]} "),
)
"""Forms that pandoc skips, and what they mean to a reader."""
_BRACE = re.compile(r"(?<!\\)[{}]")
_SPACE = re.compile(r"\s*")
_BOXES = {"resizebox*": 3, "resizebox": 3, "scalebox": 2, "rotatebox": 2}
"""Commands around a table, by how many arguments; the last is what they hold."""


def is_whole_document(source: bytes) -> bool:
    """Tell whether a source is a document of its own, not a part that another one reads in."""
    return _WHOLE_DOCUMENT.search(source) is not None


def whole_source(path: Path, data: bytes) -> str:
    """
    Return the source that `path` holds as `data`, with every part that it reads in, ready for
    pandoc.

    Parts lie in the folder of `path` or below; the list of works comes from the `.bbl` file beside
    it when there is one.

    Raises:
        RecordError: it is not in the encoding it declares, UTF-8 if none; a part is missing, lies
            elsewhere, or reads itself in; or it is too large with all its parts.
    """
    reading = _Reading(path.parent.resolve(), _encoding(data), [path.resolve()])
    joined = "".join(reading.lines(reading.decoded(data)))
    works = path.with_name(path.name.removesuffix(".gz")).with_suffix(".bbl")
    if works.is_file() and _BIBLIOGRAPHY.search(joined):
        listed = iter([reading.decoded(reading.bytes_of(works))])
        joined = _BIBLIOGRAPHY.sub(lambda _: next(listed, ""), joined)  # the first place has all
    for pattern, plain in _RENAMED:
        joined = pattern.sub(plain, joined)
    for name, arguments in _BOXES.items():
        joined = _unboxed(joined, f"\\{name}{{", arguments)
    return joined


@dataclass(slots=True)
class _Reading:
    """The files of one document while they are put together."""

    folder: Path
    encoding: str
    open: list[Path]
    """The main file and the parts inside each other that are being read."""
    parts_left: int = MAX_PARTS
    bytes_left: int = field(default_factory=lambda: MAX_BYTES)

    def lines(self, source: str) -> Iterator[str]:
        """Yield `source` with the parts it reads in, each in its place."""
        for line in source.splitlines(keepends=True):
            comment = _COMMENT.search(line)
            code = line[: comment.end() - 1] if comment else line
            at = 0
            for found in _INPUT.finditer(code):
                yield code[at : found.start()]
                part = self._part((found["braced"] or found["bare"]).strip())
                self.open.append(part)
                yield from self.lines(self.decoded(self.bytes_of(part)))
                self.open.pop()
                at = found.end()
            yield line[at:]

    def decoded(self, data: bytes) -> str:
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError as error:
            problem = f"not {self.encoding}: byte 0x{data[error.start]:02x} at {error.start}"
            expected = "declare its encoding with inputenc, or convert it to UTF-8"
            raise RecordError("encoding", f"{problem}; {expected}") from error

    def bytes_of(self, path: Path) -> bytes:
        """Read a file that is part of the document."""
        self.bytes_left -= path.stat().st_size
        if self.bytes_left < 0:
            size = f"over {MAX_BYTES // 1_000_000} MB with all its parts ({path.name!r} was next)"
            raise RecordError("syntax", f"is {size}; give its parts as files of their own")
        return path.read_bytes()

    def _part(self, name: str) -> Path:
        r"""Return the file that a name in `\input` stands for."""
        self.parts_left -= 1
        if self.parts_left < 0:
            raise RecordError("syntax", f"reads in over {MAX_PARTS} parts; join them first")
        for path in (self.folder / f"{name}.tex", self.folder / name):
            whole = path.resolve()
            if not whole.is_relative_to(self.folder):
                raise RecordError("syntax", f"reads in {name!r}, outside its folder; copy it there")
            if whole in self.open:
                ring = " → ".join(part.name for part in (*self.open, whole))
                raise RecordError("syntax", f"reads itself in ({ring}); take out one \\input")
            if whole.is_file():
                return whole
        raise RecordError("syntax", f"reads in {name!r}, which is not in its folder; put it there")


def _encoding(data: bytes) -> str:
    """Return the encoding a source declares, as Python names it."""
    declared = _INPUTENC.search(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii", "replace").strip()
    if name not in _ENCODINGS:
        raise RecordError("encoding", f"inputenc {name!r} is not known; convert the file to UTF-8")
    return _ENCODINGS[name]


def _unboxed(source: str, opening: str, arguments: int) -> str:
    """Return `source` with what a box holds in the place of the box."""
    if opening not in source:
        return source
    ends = _group_ends(source)
    parts: list[str] = []
    at = 0
    while (found := source.find(opening, at)) >= 0:
        groups = list(islice(_groups(source, found + len(opening) - 1, ends), arguments))
        parts.append(source[at:found])
        if len(groups) < arguments:  # another form of the command: left to pandoc
            at = found + len(opening)
            parts.append(opening)
            continue
        start, end = groups[-1]
        parts.append(source[start + 1 : end - 1])
        at = end
    return "".join([*parts, source[at:]])


def _groups(source: str, at: int, ends: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the groups in braces that follow each other from `at` on."""
    while (end := ends.get(at)) is not None:
        yield at, end
        after = _SPACE.match(source, end)
        at = after.end() if after else end


def _group_ends(source: str) -> dict[int, int]:
    """
    Return each brace that opens a group that is closed → the place behind the one that closes it.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(source):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            ends[opened.pop()] = brace.end()
    return ends
