"""Storage for several machines, selected by MONGODB_URI."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from topiccrawl.dedup.index import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.addons.mongodb.documents import MongoDocuments
    from topiccrawl.addons.mongodb.store import MongoStore
    from topiccrawl.dedup import DuplicateDetector
    from topiccrawl.storage.documents import DocumentKind


class MongoStorage:
    """MongoDB database as ``Storage``; the driver is imported on first use.

    Args:
        uri: ``mongodb://...``; its path is the name of the database.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self | None:
        """See ``Storage.from_settings``."""
        uri = mongodb_uri(settings)
        return cls(uri) if uri else None

    @property
    def place(self) -> str:
        """See ``Storage.place``."""
        from topiccrawl.addons.mongodb.client import Server

        return Server(self.uri).shown

    def exists(self) -> bool:
        """See ``Storage.exists``; always True, since the server is not queried."""
        return True

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> MongoStore:
        """See ``Storage.articles``."""
        from topiccrawl.addons.mongodb.store import MongoStore

        return MongoStore(self.uri, method=method, capacity=capacity)

    def listing(self) -> MongoStore:
        """See ``Storage.listing``."""
        return self.articles()

    def documents(self, *kinds: DocumentKind) -> MongoDocuments:
        """See ``Storage.documents``."""
        from topiccrawl.addons.mongodb.documents import MongoDocuments

        return MongoDocuments(self.uri, kinds)


def mongodb_uri(settings: Mapping[str, Any]) -> str:
    """Return the setting MONGODB_URI, or the environment variable, or "".

    >>> mongodb_uri({"MONGODB_URI": "mongodb://a.test/news"})
    'mongodb://a.test/news'
    """
    return str(settings.get("MONGODB_URI") or os.environ.get("MONGODB_URI") or "")
