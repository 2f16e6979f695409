"""Factory interface of frontiers: opens, reads and deletes the queues of crawls, and run records.

``TOPICCRAWL_FRONTIER`` names a class like ``LocalFrontiers``, which stores them in the data folder.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from scrapy.settings import BaseSettings, Settings

from topiccrawl.errors import SettingError, StorageError
from topiccrawl.frontier.contract import Frontier, Limits, Politeness, Reader
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.store import Store, discard
from topiccrawl.frontier.view import View, strategy_of
from topiccrawl.links.strategies import FirstCome, LinkStrategy, stored_strategy
from topiccrawl.scheduler.build import limits_of, politeness_of, share_of
from topiccrawl.scheduler.context import CrawlSpec, SyncTask, context_of
from topiccrawl.scheduler.hooks import load_component
from topiccrawl.scheduler.hosttimes import HostTimes, SharedHostClock
from topiccrawl.storage.ledger import Ledger, LocalLedger
from topiccrawl.storage.lmdb_files import DATA, create_files, require_complete
from topiccrawl.storage.runs import LocalRuns, Runs
from topiccrawl.storage.version import write_version

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.scheduler.scheduler import FrontierScheduler

RELEARN_PAGES = 2_000
"""Pages of earlier runs from which a strategy learns at the start, about 0.2 s."""


_NAME = re.compile(r"(?!\.)[^\x00-\x1f/\\]{1,200}")


def checked_name(name: str) -> str:
    """Return a crawl's name after checking that it is a single component of a path.

    Raises:
        SettingError: It is not.

    >>> checked_name("task-7.a.test")
    'task-7.a.test'
    """
    if not _NAME.fullmatch(name):
        raise SettingError(
            "{name!r:.80} is not a valid crawl name: it must not contain / or begin with .",
            name=name,
        )
    return name


class Frontiers(Protocol):
    """Frontiers of all crawls; constructed with ``(settings, place)``, see ``frontiers_of``.

    A place is the text by which the log of crawls identifies a frontier: a folder, or an address.
    """

    def open(self, name: str, spec: CrawlSpec) -> Frontier:
        """Open the frontier of a crawl and resume the state of an earlier run.

        Args:
            name: Name of the crawl; nodes with the same name share it.
            spec: Properties of the crawl; a frontier of another owner is refused.

        Raises:
            SettingError: A setting cannot be used.
            StateError: The state is in use, of another crawl, or of an unknown version.
            StorageError: The frontier cannot be written or reached.
        """

    def sync_task(self, scheduler: FrontierScheduler) -> SyncTask | None:
        """Return the sync task of an open shared frontier, not yet started; None for others."""

    def place(self, name: str) -> str:
        """Return the place of a crawl's frontier."""

    def read(self, place: str) -> Reader:
        """Open a frontier for reading, also while the crawl runs.

        Raises:
            StorageError: There is no frontier.
            StateVersionError: The frontier is of another version.
        """

    def edit(self, place: str) -> Frontier:
        """Open a frontier that no crawl uses, for changes by the operator; it fetches nothing.

        Raises:
            StateLockedError: A crawl uses it.
            StorageError: There is no frontier.
        """

    def new(self, place: str, strategy: LinkStrategy, owner: str) -> Frontier:
        """Open the frontier into which an export is loaded; create it if there is none."""

    def discard(self, place: str) -> None:
        """Delete a frontier, unless it is in use."""

    def ledger(self) -> Ledger:
        """Return the store of tasks and orders."""

    def runs(self) -> Runs:
        """Return the store of run records."""


def frontiers_of(settings: BaseSettings, place: str | Path = "") -> Frontiers:
    """Return the frontiers that the settings choose, or those of a place.

    Args:
        settings: Settings with ``TOPICCRAWL_FRONTIER``.
        place: Place from the log of crawls, which may be older than the settings; "" for none.

    Raises:
        SettingError: The class cannot be loaded.
    """
    path = settings.get("TOPICCRAWL_FRONTIER")
    if not path:
        return LocalFrontiers(settings)
    frontiers: Frontiers = load_component("TOPICCRAWL_FRONTIER", path)(settings, str(place))
    return frontiers


def open_frontier(crawler: Crawler) -> Frontier:
    """Open the frontier of a crawler's spider.

    Raises:
        SettingError: A setting cannot be used.
        StateError: The state is in use, or of an unknown version.
        StorageError: The folder cannot be written, or Redis cannot be reached.
    """
    return frontiers_of(crawler.settings).open(crawl_name(crawler), context_of(crawler).spec)


def crawl_name(crawler: Crawler) -> str:
    """Return the name of a crawl's frontier: TOPICCRAWL_CRAWL, or else its topic's slug.

    Nodes with the same name share a crawl. The ``crawl`` of a spider's ``spec`` takes precedence,
    since each period of a template has a separate frontier.
    """
    spec = context_of(crawler).spec
    if given := spec.crawl or crawler.settings.get("TOPICCRAWL_CRAWL"):
        return str(given)
    return spec.topic.slug if spec.topic is not None else spec.owner


def check_format(settings: BaseSettings, name: str) -> None:
    """Check the format of a crawl's local frontier, before the crawl migrates the store.

    Raises:
        StateVersionError: Another version wrote the frontier.
    """
    given = str(settings.get("TOPICCRAWL_CRAWL") or name)
    place = Path(frontiers_of(settings).place(given))  # an address of a server names no file
    with suppress(StorageError):  # the crawl repairs or reports it
        if (place / DATA).is_file():
            require_complete(place)
            Store(place, readonly=True).close()


def read_frontier(place: str | Path, settings: BaseSettings | None = None) -> Reader:
    """Open a crawl's frontier for reading, also while the crawl runs.

    Args:
        place: Place of the frontier, see ``Frontiers``.
        settings: May have the connection to the server, since logs have no passwords.

    Raises:
        StorageError: There is no frontier.
        StateVersionError: The frontier is of another version.
    """
    return frontiers_of(settings or Settings(), place).read(str(place))


def frontier_place(crawler: Crawler) -> str:
    """Return the place of a crawl's frontier for the log of crawls: folder, or server and name."""
    return frontiers_of(crawler.settings).place(crawl_name(crawler))


class LocalFrontiers:
    """Frontiers in local folders: in JOBDIR if it is set, or else in the data folder."""

    def __init__(self, settings: BaseSettings, place: str = "") -> None:  # noqa: ARG002 - only one kind
        self._settings = settings

    def open(self, name: str, spec: CrawlSpec) -> Frontier:
        """See ``Frontiers.open``."""
        settings, path, strategy = self._settings, self.place(name), spec.strategy or FirstCome()
        politeness, limits = politeness_of(settings), limits_of(settings)
        share = share_of(settings)
        if spec.fresh:
            discard(path)
        create_files(Path(path))
        times = HostTimes(settings["TOPICCRAWL_DATA_DIR"])
        frontier = EmbeddedFrontier(
            path, strategy, politeness, limits, share=share, owner=spec.crawl or spec.owner,
            clock_of=partial(SharedHostClock, times),
        )  # fmt: skip
        write_version(Path(path))
        _relearn(frontier, strategy)
        return frontier

    def sync_task(self, scheduler: FrontierScheduler) -> None:
        """Return None, since no other process shares the frontier."""

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

    def ledger(self) -> Ledger:
        """See ``Frontiers.ledger``."""
        return LocalLedger(self._settings["TOPICCRAWL_DATA_DIR"])

    def runs(self) -> Runs:
        """See ``Frontiers.runs``."""
        return LocalRuns(self._settings["TOPICCRAWL_DATA_DIR"])


def _relearn(frontier: Frontier, strategy: LinkStrategy) -> None:
    """Train a strategy again on links to pages that earlier runs crawled.

    The trained model is not stored, since the frontier has all its examples. At most
    ``RELEARN_PAGES`` pages are used, in the order in which they were crawled, since weights are
    computed at certain numbers of pages. Reading stops at the last crawled page: in a queue of
    millions the rows behind it take minutes.
    """
    number = min(RELEARN_PAGES, frontier.counts()["crawled"])
    urls = [url for url, _, _ in islice(frontier.iterate("crawled"), number)]
    pages = [page for page in map(frontier.why, urls) if page is not None]
    for page in sorted(pages, key=attrgetter("when")):
        if page.relevance is not None:
            strategy.learn(page.anchor, page.context, page.relevance)
            strategy.reached(tuple(page.evidence.values()), page.relevance)
