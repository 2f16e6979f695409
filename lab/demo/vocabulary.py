"""The words of the demo web, read from the package's TOML files."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Texts = tuple[str, ...]
"""Templates of one kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """Templates and words that all subjects of a language share: lists and single ones by name."""

    code: str
    lists: Mapping[str, Texts]
    lines: Mapping[str, str]
    words: Mapping[str, Texts]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Material of the stories of one subject.

    Attributes:
        number: Position in ``subjects()``.
        name: What a user would type as the topic.
        slug: ASCII name, used as a label.
        language: The language's shared words.
        channels: Names of its channels.
        slugs: URL names of its channels.
        terms: Words typical of the subject.
        titles: Headline templates.
        sentences: Sentence templates, without the final stop.
        mentions: Passing mentions for stories of other subjects.
        words: Slot name to words, shared ones included.
    """

    number: int
    name: str
    slug: str
    language: Language
    channels: Texts
    slugs: Texts
    terms: Texts
    titles: Texts
    sentences: Texts
    mentions: Texts
    words: Mapping[str, Texts]


class SiteNames(NamedTuple):
    """Parts of site names: (pinyin, Chinese) stems and kinds, and English names."""

    stems: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    english: Texts


_FILES: tuple[str, ...] = (
    "nev",
    "football",
    "housing",
    "weather",
    "health",
    "education",
    "entertainment",
    "technology",
    "ev_en",
    "football_en",
)
_LANGUAGES = {"zh": "chinese.toml", "en": "english.toml"}


def read_toml(name: str) -> dict[str, Any]:
    """Return the tables of a file of this package."""
    text = files("lab.demo").joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def language(code: str) -> Language:
    """Return the shared words of ``zh`` or ``en``."""
    data = read_toml(_LANGUAGES[code])
    words = {name: tuple(values) for name, values in data.pop("words").items()}
    lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    lines = {name: value for name, value in data.items() if isinstance(value, str)}
    return Language(code, lists, lines, words)


@cache
def subjects() -> tuple[Subject, ...]:
    """Return all subjects; a subject's number is its position.

    >>> [subject.name for subject in subjects()][:3]
    ['新能源汽车', '足球', '房地产']
    """
    return tuple(_subject(number, name) for number, name in enumerate(_FILES))


def _subject(number: int, name: str) -> Subject:
    data = read_toml(f"subjects/{name}.toml")
    shared = language(data["language"])
    own = {slot: tuple(values) for slot, values in data["words"].items()}
    lists = ("channels", "slugs", "terms", "titles", "sentences", "mentions")
    return Subject(
        number=number,
        name=data["name"],
        slug=data["slug"],
        language=shared,
        words={**shared.words, **own},
        **{field: tuple(data[field]) for field in lists},
    )


def subject_named(name: str) -> Subject:
    """Return the subject with this name or slug.

    Raises:
        ValueError: If there is none; lists those there are.
    """
    for subject in subjects():
        if name in (subject.name, subject.slug):
            return subject
    known = ", ".join(subject.name for subject in subjects())
    raise ValueError(f"the demo web has no subject {name!r}; choose one of: {known}")


@cache
def site_names() -> SiteNames:
    """Return what site names are made of."""
    data = read_toml("sites.toml")
    stems = tuple((latin, han) for latin, han in data["stems"])
    kinds = tuple((latin, han) for latin, han in data["kinds"])
    return SiteNames(stems, kinds, tuple(data["english"]))
