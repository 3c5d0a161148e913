"""Trees and dependencies in JSON lines."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given

from dovetail.errors import InputError
from dovetail.text.formats import sentences, write
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Sentence
from tests.text.helpers import trees


def read_one(**fields) -> Sentence:
    (document,) = read_jsonl(io.StringIO(json.dumps(fields)), report=ReadReport())
    (sentence,) = document
    return sentence


def written(sentence: Sentence) -> dict[str, object]:
    out = io.StringIO()
    write_jsonl([sentence], out)
    return json.loads(out.getvalue())


@given(trees())
def test_trees_round_trip(tree):
    sentence = Sentence(tree.words(), tree=tree)
    again = read_one(**written(sentence))
    assert again.words == sentence.words
    assert again.tree.words() == tree.words()
    assert str(again.tree) == str(tree)


def test_a_tree_has_the_words_of_the_sentence():
    sentence = read_one(words=["(", "a(b)"], tree="(NP (-LRB- -LRB-) (NN a-LRB-b-RRB-))")
    assert sentence.tree.words() == ("(", "a(b)")
    assert written(sentence)["tree"] == "(NP (-LRB- -LRB-) (NN a-LRB-b-RRB-))"
    assert read_one(words=["-LRB-"], tree="(NP (-LRB- -LRB-))").tree.words() == ("-LRB-",)


def test_dependencies_are_those_of_conllu():
    sentence = read_one(words=["It", "rains"], heads=[1, -1], deprels=["nsubj", "root"])
    assert sentence.layers == {"head": ("2", "0"), "deprel": ("nsubj", "root")}
    assert written(sentence) == {"words": ["It", "rains"], "heads": [1, -1], "deprels": ["nsubj", "root"]}


def test_heads_that_are_no_numbers_stay_a_layer():
    sentence = Sentence(("It", "rains"), {"head": ("_", "0")})
    assert written(sentence)["head"] == ["_", "0"]
    assert read_one(**written(sentence)).layers["head"] == ("_", "0")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tree": "(NP (NN a))"}, '"tree" has 1 words, "words" 2'),
        ({"tree": "(NP (NN a) (NN c))"}, "word 1 is 'c' in \"tree\" but 'b' in \"words\""),
        ({"tree": "(NP (NN a) (NN b)"}, "a closing bracket is missing"),
        ({"tree": ["NP"]}, '"tree" is .* expected a string'),
        ({"heads": [1]}, '"heads" must hold'),
        ({"heads": [2, -1]}, '"heads" must hold'),
        ({"heads": [True, -1]}, '"heads" must hold'),
        ({"heads": "1"}, '"heads" must hold'),
        ({"deprels": ["root"]}, '"deprels" must hold'),
        ({"deprels": ["root", 1]}, '"deprels" must hold'),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(fields, message):
    with pytest.raises(InputError, match=f"<stream>:1: {message}"):
        read_one(words=["a", "b"], **fields)


@pytest.mark.parametrize("corpus", ["ptb-sample", "gum", "genia"])
def test_corpora_round_trip(corpus, tmp_path):
    folder = os.environ.get("DOVETAIL_DATA")
    if folder is None or not (Path(folder) / corpus).is_dir():
        pytest.skip("needs DOVETAIL_DATA with the corpora")
    given_sentences = list(sentences(Path(folder) / corpus / "dev.jsonl.gz", report=ReadReport()))
    assert all(sentence.tree is not None for sentence in given_sentences)
    for name, options in (("a.jsonl", {}), ("a.mrg", {"escapes": "read"})):
        write(given_sentences, tmp_path / name)
        again = list(sentences(tmp_path / name, report=ReadReport(), **options))
        assert [sentence.tree for sentence in again] == [sentence.tree for sentence in given_sentences]
        if name == "a.jsonl":
            assert again == given_sentences
