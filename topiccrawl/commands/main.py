"""The ``topiccrawl`` command: the ``scrapy`` command with topiccrawl's settings, in any folder."""

from __future__ import annotations

import argparse
import os
import sys
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from topiccrawl import __version__
from topiccrawl.messages import NameList, message, tr, translate_argparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

VERBS = {
    "init DIR": message("Create a project: topic file, settings, compose file"),
    "crawl TOPIC": message("Crawl for a topic; options: `topiccrawl crawl -h`"),
    "articles": message("List, show, search, export or forget stored articles"),
    "topics": message("List topics, show how a topic is parsed, or how crawls changed it"),
    "why URL": message("Explain the state of a URL, its score and the reasons"),
    "frontier": message("Count, list, export, import or requeue queued URLs"),
    "control": message("Pause, resume, cancel or slow down a running crawl"),
    "records": message("List, show, export or forget the records of template crawls"),
    "dashboard": message("Serve a live page of all crawls, nodes and tasks"),
    "report FILE": message("Write a report of one crawl as an HTML file"),
    "tasks, work": message("Create crawl tasks, and run workers that crawl them"),
    "backup FILE": message("Copy the data folder into one file, even while crawls run"),
    "restore FILE": message("Unpack a backup into a new data folder to continue its crawls"),
    "simulate": message("Compare link strategies on a recorded crawl, without network"),
    "doctor": message("Check settings, machine and servers"),
}
"""Verbs and their help texts, repeated here since importing all commands takes one second."""

USAGE = message("""\
topiccrawl {version}: a focused news crawler on Scrapy, Chinese first

usage: topiccrawl VERB ...

{verbs}

Example:
  topiccrawl crawl 新能源汽车 --seeds https://news.example.com/ --pages 500 -o articles.xlsx

All verbs and options of `scrapy` work, such as -s NAME=VALUE. `topiccrawl VERB -h` shows help.
The data folder is ./data; choose another one with -s TOPICCRAWL_DATA_DIR=FOLDER.
""")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a verb; outside a Scrapy project, with the settings of topiccrawl.

    Args:
        arguments: Arguments after the name of the command; ``sys.argv`` if None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.argv[0] = "topiccrawl"  # in the help of the verbs, also with `python -m topiccrawl`
    _prepare_streams()
    _check_current_folder()
    try:
        try:
            _dispatch(words)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write(tr("interrupted") + "\n")
        sys.exit(_INTERRUPTED)
    except OSError as error:
        from topiccrawl.commands.terminal import report_output  # noqa: PLC0415  (it imports Scrapy)

        if error.filename is not None:  # such as --logfile, --pidfile, --profile
            sys.exit(f"topiccrawl: {error.filename}: {error.strerror}")
        sys.exit(report_output(error))


def _prepare_streams() -> None:
    """Replace closed standard streams, and characters that standard output cannot show.

    Otherwise, a database would get the number of a closed stream, and errors that libraries write
    to standard error.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, errors="replace"))  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _check_current_folder() -> None:
    """End the process if the folder was deleted, or the user may not read it."""
    try:
        Path.cwd().joinpath("scrapy.cfg").exists()
    except OSError as error:
        sys.exit(
            tr(
                "the current folder cannot be used ({strerror}): change to another one",
                strerror=error.strerror,
            )
        )


def _dispatch(words: Sequence[str]) -> NoReturn:
    if not words or words[0] in {"-h", "--help", "help"}:
        lines = (f"  {verb:<13} {tr(about)}" for verb, about in VERBS.items())
        sys.stdout.write(tr(USAGE, version=__version__, verbs="\n".join(lines)))
        sys.exit(0)
    if words[0] in {"-V", "--version"}:
        sys.stdout.write(f"topiccrawl {__version__}\n")
        sys.exit(0)
    if words[0] == "crawl" and not _names_spider(words[1:]):
        _crawl(words[1:])
    _run(words)


def _run(words: Sequence[str]) -> NoReturn:
    from scrapy.cmdline import execute  # noqa: PLC0415  (help takes 0.1 s without Twisted)
    from scrapy.utils.conf import closest_scrapy_cfg  # noqa: PLC0415
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    ours = not closest_scrapy_cfg() and (
        os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "topiccrawl.settings")
        == "topiccrawl.settings"
    )
    settings = get_project_settings()
    if ours:  # `genspider` would write into the package
        settings.set("NEWSPIDER_MODULE", "", priority="cmdline")
    if not settings["COMMANDS_MODULE"]:  # the project runs Scrapy's `crawl`
        settings.set("COMMANDS_MODULE", "topiccrawl.commands", priority="cmdline")
    _check_verb(words[0], settings)
    settings["EDITOR"] = os.environ.get("EDITOR", settings["EDITOR"])  # as Scrapy does
    execute(["topiccrawl", *words], settings)
    raise AssertionError("Scrapy ends the process")


def _check_verb(word: str, settings: BaseSettings) -> None:
    """End the process if no command has this name; suggest the most similar one."""
    from scrapy.cmdline import _get_commands_dict  # noqa: PLC0415  (see _run)

    known = _get_commands_dict(settings, inproject=True)
    if word.startswith("-") or word in known:
        return  # Scrapy parses options without a command
    found = get_close_matches(word, known, 1)
    hint = tr(" (did you mean {name}?)", name=found[0]) if found else ""
    say = tr(
        "unknown command {word}{hint}; `topiccrawl -h` shows the commands", word=word, hint=hint
    )
    sys.stderr.write(f"topiccrawl: {say}\n")
    sys.exit(_USAGE)


def _names_spider(words: Sequence[str]) -> bool:
    """Return whether ``crawl`` has the form ``SPIDER -a NAME=VALUE``, without our own options.

    ``-a topic=`` and ``-a template=`` say what a spider crawls for, so they never follow a topic.
    ``crawl template`` is the spider without its argument, not a topic; so are the names of the
    spiders of the user's project.
    """
    own = {word.partition("=")[0] for word in words} & _TOPIC_OPTIONS
    subject = any(word.removeprefix("-a").startswith(_SUBJECTS) for word in words)
    given = any(word.startswith("-a") for word in words)
    if words[:1] == ["template"] or (given and (subject or not own)):
        return True
    return not own and bool(words) and _is_spider(words[0])


def _is_spider(name: str) -> bool:
    """Return whether the user's project has a spider of this name, other than ours."""
    from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  (see _run)
    from scrapy.utils.conf import closest_scrapy_cfg  # noqa: PLC0415
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    if not closest_scrapy_cfg() or name.startswith("-"):
        return False
    loader = get_spider_loader(get_project_settings())
    return name in loader.list() and not loader.load(name).__module__.startswith("topiccrawl.")


def _crawl(words: Sequence[str]) -> NoReturn:
    """Run the topic spider, then export the articles of the topic if ``-o`` is given."""
    parser = _parser()
    options = parser.parse_args(words)
    if options.output is not None:
        _check_output(parser, options.output)
    given = {
        "topic": options.topic, "seeds": options.seeds, "discover": options.discover,
        "watch": options.watch, "fresh": "1" if options.fresh else "",
    }  # fmt: skip
    spider = [part for name, value in given.items() if value for part in ("-a", f"{name}={value}")]
    spider += [word for pair in options.arguments for word in ("-a", pair)]
    settings = [word for pair in options.set for word in ("-s", pair)]
    if options.pages:
        spider += ["-s", f"TOPICCRAWL_PAGES={options.pages}"]
    try:
        _run(["crawl", "topic", *spider, *settings, *options.flags, *options.values])
    except SystemExit as ended:
        if options.output is None or ended.code == _USAGE:
            raise
        status = ended.code
    try:
        _run(["articles", "export", options.output, "--topic", options.topic, *settings])
    except SystemExit as ended:
        sys.exit(status or ended.code)


def _check_output(parser: argparse.ArgumentParser, file: str) -> None:
    from topiccrawl.storage.tables import Table  # noqa: PLC0415  (it takes half of the start)

    if Path(file).suffix not in (known := Table().formats()):
        choices = NameList(known)
        parser.error(
            tr("-o {file}: the suffix must be one of {choices}", file=file, choices=choices)
        )
    if Path(file).suffix == ".parquet" and find_spec("pyarrow") is None:
        parser.error(tr("{path}: needs pyarrow: pip install 'topiccrawl[parquet]'", path=file))
    if not os.access(Path(file).parent, os.W_OK):
        parser.error(tr("-o {file}: the folder does not exist or cannot be written", file=file))


_INTERRUPTED = 130
"""Exit status, as in shells, of processes ended by SIGINT."""
_USAGE = 2
"""Exit status for wrong arguments, before any crawl."""
_TOPIC_OPTIONS = frozenset({"--seeds", "--discover", "--pages", "--fresh", "--watch"})
"""Options of a topic crawl that Scrapy's ``crawl`` does not have."""
_SUBJECTS = ("topic=", "template=")
_SCRAPY_FLAGS = ("--nolog",), ("--pdb",), ("-v", "--verbose")
"""Flags of Scrapy's ``crawl``."""
_SCRAPY_VALUES = (
    ("-O", "--overwrite-output"), ("--logfile",), ("-L", "--loglevel"), ("--profile",),
    ("--pidfile",),
)  # fmt: skip
"""Options with a value of Scrapy's ``crawl``."""


def _parser() -> argparse.ArgumentParser:
    from topiccrawl.commands.helptext import WrappedHelp  # noqa: PLC0415  (it imports Scrapy)
    from topiccrawl.commands.terminal import positive  # noqa: PLC0415  (it imports Scrapy)

    translate_argparse()
    parser = argparse.ArgumentParser(
        prog="topiccrawl crawl",
        description=tr("Crawl for a topic. The same command continues an earlier crawl."),
        epilog=tr(
            "Scrapy's options are accepted, too, such as -s NAME=VALUE, --logfile FILE, -v (log). "
            "`topiccrawl crawl SPIDER -a NAME=VALUE` runs any spider."
        ),
        allow_abbrev=False,
        formatter_class=WrappedHelp,
    )
    add = parser.add_argument
    add(
        "topic",
        metavar="TOPIC",
        help=tr("words, a sentence, the name of a topic or a topic file (.toml)"),
    )
    text = tr("start URLs (default: seeds of the topic, or portals)")
    add("--seeds", metavar="URL,URL", help=text)
    text = tr("provider of start URLs, e.g. searxng:http://HOST:8888")
    add("--discover", metavar="PROVIDER", help=text)
    add("--pages", type=positive, metavar="N", help=tr("end after N pages (default: no limit)"))
    text = tr("delete the queue of the topic first; articles are kept")
    add("--fresh", action="store_true", help=text)
    text = tr("crawl without end and revisit pages; once: visit due pages, then end")
    add("--watch", nargs="?", const="1", metavar="once", help=text)
    text = tr(
        "export the articles of the topic at the end: .xlsx, .csv, .html, .md, .jsonl, .rss ..."
    )
    add("-o", "--output", metavar="FILE", help=text)
    _add_scrapy_options(parser)
    return parser


def _add_scrapy_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of Scrapy's ``crawl``, which its own help describes.

    Those that Scrapy reads itself are passed on as they were given.
    """
    add = partial(parser.add_argument, default=[], help=argparse.SUPPRESS)
    add("-s", "--set", action="append")
    add("-a", dest="arguments", action="append")
    for names in _SCRAPY_FLAGS:
        add(*names, dest="flags", action="append_const", const=names[-1])
    for names in _SCRAPY_VALUES:
        add(*names, dest="values", action="append", type=f"{names[-1]}={{}}".format)
