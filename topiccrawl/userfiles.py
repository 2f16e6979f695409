"""Files of users: read them, or report every mistake with field, value and remedy.

Only regular files of a bounded size are read. Messages for HTTP responses have none of their text.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import tomli_w
from pydantic import BaseModel, ValidationError

from topiccrawl.errors import ConfigurationError, TopiccrawlError
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.resources.abc import Traversable

LARGEST = 10_000_000
"""Bytes of a file that are read; a larger one is refused."""
_LINE = re.compile(r"at line (\d+)")
_BARE_KEY = re.compile(r"\s*([^\s\"'=\[\]#]+)\s*=")
_NUMBER = message("give a number")


def read_regular(path: Path | Traversable) -> str:
    """Read a regular file of at most ``LARGEST`` bytes as UTF-8; a byte order mark is left out.

    Devices and pipes are refused before a byte is read, since they may have no end or wait.

    Raises:
        OSError: It is no regular file, too large, or unreadable; ``strerror`` says which.
        UnicodeDecodeError: It is not UTF-8.
    """
    if not isinstance(path, Path):  # inside the package, which may be zipped
        return path.read_text(encoding="utf-8-sig")
    _require_regular(path.stat())
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # it may change meanwhile
    with os.fdopen(opened, "rb") as file:
        _require_regular(os.fstat(opened))
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"is larger than {LARGEST // 1_000_000} MB")
    return data.decode("utf-8-sig")


def read_of_user(path: Path | Traversable, error: type[TopiccrawlError]) -> str:
    """Read a file that a user names, as ``read_regular``.

    Raises:
        TopiccrawlError: Of the given class: it cannot be read, or is not UTF-8.
    """
    try:
        return read_regular(path)
    except OSError as why:
        text = message("{path}: cannot be read: {strerror}")
        raise error(text, path=path, strerror=why.strerror) from why
    except UnicodeDecodeError as why:
        text = message("{path}: is not UTF-8 (byte {start}): save it as UTF-8")
        raise error(text, path=path, start=why.start) from why


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file")


def no_toml(path: Path | Traversable, error: tomllib.TOMLDecodeError) -> str:
    """Return a message with the file and the line of a mistake in TOML, without its text."""
    line = _LINE.search(str(error))
    return f"{path}: is no TOML (line {line[1]})" if line else f"{path}: is no TOML at its end"


def unusable(path: Path | Traversable, error: ValidationError) -> str:
    """Return a message with a file and the number of its mistakes, without its text."""
    return f"{path}: mistakes in {error.error_count()} fields: the log of this server shows them"


M = TypeVar("M", bound=BaseModel)


class FileKind(NamedTuple, Generic[M]):
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
    model: type[M]
    parts: Mapping[str, type[BaseModel]] = {}
    numbers: Mapping[str, str] = {}
    remedies: Mapping[str, str] = {}


def read_model(path: Path | Traversable, kind: FileKind[M], **values: Any) -> M:  # noqa: ANN401
    """Return the content of a file; ``values`` are those of fields that it does not give.

    Raises:
        ConfigurationError: Of ``kind.error``, with every mistake, each with field, value and
            remedy.
    """
    values |= load(path, kind)
    try:
        return kind.model.model_validate(values)
    except ValidationError as error:
        raise mistakes(path, error, kind) from error


def own_name(path: Path | Traversable, kind: FileKind[M]) -> str | None:
    """Return the ``name`` in a file; None if it has none or cannot be read."""
    try:
        return load(path, kind).get("name")
    except kind.error:
        return None


def named(folder: Path, shipped: Iterable[Traversable]) -> Iterator[tuple[str, Path | Traversable]]:
    """Yield name and place of the files of a folder, then of those that ship with us."""
    for place in (*sorted(folder.glob("*.toml")), *sorted(shipped, key=lambda one: one.name)):
        yield place.name.removesuffix(".toml"), place


def load(path: Path | Traversable, kind: FileKind[M]) -> dict[str, Any]:
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
    path: Path | Traversable, error: ValidationError, kind: FileKind[M]
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


def _say(error: Any, kind: FileKind[M]) -> ConfigurationError:  # noqa: ANN401  (pydantic's details)
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
        reason = error["ctx"]["error"]
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


def _fields_at(where: list[str], kind: FileKind[M]) -> list[str]:
    part = kind.parts.get(where[0]) if where else kind.model
    return list(part.model_fields) if part else []
