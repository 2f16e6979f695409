"""What is handed out: who holds what until when."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.frontier.keys import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.contract import Lease
    from topiccrawl.frontier.places import Host, Origin
    from topiccrawl.frontier.rows import Row


@dataclass(slots=True, eq=False)
class Held:
    """A lease that is out.

    Attributes:
        epoch: Its number.
        expires: When it returns by itself.
        host: The host whose slot it takes.
        origin: For a robots lease, whose robots.txt it is.
        number: For a page lease, the URL's.
        slot: Whether it still takes a slot of its host.
        row: For a page lease, the URL's row as it was stored then, and that read.
    """

    epoch: int
    expires: float
    host: Host
    origin: Origin | None = None
    number: int = 0
    slot: bool = True
    row: tuple[bytes, Row] | None = None


class Leases:
    """All leases that are out, by key. All live equally long, so that they stand as they expire.

    Where the clock was set back, none that is out expires after one given since.

    Attributes:
        held: By key; a robots lease has a key no URL has.
        epoch: Number of the last lease; grows for ever.
        changed: Keys of pages that were handed out or came back since the last commit.
    """

    def __init__(self, epoch: int) -> None:
        self.held: OrderedDict[bytes, Held] = OrderedDict()
        self.epoch = epoch
        self.changed: set[bytes] = set()

    def add(self, key: bytes, held: Held) -> None:
        """Note a new lease."""
        self._precede(held.expires)
        self.held[key] = held
        if held.origin is None:
            self.changed.add(key)

    def drop(self, key: bytes) -> None:
        """Note that a lease ended."""
        if self.held.pop(key).origin is None:
            self.changed.add(key)

    def evict(self, keys: Iterable[bytes]) -> None:
        """Forget leases of pages that are not ours any more."""
        for key in keys:
            del self.held[key]
            self.changed.discard(key)

    def pages(self) -> list[bytes]:
        """Keys of those for pages."""
        return [key for key, held in self.held.items() if held.origin is None]

    def find(self, lease: Lease) -> Held | None:
        """What is known of a lease, or None where it is stale."""
        held = self.held.get(lease.key)
        return held if held is not None and held.epoch == lease.epoch else None

    def extend(self, lease: Lease, expires: float) -> None:
        """Give a lease that is not stale a new expiry."""
        held = self.find(lease)
        if held is not None:
            self._precede(expires)
            held.expires = expires
            self.held.move_to_end(lease.key)

    def _precede(self, expires: float) -> None:
        """See that no lease expires after this one, which comes last."""
        for held in reversed(self.held.values()):
            if held.expires <= expires:
                break
            held.expires = expires

    def expired(self, now: float) -> list[bytes]:
        """Keys of leases whose time is over; they stay held."""
        keys = []
        for key, held in self.held.items():
            if held.expires > now:
                break
            keys.append(key)
        return keys

    def next_expiry(self) -> float | None:
        """When the next lease returns by itself, or None."""
        return next((held.expires for held in self.held.values()), None)


def robots_key(url: str) -> bytes:
    """Key of a robots lease: a page lease of the same URL has another one."""
    return b"R" + key_of(url)
