"""A hint repeats what was given, but for secrets: it may end in a log or an issue."""

import pytest

from ccrag.config.load import load_settings
from ccrag.indexing.command import index_command


@pytest.mark.parametrize("key", ["engine.password", "engine.token"])
def test_no_hint_shows_a_secret(key: str) -> None:
    given = ["bm25.k1=0.9", f"{key}=se=cret", "provider.api_key=secret"]
    hint = index_command("demo", load_settings("single-query-bm25", given))
    assert hint == (
        "ccrag index PATH... --index demo --pipeline single-query-bm25 "
        f"--set bm25.k1=0.9 --set {key}=..."
    )
