"""The rows of tasks: tasks, their shards, turns at sites, and workers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

TASKS, SHARDS, TURNS, WORKERS, COUNTERS = "tasks", "shards", "turns", "workers", "counters"
"""Kinds of rows."""


@dataclass(frozen=True, slots=True)
class _Row:
    def text(self) -> str:
        """Return the row as a ledger stores it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a stored row; fields of later versions are ignored."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in json.loads(text).items() if name in known}
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})


@dataclass(frozen=True, slots=True)
class Wish(_Row):
    """A crawl that a user orders.

    Attributes:
        spider: ``topic``, ``template``, or one of your own that takes ``sites`` and ``seeds``.
        arguments: The spider's, such as ``{"topic": "新能源汽车"}``.
        sites: URLs or hosts, as given; may be empty for a template.
        pages: Pages of all its sites after which it is done; 0 is no bound.
        site_pages: Pages of each site; 0 is no bound.
        depth: Links from a seed at most; 0 is no bound.
        owner: User that orders it.
    """

    spider: str
    arguments: Mapping[str, str]
    sites: tuple[str, ...]
    pages: int = 0
    site_pages: int = 0
    depth: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Task(Wish):
    """A wish that was accepted.

    Attributes:
        id: Number, as text.
        created: Seconds since the epoch.
    """

    id: str = ""
    created: float = 0.0


class State(StrEnum):
    """State of a shard."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Shard(_Row):
    """A task's part of one site; a template's is all of it.

    Attributes:
        task: Its task's id.
        site: Unit that one crawler serves at a time: a registrable domain, or a template
            (``template:SLUG``, which is no valid host name).
        seeds: URLs that its crawl begins with.
        hosts: Hosts and domains that it may crawl.
        state: WAITING also during a turn: ``Turn`` records that.
        pages: Pages parsed so far; during a turn, as of the worker's last report.
        relevant: Those on topic.
        articles: New articles; a template's new and changed records.
        seconds: Time it had its site.
        turns: Turns it had.
        served: End of its last turn that was not cut short; its creation before the first one.
        not_before: Earliest next turn, after a failure.
        failures: Turns in a row that failed, or whose worker died.
        reason: Reason for the end of the last turn.
        tried: URLs that a site named without a scheme was begun at, each with the reason of its
            failure, or "" where it was fetched.
    """

    task: str
    site: str
    seeds: tuple[str, ...]
    hosts: tuple[str, ...]
    state: str = State.WAITING
    pages: int = 0
    relevant: int = 0
    articles: int = 0
    seconds: float = 0.0
    turns: int = 0
    served: float = 0.0
    not_before: float = 0.0
    failures: int = 0
    reason: str = ""
    tried: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its row.

        >>> Shard("7", "a.test", (), ()).name
        '7/a.test'
        """
        return f"{self.task}/{self.site}"


@dataclass(frozen=True, slots=True)
class Turn(_Row):
    """The turn at a site. The row's name is the site.

    Attributes:
        shard: Name of the shard that has the turn; "" if the site is free.
        worker: Name of the worker that crawls it.
        since: When the turn began.
        rest: Time until which the site must not be requested after the turn, even if the worker
            dies now.
    """

    shard: str = ""
    worker: str = ""
    since: float = 0.0
    rest: float = 0.0

    @property
    def task(self) -> str:
        """Id of the task that has the turn, or ""."""
        return self.shard.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Worker(_Row):
    """A process that serves tasks. The row's name is the worker's.

    Attributes:
        identity: The process (``storage.identity``).
        slots: Sites it can crawl at once.
        began: When it joined.
        expires: When it times out unless it reports before.
        host: Its machine, to be shown.
        pid: Its process there.
    """

    identity: str
    slots: int
    began: float
    expires: float
    host: str = ""
    pid: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a turn.

    Attributes:
        pages: Pages parsed.
        relevant: Those on topic.
        articles: New articles, or records.
        rest: Time until which the site's hosts must not be requested, seconds since the epoch.
        tried: As in ``Shard``.
    """

    pages: int = 0
    relevant: int = 0
    articles: int = 0
    rest: float = 0.0
    tried: Mapping[str, str] = field(default_factory=dict)


class Ended(StrEnum):
    """Outcome of a turn."""

    LEFT = "left"  # there is more to do
    CUT = "cut"  # left before its time, by an order or a worker's end: it keeps its place
    DONE = "done"
    FAILED = "failed"  # try again later
    HOPELESS = "hopeless"
