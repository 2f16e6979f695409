"""Seam of the frontier: who opens, reads and deletes the queues of crawls, and keeps their rows.

``TOPICCRAWL_FRONTIER`` names a class like ``LocalFrontiers``, which keeps all in the data folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from topiccrawl.errors import SettingError
from topiccrawl.frontier.contract import Frontier, Limits, Politeness, Reader
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.store import discard
from topiccrawl.frontier.view import View, strategy_of
from topiccrawl.links.strategies import LinkStrategy, stored_strategy
from topiccrawl.scheduler.hooks import loaded
from topiccrawl.scheduler.neighbours import HostTimes, NeighbourClock
from topiccrawl.storage.backup import write_version
from topiccrawl.storage.ledger_file import LocalLedger
from topiccrawl.storage.lmdb_files import create_files, require_complete
from topiccrawl.storage.runs import LocalRuns, Runs

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import SyncTask
    from topiccrawl.scheduler.scheduler import FrontierScheduler
    from topiccrawl.storage.ledger import Ledger

RELEARNT = 2_000
"""Pages of earlier runs from which a strategy learns at the start, about .2 s."""


_NAME = re.compile(r"(?!\.)[^\x00-\x1f/\\]{1,200}")


def checked_name(name: str) -> str:
    """Return a crawl's name after checking that it is one part of a path.

    Raises:
        SettingError: It is not.

    >>> checked_name("task-7.a.test")
    'task-7.a.test'
    """
    if not _NAME.fullmatch(name):
        raise SettingError(
            "{name!r:.80} is no name of a crawl: it has no / and begins with no .", name=name
        )
    return name


@dataclass(frozen=True, slots=True)
class FrontierSpec:
    """Parameters of a crawl's frontier.

    Attributes:
        name: Of the crawl; nodes of one name share it.
        owner: Topic, or other owner: a folder must not mix two crawls.
        strategy: Its order.
        politeness: Rules of requests to hosts.
        limits: Bounds.
        share: Share of the lanes; None: the strategy's.
        fresh: Whether an existing crawl is deleted first.
        again: Whether crawled pages are fetched again.
    """

    name: str
    owner: str
    strategy: LinkStrategy
    politeness: Politeness
    limits: Limits
    share: tuple[int, int] | None = None
    fresh: bool = False
    again: bool = False


class Frontiers(Protocol):
    """The frontiers of all crawls; made with ``(settings, place)``, see ``frontiers_of``.

    A place is the text by which the log of crawls finds a frontier again: a folder, or an address.
    """

    def open(self, spec: FrontierSpec) -> Frontier:
        """Return the frontier of a crawl; what an earlier run left is resumed.

        Raises:
            SettingError: If a setting cannot be used.
            StateError: If the state is in use, of another crawl, or of an unknown version.
            StorageError: If it cannot be written or reached.
        """
        ...

    def sync_task(self, scheduler: FrontierScheduler) -> SyncTask | None:
        """Return the task of an open frontier that is shared, not yet started; None for others."""
        ...

    def place(self, name: str) -> str:
        """Return the place of the frontier of a crawl's name."""
        ...

    def read(self, place: str) -> Reader:
        """Return a read-only view, also while the crawl runs.

        Raises:
            StorageError: If there is none.
            StateVersionError: If it is of another version.
        """
        ...

    def edit(self, place: str) -> Frontier:
        """Return a frontier that no crawl uses, for changes by the operator; it fetches nothing.

        Raises:
            StateLockedError: If a crawl uses it.
            StorageError: If there is none.
        """
        ...

    def new(self, place: str, strategy: LinkStrategy, owner: str) -> Frontier:
        """Return the frontier into which an export is loaded; create it where there is none."""
        ...

    def discard(self, place: str) -> None:
        """Delete a new frontier that could not be filled, as far as it is this process's own."""
        ...

    def forget(self, name: str) -> None:
        """Delete the frontier of a crawl that is over, unless it is in use."""
        ...

    def ledger(self) -> Ledger:
        """Return the store of tasks and orders."""
        ...

    def runs(self) -> Runs:
        """Return the store of run records."""
        ...


def frontiers_of(settings: BaseSettings, place: str | Path = "") -> Frontiers:
    """Return the frontiers that the settings choose, or those that a place belongs to.

    Args:
        settings: With ``TOPICCRAWL_FRONTIER``.
        place: From the log of crawls, which may be older than the settings; "": none.

    Raises:
        SettingError: They cannot be loaded.
    """
    path = settings.get("TOPICCRAWL_FRONTIER")
    if not path:
        return LocalFrontiers(settings)
    made: Frontiers = loaded("TOPICCRAWL_FRONTIER", path)(settings, str(place))
    return made


class LocalFrontiers:
    """Frontiers in folders of this machine: in JOBDIR where given, else in the data folder."""

    def __init__(self, settings: BaseSettings, place: str = "") -> None:  # noqa: ARG002 - one kind
        self._settings = settings

    def open(self, spec: FrontierSpec) -> Frontier:
        """See ``Frontiers.open``."""
        path = self.place(spec.name)
        if spec.fresh:
            discard(path)
        create_files(Path(path))
        times = HostTimes(self._settings["TOPICCRAWL_DATA_DIR"])
        frontier = EmbeddedFrontier(
            path, spec.strategy, spec.politeness, spec.limits, share=spec.share, owner=spec.owner,
            clock_of=partial(NeighbourClock, times),
        )  # fmt: skip
        write_version(Path(path))
        _relearn(frontier, spec.strategy)
        return frontier

    def sync_task(self, scheduler: FrontierScheduler) -> None:  # noqa: ARG002
        """Return None: no other process has a part of it."""
        return

    def place(self, name: str) -> str:
        """See ``Frontiers.place``."""
        if jobdir := self._settings.get("JOBDIR"):
            return str(Path(jobdir, "frontier").absolute())
        folder = Path(self._settings["TOPICCRAWL_DATA_DIR"], "frontiers")
        return str(Path(folder, checked_name(name)).absolute())

    def read(self, place: str) -> Reader:
        """See ``Frontiers.read``."""
        require_complete(Path(place))
        return View.read(place, stored_strategy(strategy_of(place)))

    def edit(self, place: str) -> Frontier:
        """See ``Frontiers.edit``."""
        require_complete(Path(place))
        return EmbeddedFrontier(place, stored_strategy(strategy_of(place)), Politeness(), Limits())

    def new(self, place: str, strategy: LinkStrategy, owner: str) -> Frontier:
        """See ``Frontiers.new``."""
        create_files(Path(place))
        return EmbeddedFrontier(place, strategy, Politeness(), Limits(), owner=owner)

    def discard(self, place: str) -> None:
        """See ``Frontiers.discard``."""
        discard(place)

    def forget(self, name: str) -> None:
        """See ``Frontiers.forget``."""
        discard(self.place(name))

    def ledger(self) -> Ledger:
        """See ``Frontiers.ledger``."""
        return LocalLedger(self._settings["TOPICCRAWL_DATA_DIR"])

    def runs(self) -> Runs:
        """See ``Frontiers.runs``."""
        return LocalRuns(self._settings["TOPICCRAWL_DATA_DIR"])


def _relearn(frontier: Frontier, strategy: LinkStrategy) -> None:
    """Train a strategy again on links to pages that earlier runs crawled.

    The trained model is not stored: the frontier has all its examples. At most ``RELEARNT`` pages
    are used, in the order of the frontier.
    """
    for url, _, _ in islice(frontier.iterate("crawled"), RELEARNT):
        known = frontier.why(url)
        if known is not None and known.relevance is not None:
            strategy.learn(known.anchor, known.context, known.relevance)
            strategy.reached(tuple(known.evidence.values()), known.relevance)
