"""The index templates: read from `index_templates/`, the only home of mappings."""

import hashlib
from importlib import resources
from typing import Literal

import orjson
from opensearchpy import OpenSearch

from ccrag.engine.client import engine_errors
from ccrag.types import JSON

Kind = Literal["documents", "passages", "units"]
VectorMode = Literal["exact", "hnsw"]
VECTOR_MODES: tuple[VectorMode, ...] = ("exact", "hnsw")
KINDS: tuple[Kind, ...] = ("documents", "passages", "units")


def read_template(kind: Kind) -> JSON:
    """Return the packaged composable template of `kind`, as OpenSearch takes it."""
    source = resources.files("ccrag") / "index_templates" / f"{kind}.json"
    template: JSON = orjson.loads(source.read_bytes())
    return template


def vector_template(mode: VectorMode, *, dimension: int) -> tuple[JSON, JSON]:
    """Index settings and field mapping of a vector of `dimension` under `mode`."""
    source = resources.files("ccrag") / "index_templates" / "vectors.json"
    template: JSON = orjson.loads(source.read_bytes())[mode]
    return template["settings"], {**template["field"], "dimension": dimension}


def template_digest(kind: Kind) -> str:
    """Return 12 hex digits over the template's content; part of every index fingerprint."""
    canonical = orjson.dumps(read_template(kind), option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=6).hexdigest()


def put_templates(client: OpenSearch) -> None:
    """Install the templates; the same content again changes nothing."""
    for kind in KINDS:
        with engine_errors(f"install the index template ccrag-{kind}"):
            client.indices.put_index_template(name=f"ccrag-{kind}", body=read_template(kind))
