"""JointParser: trees and entities by one model."""

from dovetail.rooms import open_room

open_room(__name__)
