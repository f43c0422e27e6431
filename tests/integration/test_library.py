"""The front door for programs, on a real engine, and its example."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import ccrag
from ccrag import Candidates, Document, Library, Turn
from ccrag.config.load import load_settings
from ccrag.errors import EmptyCandidatesError, InputError, UnknownDocumentError
from ccrag.indexing.build import index_documents
from ccrag.pipeline.state import Failure
from ccrag.runs.provenance import result_json
from tests.integration.commands import ccrag as command
from tests.integration.example import topic_text, write_documents, write_lines
from tests.support import query

pytestmark = pytest.mark.usefixtures("on_engine")

EXAMPLE = Path(__file__).parents[2] / "examples" / "library" / "ask.py"
QUESTION = "When was the dam of reservoir number 2 finished?"
DOCUMENTS = [
    Document(f"res{n}", f"Reservoir {n}", topic_text(n), f"{1990 + n}-05-01", (f"res{n + 1}",))
    for n in range(5)
]


@pytest.fixture
def library(index_name: str) -> Library:
    return Library.build(index_name, DOCUMENTS)


def test_it_answers_what_the_command_answers(library: Library, index_name: str) -> None:
    result = library.ask(QUESTION, candidates=["res1", "res2"])
    said = command("ask", QUESTION, "--index", index_name, "--docs", "res1,res2", "--json")
    ours, theirs = result_json(result), orjson.loads(said.stdout)
    for name in ("answer", "references", "evidence", "rankings"):
        assert orjson.loads(orjson.dumps(ours[name])) == theirs[name]


def test_every_sentence_leads_to_its_words(library: Library) -> None:
    result = library.ask(QUESTION, candidates=["res1", "res2"])
    assert any("finished in 1902" in sentence.text for sentence in result.answer.sentences)
    for sentence in result.answer.sentences:
        for evidence in result.answer.evidence_of(sentence):
            document = library.document(evidence.doc_id)
            assert document.text[evidence.start : evidence.end] == evidence.text
            assert evidence.doc_id in {"res1", "res2"}


def test_search_ranks_without_an_answer(library: Library) -> None:
    result = library.search(QUESTION, candidates=Candidates.whole_index())
    assert result.ranking.hits[0].doc_id == "res2"
    assert result.answer.sentences == ()


def test_earlier_turns_tell_what_a_question_refers_to(index_name: str) -> None:
    library = Library.build(index_name, DOCUMENTS, pipeline="chat")
    turns = (Turn("user", "Where does reservoir 3 lie?"), Turn("agent", "In the valley, on Mars."))
    alone = library.ask("When was it finished?", candidates=Candidates.whole_index())
    result = library.ask("When was it finished?", candidates=["res1", "res3"], turns=turns)
    assert result.query.turns == turns
    assert result.trace.variants != alone.trace.variants
    assert result.ranking.hits[0].doc_id == "res3"
    assert "Mars" not in str(result.answer)
    ranked = library.search("When was it finished?", candidates=["res1", "res3"], turns=turns)
    assert ranked.ranking == result.ranking


def test_many_queries_keep_their_order_and_their_failures(library: Library) -> None:
    asked = [query(QUESTION, "res1", query_id="a"), query(QUESTION, "nowhere", query_id="b")]
    first, second = library.ask_many(asked)
    assert isinstance(second, Failure)
    assert (first.query.query_id if not isinstance(first, Failure) else "") == "a"
    assert isinstance(second.error, UnknownDocumentError)


def test_documents_from_memory_are_those_from_files(tmp_path: Path, index_name: str) -> None:
    records: list[dict[str, object]] = [
        {"id": d.doc_id, "title": d.title, "text": d.text, "date": d.date, "links": d.links}
        for d in DOCUMENTS
    ]
    write_lines(tmp_path / "documents.jsonl", records)
    Library.build(index_name, DOCUMENTS)
    report = index_documents([tmp_path], index_name, load_settings("default"))
    assert report.built.unchanged


def test_paths_are_taken_too(tmp_path: Path, index_name: str) -> None:
    library = Library.build(index_name, [write_documents(tmp_path, 3)])
    assert library.document("res1").text == topic_text(1)


def test_pipeline_and_settings_reach_the_collection(index_name: str) -> None:
    Library.build(index_name, DOCUMENTS)
    opened = Library.open(index_name, pipeline="single-query-bm25", settings=["select.passages=1"])
    result = opened.ask(QUESTION, candidates=Candidates.whole_index())
    assert [ranking.stage for ranking in result.trace.rankings] == ["bm25:original"]
    assert len(result.read) == 1


def test_what_it_refuses(library: Library) -> None:
    with pytest.raises(EmptyCandidatesError, match="has no candidate documents"):
        library.ask(QUESTION, candidates=[])
    with pytest.raises(UnknownDocumentError, match="does not hold 'nowhere'"):
        library.ask(QUESTION, candidates=["nowhere"])
    with pytest.raises(UnknownDocumentError, match="does not hold 'nowhere'"):
        library.document("nowhere")
    with pytest.raises(InputError, match="got a string"):
        library.ask(QUESTION, candidates="res1")
    with pytest.raises(InputError, match="the question is empty"):
        library.ask(" \n", candidates=["res1"])


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "no documents were given"),
        ([DOCUMENTS[0], DOCUMENTS[0]], "document 2: id 'res0' was given before"),
        ([Document("", "t", "text")], "doc_id of document 1 is empty"),
        ([DOCUMENTS[0], Path("x")], "nothing else"),
    ],
)
def test_documents_it_refuses(index_name: str, documents: list[Document], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Library.build(index_name, documents)


def test_the_example_runs(index_name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--name", index_name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1. " in done.stdout
    assert "   while " in done.stdout


def test_what_the_readme_shows_runs(index_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```python\n")[1].split("```")[0]
    exec(shown.replace('"notes"', repr(index_name)))
    assert "    bridge 0 30 The bridge was opened in 1931." in capsys.readouterr().out


def test_importing_it_imports_nothing_heavy() -> None:
    program = "import sys, ccrag; print(sorted({'numpy', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
    assert set(ccrag.__all__) <= set(dir(ccrag))
    assert all(getattr(ccrag, name) is not None for name in ccrag.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Colection'"):
        _ = ccrag.Colection
