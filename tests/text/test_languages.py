"""The guess of a language, on sentences of our own."""

from __future__ import annotations

import pytest

from dovetail.text.languages import LANGUAGES, guess_language

TEXTS = {
    "da": "Hun siger, at toget ikke kommer, før det er blevet lyst, og at vi skal vente på den næste dag.",
    "de": "Sie sagt, dass der Zug nicht kommt, bevor es hell geworden ist, und dass wir auf den nächsten Tag warten.",
    "en": "She says that the train will not come before it is light, and that we have to wait for the next day.",
    "hr": "Kaže da vlak neće doći prije nego što svane i da moramo čekati sljedeći dan, ali gdje nije rekla.",
    "pt": "Ela diz que o comboio não vem antes de amanhecer e que temos de esperar pelo dia seguinte.",
    "sk": "Hovorí, že vlak nepríde skôr, ako sa rozvidnie, a že musíme čakať na ďalší deň.",
    "sr": "Kaže da voz neće doći pre nego što svane i da posle toga moramo da čekamo sledeći dan, ali gde nije rekla.",
    "sv": "Hon säger att tåget inte kommer förrän det har blivit ljust, och att vi måste vänta till nästa dag.",
    "zh": "她说火车天亮以前不会来，我们得等到第二天。",
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_sentence_of_each(code: str) -> None:
    assert guess_language(TEXTS[code]) == code
    assert guess_language(f"{TEXTS[code]}\n{TEXTS[code]}".upper()) == code


def test_serbian_in_cyrillic() -> None:
    assert guess_language("Каже да воз неће доћи пре него што сване.") == "sr"
    assert guess_language("Она говорит, что поезд не придёт, пока не рассветёт.") is None
    assert guess_language("Ми живимо у Београду, а они у Новом Саду.") == "sr"


@pytest.mark.parametrize("text", ["彼女は電車が来ないと言った。", "기차가 오지 않는다고 말했다.", "Поезд не придёт"])
def test_scripts_of_other_languages(text: str) -> None:
    assert guess_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1984",
        "Ada slept.",
        "Ada Lovelace visited London .",
        "Karen London lives in Porto. It rained.",
        "Gödel and Erdős met in Zürich.",
        "São Paulo beat Malmö FF.",
        "Angela Merkel met Barack Obama in Berlin before flying to Washington.",
        "The word 东 means east.",
        "RT @someone lol http://t.co/abc #win",
    ],
)
def test_english_unless_something_speaks_against_it(text: str) -> None:
    assert guess_language(text) == "en"
