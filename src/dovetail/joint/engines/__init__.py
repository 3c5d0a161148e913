"""One module for each engine: ``solve`` for the best answers, and ``marginals`` for probabilities where it has them."""
