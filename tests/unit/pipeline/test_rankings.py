"""Rankings of sentences in files, and what the scorer that reads them does."""

from pathlib import Path

import pytest

from ccrag.config import PipelineSettings
from ccrag.config.load import load_settings
from ccrag.errors import ConfigError, InputError
from ccrag.pipeline.evidence import EvidenceSelector, ranking_of
from ccrag.pipeline.packaged import packaged_names
from ccrag.pipeline.rankings import load_ranking, write_ranking
from ccrag.pipeline.state import QueryState
from ccrag.types import Candidates, Query
from tests.fakes import HashEncoder, HashTokens
from tests.unit.stages import by_id, passage

ASKED = Query(
    "q", "When was the dam finished, and how long is the bridge?", Candidates.whole_index()
)
TEXTS = (
    ("The dam was finished in 1931. ", "Many came. ", "It rained."),
    ("The bridge is 503 m long. ", "Ships pass below. ", "It is grey."),
    ("Bread is baked at night. ", "Nobody knows why."),
)


def selected(scorer: str) -> QueryState:
    settings = PipelineSettings.model_validate({"evidence": {"scorer": scorer, "max_sentences": 3}})
    found = [passage(f"d{n}#1", doc_id=f"d{n}", sentences=s) for n, s in enumerate(TEXTS)]
    encoder = HashEncoder()
    vector = encoder.encode_queries([ASKED.text]).vectors[0]
    state = QueryState(
        ASKED, question=ASKED.text, vector=vector, passages=by_id(*found), read=tuple(found)
    )
    EvidenceSelector(settings, encoder, None, HashTokens()).select([state])
    return state


@pytest.mark.parametrize("scorer", ["learnt", "learnt-lexical"])
def test_evidence_is_ranked_by_probability_and_says_why(scorer: str) -> None:
    evidence = selected(scorer).evidence
    assert {item.text for item in evidence[:2]} == {
        "The dam was finished in 1931.",
        "The bridge is 503 m long.",
    }
    scores = [item.score for item in evidence]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert all(value > 0 for item in evidence for _, value in item.reasons)
    assert evidence[0].reasons


@pytest.mark.parametrize("name", packaged_names("rankings"))
def test_the_packaged_ones_say_what_they_are_worth(name: str) -> None:
    ranking = load_ranking(name)
    assert ranking.figures["recall_learnt"] > ranking.figures["recall_own"]
    assert ranking.figures["p"] < 0.01
    assert ranking.needs_tokens == ranking.needs_encoder == (name == "sentences")


def test_a_file_is_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    write_ranking(load_ranking("sentences-lexical"), path)
    assert load_ranking(str(path)) == load_ranking("sentences-lexical")
    with pytest.raises(InputError, match="cannot be written"):
        write_ranking(load_ranking("sentences"), tmp_path / "no" / "such.json")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{}", "is no ranking of sentences; make one with: ccrag models train-evidence"),
        ("[", "is no ranking of sentences"),
        ('{"weights": {}, "intercept": 0, "figures": {}}', "a scale is not above 0"),
        (
            '{"weights": {"bm25": {"mean": 0, "scale": 0, "coefficient": 1}}, "intercept": 0, '
            '"figures": {}}',
            "a scale is not above 0",
        ),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=told):
        load_ranking(str(path))


def test_names_and_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match="no ranking of sentences 'x'; there are sentences, sent"):
        load_ranking("x")
    with pytest.raises(ConfigError, match="ranking sentences looks at vectors: set evidence.scor"):
        ranking_of(
            load_settings(
                "lexical", ["evidence.scorer=learnt-lexical", "evidence.ranking=sentences"]
            )
        )
    with pytest.raises(ConfigError, match="evidence.ranking is for evidence.scorer=learnt"):
        load_settings("lexical", ["evidence.ranking=sentences"])
    with pytest.raises(ConfigError, match="document_ratio compares probabilities"):
        load_settings("lexical", ["answer.document_ratio=0.5"])
