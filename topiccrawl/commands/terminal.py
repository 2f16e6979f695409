"""Base of the terminal commands: state folder, last crawl, errors without a stack trace."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from argparse import ArgumentTypeError
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from scrapy.addons import AddonManager
from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

from topiccrawl.errors import ConfigurationError, StateError, TopiccrawlError
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.urls import canonical, host_of, site_of
from topiccrawl.messages import choose_language, escaped, localize, tr
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.crawls import Crawl, CrawlLog
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings


_INTERRUPTED, _PIPE_CLOSED = 130, 141
"""Exit status, as shells report it, of processes that SIGINT and SIGPIPE end."""


class OperatorCommand(ABC):
    """A command that reads the state of crawls; it never opens the network.

    A command derives from this class and then from ``ScrapyCommand``. This class does not: Scrapy
    takes each subclass of ``ScrapyCommand`` in this folder for a command.

    Attributes:
        usage: Its arguments, as help shows them.
        summary: One line of help, a message of the catalogue.
        details: The help below that, a message; "": the summary.
    """

    usage: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    details: ClassVar[str] = ""

    settings: Settings | None
    exitcode: int
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    @property
    def options(self) -> Settings:
        """The project's settings, command line included."""
        assert self.settings is not None  # noqa: S101  (Scrapy sets it before run)
        return self.settings

    @property
    def folder(self) -> Path:
        """The folder of all state."""
        return Path(self.options["TOPICCRAWL_DATA_DIR"])

    def syntax(self) -> str:
        """See ``ScrapyCommand.syntax``."""
        return self.usage

    def short_desc(self) -> str:
        """See ``ScrapyCommand.short_desc``."""
        return tr(self.summary)

    def long_desc(self) -> str:
        """See ``ScrapyCommand.long_desc``."""
        return tr(self.details or self.summary)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run ``act``; write an error as one message without a stack and set the exit status."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal in GBK lacks some characters
        choose_language(str(self.options.get("TOPICCRAWL_LANGUAGE") or ""))
        AddonManager.load_pre_crawler_settings(self.options)  # another project's have our add-on
        try:
            self._complete(self.options)
            self.act(args, opts)
            sys.stdout.flush()
        except TopiccrawlError as error:
            say(*localize(error).split("\n"), to=sys.stderr)
            self.exitcode = 1
        except UsageError as error:
            raise (error if error.args else self._misunderstood(args)) from None
        except BrokenPipeError:  # the reader, such as head, has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = _PIPE_CLOSED
        except KeyboardInterrupt:
            say("interrupted", to=sys.stderr)
            self.exitcode = _INTERRUPTED

    @staticmethod
    def _complete(settings: Settings) -> None:
        """Add topiccrawl's defaults outside of a project.

        Raises:
            ConfigurationError: In a project whose settings do not load topiccrawl.
        """
        if settings.get("TOPICCRAWL_DATA_DIR") is not None:
            return
        if inside_project():
            raise ConfigurationError(
                "the project's settings do not load topiccrawl: "
                "add ADDONS = {addon} to its settings.py",
                addon='{"topiccrawl.Addon": 100}',
            )
        settings.setmodule("topiccrawl.settings", priority="default")

    def _misunderstood(self, args: list[str]) -> UsageError:
        """Return the error, shown below the command's syntax, for words that it does not know."""
        given = " ".join(args)
        words = (
            tr("{given!r} is not understood", given=given) if args else tr("something is missing")
        )
        name = type(self).__module__.rpartition(".")[2]
        return UsageError(
            tr("{words}: `scrapy {name} -h` says what can be written", words=words, name=name)
        )

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work; a TopiccrawlError becomes a message and exit status 1."""

    def last_crawl(self, topic: str | None) -> Crawl:
        """Return the last crawl, of a topic where one is named; or the one TOPICCRAWL_CRAWL names.

        Raises:
            StateError: If there was none.
            ConfigurationError: No topic is named, and the folder has crawls of several.
        """
        if named := str(self.options.get("TOPICCRAWL_CRAWL") or ""):
            return Crawl(0, "", frontiers_of(self.options).place(named), 0.0, None, "")
        name = resolve(topic).name if topic else ""
        crawls = CrawlLog(self.folder).all(name)
        topics = dict.fromkeys(crawl.topic for crawl in crawls)
        if len(topics) > 1:
            raise ConfigurationError(
                "{folder}: which topic? Name one with --topic: {names}",
                folder=self.folder,
                names=", ".join(topics),
            )
        if not crawls:
            of = tr(" for topic {name!r}", name=name) if name else ""
            raise StateError(
                "{folder}: no crawl{of} has been run with this folder; name "
                "another with -s TOPICCRAWL_DATA_DIR=FOLDER",
                folder=self.folder,
                of=of,
            )
        return crawls[-1]


def add_topic_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--topic``; without it the folder's only topic is meant."""
    parser.add_argument(
        "--topic", metavar="TOPIC", help=tr("topic (default: the folder's only one)")
    )


def count(text: str) -> int:
    """Return a number of things, 0 or more, as an option's type.

    Raises:
        ArgumentTypeError: The text is no such number; argparse reports it in one line.

    >>> count("12")
    12
    """
    if text.isascii() and text.isdigit():
        return int(text)
    raise ArgumentTypeError(tr("{text!r}: give a whole number, 0 or more", text=text))


def score(text: str) -> float:
    """Return a score in [0, 1], as an option's type.

    Raises:
        ArgumentTypeError: The text is no such number.

    >>> score(".5")
    0.5
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if 0.0 <= number <= 1.0:
        return number
    raise ArgumentTypeError(tr("{text!r}: give a number from 0 to 1", text=text))


def some(text: str) -> int:
    """Return a number of things, 1 or more, as an option's type.

    Raises:
        ArgumentTypeError: The text is no such number.
    """
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    raise ArgumentTypeError(tr("{text!r}: give a whole number above 0", text=text))


def site_named(text: str) -> str:
    """Return the site (registrable domain) that an operator means; records of sites use it as key.

    Raises:
        ConfigurationError: The text names no site.

    >>> site_named("www.Example.com"), site_named("https://news.例子.中国/a")
    ('example.com', 'xn--fsqu00a.xn--fiqs8s')
    """
    host = host_of(canonical(text) or "") if "://" in text else normalize_host(text)
    if not host:
        raise ConfigurationError("{text!r} is no site: write example.com", text=text)
    return site_of(host)


def say(*lines: str, to: TextIO | None = None) -> None:
    """Write lines to standard output or another stream, each as one line (see ``escaped``)."""
    (to or sys.stdout).writelines(f"{escaped(line)}\n" for line in lines)
