"""Temporary state for Scrapy's own commands, so that they change no stored crawl."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager, nullcontext
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from scrapy.exceptions import UsageError
from scrapy.utils.spider import DefaultSpider

from topiccrawl.commands.terminal import say
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import localize, tr
from topiccrawl.scheduler.hooks import check_hooks, spider_class

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.settings import BaseSettings

_OUTCOME = "topiccrawl.extensions.outcome.CrawlOutcome"
_SERVICES = ("REDIS_URL", "MONGODB_URI", "TOPICCRAWL_WEBHOOK")
"""Settings and environment variables of shared services that the command must not use."""
_STORAGE = "topiccrawl.storage.sqlite.SqliteStorage"


class IsolatedCommand:
    """Base of Scrapy's own commands with a temporary state.

    Of a spider with arguments, such as a topic, commands without -a use the settings only.

    Derive a command from this class and Scrapy's command. This class is no ``ScrapyCommand``, since
    Scrapy registers each subclass of it in this folder as a command.

    Attributes:
        takes_spiders: Whether the arguments are names of spiders.
    """

    settings: Any
    crawler_process: Any
    takes_spiders: ClassVar[bool] = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """See ``ScrapyCommand.add_options``; the usage names the program that was run."""
        super().add_options(parser)  # type: ignore[misc]
        name_program(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """See ``ScrapyCommand.process_options``."""
        check_options(self.settings, opts)
        super().process_options(args, opts)  # type: ignore[misc]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's command.

        Raises:
            UsageError: An argument is a URL that cannot be parsed, such as ``http://[::1``, the
                project lacks a named spider, or the spider refuses its arguments.
        """
        spiders = args if self.takes_spiders else [getattr(opts, "spider", None)]
        given = getattr(opts, "spargs", None)
        try:
            for name in filter(None, spiders):
                spider = spider_class(self.settings, name)
                check = None if self.takes_spiders else getattr(spider, "check_arguments", None)
                if check is not None and given is not None:
                    spider.update_settings(own := self.settings.copy())
                    check_hooks(own)
                    check(own, **given)
        except ConfigurationError as error:
            raise refused(localize(error)) from error
        for text in args:
            try:
                _ = urlsplit(text).port
            except ValueError as error:
                message = tr("{text!r} is not a URL: write https://host/path", text=text)
                raise UsageError(message) from error
        if has_addon(self.settings) and given is None:
            create = self.crawler_process._create_crawler  # noqa: SLF001  (all of them call it)
            self.crawler_process._create_crawler = lambda one: create(_simple(one))  # noqa: SLF001
        with isolated_state(self.settings) if has_addon(self.settings) else nullcontext():
            super().run(args, opts)  # type: ignore[misc]


def refused(text: str) -> UsageError:
    """Print an error; return one for Scrapy without a text, above which it would print a usage."""
    say(*tr("ERROR: {text}", text=text).split("\n"), to=sys.stderr)
    return UsageError(print_help=False)


def check_options(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """Refuse options whose values Scrapy would report without their name, or not at all.

    Raises:
        UsageError: An option ``-a`` or ``-s`` is not NAME=VALUE, or the log level is unknown; it is
            printed.
    """
    for option, texts in ("-a", getattr(opts, "spargs", ())), ("-s", opts.set):
        for text in texts:
            if "=" not in text:
                words = tr("{option} {text}: write {option} NAME=VALUE", option=option, text=text)
                raise refused(words)
    given = dict(text.split("=", 1) for text in opts.set)
    level = opts.loglevel or given.get("LOG_LEVEL", settings["LOG_LEVEL"])
    if isinstance(level, str) and level not in logging.getLevelNamesMapping():
        raise refused(
            tr("LOG_LEVEL is {level!r}: write DEBUG, INFO, WARNING or ERROR", level=level)
        )


def name_program(parser: argparse.ArgumentParser) -> None:
    """Replace ``scrapy`` in the usage of a command that ``topiccrawl`` runs."""
    if parser.prog == "topiccrawl":  # with `python -m scrapy` it is __main__.py
        parser.usage = (parser.usage or "").replace("scrapy", "%(prog)s", 1)


def has_addon(settings: BaseSettings) -> bool:
    """Check whether a project uses topiccrawl; its commands replace Scrapy's in all projects."""
    return "TOPICCRAWL_DATA_DIR" in settings


@contextmanager
def isolated_state(settings: BaseSettings) -> Iterator[None]:
    """Store all state in a temporary folder during the context.

    In the frontier of a crawl, a page of the command would count as fetched without queueing its
    links.
    """
    with TemporaryDirectory(prefix="topiccrawl-", ignore_cleanup_errors=True) as folder:
        disabled = dict.fromkeys((*_SERVICES, "JOBDIR", "REDIS_HOST"), "")
        own = {"TOPICCRAWL_DATA_DIR": folder, "TOPICCRAWL_STORAGE": _STORAGE}
        settings.setdict({**own, **disabled}, priority="cmdline")
        settings["EXTENSIONS"].set(_OUTCOME, None, priority="cmdline")  # no summary
        removed = {name: os.environ.pop(name) for name in _SERVICES if name in os.environ}
        try:
            yield
        finally:
            os.environ.update(removed)


def _simple(spider: type[Spider]) -> type[Spider]:
    """Return a spider without arguments in place of one that checks its own."""
    if not hasattr(spider, "check_arguments"):
        return spider
    kept = {"update_settings": spider.update_settings, "start": spider.start}
    return type("Simple", (DefaultSpider,), kept)
