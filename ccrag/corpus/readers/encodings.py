"""
The text of a page file, whatever encoding it is in: the rules that browsers follow, and a detector
where a file says nothing. Pure: no I/O, no settings.

Records are data that a program wrote: they stay UTF-8 (see `records`), and `likely_encoding` only
helps to say what they are instead.
"""

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

from ccrag.corpus.readers.page import Loss

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDER = {"gbk": "gb18030", "x-user-defined": "cp1252", "iso-2022-kr": "iso2022_kr"}
"""By standard name, the codec that reads it: `gbk` is read as its superset, and the label
x-user-defined, which only programs can mean, as windows-1252 (WHATWG Encoding and HTML, 2024)."""
_MULTIBYTE = frozenset(("gb18030", "cp932", "euc_jp", "iso2022_jp", "big5hkscs", "cp949"))
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_BROKEN_SHARE = 0.5
"""Bytes outside UTF-8 for each of its sequences, up to which a file is broken UTF-8 rather than
another encoding: one-byte and Asian encodings have far more of them than of chance sequences."""
_CHANCE_SEQUENCES = 3
"""Two-byte encodings may form so many UTF-8 sequences by chance (a GBK character in about 7)."""
_ENOUGH_TO_DETECT = 4
"""Bytes above ASCII from which a detector is asked; a lone "©" is what browsers take it for."""
_SAMPLE_BYTES = 100_000
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")


class _Decoded(NamedTuple):
    text: str
    undecodable: int
    first: int | None
    """The byte offset of the first one."""


def decode_page(data: bytes, *, declared: str | None = None) -> tuple[str, tuple[Loss, ...]]:
    """
    Return the text of a page file and what could not be decoded.

    The encoding is, in this order: that of a byte order mark; what the page declares; UTF-8, if
    it is that but for some broken bytes; what a detector finds. As in a browser, a declared
    iso-8859-1 or ascii means windows-1252, and gb2312 means gb18030 (WHATWG Encoding). Unlike in
    one, valid UTF-8 beats a declaration: the server's own word, which comes first for a browser,
    is lost in a file. Undecodable bytes become U+FFFD; NUL characters and byte
    order marks inside the text are left out.

    Args:
        declared: the label that the page gives for its encoding; an unknown one is as good as none.
    """
    bom, encoding = _by_bom(data)
    body = data[len(bom) :]
    if encoding is None:
        encoding = _by_declaration(body, declared) or _undeclared(body)
    decoded = _decode(body, encoding)
    losses: list[Loss] = []
    if decoded.first is not None:
        kind = f"bytes that are not {_standard_name(encoding)}"
        where = f"byte {len(bom) + decoded.first:,}"
        losses.append(Loss(kind, decoded.undecodable, "bytes", where))
    if nuls := decoded.text.count("\0"):
        losses.append(Loss("NUL characters", nuls, "characters"))
    if marks := decoded.text.count("\ufeff"):  # where files were joined; it hides in words
        losses.append(Loss("byte order marks", marks, "characters", intended=True))
    return decoded.text.replace("\0", "").replace("\ufeff", ""), tuple(losses)


def likely_encoding(data: bytes) -> str:
    """Return the standard name of the encoding that `data` seems to be in."""
    _, encoding = _by_bom(data)
    return _standard_name(encoding or _undeclared(data))


def bom_encoding(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark that `data` starts with and its codec; b"" and UTF-8 if none."""
    bom, encoding = _by_bom(data)
    return bom, encoding or "utf-8"


def _by_bom(data: bytes) -> tuple[bytes, str | None]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return bom, encoding
    return b"", None


def _by_declaration(data: bytes, declared: str | None) -> str | None:
    """Return the codec that a declaration leads to; None without a usable one."""
    encoding = _codec(declared) if declared else None
    if encoding is None or data.isascii():
        return encoding
    if encoding.startswith("utf-16"):  # nobody could have read the declaration (HTML standard)
        return "utf-8"
    enough = _CHANCE_SEQUENCES if encoding in _MULTIBYTE else 0
    return "utf-8" if _is_utf8(data) and _sequences(data) > enough else encoding


def _codec(label: str) -> str | None:
    """
    Return the Python codec for a label by WHATWG's table; for labels outside it, Python's own.
    """
    import webencodings  # here, because only files that declare or hide an encoding need it

    found = webencodings.lookup(label)
    if found is not None and found.name != "replacement":
        return _WIDER.get(found.name, str(found.codec_info.name))
    try:
        "x".encode(label)
        return codecs.lookup(label).name
    except (LookupError, ValueError):
        return None


def _undeclared(data: bytes) -> str:
    """Return the likely codec of a file that does not state one."""
    if b"\0" in data or _ISO_2022_JP.search(data):
        return _detected(data[:_SAMPLE_BYTES]) or "utf-8"
    if _is_utf8(data):
        return "utf-8"
    broken = _decode(data, "utf-8").undecodable
    if broken <= _BROKEN_SHARE * _sequences(data):
        return "utf-8"
    sample = _telling(data.splitlines(keepends=True))
    if sum(byte > 0x7F for byte in sample) < _ENOUGH_TO_DETECT:
        return "cp1252"
    return _detected(sample) or "utf-8"


def _telling(lines: Iterable[bytes]) -> bytes:
    """
    Return the lines that distinguish encodings, those with bytes above ASCII, as far as needed.
    """
    sample = bytearray()
    for line in lines:
        if not line.isascii():
            sample += line
            if len(sample) >= _SAMPLE_BYTES:
                break
    return bytes(sample)


def _detected(sample: bytes) -> str | None:
    """
    Return the codec a detector finds; None if the bytes are no text to it.

    chardet 7 held to the encodings of the web and of ISO reads 86 of 88 samples right and misses
    DOS Cyrillic; with all its encodings it takes short English for MacLatin2 instead;
    charset-normalizer reads 68 (`python -m benchmarks.encodings`).
    """
    import chardet

    eras = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
    found = chardet.detect(sample, encoding_era=eras, max_bytes=_SAMPLE_BYTES)["encoding"]
    encoding = _codec(found) if isinstance(found, str) else None
    if encoding == "iso8859-15" and _decode(sample, encoding) == _decode(sample, "cp1252"):
        return "cp1252"  # the two cannot be distinguished
    return encoding


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _sequences(data: bytes) -> int:
    """Return how many UTF-8 sequences of two bytes and more there are."""
    return sum(1 for _ in _UTF8_SEQUENCE.finditer(data))


def _decode(data: bytes, encoding: str) -> _Decoded:
    try:
        return _Decoded(data.decode(encoding), 0, None)
    except UnicodeDecodeError as error:
        first = error.start
    text = data.decode(encoding, "replace")
    try:
        meant = data.count("\ufffd".encode(encoding))
    except UnicodeEncodeError:
        meant = 0
    return _Decoded(text, max(text.count("\ufffd") - meant, 1), first)


def _standard_name(encoding: str) -> str:
    """Return the name of a codec that people know."""
    names = {"cp932": "shift_jis", "cp949": "euc-kr", "big5hkscs": "big5", "utf-8": "UTF-8"}
    name = re.sub(r"^cp(?=125|874)", "windows-", encoding)
    return names.get(encoding, name.replace("iso8859", "iso-8859"))
