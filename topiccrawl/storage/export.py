"""Articles as files for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Article
from topiccrawl.storage.feed import Atom
from topiccrawl.storage.formats import CommaSeparated, Formats, JsonLines, Parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = tuple(Article("http://a.test/", "", "").to_dict())
"""Names and order of an article's columns."""


def shown(article: Article) -> dict[str, Any]:
    """Return the values of an article to show, without body if its page refuses copies.

    >>> shown(Article("http://a.test/1", "题", "文", noarchive=True))["body"]
    ''
    """
    values = article.to_dict()
    return {**values, "body": ""} if article.noarchive else values


def _cells(article: Article) -> Iterator[str | float]:
    """Yield one cell per column; values with parts (topics, terms, images) as JSON."""
    for value in shown(article).values():
        plain = isinstance(value, str | int | float)
        yield value if plain else json.dumps(value, ensure_ascii=False)


def _row(article: Article) -> dict[str, Any]:
    """Return a row for Parquet: topics and terms are lists of name and number."""
    values = shown(article)
    for name, pairs in (("topics", article.topics.items()), ("terms", article.terms)):
        values[name] = [{"name": text, "number": number} for text, number in pairs]
    return values


def _schema(pa: Any) -> Any:  # noqa: ANN401 - pyarrow, an extra
    weighted = pa.list_(pa.struct([("name", pa.string()), ("number", pa.float64())]))
    types = {
        "images": pa.list_(pa.string()), "topics": weighted, "terms": weighted,
        "fetched_at": pa.float64(), "depth": pa.int64(), "noarchive": pa.bool_(),
    }  # fmt: skip
    return pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])


FORMATS: Formats[Article] = Formats(
    {
        ".jsonl": lambda file: JsonLines(file, shown),
        ".csv": lambda file: CommaSeparated(file, COLUMNS, _cells),
        ".atom": Atom,
    },
    lambda path: Parquet(path, _schema, _row),
)
