"""Settings of models, each written once: its default, its bounds, and what the command line says of it.

The settings of a kind are in the ``settings.py`` of its folder, apart from the model, so that help is shown without
numpy and numba being imported.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import Field, dataclass, field
from functools import partial
from typing import Any

from dovetail.errors import DovetailError
from dovetail.learning.losses import DISTANCES, LOSSES


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What there is to know of a setting besides its name, its type and its default."""

    help: str
    """A phrase or a sentence, for ``dovetail train KIND --help``."""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    choices: Collection[Any] = ()
    registry: str = ""  # where choices of somebody's own are added by name
    wanted: str = ""
    """What a refusal says, if not the bounds."""
    shown: str = ""
    """The default as help shows it, if not as it is."""
    flag: str = ""
    """The option, if its name is not that of the setting."""
    metavar: str = ""
    """What stands for a value in help, if not N, X or NAME."""
    file: bool = False
    """Whether a value may name a file."""
    hidden: bool = False
    """Whether the command line leaves it out."""

    def check(self, name: str, value: Any) -> None:
        """The value is one of the choices, or within the bounds; None, where the type allows it, is always right.

        >>> Setting(help="Order.", least=0, most=2).check("order", 3)
        Traceback (most recent call last):
        dovetail.errors.DovetailError: order=3: choose 0 to 2
        """
        if value is None:
            return
        if self.choices:
            check_choice(name, value, self.choices, self.registry)
        elif not self._within(value):
            raise DovetailError(f"{name}={value}: {self.wanted or self._range()}")

    def _within(self, value: Any) -> bool:
        if self.least is self.above is self.most is self.below is None:
            return True
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def _range(self) -> str:
        return f"choose {self.least:g} or more" if self.most is None else f"choose {self.least:g} to {self.most:g}"


def setting(default: Any, help: str, **known: Any) -> Any:
    """A field of a dataclass of settings; ``known`` as in `Setting`. The default ``dict`` makes one each time."""
    made = {"setting": Setting(help=help, **known)}
    return field(default_factory=dict, metadata=made) if default is dict else field(default=default, metadata=made)


def setting_of(one: Field[Any]) -> Setting | None:
    """What is known of a field, None of one that is no setting."""
    found: Setting | None = one.metadata.get("setting")
    return found


def check_choice(name: str, value: object, allowed: Iterable[object], registry: str = "") -> None:
    """The value is one of those allowed."""
    choices = list(allowed)
    if value not in choices:
        more = f"; put one of your own into {registry} first, and give its name here" if registry else ""
        raise DovetailError(f"{name}={value!r}: choose one of {', '.join(map(str, choices))}{more}")


OPTIMISERS: dict[str, Any] = dict.fromkeys(("lbfgs", "sgd", "adagrad", "adam", "perceptron"))
"""The classes of optimisers by name; ``models.base`` puts them in, since help does without numpy."""

# Settings of several kinds: a kind gives the default, and whatever else it has otherwise.

target = partial(setting, help="The layer to learn, such as a CoNLL column.")
ignore = partial(setting, default=(), help="Layers that features must not use, such as pos,chunk.", metavar="NAMES")
predict_layers = partial(
    setting, default=True, help="Learn the layers that features read, to predict them where text has none."
)
max_length = partial(
    setting, default=None, help="Maximum number of words of a training sentence.", least=1, shown="no limit"
)
order = partial(setting, default=1, help="Number of previous labels that a label depends on.", choices=(0, 1, 2))
scheme = partial(setting, help="Tag scheme used inside the model.", choices=("iob2", "iobes"))
loss = partial(
    setting,
    default="likelihood",
    help="What training minimises; the optimiser perceptron has a loss of its own.",
    choices=LOSSES,
    registry="dovetail.learning.losses.LOSSES",
)
optimiser = partial(setting, help="Optimiser.", choices=OPTIMISERS, registry="dovetail.models.base.OPTIMISERS")
l2 = partial(setting, help="Penalty on squared weights.", least=0, wanted="a penalty is zero or positive")
l1 = partial(
    setting,
    default=0.0,
    help="Penalty on absolute weights; gives smaller models.",
    least=0,
    wanted="a penalty is zero or positive",
)
hidden = partial(setting, default=0, help="Units of a hidden layer between features and labels; 0 for none.", least=0)
activation = partial(
    setting, default="tanh", help="What the units of the hidden layer do.", choices=("tanh", "relu", "linear")
)
hidden_inputs = partial(
    setting,
    default="all",
    help="Features that the hidden layer sees; the others are scored without it.",
    choices=("all", "vectors", "discrete"),
)
encoder = partial(
    setting,
    default=None,
    help="A network that scores beside the features: lstm or cnn (words and their letters), or the folder of a "
    "Hugging Face encoder.",
    metavar="NAME|FOLDER",
    file=True,
    shown="none",
)
tune_encoder = partial(setting, default=False, help="Also train the weights of a Hugging Face encoder.")
encoder_size = partial(setting, default=100, help="Units of the encoder's BiLSTM, in each direction.", least=1)
dropout = partial(
    setting, default=0.4, help="Share of the encoder's units left out at each step.", least=0, below=1,
    wanted="choose 0 or more, and less than 1",
)  # fmt: skip
noise = partial(
    setting,
    default=None,
    help="Train as if features were noised: dropout:P, gaussian:S or words:P.",
    metavar="KIND:X",
    shown="off",
)
noise_text = partial(setting, default=(), help="Raw sentences whose features are noised, too.", hidden=True)
expectation_loss = partial(
    setting,
    default="relative-entropy",
    help="Distance from what is expected.",
    choices=DISTANCES,
)
expectation_weight = partial(
    setting, default=1.0, help="What an expectation counts beside a labelled sentence.", least=0
)
iterations = partial(setting, help="Maximum number of passes over the data.", least=1, shown="depends on the optimiser")
batch = partial(
    setting, default=None, help="Sentences per step; not for lbfgs.", least=1, shown="depends on the optimiser"
)
gain = partial(
    setting,
    help="Step size of sgd, adagrad and adam.",
    above=0,
    wanted="a step size is positive",
    shown="depends on the optimiser",
)
decay = partial(
    setting, default=0.0, help="What adam takes off weights at each step, times the step size (AdamW).", least=0
)
min_count = partial(setting, help="Minimum number of occurrences of a feature.", least=1)
min_documents = partial(setting, default=1, help="Minimum number of documents that have a feature.", least=1)
hash_bits = partial(
    setting,
    default=None,
    help="Bits of hashed features (2**N buckets), to bound memory.",
    least=8,
    most=31,
    shown="off",
)
pool = partial(
    setting,
    default=None,
    help="Train several experts and pool them: random:N, sequential:N, elitist:N, or groups of templates.",
    metavar="HOW",
    shown="off",
)
pool_weights = partial(
    setting,
    default="uniform",
    help="Mixing weights of a pool; learnt on dev, or else on a fifth of the training data.",
    choices=("uniform", "learnt"),
)
select_templates = partial(
    setting, default=False, help="First drop the templates that a group lasso can do without, and say which."
)
selection = partial(
    setting,
    default=0.1,
    help="How strict --select-templates is: a template that says no more than chance would goes at about 1.",
    above=0,
    wanted="choose a positive number",
)
sigma = partial(setting, least=0, wanted="a standard deviation is zero or positive")
calibrate = partial(setting, default=True, help="Calibrate the probabilities on dev.")
balance = partial(setting, default=True, help="Balance precision and recall for the best F1 on dev.")
agree = partial(setting, default=True, help="Favour one type per name in a document, as strongly as is best on dev.")
consistency = partial(
    setting,
    default="graph",
    help="What makes the names of a document agree, as strongly as is best on dev.",
    choices=("none", "agree", "graph"),
)
engine = partial(setting, default="bp", help="Engine that answers the graph.", choices=("bp", "dual", "gibbs", "ilp"))
cross_validate = partial(
    setting,
    help="Parts of the training data, each held out in turn, to choose by what --dev would; 0 for none.",
    least=0,
)
patience = partial(setting, help="Number of scores on dev without improvement to stop after.", least=1)
seed = partial(setting, default=1, help="Seed of the random number generator.", least=0)
threads = partial(
    setting, default=None, help="Number of CPU cores to use. The result does not depend on it.", least=1, shown="all"
)
