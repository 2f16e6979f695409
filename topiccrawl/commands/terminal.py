"""Base of the terminal commands: data folder, last crawl, errors without a stack trace."""

from __future__ import annotations

import errno
import os
import sys
from abc import ABC, abstractmethod
from argparse import ArgumentTypeError
from contextlib import suppress
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from scrapy.addons import AddonManager
from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

from topiccrawl.commands.helptext import TranslatedHelp
from topiccrawl.errors import ConfigurationError, StateError, TopiccrawlError
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.urls import canonical, host_of, site_of
from topiccrawl.messages import NameList, choose_language, escaped, localize, tr, translate_argparse
from topiccrawl.scheduler.checks import check_data_folder, check_language
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.crawls import Crawl, CrawlLog
from topiccrawl.storage.lmdb_files import DATA
from topiccrawl.storage.redis_address import in_redis
from topiccrawl.storage.version import VERSION
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import Settings


_FRONTIERS = 5
"""Maximum number of frontiers that an error lists."""
_INTERRUPTED, _PIPE_CLOSED = 130, 141
"""Exit status, as in shells, of processes ended by SIGINT and SIGPIPE."""
_OUTPUT_ERRORS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Failures of standard output: its reader, such as head, has closed it, or its disk is full."""


class OperatorCommand(ABC):
    """Base of commands that read the state of crawls and fetch no pages.

    Derive a command from this class and ``ScrapyCommand``. This class is no ``ScrapyCommand``,
    since Scrapy registers each subclass of it in this folder as a command.

    Attributes:
        usage: Arguments, as shown in the help.
        summary: Help in one line, a message of the catalogue.
        details: Full help, a message of the catalogue; "" for the summary.
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
        """Settings of the project and the command line."""
        assert self.settings is not None  # noqa: S101  (Scrapy sets it before run)
        return self.settings

    @property
    def folder(self) -> Path:
        """Data folder."""
        return Path(self.options["TOPICCRAWL_DATA_DIR"])

    @property
    def verb(self) -> str:
        """Name of the command."""
        return type(self).__module__.rpartition(".")[2]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """See ``ScrapyCommand.add_options``; the help has the name of the program that was run."""
        super().add_options(parser)  # type: ignore[misc]
        translate_argparse()
        parser.formatter_class = TranslatedHelp
        parser.usage = f"%(prog)s {self.verb} {self.syntax()}"

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
        """Run ``act``; print an error as one message without a stack trace, set the exit status."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a GBK terminal lacks some characters
        choose_language(str(self.options.get("TOPICCRAWL_LANGUAGE") or ""))
        AddonManager.load_pre_crawler_settings(self.options)  # projects load us as an add-on
        try:
            self._refuse_options(args)
            self._complete(self.options)
            check_data_folder(self.options)
            check_language(self.options)
            with suppress(FileNotFoundError, NotADirectoryError):
                (self.folder / VERSION).stat()  # exists() may be False for lack of permission
            self.act(args, opts)
            sys.stdout.flush()
        except TopiccrawlError as error:
            say(*localize(error).split("\n"), to=sys.stderr)
            self.exitcode = 1
        except UsageError as error:
            raise (error if error.args else self._usage_error(args)) from None
        except OSError as error:
            self.exitcode = _report(error, self.folder)
        except KeyboardInterrupt:
            say(tr("interrupted"), to=sys.stderr)
            self.exitcode = _INTERRUPTED

    def _refuse_options(self, args: list[str]) -> None:
        """Refuse unknown options, which Scrapy passes on as arguments; a bare -- ends options."""
        options = takewhile(lambda word: word != "--", args)
        if unknown := [word for word in options if word.startswith("--")]:
            raise self._usage_error(unknown)

    @staticmethod
    def _complete(settings: Settings) -> None:
        """Add the default settings of topiccrawl outside a project.

        Raises:
            ConfigurationError: If the settings of the project do not load topiccrawl.
        """
        if settings.get("TOPICCRAWL_DATA_DIR") is not None:
            return
        if inside_project():
            raise ConfigurationError(
                "the settings of the project do not load topiccrawl: "
                "add ADDONS = {addon} to its settings.py",
                addon='{"topiccrawl.Addon": 100}',
            )
        settings.setmodule("topiccrawl.settings", priority="default")

    def _usage_error(self, args: list[str]) -> UsageError:
        """Return the error, shown below the syntax of the command, for invalid arguments."""
        given = " ".join(args)
        words = (
            tr("invalid arguments {given!r}", given=given) if args else tr("arguments are missing")
        )
        return UsageError(tr("{words}: see `topiccrawl {name} -h`", words=words, name=self.verb))

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command; a TopiccrawlError becomes a message and exit status 1."""

    def last_crawl(self, topic: str | None) -> Crawl:
        """Return the crawl of TOPICCRAWL_CRAWL, or the last crawl, of ``topic`` if given.

        A topic's crawl in Redis is also found if no node used this data folder.

        Raises:
            StateError: If there is no crawl.
            ConfigurationError: If no topic is given, and the folder has crawls of several topics.
        """
        if named := str(self.options.get("TOPICCRAWL_CRAWL") or ""):
            return self._unlogged("", named)
        name = resolve(topic).name if topic else ""
        crawls = CrawlLog(self.folder).all(name)
        topics = dict.fromkeys(crawl.topic for crawl in crawls)
        if len(topics) > 1:
            raise ConfigurationError(
                "{folder}: several topics: choose one with --topic: {names}",
                folder=self.folder,
                names=NameList(topics),
            )
        if not crawls and topic and in_redis(self.options):
            return self._unlogged(name, resolve(topic).slug)
        if not crawls:
            of = tr(" for topic {name!r}", name=name) if name else ""
            raise StateError(
                "{folder}: no crawl{of} has been run with this data folder; choose "
                "another one with -s TOPICCRAWL_DATA_DIR=FOLDER{hint}",
                folder=self.folder,
                of=of,
                hint=self._frontiers_hint(),
            )
        return crawls[-1]

    def _unlogged(self, owner: str, name: str) -> Crawl:
        """Return a crawl that the data folder does not log."""
        return Crawl(0, owner, frontiers_of(self.options).place(name), 0.0, None, "")

    def _frontiers_hint(self) -> str:
        """Return how to name a frontier of the data folder; tasks and most spiders log no crawl."""
        if in_redis(self.options):
            return tr(", or a crawl in Redis with --topic TOPIC or -s TOPICCRAWL_CRAWL=NAME")
        files = Path(self.folder, "frontiers").glob(f"*/{DATA}")  # finished ones have none
        names = sorted(path.parent.name for path in files)
        listed = NameList([*names[:_FRONTIERS], *(["..."] if names[_FRONTIERS:] else [])])
        if not names:
            return ""
        return tr(", or a frontier with -s TOPICCRAWL_CRAWL=NAME: {names}", names=listed)


def add_topic_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--topic``, by default the only topic of the data folder."""
    text = tr("topic (default: the only one in the data folder)")
    parser.add_argument("--topic", metavar="TOPIC", help=text)


def count(text: str) -> int:
    """Parse a non-negative integer; a type for argparse.

    Raises:
        ArgumentTypeError: If the text is not a non-negative integer.

    >>> count("12")
    12
    """
    if text.isascii() and text.isdigit():
        return int(text)
    raise ArgumentTypeError(tr("{text!r}: give a whole number, 0 or more", text=text))


def score(text: str) -> float:
    """Parse a score in [0, 1]; a type for argparse.

    Raises:
        ArgumentTypeError: If the text is not a number in [0, 1].

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


def positive(text: str) -> int:
    """Parse a positive integer; a type for argparse.

    Raises:
        ArgumentTypeError: If the text is not a positive integer.
    """
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    raise ArgumentTypeError(tr("{text!r}: give a whole number above 0", text=text))


def site_named(text: str) -> str:
    """Return the site (registrable domain) of a host or URL, the key of site records.

    Raises:
        ConfigurationError: If the text is not a host or URL.

    >>> site_named("www.Example.com"), site_named("https://news.例子.中国/a")
    ('example.com', 'xn--fsqu00a.xn--fiqs8s')
    """
    host = host_of(canonical(text) or "") if "://" in text else normalize_host(text)
    if not host:
        raise ConfigurationError("{text!r} is not a site: write example.com", text=text)
    return site_of(host)


def say(*lines: str, to: TextIO | None = None) -> None:
    """Write lines to standard output or another stream, with line breaks escaped (``escaped``)."""
    (to or sys.stdout).writelines(f"{escaped(line)}\n" for line in lines)


def say_or(lines: Sequence[str], none: str) -> None:
    """Write lines to standard output, or a text to standard error if there are none."""
    if lines:
        say(*lines)
    else:
        say(none, to=sys.stderr)


def _report(error: OSError, folder: Path) -> int:
    """Report a file without permission, or a failed standard output; return the exit status.

    Args:
        error: Error of a command.
        folder: Data folder.

    Raises:
        OSError: It is another error.
    """
    if isinstance(error, PermissionError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
        if Path(str(error.filename)).is_relative_to(folder):
            text = tr(
                "{file}: {strerror}: run the command as the user who runs the crawls",
                file=error.filename, strerror=error.strerror,
            )  # fmt: skip
        say(text, to=sys.stderr)
        return 1
    return report_output(error)


def report_output(error: OSError) -> int:
    """Report a failed standard output; return the exit status.

    Raises:
        OSError: It is another error.
    """
    if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return _PIPE_CLOSED
    say(tr("standard output cannot be written: {strerror}", strerror=error.strerror), to=sys.stderr)
    return 1
