"""TOML files of users: read them, or report every mistake with field, value and remedy."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import tomli_w
from pydantic import AfterValidator

from topiccrawl.links.hosts import host_named
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical
from topiccrawl.text.files import no_toml, read_regular, unusable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from pydantic import BaseModel, ValidationError

    from topiccrawl.errors import ConfigurationError


def _canonical(seeds: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for seed in seeds:
        url = canonical(seed)
        if url is None:
            msg = f"{seed!r} is no http or https URL: write https://host/path"
            raise ValueError(msg)
        found[url] = None
    return tuple(found)


def _bare(hosts: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple(map(host_named, hosts))
    for host, name in zip(hosts, named, strict=True):
        if not name:
            msg = f"{host!r} is no host: write news.example.com, without scheme, port or path"
            raise ValueError(msg)
    return named


def _compiling(patterns: tuple[str, ...]) -> tuple[str, ...]:
    UrlRules(patterns)
    return patterns


Seeds = Annotated[tuple[str, ...], AfterValidator(_canonical)]
"""Field of URLs to begin with: made canonical, each once."""

Hosts = Annotated[tuple[str, ...], AfterValidator(_bare)]
"""Field of hosts or domains, as canonical URLs spell them."""

Patterns = Annotated[tuple[str, ...], AfterValidator(_compiling)]
"""Field of URL patterns (``links.urlrules``)."""

_BARE_KEY = re.compile(r"\s*([^\s\"'=\[\]#]+)\s*=")
_NUMBER = "give a number"


class FileKind(NamedTuple):
    """A kind of file, and the words of its error messages.

    Attributes:
        error: Class of the errors raised.
        called: Name of the kind: "topic file".
        listing: Remedy for a file that does not exist.
        model: Model of its fields.
        parts: Models of its tables, by field.
        numbers: Remedies for numbers out of range, by field.
        remedies: Remedies by pydantic's error type that replace the general ones.
    """

    error: type[ConfigurationError]
    called: str
    listing: str
    model: type[BaseModel]
    parts: Mapping[str, type[BaseModel]] = {}
    numbers: Mapping[str, str] = {}
    remedies: Mapping[str, str] = {}


def load(path: Path | Traversable, kind: FileKind) -> dict[str, Any]:
    """Return the tables of a file.

    Raises:
        ConfigurationError: Of ``kind.error``, with the file, the mistake and the remedy.
    """
    text = ""
    try:
        text = read_regular(path)
        return tomllib.loads(text)
    except FileNotFoundError as error:
        msg = f"{path}: no such {kind.called}; {kind.listing}"
        raise kind.error(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise kind.error(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: is not UTF-8 (byte {error.start}): save it as UTF-8"
        raise kind.error(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{path}: is no TOML: {error}"
        raise kind.error(msg + _bare_key(text), public=no_toml(path, error)) from error


def to_toml(values: BaseModel) -> str:
    """Return the text of a file with these values; what is as by default is left out."""
    return tomli_w.dumps(values.model_dump(mode="json", exclude_defaults=True))


def mistakes(
    path: Path | Traversable, error: ValidationError, kind: FileKind
) -> ConfigurationError:
    """Return one error with all of pydantic's in words, a line each."""
    message = "\n".join(f"{path}: {_say(one, kind)}" for one in error.errors())
    return kind.error(message, public=unusable(path, error))


def _bare_key(text: str) -> str:
    """Return a hint for the most common mistake, a key that is not ASCII without quotes, or ""."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _BARE_KEY.match(line)
        if found and not found[1].isascii():
            return f'; line {number}: write "{found[1]}" in quotes before the equals sign'
    return ""


def _say(error: Any, kind: FileKind) -> str:  # noqa: ANN401  (pydantic's error details)
    """Return one mistake in words: field, value, remedy."""
    where = [str(part) for part in error["loc"]]
    field = ".".join(where) or "the file"
    if error["type"] == "extra_forbidden":
        known = _fields_at(where[:-1], kind)
        near = get_close_matches(where[-1], known, 1)
        return f"unknown field {field}: " + (
            f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        )
    if error["type"] == "missing":
        return f"field {field} is missing: add it"
    if error["type"] == "value_error":
        message = str(error["msg"]).removeprefix("Value error, ")
        return f"field {field}: {message}" if where else message
    remedies = {**_REMEDIES, **kind.remedies}
    remedy = remedies.get(error["type"], error["msg"])
    if remedy == _NUMBER:
        remedy = kind.numbers.get(where[0], "give a number in [0, 1]")
    return f"field {field} is {error['input']!r}: {remedy}"


_REMEDIES = {
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than_equal"), _NUMBER),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), _NUMBER),
    **dict.fromkeys(
        ("date_parsing", "date_type", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        "write a day as 2026-01-31",
    ),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), _NUMBER),
    "string_too_short": "write something there",
    "tuple_type": "write a list: [...]",
    "string_type": "write a text in quotes",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
}


def _fields_at(where: list[str], kind: FileKind) -> list[str]:
    part = kind.parts.get(where[0]) if where else kind.model
    return list(part.model_fields) if part else []
