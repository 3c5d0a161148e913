"""Tagger: labels of words, by chains."""

from dovetail.rooms import open_room

open_room(__name__)
