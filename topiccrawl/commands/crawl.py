"""``scrapy crawl`` of Scrapy, with validated arguments and a meaningful exit status."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
from collections import deque
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy.commands.crawl import Command as ScrapyCrawl
from typing_extensions import override

from topiccrawl.commands.isolation import check_options, has_addon, name_program, refused
from topiccrawl.commands.terminal import say
from topiccrawl.errors import ConfigurationError, StateVersionError
from topiccrawl.messages import choose_language, localize, tr
from topiccrawl.scheduler.checks import check_values, flag, unknown_settings
from topiccrawl.scheduler.finish import NOTHING_ON_TOPIC, failed
from topiccrawl.scheduler.frontiers import check_format
from topiccrawl.scheduler.hooks import check_hooks
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


logger = logging.getLogger(__name__)


NOTHING_FOUND = 3
"""Exit status of a completed crawl that fetched ten pages or more and found none on topic."""


class CrawlCommand(ScrapyCrawl):
    """Run a spider.

    The exit status is 2 if an argument is wrong, 1 if the crawl failed, and 3 if a topic crawl
    completed without a page on topic.
    """

    _crawlers: Sequence[Crawler] = ()
    _log_file: Path | None = None

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        name_program(parser)
        text = tr("show the log instead of only the progress line")
        parser.add_argument("-v", "--verbose", action="store_true", help=text)

    @override
    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101  (Scrapy sets it before)
        check_options(self.settings, opts)
        super().process_options(args, opts)
        choose_language(str(self.settings.get("TOPICCRAWL_LANGUAGE") or ""))
        asked = opts.verbose or opts.logfile or opts.loglevel or opts.nolog
        if len(args) == 1 and not asked and sys.stderr.isatty():
            self._log_file = _log_to_file(self.settings, args[0], opts.spargs.get("topic", ""))

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) == 1:
            self._check(args[0], opts.spargs)
        if self._log_file is not None:
            say(tr("log: {file} (show it here with -v)", file=self._log_file), to=sys.stderr)
        _stop_at_hangup()
        with LastErrors() as errors:
            super().run(args, opts)
        if any(map(_failed, self._crawlers)):
            self.exitcode = 1
            if self._log_file is not None:
                say(*errors.lines, to=sys.stderr)
        elif any(one.engine.spider for one in self._crawlers):  # not closed: a second Ctrl-C
            say(tr("stopped at once; the same command continues the crawl"), to=sys.stderr)
        elif any(one.stats.get_value(NOTHING_ON_TOPIC) for one in self._crawlers):
            self.exitcode = NOTHING_FOUND

    def _check(self, name: str, arguments: dict[str, str]) -> None:
        assert self.crawler_process is not None  # noqa: S101  (Scrapy sets both before run)
        assert self.settings is not None  # noqa: S101
        try:
            spider = self.crawler_process.spider_loader.load(name)
        except KeyError as error:
            msg = tr(
                "no spider {name!r}: `topiccrawl list` shows the spiders; "
                "`crawl topic -a topic={name}` crawls for a topic",
                name=name,
            )
            if not has_addon(self.settings):  # `topiccrawl crawl` in another project
                msg = tr(
                    "the settings of the project do not load topiccrawl: "
                    "add ADDONS = {addon} to its settings.py",
                    addon='{"topiccrawl.Addon": 100}',
                )
            raise refused(msg) from error
        try:
            _check_crawl(self.settings, spider, arguments)
        except (ConfigurationError, StateVersionError) as error:
            if self.settings.get("LOG_FILE"):  # all that a user of scrapyd sees of a job
                logger.error("%s", error)  # noqa: TRY400 - one line
            wrong = refused(localize(error))
            raise (wrong if isinstance(error, ConfigurationError) else SystemExit(1)) from error
        for line in unknown_settings(self.settings, os.environ):
            logger.warning("%s", line)
            if self._log_file is not None:
                say(tr("warning: {text}", text=line), to=sys.stderr)

    @override
    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler: Crawler = super()._create_crawler(spidercls)
        self._crawlers = [*self._crawlers, crawler]
        return crawler


def _check_crawl(settings: BaseSettings, spider: type[Spider], arguments: dict[str, str]) -> None:
    """Check settings, arguments, and the format of the frontier before anything is opened."""
    check_values(settings)
    if check := getattr(spider, "check_arguments", None):
        check_hooks(settings)
        topic = check(settings, **arguments)
        if isinstance(topic, Topic) and not flag("fresh", arguments.get("fresh", "")):
            check_format(settings, topic.slug)


class LastErrors(logging.Handler):
    """Collect the last errors in the log, to print them below a log that is a file.

    Attributes:
        lines: Their messages, the last three.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: deque[str] = deque(maxlen=3)

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            raised = localize(record.exc_info[1]) if record.exc_info else None
            if isinstance(given := record.args, tuple):
                record = copy(record)  # the log stays English
                record.args = tuple(map(localize, given))
            line = tr("ERROR: {text}", text=str(raised or "") or record.getMessage())
        except Exception:  # noqa: BLE001 - else a wrong log call would break the crawl that logs
            self.handleError(record)  # reports it on standard error
            return
        if line not in self.lines:
            self.lines.append(line)


def _stop_at_hangup() -> None:
    """Make a closed terminal (SIGHUP) stop crawls gracefully, unless it is ignored (nohup)."""

    def stop(*_: object) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # both the system and the shell send it
        signal.raise_signal(signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, stop)


def _log_to_file(settings: BaseSettings, spider: str, topic: str) -> Path | None:
    """Write the log to a file in the data folder unless LOG_FILE is set; return its path."""
    if settings.get("LOG_FILE") or not settings.getbool("LOG_ENABLED"):
        return None
    name = re.sub(r"[^\w.-]+", "-", f"{spider}-{topic}" if topic else spider)[:80]
    path = Path(settings["TOPICCRAWL_DATA_DIR"]) / "logs" / f"{name}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # the crawl reports that the folder cannot be used
    settings.set("LOG_FILE", str(path), priority="cmdline")
    return path


def _failed(crawler: Crawler) -> bool:
    try:
        _engine, stats = crawler.engine, crawler.stats.get_stats()
    except RuntimeError:  # the crawl did not start, so it lacks one of them
        return True
    return failed(stats)
