"""HTML pages of every make: nothing that a reader of the page sees is lost without a count."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.corpus.faults import RecordError
from ccrag.corpus.readers.html_tables import GROWTH
from ccrag.corpus.readers.page import ReadPage
from ccrag.text.sections import find_headings
from ccrag.text.words import passage_words
from tests.pages import read_html


def page(markup: str) -> ReadPage:
    return read_html(markup.encode())


LINKS = "".join(f"<li><a href='#{n}'>Chapter {n} of it</a></li>" for n in range(9))
WORDS = "words that stand there " * 30


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        # headings
        ("<h2><a class='anchor'>Cooling pump</a></h2><p>x", "## Cooling pump\n\nx"),
        ("<h2>Pump<a class='anchor' href='#p'>#</a><a class='headerlink'>¶</a></h2>", "## Pump"),
        ("<h2>Pump <span class='permalink'>🔗</span></h2>", "## Pump"),
        ("<h2><div>a</div><div>b</div></h2>", "## a b"),
        ("<h2><button>Folded?</button></h2><p>x<h2>Code<button>Copy</button></h2>",
         "## Folded?\n\nx\n\n## Code"),
        ("<div class='admonition note'><h3>Note</h3><p>Careful.</div><p>on",
         "**Note**\n\nCareful.\n\non"),
        ("<div class='warning'><h3 class='title'>Warning</h3><p>Hot.</div>", "**Warning**\n\nHot."),
        ("<aside><h2>By the way</h2><p>x</aside>", "**By the way**\n\nx"),
        ("<blockquote><h2>Quoted</h2>x</blockquote>", "**Quoted**\n\nx"),
        ("<details><summary>More</summary><h2>In</h2>x</details>", "More\n\n**In**\n\nx"),
        ("<table><tr><th><h3>Plan</h3></th><td>1</td></tr></table>", "| Plan | 1 |"),
        ("<blockquote><h1>A</h1><h2>B</h2><h2>C</h2>the page</blockquote>",
         "# A\n\n## B\n\n## C\n\nthe page"),
        # notes of docutils
        ("<p>x<aside class='footnote' role='doc-footnote'><span>[1]</span><p>Foot.</aside>",
         "x\n\n[1]\n\nFoot."),
        ("<aside class='topic'><p class='topic-title'>Topic</p><p>x</aside>", "Topic\n\nx"),
        # forms
        ("<form action='/'><p>All <input value='v'><select><option>o</select><label>n</label></p>",
         "All n"),
        ("<p>x<textarea>a\n b</textarea>", "x\n\n```\na\n b\n```"),
        # code
        ("<pre>a = Y<br>b = 17</pre>", "```\na = Y\nb = 17\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre><code class='language-c'>a</code></pre>", "```c\na\n```"),
        ("<pre class='brush: java'>a</pre>", "```java\na\n```"),
        ("<div class='highlight-sh'><div class='highlight'><pre>a</pre></div></div>",
         "```sh\na\n```"),
        ("<div><!-- c --><pre>a</pre></div>", "```\na\n```"),
        ("<pre>```\na</pre>", "````\n```\na\n````"),
        ("<pre><span class='lineno'>1</span>a\n<span class='lineno'>2</span>b</pre>",
         "```\na\nb\n```"),
        ("<p>a<xmp><b></xmp><plaintext>c</p>", "a\n\n```\n<b>\n```\n\n```\nc</p>\n```"),
        ("<p># make<p>``` x<p>| y", "\\# make\n\n\\``` x\n\n\\| y"),
        # lists
        ("<ol start='3'><li>c<li><p>d<ul><li>x</ul><li value='9'>e</ol>",
         "3. c\n\n4. d\n\n- x\n\n9. e"),
        ("<ol><li><h3>Step</h3>x<li><pre>y</pre><p>z</ol>",
         "### 1. Step\n\nx\n\n2.\n\n```\ny\n```\n\nz"),
        ("<ol reversed><li>b<li>a</ol>", "2. b\n\n1. a"),
        ("<dl><dt>Term<dd>Meaning</dl>", "Term\n\nMeaning"),
        # tables
        ("<table>stray<tr>lost<td>a</td>too</tr></table>", "stray\n\nlost\n\ntoo\n\n| a |"),
        ("<table><caption>Cap</caption><tr><td><table><tr><td>a<td>b</table><td>c</table>",
         "Cap\n\n| a | b |\n\nc"),
        ("<table><tr><th>a<th>b<tr><td><ul><li>1<li>2</ul><td>3</table>",
         "| a | b |\n| 1 2 | 3 |"),
        # languages
        ("<p>日本\n語の<b>文</b>\n字。\n次 の", "日本語の文字。次 の"),
        ("<p>한국\n어 and\n日本", "한국 어 and 日本"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>です", "漢字(かんじ)です"),
        ("<p>a <rt>alone</rt>", "a alone"),
        ("<p>so&shy;ft w<wbr>br", "soft wbr"),
        # shown and not shown
        ("<p hidden>a<p style='display: none'>b<template>c</template><p>d", "d"),
        ("<p aria-hidden='true'>seen<div role='tabpanel' hidden>tab</div>", "seen\n\ntab"),
        ("<template shadowrootmode='open'><p>a</template>", "a"),
        ("<noscript>on</noscript><p>x", "x"),
        ("<noscript>alone</noscript>", "alone"),
        ("<body style='display:none'><p>shown by a script", "shown by a script"),
        ("<svg><title>t</title><text>a</text><text>b</text></svg>", "a b"),
        ("<object>in <b>its</b> place</object><video>or so</video>", "in its placeor so"),
        ("<iframe srcdoc='<h2>In</h2>a'>else</iframe>b", "## In\n\na\n\nb"),
        ("<frameset><frame src='a.html'><noframes><p>without <b>frames</b></noframes></frameset>",
         "without frames"),
        ("<!--[if IE]>old<![endif]--><![if !IE]>new<![endif]>", "new"),
        ("<p>a <![CDATA[b < c]]> d<script>//<![CDATA[\nf()//]]></script>", "a b < c d"),
        ("<p>a\0b<p>&#128;&copy2;&unknown;", "ab\n\n€©2;&unknown;"),
        ("<html xmlns:h='x'><h:p>a</h:p><h:p>b</h:p>", "a\n\nb"),
        ("<math><mi>x</mi><semantics><annotation encoding='application/x-tex'>x^2</annotation>"
         "</semantics></math>", "$x^2$"),
        ("<span class='katex'><math alttext='x'></math><span class='katex-html' aria-hidden='true'>"
         "x</span></span>", "$x$"),
        # around the text
        (f"<nav>{LINKS}</nav><p>x", "x"),
        (f"<div class='related' role='navigation'>{LINKS}</div><p>x", "x"),
        (f"<aside>{LINKS}</aside><p>x", "x"),
        ("<div class='related'><p>Work by others.</div>", "Work by others."),
        ("<div class='menu'>Soup</div>", "Soup"),
        ("<h1>FAQ</h1><article>a</article><p>b<article>c</article>", "# FAQ\n\na\n\nb\n\nc"),
        (f"<p>{WORDS}<main><p>x</main>", f"{WORDS.strip()}\n\nx"),
        ("<p>Home<main><p>x</main><main>y</main>", "x\n\ny"),
    ],
)  # fmt: skip
def test_pages(markup: str, expected: str) -> None:
    assert page(markup).text.strip() == expected


def test_a_table_of_contents_is_read_where_it_is_the_page() -> None:
    chapters = "".join(f"<li><a href='{n}'>The long title of chapter {n}</a>" for n in range(20))
    contents = f"<h1>Book</h1><div class='toc'><ul>{chapters}</ul></div>"
    assert "- The long title of chapter 19" in page(contents).text
    whole = page(f"{contents}<p>{WORDS * 3}")
    assert "chapter 19" not in whole.text
    assert whole.losses[0][:3] == ("table of contents", 20 * 6, "words")
    assert page("<div class='breadcrumbs'><a href='/'>Home page</a></div><p>x").text == "x\n"


def test_what_is_left_out_on_purpose_is_counted() -> None:
    found = page(
        "<head><title>Not counted</title><script>f()</script></head><nav>one two</nav><main><p>text"
        "<p hidden>h</p><button>press it</button><noscript>no script</noscript></main><p>around"
    )
    assert found.words_in_file == 9
    assert [(loss.kind, loss.count, loss.unit) for loss in found.losses] == [
        ("navigation", 2, "words"),
        ("hidden", 1, "words"),
        ("form controls", 2, "words"),
        ("for browsers without scripts", 2, "words"),
        ("outside the main part", 1, "words"),
        ("scripts and styles", 1, "parts"),
    ]
    assert all(loss.intended for loss in found.losses)


@pytest.mark.parametrize(
    ("label", "data", "expected"),
    [
        ("gb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("iso-8859-1", "5 €, “so”".encode("cp1252"), "5 €, “so”"),
        ("shift_jis", "①ポンプ".encode("cp932"), "①ポンプ"),
        ("koi8-r", "Насос".encode("koi8-r"), "Насос"),
    ],
)
def test_declared_encodings(label: str, data: bytes, expected: str) -> None:
    metas = (
        f"<!-- <meta charset=utf-7> --><meta charset='{label}'>",
        f"<META content='text/html; charset={label}' http-equiv=Content-Type>",
    )
    for meta in metas:
        assert read_html(meta.encode() + b"<p>" + data + b"<p>end").text == f"{expected}\n\nend\n"


@pytest.mark.parametrize("tag", ["div", "b", "span", "table><tr><td", "ul><li", "sub", "pre", "h2"])
@pytest.mark.parametrize("depth", [260, 5_000])
def test_depth_loses_nothing(tag: str, depth: int) -> None:
    closing = "".join(f"</{name}>" for name in reversed(tag.split("><")))
    found = page(f"<body>{f'<{tag}>x ' * depth}deepest {closing * depth}<p>after")
    assert found.text.count("x") == depth
    assert "deepest" in found.text
    assert found.text.rstrip("\n}`").endswith("after") or "after" in found.text


_WORD = st.integers(0, 10**6).map("w{}w".format)
_TAGS = st.sampled_from(
    ("div", "p", "b", "span", "a", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th",
     "caption", "h1", "h3", "pre", "sub", "sup", "ruby", "rt", "nav", "aside", "main", "article",
     "form", "button", "select", "option", "textarea", "details", "summary", "blockquote", "figure",
     "noscript", "template", "iframe", "svg", "text", "section", "center", "font", "title", "math",
     "object", "x-y", "em", "hr", "br", "label")
)  # fmt: skip
_CLASSES = st.sampled_from(
    ["", "", "", " class=anchor", " class=toc", " class=note", " hidden", " role=navigation",
     " role=main", " href=x", " rowspan=2", " style='display:none'", " class=linenos"]
)  # fmt: skip
_TREES = st.recursive(
    _WORD.map("{} ".format),
    lambda inner: st.tuples(_TAGS, _CLASSES, st.lists(inner, max_size=4)).map(
        lambda tree: f"<{tree[0]}{tree[1]}>{''.join(tree[2])}</{tree[0]}> "
    ),
    max_leaves=25,
)


@given(_TREES, st.booleans())
def test_every_word_is_read_or_counted(tree: str, closed: bool) -> None:
    markup = f"<body>start {tree if closed else tree.replace('</', '<!--').replace('> ', '--> ')}"
    found = page(markup)
    left_out = sum(loss.count for loss in found.losses if loss.unit == "words")
    assert found.words_in_file is not None
    assert passage_words(found.text) >= found.words_in_file - left_out


def test_tables_cannot_grow_beyond_a_factor() -> None:
    long = "c" * 1_000
    rows = "<tr><td>1</td></tr>" * 999
    markup = f"<table><tr><td rowspan=1000>{long}</td><td>0</td></tr>{rows}</table>"
    found = page(markup)
    assert long in found.text
    assert found.text.count("| 1 |") == 999
    assert len(found.text) <= (GROWTH + 1) * len(markup)
    (said_once,) = found.losses
    assert (said_once.unit, said_once.intended) == ("parts", True)
    wide = f"<table>{'<tr><td colspan=1000 rowspan=1000>a</td></tr>' * 500}</table>"
    assert len(page(wide).text) <= (GROWTH + 1) * len(wide)


@pytest.mark.parametrize(
    "unit",
    [
        "<div>x ", "<span>x ", "<table><tr><td>x ", "<ul><li>x ", "<p>x ", "<p>x</p>", "<b></b>x ",
        "<a class=anchor>", "<main>x</main>", "<nav>x</nav><main>x</main>", "<h2>x", "<pre>x",
        "<table><tr><td rowspan=900 colspan=900>x</td></tr></table>", "<td>x", "<math><mi>x</mi>",
        "<td rowspan=900 colspan=900>x<tr>", "<iframe srcdoc='<p>x'></iframe>", "<![CDATA[x",
        "<svg><text>x", "<!--", "<", "&", "<p class='", "<meta charset=", "<script>", "<li><ol>",
        "<aside>x", "<button>x", "x<sub>y", "<ruby>x<rt>y", "日\n", "<h2>", "<dd><dl>",
        "<details>x",
    ],
)  # fmt: skip
def test_time_and_memory_are_linear(unit: str) -> None:
    def cost(times: int) -> float:
        data = ("<body>start " + unit * times).encode()
        started = time.process_time()
        read_html(data)
        return time.process_time() - started

    cost(100)
    small, large = (min(cost(times) for _ in range(3)) for times in (1_000, 8_000))
    assert large < 8 * 2.5 * max(small, 0.02)
    tracemalloc.start()
    try:
        data = ("<body>start " + unit * 2_000).encode()
        read_html(data)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000 + 600 * len(data)
    finally:
        tracemalloc.stop()


def test_pages_without_text_say_why() -> None:
    with pytest.raises(RecordError, match=r"no text but frames \(a.html\): give those files"):
        page("<frameset><frame src='a.html'></frameset>")
    for markup in ("", " ", "<!-- a -->", "<script>x</script>", "<p></p>"):
        with pytest.raises(RecordError, match="holds no"):
            page(markup)


def test_no_paragraph_becomes_a_heading() -> None:
    text = page("<h1>T</h1><p># a<p>## b<p>```<h2>U</h2>").text
    assert [heading.title for heading in find_headings(text)] == ["T", "U"]
