"""Gibbs sampling: everything is drawn anew, again and again, from its exact distribution given all the rest.

Two kinds of moves. *Blocks*: a whole sentence, or a variable of no structure, is drawn from its exact conditional
distribution; blocks that share no factor are drawn at once (a chromatic schedule, Gonzalez et al. 2011). Where a factor
couples two variables of one block, what it says is taken from the values before, and the draw is accepted by the rule
of Metropolis and Hastings. *Sites*: single words of chains (see ``sites``), which is far quicker for documents.

For probabilities several chains are run, and compared by R-hat (Gelman and Rubin, on halves of chains). For the best
answers the temperature falls in a straight line from one to nearly zero (Finkel, Grenager and Manning 2005), and the
best of all samples is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.engines import sites
from dovetail.joint.graph import Graph
from dovetail.joint.result import Beliefs, Incumbent, Result, check, improved
from dovetail.joint.wiring import HARD, Wiring
from dovetail.structures.contract import Floats, Integers, Parts, Structure

MOVES = ("auto", "sites", "blocks")
MIXED = 1.05  # chains whose R-hat is below have found the same distribution


def solve(
    graph: Graph,
    *,
    samples: int = 200,
    seed: int = 0,
    moves: str = "auto",
    start: str = "best",
    unsure: float | None = 1e-3,
) -> Result:
    """The best of so many samples under annealing.

    start: from the ``best`` answers without couplings, or at ``random``. unsure: of single words, only those are drawn
    whose second label is at least so probable beside the first, couplings included as far as they can reach; None: all.
    """
    wiring = check(graph)
    quick = _check(wiring, samples, moves, seed, unsure)
    incumbent, interrupted = Incumbent(wiring), False
    rng = np.random.default_rng(seed)
    values = _start(wiring, rng, start)
    incumbent.offer(values, wiring.scores(values))
    try:
        if quick:
            found, interrupted = sites.annealed(
                wiring, values, samples, int(rng.integers(2**62)), unsure, start == "random"
            )
            incumbent.offer(found, wiring.scores(found))
        else:
            sampler = _Blocks(wiring)
            for t in range(samples):
                values = sampler.sweep(values, 1.0 - t / samples, rng)
                incumbent.offer(values, wiring.scores(values))
        if not interrupted:
            improved(wiring, incumbent)
    except KeyboardInterrupt:
        interrupted = True
    return incumbent.result("gibbs", np.full(wiring.components, not interrupted), samples, interrupted)


def marginals(
    graph: Graph,
    *,
    samples: int = 1000,
    burn_in: int | None = None,
    chains: int = 4,
    seed: int = 0,
    moves: str = "auto",
    unsure: float | None = None,
) -> Beliefs:
    """Probabilities as frequencies in samples of several chains, after ``burn_in`` ones (a fifth unless said).

    They are said to have converged where chains agree, and end in values that no coupling forbids. After Ctrl-C they
    are those of the samples drawn so far.
    """
    wiring = check(graph)
    quick = _check(wiring, samples, moves, seed, unsure)
    warm = samples // 5 if burn_in is None else burn_in
    if chains < 1 or warm < 0:
        raise InputError("chains must be at least 1, and burn_in at least 0")
    halves, interrupted = np.zeros((chains, 2, wiring.states)), False
    worst, values = np.ones(wiring.components), np.zeros(len(wiring.sizes), np.int64)
    try:
        for c in range(chains):
            rng = np.random.default_rng([seed, c])
            values = _start(wiring, rng, "random" if c else "best")
            if quick:
                seed_ = int(rng.integers(2**62))
                halves[c], values, stopped = sites.frequencies(wiring, values, samples, warm, seed_, unsure)
                if stopped:
                    raise KeyboardInterrupt
            else:
                sampler = _Blocks(wiring)
                for t in range(warm + samples):
                    values = sampler.sweep(values, 1.0, rng)
                    if t >= warm:
                        halves[c, int(2 * (t - warm) >= samples), wiring.ptr[:-1] + values] += 1.0
            worst[wiring.coupled(values) == -np.inf] = np.inf
    except KeyboardInterrupt:
        interrupted = True
        worst[:] = np.inf
    never = np.zeros(wiring.components, bool)
    total = halves.sum(axis=(0, 1))
    drawn = np.repeat(np.add.reduceat(total, wiring.ptr[:-1]), wiring.sizes) if len(total) else total
    total[wiring.ptr[:-1] + values] += drawn[wiring.ptr[:-1]] == 0.0  # nothing yet: where it stands
    if not interrupted:
        size = np.array([(samples + 1) // 2, samples // 2])[:, None]
        ratio = r_hat((halves / np.maximum(size, 1)).reshape(2 * chains, -1), samples / 2)
        np.maximum.at(worst, np.repeat(wiring.component[wiring.block_of], wiring.sizes), ratio)
    unknown = np.full(wiring.components, np.nan)
    return Beliefs(
        "gibbs",
        wiring,
        total / np.maximum(drawn, 1.0),
        [],
        unknown,
        never,
        worst < MIXED,
        samples,
        float(worst.max(initial=1.0)),
        interrupted=interrupted,
    )


def r_hat(means: Floats, size: float) -> Floats:
    """How much further apart chains are than their samples, for zeros and ones: [states]; 1 is as it should be.

    means: [chains, states], of ``size`` samples each.
    """
    within = (means * (1.0 - means)).mean(axis=0) * size / max(size - 1.0, 1.0)
    between = means.var(axis=0, ddof=1) if len(means) > 1 else np.zeros(means.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((size - 1.0) / size + between / within)
    return np.where(between > 0.0, np.where(within > 0.0, ratio, np.inf), 1.0)


def _check(wiring: Wiring, samples: int, moves: str, seed: int, unsure: float | None) -> bool:
    """Whether single words are drawn."""
    if samples < 1 or seed < 0:
        raise InputError("samples must be at least 1, and the seed at least 0")
    if unsure is not None and not 0.0 < unsure <= 1.0:
        raise InputError(f"unsure is a ratio of probabilities above 0 and at most 1, or None, not {unsure}")
    if moves not in MOVES:
        raise InputError(f"no moves {moves!r}; there are {', '.join(MOVES)}")
    reason = sites.unfit(wiring)
    if moves == "sites" and reason:
        raise InputError(f"single words cannot be drawn here: {reason}; take moves='blocks'")
    return moves != "blocks" and not reason


def _start(wiring: Wiring, rng: np.random.Generator, start: str) -> Integers:
    """Values to begin with: of the best answers without couplings, or of samples."""
    if start not in ("best", "random"):
        raise InputError(f"start from 'best' or at 'random', not {start!r}")
    _, values, _ = wiring.best(np.zeros(wiring.states))
    if start == "random":
        values = _Blocks(wiring).sweep(values, 1.0, rng, alone=True)
    return values


@dataclass
class _Colour:
    """Blocks of one structure that share no factor, drawn at once.

    groups: for each group of variables that has some here, which of them, and where their parts lie.
    """

    node: int
    blocks: Integers
    structure: Structure[Any, Any] | None
    groups: list[tuple[int, Integers, Parts | None]]
    coupled_within: bool


class _Blocks:
    """Draws whole sentences, colour by colour."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        colour, inner = _coloured(wiring)
        self.colours: list[_Colour] = []
        used = np.zeros(wiring.blocks, bool)
        used[wiring.block_of] = True
        for c in range(colour.max(initial=-1) + 1):
            for node in range(len(wiring.structures) + 1):
                free = node == len(wiring.structures)
                low = wiring.block_ptr[node]
                high = wiring.blocks if free else wiring.block_ptr[node + 1]
                which = low + np.flatnonzero((colour[low:high] == c) & used[low:high])
                if which.size:
                    self.colours.append(self._colour(-1 if free else node, which, bool(inner[which].any())))

    def _colour(self, node: int, blocks: Integers, inner: bool) -> _Colour:
        w, groups = self.wiring, []
        number = np.full(w.blocks, -1)
        number[blocks] = np.arange(len(blocks))
        structure = None if node < 0 else w.structures[node].take(blocks - w.block_ptr[node])
        for g, group in enumerate(w.groups):
            own = number[w.block_of[group.first : group.first + group.count]]
            rows = np.flatnonzero(own >= 0)
            if group.node == node and rows.size:
                parts = None
                if group.address is not None and structure is not None:
                    parts = group.address.some(rows, own[rows]).parts(structure)
                groups.append((g, rows, parts))
        return _Colour(node, blocks, structure, groups, inner)

    def sweep(self, values: Integers, temperature: float, rng: np.random.Generator, alone: bool = False) -> Integers:
        """All variables drawn anew once; ``alone``: as if there were no couplings."""
        values, w = values.copy(), self.wiring
        for colour in self.colours:
            evidence = np.zeros(w.states) if alone else np.maximum(w.given(values), -HARD)
            drawn, log_z = self._draw(colour, evidence, values, temperature, rng)
            if colour.coupled_within and not alone:
                drawn = self._accepted(colour, values, drawn, evidence, log_z, temperature, rng)
            values = drawn
        return values

    def _draw(
        self, colour: _Colour, evidence: Floats, values: Integers, temperature: float, rng: np.random.Generator
    ) -> tuple[Integers, Floats]:
        """Values of all variables with those of the colour drawn anew, and log Z of its blocks."""
        w, out = self.wiring, values.copy()
        if colour.structure is None:
            for g, rows, _ in colour.groups:
                own = w.groups[g].potentials
                assert own is not None
                joint = (own[rows] + w.of_group(g, evidence)[rows]) / temperature
                out[w.groups[g].first + rows] = (joint + rng.gumbel(size=joint.shape)).argmax(axis=1)
            return out, np.zeros(len(colour.blocks))
        informed, constant = self._informed(colour, evidence, temperature)
        counts = informed.indicator(informed.sample(1, rng)[0])
        for g, rows, parts in colour.groups:
            group = w.groups[g]
            assert parts is not None
            on = informed.read(counts, parts).reshape(len(rows), -1)
            if group.rest:
                on = np.concatenate([1.0 - on.sum(axis=1, keepdims=True), on], axis=1)
            out[group.first + rows] = on.argmax(axis=1)
        return out, informed.log_partition() + constant if colour.coupled_within else constant

    def _informed(self, colour: _Colour, evidence: Floats, temperature: float) -> tuple[Structure[Any, Any], Floats]:
        """The blocks of a colour with evidence at a temperature, and what is left to add to their log Z."""
        w, informed, constant = self.wiring, colour.structure, np.zeros(len(colour.blocks))
        assert informed is not None
        number = np.full(w.blocks, -1)
        number[colour.blocks] = np.arange(len(colour.blocks))
        for g, rows, parts in colour.groups:
            group, own = w.groups[g], w.of_group(g, evidence)[rows]
            assert parts is not None
            if group.rest:
                block = number[w.block_of[group.first + rows]]
                constant += np.bincount(block, own[:, 0], len(constant)) / temperature
                own = own[:, 1:] - own[:, :1]
            informed = informed.plus(parts, own.ravel())
        return (informed if temperature == 1.0 else informed.scaled(1.0 / temperature)), constant

    def _accepted(
        self,
        colour: _Colour,
        old: Integers,
        new: Integers,
        forth: Floats,
        log_z: Floats,
        temperature: float,
        rng: np.random.Generator,
    ) -> Integers:
        """The draw where it is accepted, the old values elsewhere.

        With F the score of the couplings and e(x) what they say given x, the structure's own score cancels:
        ``log a = F(x') - F(x) + e(x')·x - e(x)·x' + log Z(e(x)) - log Z(e(x'))``.
        """
        w = self.wiring
        back = np.maximum(w.given(new), -HARD)
        informed, constant = self._informed(colour, back, temperature)
        ratio = log_z - informed.log_partition() - constant
        number = np.full(w.blocks, -1)
        number[colour.blocks] = np.arange(len(colour.blocks))
        of_variable = number[w.block_of]
        mine = of_variable >= 0
        along = (back[w.ptr[:-1] + old] - forth[w.ptr[:-1] + new]) / temperature
        ratio += np.bincount(of_variable[mine], along[mine], len(ratio))
        for coupling in w.couplings:
            before, after = (np.stack([v[a] for a in coupling.arguments], axis=1) for v in (old, new))
            block = np.max([of_variable[a] for a in coupling.arguments], axis=0)
            there = block >= 0
            gain = np.maximum(coupling.factor.scores(after), -HARD) - np.maximum(coupling.factor.scores(before), -HARD)
            ratio += np.bincount(block[there], gain[there] / temperature, len(ratio))
        taken = np.log(rng.random(len(ratio))) < ratio
        return np.where(mine & taken[of_variable], new, old)


def _coloured(wiring: Wiring) -> tuple[Integers, Integers]:
    """A colour for each block, such that blocks that share a factor differ, and whether a factor is within a block.

    By Welsh and Powell: the blocks with the most neighbours first, each with the first colour that none of these has.
    """
    neighbours: list[set[int]] = [set() for _ in range(wiring.blocks)]
    inner = np.zeros(wiring.blocks, np.int64)
    for coupling in wiring.couplings:
        blocks = np.stack([wiring.block_of[a] for a in coupling.arguments], axis=1)
        for i in range(blocks.shape[1]):
            for j in range(i):
                same = blocks[:, i] == blocks[:, j]
                inner[blocks[same, i]] = 1
                for left, right in np.unique(blocks[~same][:, [i, j]], axis=0).tolist():
                    neighbours[left].add(right)
                    neighbours[right].add(left)
    colour = np.full(wiring.blocks, -1, np.int64)
    for block in sorted(range(wiring.blocks), key=lambda b: (-len(neighbours[b]), b)):
        taken = {int(colour[other]) for other in neighbours[block]}
        colour[block] = next(c for c in range(len(taken) + 1) if c not in taken)
    return colour, inner
