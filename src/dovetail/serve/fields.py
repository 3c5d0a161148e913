"""What the routes of ``dovetail serve`` take and give, as /openapi.json describes it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dovetail.text.sentence import Document, Sentence

MOST_CHARACTERS = 100_000
"""Of one text; longer ones go to /batch, an article or a paragraph a line."""
LONGEST_WORD = 10_000
MOST_ALTERNATIVES = 20

Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_WORD)]


class Given(BaseModel):
    """A text, or sentences that are cut into words already."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str | None = Field(
        None,
        max_length=MOST_CHARACTERS,
        description=f"Running text of up to {MOST_CHARACTERS:,} characters; longer ones: `/batch`.",
        examples=["Ada Lovelace was born in London."],
    )
    words: list[Annotated[list[Word], Field(min_length=1)]] | None = Field(
        None,
        description="In place of the text: sentences, each a list of words.",
        examples=[[["Ada", "Lovelace", "slept", "."]]],
    )
    model: str | None = Field(
        None, description="The name of a model, see `/models`; without, the first of them.", examples=["english-names"]
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Given:
        if (self.text is None) is (self.words is None):
            raise ValueError("give either text or words")
        if self.words is not None and sum(len(w) + 1 for s in self.words for w in s) > MOST_CHARACTERS:
            raise ValueError(f"the words have more than {MOST_CHARACTERS:,} characters; use /batch")
        if self.text is not None and len(longest := max(self.text.split(), key=len, default="")) > LONGEST_WORD:
            raise ValueError(f"the text has a word of {len(longest):,} characters; {LONGEST_WORD:,} are the most")
        return self

    def content(self) -> str | Document:
        """What is to be annotated."""
        if self.text is not None:
            return self.text
        return Document(tuple(Sentence(tuple(words)) for words in self.words or ()))


class Wishes(Given):
    """What to annotate, and what to say of it."""

    alternatives: int = Field(
        0, ge=0, le=MOST_ALTERNATIVES, description="So many of the best answers to each sentence, with probabilities."
    )
    pictures: bool = Field(False, description="Trees and dependencies as pictures (SVG), too.")


class Question(Given):
    """What is to be explained: a token, a span, or an argument of a predicate; see `explains` in `/models`."""

    sentence: int = Field(0, ge=0, description="The sentence, counted from 0.")
    token: int | None = Field(None, ge=0, description="Of taggers: the word, counted from 0 in its sentence.")
    start: int | None = Field(None, ge=0, description="Of parsers and roles: the first word of the span.")
    end: int | None = Field(None, ge=1, description="The word after its last.")
    label: str | None = Field(None, description="Of parsers: the label, where a span has several.")
    predicate: int | None = Field(None, ge=0, description="Of roles: the predicate, counted from 0 in its sentence.")
    top: int = Field(8, ge=1, le=100, description="So many features for and against.")


class Entity(BaseModel):
    """A named entity: words `start` up to but not including `end` of its sentence."""

    start: int
    end: int
    label: str
    probability: float | None = None
    text: str


class AnnotatedSentence(BaseModel):
    """A sentence with whatever its model gives; lists have a value for each word."""

    model_config = ConfigDict(extra="allow")

    words: list[str]
    offsets: list[tuple[int, int]] | None = Field(None, description="First and last + 1 character of each word.")
    text: str | None = None
    entities: list[Entity] | None = None
    heads: list[int] | None = Field(None, description="The head of each word, from 0; -1 is the root.")
    deprels: list[str] | None = Field(None, description="The relation of each word to its head.")
    tree: str | None = Field(None, description="A phrase structure in brackets.")
    frames: list[dict[str, Any]] | None = Field(None, description="Predicates with their arguments.")
    alternatives: list[dict[str, Any]] | None = Field(
        None, description="The best answers, each with `probability` and the same fields as the sentence."
    )
    pictures: dict[str, str] | None = Field(None, description="SVG, by what it shows: `tree`, `dependencies`.")


class Answered(BaseModel):
    """An annotated text."""

    model: str
    sentences: list[AnnotatedSentence]


class Listed(BaseModel):
    """A model."""

    name: str
    kind: str = Field(description="What its file says that it is: tagger, parser, ...")
    gives: str = Field(description="entities, tags, words, trees, dependencies, roles, or layers of a pipeline.")
    labels: list[str]
    explains: str | None = Field(description="What `/explain` is asked about: token, span, argument; or null.")
    ranks: bool = Field(description="Whether it has `alternatives`.")
    card: dict[str, Any] = Field(description="What is known of its training: data, scores.")


class Models(BaseModel):
    """The models that are served; the first is the default."""

    models: list[Listed]


class Explained(BaseModel):
    """The answer that was asked about, its rivals, and the features for and against it, strongest first."""

    model_config = ConfigDict(extra="allow")

    model: str
