"""A reader's process: questions from a socket, answers into it, until it is closed.

It ends itself where a page takes more memory or processor time than it may: the operating system
enforces both also inside of a parser. The crawl sees how it ended, and starts another.
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

from topiccrawl.extract.reading import PageReader, RawPage
from topiccrawl.extract.wire import HEAD, answer, packed

RARELY = 10_000
"""New objects after which the collector of a reader looks for cyclic garbage."""
NO_MEMORY = 71
"""Exit status of a reader that ran out of memory."""
_KILOBYTE = 1 if sys.platform == "darwin" else 1024
"""Unit of ``ru_maxrss``."""

_WARM_UP = RawPage(
    "<title>一</title><p>今天上午，新能源汽车展览会在市中心开幕。</p><a href=1>二</a>".encode(),
    "http://topiccrawl.invalid/1.html",
)


def main(arguments: list[str] | None = None) -> None:
    """Answer questions: file descriptor of the socket, dotted path of the reader, limits.

    The limits are bytes of memory beyond the start, and seconds of processor time a page.
    """
    number, path, memory, seconds = arguments or sys.argv[1:]
    for ignored in (signal.SIGINT, signal.SIGTERM):  # a terminal's; the crawl closes the socket
        signal.signal(ignored, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module, _, name = path.rpartition(".")
    reader: PageReader = getattr(import_module(module), name)()
    reader.read(_WARM_UP)
    gc.freeze()
    gc.set_threshold(RARELY, *gc.get_threshold()[1:])
    _limit_memory(int(memory))
    crawl = socket.socket(fileno=int(number))  # open until the end, which it tells the crawl
    try:
        _serve(crawl, reader, float(seconds))
    except MemoryError:
        os._exit(NO_MEMORY)
    except ConnectionError:  # the crawl is gone
        return


def _serve(crawl: socket.socket, reader: PageReader, seconds: float) -> None:
    stream = crawl.makefile("rb")
    crawl.sendall(packed(None))  # it is ready
    while head := stream.read(HEAD.size):
        message = stream.read(HEAD.unpack(head)[0])
        signal.setitimer(signal.ITIMER_PROF, seconds)  # at its end SIGPROF ends the process
        found = answer(reader, message)
        signal.setitimer(signal.ITIMER_PROF, 0)
        crawl.sendall(found)


def _limit_memory(more: int) -> None:
    """Limit the address space to its present size and so much more, where the system can."""
    size = Path("/proc/self/statm")
    if size.exists():
        pages = int(size.read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def ended(pid: int) -> tuple[int, int] | None:
    """Return exit code and most bytes of memory of a child that has ended, None while it runs."""
    found, status, used = os.wait4(pid, os.WNOHANG)
    return (os.waitstatus_to_exitcode(status), used.ru_maxrss * _KILOBYTE) if found else None


def own_peak() -> int:
    """Return the most bytes of memory that this process had, where its children start from."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE


def resident(pid: int) -> int:
    """Return the bytes of memory that a process has; 0 if it has ended.

    >>> resident(os.getpid()) > 1_000_000
    True
    """
    line = ["ps", "-o", "rss=", "-p", str(pid)]
    found = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    return int(found.stdout.strip() or 0) * 1024
