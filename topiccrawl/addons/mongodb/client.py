"""A MongoDB database: connected, migrated and its errors translated in one place."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pymongo import AsyncMongoClient, MongoClient
from pymongo.errors import ConfigurationError as DriverConfigurationError
from pymongo.errors import ConnectionFailure, InvalidURI, OperationFailure, PyMongoError
from pymongo.uri_parser import parse_uri

from topiccrawl.errors import SettingError, StorageAwayError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymongo.asynchronous.collection import AsyncCollection
    from pymongo.asynchronous.database import AsyncDatabase
    from pymongo.database import Database

    Document = dict[str, Any]
    Collection = AsyncCollection[Document]

DATABASE = "topiccrawl"
"""Name of the database where the URI names none."""

TIMEOUT_MS = 10_000
"""Milliseconds that one command may take, retries of the driver and the search for a server that
answers included; then it counts as away. The URI may say otherwise."""

OPTIONS: dict[str, Any] = {
    "appname": "topiccrawl",
    "w": "majority",  # what is acknowledged survives a failover
    "journal": True,  # and kill -9 of the server
    "timeoutMS": TIMEOUT_MS,
}


class Server:
    """A database of a MongoDB server, for one event loop.

    Args:
        uri: ``mongodb://...``; its path names the database, ``DATABASE`` where it has none.

    Raises:
        SettingError: It is no such URI.
    """

    def __init__(self, uri: str) -> None:
        self.name = database_of(uri)
        self.shown = shown(uri)
        self._uri = uri
        self._client: AsyncMongoClient[Document] | None = None

    def connect(self) -> None:
        """Make ready to talk; nothing is sent yet. Twice equals once."""
        if self._client is None:
            with _usable():
                self._client = AsyncMongoClient(self._uri, **options(self._uri))

    async def close(self) -> None:
        """Close all connections. Twice equals once."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def database(self) -> AsyncDatabase[Document]:
        """The database.

        Raises:
            StorageError: The store is closed.
        """
        if self._client is None:
            raise StorageError(f"{self.shown}: the store is closed; open it first")
        return self._client[self.name]

    def collection(self, name: str) -> Collection:
        """One of its collections."""
        return self.database[name]

    @contextmanager
    def translated(self, action: str) -> Iterator[None]:
        """Raise the driver's errors as StorageError that names server, action and remedy."""
        with translated(self.shown, action):
            yield


@contextmanager
def translated(shown_uri: str, action: str) -> Iterator[None]:
    """The same for a URI that is shown as given."""
    try:
        yield
    except PyMongoError as error:
        reason = _DETAILS.split(str(error))[0]
        message = f"{shown_uri}: cannot {action}: {reason}; {_remedy(error)}"
        raise (StorageAwayError if _away(error) else StorageError)(message) from error


@contextmanager
def blocking(uri: str) -> Iterator[Database[Document]]:
    """The database for short calls outside an event loop.

    Raises:
        StorageError: The server is away or refused.
    """
    with translated(shown(uri), "use the store"):
        client: MongoClient[Document] = MongoClient(uri, **options(uri))
        with client:
            yield client[database_of(uri)]


def options(uri: str) -> dict[str, Any]:
    """Options of the driver that the URI does not set itself.

    >>> sorted(options("mongodb://a.test/?w=1&journal=false"))
    ['appname', 'timeoutMS']
    """
    named = {name.lower() for name in _parsed(uri)["options"]}
    return {name: value for name, value in OPTIONS.items() if name.lower() not in named}


def database_of(uri: str) -> str:
    """Name of the database that a URI means.

    >>> database_of("mongodb://a.test/news?w=1"), database_of("mongodb://a.test")
    ('news', 'topiccrawl')
    """
    return str(_parsed(uri)["database"] or DATABASE)


def shown(uri: str) -> str:
    """A URI for messages: without user and password.

    >>> shown("mongodb://me:secret@a.test:27017/news?w=1")
    'mongodb://a.test:27017/news'
    """
    scheme, _, rest = uri.partition("://")
    hosts = rest.partition("/")[0].rpartition("@")[2].partition("?")[0]
    return f"{scheme}://{hosts}/{database_of(uri)}"


def _parsed(uri: str) -> dict[str, Any]:
    if "@" in uri.partition("://")[2].partition("?")[0].partition("/")[2]:
        # a slash in user or password: the driver would quote what follows it
        raise SettingError(
            "MONGODB_URI cannot be used: in user and password percent-encode what is no letter"
            " or digit"
        )
    if uri.startswith("mongodb+srv://"):  # parsing one asks the name service
        path, _, query = uri.partition("://")[2].partition("?")
        pairs = (pair.partition("=") for pair in query.split("&") if pair)
        named = {name: value for name, _, value in pairs}
        return {"database": path.partition("/")[2] or None, "options": named}
    with _usable():
        return dict(parse_uri(uri, warn=False))


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except (InvalidURI, DriverConfigurationError, ValueError) as error:
        raise SettingError(
            f"MONGODB_URI cannot be used: {error}; give one such as mongodb://localhost:27017/news"
        ) from error


def _away(error: PyMongoError) -> bool:
    """Whether the same may succeed later: no server, a slow one, one that steps down."""
    retryable = error.has_error_label("RetryableWriteError")
    return isinstance(error, ConnectionFailure) or error.timeout or retryable


def _remedy(error: PyMongoError) -> str:
    if _away(error):
        return "check that the server runs and can be reached"
    if isinstance(error, OperationFailure) and error.code in _REMEDIES:
        return _REMEDIES[error.code]
    return "see the reason; what was stored before is intact"


_DETAILS = re.compile(r" \(configured timeouts|, Timeout:|, Topology|, full error")
"""Where the driver's messages begin to tell all of its state."""

_REMEDIES = {
    13: "give the user the role readWrite",
    18: "check user and password in MONGODB_URI",
    14031: "free space on the server's disk",
}
"""By the server's error code."""
