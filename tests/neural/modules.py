"""A small module for any form, over words and their neighbours."""

from __future__ import annotations

import numpy as np

from dovetail.arrays import taken
from dovetail.neural.extra import torch


class Window(torch.nn.Module):
    """Words as vectors, a hidden layer over each and the next of its sentence, and a layer for every part."""

    def __init__(self, form, parts, words=7, size=3, dropout=0.0):
        super().__init__()
        self.form = form
        self.words = torch.nn.Embedding(words, size)
        self.hidden = torch.nn.Linear(2 * size, 4)
        self.dropout = torch.nn.Dropout(dropout)
        self.out = torch.nn.ModuleDict({f"{part}_": torch.nn.Linear(4, form.outputs(part)) for part in parts})

    def forward(self, inputs):
        words, last = inputs
        vectors = self.words(words)
        after = torch.roll(vectors, -1, 0) * ~last[:, None]
        inner = self.dropout(torch.tanh(self.hidden(torch.cat([vectors, after], 1))))
        found = {}
        for name, out in self.out.items():
            part = name[:-1]
            many = len(self.form.places(part, np.arange(1)))
            found[part] = out(inner).repeat_interleave(many, 0)
        return found


def inputs_of(words, offsets):
    """What the module takes of some sentences: the numbers of their words, and which of them are the last."""
    given, last = torch.from_numpy(words), torch.zeros(len(words), dtype=torch.bool)
    last[offsets[1:][np.diff(offsets) > 0] - 1] = True

    def take(which):
        tokens = torch.from_numpy(taken(offsets, which)[0])
        return given[tokens], last[tokens]

    return take
