"""Probabilities of rules: relative frequencies, smoothed by those of the rules without annotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.treebank import TreebankGrammar

Floats = NDArray[np.float64]


def log_probabilities(treebank: TreebankGrammar, smoothing: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """The log-probability of every binary rule [R] and unary rule [U] given its parent, and of every root [S]. With
    ``smoothing`` s, a rule of a parent that was seen n times has the probability ``(count + s * back) / (n + s)``,
    where ``back`` is the share of the rule without annotation, divided among the rules of this parent that look the
    same without. Rules that no tree has used (relaxed ones) are possible only so."""
    g, size = treebank.grammar, treebank.grammar.symbols
    parent = np.concatenate([g.parent, g.unary_parent])
    count = np.concatenate([treebank.binary_count, treebank.unary_count])
    seen = np.bincount(parent, count, size)
    probability = count / np.maximum(seen[parent], 1e-300)
    if smoothing:
        rule, label = _coarse_rules(treebank)
        coarse_parent = label[parent]
        share = np.bincount(rule, count)[rule] / np.bincount(coarse_parent, count)[coarse_parent]
        alike = np.unique(np.stack([parent, rule]), axis=1, return_inverse=True)[1].ravel()
        back = share / np.bincount(alike)[alike]
        probability = (count + smoothing * back) / (seen[parent] + smoothing)
    with np.errstate(divide="ignore"):
        log = np.log(probability)
        return log[: g.rules], log[g.rules :], np.log(treebank.root_count / max(treebank.root_count.sum(), 1e-300))


def _coarse_rules(treebank: TreebankGrammar) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for every rule, and for every symbol, that leaves its annotation out of account."""
    g = treebank.grammar
    names: dict[object, int] = {}
    label = np.array([names.setdefault(symbol.coarse, len(names)) for symbol in treebank.symbols], np.int64)
    rules: dict[object, int] = {}
    children = zip(label[g.parent].tolist(), label[g.left].tolist(), label[g.right].tolist(), strict=True)
    numbers = [rules.setdefault(rule, len(rules)) for rule in children]
    for chain, child in zip(treebank.chains, label[g.unary_child].tolist(), strict=True):
        numbers.append(rules.setdefault((tuple(part.coarse for part in chain), child), len(rules)))
    return np.array(numbers, np.int64), label
