"""Words that are written with a period that ends no sentence, as they stand without it."""

from __future__ import annotations


def word_set(listing: str) -> frozenset[str]:
    """The words of a listing, separated by white space."""
    return frozenset(listing.split())


TITLES = word_set("""
    Mr Mrs Ms Messrs Dr Drs Prof Rev Fr Hon Pres Gov Sen Sens Rep Reps Gen Lt Col Maj Capt Cpl Sgt Cmdr
    Adm Pvt Supt Insp St Ste Mt Ft Sr Sra Srta Dra Sres Hr Mme Mlle dhr mevr mr mrs dr prof
""")
"""A name follows these, so the period after them does not end a sentence."""

BEFORE_NUMBERS = word_set("No Nos Nr Art Fig Figs Vol Vols pp p Para Sec Ch Eq Ext ext Tel tel fig no")
"""Abbreviations only before a number: else "No." is an answer."""

ABBREVIATIONS = TITLES | word_set("""
    Jr Inc Corp Co Cos Ltd Bros Assn Dept Univ Mfg Intl Natl Govt Ave Blvd Rd Hwy Pkwy Bldg Attn Conf Spec
    Que Va vs etc cf viz al approx est eg ie esp incl resp ca Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov
    Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Ariz Ark Calif Colo Conn Fla Ga Ill Ind Kan Ky Md Mich
    Minn Mont Neb Nev Okla Ore Pa Penn Tenn Tex Vt Wash Wis lb lbs oz hr hrs min yr yrs Ass't bzw usw evtl
    ggf inkl Str Ing Ud Uds pág bijv enz
""")
"""Abbreviations that keep their period wherever they stand in a sentence."""
