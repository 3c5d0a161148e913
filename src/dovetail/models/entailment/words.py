"""English words compared: lemmas by simple rules, numbers as they are meant, and how alike two words are."""

from __future__ import annotations

import re
from functools import lru_cache

STOP = frozenset(
    """a an the this that these those such some any each every all both another other own same of in on at by for with
    about against between into through during before after above below to from up down out off over under again then
    once as until while and but or nor so than too very just only also even still yet i me my we us our you your he
    him his she her it its they them their who whom whose which what when where why how am is are was were be been
    being have has had having do does did doing will would should can could may might must 's 're 've 'll 'd 'm
    n't not no never there here if because per via upon within without toward towards among amongst since""".split()
)
"""Words that say little by themselves."""
NEGATIONS = frozenset(
    """not n't no never none nobody nothing neither nor without cannot hardly barely scarcely deny denies denied
    refuse refuses refused fail fails failed reject rejects rejected unable unlikely impossible false falsely lack
    lacks lacked avoid avoids avoided prevent prevents prevented""".split()
)
"""Words that turn into its contrary what stands beside them."""
MODALS = frozenset(
    """may might could would should must can if whether possible possibly perhaps maybe likely probably potential
    potentially reportedly allegedly alleged apparently suspected expected planned plan plans hope hopes hoped want
    wants wanted try tries tried trying attempt attempts attempted seek seeks sought propose proposes proposed urge
    urges urged consider considers considered believe believes believed claim claims claimed threaten threatens
    threatened will""".split()
)
"""Words that tell of what may be, not of what is."""
OPPOSITES = frozenset(
    frozenset(pair.split("-"))
    for pair in """rise-fall increase-decrease increase-fall rise-drop increase-drop grow-shrink win-lose buy-sell
    open-close begin-end start-end start-stop begin-stop accept-reject accept-refuse approve-reject attack-defend
    live-die alive-dead birth-death bear-die arrive-leave enter-leave love-hate support-oppose allow-ban allow-forbid
    create-destroy build-destroy high-low higher-lower large-small big-small more-less most-least first-last good-bad
    best-worst old-new old-young north-south east-west northern-southern eastern-western male-female man-woman
    husband-wife son-daughter brother-sister king-queen ally-enemy guilty-innocent legal-illegal convict-acquit
    success-failure succeed-fail gain-lose profit-loss import-export hire-fire marry-divorce major-minor true-false
    confirm-deny release-capture arrest-release war-peace victory-defeat""".split()
)
"""Lemmas that exclude each other."""
_IRREGULAR = {
    form: lemma
    for lemma, forms in (
        line.split(":")
        for line in """be:am is are was were been being|have:has had having|do:does did done|go:goes went gone|say:said
        make:made|take:took taken|win:won|lose:lost|sell:sold|buy:bought|find:found|give:gave given|get:got gotten
        hold:held|lead:led|leave:left|tell:told|think:thought|bring:brought|come:came|become:became|begin:began begun
        break:broke broken|build:built|fall:fell fallen|rise:rose risen|grow:grew grown|know:knew known|meet:met
        pay:paid|run:ran|see:saw seen|send:sent|shoot:shot|speak:spoke spoken|spend:spent|stand:stood|steal:stole stolen
        strike:struck|teach:taught|wear:wore worn|write:wrote written|choose:chose chosen|draw:drew drawn|drive:drove
        driven|eat:ate eaten|fight:fought|fly:flew flown|keep:kept|lie:lay lain|mean:meant|seek:sought|sit:sat|sing:sang
        bear:bore born borne|child:children|man:men|woman:women|person:people|foot:feet|life:lives|wife:wives
        die:died dying dies|lie:lied|good:better best|bad:worse worst""".replace("\n        ", "|").split("|")
        if ":" in line
    )
    for form in forms.split()
}
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_VOWEL = re.compile(r"[aeiouy]")
_ONES = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8}
_FIGURE = re.compile(r"[$£€#]?(\d[\d,]*\.?\d*)(?:st|nd|rd|th|s|%)?$")
LEAST = 0.6
"""How alike two words must be to be aligned."""


@lru_cache(maxsize=100_000)
def number_of(word: str) -> float | None:
    """The number that a word stands for.

    >>> number_of("1,200"), number_of("Seven"), number_of("3rd"), number_of("words")
    (1200.0, 7.0, 3.0, None)
    """
    low = word.lower()
    if low in _ONES or low in _ORDINALS:
        return float(_ONES.get(low, _ORDINALS.get(low, 0)))
    figure = _FIGURE.match(low)
    return float(figure[1].replace(",", "")) if figure and len(figure[1]) < 20 else None


@lru_cache(maxsize=100_000)
def lemma_of(word: str) -> str:
    """A word without what grammar adds to it, by rules that know a few exceptions.

    >>> [lemma_of(word) for word in ("Won", "countries", "stopped", "making", "founded", "Paris")]
    ['win', 'country', 'stop', 'mak', 'found', 'pari']
    """
    low = word.lower().removesuffix("'s")
    low = _IRREGULAR.get(low, low)
    if len(low) < 4 or not low.isalpha():
        return low
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        stem = low.removesuffix(ending)
        if stem != low and len(stem) > 2 and _VOWEL.search(stem) and not (ending == "s" and stem.endswith(("s", "u"))):
            return _DOUBLED.sub(r"\1", stem) if ending in ("ing", "ed") else stem
    return low


@lru_cache(maxsize=1_000_000)
def likeness(one: str, other: str) -> float:
    """How alike two words are, from 0 to 1: as they are written, by their lemmas, their numbers, their beginnings.

    >>> likeness("Bern", "BERN"), likeness("win", "won"), likeness("two", "2"), likeness("1990", "1991")
    (1.0, 0.95, 1.0, 0.0)
    >>> round(likeness("Italy", "Italian"), 2), likeness("cat", "dog")
    (0.65, 0.0)
    """
    a, b = one.lower(), other.lower()
    if a == b:
        return 1.0
    x, y = number_of(one), number_of(other)
    if x is not None or y is not None:
        return 1.0 if x == y else 0.0
    a, b = lemma_of(one), lemma_of(other)
    if a == b:
        return 0.95
    if min(len(a), len(b)) < 4 or not (a[0].isalpha() and b[0].isalpha()):
        return 0.0
    same = next((i for i, (p, q) in enumerate(zip(a, b, strict=False)) if p != q), min(len(a), len(b)))
    if same >= 4 and same >= 0.6 * max(len(a), len(b)):
        return LEAST + 0.3 * same / max(len(a), len(b))
    if same >= 4 and same >= min(len(a), len(b)) - 1:
        return LEAST + 0.05
    longest = max(len(a), len(b))
    if same and longest >= 6 and abs(len(a) - len(b)) <= 2 and _distance(a, b) <= longest // 5:
        return LEAST + 0.1
    return 0.0


def opposite(one: str, other: str) -> bool:
    """Whether two words exclude each other.

    >>> opposite("rose", "falls"), opposite("rose", "risen")
    (True, False)
    """
    return frozenset((lemma_of(one), lemma_of(other))) in _OPPOSITE_LEMMAS


def _distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, p in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, q in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (p != q))
    return row[-1]


_OPPOSITE_LEMMAS = frozenset(frozenset(map(lemma_of, pair)) for pair in OPPOSITES)
