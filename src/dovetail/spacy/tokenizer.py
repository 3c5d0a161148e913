"""A segmenter of words as the tokenizer of a pipeline: for Chinese, Japanese, Thai and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab

from dovetail.errors import DovetailError
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.spacy.stored import Stored

_SPACE = re.compile(r"(\s+)")


class SegmenterTokenizer(Stored):
    """Cuts text into the words that a `dovetail.Segmenter` finds; white space stays as it is.

    ``nlp.tokenizer = SegmenterTokenizer(nlp.vocab, "words.dovetail")``
    """

    what = "tokenizer"

    def __init__(self, vocab: Vocab, model: str | None = None) -> None:
        self.vocab = vocab
        super().__init__(model)

    def _check(self, model: Any) -> None:
        if not (isinstance(model, Segmenter) and model.words):
            kind = getattr(type(model), "__name__", model)
            raise DovetailError(f'a tokenizer needs a segmenter of words, and this is a {kind}; see "train segmenter"')

    def __call__(self, text: str) -> Doc:
        """A document of the words of a text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Documents of many texts, cut together."""
        stream = iter(texts)
        while batch := list(islice(stream, batch_size)):
            yield from self._docs(batch)

    def _docs(self, texts: list[str]) -> Iterator[Doc]:
        pieces = [_SPACE.split(text) for text in texts]  # text, space, text, ...
        runs = [run for one in pieces for run in one[::2] if run]
        found = iter(self.annotator.predict(runs))
        for one in pieces:
            words: list[str] = []
            spaces: list[bool] = []
            for number, piece in enumerate(one):
                if number % 2 == 0:
                    cut = next(found) if piece else []
                    words += cut
                    spaces += [False] * len(cut)
                    continue
                if piece[0] == " " and words:
                    spaces[-1], piece = True, piece[1:]
                if piece:
                    words.append(piece)
                    spaces.append(False)
            yield Doc(self.vocab, words=words, spaces=spaces)


def make_tokenizer(model: str | None = None) -> Callable[[Language], SegmenterTokenizer]:
    """What makes the tokenizer, for configurations: ``@tokenizers = "dovetail.Segmenter.v1"``."""
    return lambda nlp: SegmenterTokenizer(nlp.vocab, model)


registry.tokenizers("dovetail.Segmenter.v1", func=make_tokenizer)
