"""What ``dovetail evaluate --html`` writes: scores, errors by kind, the worst sentences, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from dovetail.evaluate.html import confusion_html, reliability_html, scores_html
from dovetail.evaluate.mistakes import KINDS, NOTHING, Entity, Mistake, Mistakes
from dovetail.text.html import sentence_html
from dovetail.text.page import page, table, tiles
from dovetail.text.sentence import Sentence, Span

if TYPE_CHECKING:
    from dovetail.evaluate.calibration import CalibrationReport
    from dovetail.evaluate.counts import LabelledScores
    from dovetail.evaluate.significance import ScoreInterval

WORST = 25
"""So many sentences are shown."""
MOST_LABELS = 15
SHOWN = {
    "missed": "Missed", "invented": "Invented", "label": "Wrong label", "boundary": "Wrong boundary",
    "both": "Wrong label and boundary",
}  # fmt: skip


@dataclass(frozen=True)
class Evaluated:
    """Sentences with right answers, the same with those of a model, and what was found out about them.

    >>> from dovetail.evaluate import token_scores
    >>> sentence = Sentence(("a",), {"pos": ("DT",)})
    >>> page = Evaluated([sentence], [sentence], "pos", token_scores([["DT"]], [["DT"]])).page("dev")
    >>> page.startswith("<!doctype html>")
    True
    """

    gold: Sequence[Sentence]
    found: Sequence[Sentence]
    layer: str
    scores: LabelledScores
    interval: ScoreInterval | None = None
    calibration: CalibrationReport | None = None

    def page(self, title: str) -> str:
        """The whole page."""
        entities = self.interval is not None
        return page(title, self._entities() if entities else self._labels())

    def _entities(self) -> Iterator[str]:
        right, own = ([_entities(s, self.layer) for s in side] for side in (self.gold, self.found))
        seen = Mistakes.of(right, own)
        yield from self._top()
        yield f"<h2>By label</h2>\n{scores_html(self.scores)}"
        yield f"<h2>Errors by kind</h2>\n{_kinds(seen, self.gold)}"
        yield f"<h2>What would help</h2>\n{_advice(seen, self.calibration)}"
        labels = [*seen.labels[:MOST_LABELS], NOTHING]
        yield f"<h2>What is taken for what</h2>\n{confusion_html(seen.confusion, labels)}"
        yield "<h2>Calibration</h2>"
        if self.calibration is None:
            yield '<p class="soft">The answers have no probabilities.</p>'
        else:
            yield "<p>Of the answers with probability 0.8, 80 in 100 should be right: points on the diagonal.</p>"
            yield reliability_html(self.calibration)
        yield f"<h2>The worst sentences</h2>\n{_worst(seen, self.gold, self.found, right)}"

    def _labels(self) -> Iterator[str]:
        """Of plain labels, word by word."""
        confusion: Counter[tuple[str, str]] = Counter()
        wrong: list[tuple[int, int]] = []
        for number, (one, other) in enumerate(zip(self.gold, self.found, strict=True)):
            pairs = list(zip(one.layers.get(self.layer, ()), other.layers.get(self.layer, ()), strict=True))
            confusion.update(pairs)
            wrong.append((sum(a != b for a, b in pairs), number))
        yield from self._top()
        yield f"<h2>By label</h2>\n{scores_html(self.scores)}"
        errors = [(pair, n) for pair, n in confusion.most_common() if pair[0] != pair[1]][:20]
        rows = [["right", "found", "times"], *([escape(a), escape(b), f"{n:,}"] for (a, b), n in errors)]
        yield f"<h2>The most frequent errors</h2>\n{table(rows, 'errors') if errors else '<p>There are none.</p>'}"
        often = Counter(label for (a, b), n in confusion.items() for label in (a,) * n if a != b)
        labels = [label for label, _ in often.most_common(MOST_LABELS)]
        if labels:
            yield f"<h2>What is taken for what</h2>\n{confusion_html(confusion, labels)}"
        yield "<h2>The worst sentences</h2>"
        for count, number in sorted(wrong, key=lambda one: (-one[0], one[1]))[:WORST]:
            if count:
                yield _labelled(number, self.gold[number], self.found[number], self.layer)

    def _top(self) -> Iterator[str]:
        scores, interval = self.scores, self.interval
        numbers = [
            (f"{scores.f1:.1f}", "F1"),
            (f"{scores.precision:.1f}", "precision"),
            (f"{scores.recall:.1f}", "recall"),
        ]
        if interval is None:
            numbers = [(f"{scores.accuracy or 0.0:.2f}%", "words right")]
        numbers.append((f"{scores.sentences:,}", "sentences"))
        if scores.tokens is not None:
            numbers.append((f"{scores.tokens:,}", "words"))
        if interval is not None:
            numbers.append((f"{scores.gold:,}", "entities"))
            low, high = interval.low, interval.high
            yield f'<p class="soft">95% of bootstrap samples have an F1 from {low:.1f} to {high:.1f}.</p>'
        yield tiles(numbers)


def _entities(sentence: Sentence, layer: str) -> list[Entity]:
    spans = (sentence.spans if layer == "ner" else ()) or sentence.entities(layer)
    return [(s.start, s.end, s.label) for s in spans]


def _kinds(seen: Mistakes, gold: Sequence[Sentence]) -> str:
    """How many, and some of each."""
    kinds = seen.kinds
    rows = [["kind", "times", "share", "F1 without them"]]
    every = sum(kinds.values())
    for kind, number in kinds.most_common():
        rows.append([SHOWN[kind], f"{number:,}", f"{100 * number / every:.0f}%", f"{seen.mended(kind).f1:.1f}"])
    parts = [table(rows, "errors by kind")] if every else ["<p>There are none.</p>"]
    for kind, _ in kinds.most_common():
        listed = Counter(
            _told(one, gold[i], words=True)
            for i, sentence in enumerate(seen.sentences)
            for one in sentence
            if one.kind == kind
        )
        items = "".join(f"<li>{told}{f' ({n} times)' if n > 1 else ''}</li>" for told, n in listed.most_common(12))
        parts.append(f"<details><summary>{SHOWN[kind]}: {KINDS[kind]}</summary><ul>{items}</ul></details>")
    return "\n".join(parts)


def _told(one: Mistake, sentence: Sentence, words: bool = False) -> str:
    """A mistake in words."""

    def named(entity: Entity | None) -> str:
        if entity is None:
            return ""
        [span] = sentence.located([Span(*entity)])
        return f"<b>{escape(span.text)}</b> {escape(entity[2])}"

    if one.gold is None or one.found is None:
        return (
            f"{SHOWN[one.kind].lower()}: {named(one.gold or one.found)}" if not words else named(one.gold or one.found)
        )
    return f"{named(one.gold)}, found as {named(one.found)}"


def _advice(seen: Mistakes, calibration: CalibrationReport | None) -> str:
    """What the errors say, with numbers: nothing that was not counted."""
    total, kinds = seen.total, seen.kinds
    told = []
    if total.gold < 100:
        told.append(
            f"There are only {total.gold:,} entities here: scores of so few vary a lot. Label more to evaluate on."
        )
    if kinds["missed"] > 1.5 * kinds["invented"] and kinds["missed"] > 5:
        told.append(
            f"{kinds['missed']:,} entities are missed and {kinds['invented']:,} invented: more labelled "
            "text, word clusters from raw text (<code>--unlabelled</code>), lists of names (<code>--lexicon</code>), "
            "or dev data that balances the two."
        )
    elif kinds["invented"] > 1.5 * kinds["missed"] and kinds["invented"] > 5:
        told.append(
            f"{kinds['invented']:,} entities are invented and {kinds['missed']:,} missed: see whether they "
            "lack a label in the data; a <code>--threshold</code> leaves out improbable ones."
        )
    if (bounds := kinds["boundary"]) > 5 and bounds >= 0.2 * sum(kinds.values()):
        told.append(
            f"{bounds:,} have the wrong boundary. Right boundaries would bring F1 from {total.f1:.1f} to "
            f"{seen.mended('boundary').f1:.1f}: see in the list above whether titles, quotes and the like are "
            "labelled alike."
        )
    swaps = Counter({pair: n for pair, n in seen.confusion.items() if pair[0] != pair[1] and NOTHING not in pair})
    for (right, found), number in swaps.most_common(2):
        if number > 5:
            told.append(
                f"{escape(right)} is taken for {escape(found)} {number:,} times: more sentences with both, or a "
                "rule that tells them apart."
            )
    weak = []
    for label in seen.labels:
        there = sum(n for (right, _), n in seen.confusion.items() if right == label)
        hit = seen.confusion[label, label]
        if there >= 10 and 100 * hit / there < 0.75 * total.recall:
            weak.append(f"{escape(label)} ({100 * hit / there:.0f}% of {there:,} found)")
    if weak:
        told.append(
            f"Labels that are found less than others: {', '.join(weak)}. Choose sentences to label that have them."
        )
    if calibration is not None and calibration.expected_calibration_error > 0.05:
        told.append(
            f"Probabilities are off by {calibration.expected_calibration_error:.2f} on average: train with "
            "<code>--dev</code> text of this kind, which calibrates them."
        )
    if not told:
        told.append(
            "No kind of error stands out. More labelled sentences, chosen by <code>dovetail select</code>, are the "
            "surest way on."
        )
    return f"<ul>{''.join(f'<li>{one}</li>' for one in told)}</ul>"


def _worst(
    seen: Mistakes, gold: Sequence[Sentence], found: Sequence[Sentence], right: Sequence[Sequence[Entity]]
) -> str:
    """Sentences with most mistakes, as they should be and as they were found."""
    ranked = sorted((i for i, one in enumerate(seen.sentences) if one), key=lambda i: (-len(seen.sentences[i]), i))
    cards = []
    for i in ranked[:WORST]:
        bare = Sentence(gold[i].words, offsets=gold[i].offsets, raw=gold[i].raw)
        shown = [
            sentence_html(_spanned(bare, spans))
            for spans in (map(lambda e: Span(*e), right[i]), found[i].spans or found[i].entities())
        ]
        items = "".join(f"<li>{_told(one, gold[i])}</li>" for one in seen.sentences[i])
        cards.append(
            f'<section class="card"><h3>Sentence {i + 1}, {len(seen.sentences[i])} wrong</h3>'
            f"<h3>right</h3>{shown[0]}<h3>found</h3>{shown[1]}<ul>{items}</ul></section>"
        )
    rest = f'<p class="soft">{len(ranked) - WORST:,} more have mistakes.</p>' if len(ranked) > WORST else ""
    return "\n".join(cards) + rest if cards else "<p>There is none with a mistake.</p>"


def _spanned(sentence: Sentence, spans: Any) -> Sentence:
    return Sentence(sentence.words, spans=tuple(spans), offsets=sentence.offsets, raw=sentence.raw)


def _labelled(number: int, gold: Sentence, found: Sentence, layer: str) -> str:
    """A sentence whose wrong words are told."""
    pairs = zip(gold.words, gold.layers.get(layer, ()), found.layers.get(layer, ()), strict=True)
    wrong = [(i, word, a, b) for i, (word, a, b) in enumerate(pairs) if a != b]
    at = {i for i, *_ in wrong}
    text = " ".join(f"<b>{escape(w)}</b>" if i in at else escape(w) for i, w in enumerate(gold.words))
    items = "".join(f"<li><b>{escape(w)}</b> {escape(a)}, found as {escape(b)}</li>" for _, w, a, b in wrong)
    head = f"<h3>Sentence {number + 1}, {len(wrong)} wrong</h3>"
    return f'<section class="card">{head}<div class="dovetail">{text}</div><ul>{items}</ul></section>'


def page_of_answers(title: str, report: str, gold: Sequence[Sentence], found: Sequence[Sentence]) -> str:
    """A page on answers that are no entities: the scores as ``report`` says them, and the worst sentences."""
    wrong = [(_differences(a, b), i) for i, (a, b) in enumerate(zip(gold, found, strict=True))]
    ranked = sorted((one for one in wrong if one[0]), key=lambda one: (-one[0], one[1]))
    cards = [
        f'<section class="card"><h3>Sentence {i + 1}, {number} wrong</h3><h3>right</h3>{sentence_html(gold[i])}'
        f"<h3>found</h3>{sentence_html(found[i])}</section>"
        for number, i in ranked[:WORST]
    ]
    parts = [tiles([(f"{len(gold):,}", "sentences"), (f"{len(gold) - len(ranked):,}", "all right")])]
    parts += [f'<h2>Scores</h2>\n<div class="wide"><pre>{escape(report)}</pre></div>', "<h2>The worst sentences</h2>"]
    return page(title, [*parts, *(cards or ["<p>There is none with a mistake.</p>"])])


def _differences(gold: Sentence, found: Sentence) -> int:
    """How many parts of the right answer are missing, and of the found one wrong."""
    return sum(((_parts(gold) - _parts(found)) | (_parts(found) - _parts(gold))).values())


def _parts(sentence: Sentence) -> Counter[Any]:
    """What an answer is made of: constituents, heads with relations, arguments, entities."""
    parts: Counter[Any] = Counter((s.start, s.end, s.label) for s in sentence.spans)
    if sentence.tree is not None:
        parts.update(("tree", s.start, s.end, s.label) for s in sentence.tree.spans())
    if "head" in sentence.layers:
        relations = sentence.layers.get("deprel", ("",) * len(sentence))
        parts.update(("head", i, *both) for i, both in enumerate(zip(sentence.layers["head"], relations, strict=True)))
    for frame in sentence.frames or ():
        parts.update((frame.predicate, s.start, s.end, s.label) for s in frame.arguments)
    return parts
