"""Export of articles as tables: one schema, selectable columns, eight file formats."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from email.utils import format_datetime
from hashlib import md5
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import NameList
from topiccrawl.storage.formats import (
    Writer,
    comma_separated,
    html_table,
    json_lines,
    markdown_table,
    parquet,
    template,
    workbook,
    xml_text,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.formats import Formats
    from topiccrawl.storage.selection import Selection

SCHEMA = "topiccrawl.table/1"
"""Name and version of the schema of exported rows; a change of meaning needs a new version."""

CELL = 32_000
"""Maximum number of characters of a table cell; a workbook allows 32,767."""

CUT = " […]"
"""Suffix of a truncated text."""


SUMMARY = 300
"""Maximum number of characters of the text in an entry."""


class Column(NamedTuple):
    """Column of exported articles.

    Attributes:
        type: ``string``, ``time``, ``number``, ``integer``, ``boolean``, ``strings`` or ``numbers``
            (mapping of names to numbers).
        about: Description, with unit and range.
        value: Returns the value of an article for a topic ("" for all topics).
    """

    type: str
    about: str
    value: Callable[[Article, str], Any]


def _field(type_: str, name: str, about: str) -> Column:
    """Return the column of a field of articles."""
    return Column(type_, about, lambda article, _: getattr(article, name))


def id_of(article: Article) -> str:
    """Return the MD5 of the URL in hexadecimal."""
    return md5(article.url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def displayed_values(article: Article) -> dict[str, Any]:
    """Return id and values of an article, without body if the page forbids copies.

    >>> from topiccrawl.model import Article
    >>> shown = displayed_values(Article("http://a.test/1", "题", "文", noarchive=True))
    >>> shown["body"], shown["id"]
    ('', '9758a08f62aa66bb1ad66f56554b2dc5')
    """
    values = {**article.to_dict(), "id": id_of(article)}
    return {**values, "body": ""} if article.noarchive else values


def score_of(article: Article, topic: str) -> float:
    """Return the score of an article for a topic, or its best score if it has none.

    >>> from topiccrawl.model import Article
    >>> score_of(Article("http://a.test/1", "题", "文", topics={"足球": 0.5}), "")
    0.5
    """
    return article.topics.get(topic, max(article.topics.values(), default=0.0))


def _published(article: Article, _: str) -> datetime | str:
    """Return the publication time in the local zone; a date or other text is unchanged."""
    at = with_zone(article.published) if "T" in article.published else None
    return article.published if at is None else at.astimezone()


COLUMNS: Mapping[str, Column] = {
    "title": _field("string", "title", "Headline."),
    "url": _field("string", "url", "Canonical form of the requested URL."),
    "site": _field("string", "site", "Host of the page."),
    "published": Column(
        "time", 'Publication by the page: a time, or only a day; "" if unknown.', _published
    ),
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
        lambda a, _: dict(a.words),
    ),
    "author": _field("string", "author", 'Authors, separated by blanks or commas; "" if unknown.'),
    "source": _field("string", "source", 'First publisher; "" if the page names none.'),
    "language": _field("string", "language", 'ISO 639-1 code; "" if unknown.'),
    "final_url": _field("string", "final_url", "URL after redirects; the same as url without one."),
    "canonical_url": _field(
        "string", "canonical_url", 'The page\'s canonical URL; "" if it declares none.'
    ),
    "images": Column("strings", "URLs of the images.", lambda a, _: list(a.images)),
    "follows": _field("string", "follows", 'URL of the older story that it follows up, or "".'),
    "event": _field("string", "event", 'URL of the first article about the same event, or "".'),
    "depth": _field("integer", "depth", "Links from the nearest seed."),
    "noarchive": _field("boolean", "noarchive", "The page forbids copies."),
    "body": Column(
        "string",
        "Main text, one paragraph a line; empty where the page forbids copies.",
        lambda a, _: "" if a.noarchive else a.body,
    ),
    "id": Column(
        "string",
        "MD5 of url in hexadecimal, for search engines that accept no URL as an id.",
        lambda a, _: id_of(a),
    ),
}
"""Columns of exports by name, in order."""

BRIEF = (
    "title", "url", "site", "published", "found", "score", "topics", "words", "author", "body",
)  # fmt: skip
"""Default columns of CSV, HTML, Markdown and workbooks."""


class ExportFilter(NamedTuple):
    """Filter and order of the exported articles of a selection.

    Attributes:
        sort: Name of a key in ``SORTED``; "" for last stored first.
        min_score: Minimum score for the topic of the selection, in [0, 1].
        limit: Maximum number of articles; 0 for all.
    """

    sort: str = ""
    min_score: float = 0.0
    limit: int = 0


SORTED: Mapping[str, Callable[[Article, str], Any]] = {
    "score": score_of,
    "published": lambda article, _: article.published,
    "found": lambda article, _: article.fetched_at,
}
"""Sort keys of exports, by name; exports are in descending order."""


async def export_articles(
    store: ArticleStore, selection: Selection, choice: ExportFilter
) -> AsyncGenerator[Article, None]:
    """Yield the articles to export; only the sort keys are kept in RAM."""
    topic, found = selection.topic, 0
    keys: list[tuple[Any, str]] = []
    async with aclosing(store.select(selection)) as articles:
        async for article in articles:
            if score_of(article, topic) < choice.min_score:
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
    """Return the columns named in a comma-separated list; () for empty text.

    Raises:
        ConfigurationError: A column is unknown.

    >>> columns_named("title, url")
    ('title', 'url')
    """
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in text.split(",")))))
    for name in names:
        if name not in COLUMNS:
            known = NameList(COLUMNS)
            raise ConfigurationError(
                "--columns: no column {name!r}; choose from {known}", name=name, known=known
            )
    return names


class Table:
    """Writers of articles as rows of selected columns.

    Args:
        topic: Topic of the score column; "" for the best score.
        columns: Names of columns; () for all in JSON lines and Parquet, ``BRIEF`` in other formats.
    """

    def __init__(self, topic: str = "", columns: Sequence[str] = ()) -> None:
        self._topic = topic
        self._title = topic or "topiccrawl"
        self._brief = tuple(columns) or BRIEF
        self._all = tuple(columns) or tuple(COLUMNS)

    def formats(self) -> Formats[Article]:
        """Return the writers by file suffix."""
        return {
            ".jsonl": lambda file: json_lines(file, self.row),
            ".csv": lambda file: comma_separated(file, self._brief, self._cells),
            ".html": lambda file: html_table(file, self._title, self._brief, self._cells),
            ".md": lambda file: markdown_table(file, self._brief, self._cells),
            ".atom": lambda file: _feed(file, "atom.xml", self._topic),
            ".rss": lambda file: _feed(file, "rss.xml", self._topic),
            ".parquet": lambda file: parquet(file, self._parquet, self._values),
            ".xlsx": lambda file: workbook(file, self._title, self._brief, self._typed),
        }

    def row(self, article: Article) -> dict[str, Any]:
        """Return the JSON values of an article, as in ``.jsonl`` files."""
        values = {name: COLUMNS[name].value(article, self._topic) for name in self._all}
        return {name: _iso(value) for name, value in values.items()}

    def _typed(self, article: Article) -> list[Any]:
        """Return a row of typed values, with texts truncated to ``CELL`` characters."""
        return [_cell(COLUMNS[name].value(article, self._topic)) for name in self._brief]

    def _cells(self, article: Article) -> list[str | float]:
        return [_iso(value) for value in self._typed(article)]

    def _values(self, article: Article) -> dict[str, Any]:
        """Return a row for Parquet; a date without a time becomes its midnight, UTC."""
        row = {name: COLUMNS[name].value(article, self._topic) for name in self._all}
        for name, value in row.items():
            if COLUMNS[name].type == "time" and isinstance(value, str):
                row[name] = with_zone(value)
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


def _feed(file: TextIO, name: str, topic: str) -> Writer[Article]:
    """Return a writer that collects articles and writes an Atom or RSS 2.0 feed at the end.

    A story has one entry; reprints have none. The id of an entry is the URL of its article, so that
    feed readers show each article once. The summary is omitted if the page forbids copies. The
    title of the feed is the topic, or the topics of the articles; its id has the topic, or ``*``.

    Args:
        file: File of the feed.
        name: Template, ``atom.xml`` or ``rss.xml``.
        topic: Topic of the articles; "" for all.
    """
    articles: list[Article] = []

    def write(article: Article) -> None:
        text = "" if article.noarchive else article.body[:SUMMARY]
        articles.append(replace(article, body=text))

    def end() -> None:
        topics = dict.fromkeys(topic for article in articles for topic in article.topics)
        feed = template("topiccrawl.storage", f"templates/{name}").render(
            topic=topic,
            name=topic or " · ".join(topics) or "topiccrawl",
            articles=articles,
            updated=max((article.fetched_at for article in articles), default=0.0),
            utc=_utc, with_zone=with_zone, mail_date=format_datetime,
        )  # fmt: skip
        file.write(f"{xml_text(feed)}\n")

    return Writer(write, end)


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_zone(text: str) -> datetime | None:
    """Return an ISO 8601 time in its zone (default UTC), a date as midnight, other text as None.

    The first and the last year of the calendar count as other text: zones reach beyond them.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not MINYEAR < at.year < MAXYEAR:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _iso(value: Any) -> Any:  # noqa: ANN401 - any value of a column
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _cell(value: Any) -> Any:  # noqa: ANN401 - any value of a column
    """Return a scalar value: mappings and lists as text, long text truncated.

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
