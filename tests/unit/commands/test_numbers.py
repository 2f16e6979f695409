"""Tests of numbers on the command line: all commands refuse negative ones."""

from __future__ import annotations

import argparse

import pytest
from scrapy.cmdline import _get_commands_dict
from scrapy.utils.project import get_project_settings

OPTIONS = [
    ("articles", "--limit"),
    ("records", "--limit"),
    ("frontier", "-n"),
    ("tasks", "--pages"),
    ("tasks", "--site-pages"),
    ("tasks", "--depth"),
    ("work", "--sites"),
    ("simulate", "--budget"),
    ("simulate", "--batch"),
]


def parser_of(name: str) -> argparse.ArgumentParser:
    settings = get_project_settings()
    command = _get_commands_dict(settings, inproject=True)[name]
    command.settings = settings
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    return parser


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_invalid_count_is_refused_with_a_message(
    name: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = parser_of(name)
    parser.parse_args([option, "7"])
    for value in ("-1", "1.5", "", "1e3", "٣"):
        with pytest.raises(SystemExit):
            parser.parse_args([option, value])
        last = capsys.readouterr().err.splitlines()[-1]
        assert option in last
        assert "give a whole number" in last


def test_no_option_has_the_type_int() -> None:
    names = {name for name, _ in OPTIONS}
    types = {action.type for name in names for action in parser_of(name)._actions}
    assert int not in types
