"""Neural networks as scorers: needs torch, which comes with the extra ``neural``."""

from dovetail.rooms import open_room

open_room(__name__)
