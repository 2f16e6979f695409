"""Process identity of a node, and detection of dead processes on this machine."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Return the id of this boot of the machine; "" if the system has none."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def myself() -> str:
    """Return JSON text that identifies this process."""
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
    """Return whether a process named by ``myself`` is surely dead; False for other machines.

    >>> is_dead(myself())
    False
    """
    record = json.loads(text)
    if record.get("space") != _space() or not record.get("space"):
        return False
    return bool(_began(record["pid"]) != record["began"])


def _space() -> str:
    """Return the scope in which process ids are unique: this boot and pid namespace; or ""."""
    boot, names = boot_id(), Path("/proc/self/ns/pid")
    return f"{boot}/{names.readlink()}" if boot and names.is_symlink() else ""


def _began(pid: int) -> str:
    """Return the start time of a process in kernel ticks; "" if it is missing or dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
