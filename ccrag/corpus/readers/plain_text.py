"""Plain text and Markdown files, with the title in their front matter."""

import tomllib

import yaml

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.encodings import decode_page
from ccrag.corpus.readers.page import ReadPage
from ccrag.corpus.readers.registry import READERS
from ccrag.corpus.readers.source import PageSource
from ccrag.text.sections import find_front_matter

_OTHER_KINDS = {
    **{reader.signature: reader.suffixes[0] for reader in READERS if reader.signature},
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
}


def read_text(source: PageSource) -> ReadPage:
    """
    Return a plain text or Markdown file; lines that end in CR alone, as on old Macs, end in LF.

    Raises:
        RecordError: its bytes are those of another kind of file.
    """
    for signature, suffix in _OTHER_KINDS.items():
        if source.data.startswith(signature):
            raise RecordError("syntax", f"is no text but a {suffix} file; rename it")
    text, losses = decode_page(source.data)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    return ReadPage(_front_matter_title(text), text, losses=losses)


def _front_matter_title(text: str) -> str:
    """Return the title that YAML or TOML front matter gives; "" without one that can be read."""
    front = find_front_matter(text)
    if front is None:
        return ""
    try:
        if front.kind == "toml":
            values: object = tomllib.loads(front.content.replace("\r\n", "\n"))
        else:
            values = yaml.safe_load(front.content)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError):
        return ""  # the text is kept whole, and its first heading may be the title
    title = values.get("title") if isinstance(values, dict) else None
    return " ".join(title.split()) if isinstance(title, str) else ""
