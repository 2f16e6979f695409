"""Identity of processes, and detection of dead processes on this machine."""

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


def own_identity() -> str:
    """Return JSON text that identifies this process."""
    pid = os.getpid()
    own = {"began": _start_time(pid), "host": socket.gethostname(), "pid": pid}
    return json.dumps({**own, "space": _pid_scope()})


def is_dead(text: str) -> bool:
    """Return whether a process is surely dead; False for processes of other machines.

    >>> is_dead(own_identity())
    False
    """
    record = json.loads(text)
    if record.get("space") != _pid_scope() or not record.get("space"):
        return False
    return bool(_start_time(record["pid"]) != record["began"])


def _pid_scope() -> str:
    """Return the scope in which process ids are unique (boot id and pid namespace), or ""."""
    boot, names = boot_id(), Path("/proc/self/ns/pid")
    return f"{boot}/{names.readlink()}" if boot and names.is_symlink() else ""


def _start_time(pid: int) -> str:
    """Return the start time of a process in kernel ticks; "" if it is missing or dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
