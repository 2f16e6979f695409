"""Editions: a story as published by a site. Reprints change titles and shorten bodies."""

from __future__ import annotations

import random
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import opencc

from lab.demo.plan import Entry, Kind, Plan
from lab.demo.vocabulary import subjects

if TYPE_CHECKING:
    from lab.demo.stories import Storybook, Text

_KEPT_AT_LEAST = 2
"""Minimum number of paragraphs of a reprint."""


class Edition(NamedTuple):
    """A story as published by one site.

    Attributes:
        title: Headline.
        paragraphs: Body.
        source: Name of the site that published it first.
        author: Its author.
        published: Seconds since the epoch.
        notes: Lines after the body, such as source and editor.
    """

    title: str
    paragraphs: tuple[str, ...]
    source: str
    author: str
    published: int
    notes: tuple[str, ...] = ()


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("s2tw")


@lru_cache(maxsize=20_000)
def traditional(text: str) -> str:
    """Return simplified text in traditional characters.

    >>> traditional("电动汽车")
    '電動汽車'
    """
    converted: str = _converter().convert(text)
    return converted


class Editions:
    """Writes the editions of stories for the entries of a plan."""

    def __init__(self, plan: Plan, book: Storybook) -> None:
        self.plan = plan
        self.book = book
        self.edition = lru_cache(maxsize=300)(self._edition)
        self.title = lru_cache(maxsize=50_000)(self._title)

    def say(self, site: int, text: str) -> str:
        """Return a text in the script of a site."""
        return traditional(text) if self.plan.sites[site].language == "zh-Hant" else text

    def _title(self, number: int) -> str:
        entry = self.plan.entries[number]
        if self._reprinted(entry):
            return self._edition(number).title
        return self.say(entry.site, self.book.title(entry.story))

    @staticmethod
    def _reprinted(entry: Entry) -> bool:
        return entry.kind == Kind.ARTICLE and entry.of >= 0

    def _edition(self, number: int) -> Edition:
        entry = self.plan.entries[number]
        told = self.plan.stories[entry.story]
        text = self.book.text(entry.story)
        luck = random.Random(f"{self.plan.seed}/edition/{number}")  # noqa: S311
        edition = Edition(text.title, text.paragraphs, told.site, text.author, told.published)
        if self._reprinted(entry):
            edition = self._reprint(edition, entry, text, luck)
        if number in self.plan.edited:
            edition = edition._replace(paragraphs=_updated(edition.paragraphs))
        lists = subjects()[told.subject].language.lists
        editor = luck.choice(lists["editor_lines"])
        if editor and entry.kind == Kind.ARTICLE:
            name = self.book.text(entry.story).author
            line = editor.replace("{person+}", name).replace("{person}", name)
            edition = edition._replace(notes=(*edition.notes, line))
        return self._translate(entry.site, edition)

    def _reprint(self, edition: Edition, entry: Entry, text: Text, luck: random.Random) -> Edition:
        lists = subjects()[self.plan.stories[entry.story].subject].language.lists
        facts = {
            "{title}": text.title,
            "{other}": text.other,
            "{original}": text.title,
            "{site}": self.plan.sites[entry.site].name,
            "{source}": edition.source,
            "{author}": text.author,
        }
        title = _fill(luck.choice(lists["reprint_titles"]), facts, luck)
        note = _fill(luck.choice(lists["reprint_lines"]), facts, luck)
        later = edition.published + luck.randint(5, 2_000) * 60
        body = _trim(edition.paragraphs, luck)
        return edition._replace(title=title, paragraphs=body, published=later, notes=(note,))

    def _translate(self, site: int, edition: Edition) -> Edition:
        say = partial(self.say, site)
        return Edition(
            title=say(edition.title),
            paragraphs=tuple(map(say, edition.paragraphs)),
            source=say(edition.source),
            author=say(edition.author),
            published=edition.published,
            notes=tuple(map(say, edition.notes)),
        )


def _updated(paragraphs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the body of an updated story, with its first two paragraphs swapped."""
    return (*paragraphs[1:2], *paragraphs[:1], *paragraphs[2:], paragraphs[0])


def _fill(template: str, facts: dict[str, str], luck: random.Random) -> str:
    before, bracket, rest = template.partition("[")
    if bracket:
        options, _, after = rest.partition("]")
        template = before + luck.choice(options.split("|")) + after
    for slot, value in facts.items():
        template = template.replace(slot, value)
    return template


def _trim(paragraphs: tuple[str, ...], luck: random.Random) -> tuple[str, ...]:
    """Drop a paragraph, or join two; half of the bodies stay unchanged."""
    kept = list(paragraphs)
    edit = luck.choice(("whole", "whole", "whole", "lead", "end", "end", "middle", "join"))
    if len(kept) <= _KEPT_AT_LEAST:
        return paragraphs
    if edit == "lead":
        kept = kept[1:]
    elif edit == "end":
        kept = kept[: max(_KEPT_AT_LEAST, (len(kept) * luck.randint(55, 90)) // 100)]
    elif edit == "middle":
        kept.pop(luck.randrange(1, len(kept)))
    elif edit == "join":
        kept[0:2] = [kept[0] + ("" if kept[0].endswith("。") else " ") + kept[1]]
    return tuple(kept)
