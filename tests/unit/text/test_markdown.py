"""Headings of Markdown, held against a parser of CommonMark."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ccrag.text.sections import find_headings, is_heading
from ccrag.text.sentences import split_sentences
from tests.pages import read_text

DOCUMENTS = {
    "an inline span that looks like a fence": "```pip install x```\n\n# Next\n\ntext\n",
    "an info string with a backtick": "``` a`b\n# Head\n",
    "tildes may have backticks in their info": "~~~ a`b\n# code\n~~~\n# Head\n",
    "a longer closing fence": "```\n# code\n`````\n# Head\n",
    "a shorter fence inside": "````\n```\n# code\n```\n````\n# Head\n",
    "another mark inside": "```\n~~~\n# code\n```\n# Head\n",
    "text after a closing fence": "```\n# code\n``` x\n# code\n```\n# Head\n",
    "an indented fence": "   ```\n   # code\n   ```\n# Head\n",
    "a fence indented too far": "para\n\n    ```\n# Head\n",
    "a closing fence indented too far": "```\n# code\n    ```\n# code\n",
    "a fence in a list item": "- ```sh\n  # code\n  ```\n\n# Head\n",
    "a fence in a numbered item": "1. ```sh\n   # code\n   ```\n\n# Head\n",
    "a fence in a deeper item": "- a\n  - ```\n    # code\n    ```\n\n# Head\n",
    "an open fence ends with its item": "- ```\n  # code\n\n# Head\n",
    "a fence never closed": "# Head\n```\n# code\n",
    "a comment": "<!--\n# no\n-->\n# Head\n",
    "a comment with blank lines": "<!-- a\n\n# no\n\n--> b\n# Head\n",
    "a comment on one line": "<!-- # no -->\n# Head\n",
    "a script": "<script>\n\n# no\n\n</script>\n# Head\n",
    "a block of HTML": "<div>\n# no\n</div>\n\n# Head\n",
    "a block after a paragraph": "para\n<div>\n# no\n\n# Head\n",
    "any tag alone": '<a name="x"></a>\n# Head\n',
    "one tag alone": '<a name="x">\n# no\n\n# Head\n',
    "a tag inside a paragraph": 'para\n<a name="x">\n# Head\n',
    "an autolink": "<https://example.org>\n# Head\n",
    "a processing instruction": "<?php\n\n# no\n?>\n# Head\n",
    "a declaration": "<!DOCTYPE html\n# no\n>\n# Head\n",
    "indented code": "para\n\n    # code\n\n# Head\n",
    "tabbed code": "para\n\n\t# code\n\n# Head\n",
    "up to three blanks": "   # Head\n",
    "closing hashes": "# Head ##  \n\n## C# ##\n\n# a#\n",
    "an escaped hash": "\\# no\n\n#no\n\n#\tHead\n",
    "seven hashes": "####### no\n\n###### Head\n",
    "underlined": "Head\n===\n\nSub heading, long\n---\n\ntext\n\n# Third\n",
    "underlines with blanks": "  Head\n  ---  \n\n# Next\n",
    "a rule": "text\n\n---\n\n# Head\n",
    "an item over a rule": "- item\n---\n\n# Head\n",
    "a quote": "> # no\n\n# Head\n",
    "a heading in a paragraph": "para\n# Head\npara\n",
    "carriage returns": "```\r\n# code\r\n```\r\n# Head\r\n",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_headings_are_those_of_commonmark(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(text)
    lines = text.splitlines(keepends=True)
    expected = [
        (int(token.tag[1]), inline.content, sum(map(len, lines[: token.map[0]])))
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]
    starts = [text.rfind("\n", 0, heading.start) + 1 for heading in find_headings(text)]
    found = [
        (heading.level, heading.title, start)
        for heading, start in zip(find_headings(text), starts, strict=True)
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "titles", "title"),
    [
        ("---\ntitle: A book\n# a comment\n---\n# Head\n", ["Head"], "A book"),
        ('---\r\ntitle: "A: book"\r\n...\r\n# Head\r\n', ["Head"], "A: book"),
        ('+++\n# a comment\ntitle = "A book"\n+++\n# Head\n', ["Head"], "A book"),
        ("---\n# a comment\ntags: [a]\n---\n# Head\n", ["Head"], ""),
        ("---\ntitle: [broken\n---\n# Head\n", ["Head"], ""),
        ("---\ntitle: 7\n---\n# Head\n", ["Head"], ""),
        ("---\nplain words\n\n# Head\n", ["Head"], ""),
        ("text\n---\ntitle: A\n---\n# Head\n", ["text", "title: A", "Head"], ""),
        ("---\ntitle: never closed\n\n# Head\n", ["Head"], ""),
    ],
)
def test_front_matter_holds_no_headings_but_a_title(
    text: str, titles: list[str], title: str
) -> None:
    assert [heading.title for heading in find_headings(text)] == titles
    assert read_text(text.encode()).title == title


def test_many_open_fences_in_items_are_read_in_linear_time() -> None:
    text = "- ```\ntext\n" * 50_000 + "# Head\n"
    assert [heading.title for heading in find_headings(text)] == ["Head"]


@given(
    st.lists(
        st.sampled_from(
            (
                "# a\n",
                "```\n",
                "- ```x\n",
                "~~~~\n",
                "    b\n",
                "  c\n",
                "===\n",
                "---\n",
                "<!--",
                "-->\n",
                "<div>\n",
                "\n",
                "\r\n",
                "title: x\n",
                "+++\n",
                ".. x::\n",
                "d",
            )
        ),
        max_size=30,
    )
)
def test_headings_are_in_order_and_hold_their_titles(pieces: list[str]) -> None:
    text = "".join(pieces)
    position = 0
    for heading in find_headings(text):
        assert position <= heading.start < heading.end <= len(text)
        assert heading.title in text[heading.start : heading.end]
        position = heading.end


def test_hashes_in_restructured_text_are_comments() -> None:
    text = "Title\n*****\n\n.. code-block:: sh\n\n   # a comment\n\nNext\n****\n"
    assert [heading.title for heading in find_headings(text)] == ["Title", "Next"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'The "assert" statement\n**********************\n\nAssert statements help.\n',
            [True, False],
        ),
        ("# Head #\n\nA sentence. Another one.", [True, False, False]),
        ("====\nHead\n====\ntext", [True, False]),
        ("Head\n---\ntext", [True, False]),
        ("#hashtag is a word. So is C#.", [False, False]),
        ("| a | b |\n---------\n", [False]),
    ],
)
def test_a_sentence_that_is_a_heading_is_known(text: str, expected: list[bool]) -> None:
    sentences = [text[span.start : span.end] for span in split_sentences(text)]
    assert [is_heading(sentence) for sentence in sentences] == expected
    assert [is_heading(sentence.strip()) for sentence in sentences] == expected
