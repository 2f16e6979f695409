"""Users of tests: root passes all permissions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

UNPRIVILEGED = 65_534


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Run the block as an ordinary user if root runs the tests. Use relative paths in it."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(UNPRIVILEGED)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
