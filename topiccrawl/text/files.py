"""Files of users: read regular ones of a bounded size, report mistakes without their text."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.messages import message

if TYPE_CHECKING:
    import tomllib
    from importlib.resources.abc import Traversable

    from pydantic import ValidationError

    from topiccrawl.errors import TopiccrawlError

LARGEST = 10_000_000
"""Bytes of a file that are read; a larger one is refused."""
_LINE = re.compile(r"at line (\d+)")


def read_regular(path: Path | Traversable) -> str:
    """Read a regular file of at most ``LARGEST`` bytes as UTF-8; a byte order mark is left out.

    Devices and pipes are refused before a byte is read, since they may have no end or wait.

    Raises:
        OSError: It is no regular file, too large, or unreadable; ``strerror`` says which.
        UnicodeDecodeError: It is not UTF-8.
    """
    if not isinstance(path, Path):  # inside the package, which may be zipped
        return path.read_text(encoding="utf-8-sig")
    _require_regular(path.stat())
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # it may change meanwhile
    with os.fdopen(opened, "rb") as file:
        _require_regular(os.fstat(opened))
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"is larger than {LARGEST // 1_000_000} MB")
    return data.decode("utf-8-sig")


def read_of_user(path: Path | Traversable, error: type[TopiccrawlError]) -> str:
    """Read a file that a user names, as ``read_regular``.

    Raises:
        TopiccrawlError: Of the given class: it cannot be read, or is not UTF-8.
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


def no_toml(path: Path | Traversable, error: tomllib.TOMLDecodeError) -> str:
    """Return a message with the file and the line of a mistake in TOML, without its text."""
    line = _LINE.search(str(error))
    return f"{path}: is no TOML (line {line[1]})" if line else f"{path}: is no TOML at its end"


def unusable(path: Path | Traversable, error: ValidationError) -> str:
    """Return a message with a file and the number of its mistakes, without its text."""
    return f"{path}: mistakes in {error.error_count()} fields: the log of this server shows them"
