"""Dialogues and collections in query files."""

import json
from pathlib import Path

import pytest

from ccrag.corpus.queries import read_queries
from ccrag.errors import EmptyCandidatesError, InputError
from ccrag.types import Candidates, Query, Turn

SLICE = Path(__file__).parents[4] / "shared" / "data" / "mtrag-un" / "tasks.jsonl"
INPUT = [
    {"speaker": "user", "text": "What is a bond?"},
    {"speaker": "agent", "text": "A loan to a company."},
    {"speaker": "user", "text": "Is it safe?"},
]
TURNS = (Turn("user", "What is a bond?"), Turn("agent", "A loan to a company."))


def write(folder: Path, *records: object) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_official_form(tmp_path: Path) -> None:
    record = {
        "conversation_id": "c",
        "task_id": "c<::>2",
        "Collection": "fiqa",
        "turn": "2",
        "input": INPUT,
        "contexts": [],
    }
    assert read_queries(write(tmp_path, record)) == [
        Query("c<::>2", "Is it safe?", Candidates.of_collection("fiqa"), TURNS)
    ]


def test_the_form_of_the_slice(tmp_path: Path) -> None:
    [query] = read_queries(
        write(tmp_path, {"task_id": "t", "collection": "fiqa", "turns": INPUT, "relevant": ["x"]})
    )
    assert (query.turns, query.candidates.collection) == (TURNS, "fiqa")


@pytest.mark.skipif(not SLICE.exists(), reason="no development data here")
def test_the_slice_itself() -> None:
    queries = read_queries(SLICE)
    assert len(queries) == 304
    named = {query.candidates.collection for query in queries}
    assert named == {"clapnq", "fiqa", "govt", "ibmcloud"}
    assert sum(not query.turns for query in queries) == 26


@pytest.mark.parametrize(
    ("text", "turns", "question"),
    [
        ("|user|: Is it safe?", (), "Is it safe?"),
        (
            "|user|: What is a bond?\n|agent|: A loan to a company.\n|user|: Is it safe?",
            TURNS,
            "Is it safe?",
        ),
        ("|user|: one\ntwo\n|user|:three", (Turn("user", "one\ntwo"),), "three"),
        ("no |user|: mark", (), "no |user|: mark"),
        ("Is it safe?", (), "Is it safe?"),
    ],
)
def test_texts_with_marked_turns(
    tmp_path: Path, text: str, turns: tuple[Turn, ...], question: str
) -> None:
    path = write(tmp_path, {"_id": "q", "text": text})
    [query] = read_queries(path, collection="fiqa")
    assert query == Query("q", question, Candidates.of_collection("fiqa"), turns)


def test_listed_documents_win_over_a_collection(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path,
        {"id": "a", "text": "x", "doc_ids": ["d"], "collection": "fiqa"},
        {"id": "b", "text": "x", "collection": "fiqa"},
        {"id": "c", "text": "x"},
    )
    found = [query.candidates for query in read_queries(path, collection="govt")]
    assert found == [
        Candidates.of(["d"], query_id="a"),
        Candidates.of_collection("fiqa"),
        Candidates.of_collection("govt"),
    ]
    with pytest.raises(EmptyCandidatesError, match="'c'"):
        read_queries(path)


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ([], "input holds no turn"),
        (INPUT[:2], "input must end with the user's turn"),
        ([{"speaker": "system", "text": "x"}], r"input\[0\].speaker must be one of user, agent"),
        ([{"text": "x"}], r"input\[0\].speaker must be one of user, agent, got None"),
        ([*INPUT[:2], {"speaker": "user"}], r"input\[2\].text must be a string, got null"),
        (["x"], r"input\[0\] must be a turn, got a string"),
        ([{"speaker": "user", "text": " "}], "query 't' has an empty text"),
    ],
)
def test_what_is_no_dialogue(tmp_path: Path, turns: object, message: str) -> None:
    path = write(tmp_path, {"task_id": "t", "Collection": "fiqa", "input": turns})
    with pytest.raises(InputError, match=rf"tasks.jsonl:1: .*{message}"):
        read_queries(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("before\n|user|: x", r"text has text before its first '\|user\|:'"),
        ("|user|: x\n|agent|: y", "text must end with the user's turn"),
    ],
)
def test_what_is_no_marked_dialogue(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_queries(write(tmp_path, {"_id": "q", "text": text}), whole_index=True)
