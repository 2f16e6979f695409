"""``topiccrawl init DIR``: a new Scrapy project with topiccrawl in it."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import message, tr
from topiccrawl.topics.topic import Topic, resolve

if TYPE_CHECKING:
    import argparse
    from importlib.resources.abc import Traversable


SUFFIX = ".tmpl"
"""Suffix of a template's file, left out of the name of what it becomes."""

_EXAMPLE = "new-energy-vehicles"
"""Topic file of the package that a project begins with."""


class InitCommand(OperatorCommand, ScrapyCommand):
    """Create a project: scrapy.cfg, settings with the add-on, spiders, a topic, compose file."""

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
            raise UsageError(tr("name one folder: topiccrawl init DIR"))
        folder = Path(args[0])
        topic = resolve(opts.topic or _EXAMPLE)
        create(folder, topic, example=not opts.topic)
        say(
            tr("created {folder}; now:", folder=folder),
            f"  cd {folder}",
            tr("  topiccrawl crawl {word} --pages 500 -o articles.xlsx", word=_word(topic.name)),
            tr(
                "Put an address of yours into USER_AGENT ({package_of}/settings.py) first.",
                package_of=package_of(folder),
            ),
        )


def create(folder: Path, topic: Topic, *, example: bool = False) -> None:
    """Write a project into a folder that is new or empty.

    Args:
        folder: The folder.
        topic: Its first topic.
        example: The topic is the package's example, whose file is copied.

    Raises:
        ConfigurationError: The folder has files, or cannot be written.
    """
    package = package_of(folder)
    values = {
        "package": package, "name": _toml(topic.name), "first": _toml(next(iter(topic.terms))),
        "terms": "\n".join(f"{_toml(term)} = {weight:g}" for term, weight in topic.terms.items()),
        "groups": f"all_of = {_toml(topic.all_of)}\n" if topic.all_of else "",
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigurationError("{folder} is not empty: name a new folder", folder=folder)
        names = {"package": package, f"topic.toml{SUFFIX}": f"topics/{topic.slug}.toml"}
        _write(files("topiccrawl.commands") / "project", folder, names, values)
        if example:
            text = (files("topiccrawl.topics") / f"{_EXAMPLE}.toml").read_text("utf-8")
            (folder / names[f"topic.toml{SUFFIX}"]).write_text(text, "utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise ConfigurationError(
            "{folder}: cannot be written: {reason}", folder=folder, reason=reason
        ) from error


def package_of(folder: Path) -> str:
    """Return the name of a project's package, from that of its folder.

    >>> package_of(Path("my-news")), package_of(Path("新闻"))
    ('my_news', 'newsroom')
    """
    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return name if name.isidentifier() and name != "topiccrawl" else "newsroom"


def _write(
    source: Traversable, target: Path, names: dict[str, str], values: dict[str, str]
) -> None:
    for one in source.iterdir():
        path = target / names.get(one.name, one.name.removesuffix(SUFFIX))
        if one.is_dir():
            path.mkdir()
            _write(one, path, names, values)
        elif one.name.endswith(SUFFIX):
            path.parent.mkdir(exist_ok=True)
            path.write_text(Template(one.read_text("utf-8")).substitute(values), "utf-8")


def _toml(value: object) -> str:
    """Return a text, or lists of texts, as TOML has it."""
    return json.dumps(value, ensure_ascii=False)


def _word(text: str) -> str:
    """Return a word for a shell."""
    return f'"{text}"' if " " in text else text
