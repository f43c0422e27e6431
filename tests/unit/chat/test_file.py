"""The file of a dialogue: what it keeps, and what it refuses."""

import errno
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from ccrag.chat.exchanges import Conversation
from ccrag.chat.file import ChatFile
from ccrag.chat.transcript import Ground
from ccrag.errors import InputError
from ccrag.types import Candidates
from tests.unit.chats import abstention, exchange, ground, reread

FIRST, SECOND = exchange("One?"), exchange("Two?", doc_id="b")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.jsonl"


def opened(path: Path, over: Ground | None = None) -> ChatFile:
    file = ChatFile(path, over or ground())
    file.read()
    return file


def written(path: Path) -> ChatFile:
    """A file of two exchanges."""
    file = opened(path)
    file.append_exchange(FIRST)
    file.append_exchange(SECOND)
    return file


def test_what_was_kept_is_read_again(path: Path) -> None:
    written(path)
    assert reread(path) == Conversation((FIRST, SECOND))
    head, *lines = map(orjson.loads, path.read_bytes().splitlines())
    assert (head["chat"], head["index"]) == (1, "demo")
    assert head["candidates"] == {"doc_ids": ["a", "b"]}
    assert head["pipeline"]["name"] == "chat"
    assert [line["exchange"]["query"] for line in lines] == ["One?", "Two?"]


def test_there_is_no_file_before_there_is_something_to_keep(path: Path) -> None:
    file = opened(path)
    assert not path.exists()
    file.begin()
    file.begin()
    assert len(path.read_bytes().splitlines()) == 1
    assert reread(path) == Conversation()


def test_it_goes_on_after_it_was_read(path: Path) -> None:
    written(path)
    opened(path).append_exchange(abstention("Three?"))
    assert [said.question for said in reread(path).exchanges] == ["One?", "Two?", "Three?"]


def test_a_new_dialogue_leaves_the_earlier_one_in_the_file(path: Path) -> None:
    file = written(path)
    file.append_new()
    assert reread(path) == Conversation()
    file.append_exchange(SECOND)
    assert reread(path) == Conversation((SECOND,))
    assert path.read_bytes().count(b'"query":"One?"') == 1


def test_a_file_that_exists_and_is_empty_is_begun(path: Path) -> None:
    path.touch()
    opened(path).append_exchange(FIRST)
    assert reread(path) == Conversation((FIRST,))


@pytest.mark.parametrize("cut", [1, 2, 20, 300])
def test_of_a_line_that_a_kill_cut_off_nothing_is_read(path: Path, cut: int) -> None:
    written(path)
    whole = path.read_bytes()
    third = orjson.dumps({"exchange": SECOND.record, "turns_read": 2})
    path.write_bytes(whole + third[:-cut])
    file = ChatFile(path, ground())
    assert file.read() == Conversation((FIRST, SECOND))
    assert file.is_torn
    assert path.read_bytes() == whole + third[:-cut]  # reading changes nothing
    file.append_exchange(FIRST)
    assert path.read_bytes().startswith(whole)
    assert reread(path) == Conversation((FIRST, SECOND, FIRST))
    assert not opened(path).is_torn


def test_what_follows_a_torn_line_leaves_nothing_of_it(path: Path) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"exchange": {"query": "' + b"x" * 500)
    opened(path).append_new()
    assert path.read_bytes() == whole + b'{"new":true}\n'


def test_a_last_line_without_its_newline_counts_if_it_is_whole(path: Path) -> None:
    written(path)
    path.write_bytes(path.read_bytes()[:-1])
    file = ChatFile(path, ground())
    assert len(file.read()) == 2
    assert not file.is_torn
    file.append_exchange(FIRST)
    file.append_exchange(SECOND)
    assert reread(path) == Conversation((FIRST, SECOND, FIRST, SECOND))


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (ground("other"), "is a dialogue over index 'demo'; give --index demo, or another --file"),
        (
            ground(candidates=Candidates.whole_index()),
            "is a dialogue over other documents; give --docs a,b, or another --file",
        ),
        (ground(candidates=Candidates.of(["a"], query_id="q")), "give --docs a,b, or another"),
        (ground(candidates=Candidates.of_collection("c")), "give --docs a,b, or another"),
        (
            ground(pipeline="mtrag"),
            "is a dialogue over pipeline chat; give it by --pipeline, or another --file",
        ),
        (
            ground(changes=("retrieval.depth=7",)),
            "over other settings: retrieval.depth=200, which is 7 here; give the same, or another",
        ),
    ],
)
def test_a_file_over_something_else_is_refused_and_left_alone(
    path: Path, over: Ground, message: str
) -> None:
    written(path)
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        reread(path, over)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:1: is a dialogue over ")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("candidates", "option"),
    [
        (Candidates.whole_index(), "--all,"),
        (Candidates.of_collection("fiqa"), "--collection fiqa,"),
        (
            Candidates.of([f"d{n}" for n in range(90)], query_id="q"),
            "--docs d0,d1,d10,… (90 documents),",
        ),
    ],
)
def test_the_documents_to_give_are_named(path: Path, candidates: Candidates, option: str) -> None:
    opened(path, ground(candidates=candidates)).begin()
    with pytest.raises(InputError) as caught:
        reread(path)
    assert f"other documents; give {option} or another --file" in str(caught.value)


def test_the_order_of_candidates_and_new_settings_do_not_count(path: Path) -> None:
    written(path)
    head, rest = path.read_bytes().split(b"\n", 1)
    older = orjson.loads(head)
    del older["pipeline"]["select"]["neighbours"], older["pipeline"]["units"]
    older["pipeline"]["summary"] = "in other words"
    path.write_bytes(orjson.dumps(older) + b"\n" + rest)
    assert len(reread(path, ground(candidates=Candidates.of(["b", "a"], query_id="q")))) == 2


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"not json\n", ":1: not a line that ccrag chat writes (Invalid JSON"),
        (b"a shopping list", ":1: not a line that ccrag chat writes"),
        (b"\n", ":1: not a line"),
        (b'{"query_id": "q1", "query": "x"}\n', ":1: not a line that ccrag chat writes (chat: "),
        (b'{"chat": 2, "index": "demo", "candidates": {}, "pipeline": {}}\n', "(chat: "),
        (b"[]\n", ":1: not a line"),
        (b"\xff\xfe\n", ":1: not a line"),
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(
    path: Path, content: bytes, place: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        reread(path)
    assert place in str(caught.value)
    assert str(caught.value).endswith("mend it, or give another --file")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def damaged(**changes: Any) -> bytes:
    return orjson.dumps({"exchange": {**FIRST.record, **changes}, "turns_read": 0})


SENTENCE = {"text": "x", "evidence": ["e1"], "citations": [0]}


@pytest.mark.parametrize(
    ("line", "where"),
    [
        (b"", "Invalid JSON"),
        (b'{"exchange": {"query": "half', "Invalid JSON"),
        (b"7", "(Input should be an object"),
        (b'{"exchange": {}}', "exchange.query: Field required"),
        (b'{"turns_read": 3}', "neither an exchange nor a new dialogue"),
        (damaged(query=7), "exchange.query: "),
        (damaged(answer=[{"text": "x"}]), "exchange.answer.0.evidence: "),
        (damaged(answer=[{**SENTENCE, "citations": ["0"]}]), "exchange.answer.0.citations.0: "),
        (damaged(references=[]), "rests on evidence that is not here or not cited"),
        (damaged(answer=[{**SENTENCE, "evidence": ["e9"]}]), "rests on evidence that is not here"),
        (damaged(answer=[{**SENTENCE, "citations": [3]}]), "cites a document that is not there"),
        (damaged(rankings=[{"stage": "rrf", "hits": [["p"]]}]), "exchange.rankings.0.hits.0.1: "),
        (damaged(seconds=None), "exchange.seconds: "),
    ],
)
def test_a_damaged_line_is_named(path: Path, line: bytes, where: str) -> None:
    written(path)
    head, first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join((head, first, line, second, b"")))
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        reread(path)
    assert str(caught.value).startswith(f"{path}:3: not a line that ccrag chat writes (")
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_where_nothing_can_be_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        opened(tmp_path / "no" / "chat.jsonl").begin()
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        reread(tmp_path)


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_could_not_be_written_is_written_with_the_next_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(path)
    file.append_exchange(FIRST)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        for said in (SECOND, FIRST):
            with pytest.raises(InputError, match=r"chat.jsonl: cannot be written: No space left"):
                file.append_exchange(said)
        assert path.read_bytes() == before
    file.append_new()
    file.append_exchange(SECOND)
    kept = [orjson.loads(line) for line in path.read_bytes().splitlines()[1:]]
    questions = [line.get("exchange", {}).get("query", "new") for line in kept]
    assert questions == ["One?", "Two?", "One?", "new", "Two?"]


def test_an_interrupt_while_writing_leaves_no_torn_line_and_drops_the_exchange(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    file = opened(path)
    file.append_exchange(FIRST)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            file.append_exchange(SECOND)
    file.append_exchange(FIRST)
    assert reread(path) == Conversation((FIRST, FIRST))


def test_two_chats_on_one_file_do_not_overwrite_each_other(path: Path) -> None:
    ours, theirs = written(path), opened(path)
    theirs.append_exchange(FIRST)
    with pytest.raises(InputError, match="was changed by somebody else, so that nothing more"):
        ours.append_exchange(SECOND)
    assert reread(path) == Conversation((FIRST, SECOND, FIRST))


def test_a_file_that_somebody_else_began_meanwhile_is_not_begun_again(path: Path) -> None:
    ours, theirs = opened(path), opened(path)
    theirs.append_exchange(FIRST)
    for write in (ours.begin, ours.append_new):
        with pytest.raises(InputError, match="was changed by somebody else"):
            write()
    assert reread(path) == Conversation((FIRST,))
