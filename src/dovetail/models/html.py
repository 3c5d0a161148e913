"""Models as HTML, for notebooks: what they are, what they have learnt and how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from html import escape
from typing import Any

from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.base import Estimator

_TABLE = "border-collapse:collapse;margin:0.3em 0;max-width:60em;color:inherit;background:transparent"
_NAME = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0;font-weight:600;white-space:nowrap"
_VALUE = "text-align:left;padding:0.15em 0"
_SETTING = "text-align:left;padding:0.1em 1em 0.1em 0;opacity:0.85"
LONGEST = 300


def model_html(model: Estimator) -> str:
    """The kind of a model, whether it is trained, its labels, what it needs, unusual settings and scores.

    >>> from dovetail.models.tagger.estimator import Tagger
    >>> "not trained" in model_html(Tagger()), "l2 = 0.5" in model_html(Tagger(l2=0.5))
    (True, True)
    """
    trained = model._is_trained()
    card: Mapping[str, Any] = getattr(model, "card_", {})
    rows = {
        type(model).__name__: "trained" if trained else "not trained",
        "labels": ", ".join(_labels(model)) if trained else "",
        "domains": ", ".join(getattr(model, "domains_", ())) if trained else "",
        "needs": ", ".join(["words", *model.needs]) if trained else "",
        "predicts": ", ".join(model.predicts),
        "settings": ", ".join(f"{name} = {_shown(value)}" for name, value in unusual_settings(model).items()),
        "data": ", ".join(f"{card[name]:,} {name}" for name in ("sentences", "tokens") if _is_number(card.get(name))),
        "dev score": f"{card['dev']:.2f}" if _is_number(card.get("dev")) else "",
    }
    lines = "".join(_row(name, value) for name, value in rows.items() if value)
    return f'<table class="dovetail" style="{_TABLE}">{lines}</table>{_all_settings(model)}'


def _all_settings(model: Estimator) -> str:
    """Every setting, folded away, as scikit-learn shows them: those that are unusual stand out."""
    unusual = unusual_settings(model)
    rows = "".join(
        f'<tr style="{"font-weight:600" if name in unusual else ""}"><td style="{_SETTING}">{escape(name)}</td>'
        f'<td style="{_VALUE}">{escape(_shown(value)[:LONGEST])}</td></tr>'
        for name, value in model.get_params().items()
        if not isinstance(value, Estimator)
    )
    return f"<details><summary>all settings</summary><table>{rows}</table></details>"


def unusual_settings(model: Estimator) -> dict[str, Any]:
    """The settings that differ from the defaults, also those of a model that is a setting, but not of trained parts."""
    found: dict[str, Any] = {}
    for field in filter(lambda each: each.init, fields(model)):
        usual = field.default_factory() if field.default_factory is not MISSING else field.default
        value = getattr(model, field.name)
        if isinstance(value, Estimator):
            found |= {f"{field.name}.{name}": v for name, v in unusual_settings(value).items()}
        elif value != usual and not (value == [] and usual == ()):
            found[field.name] = value
    return found


def _labels(model: Estimator) -> tuple[str, ...]:
    """The labels; of chunk tags the types of entities."""
    names: tuple[str, ...] = getattr(model, "classes_", ())
    if any(name[:2] == "B-" for name in names):
        return tuple(dict.fromkeys(name[2:] for name in names if name != "O"))
    return names


def _shown(value: object) -> str:
    """A setting in few words: feature sets and resources by their names."""
    if isinstance(value, FeatureSet):
        return value.name
    return ", ".join(map(str, value)) if isinstance(value, Mapping) else repr(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _row(name: str, value: str) -> str:
    shown = value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    return f'<tr><th style="{_NAME}">{escape(name)}</th><td style="{_VALUE}">{escape(shown)}</td></tr>'
