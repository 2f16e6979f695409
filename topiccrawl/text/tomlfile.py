"""TOML files of users: read them, or report every mistake with field, value and remedy."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import tomli_w

from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import message
from topiccrawl.text.files import no_toml, read_of_user, unusable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from pydantic import BaseModel, ValidationError


_BARE_KEY = re.compile(r"\s*([^\s\"'=\[\]#]+)\s*=")
_NUMBER = message("give a number")


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
    try:
        text = read_of_user(path, kind.error)
    except kind.error as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise kind.error(
            message("{path}: no such {called}; {listing}"),
            path=path,
            called=kind.called,
            listing=kind.listing,
        ) from error.__cause__
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise kind.error(
            message("{path}: is no TOML: {error}{hint}"),
            path=path,
            error=error,
            hint=_bare_key(text),
            public=no_toml(path, error),
        ) from error


def to_toml(values: BaseModel) -> str:
    """Return the text of a file with these values; what is as by default is left out."""
    return tomli_w.dumps(values.model_dump(mode="json", exclude_defaults=True))


def mistakes(
    path: Path | Traversable, error: ValidationError, kind: FileKind
) -> ConfigurationError:
    """Return one error with all of pydantic's in words, a line each."""
    found = {f"mistake{number}": _say(one, kind) for number, one in enumerate(error.errors())}
    lines = "\n".join(f"{{path}}: {{{name}}}" for name in found)
    return kind.error(lines, public=unusable(path, error), path=path, **found)


def _bare_key(text: str) -> ConfigurationError | str:
    """Return a hint for the most common mistake, a key that is not ASCII without quotes, or ""."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _BARE_KEY.match(line)
        if found and not found[1].isascii():
            return ConfigurationError(
                '; line {number}: write "{key}" in quotes before the equals sign',
                number=number,
                key=found[1],
            )
    return ""


def _say(error: Any, kind: FileKind) -> ConfigurationError:  # noqa: ANN401  (pydantic's details)
    """Return one mistake in words: field, value, remedy."""
    where = [str(part) for part in error["loc"]]
    field = ".".join(where) or message("the file")
    if error["type"] == "extra_forbidden":
        known = _fields_at(where[:-1], kind)
        if near := get_close_matches(where[-1], known, 1):
            return ConfigurationError(
                "unknown field {field}: did you mean {near}?", field=field, near=near[0]
            )
        return ConfigurationError(
            "unknown field {field}: known are {known}", field=field, known=", ".join(known)
        )
    if error["type"] == "missing":
        return ConfigurationError("field {field} is missing: add it", field=field)
    if error["type"] == "value_error":
        reason = error["ctx"]["error"].args[0]  # a message, or an error that has one
        text = message("field {field}: {reason}") if where else "{reason}"
        return ConfigurationError(text, field=field, reason=reason)
    remedies = {**_REMEDIES, **kind.remedies}
    remedy = remedies.get(error["type"], error["msg"])
    if remedy == _NUMBER:
        remedy = kind.numbers.get(where[0], message("give a number in [0, 1]"))
    return ConfigurationError(
        "field {field} is {value!r}: {remedy}", field=field, value=error["input"], remedy=remedy
    )


_REMEDIES = {
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than_equal"), _NUMBER),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), _NUMBER),
    **dict.fromkeys(
        ("date_parsing", "date_type", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        message("write a day as 2026-01-31"),
    ),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), _NUMBER),
    "string_too_short": message("write something there"),
    "tuple_type": message("write a list: [...]"),
    "string_type": message("write a text in quotes"),
    "bool_type": message("write true or false"),
    "bool_parsing": message("write true or false"),
}


def _fields_at(where: list[str], kind: FileKind) -> list[str]:
    part = kind.parts.get(where[0]) if where else kind.model
    return list(part.model_fields) if part else []
