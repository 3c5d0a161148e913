"""How far a model trusts its list of well-known names.

The corpora hardly have these names, so training leaves what the list says too weak against a strange spelling:
"Siemens" ends like a family. Made sentences with names that no training sentence had show it: with the weights of the
list doubled their F1 rises from 93.0 to 97.7; on dev, news gain 0.6 and Few-NERD, which falls most, loses 0.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail import Sentence, Tagger
from dovetail.features.compile.columns import with_derived
from dovetail.features.compile.named import named_features
from dovetail.scorers.weights import Weights


def trusting(tagger: Tagger, resource: str, sentences: Sequence[Sentence], factor: float) -> Tagger:
    """The tagger with the weights of a list, those that these sentences use, multiplied by a factor."""
    model = tagger.model_
    assert model is not None
    weights = model.node
    assert isinstance(weights, Weights)
    templates = [t for t in model.features.templates if f"({resource})" in str(t)]
    keys = {
        int(feature.key)
        for sentence in (with_derived(s, model.features) for s in sentences)
        for position in range(len(sentence))
        for template in templates
        for feature in named_features(template, sentence, position)
    }
    numbers = weights.index.number(np.array(sorted(keys), dtype=np.uint64))
    changed = weights.weight.copy()
    for n in numbers[numbers >= 0]:
        changed[weights.layout.ptr[n] : weights.layout.ptr[n + 1]] *= factor
    found = Tagger(**tagger.get_params())
    found.card_ = tagger.card_
    found.model_ = replace(model, parts={**model.parts, "node": replace(weights, weight=changed)})
    return found
