"""Which passages a pipeline needs: the index-time part of its settings, as an index spec."""

import re
from collections.abc import Mapping

from ccrag.chunking.block_windows import BLOCK_WINDOWS_VERSION
from ccrag.chunking.semantic import SEMANTIC_VERSION
from ccrag.chunking.windows import CHUNKER_VERSION
from ccrag.config import ChunkingSettings, PipelineSettings
from ccrag.config.requirements import requirements
from ccrag.engine.names import IndexSpec, UnitSpec
from ccrag.models.tokens import ESTIMATE, tokenizer_identity
from ccrag.text.markup import PLAIN_VERSION
from ccrag.units.units import UNITS_VERSION, UnitRules, file_digest

PUBLISHED_K1_B = (1.5, 0.75)
MAX_MODEL_CHARS = 32


def index_spec(settings: PipelineSettings) -> IndexSpec:
    """
    Return the index spec a pipeline needs; settings that act at query time do not change it.

    The encoder's identity is not known here: it is added when the encoder is loaded, or read from
    the index.
    """
    chunking, bm25 = settings.chunking, settings.bm25
    stored = settings.vectors.mode if settings.vectors.mode in ("exact", "hnsw") else None
    needs_encoder = requirements(settings).index_encoder
    parts = [_chunking_name(chunking)]
    if (bm25.k1, bm25.b) != PUBLISHED_K1_B:
        parts.append(f"k{bm25.k1:g}-b{bm25.b:g}")
    if stored is not None:
        parts.append(stored)
    if needs_encoder:
        parts.append(model_name(settings.encoder.model))
    parameters = {
        "chunking": chunking.model_dump_json(include=_chunking_fields(chunking)),
        "chunker_version": str(CHUNKER_VERSION),
        "k1": repr(bm25.k1),
        "b": repr(bm25.b),
        "vectors": stored or "none",
    }
    if chunking.method in ("semantic", "topic-shift"):
        parameters["semantic_version"] = str(SEMANTIC_VERSION)
    if chunking.method == "blocks":
        parameters["blocks_version"] = str(BLOCK_WINDOWS_VERSION)
        parameters["plain_version"] = str(PLAIN_VERSION)
    return IndexSpec(
        name="-".join(parts),
        parameters=tuple(sorted(parameters.items())),
        k1=bm25.k1,
        b=bm25.b,
        vectors=stored,
        needs_encoder=needs_encoder,
        units=unit_spec(settings) if reads_units(settings) else None,
    )


def reads_units(settings: PipelineSettings) -> bool:
    """Tell whether a pipeline needs units stored in the index."""
    return settings.select.read != "passages"


def unit_spec(settings: PipelineSettings) -> UnitSpec:
    """
    Return the grouping a pipeline needs.

    Raises:
        InputError: the grouping file cannot be read.
        ModelError: the tokenizer cannot be had.
    """
    units = settings.units
    parameters = {
        "grouping": units.grouping,
        "tokenizer": tokenizer_identity(settings.budget.tokenizer),
        "version": str(UNITS_VERSION),
    }
    if units.grouping in ("links", "sections"):
        parameters["max_tokens"] = str(units.max_tokens)
    if units.grouping in ("links", "file"):
        parameters |= {"links": units.links, "versions": units.versions}
    if units.grouping == "file" and units.file is not None:
        parameters["file"] = file_digest(units.file)
    return UnitSpec(_units_name(parameters), tuple(sorted(parameters.items())))


def _units_name(parameters: Mapping[str, str]) -> str:
    """Return the grouping with what its own settings say, e.g. `links-both-apart-4000t`."""
    details = [parameters[n] for n in ("links", "versions") if n in parameters]
    if "max_tokens" in parameters:
        details.append(f"{parameters['max_tokens']}t")
    if "file" in parameters:
        details.append(parameters["file"][:8])
    if parameters["tokenizer"] != ESTIMATE:
        details.append(f"tokenizer-{parameters['tokenizer'][:8]}")
    return "-".join((parameters["grouping"], *details))


def unit_rules(settings: PipelineSettings) -> UnitRules:
    """Return what a pipeline's units depend on, apart from the documents and the tokenizer."""
    units = settings.units
    return UnitRules(
        grouping=units.grouping,
        max_tokens=units.max_tokens,
        links=units.links,
        versions_together=units.versions == "marked",
        file=units.file,
    )


def _chunking_fields(chunking: ChunkingSettings) -> set[str]:
    """Return the settings that the method reads; the others must not change the index spec."""
    own = {
        "none": set[str](),
        "window": {"max_words", "overlap_sentences"},
        "semantic": {"max_words", "semantic_threshold"},
        "topic-shift": {"max_words", "topic_shift_threshold"},
        "blocks": {"max_chars", "overlap_chars", "max_table_chars"},
    }
    return {"method", *own[chunking.method]}


def _chunking_name(chunking: ChunkingSettings) -> str:
    if chunking.method == "none":
        return "whole"
    words, chars = f"{chunking.max_words}w", f"{chunking.max_chars}c"
    detail = {
        "window": f"{words}-{chunking.overlap_sentences}o",
        "semantic": f"{words}-{chunking.semantic_threshold:g}",
        "topic-shift": f"{words}-{chunking.topic_shift_threshold:g}",
        "blocks": f"{chars}-{chunking.overlap_chars}o-{chunking.max_table_chars}t",
    }
    return f"{chunking.method}-{detail[chunking.method]}"


def model_name(model: str) -> str:
    """Return the model's last name, as an index name can hold it."""
    last = model.rstrip("/").rsplit("/", 1)[-1].lower()
    return re.sub(r"[^a-z0-9]+", "-", last).strip("-")[:MAX_MODEL_CHARS]
