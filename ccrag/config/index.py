"""Settings of what an index and its units are made of."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from ccrag.config.section import SettingsSection


class ReadingSettings(SettingsSection):
    """
    Limits on the files that `ccrag index` reads: unpacked, in millions of bytes; more is an error.
    """

    max_page_mb: int = Field(200, ge=1)
    """The largest file that is one document, e.g. HTML or Markdown."""
    max_pdf_mb: int = Field(2_000, ge=1)
    """The largest PDF; most of its bytes may be pictures."""
    max_json_mb: int = Field(2_000, ge=1)
    """The largest `.json` file, which is read as a whole; `.jsonl` has no such limit."""
    max_record_mb: int = Field(200, ge=1)
    """The largest record of a `.jsonl`, `.csv` or `.tsv` file."""


class ChunkingSettings(SettingsSection):
    """The cut of documents into passages."""

    method: Literal["none", "window", "semantic", "topic-shift", "blocks"] = "window"
    """
    `none`: documents are passages already, each is kept whole. `semantic` and `topic-shift` cut
    where the encoder says that the meaning changes. `blocks`, for papers and manuals, keeps tables,
    captions and formulas whole, leaves the bibliography out, and lets a passage be found by its
    headings and, in any spelling, its symbols.
    """
    max_words: int = Field(140, ge=8)
    """Cap of a passage, not with `blocks`; a longer sentence is cut at clauses or words."""
    max_chars: int = Field(1_200, ge=80)
    """`blocks`: cap of a passage."""
    overlap_chars: int = Field(0, ge=0)
    """`blocks`: a passage repeats the sentences that end the one before it, up to so many."""
    max_table_chars: int = Field(4_000, ge=80)
    """`blocks`: a longer table is parted between rows, a shorter one stands whole."""
    overlap_sentences: int = Field(1, ge=0)
    """`window`: sentences a passage repeats from the one before, as far as the cap allows."""
    semantic_threshold: float = Field(0.72, ge=-1, le=1)
    """`semantic`: a sentence joins while its cosine with the passage's mean is at least this."""
    topic_shift_threshold: float = Field(0.18, ge=0, le=2)
    """`topic-shift`: cut where 1 - cosine of neighbouring sentences exceeds this."""

    @property
    def plain(self) -> bool:
        """
        Tell whether passages are searched in plain form, with headings: see `retrieval.plain`.
        """
        return self.method == "blocks"


class Bm25Settings(SettingsSection):
    """Lexical scoring. `k1` and `b` belong to the index; the rest to the query."""

    k1: float = Field(1.5, ge=0)
    """Saturation of term frequency: the larger, the more a repeated word counts."""
    b: float = Field(0.75, ge=0, le=1)
    """Weight of length: 0 ignores it, 1 divides by it in full."""
    statistics: Literal["index", "candidates"] = "index"
    """Term statistics over the whole index, or over the query's own passages."""
    title_weight: float = Field(0.0, ge=0)
    """Weight of a title match beside the text match; 0 leaves the title out."""
    content_words: bool = False
    """Search a variant without its function and question words, unless it has no others."""


class VectorSettings(SettingsSection):
    """Where a passage's vector lives and how it is searched."""

    mode: Literal["none", "exact", "hnsw", "on-demand"] = "none"
    """
    `exact`: stored without a graph, every candidate passage scored. `hnsw`: a graph, for
    collections searched as a whole. `on-demand`: nothing stored; passages are encoded (and cached)
    when a query asks for them.
    """
    ef_search: int = Field(100, ge=1)
    """`hnsw` only: at least so many neighbours are explored."""
    on_demand_passages: int = Field(2_000, ge=1)
    """`on-demand`: up to so many candidate passages are all scored; of more, the BM25 lists'."""


class BudgetSettings(SettingsSection):
    """The limit on the text that is read, in tokens."""

    max_tokens: int | None = Field(None, ge=1)
    """Of all that is read, headers aside; None: as much as the other limits let through."""
    tokenizer: str | None = None
    """
    `tokenizer.json` of the model that reads, its folder, or its name on the hub; None: an estimate.
    """


class UnitSettings(SettingsSection):
    """Long units: linked documents that are read together (LongRAG)."""

    grouping: Literal["links", "document", "sections", "file"] = "links"
    """
    `links`: linked documents together. `document`: each alone. `sections`: runs of a document's
    sections. `file`: as `file` says.
    """
    file: Path | None = None
    """`file`: JSONL, one unit a line, with its `doc_ids`; `ccrag units --out` writes one."""
    max_tokens: int = Field(4_000, ge=1)
    """No unit is larger, unless a single document (or section) is."""
    links: Literal["given", "found", "both"] = "both"
    """Those in the data; those found in texts (Markdown, HTML, "see TITLE"); or all."""
    versions: Literal["apart", "marked"] = "apart"
    """Versions of one document never stand in one unit, or do so, each under its header."""
    within: Literal["index", "candidates"] = "candidates"
    """
    A unit of a query is the candidates' part of a unit of the whole index, or the candidates are
    grouped anew, by the links among them alone (with `grouping=links`; the others stay the same).
    """
    score: Literal["best", "best-three"] = "best"
    """By its best passage (MaxP), or by the mean of its three best."""
    count: int = Field(8, ge=1)
    """`select.read=units`: units read, as far as `budget.max_tokens` allows."""
    order: Literal["score", "ends"] = "score"
    """In which order what is read is shown: best first, or the best at both ends."""
    newest: bool = False
    """Of several versions among the candidates, read the newest only."""
