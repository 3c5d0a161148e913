"""Structures, scorers and models of one's own: those that CONTRIBUTING shows how to write."""

from tests.docs.test_recipes import recipes

__all__ = ["recipes"]
