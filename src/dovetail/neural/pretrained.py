"""Encoders that somebody trained: any Hugging Face encoder in a folder on disk, and the same out of a model file.

A word has the vector of its first piece, or the mean of those of all. Sentences with more pieces than the encoder takes
are read in windows that overlap, and a word is seen in that where most lies on either side of it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dovetail.errors import DovetailError
from dovetail.extras import lacking
from dovetail.neural.encoders import over_sentences
from dovetail.neural.extra import torch
from dovetail.scorers.contract import Items

Tensor = torch.Tensor
Strings = Sequence[Sequence[str]]

WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
TOKENISERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
USUAL_LIMIT = 512
TOGETHER = 4096  # pieces that go through an encoder at once where nothing is learnt
LAYERS = 4  # of which the mean is taken where an encoder is frozen: better than the last alone
OFFSET = {"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet", "longformer", "xmod"}
"""Encoders whose positions begin after that of padding."""


class Window(NamedTuple):
    """A stretch of pieces of a sentence that is read at once."""

    pieces: list[int]
    first: list[int]
    """Where each of its words begins among the pieces, and where the last ends."""
    words: range
    """Which words of the sentence it is asked for."""
    skipped: int
    """How many words it has before these."""


def windows(pieces: Sequence[Sequence[int]], most: int) -> list[Window]:
    """A sentence, given by the pieces of its words, in windows of so many at most.

    >>> [(w.pieces, list(w.words)) for w in windows([[1], [2], [3], [4, 5], [6]], 4)]
    [([1, 2, 3], [0, 1]), ([2, 3, 4, 5], [2, 3]), ([4, 5, 6], [4])]
    """
    own = [list(each[:most]) for each in pieces]
    ends = np.cumsum([0, *map(len, own)])
    spans: list[tuple[int, int]] = []
    if ends[-1] <= most:
        spans = [(0, len(own))]
    else:
        low = 0
        while True:
            high = int(np.searchsorted(ends, ends[low] + most, side="right")) - 1
            spans.append((low, high))
            if high == len(own):
                break
            low = max(low + 1, int(np.searchsorted(ends, ends[high] - most // 2, side="left")))
    # A word belongs to the window where it is farthest from an edge; edges of the sentence are none.
    owner = []
    for word in range(len(own)):
        room = [
            -1 if not a <= word < b else min(word - a if a else len(own), b - 1 - word if b < len(own) else len(own))
            for a, b in spans
        ]
        owner.append(int(np.argmax(room)))
    found = []
    for number, (a, b) in enumerate(spans):
        mine = [word for word in range(a, b) if owner[word] == number]
        if mine:
            words = range(mine[0], mine[-1] + 1)
            first = np.cumsum([0, *map(len, own[a:b])]).tolist()
            found.append(Window([p for each in own[a:b] for p in each], first, words, mine[0] - a))
    return found


class PretrainedEncoder(torch.nn.Module):
    """A Hugging Face encoder and its tokeniser; tuned with whatever is on top of it, or frozen, with a BiLSTM over it.

    pooled: whether a word has the vector of its ``first`` piece or the ``mean`` of all. size: the units of the BiLSTM
    over a frozen encoder, in each direction.
    """

    kind = "pretrained"

    def __init__(
        self, model: Any, tokeniser: Any, around: tuple[list[int], list[int]], tuned: bool = False,
        pooled: str = "first", limit: int = USUAL_LIMIT, size: int = 100, dropout: float = 0.4,
    ) -> None:  # fmt: skip
        super().__init__()
        self.model, self.tokeniser = model, tokeniser
        self.made = {"tuned": tuned, "pooled": pooled, "limit": limit, "size": size, "dropout": dropout}
        self.tuned, self.pooled = tuned, pooled
        self.before, self.after = around
        self.most = limit - len(self.before) - len(self.after)
        self.inner = int(model.config.hidden_size)
        self.width = self.inner if tuned else 2 * size
        self.over_words = None if tuned else torch.nn.LSTM(self.inner, size, bidirectional=True, batch_first=True)
        self.drop = torch.nn.Dropout(dropout)
        for parameter in model.parameters():
            parameter.requires_grad_(tuned)

    @classmethod
    def from_folder(cls, path: str | Path, tuned: bool = False, **how: Any) -> PretrainedEncoder:
        """The encoder in a folder: its configuration, weights and tokeniser, as ``save_pretrained`` writes them."""
        folder = Path(path)
        check_folder(folder)
        with quiet():
            from transformers import AutoModel, AutoTokenizer

            try:
                tokeniser = AutoTokenizer.from_pretrained(folder, local_files_only=True)
                model = AutoModel.from_pretrained(folder, local_files_only=True).float()
            except Exception as error:  # of many kinds, by what is wrong with the files
                told = str(error).strip().splitlines() or [type(error).__name__]
                raise DovetailError(f"{folder}: this encoder cannot be read: {told[0]}") from None
        if not tokeniser.is_fast:
            raise DovetailError(f"{folder}: the tokeniser of this encoder has no fast form; add a tokenizer.json")
        return cls(model, tokeniser, around(tokeniser), tuned, limit=limit_of(model.config, tokeniser), **how)

    def described(self) -> dict[str, Any]:
        """All that makes the same encoder, but for its weights: its configuration and its tokeniser, whole."""
        special = {
            name: str(value) for name, value in self.tokeniser.special_tokens_map.items() if isinstance(value, str)
        }
        return {
            "config": {"model_type": self.model.config.model_type}
            | json.loads(self.model.config.to_json_string(False)),
            "tokeniser": self.tokeniser.backend_tokenizer.to_str(),
            "special": special,
            "around": [self.before, self.after],
            **self.made,
        }

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> PretrainedEncoder:
        """The encoder that was so described, with any weights."""
        with quiet():
            from tokenizers import Tokenizer
            from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

            config = dict(described["config"])
            model = AutoModel.from_config(AutoConfig.for_model(config.pop("model_type"), **config)).float()
            backend = Tokenizer.from_str(described["tokeniser"])
            tokeniser = PreTrainedTokenizerFast(tokenizer_object=backend, **described["special"])
        before, after = described["around"]
        how = {name: described[name] for name in ("tuned", "pooled", "limit", "size", "dropout")}
        return cls(model, tokeniser, (list(before), list(after)), **how)

    def read(self, sentences: Strings) -> Callable[[Items], list[Read]]:
        """Sentences made ready: from the numbers of some to what ``forward`` takes."""
        every = [Read(own) for own in self._windows(sentences)]
        return lambda which: [every[i] for i in which.tolist()]

    def _windows(self, sentences: Strings) -> Iterator[list[Window]]:
        unknown = self.tokeniser.unk_token_id
        spare = [0 if unknown is None else unknown]
        for words in sentences:
            found: list[list[int]] = [[] for _ in words]
            if len(words):
                told = self.tokeniser(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)
                for piece, word in zip(told["input_ids"], told.word_ids(), strict=True):
                    found[word].append(piece)
            yield windows([own or spare for own in found], self.most) if len(words) else []

    def train(self, mode: bool = True) -> PretrainedEncoder:
        """An encoder that is frozen never drops anything out."""
        super().train(mode)
        if not self.tuned:
            self.model.eval()
        return self

    def forward(self, some: Sequence[Read]) -> Tensor:
        """The vectors of all tokens, [tokens, width]; what a frozen encoder says is kept with the sentences."""
        if self.over_words is None:
            return self.drop(self._encoded(some))
        fresh = [each for each in some if each.vectors is None]
        if fresh:
            with torch.no_grad():
                found = self._encoded(fresh)
            for each, own in zip(fresh, found.split([each.tokens for each in fresh]), strict=True):
                each.vectors = own.clone()
        there = [each.vectors for each in some if each.vectors is not None and each.tokens]
        if not there:
            return torch.zeros(0, self.width, device=self.device)
        rows = over_sentences(self.over_words, self.drop(torch.cat(there)), [len(own) for own in there])
        return self.drop(rows)

    @property
    def device(self) -> torch.device:
        """Where the encoder is."""
        return next(self.model.parameters()).device

    def _encoded(self, some: Sequence[Read]) -> Tensor:
        every = [window for each in some for window in each.windows]
        order = sorted(range(len(every)), key=lambda i: -len(every[i].pieces))
        found: list[Tensor] = [torch.zeros(0, self.inner)] * len(every)
        while order:
            size = len(every[order[0]].pieces) + len(self.before) + len(self.after)
            count = max(1, TOGETHER // size)
            now, order = order[:count], order[count:]
            for i, own in zip(now, self._together([every[i] for i in now]), strict=True):
                found[i] = own
        none = torch.zeros(0, self.inner, device=self.device)
        return torch.cat([none, *found])

    def _together(self, some: Sequence[Window]) -> Iterator[Tensor]:
        """The vectors of the words that windows are asked for."""
        rows = [[*self.before, *window.pieces, *self.after] for window in some]
        most = max(map(len, rows))
        filler = self.tokeniser.pad_token_id or 0
        pieces = torch.tensor([row + [filler] * (most - len(row)) for row in rows], device=self.device)
        mask = torch.tensor([[1] * len(row) + [0] * (most - len(row)) for row in rows], device=self.device)
        told = self.model(input_ids=pieces, attention_mask=mask, output_hidden_states=not self.tuned)
        hidden = told.last_hidden_state if self.tuned else torch.stack(told.hidden_states[-LAYERS:]).mean(0)
        for own, window in zip(hidden, some, strict=True):
            first = torch.tensor(window.first, device=self.device) + len(self.before)
            asked = slice(window.skipped, window.skipped + len(window.words))
            if self.pooled == "first":
                yield own[first[:-1][asked]]
            else:
                total = torch.cat([own.new_zeros(1, self.inner), own.cumsum(0)])
                count = (first[1:] - first[:-1])[asked, None]
                yield (total[first[1:][asked]] - total[first[:-1][asked]]) / count


class Read:
    """A sentence in windows, and the vectors of its words [tokens, width] once they are known."""

    def __init__(self, own: list[Window]) -> None:
        self.windows = own
        self.tokens = sum(len(window.words) for window in own)
        self.vectors: Tensor | None = None


def around(tokeniser: Any) -> tuple[list[int], list[int]]:
    """The special pieces that a tokeniser puts before and after a sentence."""
    told = tokeniser(["a"], is_split_into_words=True, return_special_tokens_mask=True)
    pieces, plain = told["input_ids"], [i for i, special in enumerate(told["special_tokens_mask"]) if not special]
    return pieces[: plain[0]], pieces[plain[-1] + 1 :]


def limit_of(config: Any, tokeniser: Any) -> int:
    """The most pieces that an encoder takes, special ones included."""
    places = getattr(config, "max_position_embeddings", None) or USUAL_LIMIT
    if config.model_type in OFFSET:
        places -= (config.pad_token_id or 0) + 1
    return int(min(places if places > 0 else USUAL_LIMIT, tokeniser.model_max_length))


def check_folder(folder: Path) -> None:
    """An error that names the file which the folder of an encoder lacks."""
    if not folder.is_dir():
        raise DovetailError(f"{folder}: there is no such folder with an encoder; give lstm, cnn or the path of one")
    there = {each.name for each in folder.iterdir()}
    for names, what in ((("config.json",), "configuration"), (WEIGHTS, "weights"), (TOKENISERS, "tokeniser")):
        if not there & set(names):
            shown = names[0] if len(names) == 1 else f"{names[0]} (or another of its kind)"
            raise DovetailError(f"{folder}: this folder of an encoder lacks {shown}, its {what}")


@contextmanager
def quiet() -> Iterator[None]:
    """While transformers, which tells of much on the way, tells of nothing."""
    try:
        from transformers.utils import logging as told
    except ImportError:
        raise lacking("an encoder", "transformers") from None
    before, bars = told.get_verbosity(), told.is_progress_bar_enabled()
    told.set_verbosity(logging.CRITICAL)
    told.disable_progress_bar()
    try:
        yield
    finally:
        told.set_verbosity(before)
        if bars:
            told.enable_progress_bar()
