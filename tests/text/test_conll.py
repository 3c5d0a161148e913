from __future__ import annotations

import io
import textwrap
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.conll import default_columns, read_conll, write_conll
from dovetail.text.report import ReadReport, ReadWarning
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.tags import SCHEMES
from tests.text.helpers import CELLS, kilobytes_grown, tagged_sentences


def sentences(text: str, **options) -> list[Sentence]:
    return [sentence for document in read_conll(io.StringIO(text), **options) for sentence in document]


def written(items, **options) -> str:
    out = io.StringIO()
    write_conll(items, out, **options)
    return out.getvalue()


def test_columns_have_default_names():
    assert [default_columns(n)[-1] for n in (1, 2, 3, 7)] == ["word", "ner", "ner", "ner"]
    assert sentences("a NN B-NP B-X\n")[0].layers == {"pos": ("NN",), "chunk": ("B-NP",), "ner": ("B-X",)}
    assert sentences("a\nb\n")[0] == Sentence(("a", "b"))
    assert default_columns(5) == ("word", "c1", "c2", "c3", "ner")
    assert sentences("a NN x y B-X\n")[0].layers == {"c1": ("NN",), "c2": ("x",), "c3": ("y",), "ner": ("B-X",)}


def test_columns_can_be_named_in_any_order():
    (sentence,) = sentences("1 O Ada\n2 O B.\n", columns=("number", "ner", "word"))
    assert sentence.words == ("Ada", "B.")
    assert sentence.layers == {"number": ("1", "2"), "ner": ("O", "O")}
    with pytest.raises(ValueError, match="'word'"):
        sentences("a b\n", columns=("token", "ner"))


def test_blank_lines_of_all_kinds_part_sentences():
    text = "\n \na O\n\t\n\n  \t \nb O\r\n\r\nc O"
    assert [s.words for s in sentences(text)] == [("a",), ("b",), ("c",)]


def test_words_may_hold_spaces_where_tabs_part_columns():
    (sentence,) = sentences("New York\tB-LOC\n\u3000 x\tO\n")
    assert sentence.words == ("New York", "\u3000 x")


def test_spaces_part_columns_but_other_blanks_do_not():
    (sentence,) = sentences("a\u00a0b   O  \n  c\tO\n")
    assert sentence.words == ("a\u00a0b", "c")


def test_control_characters_and_line_separators_stay_in_words():
    word = "a\x00\x85\u2028\x1c\x0c"
    assert sentences(f"{word} O\n")[0].words == (word,)


def test_comments_are_told_from_words():
    (sentence,) = sentences("# text = x\n#\tO\n# b\tO\n")
    assert (sentence.comments, sentence.words) == (("# text = x",), ("#", "# b"))
    (sentence,) = sentences("# id of the sentence\n# O\na O\n")
    assert (sentence.comments, sentence.words) == (("# id of the sentence",), ("#", "a"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tO\nb\n", "<stream>:2: 1 column, expected 2: word, ner, separated by tabs"),
        ("a O\nb O\n\nc x O\n", "<stream>:4: 3 columns, expected 2: word, ner, separated by spaces"),
        ("a\tO\n\tO\n", "<stream>:2: the column 'word' is empty"),
        ("a\tNN\tO\nb\t\tO\n", "<stream>:2: the column 'pos' is empty"),
    ],
)
def test_bad_rows_name_their_line(text, message):
    with pytest.raises(InputError) as caught:
        sentences(text)
    assert str(caught.value).startswith(message)


def test_too_few_names_for_the_columns():
    with pytest.raises(InputError, match="4 columns, expected 2"):
        sentences("a NN B-NP O\n", columns=("word", "ner"))


def test_nothing_gives_nothing():
    assert sentences("") == []
    assert sentences("\n\n") == []
    assert list(read_conll(io.StringIO(""))) == []


def test_documents_begin_at_their_marks():
    text = "-DOCSTART- -X- O\n\na NN O\n\nb NN O\n\n-DOCSTART- -X- O\n\nc NN O\n\n"
    documents = list(read_conll(io.StringIO(text)))
    assert [[s.words for s in d] for d in documents] == [[("a",), ("b",)], [("c",)]]
    assert written(documents, separator=" ") == text
    assert written(documents) == text.replace(" ", "\t")


def test_a_mark_may_have_its_own_columns():
    (document,) = read_conll(io.StringIO("-DOCSTART-\na NN O\n"))
    assert written([document]) == "-DOCSTART-\t-X-\tO\n\na\tNN\tO\n\n"


def test_documents_without_sentences_are_reported():
    report = ReadReport()
    text = "-DOCSTART- O\n\n-DOCSTART- O\n\na O\n\n-DOCSTART- O\n"
    documents = list(read_conll(io.StringIO(text), report=report))
    assert len(documents) == 1
    assert report.counts == {"document without a sentence": 2}


def test_long_documents_come_in_pieces():
    text = "a O\n\n" * 2500
    documents = list(read_conll(io.StringIO(text)))
    assert [len(d) for d in documents] == [1000, 1000, 500]
    assert [d.continues for d in documents] == [False, True, True]
    assert written(documents, separator=" ") == text


IOB1 = "a I-X\nb B-X\nc O\n\nd I-Y\n"


@pytest.mark.parametrize("scheme", ["auto", "iob1"])
def test_iob1_becomes_iob2(scheme):
    report = ReadReport()
    read = sentences(IOB1, scheme=scheme, report=report)
    assert [s.layers["ner"] for s in read] == [("B-X", "B-X", "O"), ("B-Y",)]
    assert not report


def test_without_a_scheme_tags_are_left_alone():
    assert sentences(IOB1, scheme=None)[0].layers["ner"] == ("I-X", "B-X", "O")


def test_illegal_tags_are_repaired_and_counted():
    text = "a B-X\nb O\nc I-X\n\nd B-X\n\ne O\nf I-Y\n"
    with pytest.warns(ReadWarning, match=r"2 times: illegal iob2 .* 'ner'.*\(first at <stream>:3\)"):
        read = sentences(text)
    assert [s.layers["ner"] for s in read] == [("B-X", "O", "B-X"), ("B-X",), ("O", "B-Y")]


def test_an_unfinished_iobes_chunk_is_counted():
    report = ReadReport()
    (sentence,) = sentences("a B-X\nb O\nc S-X\n", report=report)
    assert sentence.entities() == (Span(0, 1, "X"), Span(2, 3, "X"))
    assert list(report.counts.values()) == [1]


def test_a_plain_tag_among_chunks_is_an_error_after_the_evidence():
    text = "a\tB-X\n\n" * 1000 + "b\tO\nc\tNN\n"
    with pytest.raises(InputError, match=r"<stream>:2002: 'NN' is not a tag of the scheme iob2"):
        sentences(text)


def test_parts_of_speech_are_no_chunks():
    text = "I\tI\tO\n"
    assert sentences(text)[0].layers == {"pos": ("I",), "ner": ("O",)}


@given(st.lists(tagged_sentences(), min_size=1, max_size=4), st.sampled_from(SCHEMES))
def test_what_is_written_is_read_again(items, scheme):
    text = written(items, scheme=scheme)
    read = [s for d in read_conll(io.StringIO(text), scheme=scheme, report=ReadReport()) for s in d]
    assert [s.words for s in read] == [s.words for s in items]
    assert [s.layers["ner"] for s in read] == [s.layers["ner"] for s in items]


COMMENTS = st.lists(CELLS.map("# {}".format), max_size=3)


@settings(max_examples=30)
@given(st.lists(st.tuples(tagged_sentences(layers=("pos", "mood", "case", "x")), COMMENTS), min_size=1, max_size=4))
def test_files_of_tabs_keep_all_layers_and_comments(items):
    originals = [replace(sentence, comments=tuple(comments)) for sentence, comments in items]
    columns = ("word", "pos", "mood", "case", "x", "ner")
    read = sentences(written(originals, columns=columns), columns=columns, scheme=None)
    assert read == originals
    by_spaces = written([Sentence(("a",), {"pos": ("NN",)}, comments=("# told",))], separator=" ")
    assert by_spaces == "a NN\n\n"  # where a comment could pass for a word


@pytest.mark.parametrize(("separator", "what"), [("\t", "tab"), (" ", "space")])
def test_what_cannot_be_in_a_cell_is_named(separator, what):
    with pytest.raises(DovetailError, match=f"sentence 1 has a line end, a {what} or -DOCSTART- in a word or value"):
        written([Sentence((f"a{separator}b",), {"ner": ("O",)})], separator=separator)


@pytest.mark.parametrize(
    ("sentence", "options"),
    [
        (Sentence(("a b",), {"ner": ("O",)}), {"separator": " "}),
        (Sentence(("a\tb",), {"ner": ("O",)}), {}),
        (Sentence(("a\nb",), {"ner": ("O",)}), {}),
        (Sentence(("",), {"ner": ("O",)}), {}),
        (Sentence(("a",), {"ner": ("",)}), {}),
        (Sentence(("a b",)), {}),
        (Sentence(("-DOCSTART-",), {"ner": ("O",)}), {}),
        (Sentence(("a\r",)), {}),
    ],
)
def test_what_could_not_be_read_again_is_not_written(sentence, options):
    with pytest.raises(DovetailError, match="sentence 1 has"):
        written([sentence], **options)


def test_layers_that_only_some_sentences_have():
    first, second = Sentence(("a",), {"ner": ("O",)}), Sentence(("b",), {"pos": ("NN",)})
    with pytest.raises(DovetailError, match="sentence 2 has layers that the first lacks: pos"):
        written([first, second])
    assert written([first, second], columns=("word", "pos", "ner")) == "a\t_\tO\n\nb\tNN\tO\n\n"


def test_nested_spans_are_written_by_their_outermost():
    sentence = Sentence(("a", "b"), spans=(Span(1, 2, "Y"), Span(0, 2, "X")))
    assert written([sentence]) == "a\tB-X\nb\tI-X\n\n"


def test_documents_with_ids_are_marked_and_others_are_not():
    sentence = Sentence(("a",), {"ner": ("O",)})
    assert written([Document((sentence,))]) == "a\tO\n\n"
    assert written([Document((sentence,), id="d1")]) == "-DOCSTART-\tO\n\na\tO\n\n"


def test_giant_sentences_and_words():
    text = "".join(f"w{i} O\n" for i in range(20_000)) + "\n" + "x" * 10_000 + " O\n"
    assert [len(s) for s in sentences(text)] == [20_000, 1]


def test_a_file_without_blank_lines_is_refused(monkeypatch):
    monkeypatch.setattr("dovetail.text.conll.MAX_WORDS", 100)
    with pytest.raises(InputError, match="no blank line for 100 lines"):
        sentences("a O\n" * 101)


def test_a_large_stream_is_read_in_bounded_memory():
    setup = textwrap.dedent("""
        from dovetail.text.conll import read_conll
        class Endless:
            name, left = "endless", 3_000_000  # characters
            def read(self, size):
                self.left -= size
                two = "word%d NN B-NP O\\nAda NNP B-NP B-PER\\n\\n" % (self.left % 977)
                return two * (size // len(two)) if self.left > 0 else ""
        list(zip(range(3), read_conll(Endless())))
    """)
    count, grown = kilobytes_grown(setup, "sum(len(d) for d in read_conll(Endless()))")
    assert count > 70_000
    assert grown < 8_000


def test_words_that_look_like_tags_are_left_alone():
    sentence = Sentence(("B-52",), {"ner": ("B-X",)})
    assert written([sentence], scheme="iobes") == "B-52\tS-X\n\n"
    report = ReadReport()
    assert sentences("I-95\tI-X\n", report=report)[0].words == ("I-95",)


@pytest.mark.parametrize("mark", [" -DOCSTART- O", "\t-DOCSTART- O", " -DOCSTART-\tO"])
def test_a_mark_after_white_space_begins_a_document(mark):
    first, second = read_conll(io.StringIO(f"{mark}\n\nAda B-PER\n\n{mark}\n\nleft O\n"))
    assert (first.sentences[0].words, second.sentences[0].words) == (("Ada",), ("left",))
    assert first.sentences[0].comments[0].startswith("-DOCSTART-")


def test_a_tag_without_a_type_among_those_with_types():
    with pytest.raises(InputError, match="<stream>:4: 'B' in the layer 'ner': 'B' has no type, but 'B-PER' has one"):
        list(read_conll(io.StringIO("Ada B-PER\nleft O\n\nBern B\n")))
    with pytest.raises(InputError, match="<stream>:2: 'I-PER' in the layer 'ner': 'B' has no type"):
        list(read_conll(io.StringIO("Ada B\nLovelace I-PER\n")))
    (document,) = read_conll(io.StringIO("Ada B\nLovelace I\nleft O\n"))
    assert document.sentences[0].layers["ner"] == ("B", "I", "O")
