"""Texts of robots.txt files: bounded in length and work before they are stored and parsed."""

from __future__ import annotations

import re

MAX_BODY = 500_000
"""Bytes of a robots.txt that are read (RFC 9309 asks for at least 500 KiB)."""
MOST_PATTERNS = 1000
"""Rules with wildcards that are read as such: each request to the host is matched with all."""
OWN_BYTES, LINE_BYTES, STAR_BYTES = 1000, 400, 700
"""Memory of a parsed robots.txt, of each of its lines, and of each wildcard in one."""
_WILDCARD = re.compile(r"[*$]")


def bounded(body: bytes) -> bytes:
    """Return a robots.txt, cut to ``MAX_BODY``, with one kind of line end and bounded patterns.

    Of the patterns beyond the bound an allowance goes, and a prohibition holds for all that begins
    as it does up to its first wildcard: too much is forbidden then, never too little.
    """
    lines, patterns = [], 0
    for line in body[:MAX_BODY].decode("utf-8-sig", "replace").splitlines():
        field, colon, rule = line.partition(":")
        wildcard = _WILDCARD.search(rule)
        name = field.strip().lower()
        if wildcard is None or name == "user-agent":
            lines.append(f"{line}\n")
            continue
        patterns += 1
        if patterns <= MOST_PATTERNS:
            lines.append(f"{line}\n")
        elif name == "disallow":
            lines.append(f"{field}{colon} {rule[: wildcard.start()].strip() or '/'}\n")
    return "".join(lines).encode()


def memory_of(body: bytes) -> int:
    """Return the bytes that a parsed robots.txt takes, about."""
    stars = body.count(b"*") + body.count(b"$")
    return OWN_BYTES + len(body) + LINE_BYTES * len(body.splitlines()) + STAR_BYTES * stars
