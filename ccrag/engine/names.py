"""
Names of indices and aliases, and the fingerprints in them. Pure.

    ccrag-NAME-documents                   alias
    ccrag-NAME-documents-FINGERPRINT       concrete index
    ccrag-NAME-passages-SPEC               alias
    ccrag-NAME-passages-SPEC-FINGERPRINT   concrete index
    ccrag-NAME-units-GROUPING              alias
    ccrag-NAME-units-GROUPING-FINGERPRINT  concrete index
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ccrag.engine.templates import (
    KINDS,
    VECTOR_MODES,
    IndexKind,
    VectorMode,
    template_digest,
    vector_template,
)
from ccrag.errors import ConfigError

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_FINGERPRINT = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class UnitSpec:
    """All that the stored units of an index depend on, apart from the documents."""

    name: str
    """Readable and unique among groupings: part of the alias."""
    parameters: tuple[tuple[str, str], ...]
    """Everything the fingerprint covers, as sorted name-value pairs."""


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """All that the passages of an index depend on, apart from the documents."""

    name: str
    """Readable and unique among index specs: part of the alias."""
    parameters: tuple[tuple[str, str], ...]
    """Everything the fingerprint covers, as sorted name–value pairs."""
    k1: float
    b: float
    vectors: VectorMode | None = None
    """The form in which vectors are stored; None stores none."""
    needs_encoder: bool = False
    """True if chunking or vectors depend on an encoder."""
    encoder: tuple[tuple[str, str], ...] = ()
    """The encoder's identity, sorted name-value pairs; known once it is loaded, or from `_meta`."""
    units: UnitSpec | None = None
    """The units stored beside the passages, which do not depend on them; None: none are read."""

    @property
    def stored(self) -> frozenset[str]:
        """Return what an index must hold for it, as `indexes.ListedIndex.specs` calls it."""
        units = () if self.units is None else (f"units-{self.units.name}",)
        return frozenset((self.name, *units))

    def served_by(self, names: Iterable[str]) -> list[str]:
        """
        Return those of `names` whose passages are the ones this index spec asks for, best first.

        That is its own name, and without vectors any index spec that stores the same passages with
        vectors: BM25 counts and ranks the same texts there. Exact vectors go before a graph; then
        the name decides.
        """
        known = set(names)
        own = [self.name] if self.name in known else []
        if self.vectors is not None:
            return own
        return own + [
            name for mode in VECTOR_MODES for name in sorted(known) if self._adds(name, mode)
        ]

    def fits(self, names: Collection[str]) -> bool:
        """Tell whether an index that holds `names` serves this index spec."""
        units = self.units is None or f"units-{self.units.name}" in names
        return units and bool(self.served_by(names))

    def _adds(self, name: str, mode: VectorMode) -> bool:
        """Tell whether `name` is this spec with vectors; `indexing.spec` makes the names."""
        if self.needs_encoder:
            return name != self.name and name.replace(f"-{mode}-", "-", 1) == self.name
        return name.startswith(f"{self.name}-{mode}-")

    def with_vectors_of(self, meta: Mapping[str, Any]) -> "IndexSpec":
        """Return the index spec of an index that serves this one, by the index's `_meta`."""
        stored = meta["parameters"].get("vectors", "none")
        encoder = tuple((str(key), str(value)) for key, value in meta.get("encoder", ()))
        return replace(
            self,
            name=meta["recipe"],
            parameters=tuple(sorted({**dict(self.parameters), "vectors": stored}.items())),
            vectors=next((mode for mode in VECTOR_MODES if mode == stored), None),
            encoder=encoder,
        )

    @property
    def dimension(self) -> int:
        """Return the dimension of the encoder's vectors."""
        return int(dict(self.encoder)["dimension"])


def check_name(name: str) -> str:
    """
    Return `name` if it can be an index name.

    Raises:
        ConfigError: it cannot.
    """
    if not _NAME.fullmatch(name) or any(f"-{kind}" in name for kind in KINDS):
        raise ConfigError(
            f"--index {name!r}: use 1 to 64 of a-z, 0-9, '-', '_' and '.', first a letter or "
            "digit; '-documents', '-passages' and '-units' are reserved for ccrag's own names"
        )
    return name


def documents_alias(name: str) -> str:
    """Return the alias of a collection's documents."""
    return f"ccrag-{check_name(name)}-documents"


def passages_alias(name: str, spec: IndexSpec) -> str:
    """Return the alias of a collection's passages under `spec`."""
    return f"ccrag-{check_name(name)}-passages-{spec.name}"


def units_alias(name: str, units: UnitSpec) -> str:
    """Return the alias of a collection's units under one grouping."""
    return f"ccrag-{check_name(name)}-units-{units.name}"


def fingerprint(kind: IndexKind, corpus: str, spec: IndexSpec | UnitSpec | None = None) -> str:
    """
    Return 12 hex digits over the corpus, the template and, for passages and units, the index spec.
    """
    info: list[object] = [corpus, template_digest(kind)]
    if isinstance(spec, UnitSpec):
        info.append(spec.parameters)
    elif spec is not None:
        info += [spec.parameters, spec.encoder]
        if spec.vectors is not None:
            info += vector_template(spec.vectors, dimension=spec.dimension)
    return hashlib.blake2b(orjson.dumps(info), digest_size=6).hexdigest()


def is_concrete(index: str, alias: str) -> bool:
    """Tell whether `index` is a concrete index behind `alias`: its name and a fingerprint."""
    prefix = f"{alias}-"
    return index.startswith(prefix) and bool(_FINGERPRINT.fullmatch(index.removeprefix(prefix)))


def step_name(index: str) -> str:
    """
    Return the name of an index that is made and removed on the way to the concrete index `index`.
    """
    alias, _, named = index.rpartition("-")
    return f"{alias}-{hashlib.blake2b(f'step {named}'.encode(), digest_size=6).hexdigest()}"
