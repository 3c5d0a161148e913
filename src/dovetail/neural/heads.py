"""From the vectors of tokens to scores: of labels, of segments, of brackets and of arcs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError
from dovetail.neural.encoders import WordEncoder
from dovetail.neural.extra import device_of, torch
from dovetail.scorers.chain import NODE, ChainForm
from dovetail.scorers.contract import Items
from dovetail.scorers.nested import PHRASE, SEGMENT_PARTS, WORD, NestedForm
from dovetail.scorers.segments import BOUNDARIES, INSIDE, SegmentForm

Tensor = torch.Tensor
Tensors = dict[str, Tensor]

HIDDEN = 100
"""Units between the ends of a span, or of an arc, and its scores."""
LENGTHS = 16  # of spans, and of the way from head to dependent, that are told apart
PACE = 0.02  # of the steps of all other weights, those of a pre-trained encoder


class TokenHead(torch.nn.Module):
    """Scores of tokens, linear in their vectors; and of phrases of up to ``longest`` tokens, from both ends.

    tokens: how many scores each part has; phrases: how many those of a phrase are, 0 for none.
    """

    kind = "tokens"

    def __init__(self, width: int, tokens: Mapping[str, int], phrases: int = 0, longest: int = 0) -> None:
        super().__init__()
        self.made = {"tokens": dict(tokens), "phrases": phrases, "longest": longest}
        self.of_tokens = torch.nn.ModuleDict({f"of_{part}": torch.nn.Linear(width, n) for part, n in tokens.items()})
        self.of_phrases = Ends(width, phrases) if phrases else None
        self.longest = longest

    @classmethod
    def for_form(cls, form: Any) -> dict[str, Any]:
        """What describes the head of a form."""
        if isinstance(form, ChainForm):
            return {"tokens": {NODE: form.labels}}
        if isinstance(form, SegmentForm):
            parts = {part: form.outputs(part) for part in (*BOUNDARIES, INSIDE)}
            return {"tokens": parts, "phrases": form.outputs(PHRASE), "longest": form.longest}
        if isinstance(form, NestedForm):
            parts = {part: form.outputs(part) for part in (WORD, *SEGMENT_PARTS) if part != PHRASE}
            return {"tokens": parts, "phrases": form.outputs(PHRASE) if form.phrases else 0, "longest": form.phrases}
        raise DovetailError(f"there is no network for a {type(form).__name__}")

    def forward(self, vectors: Tensor, lengths: Sequence[int]) -> Tensors:
        """The scores of all parts, [places, outputs]: tokens, or phrases by where they begin and by their lengths."""
        found = {name.removeprefix("of_"): linear(vectors) for name, linear in self.of_tokens.items()}
        if self.of_phrases is not None:
            begin = torch.arange(len(vectors), device=vectors.device).repeat_interleave(self.longest)
            depth = torch.arange(self.longest, device=vectors.device).repeat(len(vectors))
            end = (begin + depth).clamp(max=max(len(vectors) - 1, 0))  # what crosses the end is read by nobody
            found[PHRASE] = self.of_phrases(vectors, begin, end, depth)
        return found


class Ends(torch.nn.Module):
    """Scores of spans from the vectors at both ends and from their length, by a hidden layer."""

    def __init__(self, width: int, outputs: int, size: int = HIDDEN) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(width, size), torch.nn.Linear(width, size, bias=False)
        self.length = torch.nn.Embedding(LENGTHS, size)
        self.out = torch.nn.Linear(size, outputs)

    def forward(self, vectors: Tensor, begin: Tensor, end: Tensor, depth: Tensor) -> Tensor:
        """begin, end: [spans], which vectors; depth: [spans], how many tokens more than one. [spans, outputs]."""
        hidden = self.first(vectors)[begin] + self.last(vectors)[end] + self.length(depth.clamp(max=LENGTHS - 1))
        found: Tensor = self.out(torch.relu(hidden))
        return found


class BracketHead(torch.nn.Module):
    """Scores of the labels of all spans: of two gaps between words, each seen by the words on either side."""

    kind = "brackets"

    def __init__(self, width: int, labels: int) -> None:
        super().__init__()
        self.made = {"labels": labels}
        self.ends = Ends(2 * width, labels)

    def forward(self, vectors: Tensor, lengths: Sequence[int]) -> Tensors:
        """``span`` [spans, labels]: those of sentence after sentence, from word 0, the shortest first, then from 1."""
        gaps, begins, ends, first = [], [], [], 0
        for own in vectors.split(list(lengths)):
            edge = own.new_zeros(1, own.shape[1])
            gaps.append(torch.cat([torch.cat([edge, own]), torch.cat([own, edge])], 1))
            begin, last = np.triu_indices(len(own))
            begins.append(begin + first)
            ends.append(last + 1 + first)
            first += len(own) + 1
        if not gaps:
            return {"span": vectors.new_zeros(0, self.made["labels"])}
        first_gap, last_gap = (torch.from_numpy(np.concatenate(each)).to(vectors.device) for each in (begins, ends))
        return {"span": self.ends(torch.cat(gaps), first_gap, last_gap, last_gap - first_gap - 1)}


class ArcHead(torch.nn.Module):
    """Scores of all arcs, by both ends together (biaffine) and how far they are apart; and of where a head stops."""

    kind = "arcs"

    def __init__(self, width: int) -> None:
        super().__init__()
        self.made: dict[str, Any] = {}
        self.root = torch.nn.Parameter(torch.zeros(width))
        self.head, self.dependent = torch.nn.Linear(width, HIDDEN), torch.nn.Linear(width, HIDDEN)
        self.both = torch.nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.alone = torch.nn.Linear(HIDDEN, 1)
        self.way = torch.nn.Embedding(2 * LENGTHS + 1, 1)
        self.stop = torch.nn.Linear(width, 4)
        torch.nn.init.zeros_(self.way.weight)

    def forward(self, vectors: Tensor, lengths: Sequence[int]) -> Tensors:
        """``attach`` [arcs, 1], row h * (m + 1) + d of a sentence of m words, and ``stop`` [positions, 2, 2]."""
        arcs, rows = [], []
        for own in vectors.split(list(lengths)):
            seen = torch.cat([self.root[None], own])
            head, dependent = torch.relu(self.head(seen)), torch.relu(self.dependent(seen))
            place = torch.arange(len(seen), device=seen.device)
            apart = (place[None] - place[:, None]).clamp(-LENGTHS, LENGTHS) + LENGTHS
            score = self.both(head) @ dependent.T / HIDDEN**0.5 + self.alone(head) + self.way(apart)[..., 0]
            arcs.append(score.reshape(-1, 1))
            rows.append(seen)
        if not rows:
            return {"attach": vectors.new_zeros(0, 1), "stop": vectors.new_zeros(0, 2, 2)}
        return {"attach": torch.cat(arcs), "stop": self.stop(torch.cat(rows)).view(-1, 2, 2)}


HEADS: dict[str, Any] = {head.kind: head for head in (TokenHead, BracketHead, ArcHead)}


def encoder_of(kind: str, described: Mapping[str, Any]) -> Any:
    """An encoder of a model file, with any weights."""
    if kind == WordEncoder.kind:
        return WordEncoder.of(described)
    from dovetail.neural.pretrained import PretrainedEncoder

    if kind != PretrainedEncoder.kind:
        raise ValueError(f"no encoder {kind!r} is known")
    return PretrainedEncoder.of(described)


class Encoded(torch.nn.Module):
    """An encoder, and on it the head of a structure: see ``neural.network.Reader``."""

    kind = "encoded"

    def __init__(self, encoder: Any, head: Any) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def pace_of(self, name: str) -> float:
        """How long the steps of a parameter are: see ``flat.paces``."""
        return PACE if name.startswith("encoder.model.") else 1.0

    @classmethod
    def with_head(cls, encoder: Any, kind: str, **described: Any) -> Encoded:
        """An encoder with a new head, on the device that networks are to be on."""
        return cls(encoder, HEADS[kind](encoder.width, **described)).to(device_of())

    def described(self) -> dict[str, Any]:
        """All that makes the same module, but for its weights."""
        own = {"encoder": self.encoder.kind, "encoder_made": self.encoder.described()}
        return own | {"head": self.head.kind, "head_made": self.head.made}

    def inputs(self, sentences: Sequence[Any]) -> Callable[[Items], Any]:
        """Sentences made ready: from the numbers of some to what ``forward`` takes."""
        words = [getattr(sentence, "words", sentence) for sentence in sentences]
        read, sizes = self.encoder.read(words), np.diff(offsets_of(words))
        return lambda which: (read(which), sizes[which].tolist())

    def forward(self, given: tuple[Any, list[int]]) -> Tensors:
        """The scores of all parts of some sentences."""
        some, lengths = given
        found: Tensors = self.head(self.encoder(some), lengths)
        return found


def make(described: Mapping[str, Any], form: Any = None) -> Encoded:
    """The module of a model file; its head must be that of the form, where there is one."""
    head, made = str(described["head"]), dict(described["head_made"])
    if form is not None and (head != TokenHead.kind or TokenHead.for_form(form) | made != made):
        raise ValueError("the network does not fit the labels")
    return Encoded.with_head(encoder_of(str(described["encoder"]), described["encoder_made"]), head, **made)


def learn_encoder(
    sentences: Sequence[Sequence[str]], what: str, tuned: bool, size: int, dropout: float, seed: int
) -> Any:
    """The encoder that a setting names: ``lstm``, ``cnn``, or a folder with a pre-trained one."""
    from dovetail.neural.extra import seeded

    with seeded(seed, torch.device("cpu")):
        if what in ("lstm", "cnn"):
            return WordEncoder.learn(sentences, what, size=size, dropout=dropout)
        from dovetail.neural.pretrained import PretrainedEncoder

        return PretrainedEncoder.from_folder(what, tuned, size=size, dropout=dropout)


def learn_network(encoder: Any, seed: int, kind: str, **described: Any) -> Encoded:
    """An encoder with a new head, whose first weights are drawn by a seed."""
    from dovetail.neural.extra import seeded

    with seeded(seed, torch.device("cpu")):
        return Encoded.with_head(encoder, kind, **described)
