"""Lines of a frontier export, validated before they are loaded, since the file is untrusted.

Each line is a row of a known kind, whose fields have the types, ranges and sizes of its entry.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from topiccrawl.errors import StateError
from topiccrawl.frontier.entries import About, Entry, HostEntry, SeenEntry, UrlEntry

if TYPE_CHECKING:
    from collections.abc import Iterator


LONGEST_LINE = 8_000_000
"""Maximum characters of a line; the links of a page are the longest part."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


def _model(entry: type[Entry]) -> type[_Row]:
    defaults, types = entry._field_defaults, get_type_hints(entry, include_extras=True)
    fields: Any = {name: (types[name], defaults.get(name, ...)) for name in entry._fields}
    return create_model(entry.__name__, __base__=_Row, **fields)


_KINDS = {"frontier": About, "host": HostEntry, "url": UrlEntry, "seen": SeenEntry}
_NAMES = {entry: name for name, entry in _KINDS.items()}
_MODELS = {entry: _model(entry) for entry in _NAMES}


class _Kind(BaseModel):
    kind: Literal["frontier", "host", "url", "seen"]


def to_line(entry: Entry) -> str:
    r"""Return an entry as a line of JSON, without fields that have their default values.

    >>> to_line(UrlEntry("http://a.cn/", "prior", 7, 0.5))
    '{"kind": "url", "url": "http://a.cn/", "queue": "prior", "arrival": 7, "value": 0.5}\n'
    """
    defaults = entry._field_defaults
    items = entry._asdict().items()
    fields = {name: v for name, v in items if name not in defaults or v != defaults[name]}
    return json.dumps({"kind": _NAMES[type(entry)], **fields}, ensure_ascii=False) + "\n"


def entries(name: str, file: TextIO) -> Iterator[Entry]:
    """Yield the entries of an export.

    Raises:
        StateError: If a line is not a valid entry; it names the file and the line.
    """
    fields = -1
    for number, line in enumerate(_lines(name, file), 1):
        try:
            kind = _KINDS[_Kind.model_validate_json(line).kind]
            found = kind(**_MODELS[kind].model_validate_json(line).model_dump())
        except (ValidationError, RecursionError) as error:
            raise _invalid(name, number, _reason(error)) from error
        if isinstance(found, About):
            fields = len(found.fields)
        if isinstance(found, UrlEntry) and len(found.evidence) not in {0, fields}:
            raise _invalid(name, number, f"evidence: {fields} numbers are needed")
        yield found


def _lines(name: str, file: TextIO) -> Iterator[str]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise StateError(
                "{name}: a line has more than {longest_line:,} characters: export it again",
                name=name,
                longest_line=LONGEST_LINE,
            )
        yield line


def _reason(error: ValidationError | RecursionError) -> str:
    """Return the first validation error, without text of the file."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    first = error.errors(include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}"[:200] if place else first["msg"]


def _invalid(name: str, number: int, why: str) -> StateError:
    found = f"line {number}: {why}"
    return StateError(
        "{name}: not a valid frontier export ({found}); export it again", name=name, found=found
    )
