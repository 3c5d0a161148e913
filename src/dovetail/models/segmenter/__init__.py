"""Segmenter: words or entities as segments."""

from dovetail.rooms import open_room

open_room(__name__)
