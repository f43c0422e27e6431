"""Settings of `ccrag serve`, and the base of every group of settings; a part of `config`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A group of settings; frozen, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ServeSettings(Section):
    """The HTTP API, the page and the MCP server."""

    host: str = "127.0.0.1"
    """Anything but a loopback address needs `tokens`."""
    port: int = Field(8765, ge=0, le=65535)
    """0: a free one."""
    tokens: Path | None = None
    """A TOML file of bearer tokens and what each may read; None: loopback only, no tokens."""
    hosts: tuple[str, ...] = ()
    """Names a request's Host header may hold besides loopback ones; with tokens, () is any."""
    runs: Path | None = None
    """Folder whose runs and experiments the page shows; None: none are shown."""
    pipelines: tuple[str, ...] = ()
    """Pipelines (names or TOML files) that callers may choose; (): all packaged ones."""
    max_body_bytes: int = Field(1024 * 1024, ge=1024)
    """A request's body; uploads have a limit of their own."""
    max_upload_bytes: int = Field(32 * 1024 * 1024, ge=1024)
    max_query_chars: int = Field(10_000, ge=1)
    max_candidates: int = Field(10_000, ge=1)
    """Document ids that a request may name."""
    timeout_s: float = Field(60.0, gt=0)
    """A request's time, waiting for its turn included; its work ends at the next stage."""
    concurrency: int = Field(4, ge=1)
    """Requests that search or answer at once."""
    waiting: int = Field(64, ge=0)
    """Requests that may wait for their turn; one more gets 429."""
    uploads: int = Field(16, ge=0)
    """Uploaded papers kept at once; 0 allows none."""
    upload_minutes: float = Field(60.0, gt=0)
    """How long an uploaded paper is kept after it was last asked."""
