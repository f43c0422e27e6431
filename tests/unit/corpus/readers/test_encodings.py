"""Bytes of page files as text."""

import pytest

from benchmarks.encodings import TEXTS, samples
from ccrag.corpus.readers.encodings import decode_page, likely_encoding
from ccrag.corpus.readers.page import Loss

UMLAUTS = "Größere Änderungen. " * 3
NOT_FOUND = {("Russian", "cp866")}
"""DOS encodings are left out: with them, short English is taken for one."""


def test_undeclared_texts_in_many_encodings_are_read() -> None:
    wrong = {(lang, enc) for lang, enc, data, text in samples() if decode_page(data) != (text, ())}
    assert wrong == NOT_FOUND


@pytest.mark.parametrize("language", TEXTS)
def test_declared_and_utf8_texts_are_read(language: str) -> None:
    text, encodings = TEXTS[language]
    assert decode_page(text.encode()) == (text, ())
    for encoding in encodings:
        data = text.encode(encoding, "ignore")
        if not encoding.startswith("utf-16"):
            assert decode_page(data, declared=encoding) == (data.decode(encoding), ())


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("iso-8859-1", b"\x80 5, \x93so\x94", "€ 5, “so”"),
        ("US-ASCII", b"\x80 5", "€ 5"),
        (" Latin1 ", b"\x80 5", "€ 5"),
        ("gb2312", "镕 𠮷".encode("gb18030"), "镕 𠮷"),
        ("gb2312", "联通".encode("gbk"), "联通"),
        ("shift_jis", "①髙".encode("cp932"), "①髙"),
        ("ks_c_5601-1987", "똠".encode("cp949"), "똠"),
        ("big5", "嘅".encode("big5hkscs"), "嘅"),
        ("iso-8859-9", "ğ€".encode("cp1254"), "ğ€"),
        ("x-user-defined", b"\x80", "€"),
        ("utf-16", "ä".encode(), "ä"),
        ("utf-8", b"caf\xc3\xa9", "café"),
        ("iso-8859-1", UMLAUTS.encode(), UMLAUTS),
        ("no such thing", UMLAUTS.encode("cp1252"), UMLAUTS),
        ("rot13", b"plain", "plain"),
    ],
)
def test_a_label_means_what_it_means_in_a_browser(label: str, data: bytes, text: str) -> None:
    assert decode_page(data, declared=label) == (text, ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_beats_a_declaration(encoding: str) -> None:
    data = "\ufeffäöü 人".encode(encoding)
    assert decode_page(data, declared="windows-1252") == ("äöü 人", ())


@pytest.mark.parametrize(
    ("data", "declared", "text", "loss"),
    [
        (b"caf\xe9 au lait", "utf-8", "caf\ufffd au lait", ("bytes that are not UTF-8", 1, 3)),
        (
            "中文".encode("gbk") + b"\xff and on",
            "gb2312",
            "中文\ufffd and on",
            ("bytes that are not gb18030", 1, 4),
        ),
        (
            UMLAUTS.encode() + b"\xff\xfe on",
            None,
            UMLAUTS + "\ufffd\ufffd on",
            ("bytes that are not UTF-8", 2, len(UMLAUTS.encode())),
        ),
        (
            b"\xef\xbb\xbf" + "\ufffd".encode() + b"\xff",
            None,
            "\ufffd\ufffd",
            ("bytes that are not UTF-8", 1, 6),
        ),
    ],
)
def test_undecodable_bytes_are_reported_and_stop_nothing(
    data: bytes, declared: str | None, text: str, loss: tuple[str, int, int]
) -> None:
    kind, count, first = loss
    assert decode_page(data, declared=declared) == (
        text,
        (Loss(kind, count, "bytes", f"byte {first}"),),
    )


def test_nul_characters_are_left_out_and_counted() -> None:
    assert decode_page(b"a\0b\0c in plain words") == (
        "abc in plain words",
        (Loss("NUL characters", 2, "characters"),),
    )


def test_byte_order_marks_of_joined_files_are_left_out() -> None:
    data = "\ufeffone\n".encode() + "\ufefftwo\n".encode()
    loss = Loss("byte order marks", 1, "characters", intended=True)
    assert decode_page(data) == ("one\ntwo\n", (loss,))


def test_too_little_to_tell_is_windows_1252() -> None:
    data = b'<p class="copyright">Copyright \xa9 2001 J. Doe</p>'
    assert decode_page(data)[0] == data.decode("cp1252")


def test_the_telling_lines_of_a_long_file_are_enough() -> None:
    data = b"plain words\n" * 50_000 + UMLAUTS.encode("cp1252")
    assert decode_page(data)[0].endswith(UMLAUTS)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "UTF-8"),
        ("utf-16", "utf-16-le"),
        ("cp1251", "windows-1251"),
        ("cp932", "shift_jis"),
    ],
)
def test_the_likely_encoding_has_the_name_people_know(encoding: str, name: str) -> None:
    language = "Russian" if encoding == "cp1251" else "Japanese"
    assert likely_encoding(TEXTS[language][0].encode(encoding)) == name
