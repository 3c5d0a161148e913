"""Finkel 2010, table 5.8: the models of table 5.7, scored on the outermost entities."""

from __future__ import annotations

from common import show
from finkel_table_5_7 import HEADER, NOTE, arguments, both, rows

PUBLISHED = {  # precision, recall and F1 of the nested model, then of the flat one
    "Protein": (78.24, 72.42, 75.22, 76.16, 72.61, 74.34),
    "DNA": (70.40, 64.66, 67.41, 71.21, 62.00, 66.29),
    "RNA": (86.08, 66.02, 74.73, 79.27, 63.11, 70.27),
    "Cell Line": (75.54, 58.81, 66.13, 76.59, 63.10, 69.19),
    "Cell Type": (69.36, 70.39, 69.87, 71.11, 65.55, 68.22),
    "Overall": (75.22, 69.02, 71.99, 74.57, 68.27, 71.28),
}

if __name__ == "__main__":
    args = arguments(__doc__)
    nested, semi = both(args)
    note = NOTE.format(split=args.split, pos=args.pos)
    table = rows(PUBLISHED, nested.outermost, semi.outermost)
    show("Nested model and flat model, outermost entities", HEADER, table, note, args.json)
