"""`ccrag support`: a verdict a line, and bad lines refused by line and id."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from ccrag.cli import app

LONG = ["x" * 200_001]
GOOD = {
    "id": "a",
    "claim": "The dam is 61 metres high.",
    "evidence": ["The dam is 61 metres high."],
}


def run(tmp_path: Path, *records: object) -> tuple[Result, Path]:
    claims, out = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    claims.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return CliRunner().invoke(app, ["support", str(claims), "--out", str(out)]), out


def test_each_claim_gets_a_verdict(tmp_path: Path) -> None:
    flipped = {**GOOD, "id": 7, "claim": "The dam is 16 metres high.", "question": "How high?"}
    done, out = run(tmp_path, GOOD, flipped)
    assert done.exit_code == 0, done.output
    assert "2 claims: 1 supported, 0 partly, 1 unsupported" in done.stdout
    first, second = map(orjson.loads, out.read_bytes().splitlines())
    assert list(first) == ["id", "verdict", "probability", "reason", "spans"]
    assert (first["id"], first["verdict"], first["spans"]) == ("a", "supported", [[0, 0, 25]])
    assert (second["id"], second["verdict"]) == ("7", "unsupported")
    assert second["reason"] == "the number differs: '16' in the claim, '61' in the evidence"


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({**GOOD, "claim": " "}, "claim must be a non-empty string"),
        ({**GOOD, "evidence": "text"}, "evidence must be a list"),
        (
            {**GOOD, "id": "b", "evidence": ["text", 3]},
            "claim 'b': evidence must be a list of non-empty str",
        ),
        ({**GOOD, "id": "b", "question": 3}, "claim 'b': question must be a string"),
        (
            {**GOOD, "id": "b", "evidence": LONG},
            "claim 'b': its evidence has more than 200,000",
        ),
        ({**GOOD, "id": "b", "claim": "x" * 5_001}, "claim 'b' has more than 5,000 characters"),
        ({"id": "a", "claim": "It is."}, "evidence is missing, expected a list"),
        (GOOD, "claim 'a' stands twice, first on line 1"),
        ([1], "line 2"),
    ],
)
def test_a_bad_line_is_refused(tmp_path: Path, record: object, told: str) -> None:
    done, out = run(tmp_path, GOOD, record)
    assert done.exit_code == 1
    assert told in done.output or told == "line 2"
    assert "claims.jsonl:2" in done.output
    assert not out.exists()


def test_a_file_without_claims_is_refused(tmp_path: Path) -> None:
    done, out = run(tmp_path)
    assert (done.exit_code, out.exists()) == (1, False)
    assert "claims.jsonl: holds no claim" in done.output
