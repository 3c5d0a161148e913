"""How each model of other languages than English is made: its data, its settings, what its card says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import english_made
import model_corpora as data

from dovetail import FeatureSet, Segmenter, Tagger
from dovetail.features.algebra.sets import WORD_SETS
from dovetail.features.resources.lexicon import Lexicon

SMALLEST = 0.01
"""Weights that are smaller are left out."""
SHARED = "CC BY-SA 4.0"
UNIVERSAL = "Universal NER (Mayhew and others 2024), {}, CC BY-SA 4.0"
DICTIONARY = "lists of words and names: the dictionary of jieba (Sun Junyi and others), MIT"
OTHERS = (
    "lists of names: the training parts of Universal NER in other languages, DocRED and CrossNER (MIT; text of "
    "Wikipedia, CC BY-SA 3.0)"
)
FOUND = (
    "lists of names: what our English model found in English Wikipedia (CC BY-SA 3.0) and old novels; names that most "
    "readers know (written down by us, CC BY-SA 4.0)"
)
CHARACTERS = (
    "bias", "word[-3:4]", "word[-2] & word[-1]", "word[-1] & word[0]", "word[0] & word[1]", "word[1] & word[2]",
    "word[-1] & word[1]", "word[-2] & word[-1] & word[0]", "word[-1] & word[0] & word[1]",
    "word[0] & word[1] & word[2]", "shape[-1:2]", "shape[-1] & shape[0]", "shape[0] & shape[1]",
    "lexicon(names)[-2:3]", "lexicon(names)[-1] & lexicon(names)[0]", "lexicon(names)[0] & lexicon(names)[1]",
)  # fmt: skip
"""Templates of names over Chinese characters."""
LISTED = (
    "lexicon(dictionary)[-2:3]", "lexicon(dictionary)[-1] & lexicon(dictionary)[0]",
    "lexicon(dictionary)[0] & lexicon(dictionary)[1]", "lexicon(dictionary)[0] & word[0]",
)  # fmt: skip
"""Templates of words over Chinese characters, beside those of dovetail's set."""


@dataclass(frozen=True)
class Recipe:
    """A model: where its sentences come from, and how it learns from them."""

    code: str
    text: str
    """The kind of text that it was scored on, as the card says it."""
    sources: tuple[str, ...]
    licence: str
    corpus: Callable[[Path, str], list[Any]]
    """Sentences of ``train`` or ``dev``."""
    model: Callable[[Path, Path], Any]
    """Untrained, from the folder of the corpora, and that of the names found in raw text."""
    doubled: Callable[[list[Any]], list[Any]] = lambda sentences: sentences
    """What is trained on, from the sentences."""
    aside: bool = True
    """Whether a tenth of the blocks is held out, to say when to stop; else training goes on to its end."""
    blocks: bool = False
    """Whether training cross-validates in itself, by blocks of sentences, to say when to stop."""
    beside: Callable[[Path, list[Any]], dict[str, list[Any]]] | None = None
    """Corpora that are learnt from beside the own, without what tells the same as the given sentences."""
    smallest: float = SMALLEST
    task: str = "names"
    remark: str = ""


def names_of(
    code: str, treebank: str, text: str, *others: str, found: bool = False, min_count: int = 2, **more: Any
) -> Recipe:
    """Names of a language of Universal NER, with lists of names of the others."""
    return Recipe(
        code, text, (*map(UNIVERSAL.format, (treebank, *others)), OTHERS, *([FOUND] if found else [])), SHARED,
        lambda root, part: data.universal(root, code, part), partial(tagger, code, found, min_count), **more,
    )  # fmt: skip


def tagger(code: str, found: bool, min_count: int, root: Path, lists: Path) -> Tagger:
    """An untrained tagger that looks at names of other languages."""
    names = {"names": data.foreign_names(root, code)}
    if found:
        names |= {"found": Lexicon.read({"": lists / "names.tsv"}), "known": Lexicon.of(english_made.known())}
    features = FeatureSet.named("ner").joined(**names)
    return Tagger(features=features, min_count=min_count, cross_validate=0, threads=1)


def chinese_tagger(root: Path, lists: Path) -> Tagger:
    """An untrained tagger of characters."""
    features = FeatureSet.from_lines("characters", CHARACTERS, (), {"names": data.chinese_names()})
    return Tagger(features=features, cross_validate=0, threads=1)


def chinese_segmenter(root: Path, lists: Path) -> Segmenter:
    """An untrained segmenter of Chinese words."""
    resources = {"dictionary": data.chinese_words()}
    features = [*WORD_SETS["words"][1], *LISTED]
    return Segmenter(features=features, resources=resources, min_count=2, cross_validate=0, threads=1)


RECIPES = {
    "danish-names": names_of("da", "Danish-DDT", "news and books", aside=False, found=True, blocks=True),
    "serbian-names": names_of(
        "sr", "Serbian-SET", "news", "Croatian-SET", doubled=data.in_both_alphabets, beside=partial(data.beside, "hr"),
        min_count=3,
        remark="It reads both alphabets: its corpora, which are in Latin letters, were learnt from in Cyrillic too. "
        "Croatian texts that tell the same as what it is scored on were left out.",
    ),
    "slovak-names": names_of("sk", "Slovak-SNK", "news, books, the web", aside=False),
    "swedish-names": names_of("sv", "Swedish-Talbanken", "leaflets, papers, essays", aside=False),
    "croatian-names": names_of("hr", "Croatian-SET", "news"),
    "portuguese-names": names_of("pt", "Portuguese-Bosque", "news"),
    "chinese-names": Recipe(
        "zh", "Wikipedia", (UNIVERSAL.format("Chinese-GSDSIMP"), DICTIONARY), SHARED,
        lambda root, part: [data.as_read(s) for s in data.chinese(root, part)], chinese_tagger, aside=False,
        remark="It reads plain text, without spaces between words, in simplified characters.",
    ),
    "chinese-words": Recipe(
        "zh", "Wikipedia", ("the words of " + UNIVERSAL.format("Chinese-GSDSIMP"), DICTIONARY), SHARED,
        lambda root, part: [list(s.words) for s in data.chinese(root, part)], chinese_segmenter,
        task="words", aside=False,
        remark="Text is cut as the GSD treebank of Universal Dependencies cuts it, in simplified characters. Two "
        "sets of features were compared on dev.",
    ),
    "german-names": Recipe(
        "de", "news and Wikipedia", ("GermEval 2014 (Benikova and others 2014), CC BY 4.0",), "CC BY 4.0",
        lambda root, part: data.german(root, part), lambda root, lists: Tagger(min_count=3, threads=1), smallest=0.02,
        remark="Only the outermost names are found. OTH are other names: works, products, events. Words made of names "
        "(GermEval's types in -deriv and -part) are no names here.",
    ),
}  # fmt: skip
