"""LaTeX sources as Markdown, through pandoc."""

import time
from pathlib import Path

import pytest

from ccrag.chunking.blocks import find_blocks
from ccrag.corpus.faults import RecordError
from ccrag.corpus.load import LoadReport, SourceFile, find_files, read_documents
from ccrag.corpus.pages import read_page
from ccrag.corpus.readers.latex_source import whole_source
from ccrag.corpus.report import page_problems
from ccrag.errors import InputError
from ccrag.types import Document

WHOLE = r"\documentclass{article}\begin{document}%s\end{document}"


def read(path: Path) -> Document:
    report = LoadReport()
    (document,) = read_documents(find_files([path], report), report=report)
    return document


def write(folder: Path, body: str, *, name: str = "paper.tex", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(body, encoding=encoding)
    return path


def text_of(folder: Path, body: str) -> str:
    return read(write(folder, WHOLE % body)).text.strip()


def test_sections_title_abstract_and_own_commands(tmp_path: Path) -> None:
    document = read(
        write(
            tmp_path,
            r"""\documentclass{article}\newcommand{\dk}{d_k}
            \title{A Test of {\em Reading}}\author{A. One}
            \begin{document}\maketitle
            \begin{abstract}We scale by $\sqrt{\dk}$, 50\% of the time.\end{abstract}
            \section{Model}\subsection{Attention} Text~here. % and no comment
            \end{document}""",
        )
    )
    assert document.title == "A Test of Reading"
    assert document.text.splitlines()[::2] == [
        "# A Test of Reading",
        "A. One",
        "## Abstract",
        r"We scale by $\sqrt{d_k}$, 50% of the time.",
        "## Model",
        "### Attention",
        "Text here.",
    ]


def test_without_a_title_the_first_heading_stands_in(tmp_path: Path) -> None:
    assert read(write(tmp_path, WHOLE % r"\section{Only} Text.")).title == "Only"


@pytest.mark.parametrize(
    "table",
    [
        r"\begin{table}%s\end{table}",
        r"\begin{table*}%s\end{table*}",
        r"\begin{sidewaystable}%s\end{sidewaystable}",
        r"\begin{wraptable}[9]{r}{5cm}%s\end{wraptable}",
    ],
)
def test_tables_are_numbered_and_referred_to(tmp_path: Path, table: str) -> None:
    grid = r"\begin{tabular}{lr}a & 1 \\ \multirow{2}{*}{b} & 2 \\ & 3\end{tabular}"
    boxed = rf"\resizebox{{\textwidth}}{{!}}{{{grid}}}"
    first = r"\begin{table}\begin{tabular}{l}x\end{tabular}\caption{Not labelled.}\end{table}"
    second = table % rf"{boxed}\caption{{Values.\label{{tab:v}}}}"
    text = text_of(tmp_path, rf"{first}{second} See Table~\ref{{tab:v}}, \autoref{{tab:v}}.")
    assert "Table 1: Not labelled." in text
    assert "Table 2: Values.\n\n| a | 1 |\n| b | 2 |\n| b | 3 |" in text
    assert text.endswith("See Table 2, Table 2.")
    kinds = [block.kind for block in find_blocks(text)]
    assert kinds == ["caption", "table", "caption", "table", "paragraph"]


def test_formulas_have_the_numbers_of_print(tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        r"""\begin{equation} a \end{equation} \[ b \]
        \begin{align} c &= d \label{x} \\ e &= f \nonumber \\ g &= h \label{y} \end{align}
        By \eqref{y} and \ref{x} and \cref{y}.""",
    )
    blocks = [text[block.start : block.end].strip() for block in find_blocks(text)]
    assert blocks == [
        r"$$\begin{equation} a \end{equation}$$",
        "$$b$$",
        r"$$\begin{align} c &= d \tag{2} \\ e &= f \nonumber \\ g &= h \tag{3} \end{align}$$",
        "By (3) and 2 and Equation 3.",
    ]


def test_footnotes_citations_and_works(tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        r"""As \citet{smith} says\footnote{In passing.}.
        \begin{thebibliography}{9}\bibitem[S(2019)]{smith} Smith. A paper.
        \end{thebibliography}""",
    )
    assert text.split("\n\n") == [
        "As [smith] says[^1].",
        "## References",
        "[smith] Smith. A paper.",
        "[^1]: In passing.",
    ]


def test_parts_are_read_in(tmp_path: Path) -> None:
    (tmp_path / "sections").mkdir()
    write(tmp_path / "sections", r"One. \input{sections/two}", name="one.tex")
    write(tmp_path / "sections", r"Two.", name="two.tex")
    write(
        tmp_path, r"\begin{thebibliography}{1}\bibitem{k} Work.\end{thebibliography}", name="p.bbl"
    )
    lines = (
        r"\input{sections/one.tex}",
        r"% \input{gone}",
        r"50\% \input sections/two",
        r"\bibliography{refs}",
    )
    main = write(tmp_path, WHOLE % "\n".join(lines), name="p.tex")
    assert read(main).text.split("\n\n") == ["One. Two. 50% Two.", "## References", "[k] Work.\n"]


def test_a_folder_gives_whole_documents_alone(tmp_path: Path) -> None:
    write(tmp_path, WHOLE % r"\input{part}", name="main.tex")
    write(tmp_path, "Text.", name="part.tex")
    report = LoadReport()
    documents = list(read_documents(find_files([tmp_path], report), report=report))
    assert [(d.doc_id, d.text) for d in documents] == [("main.tex", "Text.\n")]
    assert report.unsupported == {".tex that is part of another": 1}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (r"\input{gone}", "paper.tex: reads in 'gone', which is not in its folder"),
        (r"\input{../secret}", "reads in '../secret', outside its folder"),
        (r"\input{/etc/hostname}", "outside its folder"),
        (r"\input{paper}", r"reads itself in \(paper.tex → paper.tex\); take out one \\input"),
        (r"\input{b}", r"reads itself in \(paper.tex → b.tex → c.tex → b.tex\)"),
        (r"\input{d}" * 201, "reads in over 200 parts"),
        (r"\newcommand{\loop}{\loop x}\loop", "not LaTeX that pandoc can read"),
        ("", "it holds no text"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, body: str, problem: str) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path, "secret", name="secret.tex")
    write(tmp_path / "in", r"\input{c}", name="b.tex")
    write(tmp_path / "in", r"\input{b}", name="c.tex")
    write(tmp_path / "in", "d", name="d.tex")
    with pytest.raises(InputError, match=problem):
        read(write(tmp_path / "in", WHOLE % body))


def test_pandoc_itself_reads_no_file(tmp_path: Path) -> None:
    secret = write(tmp_path, "a,b", name="secret.csv")
    body = rf"Text. \lstinputlisting{{{secret}}} \includegraphics{{{secret}}}"
    assert "a,b" not in text_of(tmp_path, body)


def test_declared_encodings(tmp_path: Path) -> None:
    body = r"\documentclass{article}\usepackage[latin1]{inputenc}\begin{document}Café\end{document}"
    assert read(write(tmp_path, body, encoding="latin-1")).text == "Café\n"
    undeclared = write(tmp_path, WHOLE % "Café", encoding="latin-1")
    with pytest.raises(RecordError, match="not utf-8: byte 0xe9 at 42; declare its encoding"):
        read(undeclared)
    unknown = write(tmp_path, body.replace("latin1", "dec"), encoding="latin-1")
    with pytest.raises(RecordError, match="inputenc 'dec' is not known"):
        read(unknown)


def test_boxes_of_another_form_are_left_alone(tmp_path: Path) -> None:
    source = r"\scalebox{2}[1]{x} \resizebox{1}{!}{y{z}} \rotatebox{90}{w"
    whole = whole_source(tmp_path / "p.tex", source.encode())
    assert whole == r"\scalebox{2}[1]{x} y{z} \rotatebox{90}{w"


def test_without_pandoc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccrag.corpus.readers.latex.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'ccrag\[latex\]'"):
        read(write(tmp_path, WHOLE % "Text."))


def test_parts_and_works_cannot_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, WHOLE % (r"\input{part}" * 3 + r"\bibliography{a}" * 3))
    write(tmp_path, "p" * 400, name="part.tex")
    write(tmp_path, "works " * 50, name="paper.bbl")
    source = whole_source(path, path.read_bytes())
    assert (source.count("p" * 400), source.count("works")) == (3, 50)
    monkeypatch.setattr("ccrag.corpus.readers.latex_source.MAX_BYTES", 1_000)
    with pytest.raises(RecordError, match=r"with all its parts \('part.tex' was next\)"):
        whole_source(path, path.read_bytes())


@pytest.mark.parametrize(
    "opening",
    [r"\resizebox{", r"\input{ ", r"\begin{wraptable}[", r"\rule[", r"\bibitem[", "{", " \\\\"],
)
def test_what_is_never_closed_costs_no_more_than_its_length(tmp_path: Path, opening: str) -> None:
    body = (opening * 40_000).encode()
    started = time.process_time()
    source = whole_source(tmp_path / "paper.tex", body)
    assert time.process_time() - started < 2
    assert len(source) <= len(body)


def test_what_pandoc_skips_is_counted(tmp_path: Path) -> None:
    body = "Known text.\\vspace{1cm} \\marginpar{Words in\nthe margin} \\index{many} \\tweak\n"
    body += "\\begin{weird}[opt]\nkept words\n\\end{weird}\n"
    path = write(tmp_path, WHOLE % body)
    document, page = read_page(SourceFile(path, "p"))
    assert "kept words" in document.text
    [loss] = page.losses
    assert (loss.kind, loss.count, loss.unit, loss.intended) == (
        "commands and environments that pandoc does not know",
        4,
        "words",
        False,
    )
    assert loss.where.startswith(r"first \marginpar{Words in the margin} in line ")
    assert any("words of commands" in problem for problem in page_problems(page))
