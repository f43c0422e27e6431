"""Read the index templates: `index_templates/` is the only home of mappings."""

import hashlib
from pathlib import Path
from typing import Literal

import orjson
from opensearchpy import OpenSearch

from ccrag.engine.client import engine_errors
from ccrag.types import JSON

FOLDER = "index_templates"
IndexKind = Literal["documents", "passages", "units"]
VectorMode = Literal["exact", "hnsw"]
VECTOR_MODES: tuple[VectorMode, ...] = ("exact", "hnsw")
KINDS: tuple[IndexKind, ...] = ("documents", "passages", "units")


def templates_folder() -> Path:
    """
    Return the folder of the index templates.

    A wheel carries it inside the package; in a checkout, editable install included, it stands
    beside the package, at the top of the repository.
    """
    package = Path(__file__).parents[1]
    carried = package / FOLDER
    return carried if carried.is_dir() else package.parent / FOLDER


def read_template(kind: IndexKind) -> JSON:
    """Return the packaged composable template of `kind`, as OpenSearch takes it."""
    template: JSON = orjson.loads((templates_folder() / f"{kind}.json").read_bytes())
    return template


def vector_template(mode: VectorMode, *, dimension: int) -> tuple[JSON, JSON]:
    """Index settings and field mapping of a vector of `dimension` under `mode`."""
    template: JSON = orjson.loads((templates_folder() / "vectors.json").read_bytes())[mode]
    return template["settings"], {**template["field"], "dimension": dimension}


def template_digest(kind: IndexKind) -> str:
    """Return 12 hex digits over the template's content; part of every index fingerprint."""
    canonical = orjson.dumps(read_template(kind), option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=6).hexdigest()


def put_templates(client: OpenSearch) -> None:
    """Install the templates; the same content again changes nothing."""
    for kind in KINDS:
        with engine_errors(f"install the index template ccrag-{kind}"):
            client.indices.put_index_template(name=f"ccrag-{kind}", body=read_template(kind))
