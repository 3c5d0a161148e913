"""What a careful user would ask about the data before training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dovetail.cli.console import some
from dovetail.cli.scores import label_of, odd_tags, tagset

if TYPE_CHECKING:
    from dovetail.text.sentence import Sentence

HEADINGS = ("tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "pos")  # what people call columns
MOST = 0.5  # so large a part of dev in the training data is no accident


def doubts(train: Sequence[Sentence], dev: Sequence[Sentence] | None, target: str) -> list[str]:
    """Warnings about mistakes in tags, and labels that cannot be learnt."""
    from dovetail.text.tags import is_chunk_tagset

    found = []
    tags = tagset(train, target)
    seen = {label_of(tag) for tag in tags}
    if odd := odd_tags(tags):
        found.append(f"not valid entity tags, so all tags are taken as plain labels; correct these: {some(odd)}")
    elif "O" in tags and not is_chunk_tagset(tags):
        found.append(
            f"labels without B- or I- are plain labels of words, not entities: {some(sorted(tags - {'O'}))}; "
            "write B-PER for the first word of a person, I-PER for the others"
        )
    if odd and any(tag.lower() in HEADINGS for tag in odd):
        found.append("the first line seems to be a heading of the columns; delete it")
    if len(seen) == 1:
        found.append(f"every word of the training data has the label {seen.pop()!r}: there is nothing to learn")
    elif dev is not None and (unseen := sorted({label_of(tag) for tag in tagset(dev, target)} - seen)):
        found.append(f"labels in dev that are not in the training data, so they cannot be learnt: {some(unseen)}")
    words = {word for sentence in train for word in sentence.words}
    if len(tags) > len(words) and not is_chunk_tagset(tags):  # labels are fewer than the words that bear them
        found.append(
            f"the layer {target!r} has {len(tags)} labels ({some(sorted(tags), 3)}), and there are only {len(words)} "
            "different words: are the columns in the wrong order? See --columns"
        )
    return found + dev_doubts(train, dev)


def dev_doubts(train: Iterable[Any], dev: Sequence[Any] | None) -> list[str]:
    """Warnings about held-out sentences of which there are none, or which are not held out.

    >>> dev_doubts([["Ada", "slept"]], [])
    ['the dev data has no sentences, so it is not used']
    """
    if dev is not None and not any(map(len, dev)):
        return ["the dev data has no sentences, so it is not used"]
    return overlap_doubts(train, dev)


def overlap_doubts(train: Iterable[Any], dev: Iterable[Any] | None) -> list[str]:
    """A warning if most sentences of dev are also in the training data: a model knows them by heart.

    Sentences are ``Sentence`` objects or lists of words.

    >>> overlap_doubts([["Ada", "slept"]], [["Ada", "slept"], ["Bob", "slept"]])
    ['1 of 2 dev sentences are also in the training data: the scores on dev will be too good']
    """
    held_out = [_words(sentence) for sentence in dev or ()]
    wanted = set(held_out)
    known = {words for words in map(_words, train) if words in wanted} if held_out else set()
    shared = sum(words in known for words in held_out)
    if shared < MOST * len(held_out) or not shared:
        return []
    what = f"{shared:,} of {len(held_out):,} dev sentences are also in the training data"
    return [f"{what}: the scores on dev will be too good"]


def _words(sentence: Any) -> tuple[str, ...]:
    return tuple(getattr(sentence, "words", sentence))
