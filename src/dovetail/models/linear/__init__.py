"""Models whose potentials are linear in features: what is stored, how it is trained, and what estimators share."""
