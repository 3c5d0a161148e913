from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.text.pairs import LABELS, SPELLINGS, Pair, read_pairs, write_pairs

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE entailment-corpus SYSTEM "rte.dtd">
<entailment-corpus>
<pair id="1" value="TRUE" task="IR">
  <t>Ada &amp; Bob wrote
     notes.</t>
  <h>Ada wrote.</h>
</pair>
<pair id="2" entailment="NO" length="short"><t>It rained.</t><h>It snowed.</h></pair>
<pair id="3"><t>It <b>rained</b>.</t><h>It was wet.</h></pair>
</entailment-corpus>
"""
PAIRS = [
    Pair("Ada & Bob wrote notes.", "Ada wrote.", "yes", "1", "IR"),
    Pair("It rained.", "It snowed.", "no", "2"),
    Pair("It rained.", "It was wet.", None, "3"),
]


def test_xml_of_the_challenges(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.xml.gz", "wt") as file:
        file.write(XML)
    assert list(read_pairs(tmp_path / "a.xml.gz")) == PAIRS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (XML.replace("<h>It snowed.</h>", ""), "a.xml:9: a pair without a hypothesis"),
        (XML.replace('"NO"', '"PERHAPS"'), "a.xml:9: label 'PERHAPS', expected yes or no"),
        (XML.replace("</entailment-corpus>", ""), "a.xml:12: not XML"),
        ("Ada wrote.", "a.xml:1: not XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x/>', "a.xml:1: the file declares the entity 'a'"),
    ],
)
def test_what_is_wrong_with_xml_and_where(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(InputError) as error:
        list(read_pairs(tmp_path / "a.xml"))
    assert message in str(error.value)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    judged = [*PAIRS, Pair("naïve", "日本", "yes", probability=0.75)]
    write_pairs(judged, tmp_path / "a.jsonl.gz")
    assert list(read_pairs(tmp_path / "a.jsonl.gz")) == judged


def test_every_spelling_of_a_label() -> None:
    for label in LABELS:
        for spelling in (*SPELLINGS[label], label == "yes", int(label == "yes"), label.upper()):
            line = json.dumps({"text": "a", "hypothesis": "b", "label": spelling})
            assert [pair.label for pair in read_pairs(io.StringIO(line), "jsonl")] == [label]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"}', "<stream>:1: a pair without a hypothesis; give it as a string"),
        ('{"text": 3, "hypothesis": "b"}', ":1: a pair without a text"),
        ('{"text": "a", "hypothesis": "b", "label": []}', ":1: label [], expected"),
        ('{"text": "a", "hypothesis": "b", "probability": 2}', ":1: probability 2, expected a number from 0 to 1"),
        ("[3]", "expected an object"),
        ("{", "not JSON"),
    ],
)
def test_what_is_wrong_with_json_and_where(line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        list(read_pairs(io.StringIO(line), "jsonl"))
    assert message in str(error.value)


def test_columns_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "id\tlabel\tText\thypothesis\tnote\n7\tyes\tIt rained.\tIt was wet.\t\n\n8\t\tA.\tB.\tx\n"
    )
    assert list(read_pairs(tmp_path / "a.tsv")) == [
        Pair("It rained.", "It was wet.", "yes", "7"), Pair("A.", "B.", None, "8")
    ]  # fmt: skip
    for text, message in (("a\tb\n", ":1: the first line is"), ("text\thypothesis\na\n", ":2: 1 columns, expected 2")):
        with pytest.raises(InputError, match=message):
            list(read_pairs(io.StringIO(text), "tsv"))


def test_odd_pairs_and_files(tmp_path: Path) -> None:
    for text, hypothesis in (("", "a"), ("a", "  "), (None, "a"), ("a", 3)):
        with pytest.raises(DovetailError, match="give a string that is not empty"):
            Pair(text, hypothesis)  # type: ignore[arg-type]
    with pytest.raises(DovetailError, match="choose yes or no"):
        Pair("a", "b", "maybe")
    with pytest.raises(DovetailError, match=r"a\.txt: pairs are read from files that end in \.xml"):
        list(read_pairs(tmp_path / "a.txt"))
    with pytest.raises(DovetailError, match="no format of pairs; choose one of xml, jsonl, tsv"):
        list(read_pairs(tmp_path / "a.txt", "conll"))
    with pytest.raises(InputError, match="no such file"):
        list(read_pairs(tmp_path / "a.xml"))
