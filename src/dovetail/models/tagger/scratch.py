"""Training a tagger from text that is larger than the memory: sentences and features lie in a folder meanwhile.

Features are compiled stretch by stretch, about a hundred thousand words at a time, and every pass over the data reads
them again. What stays in memory is the weights, a few numbers a feature, and a number a word.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError
from dovetail.features.compile.documents import nothing_left
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective
from dovetail.learning.priors import Prior
from dovetail.memory import release_memory
from dovetail.models.documents import half_loosened
from dovetail.models.inputs import as_sentences
from dovetail.models.linear.stored import stored_parts, stored_scorer, stretches_of
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel, ChainTraining, chain_gold, forbidden
from dovetail.models.training import Run
from dovetail.scorers.chain import ChainForm
from dovetail.scorers.compiled import PartSettings
from dovetail.scorers.stored import Folder
from dovetail.scorers.transitions import Transitions
from dovetail.text.sentence import Sentence
from dovetail.text.stored import StoredSentences

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger

Trained = TypeVar("Trained", bound="Tagger")
NOT_ON_DISK = {
    "hidden": 0, "encoder": None, "noise": None, "pool": None, "select_templates": False, "observed_only": False,
    "min_documents": 1,
}  # fmt: skip
"""Settings that ask for all features at once, and what they must be here."""


def fitted_on_disk(tagger: Trained, X: Any, y: Any, scratch: Path, **how: Any) -> Trained:
    """Train with sentences and features in a folder of their own within ``scratch``, which is gone in the end."""
    check_for_disk(tagger, how.get("expectations"))
    with temporary(scratch) as folder:
        kept = X if isinstance(X, StoredSentences) else stored(tagger, X, y, folder)
        tagger._scratch = folder
        try:
            return tagger.fit(kept, **how)
        finally:
            tagger._scratch = None


@contextmanager
def temporary(scratch: Path) -> Iterator[Path]:
    """A folder within another one, which is made if need be; all that is kept there is gone in the end."""
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(prefix="dovetail-", dir=scratch)
    except OSError as error:
        raise DovetailError(f"{scratch}: no files can be kept there: {error.strerror}") from None
    with made as folder:
        yield Path(folder)


def check_for_disk(tagger: Tagger, expectations: Any = None) -> None:
    """An error if a setting asks for all features at once."""
    for name, plain in NOT_ON_DISK.items():
        if (wanted := getattr(tagger, name)) not in (plain, None):
            raise DovetailError(
                f"{name}={wanted!r} needs all features in memory: leave it out, or train without scratch"
            )
    if tagger.optimiser != "lbfgs":
        raise DovetailError(f"optimiser={tagger.optimiser!r}: features on disk are read in whole passes; use lbfgs")
    if tagger.cross_validate:
        raise DovetailError("cross_validate holds parts of the data in memory: give dev data, or train without scratch")
    if expectations:
        raise DovetailError("expectations are kept in memory: train from them without scratch")


def stored(tagger: Tagger, X: Any, y: Any, folder: Path) -> StoredSentences:
    """Sentences with their tags, in a file."""
    sentences = tagger._examples(as_sentences(X), y, "training")
    return StoredSentences.write(sentences, folder / "sentences")


def layers_of(corpus: Iterable[Sentence], name: str) -> Iterator[tuple[str, ...]]:
    """The values of a layer, sentence by sentence."""
    return (sentence.layers.get(name, ()) for sentence in corpus)


def prepared_on_disk(
    tagger: Tagger, corpus: StoredSentences, held_out: list[Sentence] | None, run: Run
) -> ChainTraining:
    """As ``Tagger._prepare``; layers that the features read must be there, and nothing learns to predict them."""
    assert tagger._scratch is not None
    features = tagger.features_for(corpus, held_out)
    labels = LabelSet.learn(_kinds(layers_of(corpus, tagger.target)), tagger.scheme)
    model = ChainModel(features, {}, {}, labels, tagger.order, tagger.constrain)
    if labels.scheme is not None:
        made = labels.encode(layers_of(corpus, tagger.target))
        model = tagger._linked(model, corpus, lambda known: np.append(known.of_label, -1)[made])
    settings = PartSettings(tagger.min_count, tagger.hash_bits, twins=tagger.merge_twins, threads=tagger._threads())
    return made_ready(
        model,
        corpus,
        layers_of(corpus, tagger.target),
        seen=half_loosened if features.looks_elsewhere else list,
        folder=tagger._scratch,
        doing=run.doing,
        settings=settings,
        loss=tagger._loss(),
        l2=tagger.l2,
        l1=tagger.l1,
    )


def made_ready(
    model: ChainModel,
    sentences: Sequence[Sentence],
    tags: Iterable[Sequence[str]],
    *,
    seen: Callable[[Sequence[Sentence]], Sequence[Sentence]],
    folder: Path,
    doing: Callable[[str], None],
    settings: PartSettings,
    loss: str,
    l2: float,
    l1: float,
) -> ChainTraining:
    """As ``chain_training``, with sentences that are read one at a time and features that are kept in a folder.

    ``seen``: what the model sees of some of the sentences.
    """
    gold, size = model.labels.encode(tags), len(model.labels.names)
    offsets = offsets_of(sentences)
    stretches = stretches_of(offsets, [s.document for s in sentences])
    form = ChainForm(
        size,
        model.order,
        forbidden(model.labels, model.order, model.constrain and model.order > 0),
        Transitions.observed(gold, offsets, size, model.order, full=True),
    )
    whole, templates = Folder(folder), model.templates()
    parts = stored_parts(
        sentences, stretches, lambda some: model.compilers(seen(some)), templates, form, settings, whole, doing
    )
    scorer = stored_scorer(form, offsets, parts, stretches, whole, settings.threads)
    if not scorer.after_parts:
        raise nothing_left("feature", ("min_count", settings.min_count))
    objective = Objective(scorer, chain_gold(gold, offsets, size), LOSSES[loss])
    release_memory()
    return ChainTraining(model, dict(parts), objective, Prior(l2, l1, scorer.scale() if l1 else None))


def _kinds(tags: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each sequence of tags once."""
    return list(dict.fromkeys(tags))
