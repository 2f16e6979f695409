"""Stories of the demo web: planned as a few numbers, written on request, and their editions.

An edition is a story as published by a site. Reprints change titles and shorten bodies.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import opencc

from lab.demo.grammar import Writer
from lab.demo.plan import Entry, Kind, Plan
from lab.demo.vocabulary import Subject, subjects

if TYPE_CHECKING:
    from collections.abc import Sequence

CHINA = timezone(timedelta(hours=8))
"""Zone of every date in the demo web."""
NEWEST = int(datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp())
"""Publication time of the newest story at most, seconds since the epoch."""
_MENTION = 0.15
"""Share of stories that mention another subject in passing."""

_KEPT_AT_LEAST = 2
"""Minimum number of paragraphs of a reprint."""


class Style(StrEnum):
    """Style of a story."""

    NEWS = "news"
    BLOG = "blog"
    ADVERT = "advert"


class Story(NamedTuple):
    """A planned story.

    Attributes:
        number: Identity.
        subject: Number of its subject.
        site: Name of the site that published it first.
        published: Seconds since the epoch.
        like: Story with the same template and names but other numbers and date; -1 for none.
        style: Style of the story.
    """

    number: int
    subject: int
    site: str
    published: int
    like: int = -1
    style: Style = Style.NEWS


class Text(NamedTuple):
    """A written story, without a page."""

    title: str
    other: str
    paragraphs: tuple[str, ...]
    author: str


class Storybook:
    """Writes the stories of a seed; the text is determined by the number of the story.

    Args:
        seed: Seed of the web.
        stories: Position is number.
    """

    def __init__(self, seed: int, stories: Sequence[Story]) -> None:
        self.seed = seed
        self.stories = stories
        self.title = lru_cache(maxsize=50_000)(self._title)
        self.text = lru_cache(maxsize=500)(self._text)

    def _title(self, number: int) -> str:
        return self._begin(self.stories[number])[1]

    def _text(self, number: int) -> Text:
        story = self.stories[number]
        writer, title = self._begin(story)
        subject = subjects()[story.subject]
        author = writer.write("{author}")
        body = _BODIES[story.style](writer, subject)
        other = writer.pick(subject.titles)
        return Text(title, other, tuple(body), author)

    def _begin(self, story: Story) -> tuple[Writer, str]:
        subject = subjects()[story.subject]
        writer = Writer(subject.words, _given(story), *self._generators(story))
        if story.style is Style.ADVERT:
            return writer, writer.pick(subject.language.lists["advert_titles"])
        return writer, writer.pick(subject.titles)

    def _generators(self, story: Story) -> tuple[random.Random, random.Random, random.Random]:
        model = story.number if story.like < 0 else story.like
        base = self.seed << 40
        return (
            random.Random(base + model * 4),  # noqa: S311  (text, no secret)
            random.Random(base + model * 4 + 1),  # noqa: S311
            random.Random(base + story.number * 4 + 2),  # noqa: S311
        )


def _given(story: Story) -> dict[str, str]:
    when = datetime.fromtimestamp(story.published, CHINA)
    return {
        "y": str(when.year),
        "year": str(when.year - 1),
        "m": str(when.month),
        "d": str(when.day),
        "mon": f"{when:%B}",
        "site": story.site,
    }


def _news(writer: Writer, subject: Subject) -> list[str]:
    shared = subject.language.lists
    chosen = writer.shape.sample(subject.sentences, writer.shape.randint(9, 15))
    chosen += writer.shape.sample(shared["generic"], writer.shape.randint(0, 2))
    if writer.shape.random() < _MENTION:
        chosen.append(writer.shape.choice(_mentions(subject)))
    lead, rest = chosen[0], chosen[1:]
    writer.shape.shuffle(rest)
    sentences = [_sentence(writer, subject, writer.pick(shared["datelines"]), lead)]
    sentences += [
        _sentence(writer, subject, writer.pick(shared["openers"]), template) for template in rest
    ]
    closing = writer.pick(shared["closings"])
    return _paragraphs(writer, sentences, closing)


def _blog(writer: Writer, subject: Subject) -> list[str]:
    shared = subject.language.lists
    chosen = writer.shape.sample(shared["diary"], 4)
    chosen += writer.shape.sample(subject.sentences, 3)
    writer.shape.shuffle(chosen)
    return _paragraphs(writer, [_sentence(writer, subject, "", one) for one in chosen], "")


def _advert(writer: Writer, subject: Subject) -> list[str]:
    return [writer.write(one) for one in writer.shape.sample(subject.language.lists["adverts"], 3)]


_BODIES = {Style.NEWS: _news, Style.BLOG: _blog, Style.ADVERT: _advert}


def _mentions(subject: Subject) -> tuple[str, ...]:
    """Passing mentions of other subjects in the same language; the first subject comes often."""
    others = [s for s in subjects() if s.language is subject.language and s is not subject]
    return tuple(mention for other in others[:1] * 3 + others for mention in other.mentions)


def _sentence(writer: Writer, subject: Subject, opener: str, template: str) -> str:
    text = opener + writer.write(template)
    if subject.language.code == "en":
        return text[:1].upper() + text[1:] + "."
    return text + "。"


def _paragraphs(writer: Writer, sentences: list[str], closing: str) -> list[str]:
    glue = "" if sentences[0].endswith("。") else " "
    paragraphs = []
    while sentences:
        size = writer.shape.randint(1, 3)
        paragraphs.append(glue.join(sentences[:size]))
        sentences = sentences[size:]
    if closing:
        paragraphs[-1] += glue + closing
    return paragraphs


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
        story = self.plan.stories[entry.story]
        text = self.book.text(entry.story)
        rng = random.Random(f"{self.plan.seed}/edition/{number}")  # noqa: S311
        edition = Edition(text.title, text.paragraphs, story.site, text.author, story.published)
        if self._reprinted(entry):
            edition = self._reprint(edition, entry, text, rng)
        if number in self.plan.edited:
            edition = edition._replace(paragraphs=_updated(edition.paragraphs))
        lists = subjects()[story.subject].language.lists
        editor = rng.choice(lists["editor_lines"])
        if editor and entry.kind == Kind.ARTICLE:
            name = self.book.text(entry.story).author
            line = editor.replace("{person+}", name).replace("{person}", name)
            edition = edition._replace(notes=(*edition.notes, line))
        return self._translate(entry.site, edition)

    def _reprint(self, edition: Edition, entry: Entry, text: Text, rng: random.Random) -> Edition:
        lists = subjects()[self.plan.stories[entry.story].subject].language.lists
        facts = {
            "{title}": text.title,
            "{other}": text.other,
            "{original}": text.title,
            "{site}": self.plan.sites[entry.site].name,
            "{source}": edition.source,
            "{author}": text.author,
        }
        title = _fill(rng.choice(lists["reprint_titles"]), facts, rng)
        note = _fill(rng.choice(lists["reprint_lines"]), facts, rng)
        later = edition.published + rng.randint(5, 2_000) * 60
        body = _trim(edition.paragraphs, rng)
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


def _fill(template: str, facts: dict[str, str], rng: random.Random) -> str:
    before, bracket, rest = template.partition("[")
    if bracket:
        options, _, after = rest.partition("]")
        template = before + rng.choice(options.split("|")) + after
    for slot, value in facts.items():
        template = template.replace(slot, value)
    return template


def _trim(paragraphs: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Drop a paragraph, or join two; half of the bodies stay unchanged."""
    kept = list(paragraphs)
    edit = rng.choice(("whole", "whole", "whole", "lead", "end", "end", "middle", "join"))
    if len(kept) <= _KEPT_AT_LEAST:
        return paragraphs
    if edit == "lead":
        kept = kept[1:]
    elif edit == "end":
        kept = kept[: max(_KEPT_AT_LEAST, (len(kept) * rng.randint(55, 90)) // 100)]
    elif edit == "middle":
        kept.pop(rng.randrange(1, len(kept)))
    elif edit == "join":
        kept[0:2] = [kept[0] + ("" if kept[0].endswith("。") else " ") + kept[1]]
    return tuple(kept)
