"""Optimisers: batch and online."""

from dovetail.rooms import open_room

open_room(__name__)
