"""
Reduce a model's text to plain words, for what is shown without a citation. Pure.

Nobody checks such a text against a document, so it must not hold what a page or a terminal acts on:
links, images, HTML, Markdown, control and bidirectional characters.
"""

import html
import re

from ccrag.llm.quote import visible

MAX_CHARS = 300
_MAX_READ = 4_000
"""Of a longer text no more is looked at."""
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\s?[(\[][^()\[\]]{0,500}[)\]]")
_TAG = re.compile(r"</?[A-Za-z!?][^<>]{0,500}>")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{0,20}:/|//|\\\\|^www\.|^(?:javascript|data|mailto|tel|file|vbscript):"
    r"|\S@\S|\w\.[a-z]{2,24}[/:?#]\S",
    re.IGNORECASE,
)
"""Parts of a word that some program takes for an address."""
_MARKS = str.maketrans(dict.fromkeys("<>[]{}|`*~#\\^＜＞［］", " "))
_UNDERLINES = re.compile(r"(?<!\w)_+|_+(?!\w)")
_FRAME = "\"'()-+=>.,;: "


def plain_words(text: str, *, max_chars: int = MAX_CHARS) -> str:
    """
    Return the words of `text` on one line, of links their label; empty when there are too many.

    Args:
        max_chars: a longer text is none: cut, it could say something else.
    """
    if len(text) > _MAX_READ:
        return ""
    line = " ".join(visible(html.unescape(html.unescape(text))).split())
    line = _TAG.sub(" ", _LINK.sub(r" \1 ", line))
    kept = [word for word in line.split() if not _ADDRESS.search(word.strip(_FRAME))]
    words = _UNDERLINES.sub(" ", " ".join(kept).translate(_MARKS)).split()
    said = " ".join(words).lstrip("-+=>: ")
    return said if len(said) <= max_chars else ""
