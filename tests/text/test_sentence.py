from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import replace

import pytest

from dovetail.errors import DovetailError
from dovetail.text.documents import MAX_TOKENS, Member, group, join_pieces, ungroup
from dovetail.text.report import ReadReport, ReadWarning, reporting
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan, character_spans, covered_tokens, outermost, with_text


def test_layers_and_offsets_must_fit():
    with pytest.raises(ValueError, match="layer 'pos' has 1 values for 2 words"):
        Sentence(("a", "b"), {"pos": ("X",)})
    with pytest.raises(ValueError, match="0 offsets for 1 words"):
        Sentence(("a",), offsets=())


def test_sentences_can_be_sent_to_other_processes():
    for sentence in (Sentence(("a",)), Sentence(("a",), {"ner": ("O",)}, (Span(0, 1, "X", 0.5),))):
        assert pickle.loads(pickle.dumps(Document((sentence,)))) == Document((sentence,))


def test_a_document_without_text_has_no_slice():
    with pytest.raises(ValueError, match="no text"):
        Document(()).slice(0, 1)


def test_documents_are_also_cut_by_their_tokens():
    long = Sentence(("w",) * (MAX_TOKENS // 2 + 1))
    documents = list(group(Member(long, i == 0, "d", "w") for i in range(5)))
    assert [len(d) for d in documents] == [2, 2, 1]
    assert [d.offset for d in documents] == [0, 2, 4]
    assert [d.id for d in documents] == ["d"] * 3
    (whole,) = join_pieces(documents)
    assert (len(whole), whole.text, whole.id) == (5, "wwwww", "d")


def test_the_text_is_unknown_if_a_sentence_lacks_it():
    (document,) = group([Member(Sentence(("a",)), True, None, "a"), Member(Sentence(("b",)))])
    assert document.text is None


def test_ungroup_takes_a_document_for_its_sentences():
    document = Document((Sentence(("a",)), Sentence(("b",))))
    assert [s.words for s, _, _ in ungroup(document)] == [("a",), ("b",)]


def test_crossing_spans_keep_the_first():
    spans = [Span(0, 2, "A"), Span(1, 3, "B"), Span(3, 4, "C")]
    assert outermost(spans) == [spans[0], spans[2]]


def test_tokens_under_characters():
    offsets = [(0, 2), (3, 5), (5, 7)]
    assert covered_tokens(offsets, 2, 3) == (1, 1)
    assert covered_tokens(offsets, 0, 7) == (0, 3)
    assert covered_tokens(offsets, 4, 6) == (1, 3)


def test_text_is_made_where_there_is_none():
    sentences = (
        Sentence(("Ada", "B"), {"ner": ("O", "B-X")}),
        Sentence(()),
        Sentence(("c",), {"ner": ("B-Y",)}),
    )
    document = with_text(Document(sentences))
    assert document.text == "Ada B\n\nc\n"
    assert [document.slice(s.start, s.end) for s in character_spans(document)] == ["B", "c"]
    with pytest.raises(ValueError, match="without offsets"):
        character_spans(Document(sentences))


def test_reports_warn_once_a_kind_unless_collected():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with reporting(None) as report:
            report.note("odd", "f", 3)
            report.note("odd", "f", 4)
            report.note("none", "f", count=0)
    assert [(w.category, str(w.message)) for w in caught] == [(ReadWarning, "2 times: odd (first at f:3)")]
    own = ReadReport()
    with reporting(own) as report:
        report.note("odd", "f")
    assert own
    assert str(own) == "1 time: odd (first at f)"


def test_spans_know_their_text_and_characters():
    [sentence] = segment("Ada  Lovelace (poet) slept.", offset=100)
    sentence = sentence.with_entities((Span(0, 2, "PER", 0.9),))
    [span] = sentence.spans
    assert (span.text, span.start_char, span.end_char) == ("Ada  Lovelace", 100, 113)
    assert [e.text for e in sentence.entities()] == ["Ada  Lovelace"]
    assert sentence.text == str(sentence) == "Ada  Lovelace (poet) slept."
    wider = replace(span, end=4)
    assert wider.text == "Ada  Lovelace (poet"
    assert pickle.loads(pickle.dumps(span)).text == span.text


def test_spans_are_the_same_with_and_without_a_sentence():
    alone, held = Span(0, 1, "X", 0.5), Sentence(("a",), spans=(Span(0, 1, "X", 0.5),)).spans[0]
    assert (alone, hash(alone), repr(alone)) == (held, hash(held), repr(held))
    assert repr(held) == "Span(start=0, end=1, label='X', probability=0.5)"
    with pytest.raises(DovetailError, match="belongs to no sentence"):
        _ = alone.text
    with pytest.raises(DovetailError, match="no character offsets"):
        _ = held.start_char


def test_spans_know_the_sentence_that_holds_them_now():
    first, other = Sentence(("Ada", "slept"), spans=(Span(0, 1, "PER"),)), Sentence(("Bob", "slept"))
    assert other.with_entities(first.spans).spans[0].text == "Bob"
    assert first.with_layer("pos", ("A", "B")).spans[0] is first.spans[0]
    moved = replace(first, offsets=((7, 10), (11, 16)))
    assert moved.spans[0].start_char == 7


def test_words_without_a_text():
    sentence = Sentence(("Ada", "slept", "."))
    assert (list(sentence), str(sentence)) == (["Ada", "slept", "."], "Ada slept .")
    assert str(replace(sentence, offsets=((0, 3), (4, 9), (9, 10)))) == "Ada slept."
    assert str(replace(sentence, offsets=((0, 3), (4, 9), (9, 10)), raw="of another length")) == "Ada slept."
    assert str(Sentence(())) == ""


def test_a_document_lends_its_text_to_sentences():
    sentence = Sentence(("de", "le", "x"), {"ner": ("B-X", "I-X", "O")}, offsets=((10, 12), (10, 12), (13, 14)))
    document = Document((sentence, Sentence(("y",))), "du x y", offset=10)
    assert [str(s) for s in document] == ["du x", "y"]
    assert str(document) == "du x y"
    [entity] = document.entities()
    assert (entity.text, document.slice(entity.start_char, entity.end_char)) == ("du", "du")
    assert str(Document((Sentence(("a", "b")), Sentence(("c",))))) == "a b\nc"


def test_entities_of_a_document_have_probabilities_where_spans_do():
    tagged = Sentence(("Ada",), {"ner": ("B-PER",)})
    document = Document((tagged.with_entities((Span(0, 1, "PER", 0.9),)), tagged, Sentence(("x",))))
    assert [e.probability for e in document.entities()] == [0.9, None]


def test_a_string_is_no_list_of_words():
    for odd in ("Ada met", b"Ada", 3, {"Ada": 1}):
        with pytest.raises(DovetailError, match=r"give a list of strings.*dovetail\.segment"):
            Sentence(odd)
    with pytest.raises(DovetailError, match="layer 'ner'='OO'"):
        Sentence(("Ada", "met"), {"ner": "OO"})
    with pytest.raises(DovetailError, match="give a dictionary"):
        Sentence(("Ada",), [("O",)])


def test_lists_become_tuples():
    listed = Sentence(["Ada", "met"], {"ner": ["B-PER", "O"]})
    assert listed == Sentence(("Ada", "met"), {"ner": ("B-PER", "O")})
    assert hash(listed) == hash(Sentence(("Ada", "met"), {"ner": ("B-PER", "O")}))


@pytest.mark.parametrize("place", [(2, 1), (-1, 1), ("a", 1), (0, None)])
def test_spans_do_not_end_before_they_begin(place):
    with pytest.raises(DovetailError, match="the numbers of its first word"):
        Span(*place, "X")


def test_plain_tuples_are_spans_and_spans_of_characters_are_not():
    sentence = Sentence(("Ada", "met", "Bob"))
    assert sentence.with_entities(((0, 1, "PER"), [2, 3, "PER", 0.5])).spans == (
        Span(0, 1, "PER"),
        Span(2, 3, "PER", 0.5),
    )
    assert Sentence(("Ada",), spans=((0, 1, "PER"),)).spans[0].text == "Ada"
    for odd in (CharacterSpan(0, 1, "PER"), (0, 1), "PER", (0, 1, 2), None):
        with pytest.raises(DovetailError, match="give a span as Span"):
            sentence.with_entities((odd,))


def test_layers_are_known_by_name():
    for odd in (5, None):
        with pytest.raises(DovetailError, match="by its name, such as 'ner'"):
            Document((Sentence(("Ada",), spans=(Span(0, 1, "PER"),)),)).entities(odd)
        with pytest.raises(DovetailError, match="by its name"):
            Sentence(("Ada",)).entities(odd)


def test_places_and_slices():
    one, other = Sentence(("Ada", "met", "Bob")), Sentence(("So",))
    document = Document((one, other))
    assert (one[0], one[-1], one[1:]) == ("Ada", "Bob", ("met", "Bob"))
    assert (document[1], document[:1]) == (other, (one,))
    with pytest.raises(IndexError):
        document[2]


def test_nothing_in_a_sentence_changes():
    sentence = Sentence(("Ada",), {"ner": ("B-PER",)})
    layers = sentence.layers
    changes = [
        lambda: layers.__setitem__("ner", ("O", "O")), lambda: layers.__delitem__("ner"), lambda: layers.clear(),
        lambda: layers.pop("ner"), lambda: layers.popitem(), lambda: layers.setdefault("pos", ()),
        lambda: layers.update(pos=()), lambda: layers.__ior__({"pos": ()}),
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(TypeError, match="do not change"):
            change()
    assert sentence == Sentence(("Ada",), {"ner": ("B-PER",)})
    given = {"ner": ("B-PER",)}
    kept = Sentence(("Ada",), given)
    given["ner"] = ("O", "O")
    assert kept.layers == {"ner": ("B-PER",)}


def test_copies_are_as_good_as_the_sentence():
    sentence = Sentence(("Ada", "met"), {"ner": ("B-PER", "O")}, (Span(0, 1, "PER", 0.5),), offsets=((0, 3), (4, 7)))
    for copied in (copy.copy(sentence), copy.deepcopy(sentence), pickle.loads(pickle.dumps(sentence))):
        assert copied == sentence
        assert hash(copied) == hash(sentence)
        with pytest.raises(TypeError, match="do not change"):
            copied.layers["ner"] = ()
    assert json.loads(json.dumps(sentence.layers)) == {"ner": ["B-PER", "O"]}
