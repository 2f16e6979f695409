"""Connection to a MongoDB database: driver options, translation of errors, indexes.

A change of the indexes is a new version. Creating indexes is idempotent, since another node may do
it at the same time, or a crash may interrupt it. ``meta`` stores the version of the database and
the program version that created it. Document kinds create their own indexes (``documents``).
"""

from __future__ import annotations

import re
import time
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import pymongo
from bson.errors import InvalidDocument
from pymongo import ASCENDING, AsyncMongoClient, IndexModel
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    InvalidURI,
    OperationFailure,
    PyMongoError,
)
from pymongo.errors import ConfigurationError as DriverConfigurationError
from pymongo.uri_parser import parse_uri

from topiccrawl import __version__
from topiccrawl.errors import (
    SettingError,
    StateVersionError,
    StorageAwayError,
    StorageError,
    StorageRefusedError,
    translated,
)
from topiccrawl.messages import Message, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pymongo.asynchronous.collection import AsyncCollection

    Document = dict[str, Any]
    Collection = AsyncCollection[Document]

DATABASE = "topiccrawl"
"""Name of the database if the URI has none."""

TIMEOUT_MS = 10_000
"""Timeout of a command in milliseconds, including retries and server selection of the driver. After
it the server counts as away. The URI may override it."""

CLOSE_SECONDS = 1.0
"""Seconds for which a client that closes waits for the server, which it tells to end its sessions;
the default of the driver is 30 s."""

OPTIONS: dict[str, Any] = {
    "appname": "topiccrawl",
    "w": "majority",  # acknowledged writes survive a failover
    "journal": True,  # and a kill -9 of the server
    "timeoutMS": TIMEOUT_MS,
}

VERSION = 3
"""Version of the schema."""
SCHEMA = {"_id": "schema"}
"""Filter of the document in ``meta`` with the version of the database."""


class Server:
    """Database of a MongoDB server, for one event loop.

    Attributes:
        name: Name of the database.
        shown: URI for messages, without user and password.
        options: Driver options that the URI does not set.

    Args:
        uri: ``mongodb://...``; its path is the name of the database, by default ``DATABASE``.

    Raises:
        SettingError: If the URI is invalid.

    >>> server = Server("mongodb://me:secret@a.test:27017/news?w=1&journal=false")
    >>> server.name, server.shown, sorted(server.options)
    ('news', 'mongodb://a.test:27017/news', ['appname', 'timeoutMS'])
    """

    def __init__(self, uri: str) -> None:
        parsed = _parsed(uri)
        scheme, _, rest = uri.partition("://")
        hosts = rest.partition("/")[0].rpartition("@")[2].partition("?")[0]
        self.name = str(parsed["database"] or DATABASE)
        self.shown = f"{scheme}://{hosts}/{self.name}"
        named = {name.lower() for name in parsed["options"]}
        self.options = {name: one for name, one in OPTIONS.items() if name.lower() not in named}
        self._uri = uri
        self._client: AsyncMongoClient[Document] | None = None

    def connect(self) -> None:
        """Create the client without sending anything. Idempotent."""
        if self._client is None:
            with _usable():
                self._client = AsyncMongoClient(self._uri, **self.options)

    async def close(self) -> None:
        """Close all connections. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            with pymongo.timeout(CLOSE_SECONDS):
                await client.close()

    def collection(self, name: str) -> Collection:
        """Return a collection by name.

        Raises:
            StorageError: If the store is closed.
        """
        if self._client is None:
            raise StorageError("{shown}: the store is closed; open it first", shown=self.shown)
        return self._client[self.name][name]

    @property
    def articles(self) -> Collection:
        """Collection of articles."""
        return self.collection("articles")

    @property
    def reprints(self) -> Collection:
        """Collection of reprints."""
        return self.collection("reprints")

    @contextmanager
    def translated(self, action: str) -> Iterator[None]:
        """Raise errors of the driver as StorageError, with server, action and remedy."""
        try:
            yield
        except PyMongoError as error:
            cause, away = _cause(error), _away(error)
            remedy = _REMEDIES.get(getattr(cause, "code", None), _INTACT)
            refused = isinstance(error, BulkWriteError) and not away
            kind = StorageRefusedError if refused else StorageError
            raise (StorageAwayError if away else kind)(
                message("{server}: cannot {action}: {reason}; {remedy}"),
                server=self.shown,
                action=Message(action),
                reason=_DETAILS.split(str(cause))[0],
                remedy=_AWAY if away else remedy,
            ) from error
        except InvalidDocument as error:  # too large to be sent
            text = f"{self.shown}: cannot {action}: {error!s:.200}"
            raise StorageRefusedError(text) from error


def _parsed(uri: str) -> dict[str, Any]:
    if "@" in uri.partition("://")[2].partition("?")[0].partition("/")[2]:
        # a slash in user or password: the message of the driver would show the text after it
        raise SettingError(
            "MONGODB_URI cannot be used: percent-encode special characters in user and password"
        )
    if uri.startswith("mongodb+srv://"):  # the driver's parser would query DNS
        path, _, query = uri.partition("://")[2].partition("?")
        pairs = (pair.partition("=") for pair in query.split("&") if pair)
        named = {name: value for name, _, value in pairs}
        return {"database": path.partition("/")[2] or None, "options": named}
    with _usable():
        return dict(parse_uri(uri, warn=False))


def _usable() -> AbstractContextManager[None]:
    text = message("MONGODB_URI cannot be used: {error}; example: mongodb://localhost:27017/news")
    return translated(SettingError, text, (InvalidURI, DriverConfigurationError, ValueError))


def _away(error: PyMongoError) -> bool:
    """Return whether a retry may succeed: the server is unreachable, slow or stepping down."""
    retryable = error.has_error_label("RetryableWriteError")
    return isinstance(error, ConnectionFailure) or error.timeout or retryable


def _cause(error: PyMongoError) -> PyMongoError:
    """Return the first error of a bulk write, whose own message has no reason, or the error."""
    if not isinstance(error, BulkWriteError):
        return error
    # first those that a retry may cure: a text that another node stored is no reason
    errors = [*error.details["writeConcernErrors"], *error.details["writeErrors"]]
    return OperationFailure(errors[0]["errmsg"], errors[0]["code"]) if errors else error


_DETAILS = re.compile(r" \(configured timeouts|, Timeout:|, Topology|, full error")
"""Start of the state dump in messages of the driver."""

_ACTIONS = (
    message("open the store"), message("use the store"), message("write"), message("read"),
    message("forget"),
)  # fmt: skip
"""Actions of ``MongoServer.translated``."""
_AWAY = message("check that the server runs and can be reached")
_INTACT = message("stored data is intact")
UNAUTHORIZED = 13
"""Error code of the server for a command that the user may not send."""
_FOREIGN = message("if another program uses the collection, use another database in MONGODB_URI")
_REMEDIES: dict[int | None, str] = {
    UNAUTHORIZED: message("give the user the role readWrite"),
    18: message("check user and password in MONGODB_URI"),
    121: message("change the validator of the collection, or use another database"),
    14031: message("free space on the server's disk"),
    **dict.fromkeys((85, 86, 11000), _FOREIGN),
}
"""Remedies by error code of the server."""


def _index(name: str, fields: str = "", **options: object) -> IndexModel:
    """Return an ascending index of space-separated fields, by default of the field ``name``."""
    return IndexModel(
        [(field, ASCENDING) for field in (fields or name).split()], name=name, **options
    )


INDEXES = {
    "articles": [
        # one document per text, even if two nodes store it at the same time
        _index("digest", unique=True, partialFilterExpression={"digest": {"$gt": ""}}),
        _index("number", unique=True),
        _index("topic_published", "topics published"),
        _index("topic_number", "topics number"),
        _index("site_published", "site published"),
        _index("published"),
        _index("words"),
    ],
    "reprints": [_index("story", "story number")],
    "tombstones": [_index("at")],
    "versions": [_index("url", "url fetched_at")],
}
"""Indexes by collection."""


async def ensure_index(collection: Collection, names: Sequence[str], *, unique: bool) -> None:
    """Create an index unless it exists: users with the role ``read`` may not try."""
    known = (await collection.index_information()).values()
    if tuple(names) not in {tuple(name for name, _ in one["key"]) for one in known}:
        await collection.create_index([(name, ASCENDING) for name in names], unique=unique)


def version_in(found: Document | None, shown: str) -> int:
    """Return the version in the document ``SCHEMA``; 0 if there is none.

    Raises:
        StateVersionError: If a newer version of the program wrote it.
    """
    version = int(found["version"]) if found else 0
    if version > VERSION:
        raise StateVersionError(
            "{shown}: schema version {version} is newer than {steps} of this program; "
            "update topiccrawl, or use another database in MONGODB_URI",
            shown=shown,
            version=version,
            steps=VERSION,
        )
    return version


async def migrate(server: Server) -> None:
    """Migrate a database to the version of this program.

    Raises:
        StateVersionError: If a newer version wrote it.
        StorageError: If the server failed; run it again to continue.
    """
    with server.translated("open the store"):
        meta = server.collection("meta")
        if version_in(await meta.find_one(SCHEMA), server.shown) == VERSION:
            return
        for name, indexes in INDEXES.items():
            await server.collection(name).create_indexes(indexes)
        applied = {"version": VERSION, "program": __version__, "at": time.time()}
        change = {"$max": {"version": VERSION}, "$addToSet": {"applied": applied}}
        await meta.update_one(SCHEMA, change, upsert=True)
