"""Token scores: accuracy, precision, recall and F1 of each tag, and which tags are taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.evaluate.counts import LabelledScores, all_counts, paired_tags


@dataclass(frozen=True, slots=True)
class TokenScores(LabelledScores):
    """Scores of tokens, together (micro) and for each tag; made by `token_scores`."""

    confusion: Counter[tuple[str, str]]
    """How often each pair of a gold and a predicted tag occurs."""


def token_scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], outside: str | None = None
) -> TokenScores:
    """Score predicted tags against gold ones, token by token; either side may hold tags that the other lacks.

    ``outside`` names a tag that is no answer (``"O"``): it is left out of precision, recall and F1, but not
    of the accuracy and the confusion. Without it the micro-averaged F1 is the accuracy.

    >>> scores = token_scores([["PER", "O", "LOC"]], [["PER", "O", "ORG"]], outside="O")
    >>> f"{scores.accuracy:.2f}", scores.f1, f"{scores.macro.f1:.2f}"
    ('66.67', 50.0, '33.33')
    >>> scores.confusion["LOC", "ORG"]
    1
    """
    confusion: Counter[tuple[str, str]] = Counter()
    for gold_tags, predicted_tags in paired_tags(gold, predicted):
        confusion.update(zip(gold_tags, predicted_tags, strict=True))
    in_gold, in_predicted, in_both = Counter[str](), Counter[str](), Counter[str]()
    for (gold_tag, predicted_tag), count in confusion.items():
        in_gold[gold_tag] += count
        in_predicted[predicted_tag] += count
        if gold_tag == predicted_tag:
            in_both[gold_tag] += count
    tokens, correct_tokens = in_gold.total(), in_both.total()
    if outside is not None:
        for counts in (in_gold, in_predicted, in_both):
            del counts[outside]
    return TokenScores(
        **all_counts(in_gold, in_predicted, in_both),
        sentences=len(gold),
        tokens=tokens,
        correct_tokens=correct_tokens,
        confusion=confusion,
    )
