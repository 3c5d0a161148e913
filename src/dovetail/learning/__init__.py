"""Learning: losses, priors and optimisers, each of which composes with the others."""
