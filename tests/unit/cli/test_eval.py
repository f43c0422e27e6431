import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ccrag.cli.eval import eval_command
from ccrag.errors import InputError
from ccrag.evaluation.run_files import read_judgements
from tests.provider import serving

app = typer.Typer()
app.command()(eval_command)
TEXT = "Wings flutter at speed. Bending couples with twisting."
QUOTE = "Bending couples with twisting."


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_run(folder: Path, ranked: dict[str, list[str]], text: str = QUOTE) -> None:
    folder.mkdir()
    lines(
        folder / "responses.jsonl",
        *(
            {
                "metadata": {"narrative_id": query_id},
                "references": doc_ids[:1],
                "answer": [{"text": text, "citations": [0]}],
            }
            for query_id, doc_ids in ranked.items()
        ),
    )
    trec = [
        f"{query_id} Q0 {doc_id} {rank} {1 / rank} t"
        for query_id, doc_ids in ranked.items()
        for rank, doc_id in enumerate(doc_ids, start=1)
    ]
    (folder / "run.trec").write_text("\n".join(trec), encoding="utf-8")


def tell(folder: Path) -> None:
    """Provenance of `q0`: its sentence rests on one span of `d1`."""
    start = TEXT.index(QUOTE)
    span = {"doc_id": "d1", "start": start, "end": start + len(QUOTE)}
    evidence = {"evidence_id": "e1", "passage_id": "p", "section": [], "text": QUOTE, "score": 1.0}
    told = {
        "query_id": "q0",
        "abstained": False,
        "answer": [{"text": QUOTE, "evidence": ["e1"], "citations": [0]}],
        "references": ["d1"],
        "evidence": [span | evidence],
        "read": [span],
    }
    (folder / "provenance.json").write_text(json.dumps({"queries": [told]}), encoding="utf-8")


QUERY_IDS = [f"q{n}" for n in range(8)]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines(
        Path("queries.jsonl"),
        *({"query_id": q, "query": "Why do wings flutter?"} for q in QUERY_IDS),
    )
    Path("qrels.txt").write_text(
        "".join(f"{q} 0 d1 1\n{q} 0 d2 0\n" for q in QUERY_IDS), encoding="utf-8"
    )
    write_run(Path("good"), {q: ["d1", "d2"] for q in QUERY_IDS})
    write_run(Path("worse"), {q: ["d2", "d1"] for q in QUERY_IDS[:7]}, text="No idea.")
    return tmp_path


def evaluated(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--queries", "queries.jsonl"])


@pytest.mark.usefixtures("data")
def test_one_run_is_a_table_with_intervals_and_what_was_left_out() -> None:
    measures = "RR,question-rougeL,cited-precision"
    result = evaluated("good", "--qrels", "qrels.txt", "--measures", measures)
    assert (result.exit_code, result.stderr) == (0, "")
    head, *rows = (line.rstrip() for line in result.stdout.splitlines() if line.strip())
    assert head == "good  8 queries"
    assert " ".join(rows[0].split()) == "measure mean 95% interval queries without a figure"
    assert rows[1].split() == ["RR", "1.000", "1.000", "…", "1.000", "8"]
    assert rows[2].split()[:2] == ["question-rougeL", "0.000"]
    assert rows[4:] == ["Intervals by bootstrap over queries: 10,000 draws, seed 20260501."]
    by_default = evaluated("good", "--qrels", "qrels.txt").stdout
    assert "needs gold answers (--gold)" in by_default
    asked_for = evaluated("good", "--qrels", "qrels.txt", "--measures", "RR,rougeL")
    assert (asked_for.exit_code, asked_for.stdout) == (1, "")
    assert asked_for.stderr == "error: measure rougeL needs gold answers (--gold)\n"


@pytest.mark.usefixtures("data")
def test_a_measure_asked_for_without_its_package_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    asked_for = evaluated("good", "--qrels", "qrels.txt", "--measures", "nDCG@10")
    assert (asked_for.exit_code, asked_for.stdout) == (1, "")
    assert "measure nDCG@10 needs ir-measures: pip install 'ccrag[eval]'" in asked_for.stderr
    by_default = evaluated("good", "--qrels", "qrels.txt")
    assert by_default.exit_code == 0
    assert "needs ir-measures: pip install" in by_default.stdout


@pytest.mark.usefixtures("data")
def test_a_file_of_figures_is_not_written_over() -> None:
    arguments = ("good", "--qrels", "qrels.txt", "--per-query", "figures.csv")
    assert evaluated(*arguments).exit_code == 0
    before = Path("figures.csv").read_bytes()
    again = evaluated(*arguments)
    assert again.exit_code == 1
    assert "figures.csv: exists already; name another file, or --overwrite" in again.stderr
    assert evaluated(*arguments, "--overwrite").exit_code == 0
    assert Path("figures.csv").read_bytes() == before


BOM = "\ufeff"


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: BOM + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n \n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: "topic iter docno rel\n" + text,
        lambda text: text.replace(" 1\n", " 1.0\n").replace(" d2 0", " d2 -1"),
        lambda text: text + text,
        lambda text: text + "other 0 d1 1\n",
    ],
)
def test_a_qrels_file_gives_the_same_figure_however_it_was_saved(
    change: Callable[[str], str], tmp_path: Path
) -> None:
    text = change(Path("qrels.txt").read_text())
    Path("saved.qrels").write_bytes(text.encode())
    Path("packed.qrels").write_bytes(gzip.compress(text.encode()))
    for path in ("saved.qrels", "packed.qrels"):
        result = evaluated("worse", "--qrels", path, "--measures", "RR", "--json")
        measured = json.loads(result.stdout)["runs"][0]["measures"]["RR"]
        assert (measured["mean"], measured["n"]) == (0.4375, 8)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "holds no judgement"),
        ("\n \n", "holds no judgement"),
        ("q0 0 d1 0.5\n", "relevance '0.5' is not a whole number"),
        ("q0 0 d1 nan\n", "relevance 'nan' is not a whole number"),
    ],
)
def test_judgements_that_are_none_are_refused(content: str, problem: str) -> None:
    Path("bad.qrels").write_text(content)
    refused = evaluated("good", "--qrels", "bad.qrels", "--measures", "RR")
    assert refused.exit_code == 1
    assert problem in refused.stderr


@pytest.mark.usefixtures("data")
def test_a_query_in_two_files_of_a_folder_has_the_judgements_of_both() -> None:
    folder = Path("judged")
    folder.mkdir()
    (folder / "a.qrels").write_text("q0 0 d1 1\nq1 0 d1 1\n")
    (folder / "b.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td2\t2\n q1 \t d1\t1\n")
    assert read_judgements(folder) == {"q0": {"d1": 1, "d2": 2}, "q1": {"d1": 1}}
    (folder / "c.txt").write_text("q0 0 d1 0\n")
    with pytest.raises(InputError, match=r"c\.txt:1: query 'q0': 'd1' is judged 0.*a\.qrels:1"):
        read_judgements(folder)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("option", "measure", "record"),
    [
        ("--gold", "rougeL", {"gold_answer": "Why do wings flutter?"}),
        ("--answerable", "abstention-accuracy", {"answerable": True}),
    ],
)
def test_gold_files_are_read_with_a_mark_blank_lines_and_gzip(
    option: str, measure: str, record: dict[str, object]
) -> None:
    records = [json.dumps({"query_id": f" {q} ", **record}) for q in QUERY_IDS]
    content = (BOM + "\r\n\n".join(records)).encode()
    for path, saved in (("gold.jsonl", content), ("gold.jsonl.gz", gzip.compress(content))):
        Path(path).write_bytes(saved)
        result = evaluated("good", option, path, "--measures", measure, "--json")
        assert json.loads(result.stdout)["runs"][0]["measures"][measure]["n"] == 8, result.stderr
    Path("empty.jsonl").write_bytes(b"")
    empty = evaluated("good", option, "empty.jsonl", "--measures", measure)
    assert (empty.exit_code, "empty.jsonl: holds nothing" in empty.stderr) == (1, True)


@pytest.mark.usefixtures("data")
def test_several_runs_are_compared_with_the_first() -> None:
    result = evaluated("good", "worse", "--qrels", "qrels.txt", "--measures", "RR,citation-errors")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["A", "good", "baseline"] in rows
    assert ["B", "worse"] in rows
    # ½ where d1 is second, 0 where the run holds nothing
    assert ["RR", "1.000", "0.438", "▼", "8"] in rows
    (difference,) = (row for row in rows if row[:4] == ["RR", "B", "−", "A"])
    assert difference[4:6] == ["-0.562", "▼"]
    assert difference[9] == f"{2 / 2**8:.4f}"
    assert difference[-3:] == ["0", "8", "0"]
    assert ["B", "−", "A", "citation-errors"] in rows
    assert "1 of 8 queries have no answer and count as empty" in result.stdout


@pytest.mark.usefixtures("data")
def test_many_runs_lose_no_digits() -> None:
    names = [f"run-{letter}" for letter in "abcdefgh"]
    for name in names:
        write_run(Path(name), {q: ["d2", "d1"] for q in QUERY_IDS})
    result = evaluated("good", *names, "--qrels", "qrels.txt", "--measures", "RR")
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "measure A B C D E F queries" in rows
    assert "RR 1.000" + " 0.500" * 5 + " 8" in rows
    assert "measure G H I queries" in rows
    assert "RR" + " 0.500" * 3 + " 8" in rows, "no mark: p = 2 / 2**8 * 8"


@pytest.mark.usefixtures("data")
def test_differences_that_chance_explains_get_no_mark() -> None:
    write_run(Path("near"), {q: ["d2" if q < "q2" else "d1"] for q in QUERY_IDS})
    result = evaluated("good", "near", "--qrels", "qrels.txt", "--measures", "RR")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["RR", "1.000", "0.750", "8"] in rows
    (difference,) = (row for row in rows if row[:4] == ["RR", "B", "−", "A"])
    assert difference[4:9] == ["-0.250", "-0.625", "…", "0.000", f"{2 / 2**2:.4f}"]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("baseline", "measure", "mark"),
    [
        ("good", "RR", "\x1b[31m ▼"),
        ("worse", "RR", "\x1b[32m ▲"),
        ("good", "words", "\x1b[33m ▼"),
    ],
)
def test_marks_are_green_for_better_and_red_for_worse(
    baseline: str, measure: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    result = evaluated(
        "good", "worse", "--qrels", "qrels.txt", "--measures", measure, "--baseline", baseline
    )
    assert mark in result.stdout


@pytest.mark.usefixtures("data")
def test_the_baseline_and_all_pairs() -> None:
    turned = evaluated("good", "worse", "--baseline", "worse", "--qrels", "qrels.txt")
    assert "A − B" in turned.stdout
    write_run(Path("third"), {q: ["d2"] for q in QUERY_IDS})
    pairs = evaluated("good", "worse", "third", "--all-pairs", "--qrels", "qrels.txt", "--json")
    compared = json.loads(pairs.stdout)["comparisons"]
    assert [(c["baseline"], c["other"], c["family"]) for c in compared if c["measure"] == "RR"] == [
        ("good", "worse", 3),
        ("good", "third", 3),
        ("worse", "third", 3),
    ]


@pytest.mark.usefixtures("data")
def test_json_and_csv() -> None:
    result = evaluated(
        "good", "worse", "--qrels", "qrels.txt", "--json", "--per-query", "per-query.csv",
        "--draws", "500", "--seed", "3",
    )  # fmt: skip
    whole = json.loads(result.stdout)
    assert (whole["draws"], whole["seed"], whole["baseline"]) == (500, 3, "good")
    assert whole["runs"][1]["measures"]["RR"]["per_query"]["q7"] == 0
    head, *rows = Path("per-query.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("run,query_id,nDCG@10,R@10,P@1,RR,")
    assert len(rows) == 2 * 8


@pytest.mark.usefixtures("data")
def test_quotes_are_looked_for_in_the_documents() -> None:
    tell(Path("good"))
    lines(
        Path("documents.jsonl"), {"id": "d1", "title": "", "text": TEXT}, {"id": "d2", "text": "B"}
    )
    lines(Path("quotes.jsonl"), {"query_id": "q0", "doc_id": "d1", "quote": QUOTE})
    result = evaluated(
        "good", "--quotes", "quotes.jsonl", "--documents", "documents.jsonl", "--json"
    )
    measures = json.loads(result.stdout)["runs"][0]["measures"]
    assert measures["evidence-recall"]["per_query"]["q0"] == 1
    assert measures["passage-recall"]["n"] == 1


@pytest.mark.usefixtures("data")
def test_entailment_is_measured_by_the_model_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def scorer(premise: str, hypothesis: str) -> float:
        asked.append((premise, hypothesis))
        return 0.9

    loaded = {"some/model": scorer}
    monkeypatch.setattr("ccrag.models.nli.load_nli", loaded.__getitem__)
    tell(Path("good"))
    (run,) = json.loads(evaluated("good", "--nli", "some/model", "--json").stdout)["runs"]
    assert run["measures"]["nli-recall"]["per_query"]["q0"] == 1
    assert run["measures"]["nli-precision"]["per_query"]["q0"] == 1
    assert asked == [(QUOTE, QUOTE)]
    assert "needs an entailment model (--nli)" in evaluated("good").stdout
    asked_for = evaluated("good", "--measures", "nli-recall")
    assert asked_for.exit_code == 1
    assert "measure nli-recall needs an entailment model (--nli)" in asked_for.stderr


@pytest.mark.usefixtures("data")
def test_stemming_is_an_option() -> None:
    lines(Path("gold.jsonl"), *({"query_id": q, "gold_answer": "bend couple"} for q in QUERY_IDS))
    means = [
        json.loads(evaluated("good", "--gold", "gold.jsonl", "--json", flag).stdout)["runs"][0][
            "measures"
        ]["rouge1"]["mean"]
        for flag in ("--stemmer", "--no-stemmer")
    ]
    assert means == [pytest.approx(2 * (2 / 4 * 2 / 2) / (2 / 4 + 2 / 2)), 0]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: cannot be read"),
        (["good", "good"], "run good is given twice; leave one out"),
        (["good", "--measures", "rougeX"], "no measure is called 'rougeX'"),
        (["good", "worse", "--baseline", "best"], "no run is called 'best'; there are good, worse"),
        (["good", "--per-query", "no/where.csv"], "no/where.csv: cannot be written"),
        (["good", "--nli", "./nowhere"], "no model folder './nowhere'"),
        (["good", "--bertscore", "model"], "BERTScore needs bert-score (pip install bert-score)"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str) -> None:
    result = evaluated(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("data")
def test_names_of_runs_never_steer_the_terminal() -> None:
    write_run(Path("[red]x\x1b[2J"), {"q0": ["d1"]})
    result = evaluated("good", "[red]x\x1b[2J", "--qrels", "qrels.txt", "--measures", "RR")
    assert "[red]x\N{REPLACEMENT CHARACTER}[2J" in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.usefixtures("data")
def test_a_judge_is_asked_and_what_it_could_not_say_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def said(body: dict[str, Any]) -> str:
        wanted = body["response_format"]["json_schema"]["name"]
        if wanted == "nuggets":
            return json.dumps({"nuggets": [{"text": QUOTE, "importance": "vital"}]})
        held = "No idea" not in body["messages"][1]["content"]
        if wanted == "labels":
            return json.dumps({"labels": ["support" if held else "not_support"]})
        return '{"grade": 2}' if held else "I would rather not."

    lines(Path("gold.jsonl"), *({"query_id": q, "gold_answer": QUOTE} for q in QUERY_IDS[:5]))
    names = "judge-correctness,nugget-coverage"
    options = ("--gold", "gold.jsonl", "--measures", names, "--nuggets", "nuggets.jsonl")
    with serving(said) as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        setting = ("--judge", "--set", "llm.model=strict", "--json", *options)
        result = evaluated("good", "worse", *setting)
        assert result.exit_code == 0, result.output
        outcome = json.loads(result.stdout)
        again = evaluated("good", *setting)
    assert {body["model"] for body in provider.chats} == {"strict"}
    good, worse = (run["measures"] for run in outcome["runs"])
    assert [good[name]["mean"] for name in names.split(",")] == [0.5, 1.0]
    assert set(good["judge-correctness"]["without_figure"].values()) == {"no gold answer"}
    assert worse["nugget-coverage"]["mean"] == 0.0
    unread = list(worse["judge-correctness"]["without_figure"].values())
    assert unread.count("the judge gave no grade that can be read") == 5
    assert len(Path("nuggets.jsonl").read_bytes().splitlines()) == 5
    assert "judge: 25 calls, 0 of them known before; " in result.stderr
    assert "judge: 10 calls" in again.stderr


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("option", [("--nuggets", "n.jsonl"), ("--set", "llm.model=x")])
def test_options_of_a_judge_need_one(option: tuple[str, str]) -> None:
    result = evaluated("good", *option)
    assert result.exit_code == 1
    assert result.stderr == f"error: {option[0]} is for a judge; add --judge\n"
