"""What is made of the probabilities of arcs: the tree to answer with, and how sure the model may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dovetail.models.dependency.model import DependencyModel
from dovetail.models.tagger.tuning import FACTORS
from dovetail.scorers.arcs import Strings
from dovetail.structures.projective import ProjectiveBatch, ProjectivePotentials


def surest(batch: ProjectiveBatch, marginals: ProjectivePotentials | None = None) -> NDArray[np.int32]:
    """The heads of the tree with the largest sum of the probabilities of its arcs: [words].

    That is the most heads right on average, where the best tree is the likeliest to have all of them right.
    """
    probability = (batch.marginals() if marginals is None else marginals).attach.sum(axis=1)
    attach = np.stack([probability, probability], axis=1)
    return replace(batch, potentials=ProjectivePotentials(attach, np.zeros_like(batch.potentials.stop))).best()


def calibrated(
    model: DependencyModel, words: Strings, tags: Strings, gold: Sequence[NDArray[np.int32]], threads: int
) -> DependencyModel:
    """The model with its weights times the factor under which held-out trees are most likely.

    Sentences whose tree lacks an arc, because it was not looked at, are left out.
    """
    if not any(map(len, words)):
        return model
    batch = model.batch(words, tags, threads)
    score = batch.score(np.concatenate(gold))
    possible = np.isfinite(score)
    if not possible.any():
        return model

    def log_likelihood(factor: float) -> float:
        potentials = ProjectivePotentials(*(part * factor for part in batch.potentials))
        log_z = replace(batch, potentials=potentials).log_partition()
        return float((factor * score - log_z)[possible].sum())

    return model.scaled(max([1.0, *FACTORS.tolist()], key=log_likelihood))
