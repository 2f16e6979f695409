"""Lines of a frontier export, validated before they are loaded, since the file is untrusted.

Each line is a row of a known kind, whose fields have types, ranges and sizes that a frontier can
store. Stored requests are for web pages, and no row names a class or a file to be loaded.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)

from topiccrawl.errors import StateError
from topiccrawl.frontier.entries import About, Entry, HostEntry, SeenEntry, UrlEntry
from topiccrawl.frontier.queues import SIZES
from topiccrawl.frontier.seen import HEAD, LARGEST, SMALLEST
from topiccrawl.links.urls import MAX_URL, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


LONGEST_LINE = 8_000_000
"""Maximum characters of a line; the links of a page are the longest part."""
MAX_HASHES = 64
"""Maximum number of hashes of a Bloom filter; a false-positive rate of one millionth needs 20."""
_MARK = "#topiccrawl-"
_SCHEMES = ("http://", "https://")


def _page(url: str) -> str:
    """Reject values that are not URLs of web pages; a suffix marks requests that are no plain GET.

    Raises:
        ValueError: If the value is not an HTTP URL.
    """
    if not url.startswith(_SCHEMES) or canonical(url.partition(_MARK)[0]) is None:
        raise ValueError("is not an HTTP URL")
    return url


def _request(text: str) -> str:
    """Reject a stored request that is not for a web page, or names a custom class."""
    if not text:
        return text
    record = json.loads(text)
    known = record if isinstance(record, dict) else {}
    if "kept" not in known:
        _page(str(known.get("url")))
        if not str(known.get("_class", "scrapy.http.")).startswith("scrapy.http."):
            raise ValueError("names a custom class")
    return text


def _counters(numbers: dict[str, int]) -> dict[str, int]:
    """Reject counters that a frontier computes itself."""
    if any(name in SIZES or name.startswith("error/") for name in numbers):
        raise ValueError("has queue sizes")
    return numbers


def _filter(text: str) -> str:
    """Reject values that are not Bloom filters."""
    data = b64decode(text, validate=True)
    size = len(data) - HEAD.size
    if not SMALLEST <= size <= LARGEST or size & (size - 1):
        raise ValueError("is not a Bloom filter")
    _, hashes = HEAD.unpack_from(data)
    if not 0 < hashes <= MAX_HASHES:
        raise ValueError("is not a Bloom filter")
    return text


_NO_ZERO = r"^[^\x00]*$"
_Name = Annotated[str, StringConstraints(max_length=300, pattern=_NO_ZERO)]
_Text = Annotated[str, StringConstraints(max_length=1000, pattern=_NO_ZERO)]
_Group = Annotated[str, StringConstraints(max_length=MAX_URL, pattern=_NO_ZERO)]
_Robots = Annotated[str, StringConstraints(max_length=1_000_000, pattern=_NO_ZERO)]
_Host = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00-\x20/@]+$")]
_Known = Annotated[str, StringConstraints(max_length=MAX_URL + 200, pattern=r"^[^\x00-\x20]*$")]
_Url = Annotated[_Known, AfterValidator(_page)]
_Request = Annotated[str, StringConstraints(max_length=1_000_000), AfterValidator(_request)]
_Filter = Annotated[str, StringConstraints(max_length=2 * LARGEST), AfterValidator(_filter)]
_Lane = Annotated[int, Field(ge=0, le=2)]
_Byte = Annotated[int, Field(ge=0, le=255)]
_Short = Annotated[int, Field(ge=0, le=65_535)]
_Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
_Large = Annotated[int, Field(ge=0, le=2**53)]
_Number = Annotated[float, Field(ge=-1e12, le=1e12)]
_Value = Annotated[float, Field(ge=0, le=1)]
_Worth = Annotated[float, Field(ge=0, le=1e12)]
_Time = Annotated[float, Field(ge=0, le=1e11)]
"""Seconds since the epoch."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


_FIELDS: Mapping[type[Entry], Mapping[str, Any]] = {
    About: {
        **dict.fromkeys(("strategy", "owner"), _Name),
        **dict.fromkeys(("turn", "pages", "format"), _Count),
        "fields": Annotated[tuple[_Name, ...], Field(max_length=64)],
        "renewed": Annotated[int, Field(ge=-1, le=2**32 - 1)],
        "worth": _Worth,
        "counters": Annotated[dict[_Name, _Large], AfterValidator(_counters)],
    },
    HostEntry: {
        **dict.fromkeys(("fetched", "pages"), _Count),
        "name": _Host,
        "next_at": _Time,
        "delay": Annotated[float, Field(ge=-1, le=1e11)],
        "level": _Byte,
        "worth": _Worth,
        "groups": tuple[tuple[_Group, _Count, _Worth], ...],
        "units": tuple[tuple[_Url, tuple[_Group, ...]], ...],
        "robots": tuple[tuple[_Url, _Time, bool, _Robots], ...],
    },
    UrlEntry: {
        **dict.fromkeys(("value", "relevance"), _Value),
        **dict.fromkeys(("pinned", "liftable", "counted"), bool),
        **dict.fromkeys(("version", "inlinks"), _Count),
        **dict.fromkeys(("anchor", "context", "reason"), _Text),
        **dict.fromkeys(("attempts", "crashes", "redirects"), _Byte),
        "url": _Url,
        "queue": Literal["prior", "normal", "crawled", "error"],
        "arrival": Annotated[_Count, Field(ge=1)],
        "lane": _Lane,
        "evidence": Annotated[tuple[_Number, ...], Field(max_length=64)],
        "payload": _Request,
        "when": _Time,
        "depth": _Short,
        "first": _Known,
        "parents": Annotated[tuple[tuple[_Known, _Value], ...], Field(max_length=3)],
        "links": Annotated[tuple[_Known, ...], Field(max_length=100_000)],
    },
    SeenEntry: {"bucket": _Byte, "place": _Short, "filter": _Filter},
}
"""Types of the fields of each entry in a file; the defaults are those of the entry."""


def _model(entry: type[Entry]) -> type[_Row]:
    defaults, types = entry._field_defaults, _FIELDS[entry]
    fields: Any = {name: (types[name], defaults.get(name, ...)) for name in entry._fields}
    return create_model(entry.__name__, __base__=_Row, **fields)


_KINDS = {"frontier": About, "host": HostEntry, "url": UrlEntry, "seen": SeenEntry}
_NAMES = {entry: name for name, entry in _KINDS.items()}
_MODELS = {entry: _model(entry) for entry in _FIELDS}


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
