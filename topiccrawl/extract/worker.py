"""Main program of a reader process: serves requests on a socket until it is closed.

The operating system enforces the limits of memory and processor time, also inside a parser. A page
that exceeds them terminates the process. The crawl detects this and starts a new process.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from topiccrawl.extract.reading import HEAD, PageReader, RawPage, pack, respond
from topiccrawl.text.measure import Vocabulary

GC_THRESHOLD = 10_000
"""New objects after which the cyclic garbage collector of a reader runs."""
NO_MEMORY = 71
"""Exit status of a reader process that ran out of memory."""
STOPS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""Signals that stop a crawl; readers ignore them, since a whole process group may get them."""
_KILOBYTE = 1 if sys.platform == "darwin" else 1024
"""Unit of ``ru_maxrss``."""

_WARM_UP = RawPage(
    "<title>一</title><p>今天上午，新能源汽车展览会在市中心开幕。</p><a href=1>二</a>".encode(),
    "http://topiccrawl.invalid/1.html",
)


def main(arguments: list[str] | None = None) -> None:
    """Run the process with the arguments socket, reader path, memory limit, time limit, measuring.

    The socket is a file descriptor, the reader path a dotted path. The memory limit is in bytes
    beyond the memory at start. The time limit is in seconds of processor time per page. Measuring
    is 1 to load dictionary and word frequencies at the start, or 0 for pages that are only read.
    """
    number, path, memory, seconds, measuring = arguments or sys.argv[1:]
    for ignored in STOPS:  # the crawl closes the socket
        signal.signal(ignored, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module, _, name = path.rpartition(".")
    reader: PageReader = getattr(import_module(module), name)()
    vocabularies = [Vocabulary(("汽车",), (True,))] * int(measuring)
    respond(reader, pack((_WARM_UP, None, pack(vocabularies)))[HEAD.size :])
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
    _limit_memory(int(memory))
    connection = socket.socket(fileno=int(number))  # open until exit, which the crawl notices
    try:
        _serve(connection, reader, float(seconds))
    except MemoryError:
        os._exit(NO_MEMORY)
    except ConnectionError:  # the crawl has exited
        pass


def _serve(connection: socket.socket, reader: PageReader, seconds: float) -> None:
    stream = connection.makefile("rb")
    connection.sendall(pack(None))  # ready message
    while head := stream.read(HEAD.size):
        message = stream.read(HEAD.unpack(head)[0])
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF terminates the process on expiry
        found = respond(reader, message)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.sendall(found)


def _limit_memory(more: int) -> None:
    """Limit the address space to its current size plus ``more`` bytes, if supported."""
    size = Path("/proc/self/statm")
    if size.exists():
        pages = int(size.read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def wait_result(pid: int) -> tuple[int, int] | None:
    """Return exit code and peak memory in bytes of a child process, or None while it runs.

    Both are 0 if this process was started with SIGCHLD ignored: the system keeps no status then.
    """
    try:
        found, status, used = os.wait4(pid, os.WNOHANG)
    except ChildProcessError:
        return 0, 0
    return (os.waitstatus_to_exitcode(status), used.ru_maxrss * _KILOBYTE) if found else None


def own_peak() -> int:
    """Return the peak memory of this process in bytes, the baseline of its children."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has exited.

    >>> resident(os.getpid()) > 1_000_000
    True
    """
    line = ["ps", "-o", "rss=", "-p", str(pid)]
    found = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    return int(found.stdout.strip() or 0) * 1024
