"""A trained model whose potentials are linear in features: what is stored, and how new text is scored.

Taggers, segmenters and nested taggers differ in their structure, in their parts and in their tables; the rest is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Template, flatten
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.repeats import repeats
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.templates import packed, unpacked
from dovetail.modelfile import NEURAL_VERSION, Arrays
from dovetail.models.consistency.agreement import agreed
from dovetail.models.consistency.coupling import USUAL, USUAL_AGREEMENT, Consistency
from dovetail.scorers.hidden_parts import HiddenWeights
from dovetail.scorers.parts import Form
from dovetail.scorers.pooled import pooled as pooled_tables
from dovetail.scorers.weights import Weights
from dovetail.structures.contract import Floats, Integers
from dovetail.text.sentence import Sentence


@dataclass(frozen=True)
class LinearModel:
    """Features, the weights of each part of them, and tables of weights that are the same everywhere."""

    features: Any
    parts: Mapping[str, Weights | HiddenWeights]
    tables: Mapping[str, NDArray[np.float32]]

    feature_kind: ClassVar[Any]
    """What reads the lines of its features."""
    table_prefix: ClassVar[str] = ""
    """What the names of tables begin with in model files."""

    agreement: float = field(default=0.0, kw_only=True)
    """How strongly the places of a name in one document lean towards one type: see ``models.consistency.agreement``."""
    consistency: Consistency | None = field(default=None, kw_only=True)
    """What it knows of linked words: see ``models.consistency.coupling``."""
    network: Any = field(default=None, kw_only=True)
    """What scores parts beside features, a ``neural.network.Network``; None for none."""

    @property
    def form(self) -> Form:
        """How scores become potentials."""
        raise NotImplementedError

    def templates(self) -> dict[str, Sequence[Template]]:
        """The templates of each part, in the order of their weights."""
        return dict(self.features.parts)

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """What compiles each part of the features of some sentences."""
        raise NotImplementedError

    def batch(self, sentences: Sequence[Sentence], threads: int, compiled: Mapping[str, Compiler] | None = None) -> Any:
        """The structures of new sentences, with their potentials; ``compiled`` is what ``compilers`` gave for them."""
        compiled, templates = compiled or self.compilers(sentences), self.templates()
        scores = {part: weights.score(compiled[part], templates[part], threads) for part, weights in self.parts.items()}
        if self.network is not None:
            from dovetail.neural.network import add_scores

            add_scores(self.network, sentences, scores)
        tables = {name: table.astype(np.float64) for name, table in self.tables.items()}
        found = self.form.batch(scores, tables, offsets_of(sentences), threads)
        if not self.agreement and self.consistency is None:
            return found
        return self.consistent(found, next(iter(compiled.values())).columns)

    def consistent(self, batch: Any, columns: Columns) -> Any:
        """The structures of documents, in which names agree with themselves as far as the model wants it."""
        if self.consistency is not None:
            return self.consistency.coupled(batch, columns, self.of_label)
        return agreed(batch, repeats(columns), self.of_label, [self.agreement])[0] if self.agreement else batch

    def types_of_labels(self) -> Sequence[str]:
        """What each label of the structure says, wherever in an entity it stands; O is a type too."""
        raise NotImplementedError

    @cached_property
    def of_label(self) -> Integers:
        """The number of the type of each label: [labels]."""
        names = list(dict.fromkeys(self.types_of_labels()))
        return np.array([names.index(name) for name in self.types_of_labels()], np.int64)

    def structures(self, sentences: Sequence[Sentence], threads: int) -> Any:
        """What answers to new sentences are read from."""
        return self.batch(sentences, threads)

    def best_with(self, batch: Any, bias: float) -> Any:
        """The best answers when ``bias`` is added to all that is O."""
        raise NotImplementedError

    def knows(self, answer: Any) -> bool:
        """Whether the model can give this answer to a sentence."""
        raise NotImplementedError

    def numbered(self, sentences: Sequence[Sentence], answers: Sequence[Any]) -> Any:
        """Answers that it knows, as its structures take them."""
        raise NotImplementedError

    def known(self, batch: Any, dev: Sequence[Sentence], gold: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The structures of those held-out sentences whose answers the model can give, with these; none for none."""
        able = [i for i, answer in enumerate(gold) if len(dev[i]) and self.knows(answer)]
        if not able:
            return []
        return [(batch.take(np.array(able)), self.numbered([dev[i] for i in able], [gold[i] for i in able]))]

    def scaled(self, factor: float) -> Self:
        """The model with all weights times a factor: the same ranking of answers, with other probabilities."""
        tables = {name: table * np.float32(factor) for name, table in self.tables.items()}
        network = None if self.network is None else self.network.scaled(factor)
        return replace(self._each(lambda weights: weights.scaled(factor)), tables=tables, network=network)

    def pruned(self, smallest: float) -> Self:
        """The model without weights that are smaller, and without the features that have no other."""
        return self._each(lambda weights: weights.pruned(smallest))

    def with_short_keys(self) -> Self:
        """The model as compact files hold it."""
        return self._each(lambda weights: weights.with_short_keys())

    # pools

    def outputs_in(self, part: str, other: Self) -> Integers:
        """The number that each output of a part has in another model, -1 for none."""
        raise NotImplementedError

    def tables_in(self, other: Self) -> dict[str, NDArray[np.float32]]:
        """The tables of another model with the same labels, in the order of the labels here."""
        raise NotImplementedError

    def kept_apart(self) -> dict[str, Any]:
        """What models must have in common to be pooled, by what users call it."""
        raise NotImplementedError

    def pooled(self, others: Sequence[Self], mixing: Sequence[float]) -> Self:
        """One model with the weighted sums of the weights of this one and of others: a product of all of them.

        ``mixing`` [1 + others]. They have the same labels, in any order; features may differ.
        """
        every: list[Self] = [self, *others]
        parts: dict[str, Weights] = {}
        for model, share in zip(every, mixing, strict=True):
            for part, weights in model.parts.items():
                assert isinstance(weights, Weights)
                own = weights.within(self.outputs_in(part, model)).scaled(float(share))
                parts[part] = parts[part].plus(own) if part in parts else own
        tables = {}
        for name in self.tables:
            each = [self.tables_in(model)[name].astype(np.float64) for model in every]
            tables[name] = pooled_tables(each, np.asarray(mixing, np.float64)).astype(np.float32)
        ordered = {part: parts[part] for part in self.features.PARTS if part in parts}
        agreement = float(np.average([model.agreement for model in every]))
        linked = next((model.consistency for model in every if model.consistency is not None), None)
        features = joined_features([model.features for model in every])
        return replace(self, features=features, parts=ordered, tables=tables, agreement=agreement, consistency=linked)

    def _each(self, function: Any) -> Self:
        return replace(self, parts={part: function(weights) for part, weights in self.parts.items()})

    # files

    def arrays(self, half: bool = False, compact: bool = False) -> Arrays:
        """As named arrays for a model file."""
        found: Arrays = {f"{self.table_prefix}{name}": table for name, table in self.tables.items()}
        for part, weights in self.parts.items():
            found |= weights.arrays(part, half, compact)
        if self.network is not None:
            found |= self.network.arrays(half or compact)
        return found | packed(self.features.resources, compact)[1]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        layers = {part: weights.header() for part, weights in self.parts.items() if isinstance(weights, HiddenWeights)}
        more: dict[str, Any] = {"hidden": layers} if layers else {}
        if self.network is not None:
            more["network"] = self.network.header()
        if more:
            more["version"] = NEURAL_VERSION
        return more | {
            "features": {"name": self.features.name, "templates": self.features.lines()},
            "hash_bits": next(iter(self.parts.values())).index.bits,
            "resources": packed(self.features.resources)[0],
            "agreement": self.agreement,
            "consistency": None if self.consistency is None else self.consistency.header(),
        }

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any] = ()) -> Self:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        own, described = cls._stored(header, arrays), header["features"]
        resources = unpacked(header.get("resources", {}), arrays)
        features = cls.feature_kind.from_lines(described["name"], described["templates"], functions, resources)
        made = cls(features=features, parts={}, agreement=float(header.get("agreement", 0.0)), **own)
        if (told := header.get("consistency")) is not None:
            linked = Consistency.from_header(told, len(set(made.types_of_labels())))
            made = replace(made, consistency=linked)
        outputs = {name: made.form.outputs(name) for name in made._stored_parts(header, arrays)}
        bits, layers = header["hash_bits"], header.get("hidden", {})
        if "network" in header:
            from dovetail.neural.network import Network

            made = replace(made, network=Network.from_file(header["network"], arrays, made.form))
        parts: dict[str, Weights | HiddenWeights] = {
            name: HiddenWeights.from_arrays(layers[name], arrays, name, n, bits)
            if name in layers
            else Weights.from_arrays(arrays, name, n, bits)
            for name, n in outputs.items()
        }
        return replace(made, parts=parts)

    @classmethod
    def _stored(cls, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The fields that are its own, from a model file."""
        raise NotImplementedError

    def _stored_parts(self, header: dict[str, Any], arrays: Arrays) -> Sequence[str]:
        """The parts that a model file has weights of."""
        if set(header["parts"]) != set(self.features.parts):
            raise ValueError("the features do not fit the weights")
        names: list[str] = header["parts"]
        return names


Model = TypeVar("Model", bound=LinearModel)


def joined_features(sets: Sequence[Any]) -> Any:
    """All templates of some sets, each once, under the names of all; one name has one resource."""
    resources: dict[str, Any] = {}
    for features in sets:
        for name, resource in features.resources.items():
            if name in resources and not same_resource(resources[name], resource):
                raise DovetailError(
                    f"the models have different resources with the name {name!r}, such as clusters of other text: "
                    "train them with the same one, or give it another name in one of them"
                )
            resources.setdefault(name, resource)
    names = " + ".join(dict.fromkeys(features.name for features in sets))
    return replace(sets[0], name=names, templates=tuple(flatten([features.templates for features in sets])))


def same_resource(one: Any, other: Any) -> bool:
    """Whether two resources say the same of every word."""
    if one is other:
        return True
    (first, mine), (second, theirs) = packed({"": one}), packed({"": other})
    return first == second and mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine)


def leaning(model: Any, strength: float | None) -> Any:
    """The model whose documents agree so strongly: by what it knows of linked words, or, if nothing, in two passes.

    None: as strongly as usual.
    """
    if model.consistency is None:
        return replace(model, agreement=USUAL_AGREEMENT if strength is None else strength)
    linked = replace(model.consistency, strength=USUAL if strength is None else strength)
    return replace(model, agreement=0.0, consistency=linked)


def span_compilers(features: Any, sentences: Sequence[Sentence], longest: int, phrase: str) -> dict[str, Compiler]:
    """What compiles features of tokens, and those of the part ``phrase`` of up to ``longest`` tokens."""
    text = columns_for(sentences, features)
    tokens, spans = Compiler(text, sentences), SpanCompiler.over(text, longest)
    return {part: spans if part == phrase else tokens for part in features.parts}


def numbers_in(names: Sequence[str], others: Sequence[str]) -> Integers:
    """The place of each name among others, -1 where it is not there.

    >>> numbers_in(["LOC", "PER"], ["PER"])
    array([-1,  0])
    """
    number = {name: i for i, name in enumerate(others)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)


def taken_over(table: NDArray[Any], *axes: Integers) -> Floats:
    """A table whose entry i, j, ... is that of another at axes[0][i], axes[1][j], ..., or 0 where one of them is -1.

    >>> taken_over(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, -1]), np.array([0, 1]))
    array([[3., 4.],
           [0., 0.]])
    """
    inside = reduce(np.logical_and.outer, [axis >= 0 for axis in axes])
    return np.where(inside, table[np.ix_(*axes)], 0.0)
