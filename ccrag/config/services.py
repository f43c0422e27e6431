"""Settings of what runs beside the stages: engine, model servers, batches, our server, files."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from ccrag.config.section import SettingsSection


class EngineSettings(SettingsSection):
    """Which OpenSearch, and how to talk to it."""

    url: str | None = None
    """None: the embedded node is started on demand."""
    user: str | None = None
    """User name for basic authentication; goes with `engine.password`."""
    password: SecretStr | None = None
    """Password for basic authentication."""
    token: SecretStr | None = None
    """
    Sent as a bearer token to `url`. For an embedded node that is used by its URL: what its file
    `node.secret` holds (`ccrag node status` says where). Without `url` ccrag reads it itself.
    """
    ca_file: Path | None = None
    """PEM file of the authority that signed the certificate of the engine."""
    verify_certs: bool = True
    """Refuse an engine whose certificate cannot be verified."""
    timeout_s: float = Field(30.0, gt=0)
    """Per request; loading and merging use `bulk_timeout_s`."""
    bulk_timeout_s: float = Field(300.0, gt=0)
    """Seconds that a request may take that loads or merges."""
    bulk_max_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    """A bulk request is sent before it would grow past this (one larger item travels alone)."""
    bulk_retries: int = Field(6, ge=0)
    """Times that an item refused with 429 is sent again, with doubling pauses from 1 s."""
    msearch_max_searches: int = Field(96, ge=1)
    """Sub-searches per request; more are sent in several."""
    shards: int = Field(1, ge=1)
    """Primary shards of each new index."""
    replicas: int = Field(0, ge=0)
    """Copies of each shard on other nodes."""


class NodeSettings(SettingsSection):
    """The embedded node; read only when `engine.url` is not set."""

    data: Path | None = None
    """None: the per-user data directory."""
    port: int | None = Field(None, ge=1, le=65535)
    """None: a free one."""
    heap_mb: int = Field(512, ge=256)
    """Heap of the JVM in MB."""
    start_timeout_s: float = Field(90.0, gt=0)
    """Seconds that a start may take."""


class ProviderSettings(SettingsSection):
    """The server a language model runs on: any that speaks OpenAI's chat completions."""

    base_url: str = "https://api.openai.com/v1"
    """Address of the server, up to and with `/v1`."""
    api_key: SecretStr | None = None
    """
    From the environment: `CCRAG_PROVIDER__API_KEY`. For OpenAI's own URL, `OPENAI_API_KEY` does
    too; another server never gets that one.
    """
    timeout_s: float = Field(60.0, gt=0)
    """Per try."""
    retries: int = Field(4, ge=0)
    """Times that a call is tried again after 429, 5xx, a time-out or a lost connection."""
    concurrency: int = Field(4, ge=1)
    """Calls under way at once; a run has at most two batches (`retrieval.batch`) to ask for."""
    prompt_price: float = Field(0.0, ge=0)
    """Per million tokens of the requests, for the count of costs."""
    completion_price: float = Field(0.0, ge=0)
    """Per million tokens of the replies, for the count of costs."""
    cache: bool = False
    """Keep replies on disk, so that the same request to the same server is asked once."""
    cache_folder: Path | None = None
    """None: the per-user cache directory."""


class BatchSettings(SettingsSection):
    """The limits of a provider's batches, OpenAI's by default."""

    max_requests: int = Field(50_000, ge=1)
    """Of one batch; more are sent in several."""
    max_bytes: int = Field(200_000_000, ge=1_000)
    """Of one batch's file."""


class ServeSettings(SettingsSection):
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
    """Bytes of one uploaded file at most."""
    max_upload_documents: int = Field(10_000, ge=1)
    """Documents that one uploaded file may hold."""
    max_upload_chars: int = Field(3_000_000, ge=1)
    """Characters of their titles, texts and links together."""
    max_query_chars: int = Field(10_000, ge=1)
    """Characters of a question at most."""
    max_candidates: int = Field(10_000, ge=1)
    """Document ids that a request may name."""
    timeout_s: float = Field(60.0, gt=0)
    """A request's time, waiting for its turn included; its work ends at the next stage."""
    concurrency: int = Field(4, ge=1)
    """Requests that search or answer at once."""
    waiting: int = Field(64, ge=0)
    """Requests that may wait for their turn; one more gets 429."""
    max_connections: int = Field(512, ge=1)
    """Open connections; one more is closed at once."""
    slow_s: float = Field(10.0, gt=0)
    """Time for the head of a request, and for each next piece of its body."""
    uploads: int = Field(16, ge=0)
    """Uploaded papers kept at once; 0 allows none."""
    uploads_per_caller: int = Field(4, ge=1)
    """Uploaded papers that one token may keep; read only with `tokens`."""
    readers: int = Field(2, ge=1)
    """Uploads that are read and indexed at once, beside the requests that `concurrency` counts."""
    read_memory_mb: int = Field(320, ge=64)
    """Memory that reading one uploaded file may take; it is read in a process of its own."""
    read_s: float = Field(20.0, gt=0)
    """Processor time that reading one uploaded file may take, and half of its time on the clock."""
    upload_minutes: float = Field(60.0, gt=0)
    """Minutes that an uploaded paper is kept after it was last asked."""


class ChatSettings(SettingsSection):
    """`ccrag chat`."""

    history_words: int = Field(2_000, ge=0)
    """
    A question is read with the last exchanges that have so many words together; older ones, and one
    that is longer by itself, are not read any more.
    """
    folder: Path | None = None
    """Of dialogues for which no file is named; None: in the per-user data directory."""


class OutputSettings(SettingsSection):
    """The description of a run in its files."""

    team_id: str = "ccrag"
    """Team name in the records of a run."""
    run_id: str | None = None
    """None: the pipeline's name."""
    run_level: Literal["document", "passage"] = "document"
    """The level that `run.trec` ranks: documents by their best passage, or passages."""
    description: str = "Search-backed question answering inside each query's candidate documents."
    """Description of the run in its metadata."""
    repository: str = "local"
    """Address of the source code in the metadata of a run."""
    data_name: str = "local"
    """Name of the collection in the metadata of a run."""
    reasoning: bool = False
    """Say in the metadata that `llm.model` thinks before it replies."""
