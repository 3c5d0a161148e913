"""Encoders of sentences: a vector for every token, from its word, its letters and its neighbours.

Every encoder is a module with a ``width``, with ``read(sentences)``, which makes sentences ready once, and with
``forward(some)``, which takes some of them and gives [tokens, width].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail.arrays import offsets_of, taken
from dovetail.neural.extra import torch
from dovetail.scorers.contract import Items

Tensor = torch.Tensor
Strings = Sequence[Sequence[str]]

LONGEST = 24  # letters of a word that are looked at: the first half and the last
CASES = 7
"""How many ways there are to write a word."""
CASE_WIDTH = 8
LETTER_WIDTH = 30
UNKNOWN_RATE = 0.05  # of words that are taken for unknown in training


def casing(word: str) -> int:
    """How a word is written: in small letters, capitals, with a capital, digits, something else.

    >>> [casing(word) for word in ("the", "IBM", "Ada", "eBay", "1999", "B2B", "...")]
    [0, 1, 2, 3, 4, 5, 6]
    """
    if word.isdigit():
        return 4
    if any(letter.isdigit() for letter in word):
        return 5
    if not any(letter.isalpha() for letter in word):
        return 6
    if word.islower() or not any(letter.isupper() for letter in word):
        return 0
    if word.isupper():
        return 1
    return 2 if word[0].isupper() and not any(letter.isupper() for letter in word[1:]) else 3


def letters_of(word: str) -> str:
    """What is looked at of a word: its beginning and its end.

    >>> letters_of("word"), len(letters_of("w" * 50))
    ('word', 24)
    """
    return word if len(word) <= LONGEST else word[: LONGEST // 2] + word[-LONGEST // 2 :]


class Words(NamedTuple):
    """Some sentences as a ``WordEncoder`` takes them; a word that comes again is spelled once."""

    word: Tensor
    """``[tokens]``."""
    case: Tensor
    """``[tokens]``."""
    spelling: Tensor
    """``[tokens]``: which of the spellings each has."""
    letters: Tensor
    """``[spellings, letters]``, zero past the end."""
    lengths: list[int]
    """Tokens of each sentence that has any."""


class WordEncoder(torch.nn.Module):
    """A vector for every token: of its word, of its letters, of its case; and over these a BiLSTM.

    letters: whether those of a word are read by a BiLSTM (``lstm``) or by a convolution over three (``cnn``). size: the
    units of the BiLSTM over words, in each direction. Words are told apart without regard to capitals.

    >>> encoder = WordEncoder.learn([["Ada", "met", "Ada"], ["Bob"]], "cnn", size=4)
    >>> encoder(encoder.read([["Ada", "slept"], ["Bob"]])(np.array([0, 1]))).shape
    torch.Size([3, 8])
    """

    kind = "words"

    def __init__(
        self, words: Sequence[str], alphabet: str, letters: str = "lstm", size: int = 100, word_size: int = 100,
        letter_size: int = 25, dropout: float = 0.4,
    ) -> None:  # fmt: skip
        super().__init__()
        self.made = {"letters": letters, "size": size, "word_size": word_size, "letter_size": letter_size}
        self.made |= {"words": list(words), "alphabet": alphabet, "dropout": dropout}
        self.number = {word: i for i, word in enumerate(words, 1)}
        self.letter = {letter: i for i, letter in enumerate(alphabet, 2)}  # 0 is past the end, 1 any other
        self.word = torch.nn.Embedding(len(words) + 1, word_size)
        self.spell = torch.nn.Embedding(len(alphabet) + 2, LETTER_WIDTH, padding_idx=0)
        self.case = torch.nn.Embedding(CASES, CASE_WIDTH)
        self.by_lstm = letters == "lstm"
        self.over_letters: torch.nn.Module = (
            torch.nn.LSTM(LETTER_WIDTH, letter_size, bidirectional=True, batch_first=True)
            if self.by_lstm
            else torch.nn.Conv1d(LETTER_WIDTH, 2 * letter_size, 3, padding=1)
        )
        inner = word_size + 2 * letter_size + CASE_WIDTH
        self.over_words = torch.nn.LSTM(inner, size, bidirectional=True, batch_first=True)
        self.drop = torch.nn.Dropout(dropout)
        self.width = 2 * size
        with torch.no_grad():
            self.word.weight.normal_(0.0, (1.0 / word_size) ** 0.5)

    @classmethod
    def learn(
        cls, sentences: Strings, letters: str, min_count: int = 2, vectors: Mapping[str, Any] | None = None, **how: Any
    ) -> WordEncoder:
        """With the words that occur so often, and the letters, of some sentences.

        vectors: of words [numbers], where there are some: these words are known, too, and begin with their vectors.
        """
        counts = Counter(word.lower() for sentence in sentences for word in sentence)
        known = {word for word, count in counts.items() if count >= min_count}
        if vectors:
            how["word_size"] = len(next(iter(vectors.values())))
            known |= {word for word in vectors if word == word.lower()}
        words = sorted(known)
        alphabet = "".join(sorted({letter for sentence in sentences for word in sentence for letter in word}))
        made = cls(words, alphabet, letters, **how)
        if vectors:
            with torch.no_grad():
                for word, row in made.number.items():
                    if word in vectors:
                        made.word.weight[row] = torch.from_numpy(np.asarray(vectors[word], np.float32))
        return made

    def described(self) -> dict[str, Any]:
        """All that makes the same encoder, but for its weights."""
        return dict(self.made)

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> WordEncoder:
        """The encoder that was so described, with any weights."""
        return cls(**described)

    def read(self, sentences: Strings) -> Callable[[Items], Words]:
        """Sentences made ready: from the numbers of some to what ``forward`` takes."""
        offsets = offsets_of(sentences)
        types: dict[str, int] = {}
        kind = np.array([types.setdefault(w, len(types)) for s in sentences for w in s], np.int64)
        word = np.array([self.number.get(w.lower(), 0) for w in types], np.int64)
        case = np.array([casing(w) for w in types], np.int64)
        spelled = [[self.letter.get(letter, 1) for letter in letters_of(w)] or [1] for w in types]
        sizes = np.array([len(own) for own in spelled], np.int64)
        letters = np.zeros((len(types), int(sizes.max(initial=1))), np.int32)
        for row, own in zip(letters, spelled, strict=True):
            row[: len(own)] = own

        def some(which: Items) -> Words:
            tokens, cuts = taken(offsets, which)
            used, spelling = np.unique(kind[tokens], return_inverse=True)
            rows = letters[used, : int(sizes[used].max(initial=1))]
            lengths = [n for n in np.diff(cuts).tolist() if n]
            arrays = (word[kind[tokens]], case[kind[tokens]], spelling, rows.astype(np.int64))
            words: list[Any] = [torch.from_numpy(each) for each in arrays]
            return Words(words[0], words[1], words[2], words[3], lengths)

        return some

    def forward(self, some: Words) -> Tensor:
        """The vectors of all tokens, [tokens, width]."""
        word, case, spelling, letters = (each.to(self.word.weight.device) for each in some[:4])
        if not some.lengths:
            return self.word.weight.new_zeros(0, self.width)
        if self.training:
            word = word * (torch.rand(word.shape, device=word.device) >= UNKNOWN_RATE)
        seen = torch.cat([self.word(word), self._spelled(letters)[spelling], self.case(case)], 1)
        return self.drop(over_sentences(self.over_words, self.drop(seen), some.lengths))

    def _spelled(self, letters: Tensor) -> Tensor:
        """The vectors of spellings, [spellings, 2 * letter_size]."""
        seen, sizes = self.drop(self.spell(letters)), (letters > 0).sum(1)
        if self.by_lstm:
            packed = torch.nn.utils.rnn.pack_padded_sequence(seen, sizes.cpu(), True, enforce_sorted=False)
            _, (last, _) = self.over_letters(packed)
            return last.transpose(0, 1).flatten(1)
        found = self.over_letters(seen.transpose(1, 2))
        past = torch.arange(letters.shape[1], device=letters.device) >= sizes[:, None]
        best: Tensor = found.masked_fill(past[:, None], -torch.inf).amax(2)
        return torch.tanh(best)


def over_sentences(lstm: torch.nn.LSTM, rows: Tensor, lengths: Sequence[int]) -> Tensor:
    """What a recurrent layer makes of sentences that lie one after another, [tokens, width]; none is empty."""
    pieces = list(rows.split(list(lengths)))
    padded = torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True)
    packed = torch.nn.utils.rnn.pack_padded_sequence(padded, torch.tensor(lengths), True, enforce_sorted=False)
    found, _ = torch.nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
    within = torch.arange(found.shape[1]) < torch.tensor(lengths)[:, None]
    return found[within.to(found.device)]
