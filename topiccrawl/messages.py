"""Messages to people in their language, from one gettext catalogue (``locale/LANGUAGE.mo``).

English is in the code and is the key of each translation. Log lines stay English: programs read
them, and search engines find them. ``escaped`` makes a line of foreign text harmless on a terminal.
"""

from __future__ import annotations

import os
import re
from functools import cache
from gettext import GNUTranslations
from importlib.resources import files
from typing import Any

from topiccrawl.errors import TopiccrawlError

LANGUAGES = ("en", "zh")
"""Languages that messages are written in; the first is that of the code."""
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_chosen: list[str] = []
_COMMANDS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 but for the tab, DEL, C1: escape codes, new lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the order of letters round
    "\u2028\u2029\ufff9-\ufffb]"  # other ends of lines, annotations
)


def language_named(name: str) -> str:
    """Return the language that a name such as ``zh_CN.UTF-8`` means; "" for one we do not speak.

    >>> language_named("zh_CN.UTF-8"), language_named("zh-TW:en"), language_named("C.UTF-8")
    ('zh', 'zh', '')
    """
    start = name.lower()[:2]
    return start if start in LANGUAGES else ""


def language() -> str:
    """Return the language of messages: the chosen one, else that of the environment, else en."""
    if _chosen:
        return _chosen[0]
    named = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    return language_named(named) or LANGUAGES[0]


def choose_language(name: str) -> None:
    """Write messages of this process in a language; "" in that of the environment."""
    found = language_named(name)
    _chosen[:] = [found] if found else []


def tr(text: str, /, **values: Any) -> str:  # noqa: ANN401 - whatever is formatted
    """Return a message in the chosen language, with values filled in.

    >>> choose_language("zh"), tr("fetched, relevance {score}", score=0.5), choose_language("")
    (None, '已抓取，相关度 0.5', None)
    """
    found = translated(text, language())
    return found.format(**values) if values else found


class Message(str):
    """A text that the catalogue has."""

    __slots__ = ()


def message(text: str) -> Message:
    """Mark a text as one that the catalogue has, and return it; ``tr`` translates it later."""
    return Message(text)


def said(value: object) -> Any:  # noqa: ANN401 - what is no message stays as it is
    """Return an error's message in the chosen language; a ``Message`` likewise.

    >>> choose_language("zh"), said(TopiccrawlError("field {field} is missing: add it", field="x"))
    (None, '缺少字段 x：请加上')
    >>> choose_language("")
    """
    if isinstance(value, TopiccrawlError):
        return tr(value.message, **{name: said(one) for name, one in value.values.items()})
    return tr(value) if isinstance(value, Message) else value


def translated(text: str, to: str) -> str:
    """Return a message in a language; as it is where the catalogue lacks it."""
    return text if to == LANGUAGES[0] else catalogue(to).gettext(text)


@cache
def catalogue(name: str) -> GNUTranslations:
    """Return the translations into a language."""
    with files("topiccrawl").joinpath("locale", f"{name}.mo").open("rb") as file:
        return GNUTranslations(file)


def escaped(line: str) -> str:
    r"""Return one line of text that a terminal shows as it is.

    Control characters except the tab, bidirectional marks and line separators become escapes such
    as ``\u001b``: in JSON text that is the same string.

    >>> escaped("a\x1b[2J\u202eb\n2026 INFO: c")
    'a\\u001b[2J\\u202eb\\u000a2026 INFO: c'
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
