"""``dovetail explain``: why this tag here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import say, warn_all
from dovetail.cli.corpus import Input, InputFormat
from dovetail.cli.domains import Domain, load_model
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.explain import Explanation
    from dovetail.models.parser import Parser
    from dovetail.models.tagger import Tagger
    from dovetail.text.sentence import Sentence


def explain(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT|FILE", help="As for annotate: text with a space, a file, or nothing for stdin."),
    ] = None,
    model: options.Model = None,
    token: Annotated[
        list[str] | None,
        typer.Option(
            "--token",
            "-t",
            metavar="N|WORD",
            help="The number of a token (from 1, through the whole input) or a word; may be given again.",
            show_default="the tokens of all entities",
        ),
    ] = None,
    span: Annotated[
        list[str] | None,
        typer.Option(
            "--span",
            metavar="START-END[:LABEL]",
            help="Of a parser, a constituent by its first and last word, from 1; may be given again.",
            show_default="the least probable one of each sentence",
        ),
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many features to show for and against.")] = 5,
    input_format: Annotated[
        InputFormat | None, typer.Option(help="Of the file.", show_default="told by the name, else text")
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    domain: Domain = None,
    as_json: options.AsJson = False,
) -> None:
    """Show why words have their tags, or why words are a constituent.

    For each word: its tag and the other tags with their probabilities, and the features that speak for and
    against the tag, each with what it adds to the score of the tag less what it adds to that of its rival,
    the most probable other tag. For each constituent: the best tree without it, and the features that tell
    the two trees apart.
    """
    source = Input(text, input_format)
    from dovetail.text.report import ReadReport

    tagger = load_model(model, domain)
    report = ReadReport()
    sentences = [s for document in source.documents(options.names(columns), encoding, report) for s in document]
    warn_all(report.lines())
    if getattr(tagger, "kind", "") == "parser":
        _explain_trees(tagger, sentences, span or [], token, top, as_json)
        return
    if span or not hasattr(tagger, "explain"):
        raise DovetailError(
            "--span is of parsers; this model " + ("explains tokens: see --token" if span else "cannot explain itself")
        )
    chosen = list(_chosen(tagger, sentences, token or []))
    explanations = [(number, tagger.explain(sentence, position)) for number, sentence, position in chosen]
    if as_json:
        print(json.dumps({"tokens": [_record(n, e, top) for n, e in explanations]}, ensure_ascii=False))
    elif explanations:
        print("\n\n".join(_paragraph(n, e, top) for n, e in explanations))
    else:
        say("no entity was found; name a word to see why it is none: --token WORD")


def _explain_trees(
    parser: Parser, sentences: Sequence[Sentence], spans: list[str], token: list[str] | None, top: int, as_json: bool
) -> None:
    from dovetail.cli import trees

    if token:
        raise DovetailError("a parser explains constituents: give --span START-END, not --token")
    if spans and len(sentences) != 1:
        raise DovetailError(f"--span is of one sentence, and the text has {len(sentences)}")
    found = [(sentence, why) for sentence in sentences for why in trees.explained(parser, sentence, spans)]
    if as_json:
        print(json.dumps({"constituents": [trees.record(s, why, top) for s, why in found]}, ensure_ascii=False))
    else:
        print("\n\n".join(trees.paragraph(s, why, top) for s, why in found))


def _chosen(tagger: Tagger, sentences: Sequence[Sentence], wanted: list[str]) -> Iterator[tuple[int, Sentence, int]]:
    """The tokens to explain: the number of each in the whole input, its sentence, and its position there."""
    places = [(sentence, position) for sentence in sentences for position in range(len(sentence))]
    if not wanted:
        tags = [tag for sentence_tags in tagger.predict(sentences) for tag in sentence_tags]
        yield from ((n, *place) for n, (place, tag) in enumerate(zip(places, tags, strict=True), 1) if tag != "O")
    for want in wanted:
        if want.isdecimal() and 1 <= int(want) <= len(places):
            yield int(want), *places[int(want) - 1]
            continue
        found = [(n, s, i) for n, (s, i) in enumerate(places, 1) if s.words[i] == want]
        if not found:
            raise DovetailError(f"no token {want!r}; the text has {len(places)} tokens, numbered from 1")
        yield from found


def _paragraph(number: int, explanation: Explanation, top: int) -> str:
    (_, probability), *others = sorted(explanation.alternatives, key=lambda pair: pair[0] != explanation.tag)
    listed = ", ".join(f"{tag} {p:.3f}" for tag, p in others[:4])
    lines = [f"{number}  {explanation.word}  {explanation.tag} {probability:.3f}"]
    lines += [f"   or       {listed}"] if listed else []
    for title, evidence in (("for", explanation.for_tag), ("against", explanation.against_tag)):
        for row, item in enumerate(evidence[:top]):
            lines.append(f"   {title if row == 0 else '':8} {item.margin:+6.2f}  {item.feature}")
    return "\n".join(lines)


def _record(number: int, explanation: Explanation, top: int) -> dict[str, Any]:
    def listed(evidence: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"feature": e.feature, "tag": e.weight, "rival": e.against} for e in evidence[:top]]

    return {
        "token": number,
        "word": explanation.word,
        "tag": explanation.tag,
        "rival": explanation.rival,
        "alternatives": [{"tag": tag, "probability": p} for tag, p in explanation.alternatives],
        "for": listed(explanation.for_tag),
        "against": listed(explanation.against_tag),
    }
