"""The names of domains: each has data, and none is asked for that there is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized

from dovetail.errors import DovetailError


def check_by_name(data: object, gold: object = None) -> None:
    """The sentences of domains come by their names, with the answers to learn in them."""
    if not isinstance(data, Mapping):
        raise DovetailError('give the sentences of each domain by its name: {"news": [...], "web": [...]}')
    if gold is not None:
        raise DovetailError("the answers to learn are in the sentences of each domain; give none apart from them")


def check_data(data: Mapping[str, Sequence[Sized]]) -> None:
    """There are domains, and every one has a sentence with words."""
    if not data:
        raise DovetailError("give the training sentences of each domain, by its name")
    for name, some in data.items():
        if not any(map(len, some)):
            raise DovetailError(f"the domain {name!r} has no training data; leave it out, or check its file")


def check_known(domain: str | None, known: Collection[str]) -> None:
    """The domain is one of those known, or none."""
    if domain is not None and domain not in known:
        raise DovetailError(
            f"no domain {domain!r}; the model knows {', '.join(known)} (leave the domain out for text of no known "
            f"domain)"
        )
