"""What the routes of ``dovetail serve`` answer, to good requests and to bad ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

import dovetail
from dovetail.serve import make_app
from dovetail.serve.annotator import Annotator
from dovetail.serve.fields import LONGEST_WORD, MOST_CHARACTERS
from dovetail.serve.roster import roster
from tests.serve.conftest import MODELS, NAMES

TEXT = "Ada saw Bern . Bela saw Ada ."


def lines(client: Any, body: bytes | Any, **params: str) -> list[dict[str, Any]]:
    response = client.post("/batch", content=body, params=params, headers={"Content-Type": "application/x-ndjson"})
    assert response.status_code == 200
    return [json.loads(line) for line in response.text.splitlines()]


def test_a_text_has_the_answers_of_the_model(client: Any) -> None:
    answer = client.post("/annotate", json={"text": TEXT}).json()
    assert answer["model"] == "tagger"
    [expected, _] = dovetail.load(MODELS / "tagger.dovetail").annotate(TEXT)
    first = answer["sentences"][0]
    assert first["words"] == list(expected.words)
    assert [(e["start"], e["label"]) for e in first["entities"]] == [(s.start, s.label) for s in expected.spans]
    assert first["entities"][0]["probability"] == pytest.approx(expected.spans[0].probability)
    assert first["text"] == "Ada saw Bern ."
    assert answer["sentences"][1]["offsets"][0] == [15, 19]


def test_words_are_taken_as_they_are(client: Any) -> None:
    answer = client.post("/annotate", json={"words": [["Ada", "saw", "Bern"], ["Bela-Ada"]]}).json()
    assert [sentence["words"] for sentence in answer["sentences"]] == [["Ada", "saw", "Bern"], ["Bela-Ada"]]


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("tagger", "entities"),
        ("dependency-tags", "heads"),
        ("parser", "tree"),
        ("nested", "entities"),
        ("words", "words"),
        ("segments-markov", "entities"),
    ],
)
def test_every_kind_of_model_answers(client: Any, model: str, field: str) -> None:
    asked = {"text": "Ada saw Bern .", "model": model, "alternatives": 3, "pictures": True}
    [sentence] = client.post("/annotate", json=asked).json()["sentences"]
    assert field in sentence
    for drawn in sentence["pictures"].values():
        assert drawn.startswith("<svg")
    assert set(sentence["pictures"]) == {"tree": {"tree"}, "heads": {"dependencies"}}.get(field, set())


@pytest.mark.parametrize("model", ["tagger", "nested", "dependency-tags"])
def test_alternatives_are_ranked_and_have_probabilities(client: Any, model: str) -> None:
    asked = {"text": "Ada saw Bern .", "model": model, "alternatives": 4}
    [sentence] = client.post("/annotate", json=asked).json()["sentences"]
    chances = [one["probability"] for one in sentence["alternatives"]]
    assert len(chances) == 4
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) <= 1.0001


def test_explanations_are_those_of_the_model(client: Any) -> None:
    asked = {"text": "Ada saw Bern .", "token": 2, "top": 3}
    answer = client.post("/explain", json=asked).json()
    why = dovetail.load(MODELS / "tagger.dovetail").explain(["Ada", "saw", "Bern", "."], 2)
    assert (answer["word"], answer["tag"], answer["rival"]) == ("Bern", why.tag, why.rival)
    assert [e["feature"] for e in answer["for"]] == [e.feature for e in why.for_tag[:3]]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"model": "tagger"}, "token: missing"),
        ({"model": "tagger", "token": 9}, "token: the sentence has 3 at most, and this is 9"),
        ({"model": "tagger", "token": 0, "sentence": 4}, "sentence 4: the text has sentences 0 to 0"),
        ({"model": "parser", "start": 2, "end": 1}, "start 2 must be less than end 1"),
        ({"model": "nested", "token": 0}, "nested gives entities, which cannot be explained"),
        ({"model": "tagger", "token": -1}, "token: this must be greater than or equal to 0"),
    ],
)
def test_questions_that_have_no_answer_say_so(client: Any, asked: dict[str, Any], told: str) -> None:
    response = client.post("/explain", json={"text": "Ada saw Bern .", **asked})
    assert response.status_code == 422
    assert told in response.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({}, 422, "give either text or words"),
        ({"text": "a", "words": [["a"]]}, 422, "give either text or words"),
        ({"text": 7}, 422, "text: this must be a valid string"),
        ({"text": ["a"]}, 422, "text: this must be a valid string"),
        ({"text": "a", "model": "other"}, 404, "there is no model 'other'; there are tagger, "),
        ({"text": "a", "model": 7}, 422, "model: this must be a valid string"),
        ({"text": "a", "k": 7}, 422, "k: there is no such field"),
        ({"text": "a", "alternatives": 21}, 422, "alternatives: this must be less than or equal to 20"),
        ({"text": "a", "alternatives": "7"}, 422, "alternatives: this must be a valid integer"),
        ({"text": "a", "alternatives": True}, 422, "alternatives: this must be a valid integer"),
        ({"text": "a" * (LONGEST_WORD + 1)}, 422, "the text has a word of 10,001 characters"),
        ({"text": "a " * MOST_CHARACTERS}, 422, "text: String should have at most 100000 characters"),
        ({"text": "a" * 1_000_000}, 413, "the body is larger than 1,000,000 bytes"),
        ({"words": [["a"], []]}, 422, "words.1: List should have at least 1 item"),
        ({"words": [["a", ""]]}, 422, "words.0.1: String should have at least 1 character"),
        ({"words": [["a" * 10_001]]}, 422, "words.0.0: String should have at most 10000 characters"),
        ({"words": [["a" * 9_000] * 20]}, 422, "the words have more than 100,000 characters"),
        ({"words": "a"}, 422, "words: this must be a valid list"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_requests_say_what_is_wrong(client: Any, body: Any, status: int, told: str) -> None:
    response = client.post("/annotate", json=body)
    assert response.status_code == status
    assert told in response.json()["error"]


@pytest.mark.parametrize(
    "text", ["", " \n ", "\u200b", "…" * 500, "a b\u2028c\x85d", "\U0001f600 Ada", "A" * LONGEST_WORD]
)
def test_odd_texts_are_answered(client: Any, text: str) -> None:
    for model in NAMES:
        response = client.post("/annotate", json={"text": text, "model": model, "alternatives": 2, "pictures": True})
        assert response.status_code == 200, (model, response.json())


def test_models_are_listed_the_default_first(client: Any) -> None:
    listed = client.get("/models").json()["models"]
    assert [one["name"] for one in listed] == list(NAMES)
    assert listed[0] | {"card": {}} == {
        "name": "tagger", "kind": "tagger", "gives": "entities", "labels": ["LOC", "PER"], "explains": "token",
        "ranks": True, "card": {},
    }  # fmt: skip
    assert client.get("/health").json()["models"] == list(NAMES)


def test_batches_answer_line_by_line_and_go_on_after_bad_ones(client: Any) -> None:
    body = (
        b'{"id": "x", "text": "Ada saw Bern ."}\n\n"Bela saw Ada ."\nnonsense\n[1]\n{"words": [["Ada"]]}\n{"text": 1}\n'
        b'{"text": "a\\u0000b"}\n{"text": "a\\ud800b"}\n\xff\xfe\n{"text": "a", "model": "words"}\n'
        + b"[" * 100_000 + b'\n{"text": "' + b"a" * 20_000 + b'"}\n{"id": {"a": 1}, "text": "Ada saw Bern ."}'
    )  # fmt: skip
    found = lines(client, body)
    assert found[0]["id"] == "x"
    assert [one["line"] for one in found] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    assert [one["line"] for one in found if "sentences" in one] == [1, 3, 6, 14]
    told = {one["line"]: one["error"] for one in found if "error" in one}
    assert "not JSON" in told[4]
    assert "dictionary" in told[5]
    assert told[7] == "text: this must be a valid string"
    assert "NUL" in told[8]
    assert "surrogate" in told[9]
    assert "UTF-8" in told[10]
    assert "name the model in the address" in told[11]
    assert "nested" in told[12]
    assert "a word of 20,000 characters" in told[13]
    assert found[-1]["id"] == {"a": 1}


def test_batches_of_many_lines_are_whole_and_in_order(client: Any) -> None:
    pieces = (b'{"id": %d, "text": "Ada saw Bern ."}\n' % number for number in range(1000))
    found = lines(client, pieces, model="segments-markov")
    assert [one["id"] for one in found] == list(range(1000))
    assert all(len(one["sentences"][0]["entities"]) for one in found)


def test_a_line_that_is_too_long_is_refused_and_the_others_answered(client: Any) -> None:
    found = lines(client, b'"Ada ."\n"' + b"a" * 5_000_000 + b'"\n"Bela ."\n')
    assert [set(one) for one in found] == [{"line", "sentences"}, {"line", "error"}, {"line", "sentences"}]
    assert "longer than 1,000,000 bytes" in found[1]["error"]


def test_batches_of_models_that_are_not_there_are_refused(client: Any) -> None:
    response = client.post("/batch?model=x", content=b'"a"', headers={"Content-Type": "application/x-ndjson"})
    assert response.status_code == 404


def test_openapi_describes_routes_fields_and_failures(client: Any) -> None:
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/annotate", "/batch", "/explain", "/models", "/health", "/metrics"}
    for path, methods in described["paths"].items():
        for about in methods.values():
            assert about["description"], path
    for schema in ("Wishes", "Question"):
        for name, field in described["components"]["schemas"][schema]["properties"].items():
            assert field["description"], name
    assert "503" in described["paths"]["/annotate"]["post"]["responses"]


def test_names_of_models() -> None:
    file = MODELS / "tagger.dovetail"
    assert [one.name for one in roster([str(file), f"mine={file}"])] == ["tagger", "mine"]
    with pytest.raises(dovetail.DovetailError, match="there is a model 'tagger' already"):
        roster([str(file), str(file)])
    with pytest.raises(dovetail.DovetailError, match="this model reads pos, which text does not have"):
        roster([str(MODELS / "dependency.dovetail.gz")])


def test_metrics_tell_what_models_did(app: Any) -> None:
    pytest.importorskip("httpx2", reason=NEEDS["httpx2"])
    from starlette.testclient import TestClient

    made = make_app([Annotator(roster([str(MODELS / "tagger.dovetail")])).part()])
    with TestClient(made, base_url="http://localhost") as client:
        for _ in range(3):
            client.post("/annotate", json={"text": "Ada ."})
        told = client.get("/metrics").text
    assert 'dovetail_answered_total{model="tagger"} 3' in told
    assert 'dovetail_requests_total{path="/annotate",status="200"} 3' in told
    assert 'dovetail_request_seconds_count{path="/annotate"} 3' in told
