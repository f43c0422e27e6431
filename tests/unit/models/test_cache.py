"""Vectors on disk: kept once, found again, safe for several processes."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from ccrag.errors import ModelError
from ccrag.models.cache import CachedVector, VectorCache, key_of

WRITER = """
import sys
from pathlib import Path
from ccrag.models.cache import CachedVector, VectorCache, key_of

cache = VectorCache(Path(sys.argv[1]))
for text in range(200):
    cache.add({key_of("", str(text)): CachedVector(sys.argv[2].encode() * 4, False)})
"""


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "new" / "vectors.sqlite")


def vector(*values: float, truncated: bool = False) -> CachedVector:
    return CachedVector(np.array(values, dtype="<f4").tobytes(), truncated)


def test_cached_vectors_are_found_after_opening_anew(cache: VectorCache) -> None:
    kept = {b"a": vector(1, 0), b"b": vector(0, 1, truncated=True)}
    cache.add(kept)
    assert cache.fetch([b"b", b"absent", b"a"]) == kept
    assert VectorCache(cache.path).fetch([b"a", b"b"]) == kept
    assert len(cache) == 2


def test_no_keys_find_nothing_and_add_nothing(cache: VectorCache) -> None:
    cache.add({})
    assert cache.fetch([]) == {}
    assert cache.fetch([b"a"]) == {}
    assert len(cache) == 0


def test_what_was_written_first_stays(cache: VectorCache) -> None:
    cache.add({b"a": vector(1, 0)})
    cache.add({b"a": vector(0, 1), b"b": vector(0, 1)})
    assert cache.fetch([b"a", b"b"]) == {b"a": vector(1, 0), b"b": vector(0, 1)}


def test_prefix_and_text_are_separate_in_the_key() -> None:
    keys = {key_of("ab", "c"), key_of("a", "bc"), key_of("", "abc"), key_of("abc", "")}
    assert len(keys) == 4
    assert key_of("", "\ud800") != key_of("", "?")  # a lone surrogate is a text too


def test_another_model_or_option_has_another_file(tmp_path: Path) -> None:
    stated = [
        {"revision": "1", "precision": "fp32"},
        {"revision": "2", "precision": "fp32"},
        {"revision": "1", "precision": "bf16"},
    ]
    paths = {VectorCache.of(tmp_path, "owner/model name", one).path for one in stated}
    assert len(paths) == 3
    assert VectorCache.of(tmp_path, "copy/of it", stated[0]).path.name.startswith("of-it-")


def test_twenty_thousand_keys_are_looked_up_within_a_second(cache: VectorCache) -> None:
    keys = [key_of("", str(number)) for number in range(20_000)]
    cache.add({key: CachedVector(bytes(4 * 384), False) for key in keys})
    began = perf_counter()
    assert len(cache.fetch(keys)) == len(keys)
    assert perf_counter() - began < 1


def test_processes_write_at_once_and_one_of_them_is_first(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), letter]) for letter in "ab"
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    found = VectorCache(path).fetch([key_of("", str(text)) for text in range(200)])
    assert len(found) == 200
    assert {kept.vector for kept in found.values()} <= {b"aaaa", b"bbbb"}


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(ModelError, match=r"vectors\.sqlite cannot be used.*delete it, or pass"):
        VectorCache(path)


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"encoder\.cache=false"):
        VectorCache(tmp_path / "file" / "vectors.sqlite")
