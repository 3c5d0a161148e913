"""Entailment: whether a hypothesis follows from a text."""

from dovetail.rooms import open_room

open_room(__name__)
