"""Past one machine: work shared out over the workers of a Ray cluster (extra ``cluster``)."""
