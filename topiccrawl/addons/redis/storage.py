"""Storage of a node of a shared crawl: articles stay on the node, the story index is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from topiccrawl.dedup.index import CAPACITY
from topiccrawl.storage.redis_address import in_redis
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.dedup import DuplicateDetector
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.documents import DocumentKind
    from topiccrawl.storage.sqlite_documents import SqliteDocuments


class NodeStorage(SqliteStorage):
    """Embedded storage of one of several nodes.

    Args:
        settings: Settings with the data folder and the Redis server.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings["TOPICCRAWL_DATA_DIR"])
        self._settings = settings

    @classmethod
    @override
    def from_settings(cls, settings: Mapping[str, Any]) -> Self | None:
        """See ``Storage.from_settings``; None without a Redis server."""
        return cls(settings) if in_redis(settings) else None

    @override
    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> ArticleStore:
        """See ``Storage.articles``; duplicates are detected across all nodes."""
        from topiccrawl.addons.redis.client import async_client_of
        from topiccrawl.addons.redis.shared_store import NodeStore

        return NodeStore(
            self.path, lambda: async_client_of(self._settings), method=method, capacity=capacity
        )

    @override
    def documents(self, *kinds: DocumentKind) -> SqliteDocuments:
        """See ``Storage.documents``; marks are shared by all nodes."""
        from topiccrawl.addons.redis.client import async_client_of
        from topiccrawl.addons.redis.shared_store import NodeDocuments

        return NodeDocuments(self.path, kinds, lambda: async_client_of(self._settings))
