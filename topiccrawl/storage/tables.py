"""Articles as tables for people and programs: one schema, chosen columns, eight file formats."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.errors import ConfigurationError
from topiccrawl.storage.feed import atom, rss
from topiccrawl.storage.formats import (
    Formats,
    comma_separated,
    html_table,
    json_lines,
    markdown_table,
    parquet,
    workbook,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.selection import Selection

SCHEMA = "topiccrawl.table/1"
"""Name and version of the schema of exported rows; a changed meaning is a new version."""

CELL = 32_000
"""Characters of a text in a table for people; a cell of a workbook holds 32,767."""

CUT = " […]"
"""Mark at the end of a text that was cut."""


class Column(NamedTuple):
    """A column of exported articles.

    Attributes:
        type: ``string``, ``time``, ``number``, ``integer``, ``boolean``, ``strings`` or ``numbers``
            (names with a number each).
        about: Description, with unit and range.
        value: Returns an article's value, given the topic that the export is about ("" for all).
    """

    type: str
    about: str
    value: Callable[[Article, str], Any]


def shown(article: Article) -> dict[str, Any]:
    """Return the values of an article to show, without body if its page refuses copies.

    >>> from topiccrawl.model import Article
    >>> shown(Article("http://a.test/1", "题", "文", noarchive=True))["body"]
    ''
    """
    values = article.to_dict()
    return {**values, "body": ""} if article.noarchive else values


def score_of(article: Article, topic: str) -> float:
    """Return an article's score for a topic; the best of its scores where it has none for it.

    >>> from topiccrawl.model import Article
    >>> score_of(Article("http://a.test/1", "题", "文", topics={"足球": 0.5}), "")
    0.5
    """
    return article.topics.get(topic, max(article.topics.values(), default=0.0))


def time_of(text: str) -> datetime | None:
    """Return a publication time in this machine's zone; None for none, or for a day alone.

    A time without a zone is taken as UTC.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone()


def _published(article: Article, _: str) -> datetime | str:
    """Return the time; a day without a time stays the day, in any zone."""
    return (time_of(article.published) if "T" in article.published else None) or article.published


COLUMNS: Mapping[str, Column] = {
    "title": Column("string", "Headline.", lambda a, _: a.title),
    "url": Column("string", "Canonical form of the requested URL.", lambda a, _: a.url),
    "site": Column("string", "Host of the page.", lambda a, _: a.site),
    "published": Column("time", "Publication by the page: a time, or only a day.", _published),
    "found": Column(
        "time",
        "Time at which the page was fetched.",
        lambda a, _: datetime.fromtimestamp(a.fetched_at, UTC).astimezone(),
    ),
    "score": Column(
        "number", "Score for the topic in [0, 1].", lambda a, t: round(score_of(a, t), 4)
    ),
    "topics": Column("numbers", "Scores by topic, in [0, 1].", lambda a, _: dict(a.topics)),
    "words": Column(
        "numbers",
        "Topic words found, each with its share of the score, largest first.",
        lambda a, _: dict(a.terms),
    ),
    "author": Column("string", "Authors, separated by blanks.", lambda a, _: a.author),
    "source": Column("string", "First publisher.", lambda a, _: a.source),
    "language": Column("string", "ISO 639-1 code.", lambda a, _: a.language),
    "final_url": Column("string", "URL after redirects.", lambda a, _: a.final_url),
    "canonical_url": Column("string", "The page's canonical URL.", lambda a, _: a.canonical_url),
    "images": Column("strings", "URLs of the images.", lambda a, _: list(a.images)),
    "follows": Column(
        "string", "URL of the older story that it follows up.", lambda a, _: a.follows
    ),
    "event": Column(
        "string", "URL of the first article about the same event.", lambda a, _: a.event
    ),
    "depth": Column("integer", "Links from the nearest seed.", lambda a, _: a.depth),
    "noarchive": Column("boolean", "The page forbids copies.", lambda a, _: a.noarchive),
    "body": Column(
        "string",
        "Main text, one paragraph a line; empty where the page forbids copies.",
        lambda a, _: "" if a.noarchive else a.body,
    ),
}
"""Columns of exports, by name, in their order."""

BRIEF = (
    "title", "url", "site", "published", "found", "score", "topics", "words", "author", "body",
)  # fmt: skip
"""Columns of a table for people."""

_JSON_TYPES: Mapping[str, dict[str, Any]] = {
    "strings": {"type": "array", "items": {"type": "string"}},
    "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
    "time": {"type": "string", "description": "ISO 8601, a time with its zone, or a day."},
}


class ExportFilter(NamedTuple):
    """Articles of a selection to export, and their order.

    Attributes:
        sort: A name of ``SORTED``; "" for those stored last first.
        min_score: Minimum score for the selection's topic, in [0, 1].
        since: Time from which they were fetched, seconds since the epoch.
        limit: Maximum number; 0 for all.
    """

    sort: str = ""
    min_score: float = 0.0
    since: float = 0.0
    limit: int = 0


SORTED: Mapping[str, Callable[[Article, str], Any]] = {
    "score": score_of,
    "published": lambda article, _: article.published,
    "found": lambda article, _: article.fetched_at,
}
"""Keys that exports are sorted by, largest first."""


async def chosen(
    store: ArticleStore, selection: Selection, choice: ExportFilter
) -> AsyncGenerator[Article, None]:
    """Yield the articles to export; where they are sorted, only keys are kept in RAM."""
    topic = selection.topic

    def wanted(article: Article) -> bool:
        return article.fetched_at >= choice.since and score_of(article, topic) >= choice.min_score

    keys: list[tuple[Any, str]] = []
    found = 0
    async with aclosing(store.select(selection)) as articles:
        async for article in articles:
            if not wanted(article):
                continue
            if choice.sort:
                keys.append((SORTED[choice.sort](article, topic), article.url))
                continue
            yield article
            found += 1
            if found == choice.limit:
                return
    keys.sort(key=itemgetter(0), reverse=True)
    for _, url in keys[: choice.limit or None]:
        story = await store.get(url)
        if story is not None:  # still stored
            yield story.article


def columns_named(text: str) -> tuple[str, ...]:
    """Return the columns that a user names, separated by commas; none for no text.

    Raises:
        ConfigurationError: One is unknown.

    >>> columns_named("title, url")
    ('title', 'url')
    """
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in text.split(",")))))
    for name in names:
        if name not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise ConfigurationError(
                "--columns: no column {name!r}; there are {known}", name=name, known=known
            )
    return names


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an exported row (``.jsonl``)."""
    properties = {
        name: {"type": column.type, **_JSON_TYPES.get(column.type, {}), "description": column.about}
        for name, column in COLUMNS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "An article exported by topiccrawl",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


class Table:
    """Writers of articles as rows of chosen columns.

    Args:
        topic: Topic that the export is about, for its score; "" for all.
        columns: Names of columns; () for ``BRIEF`` in tables for people, and all for programs.
    """

    def __init__(self, topic: str = "", columns: Sequence[str] = ()) -> None:
        self._topic = topic
        self._brief = tuple(columns) or BRIEF
        self._all = tuple(columns) or tuple(COLUMNS)

    def formats(self) -> Formats[Article]:
        """Return the formats, by suffix."""
        return Formats(
            {
                ".jsonl": lambda file: json_lines(file, self.row),
                ".csv": lambda file: comma_separated(file, self._brief, self._cells),
                ".html": lambda file: html_table(file, self._title, self._brief, self._cells),
                ".md": lambda file: markdown_table(file, self._brief, self._cells),
                ".atom": atom,
                ".rss": rss,
            },
            {
                ".parquet": lambda path: parquet(path, self._parquet, self._values),
                ".xlsx": lambda path: workbook(path, self._title, self._brief, self._typed),
            },
        )

    @property
    def _title(self) -> str:
        return self._topic or "topiccrawl"

    def row(self, article: Article) -> dict[str, Any]:
        """Return an article as JSON values, as ``.jsonl`` has it."""
        values = {name: COLUMNS[name].value(article, self._topic) for name in self._all}
        return {name: _iso(value) for name, value in values.items()}

    def _typed(self, article: Article) -> list[Any]:
        """Return a row whose texts are short enough for a cell; times and numbers stay so."""
        return [_cell(COLUMNS[name].value(article, self._topic)) for name in self._brief]

    def _cells(self, article: Article) -> list[str | float]:
        return [_iso(value) for value in self._typed(article)]

    def _values(self, article: Article) -> dict[str, Any]:
        """Return a row for parquet, whose times have a type: a day is its midnight, UTC."""
        row = {name: COLUMNS[name].value(article, self._topic) for name in self._all}
        for name, value in row.items():
            if COLUMNS[name].type == "time" and isinstance(value, str):
                row[name] = time_of(value)
            elif isinstance(value, dict):
                row[name] = list(value.items())
        return row

    def _parquet(self, pa: Any) -> Any:  # noqa: ANN401 - pyarrow, an extra
        types = {
            "string": pa.string(), "number": pa.float64(), "integer": pa.int64(),
            "boolean": pa.bool_(), "time": pa.timestamp("us", tz="UTC"),
            "strings": pa.list_(pa.string()), "numbers": pa.map_(pa.string(), pa.float64()),
        }  # fmt: skip
        schema = pa.schema([(name, types[COLUMNS[name].type]) for name in self._all])
        return schema.with_metadata({"schema": SCHEMA})


def _iso(value: Any) -> Any:  # noqa: ANN401 - any value of a column
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _cell(value: Any) -> Any:  # noqa: ANN401 - any value of a column
    """Return a value with one part: names with numbers as text, a long text cut.

    >>> _cell({"电池": 0.62, "汽车": 0.38})
    '电池 0.62, 汽车 0.38'
    """
    if isinstance(value, dict):
        value = ", ".join(f"{name} {number:.2f}" for name, number in value.items())
    elif isinstance(value, list):
        value = ", ".join(value)
    if isinstance(value, str) and len(value) > CELL:
        return value[: CELL - len(CUT)] + CUT
    return value
