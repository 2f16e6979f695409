"""Reading of user files; error messages have all errors with field, value and remedy.

Only regular files of limited size are read. Messages for HTTP responses have no text of the file.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from contextlib import suppress
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import tomli_w
from pydantic import BaseModel, ValidationError

from topiccrawl.errors import ConfigurationError, TopiccrawlError
from topiccrawl.messages import NameList, counted, message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.resources.abc import Traversable

MAX_BYTES = 10_000_000
"""Maximum size of a file in bytes; larger files are rejected."""
_LINE = re.compile(r"at line (\d+)")
_BARE_KEY = re.compile(r"\s*([^\s\"'=\[\]#]+)\s*=")
_FULL_WIDTH = re.compile(r"[=\[,，]\s*[“”‘’＂「]|\"\s*[，、]|＝|［")
_STRING = re.compile(r"""(["']).*?\1""")
_NUMBER = message("give a number")


def read_regular(path: Path | Traversable) -> str:
    """Read a regular file of at most ``MAX_BYTES`` bytes as UTF-8, without byte order mark.

    Devices and pipes are rejected before reading, since reads may block or never end.

    Raises:
        OSError: It is not a regular file, too large, or unreadable; ``strerror`` has the reason.
        UnicodeDecodeError: It is not UTF-8.
    """
    if not isinstance(path, Path):  # a file of the package, which may be zipped
        return path.read_text(encoding="utf-8-sig")
    _require_regular(path.stat())
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # the path may change
    with os.fdopen(opened, "rb") as file:
        _require_regular(os.fstat(opened))
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {MAX_BYTES // 1_000_000} MB")
    return data.decode("utf-8-sig")


def read_user_file(path: Path | Traversable, error: type[TopiccrawlError]) -> str:
    """Read a file given by the user; see ``read_regular``.

    Raises:
        TopiccrawlError: It cannot be read, or is not UTF-8; an instance of ``error``.
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


M = TypeVar("M", bound=BaseModel)


class FileKind(NamedTuple, Generic[M]):
    """Kind of a user file, with parts of its error messages.

    Attributes:
        error: Class of raised errors.
        called: Name of the kind, such as "topic file".
        listing: Remedy for a missing file.
        model: Pydantic model of the file.
        parts: Models of nested tables, by field.
        numbers: Remedies for numbers out of range, by field.
        remedies: Remedies by error type of pydantic, which override the general ones.
    """

    error: type[ConfigurationError]
    called: str
    listing: str
    model: type[M]
    parts: Mapping[str, type[BaseModel]] = {}
    numbers: Mapping[str, str] = {}
    remedies: Mapping[str, str] = {}


def read_model(path: Path | Traversable, kind: FileKind[M], **values: Any) -> M:  # noqa: ANN401
    """Return the validated content of a file; ``values`` are defaults of its fields.

    Raises:
        ConfigurationError: The file is invalid; the message has all errors, each with field, value
            and remedy.
    """
    values |= load(path, kind)
    try:
        return kind.model.model_validate(values)
    except ValidationError as error:
        found = describe_errors(error, kind)
        lines = "\n".join(f"{{path}}: {{{name}}}" for name in found)
        public = (
            f"{path}: {counted('errors in {n} fields', n=len(found))}: see the log of this server"
        )
        raise kind.error(lines, public=public, path=path, **found) from error


def read_name(path: Path | Traversable, kind: FileKind[M]) -> str | None:
    """Return the field ``name`` of a file; None if it is missing or the file is unreadable."""
    try:
        return load(path, kind).get("name")
    except kind.error:
        return None


def list_files(
    folder: Path, shipped: Iterable[Traversable]
) -> Iterator[tuple[str, Path | Traversable]]:
    """Yield names and paths of the files of a folder, of its copy in an egg, and ``shipped``."""
    for found in (folder.glob("*.toml"), _deployed(folder.name), shipped):
        for place in sorted(found, key=lambda one: one.name):
            yield place.name.removesuffix(".toml"), place


def _deployed(name: str) -> list[Traversable]:
    """Return the files of a folder that the project's package has, as in an egg for scrapyd."""
    package = os.environ.get("SCRAPY_SETTINGS_MODULE", "").partition(".")[0]
    if package in {"", __package__}:
        return []
    # TypeError: a module, not a package; ValueError: an egg without the folder
    with suppress(ImportError, OSError, TypeError, ValueError):
        return [one for one in (files(package) / name).iterdir() if one.name.endswith(".toml")]
    return []


def load(path: Path | Traversable, kind: FileKind[M]) -> dict[str, Any]:
    """Return the parsed TOML of a file.

    Raises:
        ConfigurationError: The file is missing, unreadable or not TOML.
    """
    try:
        text = read_user_file(path, kind.error)
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
        line = _LINE.search(str(error))
        place = f"(line {line[1]})" if line else "at its end"
        raise kind.error(
            message("{path}: invalid TOML: {error}{hint}"),
            path=path,
            error=error,
            hint=_hint(text, int(line[1]) if line else 0),
            public=f"{path}: invalid TOML {place}",
        ) from error


def to_toml(values: BaseModel) -> str:
    """Return values as TOML, without defaults."""
    return tomli_w.dumps(values.model_dump(mode="json", exclude_defaults=True))


def _hint(text: str, at: int) -> ConfigurationError | str:
    """Return a hint for full-width punctuation or an unquoted key that is not ASCII, or ""."""
    for number, line in enumerate(text.splitlines(), 1):
        code = _STRING.sub('""', line).partition("#")[0]
        if number == at and (sign := _FULL_WIDTH.search(code)):
            return ConfigurationError(
                '; line {number}: {sign!r}: write the half-width signs = [ ] " and ,',
                number=number,
                sign=sign[0][-1],
            )
        found = _BARE_KEY.match(line)
        if found and not found[1].isascii():
            return ConfigurationError(
                '; line {number}: write "{key}" in quotes before the equals sign',
                number=number,
                key=found[1],
            )
    return ""


def describe_errors(error: ValidationError, kind: FileKind[M]) -> dict[str, Any]:
    """Return all errors, each with field, value and remedy, by the name of a placeholder."""
    return {f"mistake{n}": _describe(one, kind) for n, one in enumerate(error.errors())}


def _describe(error: Any, kind: FileKind[M]) -> ConfigurationError:  # noqa: ANN401  (pydantic's details)
    """Return one error with field, value and remedy."""
    where = [str(part) for part in error["loc"]]
    field = ".".join(where) or message("the file")
    if error["type"] == "extra_forbidden":
        known = _fields_at(where[:-1], kind)
        if close := get_close_matches(where[-1], known, 1):
            return ConfigurationError(
                "unknown field {field}: did you mean {near}?", field=field, near=close[0]
            )
        return ConfigurationError(
            "unknown field {field}: known are {known}", field=field, known=NameList(known)
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
        message("write a date as 2026-01-31"),
    ),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), _NUMBER),
    "string_too_short": message("write a non-empty text"),
    "tuple_type": message("write a list: [...]"),
    "string_type": message("write a text in quotes"),
    "bool_type": message("write true or false"),
    "bool_parsing": message("write true or false"),
}


def _fields_at(where: list[str], kind: FileKind[M]) -> list[str]:
    part = kind.parts.get(where[0]) if where else kind.model
    return list(part.model_fields) if part else []
