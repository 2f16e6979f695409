"""Escapes for control characters that act on a terminal or hide text."""

from __future__ import annotations

import re

_COMMANDS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 but for the tab, DEL, C1: escape codes, new lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the order of letters round
    "\u2028\u2029\ufff9-\ufffb]"  # other ends of lines, annotations
)


def escaped(line: str) -> str:
    r"""Return one line of text that a terminal shows as it is.

    Control characters except the tab, bidirectional marks and line separators become escapes such
    as ``\u001b``: in JSON text that is the same string.

    >>> escaped("a\x1b[2J\u202eb\n2026 INFO: c")
    'a\\u001b[2J\\u202eb\\u000a2026 INFO: c'
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
