"""
HTML pages as Markdown. What a page says stays in its order; what surrounds it on a site
(navigation, scripts, controls) is left out and counted.
"""

from lxml import html

from ccrag.corpus.readers.html_source import parse
from ccrag.corpus.readers.html_survey import Survey, survey
from ccrag.corpus.readers.html_tables import Repeats
from ccrag.corpus.readers.html_writer import Writer
from ccrag.corpus.readers.page import Loss, Page
from ccrag.corpus.records import RecordError


def read_html(data: bytes) -> Page:
    """
    Return what a page says as Markdown, and what of it was left out.

    Raises:
        RecordError: there is nothing to read in it.
    """
    markup, undecoded = decode_page(data)
    page = page_of(parse(markup), markup_chars=len(markup))
    return page._replace(losses=(*undecoded, *page.losses))


def page_of(root: html.HtmlElement, *, markup_chars: int) -> Page:
    """
    Return a parsed page's text as Markdown.

    Args:
        markup_chars: the length of its markup, which bounds what its tables may repeat.

    Raises:
        RecordError: there is nothing to read in it.
    """
    found, repeats = survey(root), Repeats(markup_chars)
    writer = Writer(found, repeats)
    for element in found.roots:
        writer.write(element)
    text = writer.text()
    if not text.strip():
        raise RecordError("field", _without_text(root))
    said_once = "table cells said once, not in each row or column they reach over"
    once = (Loss(said_once, repeats.refused, "parts", intended=True),) if repeats.refused else ()
    title = writer.title or _title(root, found)
    return Page(title, text, words_in_file=found.words, losses=(*found.losses, *once))


def _title(root: html.HtmlElement, found: Survey) -> str:
    """A heading of the first rank outside the main part, else the window's title."""
    for element in (*root.iter("h1"), *root.iter("title")):
        title = Writer(found, Repeats(0)).inline(element)
        if title:
            return title
    return ""


def _without_text(root: html.HtmlElement) -> str:
    """Why there is nothing to read."""
    frames = [source for frame in root.iter("frame", "iframe") if (source := frame.get("src"))]
    if frames:
        return f"the page holds no text but frames ({', '.join(frames[:3])}): give those files"
    return "the page holds no text; is it made by a script?"
