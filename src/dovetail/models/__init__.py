"""Models: what users name."""
