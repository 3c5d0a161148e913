"""A tiny pre-trained encoder, and small corpora for networks to learn."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence, Span

NAMES, VERBS = ["Ada", "Bob", "Cem", "Dora", "Eve", "Finn"], ["met", "saw", "heard", "knew"]
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz.",
    *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
]


@cache
def tiny_encoder() -> Path:
    """A folder with a BERT of two small layers, whose weights are random, and a tokeniser of letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*PIECES, "ada", "met"]) + "\n", encoding="utf-8")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(PIECES) + 2, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=24,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(vocabulary), do_lower_case=True).save_pretrained(folder)
    return folder


def corpus(count: int = 24) -> list[Sentence]:
    """Somebody does something to somebody: with entities, heads and trees."""
    rng, found = np.random.default_rng(1), []
    for _ in range(count):
        one, other, verb = rng.choice(NAMES), rng.choice(NAMES), rng.choice(VERBS)
        words = (str(one), str(verb), "old", str(other), ".")
        layers = {
            "ner": ("B-PER", "O", "O", "B-PER", "O"), "pos": ("NNP", "VBD", "JJ", "NNP", "."),
            "head": ("2", "0", "4", "2", "2"), "deprel": ("nsubj", "root", "amod", "obj", "punct"),
        }  # fmt: skip
        tree = parse_tree(f"(ROOT (S (NP (NNP {one})) (VP (VBD {verb}) (NP (JJ old) (NNP {other}))) (. .)))")
        spans = (Span(0, 1, "PER"), Span(2, 4, "PHRASE"), Span(3, 4, "PER"))
        found.append(Sentence(words, layers, spans=spans, tree=tree))
    return found
