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
    """Warnings about slips in tags and labels that cannot be learned."""
    from dovetail.text.tags import is_chunk_tagset

    found = []
    tags = tagset(train, target)
    seen = {label_of(tag) for tag in tags}
    if odd := odd_tags(tags):
        found.append(f"tags that spell no entity, so that all tags are taken for plain labels; mend them: {some(odd)}")
    if len(seen) == 1:
        found.append(f"every word of the training data has the label {seen.pop()!r}: there is nothing to tell apart")
    elif dev is not None and (unseen := sorted({label_of(tag) for tag in tagset(dev, target)} - seen)):
        found.append(f"labels in dev that the training data lacks, and that no model can learn: {some(unseen)}")
    words = {word for sentence in train for word in sentence.words}
    if len(tags) > len(words) and not is_chunk_tagset(tags):  # labels are fewer than the words that bear them
        found.append(
            f"the layer {target!r} has {len(tags)} labels ({some(sorted(tags), 3)}), and there are only {len(words)} "
            "different words: are the columns in the wrong order? See --columns"
        )
    if dev is not None and not any(map(len, dev)):
        found.append("the dev data has no sentences: it cannot tell when to stop")
    return found
