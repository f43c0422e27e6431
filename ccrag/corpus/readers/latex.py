"""
LaTeX sources as Markdown: pandoc makes them HTML, which is read like any other page.

Pandoc leaves some things to TeX, which are filled in here: the numbers of tables, figures and
formulas, and the references to them.
"""

import re
import subprocess
from codecs import BOM_UTF8
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from lxml import etree

from ccrag.config.environment import environment
from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.html import page_of
from ccrag.corpus.readers.html_source import parse
from ccrag.corpus.readers.latex_source import whole_source
from ccrag.corpus.readers.page import Loss, ReadPage
from ccrag.corpus.readers.source import PageSource
from ccrag.errors import InputError

INSTALL = "pip install 'ccrag[latex]'"
TIMEOUT_S = 120.0
MAX_HEAP_MB = 2_048
_TEMPLATE = Path(__file__).with_name("latex.html")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters: TeX fonts have glyphs for them, and XML forbids them."""
_DELIMITERS = re.compile(r"^\s*\\[(\[]|\\[)\]]\s*$")
_NUMBERED = re.compile(r"\\begin\{(equation|align|gather|multline|eqnarray|alignat|flalign)\}")
_LABEL = re.compile(r"\\label\{([^{}]+)\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)\b")
_ROW_END = re.compile(r"(\\\\(?:\[[^\]]*\])?)")
_SKIPPED = re.compile(
    r"^\[INFO\] Skipped '(.*?)' at line (\d+) column \d+$", re.DOTALL | re.MULTILINE
)
_NO_FAULT = re.compile(r"^\[INFO\].*(?:\n  .*)*", re.MULTILINE)
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_TAG = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\[[^\]]*\])?")
_ONLY_TAG = re.compile(rf"{_TAG.pattern}\s*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WITHOUT_WORDS = re.compile(
    r"bibliographystyle|color|definecolor|enlargethispage|fontsize|geometry|graphicspath|hypersetup|"
    r"index|label|newtheorem|page\w+|pgfplotsset|renewcommand|set\w+|addto\w+|addcontentsline|"
    r"th\w+style|tikzset|use\w+|[vh]s(?:pace|kip)"
)
"""Commands whose arguments no reader of the page sees as words."""
_ONE_NUMBER = ("equation", "multline")
"""Environments with one number; others have one a row."""


def read_latex(source: PageSource) -> ReadPage:
    """
    Return the document whose main file this is, with the files it reads in.

    Raises:
        RecordError: a part is missing, or pandoc cannot read it.
        InputError: pandoc is not installed.
    """
    whole = whole_source(source.path, source.data.removeprefix(BOM_UTF8))
    markup, skipped = _converted(whole)
    root = parse(markup)
    if not "".join(map(str, root.itertext())).strip():
        raise RecordError("no text", "it holds no text")
    labels = dict([*_number_formulas(root), *_number_floats(root)])
    _refer(root, labels)
    _cite(root)
    _keep_notes(root)
    page = page_of(root, markup_chars=len(markup))
    losses = (*page.losses, *([skipped] if skipped.count else []))
    page = page._replace(words_in_file=None, losses=losses)  # its words are pandoc's, not TeX's
    return page if next(root.iter("h1"), None) is not None else page._replace(title="")


def _converted(source: str) -> tuple[str, Loss]:
    """
    Return HTML and what was skipped; pandoc reads the source alone, in bounded time and memory.
    """
    command = [
        _pandoc(),
        *(
            "--from=latex",
            "--to=html",
            "--mathjax",
            "--sandbox",
            "--verbose",
            "--shift-heading-level-by=1",
        ),
        f"--template={_TEMPLATE}",
        *("+RTS", f"-M{MAX_HEAP_MB}m", "-RTS"),
    ]
    try:
        done = subprocess.run(
            command,
            input=source.encode(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env=environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise RecordError("syntax", f"pandoc did not end within {TIMEOUT_S:g} s") from error
    if done.returncode != 0:
        reason = " ".join(_NO_FAULT.sub("", done.stderr.decode(errors="replace")).split())
        raise RecordError("syntax", f"not LaTeX that pandoc can read: {reason[:300]}")
    skipped = _skipped(done.stderr.decode(errors="replace"))
    return f"<html><body>{_CONTROLS.sub('', done.stdout.decode())}</body></html>", skipped


def _skipped(log: str) -> Loss:
    """
    Return the words in commands and environments that pandoc does not know, from its log.
    """
    count, where = 0, ""
    for found in _SKIPPED.finditer(log):
        held, line = found[1], found[2]
        name = _COMMAND.match(held)
        if name is None or _WITHOUT_WORDS.fullmatch(name[1]) or _ONLY_TAG.fullmatch(held):
            continue
        words = len(_WORD.findall(_COMMAND.sub(" ", _TAG.sub(" ", held))))
        if words and not where:
            where = f"first {' '.join(held.split())[:40]} in line {line}, its parts read in"
        count += words
    return Loss("commands and environments that pandoc does not know", count, "words", where)


def _pandoc() -> str:
    """Return where pandoc is: the package's own, or one in PATH."""
    if find_spec("pypandoc") is None:
        raise InputError(f"LaTeX is read by pandoc, which is missing: {INSTALL}, or give its PDF")
    import pypandoc

    try:
        return str(pypandoc.get_pandoc_path())
    except OSError as error:
        raise InputError(
            f"pypandoc is installed without pandoc: {INSTALL}, or give its PDF"
        ) from error


def _number_formulas(root: etree._Element) -> Iterator[tuple[str, str]]:
    """Give formulas the delimiters of Markdown and, where TeX would, their numbers."""
    numbers = count(1)
    for span in list(root.iter("span")):
        kind = span.get("class", "")
        if not kind.startswith("math "):
            continue
        formula = _DELIMITERS.sub("", "".join(map(str, span.itertext()))).strip()
        del span[:]
        if kind == "math inline":
            span.text = f"${formula}$"
            continue
        numbered, labels = _tagged(formula, numbers)
        span.tag = "div"
        span.text = f"$${numbered}$$"
        yield from labels


def _tagged(formula: str, numbers: "count[int]") -> tuple[str, list[tuple[str, str]]]:
    """
    Return a displayed formula with `\tag` for each number TeX gives it, and labels with numbers.
    """
    begun = _NUMBERED.match(formula)
    if begun is None:
        return formula, []
    rows = [formula] if begun[1] in _ONE_NUMBER else _ROW_END.split(formula)
    labels: list[tuple[str, str]] = []
    for at in range(0, len(rows), 2):
        if _UNNUMBERED.search(rows[at]):
            continue
        number = str(next(numbers))
        found = _LABEL.search(rows[at])
        if found:
            labels.append((found[1], number))
            rows[at] = _LABEL.sub(rf"\\tag{{{number}}}", rows[at], count=1)
    return "".join(rows), labels


def _number_floats(root: etree._Element) -> Iterator[tuple[str, str]]:
    """Let captions begin with what they are and their number, as in print."""
    for tag, name in (("caption", "Table"), ("figcaption", "Figure")):
        for number, caption in enumerate(root.iter(tag), start=1):
            caption.text = f"{name} {number}: {(caption.text or '').lstrip()}"
            holder = caption.getparent()
            for element in (holder, None if holder is None else holder.getparent()):
                if element is not None and element.get("id"):
                    yield element.get("id", ""), f"{name} {number}"


def _refer(root: etree._Element, labels: dict[str, str]) -> None:
    """Fill references in: `ref` with the number alone, `autoref` and the like with its kind too."""
    for link in list(root.iter("a")):
        target = labels.get(link.get("data-reference", ""))
        if target is None:
            continue
        kind = link.get("data-reference-type", "ref")
        name, _, number = target.rpartition(" ")
        shown = {"eqref": f"({number})", "ref": number}.get(kind, f"{name or 'Equation'} {number}")
        del link[:]
        link.text = shown


def _cite(root: etree._Element) -> None:
    """Show the keys of what is cited."""
    for span in list(root.iter("span")):
        if "citation" in span.get("class", "").split() and not _said(span):
            span.text = f"[{', '.join(span.get('data-cites', '').split())}]"


def _keep_notes(root: etree._Element) -> None:
    """Footnotes and the marks that lead to them, as Markdown has them."""
    for link in list(root.iter("a")):
        if "footnote-ref" in link.get("class", "").split():
            number = _said(link)
            del link[:]
            link.text = f"[^{number}]"
        elif "footnote-back" in link.get("class", "").split():
            del link[:]
            link.text = None
    for section in root.iter("section", "aside", "div"):
        if "footnotes" not in section.get("class", "").split():
            continue
        for nth, item in enumerate(section.iter("li"), start=1):
            item.tag = "div"
            first = next(item.iter("p"), item)
            first.text = f"[^{nth}]: {first.text or ''}"


def _said(element: etree._Element) -> str:
    return "".join(map(str, element.itertext())).strip()
