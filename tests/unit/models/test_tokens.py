"""Counting tokens: the estimate by hand, and a real tokenizer where one is installed."""

from pathlib import Path

import pytest

from ccrag.errors import ModelError
from ccrag.models.tokens import load_token_counter
from ccrag.text.tokens import estimate_tokens

ENCODER = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n", 0),
        ("one two", 2),
        ("sevenly", 1),
        ("eightlet", 2),
        ("elevenlette", 3),
        ("a_b + (c)", 5),
        ("斑马迁徙", 4),
        ("f(x)，斑马", 4 + 3),
        ("😀😀", 2),
    ],
)
def test_the_estimate_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_without_a_name_the_estimate_counts() -> None:
    assert load_token_counter(None) is estimate_tokens


def test_a_tokenizer_file_counts_as_its_model_does(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for name in (tmp_path, tmp_path / "tokenizer.json"):
        assert load_token_counter(str(name))("a b longerword a") == 4


def test_what_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    broken = tmp_path / "tokenizer.json"
    broken.write_text("{}")
    with pytest.raises(ModelError, match="tokenizer.json is no tokenizer"):
        load_token_counter(str(broken))
    with pytest.raises(ModelError, match=r"no tokenizer.json in"):
        load_token_counter(str(tmp_path.parent))
