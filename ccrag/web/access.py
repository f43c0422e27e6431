"""
Bearer tokens and what each may read. One place decides; nothing of what is forbidden gets past it.

The token file is TOML:

    [tokens.clinic]
    sha256 = "..."                      # of the token; or token = "..." as it is
    indexes = ["guidelines"]            # or ["*"]

    [tokens.clinic.documents]           # indexes not named here may be read whole
    guidelines = ["g1", "g7"]
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from ccrag.config import SettingsSection
from ccrag.errors import ConfigError
from ccrag.types import DocId

ALL = "*"
MIN_TOKEN_CHARS = 16


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller, and the documents that it may read."""

    name: str
    indexes: frozenset[str] | None = None
    """None: all."""
    documents: Mapping[str, tuple[DocId, ...]] = field(default_factory=dict)
    """Index → the only documents of it that may be read."""

    @property
    def unrestricted(self) -> bool:
        """Tell whether everything may be read."""
        return self.indexes is None and not self.documents

    def may_open(self, index: str) -> bool:
        """Tell whether the index exists for this caller."""
        return self.indexes is None or index in self.indexes

    def allowed(self, index: str) -> tuple[DocId, ...] | None:
        """Return the documents of it that may be read; None: all."""
        return self.documents.get(index)

    def may_read(self, index: str, doc_id: DocId) -> bool:
        """Tell whether this document of an index may be read."""
        allowed = self.allowed(index)
        return self.may_open(index) and (allowed is None or doc_id in allowed)


LOCAL = Caller("local")
"""Everybody, on loopback without tokens."""


class _Token(SettingsSection):
    """One token as the file states it."""

    token: str | None = None
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    indexes: tuple[str, ...]
    documents: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.token is None) == (self.sha256 is None):
            raise ValueError("give one of token and sha256")
        if self.token is not None and len(self.token) < MIN_TOKEN_CHARS:
            raise ValueError(f"a token has at least {MIN_TOKEN_CHARS} characters")
        if ALL not in self.indexes:
            beyond = sorted(set(self.documents) - set(self.indexes))
            if beyond:
                raise ValueError(f"documents of {beyond[0]!r}, which is not among indexes")
        return self

    @property
    def digest(self) -> str:
        return self.sha256 or _digest(self.token or "")


class _TokenFile(SettingsSection):
    tokens: dict[str, _Token] = Field(min_length=1)


class Access:
    """Callers by their tokens; without tokens, everybody is `LOCAL`."""

    def __init__(self, callers: Mapping[str, Caller]) -> None:
        """Take callers by the SHA-256 of their token, hexadecimal; none: no token is asked for."""
        self._callers = dict(callers)

    @property
    def needs_token(self) -> bool:
        """Tell whether a request without a token is refused."""
        return bool(self._callers)

    def caller(self, token: str | None) -> Caller | None:
        """Return whose token this is; None: nobody's."""
        if not self._callers:
            return LOCAL
        return None if token is None else self._callers.get(_digest(token))


def read_access(path: Path | None) -> Access:
    """
    Return the callers of a token file; without one, `LOCAL` alone.

    Raises:
        ConfigError: the file cannot be read, or states something it may not.
    """
    if path is None:
        return Access({})
    try:
        stated = _TokenFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {_first_problem(error)}") from error
    callers = {token.digest: _caller(name, token) for name, token in stated.tokens.items()}
    if len(callers) < len(stated.tokens):
        raise ConfigError(f"{path}: two callers have the same token; each needs its own")
    return Access(callers)


def _caller(name: str, token: _Token) -> Caller:
    indexes = None if ALL in token.indexes else frozenset(token.indexes)
    documents = {index: tuple(dict.fromkeys(ids)) for index, ids in token.documents.items()}
    return Caller(name, indexes, documents)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _first_problem(error: ValidationError) -> str:
    """Return where and what, without the value: it may be a token."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}"
