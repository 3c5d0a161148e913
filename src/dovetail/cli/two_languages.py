"""``dovetail project`` and ``annotate-pair``: what a tagger knows, across a translation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli.console import count, say, warn_all
from dovetail.cli.kinds import load_model
from dovetail.cli.options import REQUIRED, argument, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import reporting
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.pair.agreement import Tagged
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.bitext import Pair
    from dovetail.text.links import Link
    from dovetail.text.sentence import Sentence

How = StrEnum("How", "soft hard tags")
Agreement = StrEnum(
    "Agreement", [("soft_align", "soft-align"), ("soft_label", "soft-label"), ("hard", "hard"), ("joint", "joint")]
)
Engine = StrEnum("Engine", "dual bp gibbs ilp")
SOURCE_MODEL = option("FILE", "The tagger of the source.", Reads(english=True), shown=options.ENGLISH)
LINKED = "Links between the words of each pair, such as 0-1 or 0-1:0.93; a line a pair."
LINKS = option("FILE", LINKED, Reads(), default=REQUIRED)
TYPES = option("OLD=NEW", "What a type of the source's tagger is in the target; OLD=O for nothing. May be repeated.")
TEXT = "words separated by spaces, a sentence a line (may be .gz)"


def project(
    source: Path = option("FILE", f"The text that the tagger knows: {TEXT}.", Reads(), default=REQUIRED),
    target: Path = option("FILE", "Its translation, line by line.", Reads(), default=REQUIRED),
    links: Path = LINKS,
    output: Path = options.output("FILE", "Write expectations to this file (may be .gz); or tags.", Writes()),
    source_model: Path | None = SOURCE_MODEL,
    how: How = option(
        None,
        "soft: the tagger's probabilities; hard: its best tags, as expectations; tags: the same as CoNLL, to train on.",
        default=How.soft,
    ),
    confusion: Path | None = option(
        "FILE", "Annotated text that the tagger was not trained on, to count its errors in.", Reads()
    ),
    unlinked: float | None = option("X", "What the expectation that a word without a link is O counts.", min=0),
    nameless: float = option(
        "X", "Of sentences without a name, keep so many for each that has one; inf for all.", default=0.3, min=0
    ),
    types: list[str] | None = TYPES,
    encoding: str = options.ENCODING,
    quiet: bool = options.QUIET,
) -> None:
    """Carry what a tagger knows over to a translation.

    dovetail project --source en.txt --target de.txt --links en-de.links -o expected.jsonl

    dovetail train tagger --expectations expected.jsonl -o german.dovetail
    """
    with reporting(quiet) as work:
        from dovetail.models.pair import projection
        from dovetail.text.expectations import write_expectations
        from dovetail.text.formats import write
        from dovetail.text.report import ReadReport

        tagger, report = tagger_of(source_model, "--source-model"), ReadReport()
        told: dict[str, Any] = {"types": type_map(types), "nameless": nameless if isfinite(nameless) else None}
        pairs = Counted(read_pairs(source, target, encoding, report))
        work.doing("tagging the source")
        if how == How.tags:
            if confusion is not None or unlinked is not None:
                raise DovetailError("--confusion and --unlinked are for expectations, and tags have none")
            kept = Counted(projection.projected_tags(tagger, pairs, Links(links), **told))
            write(kept, output, "conll")
        else:
            told["how"] = str(how)
            if confusion is not None:
                told["confusion"] = projection.confusion_of(tagger, annotated(confusion, encoding))
            if unlinked is not None:
                told["unlinked"] = unlinked
            kept = Counted(projection.project(tagger, pairs, Links(links), **told))
            write_expectations(kept, output)
    warn_all(report.lines())
    rest = (
        f"; {count(pairs.number - kept.number, 'other')}, without names, left out" if kept.number < pairs.number else ""
    )
    print(f"{output}: {count(kept.number, 'sentence')}, {kept.words:,} words{rest}")


def annotate_pair(
    source: Path = argument("SOURCE", f"A text: {TEXT}.", Reads(), REQUIRED),
    target: Path = argument("TARGET", "Its translation, line by line.", Reads(), REQUIRED),
    source_model: Path | None = SOURCE_MODEL,
    target_model: Path = option("FILE", "The tagger of the target.", Reads(), default=REQUIRED),
    links: Path | None = option("FILE", f"{LINKED} Or give --aligner.", Reads()),
    aligner: Path | None = option(
        "FILE", "A trained aligner that finds links, source to target; in the graph of --agreement joint.", Reads()
    ),
    agreement: Agreement = option(
        None,
        "soft-align: as far as links are probable; soft-label: over all likely links; hard: equal types over these; "
        "joint: decide on links, too.",
        default=Agreement.soft_align,
    ),
    engine: Engine = option(None, "Engine that finds the best tags of both.", default=Engine.dual),
    strength: float | None = option("X", "How much agreement counts.", shown="0.5", min=0),
    table: Path | None = option("FILE", "How types go together, counted before.", Reads(), shown="counted in the text"),
    save_table: Path | None = option("FILE", "Save how types go together, for --table.", Writes()),
    types: list[str] | None = TYPES,
    output: Path | None = options.output(
        "FILE", "Write pairs as JSON lines to this file (may be .gz).", Writes(), None, shown="standard output"
    ),
    source_output: Path | None = option("FILE", "Write the source with its tags, as CoNLL.", Writes()),
    target_output: Path | None = option("FILE", "Write the target with its tags, as CoNLL.", Writes()),
    links_output: Path | None = option("FILE", "Write the links that --agreement joint has found.", Writes()),
    changes_output: Path | None = option(
        "FILE", "Write the words that agreement has changed, with their links, as text.", Writes()
    ),
    documents: Path | None = option(
        "FILE", "What document each pair is in: a name a line. Names in it agree with themselves.", Reads()
    ),
    teach: Path | None = option(
        "FILE", "Write what the target's tagger may learn from it, for train tagger --expectations.", Writes()
    ),
    encoding: str = options.ENCODING,
    quiet: bool = options.QUIET,
) -> None:
    """Annotate a text and its translation together.

    dovetail annotate-pair --target-model german.dovetail --links en-de.links en.txt de.txt
    """
    with reporting(quiet) as work:
        from dovetail.models.aligner.aligner import Aligner
        from dovetail.models.pair.agreement import PairTagger
        from dovetail.models.pair.table import TypeTable
        from dovetail.text.report import ReadReport

        report = ReadReport()
        told: dict[str, Any] = {} if strength is None else {"strength": strength}
        if links is None and aligner is None:
            raise DovetailError("words are linked by --links FILE, or by an aligner, --aligner FILE: give one")
        linked = None if links is None else Links(links)
        both = PairTagger(
            source=tagger_of(source_model, "--source-model"), target=tagger_of(target_model, "--target-model"),
            agreement=str(agreement), engine=str(engine), types=type_map(types),
            aligner=None if aligner is None else Aligner.load(aligner), **told,
        )  # fmt: skip
        if table is not None:
            both.with_table(TypeTable.load(table))
        elif agreement != Agreement.hard or save_table is not None:
            work.doing("counting how types go together")
            both.count(read_pairs(source, target, encoding, None), linked)
        if save_table is not None and both.table_ is not None:
            both.table_.save(save_table)
        pairs = read_pairs(source, target, encoding, report)
        work.doing("tagging both")
        told_documents = None if documents is None else lines_of(documents, encoding)
        seen = Summary(both.annotate(pairs, linked, told_documents))
        if links_output is not None and agreement != Agreement.joint:
            raise DovetailError("--links-output is for --agreement joint; others leave links as they are")
        drawn = None if changes_output is None else Changes(seen, changes_output)
        write_tagged(drawn or seen, output, source_output, target_output, links_output)
        if teach is not None:
            from dovetail.text.expectations import write_expectations

            work.doing("writing what there is to learn")
            again = both.teach(read_pairs(source, target, encoding, None), linked)
            write_expectations((target for _, target in again), teach)
    warn_all(report.lines())
    told_to = print if output is not None or source_output is not None or target_output is not None else say
    told_to(seen.told(str(engine)))


class Changes:
    """A stream of pairs; the words that have changed are written as it goes by, under the number of their pair."""

    def __init__(self, stream: Iterable[Tagged], path: Path) -> None:
        self.stream, self.path = stream, path

    def __iter__(self) -> Iterator[Tagged]:
        from dovetail.models.pair.picture import changes_drawn
        from dovetail.text.files import open_target

        with open_target(self.path) as file:
            for number, one in enumerate(self.stream, 1):
                if one.changed:
                    file.write(f"pair {number}\n{changes_drawn(one, one.links)}\n")
                yield one


class Summary:
    """A stream of pairs, counted as it goes by."""

    def __init__(self, stream: Iterable[Tagged]) -> None:
        self.stream, self.pairs, self.certain, self.changed = stream, 0, 0, 0

    def __iter__(self) -> Iterator[Tagged]:
        for one in self.stream:
            self.pairs += 1
            self.certain += one.certain
            self.changed += len(one.changed)
            yield one

    def told(self, engine: str) -> str:
        """In words."""
        share = 100.0 * self.certain / max(self.pairs, 1)
        proof = "" if engine == "gibbs" else f", {share:.1f}% of them proved to be the best"
        return f"{count(self.pairs, 'pair')}{proof}; {count(self.changed, 'word')} changed by the other language"


def write_tagged(
    pairs: Iterable[Tagged],
    output: Path | None,
    source_output: Path | None,
    target_output: Path | None,
    links_output: Path | None,
) -> None:
    """Write pairs as JSON lines, unless each side goes to a file of its own."""
    from contextlib import ExitStack

    from dovetail.text.files import open_target
    from dovetail.text.links import links_line

    with ExitStack() as stack:
        sides = [
            (side, stack.enter_context(open_target(path)))
            for side, path in ((0, source_output), (1, target_output))
            if path is not None
        ]
        linked = None if links_output is None else stack.enter_context(open_target(links_output))
        whole = stack.enter_context(open_target(output or "-")) if output is not None or not sides else None
        for one in pairs:
            for side, file in sides:
                sentence = one.target if side else one.source
                tags = next(iter(sentence.layers.values()), ())
                file.write("".join(f"{w}\t{t}\n" for w, t in zip(sentence.words, tags, strict=True)) + "\n")
            if linked is not None:
                linked.write(links_line(one.links, True) + "\n")
            if whole is not None:
                told = {"source": fields(one.source), "target": fields(one.target), "certain": one.certain}
                whole.write(json.dumps(told | {"changed": one.changed}, ensure_ascii=False) + "\n")


def fields(sentence: Sentence) -> dict[str, Any]:
    """A sentence as a JSON object: its words, and its entities with their probabilities, or its tags."""
    if not sentence.spans:
        return {"words": sentence.words, **{k: v for k, v in sentence.layers.items() if set(v) - {"O"}}}
    spans = [[s.start, s.end, s.label, round(s.probability or 0.0, 4)] for s in sentence.spans]
    return {"words": sentence.words, "entities": spans}


def tagger_of(path: Path | None, option: str) -> Tagger:
    """The tagger of a file; without one, the English model."""
    from dovetail.models.tagger.estimator import Tagger

    found = load_model(path, None)
    if not isinstance(found, Tagger):
        raise DovetailError(f"{option} {path}: this is a {type(found).__name__}, and a tagger is wanted")
    return found


def type_map(given: Sequence[str] | None) -> dict[str, str]:
    """Types by their names in the source's tagger.

    >>> type_map(["MISC=O", "GPE=LOC"])
    {'MISC': 'O', 'GPE': 'LOC'}
    """
    found = {}
    for one in given or ():
        old, equals, new = one.partition("=")
        if not old or not equals:
            raise DovetailError(f"--types {one}: give two names, such as GPE=LOC, or MISC=O")
        found[old] = new or "O"
    return found


def read_pairs(source: Path, target: Path, encoding: str, report: Any) -> Iterator[Pair]:
    """The pairs of two files."""
    from dovetail.text.bitext import read_bitext

    return read_bitext(source, target, encoding=encoding, report=report)


class Links:
    """The links of a file, which messages name."""

    def __init__(self, path: Path) -> None:
        self.name = path

    def __iter__(self) -> Iterator[list[Link]]:
        from dovetail.text.links import read_links

        return read_links(self.name)


def annotated(path: Path, encoding: str) -> list[Sentence]:
    """The sentences of an annotated text."""
    from dovetail.text.formats import read

    return [sentence for document in read(path, encoding=encoding) for sentence in document]


def lines_of(path: Path, encoding: str) -> Iterator[str | None]:
    """The lines of a file, None for empty ones."""
    from dovetail.text.files import open_text

    with open_text(path, encoding=encoding) as reader:
        yield from (line.strip() or None for line in reader)


class Counted:
    """A stream of sentences or pairs, whose number is counted as they go by, and of sentences the words."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items, self.number, self.words = items, 0, 0

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            self.number += 1
            self.words += len(item)
            yield item
