"""Limits on the length and cost of robots.txt files, before they are stored and parsed."""

from __future__ import annotations

import logging
import re

MAX_BODY = 512_000
"""Most bytes read from a robots.txt (RFC 9309 requires at least 500 KiB)."""
MAX_PATTERNS = 1000
"""Most rules with wildcards; each request to the host is matched against all of them."""
OWN_BYTES, LINE_BYTES, STAR_BYTES = 1000, 400, 700
"""Bytes of memory of a parsed robots.txt, of each of its lines, and of each wildcard."""
# Protego logs each rule that it ignores; Scrapy lets the record be made also if none is shown
logging.getLogger("protego").setLevel(logging.INFO)
_WILDCARD = re.compile(r"[*$]")
_AGENT = re.compile(r"\s*user(?:-|\s+)?agent(?:\s*:|\s|$)([^#]*)", re.IGNORECASE)


def bounded(body: bytes) -> bytes:
    """Cut a robots.txt to ``MAX_BODY`` bytes and ``MAX_PATTERNS`` patterns; normalize its lines.

    Beyond the pattern limit, Allow rules are dropped and Disallow rules are cut before their first
    wildcard. The result may forbid more than the original, never less.
    """
    lines, patterns = [], 0
    for line in filter(str.strip, body[:MAX_BODY].decode("utf-8-sig", "replace").splitlines()):
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


def rules_for(agent: str, text: str) -> str:
    r"""Return a robots.txt without the names of the groups that do not apply to a user agent.

    The longest name that the user agent contains applies, else ``*``. Parsers ignore rules without
    a name. They store the rules of a group for each of its names: 1,000 names of 30,000 rules would
    take minutes and gigabytes.

    >>> rules_for("newsbot/1.0", "User-agent: Newsbot\nUser-agent: b\nDisallow: /")
    'User-agent: newsbot\nUser-agent:\nDisallow: /'
    """
    agent = agent.strip().lower()
    lines = text.splitlines()
    names = [found and _name(found[1]) for found in map(_AGENT.match, lines)]
    applying = (name for name in dict.fromkeys(names) if name and _applies(name, agent))
    own = max(applying, key=len, default="*")
    kept: list[str] = []
    for line, name in zip(lines, names, strict=True):
        new = line if name is None else f"User-agent: {own}" if name == own else "User-agent:"
        if name is None or kept[-1:] != [new]:
            kept.append(new)
    return "\n".join(kept)


def _name(value: str) -> str:
    name = value.strip().lower()
    return name if name == "*" else name.replace("*", "")


def _applies(name: str, agent: str) -> bool:
    """Return whether a name is ``*`` or begins a word of the user agent."""
    begins = name in agent and re.search(rf"(?<![\w-]){re.escape(name)}", agent)
    return name == "*" or bool(begins)


def memory_of(body: bytes) -> int:
    """Estimate the memory of a parsed robots.txt in bytes."""
    stars = body.count(b"*") + body.count(b"$")
    return OWN_BYTES + len(body) + LINE_BYTES * len(body.splitlines()) + STAR_BYTES * stars
