"""Public surface, read from the code: commands, settings, arguments, routes, stats."""

from __future__ import annotations

import argparse
import ast
import os
import re
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scrapy.cmdline import ScrapyArgumentParser, _get_commands_dict
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings, default_settings
from scrapy.spiderloader import get_spider_loader
from typing_extensions import override

import topiccrawl
from topiccrawl.addons.dashboard.address import address_of
from topiccrawl.addons.dashboard.guard import guard_of
from topiccrawl.addons.dashboard.server import DashboardServer, contributed_routes
from topiccrawl.errors import ConfigurationError
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.scheduler.checks import OURS
from topiccrawl.scheduler.hooks import PREFIX, parameter_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = (
    "lab.demo", "lab.demo.companies", "topiccrawl.extract", "topiccrawl.addons.records.templates",
)  # fmt: skip
"""Modules that are run with ``python -m``."""
SETTINGS = "topiccrawl.settings"
_NONSENSE = "no_such_argument"
_PREFIX = "topiccrawl/"


def manifest() -> dict[str, Any]:
    """Return the names that users, operators and other programs rely on, by kind."""
    settings = Settings()
    settings.setmodule(SETTINGS, priority="project")
    return {
        "commands": dict(commands(settings)),
        "programs": {name: list(usages(name)) for name in PROGRAMS},
        "settings": dict(defaults(settings)),
        "arguments": dict(arguments(settings)),
        "routes": sorted(routes(settings)),
        "stats": sorted(set(stats())),
    }


def commands(settings: Settings) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of the project with its syntax and its options."""
    known = set(options_of(_parser_of(ScrapyCommand.add_options, _Plain(settings))))
    for name, command in _get_commands_dict(settings, inproject=True).items():
        if type(command).__module__.startswith("scrapy."):
            continue
        command.settings = settings
        parser = _parser_of(type(command).add_options, command)
        own = [line for line in options_of(parser) if line not in known]
        yield name, [command.syntax(), *own]


class _Plain(ScrapyCommand):
    """A command without own options, for the options that all commands of Scrapy share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @override
    def short_desc(self) -> str:
        return ""

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do nothing."""


def _parser_of(add_options: Any, command: ScrapyCommand) -> argparse.ArgumentParser:  # noqa: ANN401
    parser = ScrapyArgumentParser(conflict_handler="resolve")
    add_options(command, parser)
    return parser


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a line for each argument of a parser.

    >>> parser = argparse.ArgumentParser(add_help=False)
    >>> _ = parser.add_argument("--pages", type=int, default=9, metavar="N")
    >>> list(options_of(parser))
    ['--pages N = 9']
    """
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
        value = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
        words = [*action.option_strings, *([str(value)] if action.nargs != 0 else [])]
        if action.default not in (None, False, argparse.SUPPRESS, []):
            words.append(f"= {action.default}")
        yield " ".join(words)


def usages(name: str, *words: str) -> Iterator[str]:
    """Yield the usage of a module that is run, and of each of its own commands."""
    os.environ["PYTHON_COLORS"] = "0"  # Python 3.14 colours help where FORCE_COLOR is set
    output = StringIO()
    with redirect_stdout(output), suppress(SystemExit):
        import_module(f"{name}.__main__").main([*words, "-h"])
    usage = " ".join(output.getvalue().partition("\n\n")[0].split())
    yield usage.removeprefix("usage: ")
    for command in "".join(re.findall(r"\{(.+?)\} \.\.\.", usage)).split(","):
        if command:
            yield from usages(name, *words, command)


def defaults(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield the settings that the project has or changes, with their defaults."""
    known = parameter_settings(PREFIX, StrategyParameters)
    for name in sorted({*settings, *OURS}):
        if name in settings:
            value = settings[name]
            plain = value.copy_to_dict() if hasattr(value, "copy_to_dict") else value
            if not hasattr(default_settings, name) or plain != getattr(default_settings, name):
                yield name, plain
        else:
            yield name, known[name].default


def arguments(settings: Settings) -> Iterator[tuple[str, list[str]]]:
    """Yield each spider's arguments, as listed in its error for an unknown one."""
    loader = get_spider_loader(settings)
    for name in sorted(loader.list()):
        try:
            cast("Any", loader.load(name)).check_arguments(settings, **{_NONSENSE: ""})
        except ConfigurationError as error:
            yield name, str(error).partition("known are ")[2].split(", ")


def routes(settings: Settings) -> Iterator[str]:
    """Yield method and path of each route of ``scrapy dashboard``."""
    address = address_of("on")
    assert address is not None  # noqa: S101 - "on" is one
    contributed = contributed_routes(settings, cast("Any", None))
    server = DashboardServer(cast("Any", None), guard_of(settings, address), contributed)
    for route in server._app.router.routes():  # noqa: SLF001
        resource = route.resource
        if resource is not None and route.method != "HEAD":
            pattern = resource.get_info().get("pattern")
            yield f"{route.method} {pattern.pattern if pattern else resource.canonical}"


def stats() -> Iterator[str]:
    """Yield the names of stats in the code; a variable part is ``{}``."""
    for file in sorted(Path(topiccrawl.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "{}"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            if re.fullmatch(rf"{_PREFIX}[\w/{{}}.-]*[\w}}]", text):
                yield text
