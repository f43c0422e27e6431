"""Find how existing indices were built, so that documents to be added are treated the same."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from ccrag.config import (
    Bm25Settings,
    ChunkingSettings,
    EncoderSettings,
    PipelineSettings,
    Settings,
    VectorSettings,
)
from ccrag.config.load import load_settings, pipeline_names
from ccrag.engine.names import IndexSpec
from ccrag.engine.stored import Stored
from ccrag.errors import IndexMismatchError
from ccrag.indexing.spec import index_spec, model_name
from ccrag.models.base import Encoder, encoder_identity
from ccrag.models.tokens import ESTIMATE, load_token_counter, tokenizer_identity
from ccrag.text.tokens import TokenCounter
from ccrag.units.units import UnitRules, file_digest

LikelySettings = Callable[[], Iterable[Settings]]
"""Gives settings that an index may have been built with; called only where one is needed."""
LoadEncoder = Callable[[EncoderSettings], Encoder]


@dataclass(frozen=True, slots=True)
class PassageBuild:
    """The settings and encoder that the passages of an index were made with."""

    chunking: ChunkingSettings
    encoder: Encoder | None


@dataclass(frozen=True, slots=True)
class UnitBuild:
    """The rules and token counter that the units of an index were made with."""

    rules: UnitRules
    count: TokenCounter
    spec: IndexSpec
    """An index spec of passages beside them; units do not depend on it."""


@dataclass(frozen=True, slots=True)
class ExistingBuilds:
    """The builds of every index of a name."""

    passages: dict[str, PassageBuild]
    """By alias."""
    units: list[tuple[Stored, UnitBuild]]
    dropped: list[Stored]
    """Units of a grouping file, which may name deleted documents: they cannot be updated."""


def candidate_settings(given: Iterable[Settings]) -> Iterator[Settings]:
    """Yield settings that an index may have been built with: those given, then the packaged."""
    yield from given
    for name in pipeline_names():
        yield load_settings(name)


def existing_builds(
    name: str,
    stored: Sequence[Stored],
    candidates: LikelySettings,
    load_encoder: LoadEncoder,
    *,
    for_adding: bool,
) -> ExistingBuilds:
    """
    Return how every index of `stored` was made.

    Args:
        candidates: settings that may have been used, the likeliest first; they are asked for what
            an index does not state: where its encoder, tokenizer or grouping file lies.
        for_adding: documents will be added, which may need an encoder; False: only deleted.

    Raises:
        IndexMismatchError: an index cannot be updated; the message says which and what to give.
        ModelError: a model cannot be had.
    """
    passages: dict[str, PassageBuild] = {}
    units: list[tuple[Stored, UnitBuild]] = []
    dropped: list[Stored] = []
    for item in stored:
        if item.kind == "passages":
            passages[item.alias] = _passage_build(
                name, item, candidates, load_encoder, for_adding=for_adding
            )
    spec = next(item.spec for item in stored if item.kind == "passages")
    for item in stored:
        if item.kind != "units":
            continue
        if not for_adding and dict(item.units.parameters)["grouping"] == "file":
            dropped.append(item)
        else:
            units.append((item, _unit_build(name, item, candidates, spec)))
    return ExistingBuilds(passages, units, dropped)


def made_by_another_version(name: str, item: Stored) -> IndexMismatchError:
    """Return the error of an index that this version cannot change."""
    return IndexMismatchError(
        f"index {name!r}: {item.alias} was made by another version of ccrag and cannot be "
        f"changed; build it anew: ccrag index PATH... --index {name} --replace"
    )


def _passage_build(
    name: str,
    item: Stored,
    candidates: LikelySettings,
    load_encoder: LoadEncoder,
    *,
    for_adding: bool,
) -> PassageBuild:
    spec = item.spec
    stated = dict(spec.parameters)
    chunking = ChunkingSettings.model_validate_json(stated["chunking"])
    used = PipelineSettings(
        chunking=chunking,
        bm25=Bm25Settings(k1=spec.k1, b=spec.b),
        vectors=VectorSettings(mode=spec.vectors or "none"),
    )
    if index_spec(used).parameters != spec.parameters:
        raise made_by_another_version(name, item)
    if not spec.encoder or not for_adding:
        return PassageBuild(chunking, None)
    for settings in _distinct(
        s.encoder for s in candidates() if spec.name.endswith(model_name(s.encoder.model))
    ):
        encoder = load_encoder(settings)
        if tuple(sorted(encoder_identity(encoder).items())) == spec.encoder:
            return PassageBuild(chunking, encoder)
    model = dict(spec.encoder)["model"]
    raise IndexMismatchError(
        f"index {name!r}: the passages {spec.name} were encoded by {model!r}, which the settings "
        "given do not name, or not as it was; give the pipeline they were built for (--pipeline, "
        f"--set encoder.…), or build anew: ccrag index PATH... --index {name} --replace"
    )


def _distinct(settings: Iterable[EncoderSettings]) -> Iterator[EncoderSettings]:
    seen = set[EncoderSettings]()
    for one in settings:
        if one not in seen:
            seen.add(one)
            yield one


def _unit_build(name: str, item: Stored, candidates: LikelySettings, spec: IndexSpec) -> UnitBuild:
    stated = dict(item.units.parameters)
    tokenizer = _tokenizer(stated["tokenizer"], candidates)
    file = _file(stated["file"], candidates) if "file" in stated else None
    if (tokenizer is None and stated["tokenizer"] != ESTIMATE) or ("file" in stated and not file):
        raise IndexMismatchError(
            f"index {name!r}: the units {item.units.name} need the tokenizer or grouping file they "
            "were made with; give it again (--set budget.tokenizer=…, --set units.file=…)"
        )
    grouping = cast('Literal["links", "document", "sections", "file"]', stated["grouping"])
    rules = UnitRules(
        grouping=grouping,
        max_tokens=int(stated.get("max_tokens", 0)),
        links=cast('Literal["given", "found", "both"]', stated.get("links", "both")),
        versions_together=stated.get("versions") == "marked",
        file=file,
    )
    return UnitBuild(rules, load_token_counter(tokenizer), spec)


def _tokenizer(identity: str, candidates: LikelySettings) -> str | None:
    """Return the tokenizer of that identity that a candidate names; None estimates."""
    if identity == ESTIMATE:
        return None
    named = dict.fromkeys(s.budget.tokenizer for s in candidates())
    return next((n for n in named if n is not None and tokenizer_identity(n) == identity), None)


def _file(digest: str, candidates: LikelySettings) -> Path | None:
    """Return the grouping file of that content that a candidate names."""
    named = dict.fromkeys(s.units.file for s in candidates())
    return next((f for f in named if f is not None and file_digest(f) == digest), None)
