"""A real browser, Debian's Chromium, on a real server over a small index with two runs."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from ccrag.config.load import load_settings
from ccrag.engine.client import connect
from ccrag.runs.run import run_queries
from ccrag.types import Candidates, Document, Query
from tests.conftest import fail_in_ci_else_skip
from tests.integration.building import build_index, pipeline
from tests.serving import running, server_state
from tests.support import engine_settings

NAME = "test-web-browser"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = Document(
    "<script>window.hacked=1</script>\"'&/../?a=b#c",
    "<img src=x onerror=window.hacked=2> \u202etitle",
    "</pre></script><script>window.hacked=3</script> The hostile reservoir was built in 1666 by "
    "<b onmouseover=window.hacked=4>nobody</b>. {{ 7 * 7 }} An ordinary sentence follows here.",
    links=("javascript:window.hacked=5", '"><script>window.hacked=6</script>'),
)


def reservoir(n: int) -> Document:
    filler = " ".join(f"In year {k} the water of lake {n} rose and fell again." for k in range(60))
    paragraphs = (
        f"Lake {n}",
        f"The reservoir number {n} stores water for the valley of lake {n}. {filler}",
        f"The dam of reservoir number {n} was finished in {1900 + n} by the valley's own masons.",
        filler,
    )
    text = "\n\n".join(paragraphs)
    return Document(f"res{n}", f"Reservoir {n}", text, f"{1990 + n}-05-01", (f"res{n + 1}",))


DOCUMENTS = [*(reservoir(n) for n in range(6)), HOSTILE]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """
    Chromium; without it tests skip, and fail where `CI` is set.

    Closed before tests elsewhere begin: Playwright keeps an event loop running in this thread.
    """
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        fail_in_ci_else_skip("no Chromium; on Debian: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def server(engine_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a server over `NAME`, with the runs `bm25` and `fused`."""
    client = connect(engine_url, engine_settings())
    build_index(client, NAME, DOCUMENTS)
    folder = tmp_path_factory.mktemp("runs")
    ids = [document.doc_id for document in DOCUMENTS[:6]]
    queries = [
        Query(
            f"q{n}",
            f"When was the dam of reservoir number {n} finished?",
            Candidates.of(ids, query_id=f"q{n}"),
        )
        for n in range(4)
    ]
    for run, name in (("bm25", "single-query-bm25"), ("fused", "caes-rag-rrf")):
        settings = load_settings(name)
        run_queries(pipeline(client, NAME, settings), queries, folder / run, settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRAG_ENGINE__URL", engine_url)
        with running(server_state(f"serve.runs={folder}")) as url:
            yield url
    for index in client.indices.get(index=f"ccrag-{NAME}-*"):
        client.indices.delete(index=index)
    client.close()


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """A page at the server's root. It fails on errors of the script and on blocked content."""
    with watched(browser.new_context(base_url=server)) as opened:
        opened.goto("/")
        yield opened


class watched:  # noqa: N801  # reads as a verb
    """A page of a context whose errors fail the test at its end."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._errors: list[str] = []

    def __enter__(self) -> Page:
        page = self._context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        page.on(
            "console",
            lambda said: (
                self._errors.append(said.text)
                if said.type == "error" and "status of 4" not in said.text
                else None
            ),
        )
        page.on("dialog", lambda dialog: self._errors.append(f"dialog {dialog.message}"))
        page.on("request", self._check_address)
        return page

    def _check_address(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if not url.startswith("http://127.0.0.1:"):
            self._errors.append(f"asked for {url}")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._context.close()
        assert not self._errors
