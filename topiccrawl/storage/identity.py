"""Which process a node is: told to the others, and whether one of this machine is dead."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The same until the machine starts again; "" where the system names no boot."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def myself() -> str:
    """JSON text that names this process as long as it lives."""
    return json.dumps(
        {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "space": _space(),
            "began": _began(os.getpid()),
        },
        sort_keys=True,
    )


def is_dead(text: str) -> bool:
    """Whether a process named by ``myself`` is known to be dead; False for other machines.

    >>> is_dead(myself())
    False
    """
    told = json.loads(text)
    if told.get("space") != _space() or not told.get("space"):
        return False
    return bool(_began(told["pid"]) != told["began"])


def _space() -> str:
    """Where process numbers mean the same: this boot of the machine, this name space."""
    boot, names = boot_id(), Path("/proc/self/ns/pid")
    return f"{boot}/{names.readlink()}" if boot and names.is_symlink() else ""


def _began(pid: int) -> str:
    """When a process began, in the kernel's ticks; "" where there is none, or a dead one."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
