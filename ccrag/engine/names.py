"""
Names of indices and aliases, and the fingerprints in them. Pure.

    ccrag-NAME-documents                   alias
    ccrag-NAME-documents-FINGERPRINT       concrete index
    ccrag-NAME-passages-RECIPE             alias
    ccrag-NAME-passages-RECIPE-FINGERPRINT concrete index
"""

import hashlib
import re
from dataclasses import dataclass

import orjson

from ccrag.engine.templates import Kind, VectorMode, template_digest, vector_template
from ccrag.errors import ConfigError

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_FINGERPRINT = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the passages of an index depend on, apart from the documents."""

    name: str
    """Readable and unique among recipes: part of the alias."""
    parameters: tuple[tuple[str, str], ...]
    """Everything the fingerprint covers, as sorted name–value pairs."""
    k1: float
    b: float
    vectors: VectorMode | None = None
    """How vectors are stored; None stores none."""
    needs_encoder: bool = False
    """Whether cutting or vectors depend on an encoder."""
    encoder: tuple[tuple[str, str], ...] = ()
    """The encoder's identity, sorted name-value pairs; known once it is loaded, or from `_meta`."""

    @property
    def dimension(self) -> int:
        """Of the encoder's vectors."""
        return int(dict(self.encoder)["dimension"])


def check_name(name: str) -> str:
    """
    Return `name` if it can be an index name.

    Raises:
        ConfigError: it cannot.
    """
    if not _NAME.fullmatch(name) or "-documents" in name or "-passages" in name:
        raise ConfigError(
            f"--index {name!r}: use 1 to 64 of a-z, 0-9, '-', '_' and '.', first a letter or "
            "digit; '-documents' and '-passages' are kept for ccrag's own names"
        )
    return name


def documents_alias(name: str) -> str:
    """Alias of a collection's documents."""
    return f"ccrag-{check_name(name)}-documents"


def passages_alias(name: str, recipe: Recipe) -> str:
    """Alias of a collection's passages under `recipe`."""
    return f"ccrag-{check_name(name)}-passages-{recipe.name}"


def fingerprint(kind: Kind, corpus: str, recipe: Recipe | None = None) -> str:
    """12 hex digits over the corpus, the template and, for passages, the recipe."""
    facts: list[object] = [corpus, template_digest(kind)]
    if recipe is not None:
        facts += [recipe.parameters, recipe.encoder]
        if recipe.vectors is not None:
            facts += vector_template(recipe.vectors, dimension=recipe.dimension)
    return hashlib.blake2b(orjson.dumps(facts), digest_size=6).hexdigest()


def is_concrete(index: str, alias: str) -> bool:
    """Whether `index` is a concrete index behind `alias`: its name and a fingerprint."""
    prefix = f"{alias}-"
    return index.startswith(prefix) and bool(_FINGERPRINT.fullmatch(index.removeprefix(prefix)))
