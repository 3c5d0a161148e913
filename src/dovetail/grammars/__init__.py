"""Grammars read off treebanks: binarisation and annotation of trees, rules with counts, lexicons, probabilities."""
