"""Semantic roles: predicates with their senses, and their arguments over the constituents of a tree."""

from dovetail.rooms import open_room

open_room(__name__)
