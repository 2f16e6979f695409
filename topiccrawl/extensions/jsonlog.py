"""Log formats: text with control characters escaped, or JSON lines."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from typing_extensions import override

from topiccrawl.messages import escaped
from topiccrawl.scheduler.context import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""Attributes of every record; all others come from ``extra``."""

_PYTHONS = logging.Formatter()

_GIVEN: ContextVar[Mapping[str, Any] | None] = ContextVar("_GIVEN", default=None)
"""Fields that a crawl adds to its lines; a worker runs several crawls, each in its own context."""


class JsonFormatter(logging.Formatter):
    """Formatter of records as JSON lines: time, level, logger, message and extra fields.

    >>> record = logging.makeLogRecord({"msg": "%d pages", "args": (3,), "created": 0.0,
    ...                                 "name": "a", "levelname": "INFO"})
    >>> JsonFormatter({"topic": "足球"}).format(record)
    '{"time": "1970-01-01T00:00:00.000Z", "level": "INFO", "logger": "a", "message": ...'

    Args:
        given: Extra fields of lines that are logged outside the context of a crawl, such as by
            signal handlers.
    """

    def __init__(self, given: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.given = given or {}

    @override
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": logging.LogRecord.getMessage(record),  # unescaped: JSON escapes it
            **(_GIVEN.get() or self.given),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        extra = {k: v for k, v in vars(record).items() if k not in _PLAIN and _is_plain(v)}
        return escaped(json.dumps({**extra, **line}, ensure_ascii=False))


class PlainRecord(logging.LogRecord):
    """Log record whose text cannot control a terminal (see ``escaped``).

    Lines after the first are indented, so that text of a page cannot imitate a record.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as its base
        super().__init__(*args, **kwargs)
        if self.exc_info and self.exc_info[0]:
            self.exc_text = _indented(f"  {_PYTHONS.formatException(self.exc_info)}")

    @override
    def getMessage(self) -> str:
        return _indented(super().getMessage())


class PlainLog:
    """Make all log records of the process ``PlainRecord``.

    A record factory is used since Scrapy replaces its log handlers with each crawler.
    """

    def __init__(self) -> None:
        logging.setLogRecordFactory(PlainRecord)


class JsonLog:
    """Set a ``JsonFormatter`` on the log handlers.

    Lines that Scrapy logs before a crawl begins (its version, enabled components) stay text.

    Args:
        given: Extra fields of the lines of the crawl.
        alone: Whether the process has only one crawl.
    """

    def __init__(self, given: dict[str, Any], *, alone: bool) -> None:
        self.given = given
        self.alone = alone

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_LOG_JSON is off.
        """
        if not crawler.settings.getbool("TOPICCRAWL_LOG_JSON"):
            raise NotConfigured
        spec = spec_of(crawler.spider)
        given = {"topic": spec.name} if spec.topic is not None else {}
        log = cls(given, alone=not crawler.settings.getbool("TOPICCRAWL_TURN"))
        crawler.signals.connect(log.begin, signals.spider_opened)
        log.begin()
        return log

    def begin(self) -> None:
        """Write the log as JSON, and add the extra fields to each line of this crawl."""
        _GIVEN.set(self.given)
        write_json(self.given if self.alone else None)


def write_json(given: dict[str, Any] | None = None) -> None:
    """Set a ``JsonFormatter`` on all handlers of the root logger.

    Call it for each crawler, since Scrapy replaces the handlers.

    Args:
        given: Extra fields of lines that are logged outside the context of a crawl, if the process
            has only one crawl.
    """
    for handler in logging.getLogger().handlers:
        if given or not isinstance(handler.formatter, JsonFormatter):
            handler.setFormatter(JsonFormatter(given))


def _indented(text: str) -> str:
    return "\n  ".join(map(escaped, text.split("\n")))


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
