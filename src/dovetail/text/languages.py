"""Which language a text is in: a guess from its letters, frequent words and endings, for the languages listed here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

LANGUAGES = {
    "da": "Danish", "de": "German", "en": "English", "hr": "Croatian", "pt": "Portuguese", "sk": "Slovak",
    "sr": "Serbian", "sv": "Swedish", "zh": "Chinese",
}  # fmt: skip
"""The languages that are told apart, by their codes."""
FEWEST = 2.0
"""So much must speak for a language other than English, and so much more for it than for English."""
LEAD = 1.0

_SOUTHERN = (
    "a ako ali bez bi bih bila bilo bio biti bude da dana danas do dok godine i ih ili ima iz između je jedan jer "
    "još kad kada kako kao kaže koja koje koji koju li ljudi među međutim mogu mora može na nakon ne nego "
    "nekoliko nema neće nije nisu o od oko on ona oni ove pa po pod poslova prema protiv prošle sada sam samo se "
    "smo su sve svi svoje tako to tom treba tri u već više za zbog zemlje će"
)
"""Words that are frequent in Croatian and in Serbian."""
WORDS = {
    "da": "i og at er det en til på af med de for der den har ikke som et han om jeg men var kan så vi fra man sig "
    "skal ved også vil år hun være hvor siger efter nu blev eller over ud da havde to selv sin alle kunne "
    "meget op noget få når mange mere bliver hvis hvad du andre ind ham været end mig mod må deres dem hele "
    "blive flere fik denne jo uden lidt nye ville fordi dag tre hende samme skulle under nogle derfor mellem "
    "ingen kun ikke af hvordan efter ligger",
    "de": "der die und in den von das mit im des zu auf ist sich für dem ein eine als er auch nicht es an nach "
    "wurde sie bei am aus werden war sind wird einer dass bis hat zum um einen über einem wie durch vor aber "
    "noch nur zur oder so mehr diese wurden sein unter man ich hatte haben seine vom kann dieser zwei gegen "
    "seiner da jahren wieder jahr ab wir seit waren wenn jedoch zwischen dann schon zeit beim eines drei "
    "damit heute können dabei ihre keine habe immer ihr doch sagte gibt was sei sehr neue sowie alle etwa "
    "hier anderen soll dort ihm erste selbst muss worden will nun",
    "en": "the to and a of i in is you that it for have on was with this be are they not as we my do will he at but "
    "if or your from by can would me there so all has an had one out about what their like time were when up "
    "get just his our who some them know which been also any very more no good did could him other new go she "
    "only please how should people may then back said now even after well her because way see than into over "
    "its does us through being where",
    "hr": _SOUTHERN
    + " predsjednik također prije milijuna eura uz tijekom uvijek vrlo vrijeme gdje uvjeti tko kuna s no što te posto",
    "pt": "de a o em que e os as por para um se uma com não é mais como foi mas ser sua são já seu entre sobre ou "
    "tem este está ainda também anos ontem até há segundo esta dois só ele ter presidente disse quando mesmo "
    "muito depois sem três dia vai foram era mil ano seus isso porque onde do da dos das no na nos nas ao aos "
    "à às pelo pela num numa pode cento hoje lhe nova contra antes estão todos quem tempo vez apenas parte "
    "desde fazer será bem tudo ela você",
    "sk": "sa a som na v to že je do si s z o mi keď ho ako jej ma bol aj za čo sme po ale k mu aby ich jeho bola "
    "by ju ja od však bolo pred tak pri bude už ani povedal pre sú i so mal tu len veľmi vo ktoré povedala "
    "niečo potom nič tam ten boli nie až ktorý neho tom ešte mňa zo opäť vtedy nás má kde toho medzi teraz "
    "mala všetko ste nikdy ak ktorá kto im alebo nej iba byť kým bez všetky ti či tomu seba môj sebe keby "
    "prečo preto vám nám ktorých roku slovenskej",
    "sr": _SOUTHERN + " takođe posle odsto miliona pre tokom nedelje uvek vreme gde ko deo sa predsednik rekao",
    "sv": "i och att som en det är av för på den till de med har man om ett inte kan eller men från också sig vid "
    "vi du så under får år andra olika finns än detta skall kommer när blir få vara hur var mellan måste alla "
    "genom utan denna här del där nu många ha efter varje då dessa ut mycket hos nya även sin bara skulle "
    "inom två vad ska procent han hon mot gäller dem stora samma sina något mer över upp vill någon vissa "
    "behöver ger sedan vilka ofta ta första sätt jag",
}
"""Frequent words."""

LETTERS = {
    "da": "æøåé", "de": "äöüß", "en": "", "hr": "čćžšđ", "pt": "áàâãçéêíóôõúü", "sk": "áäčďéíĺľňóôŕšťúýž",
    "sr": "čćžšđ", "sv": "åäöé",
}  # fmt: skip
"""Letters beyond a to z that words are written with; others speak against a language."""

PIECES = {
    "da": r"ede$|lige?$|hed(en)?$|else[rn]?$|erne$|ens?$|et$|^hv|ø[rdln]|æ[rgnl]|af|tion(en)?$",
    "de": r"sch|ung(en)?$|lich|keit|heit|isch|^ge.*t$|^ver|tz|ck|ei|ie|eu|zu|en$|ern?$",
    "en": r"th|wh|ing$|ed$|ly$|ough|tion|ee|oo|ea|ou|'s$|n't$|'re$|^[a-z]+y$|sh$|ck|ow",
    "hr": r"nj|stv|lj|^iz|^pr[eio]|^na[dj]|ski?[mh]?$|nost|ij[aeiu]$|ovi$|ama$|nih$|nje[mg]?",
    "pt": r"ção$|ções$|nh|lh|dade$|mente$|ão$|ões$|^d[oa]s?$|ram$|ndo$|eir|qu|os$|as$|ss",
    "sk": r"[áéíóúý]|ost[iť]?$|ť$|ie|ia|iu|ou$|ch$|la$|al$|nk|sk[áéý]|ov[áéý]|^ne|^vy|^roz|dz",
    "sr": r"nj|stv|lj|^iz|^pr[eio]|^na[dj]|ski?[mh]?$|nost|ij[aeiu]$|ovi$|ama$|nih$|nje[mg]?",
    "sv": r"ade$|are$|ning(ar|en)?$|ligt?$|ck|ll|tt|orna$|arna$|en$|ör|ä[nrl]|sk|^ö|skt$|x|ande$|ast",
}
"""Endings and pieces of words."""

TELLING = {
    "hr": r"[bdmpv]je|[stz]je[cčdlmnrtšv]|lje[dns]|ije[cčdklnštzv]|rje|opć|europ|đer$|gospod|suradn|sustav|milijun"
    r"|tisuć|izir[ao]|ovje|^(što|no|s|te|također|kuna?|eura?|vrlo|vlak|tjedn\w*|tvrtk\w*|jučer|gdje)$",
    "sr": r"^evr|nedelj|[^nr]sedni|redsed|saopšt|opšt|bezbed|sarad|sled[eiuns]|embr|odsto|milion|veštaj|finans|takođe$"
    r"|izova[nlto]|rešen|ponedelj|ovde|negde|čove[kč]|inostr|zvani[čk]|bolje$|umetn|^(mest[aoui]|mesec|deo$|delov)"
    r"|^(vreme(na)?|uvek|posle|pre|dve|gde|ko|šta|juče|reč(i|ima)?|sa|sred[aeu]|svet[aeu]?|vest[i]?|lep[aeo]?|uspe[ho])$",
}
"""Pieces of words that tell apart two languages that are nearly alike."""
TELLS = 1.5

SERBIAN = "ђјљњћџ"
"""Letters of Serbian in Cyrillic that Russian has not."""
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def guess_language(text: str) -> str | None:
    """The code of the language, ``en`` where nothing speaks for another; None for a script of none of them.

    >>> guess_language("Angela Merkel wohnt in Berlin und ist nicht mehr Kanzlerin.")
    'de'
    >>> [guess_language(text) for text in ("习近平访问了北京大学。", "Она живёт в Москве", "Живи у Београду")]
    ['zh', None, 'sr']
    """
    scripts = {name: len(found.findall(text)) for name, found in _SCRIPTS.items()}
    most = max(scripts, key=lambda name: scripts[name])
    if most == "latin" or not scripts[most]:
        return _of_latin(text.lower())
    if most == "han":
        return "zh" if not scripts["other"] else None
    return _of_cyrillic(text.lower()) if most == "cyrillic" else None


_SCRIPTS = {"latin": _LATIN, "han": _HAN, "cyrillic": _CYRILLIC, "other": _KANA_OR_HANGUL}


def _of_cyrillic(text: str) -> str | None:
    """Serbian, unless letters speak for another language."""
    foreign = sum(text.count(letter) for letter in "ыэщъёйяюьїіє")
    return "sr" if sum(text.count(letter) for letter in SERBIAN) >= foreign else None


def _of_latin(text: str) -> str:
    scores = language_scores(_WORD.findall(text))
    best = max(scores, key=lambda code: scores[code])
    sure = scores[best] >= FEWEST and scores[best] >= scores["en"] + LEAD
    return best if sure else "en"


def language_scores(words: Iterable[str]) -> dict[str, float]:
    """How much speaks for each language that is written in Latin letters; the words are in lower case."""
    scores = dict.fromkeys(WORDS, 0.0)
    for word, count in Counter(words).items():
        for code, value in _votes(word).items():
            scores[code] += value * count
    return scores


@cache
def _languages_of() -> dict[str, list[str]]:
    """The languages in which a word is frequent."""
    found: dict[str, list[str]] = {}
    for code, listing in WORDS.items():
        for word in set(listing.split()):
            found.setdefault(word, []).append(code)
    return found


def _votes(word: str) -> dict[str, float]:
    """What a word says: 1 for a language in which it is frequent, less if it is in others; its letters and pieces."""
    votes = dict.fromkeys(WORDS, 0.0)
    known = _languages_of().get(word, [])
    for code in known:
        votes[code] += 2.0 / (1 + len(known))
    odd = [letter for letter in word if letter not in "abcdefghijklmnopqrstuvwxyz'"]
    for code, letters in LETTERS.items():
        votes[code] += sum(0.5 if letter in letters else -1.0 for letter in odd)
    if not known and len(word) > 2:
        for code, pattern in _PIECES.items():
            votes[code] += 0.3 * bool(pattern.search(word))
    for code, pattern in _TELLING.items():
        votes[code] += TELLS * bool(pattern.search(word))
    return votes


_PIECES = {code: re.compile(pattern) for code, pattern in PIECES.items()}
_TELLING = {code: re.compile(pattern) for code, pattern in TELLING.items()}
