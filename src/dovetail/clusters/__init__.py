"""Word clusters from unlabelled text: counts of adjacent words, Brown's tree of classes, and exchange."""

from dovetail.rooms import open_room

open_room(__name__)
