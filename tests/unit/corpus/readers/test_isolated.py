"""Files of every kind are read within the memory that an upload may take."""

import gzip
from pathlib import Path

import pytest

from ccrag.corpus.readers.isolated import ReadLimits, read_isolated
from ccrag.errors import InputError
from tests.pdf import pdf_of, text_at


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b'[{"id": "a", "text": "The pump cools."}]'),
        ("a.pdf", pdf_of([text_at(72, 700, "The pump cools.")])),
    ],
)
def test_a_small_file_takes_little_memory(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    limits = ReadLimits(memory_mb=320, seconds=20)
    [document] = read_isolated(path, limits, still_wanted=lambda: None).documents
    assert document.text.strip() == "The pump cools."


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_a_large_file_is_refused_without_naming_settings(tmp_path: Path, name: str) -> None:
    """Who uploads a file cannot raise the limits of the server."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(bytes(90_000_000)))
    with pytest.raises(InputError, match=r"more than 83,886,080 bytes.*; split it$"):
        read_isolated(path, ReadLimits(memory_mb=320, seconds=20), still_wanted=lambda: None)
