"""The answers to a sentence of any structure as derivations of a hypergraph: what integer programs are made of.

>>> import numpy as np
>>> from dovetail.structures.chain import ChainBatch, ChainPotentials
>>> batch = ChainBatch(ChainPotentials.of([[0.0, 1.0], [0.5, 0.0]], np.eye(2)), [0, 2])
>>> graph = derivations(batch, 0)
>>> graph.items, graph.edges, float(graph.inside()[-1])
(5, 8, 2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.errors import InputError
from dovetail.structures.contract import Structure, named
from dovetail.structures.derivations.grammars import grammar, nested
from dovetail.structures.derivations.listed import chain, graphed, ruled
from dovetail.structures.derivations.weighed import Derivations, empty

__all__ = ["BUILDERS", "Derivations", "derivations", "empty"]


def derivations(structure: Structure[Any, Any], sentence: int, most: int | None = None) -> Derivations:
    """The answers to one sentence of a structure as the derivations of a hypergraph.

    most: edges at most; more are an ``InputError``, before they are made where that can be told.
    """
    for kind in type(structure).__mro__:
        if kind.__name__ in BUILDERS:
            return BUILDERS[kind.__name__](structure, sentence, most)
    known = ", ".join(BUILDERS)
    raise InputError(f"a {type(structure).__name__} has no hypergraph for programs to be made of; these have: {known}")


def _groups(batch: Any, sentence: int, most: int | None = None) -> Derivations:
    """The sentence in its group; entries are counted through the tables of all groups."""
    g = int(batch.group[sentence])
    found = derivations(batch.groups[g], int((batch.group[:sentence] == g).sum()), most)
    before = {name: sum(table.size for table in named(batch.potentials[:g], name)) for name in found.uses}
    return found._replace(uses={name: (edge, entry + before[name]) for name, (edge, entry) in found.uses.items()})


Builder = Callable[[Any, int, int | None], Derivations]
BUILDERS: dict[str, Builder] = {
    "ChainBatch": chain,
    "Graphed": graphed,
    "RuledBatch": ruled,
    "GrammarBatch": grammar,
    "NestedBatch": nested,
    "Groups": _groups,
}
"""From the name of a structure's class, which is not imported for it, to what makes the derivations of a sentence."""
