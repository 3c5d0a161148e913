"""Learning: losses, priors and optimisers, each of which composes with the others."""

from dovetail.rooms import open_room

open_room(__name__)
