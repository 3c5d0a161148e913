"""Features: the template algebra, its named sets, and the compiled design of a corpus."""
