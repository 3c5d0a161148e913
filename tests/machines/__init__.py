"""Tests of what is shared out over several machines."""
