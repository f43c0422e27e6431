from pathlib import Path
from typing import Any

import pytest
import yaml

from ccrag.errors import InputError
from ccrag.evaluation.validate.ir_metadata import KINDS, RETRIEVAL_KINDS, ir_metadata_problems
from ccrag.formats.ir_metadata import GenerationEntry, RetrievalEntry, ir_metadata, render


def content(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "tag": "default",
        "team": "ours",
        "goal": "Answers inside candidates.",
        "libraries": ["opensearch", "numpy"],
        "repository": "local",
        "data_name": "none",
        "retrieval": [RetrievalEntry("bm25", 20, True, True, False)],
        "generation": GenerationEntry("Extractive.", "none", "none", False, False),
    }
    return ir_metadata(**(arguments | changes))


def messages(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "ir-metadata.yml"
    path.write_text(text, encoding="utf-8")
    return [problem.message for problem in ir_metadata_problems(path)]


def test_rendered_file_is_valid_and_deterministic(tmp_path: Path) -> None:
    text = render(content())
    assert messages(tmp_path, text) == []
    assert text == render(content())
    assert yaml.safe_load(text) == content()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"tag": " "}, "tag"),
        ({"team": "ENTER_VALUE_HERE"}, "actor.team"),
        ({"libraries": []}, "platform.software.libraries"),
        ({"retrieval": []}, "method.retrieval"),
    ],
)
def test_nothing_may_be_left_unfilled(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=f"ir-metadata: {key} has no value"):
        content(**changes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tag: default", "tag: 3", "tag must be a non-empty string, got 3"),
        ("tag: default", "tag: ENTER_VALUE_HERE", "tag still holds ENTER_VALUE_HERE"),
        ("team: ours", "team:", "actor.team is missing, expected a non-empty string"),
        ("automatic: true", "automatic: 'yes'", "method.automatic must be true or false"),
        ("documents: 20", "documents: '20'", "method.retrieval[0].documents must be a whole"),
        ("documents: 20", "documents: true", "method.retrieval[0].documents must be a whole"),
        ("single_stage_retrieval", "single_stage", "single_stage_retrieval is missing"),
        ("reasoning: false", "reasoning: 0", "method.generation.reasoning must be true or false"),
        ("- numpy", "- 3", "platform.software.libraries[1] must be a non-empty string"),
        ("- name: none", "- none", "data.training data[0] must be an object, got 'none'"),
    ],
)
def test_every_key_is_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = render(content())
    assert old in text
    (found,) = messages(tmp_path, text.replace(old, new))
    assert message in found


@pytest.mark.parametrize("key", [*KINDS, *(f"method.retrieval.0.{key}" for key in RETRIEVAL_KINDS)])
def test_every_key_is_needed(tmp_path: Path, key: str) -> None:
    written = content()
    *way, last = key.split(".")
    inner: Any = written
    for step in way:
        inner = inner[int(step) if step.isdecimal() else step]
    del inner[last]
    (found,) = messages(tmp_path, yaml.safe_dump(written))
    assert f"{last} is missing" in found


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "ir-metadata.yml"
    path.write_text("tag: a\nactor: [\n", encoding="utf-8")
    (problem,) = ir_metadata_problems(path)
    assert problem.line == 3
    assert problem.message.startswith("is not YAML")


def test_characters_yaml_does_not_have(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, "tag: \0\n")
    assert message.startswith("is not YAML")
    assert "\n" not in message


def test_empty_and_absent_files(tmp_path: Path) -> None:
    assert messages(tmp_path, "") == ["the record must be an object, got None"]
    (problem,) = ir_metadata_problems(tmp_path / "none.yml")
    assert "is missing" in problem.message
