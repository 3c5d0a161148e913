"""WebAnno TSV 3, as INCEpTION writes it, and as we write it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.formats import guess_format, read, write
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.webanno import read_webanno, write_webanno
from tests.text.helpers import CELLS, annotated_documents, flat_spans

HEAD = "#FORMAT=WebAnno TSV 3.3\n"
NER = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n"
POS = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|coarseValue|PosValue\n"
LEMMA = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Lemma|value\n"
ARCS = (
    "#T_RL=de.tudarmstadt.ukp.dkpro.core.api.syntax.type.dependency.Dependency|DependencyType|flavor|"
    "BT_de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS\n"
)
FULL = (
    HEAD
    + LEMMA
    + POS
    + NER
    + ARCS
    + "\n\n"
    "#Text=The Bank of Bern fell 😀.\n"
    "1-1\t0-3\tThe\tthe\t*\tDET\t_\t_\tdet\tbasic\t1-2\t\n"
    "1-2\t4-8\tBank\tbank\t*\tNN\t*[1]\tORG[1]\tnsubj\tbasic\t1-5\t\n"
    "1-3\t9-11\tof\tof\t*\tIN\t*[1]\tORG[1]\tcase\tbasic\t1-4\t\n"
    "1-4\t12-16\tBern\tBern\t*\tNNP\t*[1]|*[2]\tORG[1]|creative\\_work[2]\tnmod\tbasic\t1-2\t\n"
    "1-5\t17-21\tfell\tfall\t*\tVBD\t_\t_\troot\tbasic\t1-5\t\n"
    "1-6\t22-24\t😀\t_\t_\t_\t_\t_\t_\t_\t_\t\n"
    "1-6.1\t22-24\t😀\t_\t*\tX\t_\t_\t_\t_\t_\t\n"
    "1-7\t24-25\t.\t.\t*\t.\t_\t_\tpunct\tbasic\t1-5\t\n"
    "\n#Text=It rained\n"
    "2-1\t27-29\tIt\tit\t*\tPRP\t*\tX\t_\t_\t_\t\n"
    "2-2\t30-36\train\\_\t_\t_\t_\t_\t_\t_\t_\t_\t\n".replace("rain\\_", "rained")
)


def one(text: str, report: ReadReport | None = None) -> Document:
    (document,) = read_webanno(io.StringIO(text), report=ReadReport() if report is None else report)
    return document


def test_what_inception_writes():
    report = ReadReport()
    document = one(FULL, report)
    assert document.text == "The Bank of Bern fell 😀. \nIt rained"
    first, second = document
    assert first.words == ("The", "Bank", "of", "Bern", "fell", "😀", ".")
    assert first.spans == (Span(1, 4, "ORG"), Span(3, 4, "creative_work"))
    assert first.layers["ner"] == ("O", "B-ORG", "I-ORG", "I-ORG", "O", "O", "O")
    assert first.layers["pos"] == ("DET", "NN", "IN", "NNP", "VBD", "_", ".")
    assert first.layers["lemma"][4:] == ("fall", "_", ".")
    assert first.layers["head"] == ("2", "5", "4", "2", "0", "0", "5")
    assert second.spans == (Span(0, 1, "X"),)
    assert [document.text[a:b] for a, b in first.offsets + second.offsets] == [*first.words, *second.words]
    assert report.counts == {"annotation of a part of a word, not read": 1}


@given(document=annotated_documents())
def test_text_words_and_entities_come_back(document):
    out = io.StringIO()
    write_webanno([document], out)
    found = one(out.getvalue())
    assert [(s.words, s.layers["ner"]) for s in found] == [(s.words, s.layers["ner"]) for s in document]
    assert [e.text for e in found.entities()] == [e.text for e in document.entities()]
    spaces = str.maketrans("\t", " ")  # between sentences, tabs and line ends are not in the file
    assert found.text.split() == document.text.translate(spaces).split()
    starts = [s.offsets[0][0] for s in document]
    assert [s.offsets[0][0] for s in found] == starts


@st.composite
def layered(draw):
    words = draw(st.lists(CELLS.filter(lambda w: "\u2028" not in w), min_size=1, max_size=6))
    length = len(words)
    flat = [Span(*span) for span in draw(flat_spans(length))]
    layers = {n: tuple(draw(CELLS.filter(lambda v: v != "*")) for _ in words) for n in ("pos", "lemma")}
    heads = {
        "head": tuple(str(draw(st.integers(0, length))) for _ in words),
        "deprel": tuple("ab|[;"[i % 5] for i in range(length)),
    }
    inner = [Span(s.start, s.end - 1, "in|[er]") for s in flat if s.end - s.start > 1]
    return Sentence(tuple(words), {**layers, **heads}, (*flat, *inner))


@settings(max_examples=150)
@given(sentence=layered())
def test_layers_nested_entities_and_reserved_characters_come_back(sentence):
    loops = any(int(head) == i for i, head in enumerate(sentence.layers["head"], 1))  # which means the root there
    out = io.StringIO()
    write_webanno([Document((sentence, sentence), id="d")], out)
    for found in one(out.getvalue()):
        assert found.words == sentence.words
        assert set(found.spans) == set(sentence.spans)
        for name in ("pos", "lemma", "deprel", *(() if loops else ("head",))):
            assert found.layers[name] == sentence.layers[name], name


def test_folders_and_names(tmp_path):
    documents = [Document((Sentence(("Ada",), {"ner": ("B-PER",)}),), id=name) for name in ("a", "sub/b")]
    write(documents, tmp_path / "out", "webanno")
    assert [d.id for d in read(tmp_path / "out", "webanno")] == ["a", "sub/b"]
    assert guess_format(tmp_path / "out" / "a.tsv") == "webanno"
    assert guess_format("a.tsv") == "conll"
    write(documents[:1], tmp_path / "one.webanno.tsv")
    assert [e.text for d in read(tmp_path / "one.webanno.tsv") for e in d.entities()] == ["Ada"]
    with pytest.raises(DovetailError, match="one file cannot hold several documents; name a folder"):
        write(documents, tmp_path / "two.webanno.tsv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.tsv file in this folder"):
        list(read(tmp_path / "empty", "webanno"))


def test_layers_of_a_project():
    own = "#T_SP=webanno.custom.Mention|kind\n#T_CH=x.CoreferenceLink|referenceRelation|referenceType\n"
    report = ReadReport()
    document = one(HEAD + own + "\n\n#Text=Ada\n1-1\t0-3\tAda\tPER\t_\t_\t\n", report)
    assert document.sentences[0].spans == (Span(0, 1, "PER"),)
    assert report.counts == {"layer CoreferenceLink (WebAnno), not read": 1}
    assert one(HEAD + "\n\n#Text=Ada\n1-1\t0-3\tAda\t\n").sentences[0].layers == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: '' is not the first line of WebAnno TSV 3"),
        ("Ada\tO\n", ":1: .* is not the first line"),
        (HEAD + NER + "\n#Text=Ada\nAda\t0-3\tAda\t_\t_\n", ":5: expected SENTENCE-WORD<tab>START-END<tab>word"),
        (HEAD + NER + "\n#Text=Ada\n1-1\t0-3\tAda\t_\n", ":5: 4 columns, and the header has 5"),
        (HEAD + NER + "\n#Text=Ada\n1-2\t0-3\tAda\t_\t_\n", ":5: word number 2, expected 1"),
        (HEAD + NER + "\n#Text=Ada\n1-1\t3-3\tAda\t_\t_\n", ":5: characters 3 to 3 of 'Ada' do not follow"),
        (HEAD + NER + "\n#Text=Ada\n1-1\t0-4\tAda\t_\t_\n", ":5: 'Ada' is not 4 characters"),
        (HEAD + NER + "\n#Text=a\n1-1\t5-6\ta\t_\t_\n\n#Text=b\n2-1\t2-3\tb\t_\t_\n", ":8: words that begin before"),
        (HEAD + ARCS + "\n#Text=a\n1-1\t0-1\ta\tdet\t_\t1-7\n", ":5: the head is word 7 of 1"),
    ],
)
def test_broken_files_name_their_line(text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        one(text)


def test_odd_spans_are_counted():
    report = ReadReport()
    rows = "1-1\t0-1\ta\t*[1]\tX[1]\t\n1-2\t2-3\tb\t_\t_\t\n1-3\t4-5\tc\t*[1]|*\tX[1]|*\t\n"
    document = one(HEAD + NER + "\n#Text=a b c\n" + rows, report)
    assert document.sentences[0].spans == (Span(0, 1, "X"), Span(2, 3, "*"), Span(2, 3, "X"))
    assert set(report.counts) == {
        "span in two parts (WebAnno), read as two", "span without a value (WebAnno), its label is *"
    }  # fmt: skip
