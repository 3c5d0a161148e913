"""Grammars read off treebanks: binarisation and annotation of trees, rules with counts, lexicons, probabilities."""

from dovetail.rooms import open_room

open_room(__name__)
