"""Small files of every kind are read within the memory that an upload may take."""

from pathlib import Path

import pytest

from ccrag.corpus.readers.isolated import ReadLimits, read_isolated
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
