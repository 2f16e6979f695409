"""Translation of user messages with gettext catalogues (``locale/LANGUAGE/LC_MESSAGES``).

The English texts in the code are the keys of the translations. Log lines are always English, since
programs parse them and users search for them. ``escaped`` makes untrusted text safe for a terminal.
"""

from __future__ import annotations

import os
import re
from functools import cache
from gettext import GNUTranslations, bindtextdomain
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self
from unicodedata import east_asian_width

from typing_extensions import override

from topiccrawl.errors import TopiccrawlError

if TYPE_CHECKING:
    from collections.abc import Iterable

LANGUAGES = ("en", "zh")
"""Languages of messages; the first is the language of the code."""
_ENVIRONMENT = ("TOPICCRAWL_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_CATALOGUES = files("topiccrawl") / "locale"
_chosen: list[str] = []
_COUNTED = re.compile(
    r"(\{(\w+)(?::[^}]*)?\} (?:(?:new|earlier|crawled|start) )?(?:URL|[a-z]{3,}(?<!ie)))s\b"
)
"""A number and the plural that it counts, except a plural such as bodies."""
_CONTROLS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 except tab, DEL, C1: escape codes, line ends
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks
    "\u2028\u2029\ufff9-\ufffb]"  # other line separators, annotations
)


def language_named(name: str) -> str:
    """Return the language code of a locale such as ``zh_CN.UTF-8``; "" if not supported.

    >>> language_named("zh_CN.UTF-8"), language_named("zh-TW:en"), language_named("C.UTF-8")
    ('zh', 'zh', '')
    """
    start = name.lower()[:2]
    return start if start in LANGUAGES else ""


def language() -> str:
    """Return the language of messages: chosen, from the environment, or English."""
    if _chosen:
        return _chosen[0]
    named = next((value for name in _ENVIRONMENT if (value := os.environ.get(name))), "")
    return language_named(named) or LANGUAGES[0]


def choose_language(name: str) -> None:
    """Set the language of messages of this process; "" for the language of the environment."""
    found = language_named(name)
    _chosen[:] = [found] if found else []


def tr(text: str, /, **values: Any) -> str:  # noqa: ANN401 - any values
    """Return a message in the chosen language, formatted with values.

    >>> choose_language("zh"), tr("fetched, relevance {score}", score=0.5), choose_language("")
    (None, '已抓取，相关度 0.5', None)
    >>> tr("{n} terms", n=1), tr("{n} terms", n=2)
    ('1 term', '2 terms')
    """
    found = translate(text, language())
    if not values:
        return found
    return counted(found, **{name: localize(value) for name, value in values.items()})


def counted(text: str, /, **values: Any) -> str:  # noqa: ANN401 - any values
    """Return a text, formatted with values, and with the singular of what is there once.

    >>> counted("{n} records of {of} seeds", n=1, of=2)
    '1 record of 2 seeds'
    """
    found = _COUNTED.sub(lambda one: one[1] if values.get(one[2]) == 1 else one[0], text)
    return found.format(**values)


def padded(label: str, width: int) -> str:
    """Return a label, translated and padded with blanks to a number of columns of a terminal."""
    label = tr(label)
    return label + " " * (width - columns(label))


def columns(text: str) -> int:
    """Return the number of columns of a text in a terminal; a wide character takes two."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def field(label: str, text: object, width: int = 10) -> str:
    """Return an indented line of a label, translated and padded, and a text.

    >>> choose_language("zh"), field("queue", "a"), field("synonyms", "b"), choose_language("")
    (None, '  队列       a', '  同义词     b', None)
    """
    return f"  {padded(label, width)} {text}"


class Message(str):
    """Text that the catalogue translates."""

    __slots__ = ()


class NameList(str):
    """Names joined by commas, which ``tr`` and ``localize`` join as the language does.

    >>> choose_language("zh"), localize(NameList(["a", "b"])), choose_language("")
    (None, 'a、b', None)
    """

    __slots__ = ("names",)
    names: tuple[str, ...]

    def __new__(cls, names: Iterable[str]) -> Self:
        """Join names."""
        listed = super().__new__(cls, ", ".join(names := tuple(names)))
        listed.names = names
        return listed

    @override
    def __reduce__(self) -> tuple[type[Self], tuple[Iterable[str]]]:  # for copies and pickle
        return type(self), (self.names,)


def message(text: str) -> Message:
    """Mark a text for extraction and return it; ``tr`` or ``localize`` translates it later."""
    return Message(text)


def localize(value: object) -> Any:  # noqa: ANN401 - returns other values unchanged
    """Return an error, ``Message`` or ``NameList`` in the chosen language; others unchanged.

    >>> choose_language("zh")
    >>> localize(TopiccrawlError("field {field} is missing: add it", field="x"))
    '缺少字段 x：请加上'
    >>> choose_language("")
    """
    if isinstance(value, TopiccrawlError):
        return tr(value.message, **value.values)
    if isinstance(value, NameList):
        return tr(", ").join(value.names)
    return tr(value) if isinstance(value, Message) else value


def translate(text: str, to: str) -> str:
    """Return a message in a language; unchanged if the catalogue lacks it."""
    return text if to == LANGUAGES[0] else catalogue(to).gettext(text)


@cache
def catalogue(name: str) -> GNUTranslations:
    """Return the translations of a language."""
    with _CATALOGUES.joinpath(name, "LC_MESSAGES", "messages.mo").open("rb") as file:
        return GNUTranslations(file)


def translate_argparse() -> None:
    """Translate argparse's own texts, for which gettext reads the language in LANGUAGE."""
    if language() != LANGUAGES[0]:
        os.environ["LANGUAGE"] = language()
        bindtextdomain("messages", str(_CATALOGUES))


def escaped(line: str) -> str:
    r"""Return the text as one line that is safe for a terminal.

    Control characters except the tab, bidirectional marks and line separators become escapes such
    as ``\u001b``, which are equal strings in JSON.

    >>> escaped("a\x1b[2J\u202eb\n2026 INFO: c")
    'a\\u001b[2J\\u202eb\\u000a2026 INFO: c'
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
