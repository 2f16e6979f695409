"""List the licences of all dependencies: ``python -m lab.licences [--check]``.

The packages are the installed dependencies of topiccrawl and its extras. ``--check`` exits with
status 1 if a licence is unknown or requires more than a notice.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import PackageMetadata

    from packaging.utils import NormalizedName

EXTRAS = ("js", "metrics", "parquet", "scrapyd", "warc")
"""Extras for users; those for tests and benchmarks are not distributed."""

PERMISSIVE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|ISC|PSFL?|Python Software Foundation|Unlicense|Zlib|ZPL|Zope Public|"
    r"OLDAP|CC0|CNRI|HPND|Historical Permission|MPL|Mozilla Public)\b|BSD-\d"
)
"""Names of accepted licences; MPL (certifi, tqdm) applies to changes of its own files only."""

OWN = {"topiccrawl": "MIT AND CC-BY-SA-4.0 (one file of word frequencies, see NOTICE)"}


def licence_of(about: PackageMetadata) -> str:
    """Return the licence in a package's metadata: an expression, classifiers or a line."""
    if expression := about.get_all("License-Expression"):
        return str(expression[0])
    classifiers = [str(one).split(" :: ") for one in about.get_all("Classifier") or ()]
    named = [parts[-1] for parts in classifiers if parts[0] == "License" and len(parts) > 2]  # noqa: PLR2004
    return " OR ".join(named) or str((about.get_all("License") or [""])[0]).partition("\n")[0]


def is_permissive(licence: str) -> bool:
    """Return whether one alternative of a licence has only accepted parts.

    >>> is_permissive("Apache-2.0 AND MIT"), is_permissive("GPL-2.0-only OR MIT")
    (True, True)
    >>> is_permissive("LGPL-2.1-or-later"), is_permissive("MIT AND GPL-3.0"), is_permissive("")
    (False, False, False)
    """
    return any(
        all(PERMISSIVE.search(part) for part in one.split(" AND ")) for one in licence.split(" OR ")
    )


def packages(name: str = "topiccrawl", extras: tuple[str, ...] = EXTRAS) -> dict[str, str]:
    """Return the licences of a package and its installed dependencies by name."""
    found: dict[str, str] = {}
    waiting = [(canonicalize_name(name), extras)]
    while waiting:
        one, wanted = waiting.pop()
        try:
            package = distribution(one)
        except PackageNotFoundError:
            continue
        if one not in found or wanted:
            found[one] = OWN.get(one) or licence_of(package.metadata)
            waiting += [
                need for need in _needs(package.requires or [], wanted) if need[0] not in found
            ]
    return found


def _needs(
    texts: list[str], extras: tuple[str, ...]
) -> Iterator[tuple[NormalizedName, tuple[str, ...]]]:
    for text in texts:
        need = Requirement(text)
        marks = [{"extra": extra} for extra in ("", *extras)]
        if need.marker is None or any(map(need.marker.evaluate, marks)):
            yield canonicalize_name(need.name), tuple(need.extras)


def main() -> int:
    """Print the licences; return the exit status."""
    found = packages()
    strange = [name for name, licence in found.items() if not is_permissive(licence)]
    strange = [name for name in strange if name not in OWN]
    if "--check" not in sys.argv:
        for name, licence in sorted(found.items()):
            print(f"{name:<24}{licence}")
    for name in strange:
        print(f"{name}: licence {found[name]!r} is unknown, or asks more than a notice")
    return bool("--check" in sys.argv and strange)


if __name__ == "__main__":
    sys.exit(main())
