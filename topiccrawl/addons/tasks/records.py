"""Stored rows: tasks, their shards, turns at sites, and workers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.storage.ledger import Key, Rows


MAX_REST = 60.0
"""Longest pause of a site between turns, in seconds; equals the longest crawl-delay obeyed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the ledger.

    Attributes:
        kind: Kind of the rows of this class in the ledger.
    """

    kind: ClassVar[str]

    @classmethod
    def key(cls, name: str) -> Key:
        """Return the key of a row in the ledger."""
        return cls.kind, name

    def text(self) -> str:
        """Return the row as a ledger stores it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a stored row; unknown fields of later versions are ignored."""
        names = {one.name for one in fields(cls)}
        values = {name: value for name, value in json.loads(text).items() if name in names}
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})

    @classmethod
    def read_all(cls, rows: Rows) -> dict[str, Self]:
        """Parse the rows of this class, by name."""
        return {name: cls.read(text) for name, text in rows[cls.kind].items()}


@dataclass(frozen=True, slots=True)
class TaskSpec(Row):
    """Specification of a task by a user.

    Attributes:
        spider: ``topic``, ``template``, or a custom spider that takes ``sites`` and ``seeds``.
        arguments: Spider arguments, such as ``{"topic": "新能源汽车"}``.
        sites: URLs or hosts as given by the user; may be empty for a template.
        pages: Maximum number of pages of all its sites; 0 is no limit.
        site_pages: Maximum number of pages of each site; 0 is no limit.
        depth: Maximum number of links from a seed; 0 is no limit.
        owner: User that the task belongs to.
    """

    spider: str
    arguments: Mapping[str, str]
    sites: tuple[str, ...]
    pages: int = 0
    site_pages: int = 0
    depth: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Task(TaskSpec):
    """A specification that was accepted.

    Attributes:
        id: Number of the task, as text.
        created: Time of creation, seconds since the epoch.
        named: Whether its topic is the name of a topic file, which each worker must have.
    """

    kind: ClassVar[str] = "tasks"
    id: str = ""
    created: float = 0.0
    named: bool = False


class State(StrEnum):
    """State of a shard."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Shard(Row):
    """The part of a task on one site. A task with a template has a single shard.

    Attributes:
        task: Id of its task.
        site: Unit that one worker serves at a time: a registrable domain, or a template
            (``template:SLUG``, which is not a valid host name).
        seeds: Seed URLs of its crawl.
        hosts: Hosts and domains that it may crawl.
        state: State of the shard; WAITING also during a turn, which has a ``Turn`` row.
        pages: Number of parsed pages; during a turn, as of the worker's last heartbeat.
        relevant: Number of pages on topic.
        articles: Number of new articles, or of a template's new and changed records.
        seconds: Total duration of its turns.
        turns: Number of its turns.
        served: End of its last turn that was not interrupted, or its creation time.
        not_before: Earliest time of its next turn after a failure.
        failures: Number of consecutive turns that failed or whose worker died.
        reason: Reason for the end of the last turn.
        tried: Start URLs guessed for a site that was given without a scheme, each with the reason
            of its failure, or "" if it was fetched.
    """

    kind: ClassVar[str] = "shards"
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
        """Key of its row.

        >>> Shard("7", "a.test", (), ()).name
        '7/a.test'
        """
        return f"{self.task}/{self.site}"

    @property
    def crawl(self) -> str:
        """Name of the frontier of its crawl.

        >>> Shard("7", "a.test", (), ()).crawl
        'task-7.a.test'
        """
        return f"task-{self.task}.{self.site}"


@dataclass(frozen=True, slots=True)
class Turn(Row):
    """The turn at a site. The key of the row is the site.

    Attributes:
        shard: Name of the shard that has the turn; "" if the site is free.
        worker: Name of the worker that crawls the site.
        since: Start of the turn, seconds since the epoch.
        rest: Time until which the site must not be requested after the turn, seconds since the
            epoch. It is stored ahead of time, in case the worker dies.
    """

    kind: ClassVar[str] = "turns"
    shard: str = ""
    worker: str = ""
    since: float = 0.0
    rest: float = 0.0

    @property
    def task(self) -> str:
        """Id of the task that has the turn, or ""."""
        return self.shard.partition("/")[0]

    def rests(self, now: float) -> bool:
        """Return whether the site must not be requested yet; ignore rests of a clock ahead."""
        return now < self.rest <= now + MAX_REST


@dataclass(frozen=True, slots=True)
class Worker(Row):
    """A process that crawls shards. The key of the row is the worker's name.

    Attributes:
        identity: Identity of the process (``storage.identity``).
        slots: Number of sites it can crawl at once.
        began: Time it joined, seconds since the epoch.
        expires: Time it times out without another heartbeat, seconds since the epoch.
        host: Name of its machine, for display.
        pid: Process ID on that machine, for display.
    """

    kind: ClassVar[str] = "workers"
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
        pages: Number of parsed pages.
        relevant: Number of pages on topic.
        articles: Number of new articles or records.
        rest: Time until which the site's hosts must not be requested, seconds since the epoch.
        tried: Guessed start URLs, as in ``Shard``.
    """

    pages: int = 0
    relevant: int = 0
    articles: int = 0
    rest: float = 0.0
    tried: Mapping[str, str] = field(default_factory=dict)

    def rest_until(self, now: float) -> float:
        """Return ``rest``, but at most ``MAX_REST`` seconds from now."""
        return min(self.rest, now + MAX_REST)


class TurnOutcome(StrEnum):
    """Outcome of a turn."""

    UNFINISHED = "unfinished"
    INTERRUPTED = "interrupted"  # by an order or by the worker's end: the shard keeps its place
    DONE = "done"
    FAILED = "failed"  # retried later
    NOT_CRAWLABLE = "not crawlable"  # never retried
