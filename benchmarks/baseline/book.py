"""File of the baseline, and differences between two states of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Part = dict[str, Any]

PLACE = Path(__file__).with_name("baseline.json")
"""Parts by name; a part is a tree of dictionaries with strings, numbers and lists of strings."""

SHOWN = 200
"""Maximum number of characters of a value in a difference."""


def read(place: Path | None = None) -> dict[str, Part]:
    """Return the stored parts; none if there is no file."""
    place = PLACE if place is None else place
    if not place.exists():
        return {}
    parts: dict[str, Part] = json.loads(place.read_text(encoding="utf-8"))
    return parts


def write(parts: dict[str, Part], place: Path | None = None) -> None:
    """Store the parts with one value per line, for readable diffs."""
    text = json.dumps(parts, ensure_ascii=False, indent=1, sort_keys=True)
    (place or PLACE).write_text(text + "\n", encoding="utf-8")


def differences(stored: Any, found: Any, name: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield a line for each value that differs, named by its path.

    >>> list(differences({"a": [1], "b": 2}, {"a": [1, 3], "c": 4}, "part"))
    ['part.a: 3 is new', 'part.b: was 2, is missing', 'part.c: 4 is new']
    """
    if isinstance(stored, dict) and isinstance(found, dict):
        for key in sorted({*stored, *found}):
            where = f"{name}.{key}"
            if key not in found:
                yield f"{where}: was {_shown(stored[key])}, is missing"
            elif key not in stored:
                yield f"{where}: {_shown(found[key])} is new"
            else:
                yield from differences(stored[key], found[key], where)
    elif isinstance(stored, list) and isinstance(found, list):
        yield from (f"{name}: {_shown(one)} is missing" for one in stored if one not in found)
        yield from (f"{name}: {_shown(one)} is new" for one in found if one not in stored)
    elif stored != found:
        yield f"{name}: was {_shown(stored)}, is {_shown(found)}"


def _shown(value: Any) -> str:  # noqa: ANN401 - any JSON
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
