from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.conllu import LAYERS, read_conllu, write_conllu
from dovetail.text.report import ReadReport
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from tests.text.helpers import tagged_sentences

TREE = (
    "# newdoc id = d1\n"
    "# sent_id = s1\n"
    "# text = They don't (know).\n"
    "0.1\tso\tso\tADV\t_\t_\t_\t_\t_\t_\n"
    "1\tThey\tthey\tPRON\tPRP\tCase=Nom|Number=Plur\t4\tnsubj\t4:nsubj\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_\n"
    "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_\n"
    "3.1\tknow\tknow\tVERB\t_\t_\t_\t_\t0:root\t_\n"
    "4\t(know)\tknow\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No|Note=a=b\n"
    "5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_\n"
    "\n"
    "# text = Al mar.\n"
    "1-2\tAl\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes\n"
    "1\ta\ta\tADP\t_\t_\t3\tcase\t_\t_\n"
    "2\tel\tel\tDET\t_\t_\t3\tdet\t_\t_\n"
    "3\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No|NER=B-LOC\n"
    "4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\tNER=O\n"
    "\n"
    "# newdoc\n"
    "1\tend\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "\n"
)


def documents(text: str, **options) -> list[Document]:
    return list(read_conllu(io.StringIO(text), **options))


def written(items) -> str:
    out = io.StringIO()
    write_conllu(items, out)
    return out.getvalue()


def test_a_file_that_is_read_and_written_is_the_same_file():
    assert written(documents(TREE)) == TREE
    assert written(documents(TREE.replace("\n", "\r\n"))) == TREE


def test_layers_ids_and_documents():
    first, second = documents(TREE)
    assert (first.id, second.id, len(first)) == ("d1", None, 2)
    sentence = first.sentences[0]
    assert sentence.id == "s1"
    assert sentence.words == ("They", "do", "n't", "(know)", ".")
    assert sentence.layers["head"] == ("4", "4", "4", "0", "4")
    assert "ner" not in sentence.layers
    assert first.sentences[1].entities() == (Span(2, 3, "LOC"),)


def test_offsets_point_into_the_text():
    first, _ = documents(TREE)
    assert first.text == "They don't (know). Al mar. "
    pieces = [[first.slice(*place) for place in s.offsets] for s in first]
    assert pieces == [["They", "do", "n't", "(know)", "."], ["Al", "Al", "mar", "."]]


def test_text_that_does_not_match_is_reported_and_rebuilt():
    report = ReadReport()
    (document,) = documents(
        "# text = other\n1\tSo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n",
        report=report,
    )
    assert document.text == "So. "
    assert report.counts == {"sentence whose # text does not hold its words; the words were taken": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", ":1: 2 columns, expected 10"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n3\tb\t_\t_\t_\t_\t_\t_\t_\t_\n", ":2: word number 3, expected 2"),
        ("x\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: 'x' is not a word number; expected 1"),
        ("1\t\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: column 2 is empty"),
        ("3-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: multiword token 3-2 stands before word 1"),
        ("1.1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", ":2: a sentence without words"),
        ("9" * 5000 + "\ta" + "\t_" * 8 + "\n", ":1: '9+' is not a word number"),
        ("word NN O\n", ":1: 1 column, expected 10, separated by tabs"),
    ],
)
def test_bad_lines_name_their_place(text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        documents(text)


def test_overlapping_and_overlong_multiword_tokens_do_no_harm():
    rest = "\t_" * 8
    text = f"1-9\tab\t{rest[1:]}\n1\ta{rest}\n2-3\tbc{rest}\n2\tb{rest}\n"
    (document,) = documents(text)
    assert len(document.sentences[0].offsets) == 2


def test_entities_in_iobes_become_iob2():
    (document,) = documents("1\ta\t_\t_\t_\t_\t_\t_\t_\tNER=S-X\n")
    assert document.sentences[0].layers["ner"] == ("B-X",)


def test_empty_input():
    assert documents("") == []
    assert documents("# only a comment\n") == []


@given(st.lists(tagged_sentences(layers=("lemma", "upos")), min_size=1, max_size=3))
def test_what_is_written_is_read_again(items):
    if any("|" in value for s in items for value in s.layers["ner"]):
        return
    read = [s for d in documents(written(items), report=ReadReport()) for s in d]
    assert [s.words for s in read] == [s.words for s in items]
    for name in ("lemma", "upos", "ner"):
        assert [s.layers[name] for s in read] == [s.layers[name] for s in items]


def test_running_text_gets_its_text_and_spacing():
    text = "Dr. Who left. (Why?)"
    out = written([Document(tuple(segment(text)), text, "d")])
    assert "# newdoc id = d\n# text = Dr. Who left.\n1\tDr.\t" in out
    assert [d.text for d in documents(out)] == [text + " "]


def test_layers_that_conllu_does_not_know_go_to_the_last_column():
    sentence = Sentence(("a",), {"pos": ("NN",), "chunk": ("B-NP",), "misc": ("NER=B-Y|X=1",), "ner": ("B-X",)})
    assert written([sentence]) == "1\ta\t_\t_\tNN\t_\t_\t_\t_\tNER=B-X|X=1|chunk=B-NP\n\n"
    assert LAYERS[-1] == "misc"


@pytest.mark.parametrize(
    "sentence",
    [Sentence(("a\tb",)), Sentence(("a\nb",)), Sentence(("",)), Sentence(("a",), {"ner": ("B-x|y",)})],
)
def test_what_could_not_be_read_again_is_not_written(sentence):
    with pytest.raises(DovetailError, match="sentence 1"):
        written([sentence])
