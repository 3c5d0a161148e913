"""Bracket scores of trees, equal to those of EVALB with its usual parameters (COLLINS.prm).

What EVALB does, and this does too:

- Words whose part of speech is punctuation (``,`` ``:`` `````` ``''`` ``.``) or ``-NONE-`` are taken out of each tree
  by that tree's own tags, and brackets are counted over the words that are left. If the two trees then differ in
  length or in a word, the sentence is an *error*: it counts nowhere but in the number of errors. (The parameters name
  no labels for EVALB's repair of quotes, so there is none.)
- A predicted tree that is missing, or has no words left, is *skipped*: it counts nowhere either.
- Function tags and indices do not count: labels are cut at the first ``-`` or ``=``. Brackets over no word and those
  of the root (``TOP``; here also ``ROOT`` and ``S1``, which files use for the same) are left out; ``PRT`` equals
  ``ADVP``. Parts of speech are no brackets. Equal brackets are matched one by one.
- A predicted bracket *crosses* if any gold bracket overlaps it without one holding the other.
- *Exact* is a sentence whose brackets are all right, *tagging* the share of the words left whose part of speech is.
- Length, for a limit such as 40, is that of the gold tree with its punctuation, but without ``-NONE-``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from operator import eq
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.evaluate.counts import Counts, LabelledScores, all_counts, percentage
from dovetail.evaluate.report import SCORES, scores_dict
from dovetail.text.tree import Tree, escaped

EMPTY = "-NONE-"
PUNCTUATION = frozenset([",", ":", "``", "''", "."])
ROOTS = frozenset(["TOP", "ROOT", "S1"])
EQUAL_LABELS = {"PRT": "ADVP"}
_FUNCTION = re.compile("[-=]")

Bracket: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class BracketScores(LabelledScores):
    """Scores of brackets, together and for each label, with those of whole sentences; made by `bracket_scores`.

    ``sentences`` are all sentences within the length limit, errors and skipped ones too; ``accuracy`` is that of parts
    of speech.
    """

    unlabelled: Counts
    exact: float
    """Percentage of sentences whose brackets are all right: EVALB's complete match."""
    crossing: int
    """Predicted brackets that cross a gold one."""
    average_crossing: float
    """Crossing brackets for each sentence."""
    no_crossing: float
    """Percentage of sentences without crossing brackets."""
    two_or_less_crossing: float
    """Percentage of sentences with at most two crossing brackets."""
    errors: int
    skipped: int
    valid: int
    """How many sentences the scores are made of."""
    max_length: int | None

    @property
    def tagging(self) -> float:
        """Percentage of words, punctuation left out, whose part of speech is right."""
        return self.accuracy or 0.0

    def as_dict(self) -> dict[str, Any]:
        """The scores for JSON: those of `scores_dict`, and those of trees.

        >>> from dovetail.text.brackets import parse_tree
        >>> tree = parse_tree("(TOP (S (NP (NN rain)) (VP (VBZ falls)) (. .)))")
        >>> scores = bracket_scores([tree], [tree]).as_dict()
        >>> scores["f1"], scores["exact"], scores["tagging"], scores["errors"]
        (100.0, 100.0, 100.0, 0)
        """
        unlabelled = {f"unlabelled_{name}": getattr(self.unlabelled, name) for name in SCORES}
        crossing = ("average_crossing", "no_crossing", "two_or_less_crossing")
        more = {name: getattr(self, name) for name in (*crossing, "errors", "skipped", "valid", "max_length")}
        return {**scores_dict(self), "exact": self.exact, "tagging": self.tagging, **unlabelled, **more}

    def report(self) -> str:
        """The summary that EVALB prints.

        >>> from dovetail.text.brackets import parse_tree
        >>> gold = parse_tree("(TOP (S (NP (NN rain)) (VP (VBZ falls)) (. .)))")
        >>> predicted = parse_tree("(TOP (S (NP (NN rain)) (NP (NNS falls)) (. .)))")
        >>> print(bracket_scores([gold], [predicted], max_length=40).report())
        -- len<=40 --
        Number of sentence        =      1
        Number of Error sentence  =      0
        Number of Skip  sentence  =      0
        Number of Valid sentence  =      1
        Bracketing Recall         =  66.67
        Bracketing Precision      =  66.67
        Bracketing FMeasure       =  66.67
        Complete match            =   0.00
        Average crossing          =   0.00
        No crossing               = 100.00
        2 or less crossing        = 100.00
        Tagging accuracy          =  50.00
        """
        counts = {"sentence": self.sentences, "Error sentence": self.errors, "Skip  sentence": self.skipped}
        scores = {
            "Bracketing Recall": self.recall,
            "Bracketing Precision": self.precision,
            "Bracketing FMeasure": self.f1,
            "Complete match": self.exact,
            "Average crossing": self.average_crossing,
            "No crossing": self.no_crossing,
            "2 or less crossing": self.two_or_less_crossing,
            "Tagging accuracy": self.tagging,
        }
        lines = ["-- All --" if self.max_length is None else f"-- len<={self.max_length} --"]
        lines += [f"Number of {name:<15} = {n:6d}" for name, n in {**counts, "Valid sentence": self.valid}.items()]
        return "\n".join([*lines, *(f"{name:<25} = {score:6.2f}" for name, score in scores.items())])


def bracket_scores(
    gold: Sequence[Tree], predicted: Sequence[Tree | None], max_length: int | None = None
) -> BracketScores:
    """Score predicted trees against gold ones as EVALB does; None is a sentence that was not parsed.

    With ``max_length`` only sentences of at most so many words are scored.

    >>> from dovetail.text.brackets import parse_tree
    >>> gold = parse_tree("(TOP (S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB down)))))")
    >>> predicted = parse_tree("(TOP (S (NP (NN rain) (NN falls)) (PRT (RB down))))")
    >>> scores = bracket_scores([gold], [predicted])
    >>> scores.precision, scores.recall, scores.crossing, scores.per_label["ADVP"].correct
    (66.66666666666667, 50.0, 1, 1)
    """
    outcomes = list(_outcomes(gold, predicted, max_length))
    scored = [outcome for outcome in outcomes if outcome.status == "valid"]
    in_gold, in_predicted, in_both = (
        Counter(label for outcome in scored for _, _, label in getattr(outcome, side))
        for side in ("gold", "predicted", "correct")
    )
    return BracketScores(
        **all_counts(in_gold, in_predicted, in_both),
        sentences=len(outcomes),
        tokens=sum(outcome.words for outcome in scored),
        correct_tokens=sum(outcome.right_tags for outcome in scored),
        unlabelled=Counts(in_gold.total(), in_predicted.total(), sum(outcome.right_extents for outcome in scored)),
        exact=percentage(sum(outcome.is_exact for outcome in scored), len(scored)),
        crossing=sum(outcome.crossing for outcome in scored),
        average_crossing=sum(outcome.crossing for outcome in scored) / max(1, len(scored)),
        no_crossing=percentage(sum(outcome.crossing == 0 for outcome in scored), len(scored)),
        two_or_less_crossing=percentage(sum(outcome.crossing <= 2 for outcome in scored), len(scored)),
        errors=sum(outcome.status == "error" for outcome in outcomes),
        skipped=sum(outcome.status == "skipped" for outcome in outcomes),
        valid=len(scored),
        max_length=max_length,
    )


def bracket_counts(
    gold: Sequence[Tree],
    predicted: Sequence[Tree | None],
    max_length: int | None = None,
    score: Literal["labelled", "unlabelled", "exact", "tagging"] = "labelled",
) -> NDArray[np.int64]:
    """Counts of gold, predicted and correct brackets in each sentence, [sentences, 3], for tests of significance.

    For ``exact`` it is sentences that are counted, for ``tagging`` words. Errors and skipped sentences have zeros, and
    so have sentences over ``max_length``, so that the counts of any two systems go together.

    >>> from dovetail.text.brackets import parse_tree
    >>> tree = parse_tree("(TOP (S (NP (NN rain)) (VP (VBZ falls))))")
    >>> bracket_counts([tree, tree], [tree, None]).tolist()
    [[3, 3, 3], [0, 0, 0]]
    """
    rows = np.zeros((len(gold), 3), dtype=np.int64)
    for outcome in _outcomes(gold, predicted, max_length):
        if outcome.status != "valid":
            continue
        in_gold, in_predicted = len(outcome.gold), len(outcome.predicted)
        rows[outcome.number - 1] = {
            "labelled": (in_gold, in_predicted, len(outcome.correct)),
            "unlabelled": (in_gold, in_predicted, outcome.right_extents),
            "exact": (1, 1, outcome.is_exact),
            "tagging": (outcome.words, outcome.words, outcome.right_tags),
        }[score]
    return rows


class _Outcome(NamedTuple):
    """What is counted of one sentence; its number counts from 1."""

    number: int
    status: Literal["valid", "error", "skipped"]
    gold: list[Bracket] = []  # noqa: RUF012 (never changed)
    predicted: list[Bracket] = []  # noqa: RUF012
    correct: list[Bracket] = []  # noqa: RUF012
    right_extents: int = 0
    crossing: int = 0
    words: int = 0
    right_tags: int = 0

    @property
    def is_exact(self) -> bool:
        return len(self.gold) == len(self.predicted) == len(self.correct)


def _outcomes(gold: Sequence[Tree], predicted: Sequence[Tree | None], max_length: int | None) -> Iterator[_Outcome]:
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} gold trees but {len(predicted)} predicted; both must be the same text")
    for number, (in_gold, in_predicted) in enumerate(zip(gold, predicted, strict=True), 1):
        if max_length is None or sum(tag != EMPTY for tag in in_gold.tags()) <= max_length:
            yield _outcome(number, in_gold, in_predicted)


def _outcome(number: int, gold_tree: Tree, predicted_tree: Tree | None) -> _Outcome:
    gold = _stripped(gold_tree)
    predicted = _stripped(predicted_tree) if predicted_tree is not None else None
    if predicted is None or not predicted.words:
        return _Outcome(number, "skipped")
    if gold.words != predicted.words:
        return _Outcome(number, "error")
    same_extents = Counter(bracket[:2] for bracket in gold.brackets) & Counter(b[:2] for b in predicted.brackets)
    return _Outcome(
        number,
        "valid",
        gold.brackets,
        predicted.brackets,
        list((Counter(gold.brackets) & Counter(predicted.brackets)).elements()),
        same_extents.total(),
        _count_crossing(gold.brackets, predicted.brackets),
        len(gold.words),
        sum(map(eq, gold.tags, predicted.tags)),
    )


class _Stripped(NamedTuple):
    """A tree as it is scored: the words that are no punctuation, their tags, and the brackets over them."""

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]


def _stripped(tree: Tree) -> _Stripped:
    leaves = tree.leaves()
    is_left = [leaf.label not in PUNCTUATION and leaf.label != EMPTY for leaf in leaves]
    left = list(compress(leaves, is_left))
    before = list(accumulate(is_left, initial=0))  # how many of the words before a position are left
    brackets = []
    for start, end, node in tree.places():
        if node.word is None and before[start] < before[end]:
            label = _FUNCTION.split(node.label, maxsplit=1)[0]
            if label not in ROOTS:
                brackets.append((before[start], before[end], EQUAL_LABELS.get(label, label)))
    # Brackets in words may be spelled out on one side only.
    tags = [EQUAL_LABELS.get(leaf.label, leaf.label) for leaf in left]
    return _Stripped([escaped(leaf.word or "") for leaf in left], tags, brackets)


def _count_crossing(gold: Sequence[Bracket], predicted: Sequence[Bracket]) -> int:
    """How many predicted brackets a gold one crosses."""
    extents = np.array(sorted({(start, end) for start, end, _ in gold}), dtype=np.int64).reshape(-1, 2)
    starts, ends = extents[:, 0], extents[:, 1]
    count = 0
    for start, end, _ in predicted:
        from_left = (starts < start) & (ends > start) & (ends < end)
        from_right = (starts > start) & (starts < end) & (ends > end)
        count += bool((from_left | from_right).any())
    return count
