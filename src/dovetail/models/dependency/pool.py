"""A pool of dependency parsers: models of arcs, and parsers of the spans that lie below words.

Models of arcs that differ in nothing but their weights are one model, whose weights are the means of theirs. Others
are put together arc by arc: the log of the probability that each gives to an arc, on average, is the potential of that
arc, so that the pool has a distribution over projective trees, with all that follows from one.

A parser of spans sees a dependency tree as constituents, of which it knows where they begin and end and what is within
them, where a model of arcs knows head and dependent. The two err in different places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError
from dovetail.features.compile.arcs import ArcFeatures
from dovetail.learning.tuning import calibration
from dovetail.modelfile import Arrays
from dovetail.models.dependency.model import DependencyModel, arc_rows
from dovetail.models.dependency.spans import as_constituents, heads_of
from dovetail.models.parser.decoding import LONGEST
from dovetail.models.parser.estimator import Parser
from dovetail.models.pool import check_alike, mean_weights, packed_members, same_shape, shares_of
from dovetail.models.tagging import prefixed
from dovetail.models.training import Run
from dovetail.scorers.arcs import Strings
from dovetail.structures.projective import Places, ProjectiveBatch, ProjectivePotentials
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]

LEAST = 1e-3  # an arc that a member finds less probable is as improbable as this to the pool
SAMPLES = 64  # trees from which the arcs of a parser of spans are counted
SEED = 1
LEARNT = frozenset({"fine.weight"})


@dataclass(frozen=True)
class ArcPool:
    """Models of arcs, parsers of spans, and their ``shares`` [arcs + spans], which sum to one."""

    arcs: tuple[DependencyModel, ...]
    spans: tuple[Any, ...]
    shares: Floats
    scale: float = 1.0
    """A factor on all potentials."""

    @property
    def fine(self) -> ArcFeatures:
        """The features of the first."""
        return self.arcs[0].fine

    def batch(self, words: Strings, tags: Strings, threads: int) -> ProjectiveBatch:
        """All trees of new sentences."""
        offsets = offsets_of(words)
        total = np.zeros(int(Places.of(offsets).arcs[-1]))
        asked = [model.batch(words, tags, threads).marginals().attach.sum(axis=1) for model in self.arcs]
        asked += [span_arcs(parser, words, tags, threads) for parser in self.spans]
        for share, chance in zip(self.shares.tolist(), asked, strict=True):
            total += share * np.log(chance.clip(LEAST, 1.0))
        total *= self.scale
        stop = np.zeros((int(offsets[-1]) + len(words), 2, 2))
        return ProjectiveBatch(ProjectivePotentials(np.stack([total, total], axis=1), stop), offsets, threads=threads)

    def scaled(self, factor: float) -> ArcPool:
        """The pool with all potentials times a factor: the same ranking of trees, with other probabilities."""
        return replace(self, scale=self.scale * factor)

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """Those of all members, as named arrays for a model file."""
        found = packed_members(self.spans, half)[1]
        for number, model in enumerate(self.arcs):
            found |= {f"arcs{number}.{name}": array for name, array in model.arrays(half).items()}
        return found

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "arcs": [model.header() for model in self.arcs], "spans": packed_members(self.spans, False)[0],
            "shares": self.shares.tolist(), "scale": self.scale,
        }  # fmt: skip

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ArcPool:
        """From the header and arrays of a model file, whose parts must fit together."""
        arcs = [DependencyModel.from_file(own, prefixed(arrays, f"arcs{i}.")) for i, own in enumerate(header["arcs"])]
        spans = [Parser.unpacked(dict(own), _own(arrays, i)) for i, own in enumerate(header["spans"])]
        shares = np.asarray(header["shares"], np.float64)
        if not arcs or shares.shape != (len(arcs) + len(spans),) or not np.isclose(shares.sum(), 1.0):
            raise ValueError("the shares of the pool do not fit its members")
        return cls(tuple(arcs), tuple(spans), shares, float(header["scale"]))


def _own(arrays: Mapping[str, NDArray[Any]], number: int) -> Arrays:
    return prefixed(arrays, f"member{number}.")


def span_arcs(parser: Any, words: Strings, tags: Strings, threads: int) -> Floats:
    """How many of the trees that a parser of spans draws have each arc, as a share: [arcs].

    What is drawn for a sentence depends on no other. One that is too long for such a parser has none.
    """
    parser.threads = threads
    offsets = offsets_of(words)
    chance = np.zeros(int(Places.of(offsets).arcs[-1]))
    first = Places.of(offsets).arcs
    some = [i for i, own in enumerate(words) if 0 < len(own) <= LONGEST]
    text = [Sentence(tuple(words[i]), {"pos": tuple(tags[i])}) for i in some]
    drawn = parser.draws(text, [SAMPLES] * len(text), [np.random.default_rng(SEED) for _ in text])
    for i, answers in zip(some, drawn, strict=True):
        known: dict[int, NDArray[np.int64]] = {}
        own = np.array([0, len(words[i])], np.int64)
        for answer in answers:
            if id(answer) not in known:
                heads = np.array(heads_of(answer.tree), np.int32) + np.int32(1)
                known[id(answer)] = first[i] + arc_rows(own, heads)
            chance[known[id(answer)]] += 1.0 / SAMPLES
    return chance


def pooled(models: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """One parser of several dependency parsers, trained; ``weights`` [models], all alike unless given.

    The first of them predicts parts of speech and relations. Parsers that differ in nothing but the weights of arcs
    become one parser, as quick as one of them.
    """
    shares = shares_of(len(models), weights)
    for model in models:
        model._check_trained()
    if len({(model.tagger_ is None) for model in models}) > 1:
        raise DovetailError(
            "some parsers of the pool read parts of speech and others predict them: pool parsers of one kind"
        )
    check_alike([model.classes_ for model in models if model.relations_ is not None] or [()], "relations")
    found = copy(next((model for model in models if model.relations_ is not None), models[0]))
    arcs: list[tuple[float, DependencyModel]] = []
    spans: list[tuple[float, Any]] = []
    for model, share in zip(models, shares.tolist(), strict=True):
        inner = model.model_
        if isinstance(inner, ArcPool):
            own = (share * inner.shares).tolist()
            arcs += zip(own, inner.arcs, strict=False)
            spans += zip(own[len(inner.arcs) :], inner.spans, strict=True)
        else:
            arcs.append((share, inner))
    stored = [model for _, model in arcs]
    if not spans and same_shape(stored, LEARNT):
        found.model_ = stored[0].with_weights(mean_weights([model.fine_weight for model in stored], shares))
    else:
        parts = np.array([share for share, _ in [*arcs, *spans]])
        found.model_ = ArcPool(tuple(stored), tuple(parser for _, parser in spans), parts)
    found.card_ = {"pooled": len(models), "dev": None, "stopped": "pooled"}
    for name in ("sentences", "tokens"):
        found.card_[name] = models[0].card_.get(name)
    return found


def trained_pool(
    parser: Any, corpus: Sequence[Sentence], tags: Strings, heads: Sequence[Sequence[int]],
    held_out: Sequence[Sentence] | None, run: Run,
) -> None:  # fmt: skip
    """Make a trained parser the first of a pool, of which the others are trained here.

    ``tags`` are the parts of speech to learn from, ``heads`` projective, positions from 0 with -1 for the root. The
    second is a parser of spans that branch to the left, the third a model of arcs with another loss, the fourth a
    parser of spans that branch to the right. Ctrl-C ends it with those that are there.
    """
    arcs, spans = [parser.model_], []
    for number in range(2, parser.pool + 1):
        say = f"parser {number} of {parser.pool}"

        def doing(what: str, say: str = say) -> None:
            run.doing(f"{say}: {what}")

        doing("spans" if number % 2 == 0 else "arcs")
        try:
            if number % 2 == 0:
                member = _new_spans(parser, "left" if number == 2 else "right")
                member.fit(_constituents(corpus, tags, heads), progress=run.progress, doing=doing)
            else:
                member = _new_arcs(parser)
                known = [
                    replace(s, layers={**s.layers, member.tags: tuple(t)}) for s, t in zip(corpus, tags, strict=True)
                ]
                member.fit(known, progress=run.progress, doing=doing)
        except KeyboardInterrupt:
            parser.card_["stopped"] = "interrupted"
            break
        if number % 2 == 0:
            spans.append(member)
        else:
            arcs.append(member.model_)
        if member.card_["stopped"] == "interrupted":
            parser.card_["stopped"] = "interrupted"
            break
    parser.card_["members"] = count = len(arcs) + len(spans)
    if count > 1:
        parser.model_ = ArcPool(tuple(arcs), tuple(spans), shares_of(count, None))
        if held_out is not None:
            if parser.calibrate:
                parser.model_ = parser.model_.scaled(calibration(*parser._right_trees(held_out)))
            parser.card_["dev"] = parser.score(held_out)


def _new_spans(parser: Any, direction: str) -> Parser:
    return Parser(
        kind="labelled-rules", direction=direction, tags="given", clusters=parser.clusters or None, seed=parser.seed,
        max_length=parser.max_length, threads=parser.threads,
    )  # fmt: skip


def _new_arcs(parser: Any) -> Any:
    """A parser of arcs with another loss, that reads parts of speech and knows no relations."""
    loss = "likelihood" if parser.loss == "softmax-margin" else "softmax-margin"
    own = {"loss": loss, "pool": None, "relations": False, "predict_layers": False, "predict_tags": False}
    if parser.optimiser == "perceptron":
        own["optimiser"] = "lbfgs"
    return type(parser)(**(parser.get_params(deep=False) | own))


def _constituents(corpus: Sequence[Sentence], tags: Strings, heads: Sequence[Sequence[int]]) -> list[Sentence]:
    found = []
    for sentence, own, above in zip(corpus, tags, heads, strict=True):
        if len(sentence):
            tree = as_constituents(sentence.words, own, above, sentence.layers.get("deprel"))
            found.append(Sentence(sentence.words, {"pos": tuple(own)}, tree=tree, document=sentence.document))
    return found
