"""What a training run has come to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli.console import count
from dovetail.cli.scores import score

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Sentence

STOPPED = {
    "converged": "the objective no longer falls",
    "dev": "the score on dev no longer rises",
    "limit": "reached the maximum number of iterations",
    "interrupted": "interrupted; these are the best weights so far",
}


def summary(model: Tagger, dev: Sequence[Sentence] | None, output: Path, seconds: float) -> str:
    """The scores on dev, and what was trained, how long, why it ended, and where it is."""
    from dovetail.evaluate import scores_table

    trained = model.model_
    assert trained is not None
    lines = []
    if dev:
        lines += [scores_table(score(dev, list(model.annotate(dev)), model.target)), ""]
    card = model.card_
    size = file_size(output)
    data = f"{count(card['sentences'], 'sentence')}, {count(card['tokens'], 'token')}"
    lines += [
        f"trained on {data} in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size}, {count(len(trained.labels.names), 'label')}, {count(weights_of(model), 'weight')})",
    ]
    return "\n".join(lines)


def weights_of(model: Tagger) -> int:
    """The number of weights of the features of a trained tagger."""
    trained = model.model_
    assert trained is not None
    return len(trained.node.weight) + (len(trained.edge.weight) if trained.edge is not None else 0)


def file_size(path: Path) -> str:
    """How large a file is."""
    stored = path.stat().st_size
    return f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
