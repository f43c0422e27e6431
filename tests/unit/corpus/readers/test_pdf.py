"""PDF files: what is lost is told, what is broken is refused, what is shown is read."""

import zlib
from pathlib import Path

import pytest

from ccrag.corpus.faults import RecordError
from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.readers import pdf as reader
from ccrag.corpus.readers.page import Loss
from ccrag.corpus.readers.page_tree import pages_in_tree
from ccrag.corpus.report import page_problems
from tests.pages import read_pdf
from tests.pdf import pdf_of, stream, text_at

WHOLE_PAGE = "q 612 0 0 792 0 0 cm /I Do Q "
IMAGE = stream(
    "x",
    "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
)
WITH_IMAGE = "/Resources << /Font << /F1 3 0 R >> /XObject << /I 4 0 R >> >>"
LOOK = stream(
    "BT /F1 10 Tf 2 5 Td (Shown by its look) Tj ET",
    "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>",
)
MISSING_PAGE = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\ntrailer<</Root 1 0 R>>\n"
)


def lines(*texts: str) -> str:
    return "\n".join(text_at(72, 700 - 14 * at, text) for at, text in enumerate(texts))


BODY = lines("Dams hold back water", "and locks lift ships", "over the weir.")
READ = "Dams hold back water and locks lift ships over the weir."


def test_all_words_are_counted() -> None:
    page = read_pdf(pdf_of([BODY, lines("Ships pass.")]))
    assert (page.text, page.words_in_file, page.losses) == (f"{READ}\n\nShips pass.", 13, ())


def test_scanned_pages_are_reported_as_they_are() -> None:
    scans = [WHOLE_PAGE + text_at(10, 10, f"stamp {'abcdefg'[at]}") for at in range(7)]
    pages = [BODY, *scans, WHOLE_PAGE, lines("Ships.")]
    page = read_pdf(pdf_of(pages, page=WITH_IMAGE, others=[IMAGE]))
    few = "pages with only a few words beside a picture"
    assert page.losses == (
        Loss("pages without text", 1, "pages", "page 9"),
        Loss(few, 7, "pages", "pages 2-8"),
    )
    assert list(page_problems(page)) == [
        "1 of 10 pages without text (page 9)",
        f"7 of 10 {few} (pages 2-8)",
    ]
    assert "stamp a" in page.text


def test_blank_pages_and_text_over_pictures_are_no_loss() -> None:
    over = WHOLE_PAGE + "3 Tr " + lines(*["text that was recognised"] * 4)  # invisible
    page = read_pdf(pdf_of([BODY, "", over], page=WITH_IMAGE, others=[IMAGE]))
    assert page.losses == ()
    assert page.text.count("recognised") == 4


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (MISSING_PAGE, "none of its pages can be read .*: repair it"),
        (b"no pdf", "not a PDF that can be read"),
        (pdf_of([BODY])[:300], "not a PDF that can be read .is it incomplete"),
        (pdf_of([], pages="/Kids [] /Count 0"), "not a PDF that can be read|no pages"),
        (pdf_of([""]), "holds no text"),
        (pdf_of([WHOLE_PAGE] * 3, page=WITH_IMAGE, others=[IMAGE]), "is it scanned"),
        (
            pdf_of(
                [BODY],
                trailer="/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 "
                f"/O ({'x' * 32}) /U ({'y' * 32}) >> /ID [(a) (b)]",
            ),
            "locked: unlock it first .e.g. qpdf --decrypt",
        ),
        (
            pdf_of([BODY], trailer="/Encrypt << /Filter /Other /V 9 >> /ID [(a) (b)]"),
            "locked by an unknown method",
        ),
    ],
)
def test_what_cannot_be_read_is_a_record_error(data: bytes, problem: str) -> None:
    with pytest.raises(RecordError, match=problem):
        read_pdf(data)


def test_a_broken_pdf_does_not_stop_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(MISSING_PAGE)
    (tmp_path / "good.pdf").write_bytes(pdf_of([BODY]))
    report = LoadReport()
    found = read_documents(find_files([tmp_path], report), on_error="skip", report=report)
    assert [document.doc_id for document in found] == ["good.pdf"]
    assert report.skipped == {"syntax": 1}


@pytest.mark.parametrize(
    ("pages", "lost", "where"),
    [
        ("/Kids [4 0 R 99 0 R 6 0 R] /Count 3", 1, "page 2"),
        ("/Kids [4 0 R 2 0 R 6 0 R] /Count 3", 1, "page 3"),  # itself
        ("/Kids [4 0 R 6 0 R] /Count 5", 3, "pages 3-5"),
    ],
)
def test_a_page_that_cannot_be_read_is_a_loss(pages: str, lost: int, where: str) -> None:
    page = read_pdf(pdf_of([BODY, lines("Ships pass.")], pages=pages))
    assert page.text.startswith(READ)
    assert "Ships pass." in page.text
    [loss] = page.losses
    assert loss == Loss("pages that cannot be read", lost, "pages", where)


@pytest.mark.parametrize(
    "options",
    [
        {"pages": "/Kids [4 0 R] /Count 999999999"},
        {"pages": "/Kids [4 0 R] /Count -1"},
        {"page": "/MediaBox [0 0 1e30 1e30]"},
        {"page": "/MediaBox [0 0 0 0]"},
        {"page": "/UserUnit 10"},
        {"page": "/Rotate 90"},
        {"page": "/Rotate 180"},
        {"page": "/Rotate 270"},
    ],
)
def test_odd_pages_are_read(options: dict[str, str]) -> None:
    assert read_pdf(pdf_of([BODY], **options)).text == READ


@pytest.mark.parametrize(
    "turned", ["0 1 -1 0 612 0", "-1 0 0 -1 612 792", "0 -1 1 0 0 792"], ids=("90", "180", "270")
)
@pytest.mark.parametrize("page", ["", "/Rotate 90", "/Rotate 270"])
def test_turned_text_keeps_its_lines(turned: str, page: str) -> None:
    assert read_pdf(pdf_of([f"q {turned} cm {BODY} Q"], page=page)).text == READ


def test_places_out_of_all_bounds() -> None:
    far = text_at(1e9, 1e9, "Far") + " 0 100 1e12 0.5 re f 0 200 1e12 0.5 re f 0 50 1e12 0.5 re f"
    assert READ in read_pdf(pdf_of([f"{BODY} {far}"])).text
    wide = pdf_of([f"{BODY} q 1e38 0 0 1e38 0 0 cm 1e38 0 0 1e38 0 0 cm {lines('Nowhere')} Q"])
    assert READ in read_pdf(wide).text


ANNOTATION = "<< /Type /Annot /Rect [72 300 272 320] /F 4 /DA (/F1 10 Tf) "


@pytest.mark.parametrize(
    ("annotation", "shown", "comments"),
    [
        ("/Subtype /FreeText /Contents (x y) /AP << /N 5 0 R >> >>", "Shown by its look", 0),
        ("/Subtype /FreeText /Contents (x y) >>", "x y", 0),
        ("/Subtype /Text /Contents (A note) >>", "", 1),
        ("/Subtype /Link >>", "", 0),
        ("/Subtype /Widget /FT /Tx /T (a) /V (b) /AP << /N 5 0 R >> >>", "Shown by its look", 0),
        ("/Subtype /Widget /FT /Tx /T (a) /V (Filled in) >>", "Filled in", 0),
    ],
)
def test_form_fields_and_annotations(annotation: str, shown: str, comments: int) -> None:
    data = pdf_of(
        [BODY],
        page="/Annots [4 0 R]",
        others=[ANNOTATION + annotation, LOOK],
        catalog="/AcroForm << /Fields [4 0 R] /DA (/F1 10 Tf) /DR << /Font << /F1 3 0 R >> >> >>",
    )
    page = read_pdf(data)
    assert page.text == (f"{READ}\n\n{shown}" if shown else READ)
    assert [loss.count for loss in page.losses if loss.kind == "comments"] == [comments] * comments


def test_unshown_free_text_is_a_comment_without_a_form() -> None:
    annotation = f"{ANNOTATION} /Subtype /FreeText /Contents (x y) >>"
    page = read_pdf(pdf_of([BODY], page="/Annots [4 0 R]", others=[annotation]))
    assert (page.text, page.losses) == (READ, (Loss("comments", 1, "parts", "page 1"),))


def test_embedded_files_are_counted() -> None:
    data = pdf_of(
        [BODY],
        others=[
            "<< /Type /Filespec /F (a) /EF << /F 5 0 R >> >>",
            stream("x", "/Type /EmbeddedFile"),
        ],
        catalog="/Names << /EmbeddedFiles << /Names [(a) 4 0 R] >> >>",
    )
    assert read_pdf(data).losses == (Loss("embedded files", 1, "parts"),)


def test_a_title_has_no_control_characters() -> None:
    data = pdf_of([BODY], others=["<< /Title (Dams\\000 and\\001 locks) >>"], trailer="/Info 4 0 R")
    assert read_pdf(data).title == "Dams and locks"


def unicode_font(*codes: str) -> tuple[str, list[str]]:
    """Return objects 3 and 4: a font whose letters a, b, … are `codes`, in hexadecimal."""
    pairs = "\n".join(f"<{97 + at:02x}> <{code}>" for at, code in enumerate(codes))
    to_unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{pairs}\nendbfchar\nendcmap end end"
    )
    widths = " ".join(["1000"] * len(codes))
    font = (
        "<< /Type /Font /Subtype /TrueType /BaseFont /Any /FirstChar 97 "
        f"/LastChar {96 + len(codes)} /Widths [{widths}] /ToUnicode 4 0 R >>"
    )
    return font, [stream(to_unicode)]


def test_characters_without_meaning_are_counted() -> None:
    font, others = unicode_font("e001", "fffd", "0041", "f0b7")
    page = read_pdf(pdf_of([lines("ccc"), lines("abc d")], font=font, others=others))
    assert page.losses == (Loss("characters without meaning", 2, "characters", "page 2"),)
    with pytest.raises(RecordError, match="fonts of the PDF do not say which characters"):
        read_pdf(pdf_of([lines("abab")], font=font, others=others))


def test_lines_of_ideographs_join_without_a_blank() -> None:
    font, others = unicode_font("6c34", "5229", "3002", "0041")  # 水利。A
    text = read_pdf(pdf_of([lines("abab", "abad", "dcab", "c")], font=font, others=others)).text
    assert text == "水利水利水利水A A。水利。"


def test_a_page_named_often_is_read_once() -> None:
    data = pdf_of([BODY, lines("Ships.")], pages=f"/Kids [{'4 0 R ' * 400} 6 0 R] /Count 401")
    page = read_pdf(data)
    assert page.text == f"{READ}\n\nShips."
    assert page.losses == (Loss("repeated pages", 399 * 11, "words", "pages 2-400", intended=True),)
    assert page.words_in_file == 400 * 11 + 1
    assert len(page.pages) == 401


def test_limits_are_named_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = zlib.compress(lines(*["word " * 20] * 200).encode())
    data = pdf_of([packed.decode("latin-1")]).replace(
        b"/Length", b"/Filter /FlateDecode /Length", 1
    )
    monkeypatch.setattr(reader, "MAX_PAGE_CHARS", 10)
    with pytest.raises(RecordError, match="page 1 has .* characters, at most 10 are read"):
        read_pdf(pdf_of([BODY]))
    monkeypatch.setattr(reader, "MAX_PAGE_CHARS", 1_000_000)
    monkeypatch.setattr(reader, "MIN_UNPACKED", 50)
    monkeypatch.setattr(reader, "MAX_UNPACKED", 1)
    assert read_pdf(pdf_of([BODY])).text == READ
    with pytest.raises(RecordError, match="unpack to more than .* characters; is it a bomb"):
        read_pdf(data)
    monkeypatch.setattr(reader, "MAX_FILE_CHARS", 10)
    with pytest.raises(RecordError, match="more than 10 characters: split it"):
        read_pdf(pdf_of([BODY]))
    monkeypatch.setattr(reader, "MAX_PAGES", 1)
    with pytest.raises(RecordError, match="2 pages, at most 1 are read"):
        read_pdf(pdf_of([BODY, BODY]))


@pytest.mark.parametrize("count", [1, 2])
def test_pages_that_the_file_does_not_count_are_reported(count: int) -> None:
    texts = ["The pump runs at 3 bar.", "Valves close on cold days.", "Gauges are read weekly."]
    data = pdf_of(
        [text_at(72, 700, text) for text in texts],
        pages=f"/Kids [4 0 R 6 0 R 8 0 R] /Count {count}",
    )
    page = read_pdf(data)
    assert len(page.pages) == count
    assert page.losses == (
        Loss("pages beyond the number the file states", 3 - count, "pages", "repair it with qpdf"),
    )
    of_all = " of 2" if count == 2 else ""
    assert list(page_problems(page)) == [
        f"{3 - count}{of_all} pages beyond the number the file states (repair it with qpdf)"
    ]


@pytest.mark.parametrize(
    ("broken", "left"), [(b"/Root 1 0 R", None), (b"/Kids [4 0 R", 1), (b"/Pages 2 0 R", None)]
)
def test_a_page_tree_that_cannot_be_followed_says_nothing(broken: bytes, left: int | None) -> None:
    data = pdf_of([text_at(72, 700, "words")], pages="/Kids [4 0 R] /Count 1")
    assert pages_in_tree(data) == 1
    assert pages_in_tree(data.replace(broken, broken.replace(b"0 R", b"0 S"))) == left
    assert pages_in_tree(data.replace(b"4 0 obj", b"9 0 obj")) is None
    looped = data.replace(b"/Kids [4 0 R]", b"/Kids [2 0 R 4 0 R]")
    assert pages_in_tree(looped) == 1


def test_lines_that_are_all_there_is_are_no_running_heads() -> None:
    page = read_pdf(pdf_of([text_at(72, 700, f"Certificate number {n}") for n in range(1, 6)]))
    assert page.text.count("Certificate number") == 5
