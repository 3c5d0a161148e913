"""Models of dovetail in real pipelines of spaCy."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.extras import NEEDS

pytest.importorskip("spacy", reason=NEEDS["spacy"])

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import dovetail
from dovetail.errors import DovetailError, InputError
from dovetail.spacy import Dovetail, SegmenterTokenizer
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spacy_docs import from_doc
from tests.models.kinds import KINDS

ROOT = Path(__file__).parents[2]
WORDS = [["北京", "大学"], ["人", "在", "北京"]] * 6
TEXT = "Ada Lovelace was born in London.  She met Charles Darwin.\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A small model of each kind as a file, by name."""
    folder = tmp_path_factory.mktemp("models")
    made = {}
    for name in ("tagger", "nested", "parser", "dependency", "roles", "entailment"):
        model = type(KINDS[name].model)(**KINDS[name].model.get_params())
        model.set_params(**({"iterations": 60} if name == "nested" else {})).fit(KINDS[name].sentences)
        model.save(folder / f"{name}.dovetail")
        made[name] = str(folder / f"{name}.dovetail")
    dovetail.Segmenter(iterations=5).fit(WORDS).save(folder / "segmenter.dovetail")
    made["segmenter"] = str(folder / "segmenter.dovetail")
    pos = [Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")})] * 4
    dovetail.Tagger(features=["word[0]"], target="pos", consistency="none").fit(pos).save(folder / "p.dovetail")
    return {**made, "pos": str(folder / "p.dovetail")}


def blank(*paths: str | None, **config):
    nlp = spacy.blank("en")
    for number, path in enumerate(paths):
        nlp.add_pipe("dovetail", name=f"dovetail{number}", config={"model": path, **config})
    return nlp


def doc_of(nlp, *sentences: str) -> Doc:
    words = [s.split() for s in sentences]
    starts = [i == 0 for s in words for i in range(len(s))]
    return Doc(nlp.vocab, words=[w for s in words for w in s], sent_starts=starts)


def test_entities_have_their_probabilities_and_places():
    doc = blank(None)(TEXT)
    expected = dovetail.load()(TEXT).entities()
    assert [(e.text, e.label_, e.start_char, e.end_char) for e in doc.ents] == [
        (e.text, e.label, e.start_char, e.end_char) for e in expected
    ]
    assert [e._.probability for e in doc.ents] == [e.probability for e in expected]
    assert doc[0:1]._.probability is None
    assert doc._.dovetail.entities() == expected


def test_a_stream_gives_what_single_documents_give():
    nlp = blank(None)
    texts = [TEXT, "", "It rained in Bern.", "\n", "Bob Dylan sang."] * 3
    together = list(nlp.pipe(texts, batch_size=4))
    assert [doc.text for doc in together] == texts
    for doc, text in zip(together, texts, strict=True):
        assert [(e.text, e._.probability) for e in doc.ents] == [
            (e.text, pytest.approx(e._.probability, abs=1e-5)) for e in nlp(text).ents
        ]


def test_models_answer_in_batches(models, monkeypatch):
    nlp = blank(models["tagger"])
    component = nlp.get_pipe("dovetail0")
    sizes = []
    annotate = component.annotator.annotate
    monkeypatch.setattr(
        component.annotator, "annotate", lambda given, p: annotate(sizes.append(len(given)) or given, p)
    )
    list(nlp.pipe(["Ada slept."] * 10, batch_size=4))
    assert sizes == [4, 4, 2]


def test_several_models_in_one_pipeline(models):
    nlp = blank(models["pos"], models["dependency"], models["nested"], models["parser"])
    doc = nlp(doc_of(nlp, "Ada slept", "Ada slept"))
    assert [t.tag_ for t in doc] == ["NNP", "VBD"] * 2
    assert [(t.dep_, t.head.i) for t in doc] == [("nsubj", 1), ("ROOT", 1), ("nsubj", 3), ("ROOT", 3)]
    assert [[t.text for t in sent] for sent in doc.sents] == [["Ada", "slept"]] * 2
    assert [sent._.tree for sent in doc.sents] == ["(ROOT (S (NP (NNP Ada)) (VP (VBD slept))))"] * 2
    assert doc[0:1]._.tree is None
    first = doc._.dovetail[0]
    assert str(first.tree) == "(ROOT (S (NP (NNP Ada)) (VP (VBD slept))))"
    assert first.layers["head"] == ("2", "0")


def test_a_parser_of_dependencies_reads_the_tags_of_spacy(models):
    nlp = blank(models["dependency"])
    doc = doc_of(nlp, "Ada slept")
    doc[0].tag_, doc[1].tag_ = "NNP", "VBD"
    assert [t.dep_ for t in nlp(doc)] == ["nsubj", "ROOT"]
    assert nlp.get_pipe("dovetail0").annotator.reads == ("pos",)


def test_nested_entities_are_a_group_and_the_outermost_entities(models):
    nlp = blank(models["nested"])
    doc = nlp(doc_of(nlp, "University of Bern said"))
    assert [(e.text, e.label_) for e in doc.ents] == [("University of Bern", "ORG")]
    assert {(e.text, e.label_) for e in doc.spans["sc"]} == {("University of Bern", "ORG"), ("Bern", "LOC")}
    assert all(0 < e._.probability <= 1 for e in doc.spans["sc"])
    expected = dovetail.load(models["nested"]).annotate([Sentence(("University", "of", "Bern", "said"))])
    assert set(from_doc(doc).entities()) == {span for s in expected for span in s.spans}


def test_frames(models):
    nlp = blank(models["roles"])
    given = KINDS["roles"].sentences[0]
    (doc,) = dovetail.text.spacy_docs.to_docs([Sentence(given.words, tree=given.tree)], nlp.vocab)
    nlp(doc)
    [answer] = dovetail.load(models["roles"]).annotate([Sentence(given.words, tree=given.tree)])
    assert from_doc(doc).sentences[0].frames == answer.frames
    assert [one["predicate"] for one in next(doc.sents)._.frames] == [f.predicate for f in answer.frames]


def test_a_segmenter_of_words_is_a_tokenizer(models):
    nlp = spacy.blank("zh")
    nlp.tokenizer = SegmenterTokenizer(nlp.vocab, models["segmenter"])
    text = "北京大学"
    doc = nlp(f"{text}  {text}\n")
    assert doc.text == f"{text}  {text}\n"
    cut = dovetail.load(models["segmenter"]).predict([text])[0]
    assert [t.text for t in doc if t.text.strip()] == cut * 2
    assert [d.text for d in nlp.pipe(["", text, " \n"])] == ["", text, " \n"]


def test_the_tokenizer_by_configuration_and_on_disk(models, tmp_path):
    config = {"nlp": {"tokenizer": {"@tokenizers": "dovetail.Segmenter.v1", "model": models["segmenter"]}}}
    nlp = spacy.blank("zh", config=config)
    text = "人在北京大学"
    nlp.to_disk(tmp_path / "nlp")
    Path(models["segmenter"]).rename(tmp_path / "gone")
    try:
        again = spacy.load(tmp_path / "nlp")
        assert [t.text for t in again(text)] == [t.text for t in nlp(text)]
    finally:
        (tmp_path / "gone").rename(models["segmenter"])


def test_a_pipeline_holds_its_model(models, tmp_path):
    path = tmp_path / "ner.dovetail"
    path.write_bytes(Path(models["tagger"]).read_bytes())
    nlp = blank(str(path))
    nlp.to_disk(tmp_path / "nlp")
    as_bytes, pickled = nlp.to_bytes(), pickle.dumps(nlp.get_pipe("dovetail0"))
    path.unlink()
    sentence = " ".join(KINDS["tagger"].sentences[0].words)
    expected = [(e.text, e._.probability) for e in nlp(sentence).ents]
    other = blank(str(path))
    other.from_bytes(as_bytes)
    for again in (spacy.load(tmp_path / "nlp"), other):
        assert [(e.text, e._.probability) for e in again(sentence).ents] == expected
    assert pickle.loads(pickled).annotator.kind == "tagger"


def test_what_was_found_travels_in_docbins(models):
    nlp = blank(None, models["parser"])
    bin_ = DocBin(store_user_data=True, docs=[nlp(doc_of(nlp, "Ada Lovelace slept"))])
    (doc,) = DocBin().from_bytes(bin_.to_bytes()).get_docs(nlp.vocab)
    assert all(0 < e._.probability <= 1 for e in doc.ents)
    assert next(doc.sents)._.tree.startswith("(")


def test_entities_that_are_there_may_be_kept():
    for overwrite, expected in ((True, ["London"]), (False, ["was born", "London"])):
        nlp = blank(None, overwrite=overwrite)
        doc = nlp.make_doc("She was born in London.")
        doc.ents = [spacy.tokens.Span(doc, 1, 3, "EVENT")]
        assert [e.text for e in nlp(doc).ents] == expected


def test_sentences_of_the_document_are_those_of_the_model(models):
    nlp = blank(models["parser"])
    doc = nlp("Ada slept. Bob saw Ada.")
    assert [[t.text for t in s] for s in doc.sents] == [["Ada", "slept", "."], ["Bob", "saw", "Ada", "."]]
    doc = nlp(doc_of(nlp, "Ada slept", "Bob saw Ada"))
    assert [len(s) for s in doc.sents] == [2, 3]


def test_scores_as_spacy_counts_them():
    nlp = blank(None)
    reference = nlp.make_doc("Ada Lovelace lived in London.")
    reference.ents = [reference.char_span(0, 12, "PER"), reference.char_span(22, 28, "ORG")]
    assert nlp.evaluate([Example(nlp.make_doc(reference.text), reference)])["ents_f"] == 0.5


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"model": "no/such.dovetail"}, DovetailError, "this component has no model .no such file: no/such.dovetail."),
        ({"model": __file__}, dovetail.ModelFileError, "test_component.py"),
    ],
)
def test_models_that_are_not_there(config, error, message):
    with pytest.raises(error, match=message):
        blank(config["model"])("Ada.")


@pytest.mark.parametrize(
    ("name", "message"),
    [("segmenter", "so it is a tokenizer"), ("entailment", "reads pairs of texts; a component annotates sentences")],
)
def test_models_that_cannot_be_components(models, name, message):
    with pytest.raises(DovetailError, match=message):
        blank(models[name])


def test_models_that_cannot_be_tokenizers(models):
    with pytest.raises(DovetailError, match="a tokenizer needs a segmenter of words, and this is a Tagger"):
        SegmenterTokenizer(spacy.blank("zh").vocab, models["tagger"])


def test_what_a_model_reads_and_a_document_lacks_is_said():
    nlp = blank(None)
    train = [Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD"), "ner": ("B-PER", "O")})] * 4
    reads = dovetail.Tagger(features=["pos[0]"], consistency="none", predict_layers=False)
    nlp.get_pipe("dovetail0").annotator = reads.fit(train)
    with pytest.raises((InputError, DovetailError), match="its model reads pos, which document 1 of the batch has not"):
        nlp("Ada slept.")


def test_models_may_be_given_as_they_are():
    nlp = spacy.blank("en")
    component = Dovetail(nlp)
    component.annotator = dovetail.Tagger(features=["word[0]"], consistency="none").fit([["Ada"]] * 3, [["B-X"]] * 3)
    assert [e.label_ for e in component(nlp.make_doc("Ada")).ents] == ["X"]


def test_spacy_finds_the_component_by_its_entry_points(tmp_path):
    """As after ``pip install``: the package's metadata is all that spaCy looks at."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    info = tmp_path / "dovetail-99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dovetail\nVersion: 99\n")
    groups = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in some.items()) for group, some in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(groups))
    program = """
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("dovetail")
print([e.text for e in nlp("Ada Lovelace slept.").ents])
print(callable(spacy.registry.tokenizers.get("dovetail.Segmenter.v1")))
"""
    import os

    paths = os.pathsep.join([str(tmp_path), str(Path(dovetail.__file__).parents[1])])
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    assert found.stdout.splitlines() == ["['Ada Lovelace']", "True"], found.stderr


def test_spans_of_documents_that_we_wrote_are_read_by_components():
    sentence = Sentence(("Ada", "slept"), spans=(Span(0, 1, "PER", 0.5),))
    (doc,) = dovetail.text.spacy_docs.to_docs([Document((sentence,), id="d")])
    assert doc.ents[0]._.probability == 0.5
