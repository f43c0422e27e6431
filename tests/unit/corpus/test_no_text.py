"""Half a surrogate pair, or bytes that were no UTF-8, wherever a user can give a string."""

from collections.abc import Callable

import pytest

from ccrag.config.load import load_settings
from ccrag.corpus.in_memory import InMemoryCorpus
from ccrag.errors import CcragError, ConfigError, InputError
from ccrag.library import make_query
from ccrag.types import Candidates, Document, Query, Turn

HALF = "x \ud83d"
BYTE = b"x \xff".decode("utf-8", "surrogateescape")
WHOLE = Candidates.whole_index()


@pytest.mark.parametrize("bad", [HALF, BYTE])
@pytest.mark.parametrize(
    ("give", "kind", "where"),
    [
        (lambda bad: make_query(bad, WHOLE), InputError, "query 'q': the question"),
        (lambda bad: Query(bad, "x", WHOLE), InputError, "query id"),
        (lambda bad: Turn("user", bad), InputError, "an earlier turn"),
        (lambda bad: Candidates.of([bad], query_id="q"), InputError, "query 'q': candidate id"),
        (lambda bad: Candidates.of_collection(bad), InputError, "collection name"),
        (lambda bad: load_settings(None, [f"output.team_id={bad}"]), ConfigError, "--set"),
        (lambda bad: InMemoryCorpus([Document(bad, "", "x")]), InputError, "document 1"),
        (lambda bad: InMemoryCorpus([Document("d", bad, "x")]), InputError, "document 1"),
        (lambda bad: InMemoryCorpus([Document("d", "", bad)]), InputError, "document 1"),
        (
            lambda bad: InMemoryCorpus([Document("d", "", "x", collection=bad)]),
            InputError,
            "document 1",
        ),
        (
            lambda bad: InMemoryCorpus([Document("d", "", "x", links=(bad,))]),
            InputError,
            "document 1",
        ),
    ],
)
def test_it_is_refused_with_its_place(
    give: Callable[[str], object], kind: type[CcragError], where: str, bad: str
) -> None:
    with pytest.raises(kind) as caught:
        give(bad)
    assert str(caught.value).startswith(where)
    assert "UTF-8" in str(caught.value)


def test_a_variable_of_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAG_OUTPUT__TEAM_ID", BYTE)
    with pytest.raises(ConfigError, match="the value of CCRAG_OUTPUT__TEAM_ID is not UTF-8"):
        load_settings(None, [])


def test_nul_and_whole_pairs_are_text() -> None:
    assert make_query("a\0b \U0001f600", WHOLE).text == "a\0b \U0001f600"
