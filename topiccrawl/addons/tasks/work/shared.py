"""Answers of a site that several tasks of a machine want: each page is asked for once."""

from __future__ import annotations

import logging
import sqlite3
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from w3lib.http import headers_raw_to_dict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy import Request, Spider
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

MOST_BYTES = 1 << 30
"""Bytes of a site's file; beyond them answers are not kept, and each task asks for itself."""
_SUFFIX = ".cache"
"""Suffix of files that backups leave out."""
_PAGE = 4096
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (request BLOB PRIMARY KEY, at REAL, url TEXT,"
    " status INTEGER, headers BLOB, body BLOB) WITHOUT ROWID"
)
_FAILED = [304, *range(400, 600)]
"""Statuses that each task asks for itself."""


def place_of(settings: BaseSettings, site: str) -> Path:
    """Return the file of a site."""
    return _folder(settings) / f"{site}{_SUFFIX}"


def sharing(place: Path) -> dict[str, Any]:
    """Return the settings of a crawl that shares its answers in a file."""
    return {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(place),
        "HTTPCACHE_STORAGE": f"{__name__}.SharedAnswers",
        "HTTPCACHE_IGNORE_HTTP_CODES": _FAILED,
    }


def sweep(settings: BaseSettings) -> None:
    """Delete the files whose answers are all out of date, as those of tasks that were removed."""
    oldest = time.time() - settings.getfloat("TOPICCRAWL_SHARED_SECONDS")
    for place in _folder(settings).glob(f"*{_SUFFIX}"):
        if place.stat().st_mtime < oldest:
            place.unlink(missing_ok=True)


def forget(settings: BaseSettings, names: Sequence[str]) -> Iterator[str]:
    """Delete the files of the sites of forgotten articles; yield lines that say so.

    Args:
        settings: Name the data folder.
        names: URLs, or ``site:HOST``.
    """
    hosts = {urlsplit(name).hostname or name.removeprefix("site:") for name in names}
    for place in _folder(settings).glob(f"*{_SUFFIX}"):
        site = place.name.removesuffix(_SUFFIX)
        if any(host == site or host.endswith(f".{site}") for host in hosts):
            place.unlink(missing_ok=True)
            yield f"{place}: deleted"


def _folder(settings: BaseSettings) -> Path:
    return Path(settings["TOPICCRAWL_DATA_DIR"], "shared")


class SharedAnswers:
    """Answers by the fingerprint of their request.

    They save requests and are never needed: where the file fails, each task asks for itself.

    Args:
        settings: Of the crawl, for the file and the seconds that an answer serves.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._place = Path(settings["HTTPCACHE_DIR"])
        self._seconds = settings.getfloat("TOPICCRAWL_SHARED_SECONDS")
        self._answers: sqlite3.Connection | None = None
        self._fingerprint: Any = None
        self._warned = False

    def open_spider(self, spider: Spider) -> None:
        """Open the file; a broken one is begun again, since pages can be fetched again."""
        self._fingerprint = spider.crawler.request_fingerprinter.fingerprint
        try:
            self._place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._answers = self._opened()
            except sqlite3.DatabaseError:
                self._place.unlink()
                self._answers = self._opened()
        except (OSError, sqlite3.Error) as error:
            self._warn(error)

    def _opened(self) -> sqlite3.Connection:
        answers = sqlite3.connect(self._place, isolation_level=None, timeout=0)
        answers.execute("PRAGMA synchronous=OFF")
        answers.execute(f"PRAGMA page_size={_PAGE}")
        answers.execute(f"PRAGMA max_page_count={MOST_BYTES // _PAGE}")
        answers.execute(_TABLE)
        answers.execute("DELETE FROM answers WHERE at < ?", (time.time() - self._seconds,))
        return answers

    def close_spider(self, spider: Spider) -> None:  # noqa: ARG002 - Scrapy's
        """Close the file."""
        if self._answers is not None:
            self._answers.close()

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:  # noqa: ARG002
        """Return the answer that another task's crawl got, or this one before; None if none did."""
        row = self._execute(
            "SELECT url, status, headers, body FROM answers WHERE request = ? AND at >= ?",
            self._fingerprint(request), time.time() - self._seconds,
        )  # fmt: skip
        if row is None:
            return None
        url, status, raw, packed = row
        headers, body = Headers(headers_raw_to_dict(raw)), zlib.decompress(packed)
        made = responsetypes.from_args(headers=headers, url=url, body=body)
        return made(url=url, status=status, headers=headers, body=body)

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:  # noqa: ARG002
        """Store an answer in place of an earlier one."""
        self._execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            self._fingerprint(request), time.time(), response.url, response.status,
            response.headers.to_string(), zlib.compress(response.body, 1),
        )  # fmt: skip

    def _execute(self, statement: str, *values: object) -> Any:  # noqa: ANN401 - a row
        """Return the first row, if any; an error is logged once, as the file is no necessity."""
        if self._answers is None:
            return None
        try:
            return self._answers.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._warn(error)
            return None

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            logger.warning(
                "%s: %s; pages that other tasks want, too, are fetched for each", self._place, error
            )
        self._warned = True
