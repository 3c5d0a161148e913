"""Pipelines: annotators that read what others wrote, in any directed acyclic graph, with the doubt of all of them."""

from dovetail.rooms import open_room

open_room(__name__)
