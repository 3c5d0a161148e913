"""``dovetail explain``: why this tag here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options, roles, trees
from dovetail.cli.console import say, warn_all
from dovetail.cli.corpus import Input
from dovetail.cli.formats import InputFormat
from dovetail.cli.kinds import load_model, name_of
from dovetail.cli.language import in_its_language
from dovetail.cli.options import argument, option
from dovetail.cli.pairs import explain_pairs, pairs_of
from dovetail.cli.paths import Reads
from dovetail.errors import DovetailError
from dovetail.models.records import argument_record, constituent_record, token_record

if TYPE_CHECKING:
    from dovetail.models.parser.estimator import Parser
    from dovetail.models.roles.estimator import RoleLabeller
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.models.tagger.explain import Explanation
    from dovetail.text.sentence import Sentence


def explain(
    text: str | None = argument(
        "FILE|TEXT", "A file, text in quotes, or nothing for standard input.", Reads(stdin=True)
    ),
    model: Path | None = options.MODEL,
    token: list[str] | None = option(
        "N|WORD",
        "A word, or the number of a token in the input, counted from 1; for roles, a predicate; may be repeated.",
        short="-t",
        shown="the tokens of all entities",
    ),
    span: list[str] | None = option(
        "START-END[:LABEL]",
        "For parsers and roles: a constituent or an entity, by its first and last word; may be repeated.",
        shown="the least probable of each sentence",
    ),
    top: int = option("N", "Number of features to show for and against.", default=5, min=1),
    input_format: InputFormat | None = options.ANY_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    domain: str | None = options.DOMAIN,
    as_json: bool = options.AS_JSON,
) -> None:
    """Show the features behind a tag or a constituent.

    For each word: its tag, the other tags with their probabilities, and the features for and against the tag,
    each with its weight for the tag minus its weight for the rival, the second most probable tag. For each
    constituent: the best tree without it, and the features on which the two trees differ.
    """
    source = Input(text, input_format)
    from dovetail.text.report import ReadReport

    report = ReadReport()
    documents = None
    if model is None:
        model, documents = in_its_language(source.documents(options.names(columns), encoding, report))
    tagger = load_model(model, domain)
    if name_of(tagger) == "entailment":
        explain_pairs(tagger, pairs_of(source, encoding), top, as_json)
        return
    documents = documents or source.documents(options.names(columns), encoding, report)
    sentences = [s for document in documents for s in document]
    warn_all(report.lines())
    if name_of(tagger) in ("parser", "joint"):
        _explain_trees(tagger, sentences, span or [], token, top, as_json)
        return
    if name_of(tagger) == "roles":
        _explain_roles(tagger, sentences, span or [], token or [], top, as_json)
        return
    if span:
        raise DovetailError("--span is for parsers; this model explains words: see --token")
    if not hasattr(tagger, "explain"):
        raise DovetailError("this kind of model cannot be explained")
    chosen = list(_chosen(tagger, sentences, token or []))
    explanations = [
        (number, tagger.explain(sentence, position, **_context(tagger, sentence, sentences)))
        for number, sentence, position in chosen
    ]
    if as_json:
        print(
            json.dumps({"tokens": [{"token": n} | token_record(e, top) for n, e in explanations]}, ensure_ascii=False)
        )
    elif explanations:
        print("\n\n".join(_paragraph(n, e, top) for n, e in explanations))
    else:
        say("no entities found; use --token WORD to explain any word")


def _context(tagger: Any, sentence: Sentence, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """The document of a sentence, for taggers whose documents agree with themselves."""
    if sentence.document is None or name_of(tagger) != "tagger":
        return {}
    return {"document": [other for other in sentences if other.document == sentence.document]}


def _explain_trees(
    parser: Parser, sentences: Sequence[Sentence], spans: list[str], token: list[str] | None, top: int, as_json: bool
) -> None:
    if token:
        raise DovetailError("--token is for taggers; this is a parser: use --span START-END")
    if spans and len(sentences) != 1:
        raise DovetailError(f"--span needs a single sentence, and the text has {len(sentences)}")
    found = [(sentence, why) for sentence in sentences for why in trees.explained(parser, sentence, spans)]
    if as_json:
        print(json.dumps({"constituents": [constituent_record(s, why, top) for s, why in found]}, ensure_ascii=False))
    else:
        print("\n\n".join(trees.paragraph(s, why, top) for s, why in found))


def _explain_roles(
    labeller: RoleLabeller, sentences: Sequence[Sentence], spans: list[str], token: list[str], top: int, as_json: bool
) -> None:
    if spans and len(sentences) != 1:
        raise DovetailError(f"--span needs a single sentence, and the text has {len(sentences)}")
    found = list(roles.explained(labeller, sentences, token, spans))
    if as_json:
        print(json.dumps({"arguments": [argument_record(s, why, top) for s, why in found]}, ensure_ascii=False))
    elif found:
        print("\n\n".join(roles.paragraph(s, why, top) for s, why in found))
    else:
        say("no arguments found; use --token and --span to explain any constituent")


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
    return "\n".join([*lines, *trees.evidence_lines(explanation.for_tag[:top], explanation.against_tag[:top])])
