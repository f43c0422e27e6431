"""The page as a person uses it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import DOCUMENTS, HOSTILE, NAME, watched
from tests.serving import running, server_state

QUESTION = "When was the dam of reservoir number 3 finished?"
TEXTS = {document.doc_id: document.text for document in DOCUMENTS}


def ask(page: Page, text: str = QUESTION, *ids: str) -> None:
    page.select_option("#index", NAME)
    if ids:
        page.check("input[name=scope][value=some]")
        page.fill("#doc_ids", "\n".join(ids))
    page.fill("#text", text)
    page.locator("#text").press("Enter")
    expect(page.locator("#answer-head")).to_be_visible()


def test_ask_open_a_citation_and_see_the_words(page: Page) -> None:
    page.fill("#text", QUESTION)
    page.select_option("#index", NAME)
    page.click("button.primary")
    expect(page.locator("#answer-head")).to_have_text("Answer")
    quotes = page.locator(".references blockquote a")
    assert quotes.count() >= 1
    for at in range(quotes.count()):
        words = quotes.nth(at).inner_text()
        quotes.nth(at).click()
        mark = page.locator("#reader mark")
        expect(mark).to_have_text(words)
        expect(page.locator("#reader")).to_be_visible()
        body = page.locator("#reader pre").inner_text()
        assert body in TEXTS.values()
        expect(page.locator("#reader mark").first).to_be_in_viewport()
    page.click("#close-reader")
    expect(page.locator("#reader")).to_be_hidden()


def test_a_citation_number_leads_to_its_source(page: Page) -> None:
    ask(page, QUESTION, "res2", "res3")
    for cite in page.locator(".cite").all():
        number = cite.inner_text()
        source = page.locator(f".references > li[value='{number}'] .title").inner_text()
        assert cite.get_attribute("aria-label") == f"source {number}: {source}"
        cite.click()
        expect(page.locator("#reader h2")).to_have_text(source)
        expect(page.locator("#reader mark").first).to_be_visible()
        expect(cite).to_have_attribute("aria-current", "true")


def test_a_document_alone_shows_the_same_words(page: Page) -> None:
    ask(page, QUESTION, "res3")
    href = page.locator(".references blockquote a").first.get_attribute("href")
    words = page.locator(".references blockquote a").first.inner_text()
    assert href is not None
    page.goto(href)
    expect(page.locator("mark")).to_have_text(words)
    expect(page.locator("mark").first).to_be_in_viewport()


def test_the_way_is_shown_as_a_picture_and_as_a_table(page: Page) -> None:
    ask(page, QUESTION, "res2", "res3")
    columns = page.locator(".picture .column text:not(.count)").all_text_contents()
    assert columns == ["original", "keywords", "feedback", "rrf", "rerank", "read"]
    assert page.locator(".picture .thread.cited").count() >= 1
    drawn = page.locator(".picture .thread circle").count()
    page.get_by_text("The same as a table").click()
    rows = [row.locator("td").all_inner_texts() for row in page.locator(".way tbody tr").all()]
    assert drawn == sum(cell != "–" for row in rows for cell in row)
    assert {row[-1] for row in rows} >= {"1", "2"}
    info = dict(
        zip(
            page.locator(".facts dt").all_inner_texts(),
            page.locator(".facts dd").all_inner_texts(),
            strict=True,
        )
    )
    assert info["original"] == QUESTION
    assert "rerank" in info["time"]


def test_only_chosen_documents_answer(page: Page) -> None:
    page.select_option("#index", NAME)
    page.check("input[name=scope][value=some]")
    page.fill("#title", "reserv")
    expect(page.locator("#found input")).to_have_count(6)
    page.fill("#title", "reservoir 4")
    expect(page.locator("#found input")).to_have_count(1)
    page.check("#found input")
    expect(page.locator("#chosen input")).to_have_count(1)
    page.fill("#text", QUESTION)
    page.click("button.primary")
    expect(page.locator(".references .title")).to_have_text(["Reservoir 4"])
    page.click("#chosen input")
    expect(page.locator("#chosen input")).to_have_count(0)
    page.click("button.primary")
    expect(page.locator("#status")).to_contain_text("has no candidate documents")


def test_only_pipelines_the_index_was_built_for_are_offered(page: Page) -> None:
    page.select_option("#index", NAME)
    assert page.locator("#pipeline option[value=rrf-no-rerank]").is_enabled()
    assert page.locator("#pipeline option[value=hybrid]").is_disabled()
    chosen = page.locator("#pipeline").input_value()
    assert page.locator(f"#pipeline option[value={chosen}]").is_enabled()


def test_an_unknown_id_is_said(page: Page) -> None:
    page.select_option("#index", NAME)
    page.check("input[name=scope][value=some]")
    page.fill("#doc_ids", "nowhere")
    page.fill("#text", QUESTION)
    page.click("button.primary")
    expect(page.locator("#status")).to_contain_text("does not hold 'nowhere'")


def test_compare_two_runs(page: Page) -> None:
    page.click("nav a:text('Runs')")
    page.check("input[name=left][value=bm25]")
    page.check("input[name=right][value=fused]")
    page.click("button:text('Compare')")
    expect(page.locator("tbody tr")).to_have_count(4)
    page.locator("tbody a").first.click()
    expect(page.locator(".sides section h2")).to_have_text(["bm25", "fused"])
    assert page.locator(".sides .picture").count() == 2
    page.locator(".sides .cite").first.click()
    expect(page.locator("#reader mark").first).to_be_visible()


def test_a_run_is_browsed(page: Page) -> None:
    page.goto("/runs")
    page.click("a:text('fused')")
    expect(page.locator("tbody tr")).to_have_count(4)
    page.locator("tbody a").nth(1).click()
    expect(page.locator("h1")).to_have_text("When was the dam of reservoir number 1 finished?")
    expect(page.locator(".picture")).to_be_visible()


def test_with_the_keyboard_alone(page: Page) -> None:
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(QUESTION)
    tab_to(page, "index")
    page.keyboard.type(NAME)
    tab_to(page, "all")
    page.keyboard.press("ArrowRight")
    expect(page.locator("input[value=some]")).to_be_checked()
    tab_to(page, "title")
    page.keyboard.type("reservoir 3")
    expect(page.locator("#found input")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#chosen input")).to_be_checked()
    page.locator("#text").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#answer-head")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".cite").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#reader mark").first).to_be_visible()
    expect(page.locator("#reader-content")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#reader")).to_be_hidden()
    expect(page.locator(".cite").first).to_be_focused()


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the field with this id, name or value has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        focused: Any = page.evaluate(
            "[document.activeElement.id, document.activeElement.name, document.activeElement.value]"
        )
        if name in focused:
            return
    pytest.fail(f"Tab does not lead to {name}")


def test_a_hostile_document_is_only_text(page: Page) -> None:
    ask(page, "When was the hostile reservoir built by nobody?", HOSTILE.doc_id)
    expect(page.locator(".references .title")).to_have_text(re.compile("<img src=x"))
    expect(page.locator(".references > li > .id")).to_have_text(HOSTILE.doc_id)
    page.locator(".cite").first.click()
    expect(page.locator("#reader h2")).to_contain_text("<img src=x onerror=window.hacked=2>")
    expect(page.locator("#reader pre")).to_have_text(HOSTILE.text)
    expect(page.locator("#reader mark").first).to_contain_text("hostile reservoir was built")
    page.get_by_text("Links to").click()
    page.locator("#reader .links a").first.hover()
    assert_only_text(page)
    page.locator("#reader .links a").first.click()
    expect(page.locator("h1")).to_have_text("Not available")
    page.goto(f"/documents?index={NAME}&title=img")
    assert_only_text(page)
    page.goto("/")
    page.select_option("#index", NAME)
    page.check("input[name=scope][value=some]")
    page.fill("#title", "img src")
    expect(page.locator("#found input")).to_have_value(HOSTILE.doc_id)
    page.check("#found input")
    page.fill("#text", "<script>window.hacked=7</script> hostile reservoir?")
    page.click("button.primary")
    expect(page.locator(".references .title")).to_have_count(1)
    assert_only_text(page)


def assert_only_text(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator("#main script, #main img, #main b, #reader script").count() == 0
    script = "[...document.querySelectorAll('[href]')].map(a => a.getAttribute('href'))"
    for href in page.evaluate(script):
        assert href.startswith(("/", "#")), href


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window(browser: Browser, server: str, scheme: Any) -> None:
    context = browser.new_context(
        base_url=server, viewport={"width": 360, "height": 740}, color_scheme=scheme
    )
    with watched(context) as page:
        page.goto("/")
        ask(page, QUESTION, "res3", "res4")
        assert_fits(page)
        page.locator(".cite").first.click()
        expect(page.locator("#reader mark").first).to_be_visible()
        whole = {"x": 0, "y": 0, "width": 360, "height": 740}
        assert page.locator("#reader").bounding_box() == whole
        expect(page.locator("#reader mark").first).to_be_in_viewport()
        page.click("#close-reader")
        for address in (
            "/runs",
            "/run?name=fused",
            "/run/query?name=fused&query_id=q1",
            "/compare?left=bm25&right=fused",
            "/compare/query?left=bm25&right=fused&query_id=q1",
            f"/document?index={NAME}&doc_id=res1&span=5-90",
            "/nowhere",
        ):
            page.goto(address)
            assert_fits(page)


def assert_fits(page: Page) -> None:
    """Nothing sticks out sideways."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(browser: Browser, server: str, scheme: Any) -> None:
    with watched(browser.new_context(base_url=server, color_scheme=scheme)) as page:
        page.goto("/")
        ask(page, QUESTION, "res3")
        page.locator(".cite").first.click()
        expect(page.locator("#reader mark").first).to_be_visible()
        for selector in ("body", ".soft", ".id", ".cite", "a.title", "button.primary", "mark"):
            assert contrast(page, selector) >= 4.5, selector


def contrast(page: Page, selector: str) -> float:
    """WCAG's contrast of an element's text with what lies behind it."""
    ratio: float = page.evaluate(
        """selector => {
          const rgb = text => text.match(/[\\d.]+/g).map(Number);
          const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
            .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
          let node = document.querySelector(selector);
          const ink = light(rgb(getComputedStyle(node).color));
          let ground = rgb(getComputedStyle(node).backgroundColor);
          while (ground[3] === 0) {
            node = node.parentElement;
            ground = rgb(getComputedStyle(node).backgroundColor);
          }
          const [low, high] = [ink, light(ground)].sort((a, b) => a - b);
          return (high + .05) / (low + .05);
        }""",
        selector,
    )
    return ratio


def test_without_script_it_works_too(browser: Browser, server: str) -> None:
    with watched(browser.new_context(base_url=server, java_script_enabled=False)) as page:
        page.goto(f"/?index={NAME}&title=reservoir+3")
        page.check("#found input")
        page.fill("#text", QUESTION)
        page.click("button.primary")
        expect(page.locator(".references .title")).to_have_text(["Reservoir 3"])
        expect(page.locator("#doc_ids")).to_have_value("res3")
        page.locator(".cite").first.click()
        expect(page.locator("mark")).to_have_text(re.compile("finished in 1903|stores water"))
        page.goto("/document?index=no-such&doc_id=a")
        expect(page.locator("h1")).to_have_text("Unknown index")


def test_a_paper_of_ones_own(page: Page) -> None:
    page.get_by_text("Ask about a file of your own").click()
    paper = b"# On canals\n\nThe great canal was dug in 1777 by four hundred workers.\n"
    page.set_input_files(
        "#file", {"name": "canals.md", "mimeType": "text/markdown", "buffer": paper}
    )
    page.click("button:text('Upload')")
    chosen = page.locator("#index option:checked")
    expect(chosen).to_have_text("your file canals.md")
    page.fill("#text", "When was the great canal dug?")
    page.click("button.primary")
    expect(page.locator(".sentences")).to_contain_text("dug in 1777")
    page.locator(".cite").first.click()
    expect(page.locator("#reader mark")).to_contain_text("The great canal was dug in 1777")


def test_a_long_document_opens_around_the_words(page: Page, server: str) -> None:
    text = "word " * 42_000
    page.get_by_text("Ask about a file of your own").click()
    page.set_input_files(
        "#file", {"name": "long.txt", "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.click("button:text('Upload')")
    name = page.locator("#index").input_value()
    page.goto(f"/document?index={name}&doc_id=long.txt&span=150000-150009#span")
    expect(page.locator("mark")).to_have_text("word word")
    assert len(page.locator("pre").inner_text()) < 61_000
    page.get_by_text("what comes after").click()
    expect(page.get_by_text("what comes after")).to_have_count(0)
    page.get_by_text("what comes before").click()
    expect(page.get_by_text("what comes after")).to_have_count(1)


def test_signing_in(
    browser: Browser, server: str, engine_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCRAG_ENGINE__URL", engine_url)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        f'[tokens.reader]\ntoken = "the reader\'s own token"\nindexes = ["{NAME}"]\n'
        f'[tokens.reader.documents]\n{NAME} = ["res3"]\n'
    )
    with (
        running(server_state(f"serve.tokens={tokens}")) as url,
        watched(browser.new_context(base_url=url)) as page,
    ):
        page.goto("/runs")
        expect(page.locator("h1")).to_have_text("Sign in")
        page.fill("#token", "a wrong one")
        page.click("main button")
        expect(page.get_by_role("alert")).to_have_text("Nobody has this token.")
        page.fill("#token", "the reader's own token")
        page.click("main button")
        expect(page.locator("#index option")).to_have_text([f"{NAME} (1 documents)"])
        assert page.evaluate("document.cookie") == ""
        ask(page)
        expect(page.locator(".references .title")).to_have_text(["Reservoir 3"])
        page.locator(".cite").first.click()
        expect(page.locator("#reader h2")).to_have_text("Reservoir 3")
        page.goto(f"/document?index={NAME}&doc_id=res2")
        expect(page.locator("h1")).to_have_text("Not available")
        page.goto("/runs")
        page.click("button:text('Sign out')")
        page.goto("/")
        expect(page.locator("h1")).to_have_text("Sign in")
