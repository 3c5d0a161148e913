"""Made sentences: names that most readers know, in sentences of our own; and those names as a list.

News begins its sentences with companies, clubs and papers that the corpora have few of. What is taught is the place
such names stand in: a third of the names is in the list alone, so that the list is not trusted more than it should be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np

from dovetail import Sentence, Span

KNOWN = Path(__file__).parent / "english_known.txt"
TYPES = {
    "company": "ORG", "bank": "ORG", "paper": "ORG", "club": "ORG", "body": "ORG", "school": "ORG",
    "country": "LOC", "city": "LOC", "region": "LOC", "person": "PER", "last": "PER",
}  # fmt: skip
GROUPS = {"firm": ("company", "bank"), "place": ("country", "city", "region"), "org": ("company", "body", "bank")}
APART = frozenset(
    """Apple;Siemens;Goldman Sachs;Netflix;Washington Post;Chicago Bulls;European Central Bank;Bank of America;
    Samsung Electronics;Dominican Republic;Hilton""".replace("\n    ", "").split(";")
)
"""Names that no made sentence has: they are asked about when the model is judged."""
EACH = 24  # sentences of each pattern

PATTERNS = """
{firm} said on Monday that it would cut 2,000 jobs .
{firm} said its profit rose 12 percent in the third quarter .
{firm} shares fell sharply after the results .
{firm} has agreed to buy {company} for $ 3 billion .
{firm} is suing {company} over a patent , {paper} reported on Thursday .
{firm} and {company} will open a plant in {place} next year .
{firm} , which is based in {city} , declined to comment .
{firm} announced that {person} would step down as chief executive .
{firm} named {person} as its new chairman .
{firm} reported a loss of $ 40 million .
{firm} , {company} and {company} also gained .
{company} unveiled a new phone in {city} .
{company} launched its service in {country} last week .
{company} 's new headquarters are in {city} .
{company} will release a film with {person} this summer .
{company} hired {person} away from {company} .
Shares of {company} and {firm} rose in early trading .
Analysts at {bank} expect {firm} to raise its dividend .
Economists at {bank} said that growth in {country} was slowing .
The chief executive of {firm} , {person} , met investors in {city} .
Profits at {firm} doubled , said {person} , an analyst at {bank} .
She works for {firm} in {city} .
He left {company} to join {bank} .
I bought a new laptop from {company} and it broke within a week .
Do not fly with {company} , they lost my luggage in {city} .
My brother used to work at {company} before he moved to {place} .
The {bank} raised interest rates on Tuesday .
The {body} said that it would send observers to {country} .
The {body} voted to lift sanctions against {country} .
{body} officials arrived in {city} on Friday .
A spokesman for the {body} , {person} , said talks would go on .
The {paper} endorsed {person} for governor .
The {paper} reported that {person} had been arrested in {city} .
The {paper} first wrote about {firm} in March .
{paper} said in an editorial that {country} needed reform .
A reporter for the {paper} was expelled from {country} .
The {club} beat the {club} 102 to 98 on Sunday .
The {club} signed {person} to a two - year contract .
{club} won 2 - 1 against {club} in {city} .
{club} drew with {club} on Saturday .
{club} have sacked their coach {person} .
{person} scored twice for {club} .
{person} will play for the {club} next season .
Anybody watching {club} tonight ?
{school} researchers published the study in May .
She studied law at {school} and teaches at {school} .
{person} , a professor at {school} , disagrees .
{person} was born in {city} and grew up in {region} .
{person} and {person} arrived at the party together .
{person} said she would never return to {country} .
{person} , the singer , performed in {city} .
{person} told {paper} that he was innocent .
Have you seen {person} lately ?
Mr. {last} said that the {body} had not answered .
Mrs. {last} lives near {city} .
President {last} flew to {country} on Wednesday .
Senator {last} criticised {firm} .
{last} said he was " very pleased " with the result .
{place} is lovely at this time of year .
{country} and {country} signed a treaty in {city} .
{country} accused {country} of spying .
We drove from {city} to {city} and stayed for three nights .
The government of {country} denied the report .
The prime minister of {country} , {person} , resigned .
The {country} team lost to {country} on penalties .
Police in {city} , {region} , are looking for two men .
He flew to the {country} with {person} .
Thousands marched through {city} against the war in {country} .
The weather in {region} is terrible .
Profit was up , and so was everybody 's mood .
Shares rose . Nobody knew why .
Thanks for the update , and have a great weekend !
Chief among the problems is money .
Analysts said the company was worth more than it cost .
Our bank would not lend us a penny .
Apples and amazons , targets and gaps : none of these is a shop .
Please find attached the report for the third quarter .
"""


def known() -> dict[str, list[str]]:
    """The names of each kind."""
    lines = (line for line in KNOWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {kind: names.strip().split("; ") for kind, names in (line.split(":", 1) for line in lines)}


def entries(names: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """The names as a list for features, each with its kind."""
    return [(name, kind) for kind, some in names.items() for name in some]


def made_sentences(names: Mapping[str, list[str]], each: int = EACH) -> list[Sentence]:
    """Sentences of each pattern, names drawn at random from those that are not kept apart."""
    rng = np.random.default_rng(3)
    taught = {kind: [n for n in some if n not in APART and crc32(n.encode()) % 3] for kind, some in names.items()}
    patterns = PATTERNS.strip().splitlines()
    return [_filled(pattern, taught, rng) for pattern in patterns for _ in range(each if "{" in pattern else 4)]


def _filled(pattern: str, names: Mapping[str, list[str]], rng: np.random.Generator) -> Sentence:
    words: list[str] = []
    spans = []
    for word in pattern.split():
        if not (slot := re.fullmatch(r"\{(\w+)\}", word)):
            words.append(word)
            continue
        kind = str(rng.choice(GROUPS.get(slot[1], (slot[1],))))
        name = _drawn(kind, names, rng).replace("'s", " 's").split()
        spans.append(Span(len(words), len(words) + len(name), TYPES[kind]))
        words += name
    return Sentence(tuple(words)).with_entities(spans)


def _drawn(kind: str, names: Mapping[str, list[str]], rng: np.random.Generator) -> str:
    if kind == "person":
        return f"{rng.choice(names['first'])} {rng.choice(names['last'])}"
    return str(rng.choice(names[kind]))
