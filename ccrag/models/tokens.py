"""Counting tokens as the model that reads them does. Imports tokenizers inside what needs it."""

import hashlib
from pathlib import Path

from ccrag.errors import ModelError
from ccrag.models.folder import find_model
from ccrag.models.locate import require_package
from ccrag.text.tokens import TokenCounter, estimate_tokens

FILE = "tokenizer.json"
ESTIMATE = "estimate"
"""Identity of the count without a tokenizer."""
_INSTALL = "pip install tokenizers"
_COPY = "copy its tokenizer.json here and give the path (--set budget.tokenizer=FILE)"


def load_token_counter(name: str | None) -> TokenCounter:
    """
    Return the counter of the tokenizer `name`: a file, a folder or a model's name; None: the
    estimate.

    Special tokens are not counted.

    Raises:
        ModelError: there is no such tokenizer, or the package that runs it is missing.
    """
    if name is None:
        return estimate_tokens
    require_package("tokenizers", purpose="budget.tokenizer", install=_INSTALL)
    from tokenizers import Tokenizer

    path = _file(name)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise ModelError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def tokenizer_identity(name: str | None) -> str:
    """
    Return what tells the counts of `load_token_counter(name)` from others': hex digits, or
    `ESTIMATE`.

    Raises:
        ModelError: there is no such tokenizer.
    """
    if name is None:
        return ESTIMATE
    return hashlib.blake2b(_file(name).read_bytes(), digest_size=8).hexdigest()


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_file():
        return path
    folder = path if path.is_dir() else find_model(name, remedy=_COPY).path
    if not (folder / FILE).is_file():
        raise ModelError(f"no {FILE} in {folder}; {_COPY}")
    return folder / FILE
