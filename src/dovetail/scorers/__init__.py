"""Scorers: potentials from features and weights."""

from dovetail.rooms import open_room

open_room(__name__)
