"""``topiccrawl init DIR``: create a Scrapy project with topiccrawl."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from shlex import quote
from string import Template
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.messages import message, tr
from topiccrawl.topics.topic import Topic, resolve
from topiccrawl.userfiles import to_toml

if TYPE_CHECKING:
    import argparse
    from importlib.resources.abc import Traversable


SUFFIX = ".tmpl"
"""Suffix of template files, removed from the names of the created files."""

COMMENT = re.compile(r'(?<=# )(?!\w+ = )[^#\n]+$|(?<=^""").+(?="""$)', re.MULTILINE)
"""Comments of template files, which are messages of the catalogue; not settings behind a #."""

_EXAMPLE = "new-energy-vehicles"
"""Topic file of the package that is the default topic of a project."""

_FOLDERS = {"data", "topics"}
"""Other folders of a project."""


class InitCommand(OperatorCommand, ScrapyCommand):
    """Create a project: scrapy.cfg, settings with the add-on, spiders, a topic, a compose file."""

    usage = "DIR [--topic WORDS]"
    summary = message("Create a project: topic file, settings, compose file")

    requires_project = False

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--topic", metavar="WORDS", help=tr("first topic (default: an example)")
        )

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError(tr("give one folder: topiccrawl init DIR"))
        folder = Path(args[0])
        topic = resolve(opts.topic or _EXAMPLE)
        create(folder, topic, example=not opts.topic)
        say(
            tr("created {folder}; now:", folder=folder),
            f"  cd {_word(re.sub('^-', './-', str(folder)))}",
            tr("  topiccrawl crawl {word} --pages 500 -o articles.xlsx", word=_word(topic.name)),
            tr(
                "First add your contact address to USER_AGENT in {package_of}/settings.py.",
                package_of=package_of(folder),
            ),
        )


def create(folder: Path, topic: Topic, *, example: bool = False) -> None:
    """Write a project into a new or empty folder.

    Args:
        folder: The folder.
        topic: Topic of the project.
        example: Whether the topic is the example of the package, whose file is copied.

    Raises:
        ConfigurationError: If the folder has files, or cannot be written.
    """
    package = package_of(folder)
    values = {
        "package": package, "name": _toml(topic.name), "first": _toml(next(iter(topic.terms))),
        "topic": to_toml(topic).rstrip(),
    }  # fmt: skip
    failed = message("{folder}: cannot be written: {strerror}")
    with translated(ConfigurationError, failed, folder=folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigurationError("{folder} is not empty: choose a new folder", folder=folder)
        names = {"package": package, f"topic.toml{SUFFIX}": f"topics/{topic.slug}.toml"}
        _write(files("topiccrawl.commands") / "project", folder, names, values)
        if example:
            text = (files("topiccrawl.topics") / f"{_EXAMPLE}.toml").read_text("utf-8")
            (folder / names[f"topic.toml{SUFFIX}"]).write_text(text, "utf-8")


def package_of(folder: Path) -> str:
    """Return the package name of a project: that of its folder, unless it is taken or no name.

    >>> package_of(Path("my-news")), package_of(Path("新闻")), package_of(Path("scrapy"))
    ('my_news', 'newsroom', 'newsroom')
    """
    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    if not name.isidentifier() or iskeyword(name) or name in _FOLDERS:
        return "newsroom"
    known = find_spec(name)
    return name if known is None or known.origin is None else "newsroom"  # None: only a folder


def _write(
    source: Traversable, target: Path, names: dict[str, str], values: dict[str, str]
) -> None:
    """Write the files of template files, which may be in a zip file."""
    for one in source.iterdir():
        path = target / names.get(one.name, one.name.removesuffix(SUFFIX))
        if one.is_dir():
            path.mkdir()
            _write(one, path, names, values)
        elif one.name.endswith(SUFFIX):
            path.parent.mkdir(exist_ok=True)
            text = COMMENT.sub(lambda found: tr(found[0]), one.read_text("utf-8"))
            path.write_text(Template(text).substitute(values), "utf-8")


def _toml(value: str) -> str:
    """Return a string in TOML syntax."""
    return json.dumps(value, ensure_ascii=False)


def _word(text: str) -> str:
    """Quote a shell argument if it has characters that a shell interprets."""
    return quote(text) if re.search(r"[^\w./+-]", text) else text
