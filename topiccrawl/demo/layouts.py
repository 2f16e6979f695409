"""Page layouts, read from the package's ``layouts.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from string import Template
from typing import NamedTuple


class Layout(NamedTuple):
    """Templates of a layout: the whole page and its parts."""

    name: str
    page: Template
    block: Template
    item: Template
    row: Template
    article: Template
    paragraph: Template


@cache
def layouts() -> dict[str, Layout]:
    """Return all layouts by name."""
    text = files("topiccrawl.demo").joinpath("layouts.toml").read_text(encoding="utf-8")
    return {
        name: Layout(name, **{part: Template(source) for part, source in parts.items()})
        for name, parts in tomllib.loads(text).items()
    }
