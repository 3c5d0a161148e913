"""Word clusters from unlabelled text: counts of adjacent words, Brown's tree of classes, and exchange."""
