"""Cache of responses that several tasks on one machine share, so that a page is fetched once."""

from __future__ import annotations

import logging
import sqlite3
import time
import zlib
from contextlib import suppress
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

MAX_BYTES = 1 << 30
"""Maximum size of a site's file in bytes; no more responses are stored in a full file."""
_SUFFIX = ".cache"
"""Suffix of files that backups exclude."""
_DATABASE_PAGE_BYTES = 4096
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (request BLOB PRIMARY KEY, at REAL, url TEXT,"
    " status INTEGER, headers BLOB, body BLOB) WITHOUT ROWID"
)
_UNCACHED_STATUSES = [304, *range(400, 600)]


def cache_path(settings: BaseSettings, site: str) -> Path:
    """Return the cache file of a site."""
    return _folder(settings) / f"{site}{_SUFFIX}"


def cache_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a crawl that shares its responses in a file."""
    return {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(path),
        "HTTPCACHE_STORAGE": f"{__name__}.SharedResponses",
        "HTTPCACHE_IGNORE_HTTP_CODES": _UNCACHED_STATUSES,
    }


def delete_expired(settings: BaseSettings) -> None:
    """Delete the files whose responses have all expired, such as those of removed tasks."""
    oldest = time.time() - settings.getfloat("TOPICCRAWL_SHARED_SECONDS")
    for path in _folder(settings).glob(f"*{_SUFFIX}"):
        with suppress(OSError):  # another worker may have deleted it
            if path.stat().st_mtime < oldest:
                path.unlink()


def forget(settings: BaseSettings, names: Sequence[str]) -> Iterator[str]:
    """Delete the files of the sites of forgotten articles; yield a line for each.

    Args:
        settings: Settings with the data folder.
        names: URLs, or ``site:HOST``.
    """
    hosts = {urlsplit(name).hostname or name.removeprefix("site:") for name in names}
    for path in _folder(settings).glob(f"*{_SUFFIX}"):
        site = path.name.removesuffix(_SUFFIX)
        if any(host == site or host.endswith(f".{site}") for host in hosts):
            path.unlink(missing_ok=True)
            yield f"{path}: deleted"


def _folder(settings: BaseSettings) -> Path:
    return Path(settings["TOPICCRAWL_DATA_DIR"], "shared")


class SharedResponses:
    """Storage of Scrapy's HTTP cache in a site's file, by the fingerprint of the request.

    The cache is optional: if the file cannot be used, each task fetches the pages itself.

    Args:
        settings: Settings of the crawl, with the file and the maximum age of a response.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._path = Path(settings["HTTPCACHE_DIR"])
        self._seconds = settings.getfloat("TOPICCRAWL_SHARED_SECONDS")
        self._database: sqlite3.Connection | None = None
        self._fingerprint: Any = None
        self._warned = False

    def open_spider(self, spider: Spider) -> None:
        """Open the file; a broken file is replaced, since its pages can be fetched again."""
        self._fingerprint = spider.crawler.request_fingerprinter.fingerprint
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._database = self._open()
            except sqlite3.DatabaseError:
                self._path.unlink()
                self._database = self._open()
        except (OSError, sqlite3.Error) as error:
            self._warn(error)

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, isolation_level=None, timeout=0)
        database.execute("PRAGMA synchronous=OFF")
        database.execute(f"PRAGMA page_size={_DATABASE_PAGE_BYTES}")
        database.execute(f"PRAGMA max_page_count={MAX_BYTES // _DATABASE_PAGE_BYTES}")
        database.execute(_TABLE)
        database.execute("DELETE FROM answers WHERE at < ?", (time.time() - self._seconds,))
        return database

    def close_spider(self, spider: Spider) -> None:  # noqa: ARG002 - Scrapy's
        """Close the file."""
        if self._database is not None:
            self._database.close()

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:  # noqa: ARG002
        """Return the stored response to a request, or None."""
        row = self._execute(
            "SELECT url, status, headers, body FROM answers WHERE request = ? AND at >= ?",
            self._fingerprint(request), time.time() - self._seconds,
        )  # fmt: skip
        if row is None:
            return None
        url, status, raw, packed = row
        headers, body = Headers(headers_raw_to_dict(raw)), zlib.decompress(packed)
        response_class = responsetypes.from_args(headers=headers, url=url, body=body)
        return response_class(url=url, status=status, headers=headers, body=body)

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:  # noqa: ARG002
        """Store a response; replace an earlier one."""
        self._execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            self._fingerprint(request), time.time(), response.url, response.status,
            response.headers.to_string(), zlib.compress(response.body, 1),
        )  # fmt: skip

    def _execute(self, statement: str, *values: object) -> Any:  # noqa: ANN401 - a row
        """Return the first row, or None if there is none or after an error."""
        if self._database is None:
            return None
        try:
            return self._database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._warn(error)
            return None

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            logger.warning(
                "%s: %s; each task fetches the pages of this site itself", self._path, error
            )
        self._warned = True
