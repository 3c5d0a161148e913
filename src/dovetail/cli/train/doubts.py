"""What a careful user would ask about the data before training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dovetail.cli.console import some
from dovetail.cli.scores import label_of, odd_tags, tagset

if TYPE_CHECKING:
    from dovetail.text.sentence import Sentence


def doubts(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    target: str,
) -> list[str]:
    """Warnings about mistakes in tags, and labels that cannot be learnt."""
    found = []
    tags = tagset(train, target)
    seen = {label_of(tag) for tag in tags}
    if odd := odd_tags(tags):
        found.append(f"not valid entity tags, so all tags are taken as plain labels; correct these: {some(odd)}")
    if len(seen) == 1:
        found.append(f"every word of the training data has the label {seen.pop()!r}: there is nothing to learn")
    elif dev is not None and (unseen := sorted({label_of(tag) for tag in tagset(dev, target)} - seen)):
        found.append(f"labels in dev that are not in the training data, so they cannot be learnt: {some(unseen)}")
    if dev is not None and not any(map(len, dev)):
        found.append("the dev data has no sentences, so it is not used")
    return found
