"""Open leases, and marks of pages that are being processed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import KEY_BYTES, NO_KEY, split

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from topiccrawl.frontier.hosts import Host, Origin
    from topiccrawl.frontier.store import Store
    from topiccrawl.model import Lease


@dataclass(slots=True, eq=False)
class OpenLease:
    """An open lease.

    Attributes:
        epoch: Number of the lease.
        expires: Time at which the lease expires.
        host: Host whose slot the lease takes.
        origin: For a robots lease, the origin of the robots.txt.
        has_slot: True while the lease takes a slot of its host.
        leased_at: Time of the lease.
    """

    epoch: int
    expires: float
    host: Host
    origin: Origin | None = None
    has_slot: bool = True
    leased_at: float = 0.0

    def free_slot(self) -> None:
        """Release the slot of the host, once."""
        if self.has_slot:
            self.has_slot = False
            self.host.active -= 1


class Leases:
    """All open leases by key.

    The keys of leased pages are stored for readers; leases of an earlier process have ended.

    Args:
        store: Store of the keys.
        seconds: Life of a lease, unless extended.

    Attributes:
        by_key: Leases by key; a robots lease has a longer key, which no URL has.
        epoch: Number of the last lease; it only grows.
    """

    def __init__(self, store: Store, seconds: float) -> None:
        self._store, self._seconds = store, seconds
        self.by_key: dict[bytes, OpenLease] = {}
        self.epoch = 0
        for key, _ in store.items("leased"):
            store.put("leased", key, None)

    def open(self, key: bytes, host: Host, origin: Origin | None, now: float) -> OpenLease:
        """Add a lease of a page, or of the robots.txt of an origin."""
        self.epoch += 1
        entry = OpenLease(self.epoch, now + self._seconds, host, origin, leased_at=now)
        self.by_key[key] = entry
        if origin is None:
            host.leased += 1
            self._store.put("leased", key, b"")
        return entry

    def drop(self, key: bytes) -> None:
        """Remove a lease that ended."""
        entry = self.by_key.pop(key)
        entry.free_slot()
        if entry.origin is None:
            entry.host.leased -= 1
            self._store.put("leased", key, None)

    def pages(self) -> int:
        """Return the number of page leases."""
        return sum(entry.origin is None for entry in self.by_key.values())

    def find(self, lease: Lease) -> OpenLease | None:
        """Return the entry of a lease, or None if the lease is stale."""
        entry = self.by_key.get(lease.key)
        return entry if entry is not None and entry.epoch == lease.epoch else None

    def extend(self, leases: Iterable[Lease], now: float) -> None:
        """Renew the expiry of leases that are not stale."""
        for lease in leases:
            if entry := self.find(lease):
                entry.expires = now + self._seconds

    def expired(self, now: float) -> list[bytes]:
        """Return the keys of expired leases; they stay open."""
        latest = now + self._seconds
        for entry in self.by_key.values():
            entry.expires = min(entry.expires, latest)  # the clock may have been set back
        return [key for key, entry in self.by_key.items() if entry.expires <= now]

    def next_expiry(self) -> float | None:
        """Return the time at which the next lease expires, or None."""
        return min((entry.expires for entry in self.by_key.values()), default=None)


class Marks:
    """Keys of pages whose processing has begun and not ended.

    A subclass with another storage replaces all methods.

    Args:
        path: The file; created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file = path.open("r+b", buffering=0)
        self._keys: dict[bytes, None] = {}

    def unfinished(self) -> set[bytes]:
        """Return the keys that an earlier process marked and did not finish."""
        return {key for key in split(self._file.read()) if len(key) == KEY_BYTES and key != NO_KEY}

    def clear(self) -> None:
        """Remove all marks."""
        self._keys.clear()
        self._file.truncate(0)

    def set(self, key: bytes) -> None:
        """Mark a key; idempotent."""
        if key not in self._keys:
            self._keys[key] = None
            self._write()

    def unset(self, key: bytes) -> None:
        """Remove the mark of a key, if there is one."""
        if key in self._keys:
            del self._keys[key]
            self._write()

    def _write(self) -> None:
        """Write all keys, which are few, then an empty key over the last removed one."""
        os.pwrite(self._file.fileno(), b"".join(self._keys) + NO_KEY, 0)

    def close(self) -> None:
        """Remove all marks and close; idempotent."""
        if not self._file.closed:
            self.clear()
        self.abandon()

    def abandon(self) -> None:
        """Close and keep the marks, as if the process were killed."""
        self._file.close()
