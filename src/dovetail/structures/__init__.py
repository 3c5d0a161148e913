"""Exact inference, one kind of structure a file; compiled kernels beside the class that owns them."""
