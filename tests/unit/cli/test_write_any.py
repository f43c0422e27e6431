"""What is printed where the locale has no bytes for it."""

import io

import pytest

from ccrag.cli import _write_any_character


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("ascii", "“é”".encode()), ("latin-1", b"\\u201c\xe9\\u201d"), ("utf-8", "“é”".encode())],
)
def test_what_is_printed_never_ends_a_command(encoding: str, written: bytes) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    _write_any_character(stream)
    stream.write("“é”")
    stream.flush()
    assert stream.buffer.getvalue() == written
