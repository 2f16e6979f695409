"""Limits on the length and matching cost of robots.txt files, before they are stored and parsed."""

from __future__ import annotations

import re

MAX_BODY = 500_000
"""Most bytes read from a robots.txt (RFC 9309 requires at least 500 KiB)."""
MAX_PATTERNS = 1000
"""Most rules with wildcards; each request to the host is matched against all of them."""
OWN_BYTES, LINE_BYTES, STAR_BYTES = 1000, 400, 700
"""Bytes of memory of a parsed robots.txt, of each of its lines, and of each wildcard."""
_WILDCARD = re.compile(r"[*$]")


def bounded(body: bytes) -> bytes:
    """Cut a robots.txt to ``MAX_BODY`` bytes and ``MAX_PATTERNS`` patterns; normalize line ends.

    Beyond the pattern limit, Allow rules are dropped and Disallow rules are cut before their first
    wildcard. The result may forbid more than the original, never less.
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
        if patterns <= MAX_PATTERNS:
            lines.append(f"{line}\n")
        elif name == "disallow":
            lines.append(f"{field}{colon} {rule[: wildcard.start()].strip() or '/'}\n")
    return "".join(lines).encode()


def memory_of(body: bytes) -> int:
    """Estimate the memory of a parsed robots.txt in bytes."""
    stars = body.count(b"*") + body.count(b"$")
    return OWN_BYTES + len(body) + LINE_BYTES * len(body.splitlines()) + STAR_BYTES * stars
