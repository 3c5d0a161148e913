"""Tables made from other text, which features read: clusters, lists, association."""

from dovetail.rooms import open_room

open_room(__name__)
