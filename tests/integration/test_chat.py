"""Dialogues by `ccrag chat`, line by line through a pipe, on a real engine."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import Result

from ccrag.errors import EngineDownError
from ccrag.pipeline.pipeline import Pipeline
from ccrag.types import Query
from tests.integration.commands import ccrag
from tests.integration.machines import TEXTS, write_machines
from tests.provider import HANG, Provider, refused, serving
from tests.support import hear_interrupts
from tests.terminal import at_terminal

pytestmark = pytest.mark.usefixtures("on_engine")

SHORT = ("--set", "chunking.max_words=30")
LLM = ("--pipeline", "chat-llm", "--set", "llm.model=tiny", *SHORT)
ROUTE = "POST /chat/completions"
ASIDE = "My cousin Zebulon swears by them."
"""Said by the user in the first turn; no document says it."""
QUESTIONS = (f"{ASIDE} What is a heat pump?", "What about its limits?", "And in old houses?")
LIMITS = "The heat pump meets its limits below minus twenty degrees, where it yields half its heat."
OLD_HOUSES = (
    "In old houses with small radiators it cannot keep the rooms warm without a second boiler."
)


def chat(*options: object, lines: str | bytes = "", code: int = 0) -> Result:
    return ccrag("chat", *options, lines=lines, code=code)


def typed(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def exchanges(path: Path) -> list[dict[str, Any]]:
    """What the file keeps of each answer."""
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()[1:]]
    return [line["exchange"] for line in lines if "exchange" in line]


@pytest.fixture
def indexed(tmp_path: Path, index_name: str) -> str:
    ccrag("index", write_machines(tmp_path), "--index", index_name, "-p", "chat", *SHORT)
    return index_name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.jsonl"


def check_citations(told: dict[str, Any]) -> None:
    """Everything cited, shown or said stands in a document, at its place."""
    assert set(told["references"]) <= set(TEXTS)
    for item in told["evidence"]:
        text = TEXTS[item["doc_id"]][1]
        assert text[item["start"] : item["end"]] == item["text"]
    shown = {item["evidence_id"] for item in told["evidence"]}
    for sentence in told["answer"]:
        assert set(sentence["evidence"]) <= shown
    assert "Zebulon" not in json.dumps([told["answer"], told["evidence"], told["references"]])


def test_a_later_question_is_found_by_what_was_said_before(indexed: str, path: Path) -> None:
    at = ("--index", indexed, "--all", *SHORT)
    done = chat(*at, "--file", path, lines=typed(*QUESTIONS))
    assert done.stderr == ""
    first, second, third = exchanges(path)
    assert [told["references"][0] for told in (first, second, third)] == ["heat-pump"] * 3
    assert [told["answer"][0]["text"] for told in (second, third)] == [LIMITS, OLD_HOUSES]
    assert second["rankings"][-1]["hits"][0][0] == second["evidence"][0]["passage_id"]
    for told in (first, second, third):
        check_citations(told)
    alone = chat(*at, "--file", path.with_name("alone.jsonl"), lines=typed(QUESTIONS[1]))
    assert alone.stderr == ""
    [lone] = exchanges(path.with_name("alone.jsonl"))
    assert lone["references"][0] == "limits"  # so it was the dialogue that made the difference


def parts(body: dict[str, Any]) -> tuple[str, list[dict[str, str]], list[dict[str, str]]]:
    """Question, history and evidence of a request."""
    content = body["messages"][1]["content"]

    def between(tag: str) -> list[dict[str, str]]:
        found = re.search(rf"<{tag}>\n(.*?)\n?</{tag}>", content, re.DOTALL)
        return [json.loads(line) for line in found[1].splitlines()] if found else []

    return (
        json.loads(content.rpartition("Question: ")[2]),
        between("history"),
        between("evidence"),
    )


REWRITES = {
    QUESTIONS[0]: "What is a heat pump?",
    QUESTIONS[1]: "What are the limits of a heat pump?",
    QUESTIONS[2]: "Where does a heat pump fail in old houses?",
}


def credulous(body: dict[str, Any]) -> str:
    """A model that rewrites well, and answers with the best evidence and what the user said."""
    question, history, evidence = parts(body)
    if body["messages"][0]["content"].startswith("You rewrite"):
        return json.dumps({"questions": [REWRITES[question]]})
    sentences = [{"text": item["text"], "evidence": [item["id"]]} for item in evidence[:1]]
    sentences += [{"text": turn["text"], "evidence": ["history", "h1"]} for turn in history[:1]]
    return json.dumps({"answerable": True, "sentences": sentences})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serving(credulous) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        monkeypatch.setenv("CCRAG_PROVIDER__RETRIES", "0")
        yield provider


def test_a_model_rewrites_and_answers_and_history_is_never_cited(
    indexed: str, path: Path, provider: Provider
) -> None:
    done = chat("--index", indexed, "--all", *LLM, "--file", path, lines=typed(*QUESTIONS))
    assert done.stderr == ""
    first, second, third = exchanges(path)
    assert [[s["text"] for s in told["answer"]] for told in (second, third)] == [
        [LIMITS],
        [OLD_HOUSES],
    ]
    assert [told["references"] for told in (first, second, third)] == [["heat-pump"]] * 3
    for told in (first, second, third):
        check_citations(told)
    notes = [note["message"] for note in second["notes"]]
    assert any("'history' is not an evidence id" in note for note in notes), notes
    assert {v["name"]: v["text"] for v in second["variants"]}["llm-rewrite"] == REWRITES[
        QUESTIONS[1]
    ]
    history = [parts(body)[1] for body in provider.chats if parts(body)[0] == QUESTIONS[2]]
    assert [turn["speaker"] for turn in history[0]] == ["user", "agent"] * 2
    assert [turn["text"] for turn in history[0]][::2] == list(QUESTIONS[:2])
    assert history[0][3]["text"] == LIMITS  # as it was answered, without its citation


def test_what_is_printed_is_what_ask_prints(indexed: str) -> None:
    at = ("--index", indexed, "--docs", "tidal-mill", "-p", "chat", *SHORT)
    question = "When does a tidal mill work?"
    asked = ccrag("ask", question, *at)
    said = chat(*at, lines=typed(question))
    assert "[1] Tidal mills  tidal-mill" in said.stdout
    assert said.stdout == f"{asked.stdout}\n"
    assert said.stderr == ""


def test_a_dialogue_goes_on_from_its_file(indexed: str, path: Path) -> None:
    at = ("--index", indexed, "--all", *SHORT, "--file", path)
    chat(*at, lines=typed(QUESTIONS[0]))
    done = chat(*at, lines=typed("/why", "/docs", QUESTIONS[1], "/why"))
    told = exchanges(path)
    assert told[1]["answer"][0]["text"] == LIMITS
    before, after = done.stdout.split(LIMITS, 1)
    assert f"Question  {QUESTIONS[0]}" in before
    assert "asked after 0 earlier turns" in before
    assert "*  heat-pump     Heat pumps" in before
    assert "Question  What about its limits?" in after
    assert "asked after 2 earlier turns" in after
    for shown in ("decayed", "rewrite", "What about its limits? heat pump", "Rank of each"):
        assert shown in after
    [passage] = {e["passage_id"] for e in told[1]["evidence"] if e["text"] == LIMITS}
    assert re.search(rf"\[1\]  {passage} +\d+ +\d+ +\d+", after)
    assert re.search(rf"\[1\]  {passage} +\d+–\d+ +[\d.]+  The heat pump meets", after)


def test_a_new_dialogue_knows_nothing_of_the_one_before(indexed: str, path: Path) -> None:
    at = ("--index", indexed, "--all", *SHORT, "--file", path)
    done = chat(*at, lines=typed(QUESTIONS[0], "/new", QUESTIONS[1], "/new", "/new"))
    assert done.stderr == "a new dialogue\n" * 3
    first, second = exchanges(path)
    assert (first["references"][0], second["references"][0]) == ("heat-pump", "limits")
    assert path.read_bytes().count(b'{"new":true}') == 2
    again = chat(*at, lines=typed("/why", QUESTIONS[1]))
    assert again.stderr == "nothing has been answered yet\n"
    assert exchanges(path)[2]["references"][0] == "limits"


def test_documents_are_listed_found_by_title_and_marked(indexed: str, tmp_path: Path) -> None:
    some = ("--index", indexed, "--docs", "limits,heat-pump,tidal-mill", *SHORT)
    done = chat(
        *some, lines=typed("/docs", "What is a tidal mill?", "/docs", "/docs heat", "/docs x")
    )
    shown = [
        block.splitlines() for block in re.split(r"^(?=documents to)", done.stdout, flags=re.M)
    ]
    assert [line.split() for line in shown[1][1:4]] == [
        ["heat-pump", "Heat", "pumps"],
        ["limits", "Limits"],
        ["tidal-mill", "Tidal", "mills"],
    ]
    assert "sand" not in done.stdout.lower()
    assert shown[2][0] == "documents to read: 3; * is cited in this dialogue"
    assert shown[2][1].split() == ["*", "tidal-mill", "Tidal", "mills"]
    assert [line.split() for line in shown[3][1:2]] == [["heat-pump", "Heat", "pumps"]]
    assert shown[4][1:] == ["no title holds these words"]


def test_a_wrong_line_is_one_line_and_loses_nothing(indexed: str, path: Path) -> None:
    at = ("--index", indexed, "--all", *SHORT, "--file", path)
    lines = typed(QUESTIONS[0], "/x", "").encode() + b"caf\xe9?\n" + typed(QUESTIONS[1]).encode()
    done = chat(*at, lines=lines, code=1)
    unknown, not_text = done.stderr.splitlines()
    assert unknown.startswith("error: no command '/x'; there are /docs, /why, /new, /help, /quit")
    assert not_text.startswith("error: not UTF-8, so nothing is asked")
    assert exchanges(path)[1]["answer"][0]["text"] == LIMITS


def test_quit_ends_and_help_says_what_there_is(indexed: str) -> None:
    done = chat("--index", indexed, "--all", *SHORT, lines=typed("/help", "/quit", QUESTIONS[0]))
    assert done.stdout == ""
    assert done.stderr.startswith("A line is a question")


def test_a_question_that_fails_leaves_the_dialogue_as_it_was(
    indexed: str, path: Path, provider: Provider
) -> None:
    at = ("--index", indexed, "--all", *LLM, "--file", path)

    faults = [refused(400)]

    def broken_off(body: dict[str, Any]) -> str:
        if parts(body)[0] == QUESTIONS[1] and faults:
            provider.fail(ROUTE, faults.pop())  # the rewrite is had, the answer is not
        return credulous(body)

    provider.reply = broken_off
    lines = typed(QUESTIONS[0], QUESTIONS[1], QUESTIONS[1])
    done = chat(*at, lines=lines, code=1)
    [error] = done.stderr.splitlines()
    assert error == "error: 127.0.0.1: status 400: told to answer 400"
    first, second = exchanges(path)
    assert second["answer"][0]["text"] == LIMITS
    last = [parts(body) for body in provider.chats if parts(body)[0] == QUESTIONS[1]][-1]
    assert [turn["text"] for turn in last[1]][::2] == [QUESTIONS[0]]
    assert first["query"] == QUESTIONS[0]


def test_an_engine_that_goes_away_is_one_line_a_question(
    indexed: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = Pipeline.answer, count(1)

    def away_once(self: Pipeline, query: Query, **more: Any) -> Any:
        if next(asked) == 2:
            raise EngineDownError("the engine is out of reach")
        return answer(self, query, **more)

    monkeypatch.setattr(Pipeline, "answer", away_once)
    lines = typed(QUESTIONS[0], QUESTIONS[1], QUESTIONS[1])
    done = chat("--index", indexed, "--all", *SHORT, "--file", path, lines=lines, code=1)
    assert done.stderr == "error: the engine is out of reach\n"
    first, second = exchanges(path)
    assert first["query"] == QUESTIONS[0]
    assert second["answer"][0]["text"] == LIMITS


def test_earlier_turns_are_read_up_to_a_number_of_words(
    indexed: str, path: Path, provider: Provider
) -> None:
    few = ("--set", "chat.history_words=30")
    chat("--index", indexed, "--all", *LLM, *few, "--file", path, lines=typed(*QUESTIONS))
    read = [orjson.loads(line)["turns_read"] for line in path.read_bytes().splitlines()[1:]]
    assert read == [0, 2, 2]
    history = [parts(body)[1] for body in provider.chats if parts(body)[0] == QUESTIONS[2]]
    assert [turn["text"] for turn in history[0]] == [QUESTIONS[1], LIMITS]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "one of --docs, --docs-file, --collection, --all"),
        (("--docs", "heat-pump,nope"), "does not hold 'nope'"),
        (("--collection", "nope"), "does not hold collection 'nope'"),
        (("--all", "--pipeline", "nope"), "no pipeline 'nope'"),
        (("--all", "--set", "chat.nope=1"), "unknown setting chat.nope"),
        (("--all", "--pipeline", "mtrag"), "--pipeline mtrag"),
        (("--all", "--file", "no/such/folder.jsonl"), "cannot be written: No such file or dir"),
    ],
)
def test_what_cannot_be_begun_is_one_line(
    indexed: str, options: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = chat("--index", indexed, *SHORT, *options, lines=typed(QUESTIONS[0]), code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_of_another_chat_is_one_line_that_says_what_to_give(
    indexed: str, path: Path
) -> None:
    at = ("--index", indexed, *SHORT, "--file", path)
    chat(*at, "--docs", "heat-pump,limits", lines=typed(QUESTIONS[0]))
    kept = path.read_bytes()
    for options, message in (
        (("--all",), "a dialogue over other documents; give --docs heat-pump,limits, or"),
        (("--docs", "limits,heat-pump", "-p", "default"), "over pipeline chat; give it by"),
        (("--docs", "heat-pump"), "give --docs heat-pump,limits, or another --file"),
    ):
        done = chat(*at, *options, code=1)
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert path.read_bytes() == kept
    chat(*at, "--docs", "limits,heat-pump")


def test_documents_that_are_not_there_can_be_left_out(indexed: str) -> None:
    some = ("--docs", "heat-pump,nope", "--set", "candidates.unknown=warn")
    done = chat("--index", indexed, *SHORT, *some, lines=typed("/docs", QUESTIONS[0]))
    assert done.stdout.startswith("documents to read: 1\n")
    assert "not in the index, left out: nope" in done.stderr


def test_a_pipeline_that_reads_no_turns_says_so(indexed: str) -> None:
    done = chat("--index", indexed, "--all", *SHORT, "-p", "default", lines=typed(*QUESTIONS[:2]))
    assert done.stderr == (
        "pipeline default reads each question as it stands; "
        "--pipeline chat fills in what earlier ones say\n"
    )


def test_a_kill_loses_the_question_under_way_and_no_other(
    indexed: str, path: Path, provider: Provider
) -> None:
    at = ["chat", "--index", indexed, "--all", *LLM, "--file", str(path)]
    with subprocess.Popen(
        [sys.executable, "-m", "ccrag", *at], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(typed(QUESTIONS[0]).encode())
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"weak evidence: 2 of 5")  # at once
        asked = len(provider.chats)
        provider.fail(ROUTE, HANG)
        process.stdin.write(typed(QUESTIONS[1]).encode())
        process.stdin.flush()
        _wait_for_call(provider, asked + 1)
        process.send_signal(signal.SIGKILL)
    assert [told["query"] for told in exchanges(path)] == [QUESTIONS[0]]
    chat(*at[1:], lines=typed(QUESTIONS[1]))
    assert exchanges(path)[1]["answer"][0]["text"] == LIMITS


def _answered(path: Path) -> int:
    """Exchanges that the file holds."""
    return len(exchanges(path)) if path.exists() else 0


def test_an_interrupt_ends_a_chat_that_nobody_types_in(
    indexed: str, path: Path, provider: Provider
) -> None:
    at = ["chat", "--index", indexed, "--all", *LLM, "--file", str(path)]
    for asked in (1, 2):  # while it waits for a line, and while it waits for the model
        with subprocess.Popen(
            [sys.executable, "-m", "ccrag", *at],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=hear_interrupts,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(typed(QUESTIONS[0]).encode())
            process.stdin.flush()
            for line in process.stdout:  # the whole answer: before that, it would be given up
                if not line.strip() and _answered(path) == asked:
                    break
            if asked == 2:
                calls = provider.calls.count(ROUTE)
                provider.fail(ROUTE, HANG)
                process.stdin.write(typed(QUESTIONS[1]).encode())
                process.stdin.flush()
                _wait_for_call(provider, calls + 1)
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stderr is not None
            assert process.stderr.read() == b""
    assert [told["query"] for told in exchanges(path)] == [QUESTIONS[0]] * 2


def test_an_answer_that_cannot_be_kept_is_shown_and_kept_later(
    indexed: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, synced = count(1), os.fsync

    def full_at_first(descriptor: int) -> None:
        if next(failing) == 2:  # the first is that of the file's first line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(descriptor)

    monkeypatch.setattr("os.fsync", full_at_first)
    at = ("--index", indexed, "--all", *SHORT, "--file", path)
    done = chat(*at, lines=typed(*QUESTIONS[:2]), code=1)
    assert done.stderr == f"error: {path}: cannot be written: No space left on device\n"
    assert done.stdout.count("[1] Heat pumps  heat-pump") == 2
    assert [told["query"] for told in exchanges(path)] == list(QUESTIONS[:2])


def test_a_line_that_a_kill_cut_off_is_said_and_left_out(indexed: str, path: Path) -> None:
    at = ("--index", indexed, "--all", *SHORT, "--file", path)
    chat(*at, lines=typed(QUESTIONS[0], QUESTIONS[1]))
    path.write_bytes(path.read_bytes()[:-100])
    done = chat(*at, lines=typed(QUESTIONS[1]))
    assert done.stderr == f"{path}: its last line was not written whole, and is left out\n"
    assert [told["query"] for told in exchanges(path)] == list(QUESTIONS[:2])


@pytest.mark.parametrize("strange", ["\ud800 half a character", "\x1b[2J cleared", "\u202e turned"])
def test_whatever_a_model_writes_can_be_kept_and_shown(
    indexed: str, path: Path, provider: Provider, strange: str
) -> None:
    def reply(body: dict[str, Any]) -> str:
        evidence = parts(body)[2]
        said = [{"text": f"A heat pump. {strange}", "evidence": [evidence[0]["id"]]}]
        return json.dumps({"answerable": True, "sentences": said})

    provider.reply = reply
    at = ("--index", indexed, "--all", *LLM, "--file", path)
    done = chat(*at, lines=typed(QUESTIONS[0], "/why"))
    assert "A heat pump." in exchanges(path)[0]["answer"][0]["text"]
    assert not {"\x1b", "\ud800", "\u202e"} & set(done.stdout)


def _wait_for_call(provider: Provider, count: int) -> None:
    deadline = time.monotonic() + 60
    while provider.calls.count(ROUTE) < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_at_a_terminal(indexed: str, tmp_path: Path, provider: Provider) -> None:
    """Prompts, an answer given up by Ctrl-C, the dialogue going on, and the end by Ctrl-D."""
    folder = tmp_path / "kept"
    at = ("--index", indexed, "--all", *LLM, "--set", f"chat.folder={folder}")
    with at_terminal("chat", *at) as terminal:
        terminal.wait_for("> ")
        assert f"{indexed}, 4 documents, pipeline chat-llm; /help lists" in terminal.screen
        terminal.type(f"{QUESTIONS[0]}\n")
        terminal.wait_for("> ", count=2)
        assert "The heat pump meets its limits" in terminal.screen
        calls = provider.calls.count(ROUTE)
        provider.fail(ROUTE, HANG)
        terminal.type(f"{QUESTIONS[1]}\n")
        _wait_for_call(provider, calls + 1)
        began = time.monotonic()
        terminal.interrupt()
        terminal.wait_for("given up; the dialogue is as it was before this question")
        terminal.wait_for("> ", count=3)
        assert time.monotonic() - began < 5  # the call itself hangs for a minute
        terminal.type("half a ques")
        terminal.wait_for("> half a ques")
        terminal.interrupt()
        terminal.wait_for("Ctrl-D or /quit ends")
        # What is typed before a prompt stands is read in another way: Ctrl-D would be no end.
        terminal.wait_for("> ", count=4)
        terminal.type(f"{QUESTIONS[1]}\n")
        terminal.wait_for(LIMITS[:60], count=3)  # two of them are of the first answer
        terminal.wait_for("> ", count=5)
        terminal.type("/help\n")
        terminal.wait_for("/quit          end")
        terminal.wait_for("> ", count=6)
        terminal.type("\x04")
        assert terminal.end() == 0
    [file] = folder.iterdir()
    assert [told["query"] for told in exchanges(file)] == list(QUESTIONS[:2])
    with at_terminal("chat", "--index", indexed, "--all", *LLM, "--file", file) as terminal:
        terminal.wait_for("> ")
        assert "2 answered so far, last: 'What about its limits?'" in terminal.screen
        terminal.type("/quit\n")
        assert terminal.end() == 0
