"""Prompt files: packaged and a user's own."""

from pathlib import Path

import pytest

from ccrag.errors import ConfigError
from ccrag.llm.prompts import load_prompt, parse_prompt, prompt_names
from ccrag.llm.request import ChatMessage

TEXT = "version: 3\n--- system\nBe brief in {{ words }} words.\n--- user\n{{ question }}\n"


def test_messages_are_the_parts_with_values_put_in() -> None:
    prompt = parse_prompt("mine", TEXT)
    assert prompt.label == "mine@3"
    assert prompt.messages(words=5, question="{{ words }} {% x %}?") == (
        ChatMessage("system", "Be brief in 5 words."),
        ChatMessage("user", "{{ words }} {% x %}?"),
    )


@pytest.mark.parametrize("name", prompt_names())
def test_packaged_prompts_have_a_version_and_are_read(name: str) -> None:
    assert load_prompt(name).version.isdigit()


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "short.md"
    path.write_text(TEXT, encoding="utf-8")
    assert load_prompt(str(path)).label == "short@3"


def test_the_digest_changes_with_text_and_version() -> None:
    texts = [TEXT, TEXT.replace("brief", "short"), TEXT.replace("3", "4")]
    assert len({parse_prompt("p", text).digest for text in texts}) == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("--- user\nx", "first line must say `version: N`"),
        ("version: 1\nx\n--- user\nx", "after the version"),
        ("version: 1\n", "after the version"),
    ],
)
def test_a_file_that_is_no_prompt(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_prompt("p", text)


def test_a_value_that_there_is_not() -> None:
    with pytest.raises(ConfigError, match="prompt p: 'nothing' is undefined"):
        parse_prompt("p", "version: 1\n--- user\n{{ nothing }}").messages()


def test_an_unknown_name_and_a_missing_file() -> None:
    with pytest.raises(ConfigError, match="no prompt 'nope'; there are answer"):
        load_prompt("nope")
    with pytest.raises(ConfigError, match=r"prompt file nowhere\.md cannot be read"):
        load_prompt("nowhere.md")
