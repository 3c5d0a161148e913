"""The component ``dovetail``: any model that annotates sentences, in a pipeline of spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc

from dovetail.errors import DovetailError
from dovetail.spacy.stored import Stored
from dovetail.spacy.writing import register, write_answers
from dovetail.text.sentence import Sentence
from dovetail.text.spacy_docs import from_doc, words_of

NOT_HERE = {
    "aligner": "an aligner reads a text and its translation",
    "entailment": "a judge of entailment reads pairs of texts",
}
"""Kinds of models that annotate no sentences."""


class Dovetail(Stored):
    """A model in a pipeline: it writes what it finds into documents, many at a time.

    Entities go to ``doc.ents`` (nested ones to ``doc.spans["sc"]`` as well) with ``span._.probability``; parts of
    speech to ``tag_`` or ``pos_``; dependencies to ``head`` and ``dep_``; trees and frames to ``sent._.tree`` and
    ``sent._.frames``; everything, as dovetail has it, is in ``doc._.dovetail``.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "dovetail",
        model: str | None = None,
        probabilities: bool = True,
        overwrite: bool = True,
        lines: Literal["auto", "paragraphs", "sentences"] = "auto",
        threads: int | None = None,
    ) -> None:
        self.name, self.probabilities, self.overwrite, self.lines = name, probabilities, overwrite, lines
        self.threads = threads
        register()
        super().__init__(model, default=True)

    def _check(self, model: Any) -> None:
        kind = getattr(model, "kind", "")
        if kind in NOT_HERE or not hasattr(model, "annotate"):
            raise DovetailError(f"{NOT_HERE.get(kind, 'this is no model')}; a component annotates sentences")
        if getattr(model, "words", False):
            advice = "nlp.tokenizer = dovetail.spacy.SegmenterTokenizer(nlp.vocab, path)"
            raise DovetailError(f"a segmenter finds the words themselves, so it is a tokenizer: {advice}")
        if self.threads is not None and hasattr(model, "set_params"):
            model.set_params(threads=self.threads)

    def __call__(self, doc: Doc) -> Doc:
        """The document, annotated."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """The documents of a stream, annotated, ``batch_size`` at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            self._annotate(batch)
            yield from batch

    def _annotate(self, docs: list[Doc]) -> None:
        given: list[tuple[int, list[int], Sentence]] = []
        for number, doc in enumerate(docs):
            given.extend((number, places, sentence) for places, sentence in self._sentences(doc, number))
        answers = self.annotator.annotate([sentence for _, _, sentence in given], self.probabilities)
        found: list[list[tuple[list[int], Sentence, Sentence]]] = [[] for _ in docs]
        for (number, places, sentence), answer in zip(given, answers, strict=True):
            found[number].append((places, sentence, answer))
        for doc, own in zip(docs, found, strict=True):
            write_answers(doc, own, self.overwrite)

    def _sentences(self, doc: Doc, number: int) -> Iterator[tuple[list[int], Sentence]]:
        """The sentences as the model sees them: their words, and the layers that it reads."""
        cut = words_of(doc, self.lines)
        document = number if len(cut) > 1 else None
        reads = {*getattr(self.annotator, "reads", ())}
        needs = {*getattr(self.annotator, "needs", ())} - {"tree"}
        if not reads:
            for places in cut:
                words = tuple([doc[place].text for place in places])
                yield places, Sentence(words, document=document)
            return
        for places, known in zip(cut, from_doc(doc, self.lines), strict=True):
            layers = {name: values for name, values in known.layers.items() if name in reads}
            if lacking := [name for name in needs if name not in known.layers]:
                raise DovetailError(
                    f"component {self.name!r}: its model reads {', '.join(lacking)}, which document {number + 1} of "
                    "the batch has not; add a component before it that finds that (pos is token.tag_)"
                )
            tree = known.tree if "tree" in reads else None
            yield places, Sentence(known.words, layers, document=document, tree=tree)

    def score(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """The scores of what the model finds, as spaCy counts them: entities, dependencies, parts of speech."""
        known = list(examples)
        found: dict[str, Any] = {}
        writes = set(getattr(self.annotator, "writes", ()))
        if writes & {"spans", "ner"}:
            found |= Scorer.score_spans(known, "ents", getter=lambda doc, _: doc.ents)
        if "head" in writes:
            found |= Scorer.score_deps(known, "dep")
        if writes & {"pos", "xpos"}:
            found |= Scorer.score_token_attr(known, "tag")
        return found


@Language.factory(
    "dovetail",
    assigns=["doc.ents", "doc.spans", "token.tag", "token.pos", "token.head", "token.dep"],
    default_config={
        "model": None, "probabilities": True, "overwrite": True, "lines": "auto", "threads": None,
    },
)  # fmt: skip
def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    probabilities: bool,
    overwrite: bool,
    lines: Literal["auto", "paragraphs", "sentences"],
    threads: int | None,
) -> Dovetail:
    """The component as spaCy makes it from its configuration; ``model`` None is the English model of dovetail."""
    return Dovetail(nlp, name, model, probabilities, overwrite, lines, threads)
