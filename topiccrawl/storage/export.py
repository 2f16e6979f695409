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
"""Names and order of what is written of an article."""


def shown(article: Article) -> dict[str, Any]:
    """What is shown of an article: all of it, but no body where its owner wants no copy shown.

    >>> shown(Article("http://a.test/1", "题", "文", noarchive=True))["body"]
    ''
    """
    values = article.to_dict()
    return {**values, "body": ""} if article.noarchive else values


def _cells(article: Article) -> Iterator[str | float]:
    """One cell a column; what has parts (topics, terms, images) is JSON."""
    for value in shown(article).values():
        plain = isinstance(value, str | int | float)
        yield value if plain else json.dumps(value, ensure_ascii=False)


def _row(article: Article) -> dict[str, Any]:
    """For Parquet: topics and terms are lists of name and number."""
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
