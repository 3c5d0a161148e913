"""Settings that suit some sentences: successive halving, with cross-validation inside them."""

from dovetail.rooms import open_room
from dovetail.tuning.search import Search, Verdict, tuning_log
from dovetail.tuning.space import candidates, space_of
from dovetail.tuning.trials import TuneData

__all__ = ["Search", "TuneData", "Verdict", "candidates", "space_of", "tuning_log"]

open_room(__name__)
