"""The settings of a parser of constituents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail.models import settings
from dovetail.models.settings import setting

if TYPE_CHECKING:
    from dovetail.features.resources.clusters import Clusters


@dataclass(kw_only=True, eq=False)
class TreeParserSettings:
    """What a parser is and how it learns."""

    kind: str = setting(
        "grammar",
        "By a grammar, or by labels of spans without one: brackets alone, labelled ones, or these and rules.",
        choices=("grammar", "brackets", "labelled", "labelled-rules"),
    )
    """brackets: unlabelled binary trees; labelled-rules: labels of spans, and of those within them."""
    features: str = setting(
        "full", "All features, only rules, or a generative grammar.", choices=("full", "rules", "generative")
    )
    """rules: words for their parts of speech, and the rules themselves; generative: counted probabilities."""
    vertical: int | None = setting(
        None, "Vertical Markov order: 2 adds the parent's label.", least=1, shown="1, or 2 for generative"
    )
    """How many labels on the way to the root a symbol shows."""
    horizontal: int | None = setting(
        None, "Horizontal Markov order of binarised rules.", least=0, shown="0, or 1 for generative"
    )
    """How many siblings a partial symbol shows."""
    direction: str = setting("right", "Direction of binarisation.", choices=("right", "left"), flag="--branching")
    head_tags: bool | None = setting(
        None, "Split verb phrases by the tag of their head.", shown="no, but yes for generative"
    )
    relax: int | None = setting(
        None,
        "Number of rules above which a symbol has those of symbols that differ from it in their parents alone; only "
        "with --vertical 2 or more.",
        least=0,
        shown="off",
    )
    unaries: str = setting(
        "joined",
        "Unary chains without a grammar: parts of the labels, or put back by a classifier over words, or everywhere.",
        choices=("joined", "words", "all"),
    )
    """words: a word has no label in the brackets; all: a span has only the top one of its chain."""
    tags: str = setting(
        "predicted", "Source of parts of speech: a tagger, or the text.", choices=("predicted", "given")
    )
    """predicted: by a tagger that is trained with the parser. given: from the layer pos, in training and later."""
    clusters: Mapping[str, Clusters] | None = setting(
        None, "Clusters of words, for the features of tagger and parser.", hidden=True
    )
    folds: int = setting(5, "Number of parts of the training data for jackknifing.", least=2, hidden=True)
    """Each is tagged by a tagger trained on the others."""
    max_length: int | None = settings.max_length()
    """Those of over 250 words are left out anyway."""
    threshold: float | None = setting(
        None,
        "Minimum probability of a constituent by a small model; others are skipped.",
        least=0,
        below=1,
        wanted="choose a probability below 1",
        metavar="P",
        shown="0.001, or 0.0003 without a grammar",
    )
    smoothing: float = setting(
        5.0, "Worth of unannotated rules, in occurrences.", least=0, wanted="a count is zero or positive", hidden=True
    )
    """How many occurrences of a symbol its rules without annotation are worth; for generative."""
    encoder: str | None = settings.encoder()
    """Not beside lbfgs: what then trains is adam."""
    tune_encoder: bool = settings.tune_encoder()
    encoder_size: int = settings.encoder_size()
    dropout: float = settings.dropout()
    loss: str | None = settings.loss(default=None, shown="likelihood, or softmax-margin without a grammar")
    optimiser: str = settings.optimiser("adagrad")
    l2: float | None = settings.l2(default=None, shown="1, or 0.3 without a grammar")
    """1 / (2 variance)."""
    iterations: int = settings.iterations(10, shown="")
    batch: int | None = settings.batch(help="Sentences per step.", shown="64 or fewer")
    """Fewer where 64 makes less than 50 steps per pass."""
    gain: float = settings.gain(0.1, help="Step size.", shown="")
    min_count: int | None = settings.min_count(None, shown="1, or 2 without a grammar")
    """They are counted with a rule, symbol or tag."""
    decode: str | None = setting(
        None, "Answer: the most probable tree, or the most probable brackets.", choices=("viterbi", "recall"),
        shown="viterbi, or recall without a grammar",
    )  # fmt: skip
    """recall: the tree with the most constituents expected to be right."""
    calibrate: bool = settings.calibrate(default=False)
    """One factor for all weights, which changes probabilities but no ranking."""
    cross_validate: int = settings.cross_validate(0, shown="")
    patience: int = settings.patience(3)
    seed: int = settings.seed()
    threads: int | None = settings.threads()


@dataclass(kw_only=True, eq=False)
class ConstituencySettings(TreeParserSettings):
    """Those of a parser of trees alone."""

    pool: int | None = setting(
        None, "Number of different parsers that are trained, and asked together.", least=2, most=16, shown="one parser"
    )
    """With and without a grammar in turn, branching to the right and to the left."""
