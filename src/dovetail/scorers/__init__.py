"""Scorers: potentials from features and weights."""
