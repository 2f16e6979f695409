"""Processes that read pages beside the crawl, so that no page stops it or fills its memory.

Each process answers one question after another; a few are under way to each, the rest wait here
and sites take turns by the seconds that their pages took (``extract.turns``). A process that dies
is replaced: the page that it was reading is to blame, the others are sent again. A page may take
down so many processes by a signal as ``TRIES``, since a kill from outside looks the same; any other
end is the page's own, and final.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from bisect import insort
from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from topiccrawl.errors import TopiccrawlError
from topiccrawl.extract.reading import RECENT, RawPage, ReadPage
from topiccrawl.extract.turns import Turn, Turns
from topiccrawl.extract.wire import HEAD, extraction_of, question, read_page_of
from topiccrawl.extract.worker import NO_MEMORY, ended, own_peak, resident
from topiccrawl.links.urls import host_of, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.extract.extract import Conditions, Extraction

logger = logging.getLogger(__name__)

AHEAD = 2
"""Questions under way to a process: the next one is there when it has answered."""

TRIES = 3
"""Processes that a page may take down by a signal before it is given up."""

SLOWER = 3
"""Times the seconds of processor time that a page may take in all: a reader that waits hangs."""

DEAR = 0.1
"""Seconds of a site's pages from which no question waits behind one at its process."""

STARTING = 60.0
"""Seconds that a process may take to start, besides."""

CRASH, MEMORY, TIMEOUT = "reader-crash", "reader-memory", "reader-timeout"
"""Reasons for which a page ends as an error."""

ENFORCED = sys.platform.startswith("linux")
"""The system enforces a limit of address space; elsewhere the crawl looks at the processes."""

_LAST_WORDS = 10.0
"""Seconds that a process may take to end after it closed its socket."""

_POLL = 0.02
_WATCH = 0.5
"""Seconds between two looks at the processes."""
_MOSTLY = 0.7
"""Share of the memory a page may take, from which a crash counts as a lack of memory."""
_CODE = "from topiccrawl.extract.worker import main; main()"


class ReaderError(TopiccrawlError):
    """A page that no reader can read.

    Args:
        message: The page and how its reader ended.
        reason: ``reader-memory``, ``reader-timeout`` or ``reader-crash``.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class NoReaderError(TopiccrawlError):
    """Processes that end before they can read."""


class ReaderLimits(NamedTuple):
    """Limits of one page.

    Attributes:
        memory: Bytes of address space beyond those of a started process.
        seconds: Seconds of processor time.
    """

    memory: int = 1 << 30
    seconds: float = 10.0


class Readers:
    """Pool of processes that read pages; they are started when pages come.

    Args:
        most: Most processes.
        path: Dotted path of a ``PageReader``.
        limits: Limits of one page.
        count: Called with the name of each event: ``started``, or how a process ended.
    """

    def __init__(
        self,
        most: int,
        path: str,
        limits: ReaderLimits | None = None,
        count: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._most = most
        self._path = path
        self._limits = limits or ReaderLimits()
        self._count = count
        self._processes: list[_Process] = []
        self._waiting: list[_Job] = []
        self._turns = Turns()
        self._watch: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._closed = False

    async def read(self, raw: RawPage) -> ReadPage | None:
        """Return what ``PageReader.read`` does.

        Raises:
            ReaderError: The page takes too much, or ends its reader.
            NoReaderError: No reader can be started.
        """
        return read_page_of(await self._answer(raw, None))

    async def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Return what ``PageReader.extract`` does.

        Raises:
            ReaderError: As ``read``.
        """
        return extraction_of(await self._answer(raw, asked))

    def pids(self) -> list[int]:
        """Return the numbers of the processes that run."""
        return [process.pid for process in self._processes]

    async def close(self) -> None:
        """End all processes; pages that are still read are given up."""
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        for job in (*self._waiting, *(job for one in self._processes for job in one.jobs)):
            job.answer.cancel()
        for process in self._processes:
            process.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _answer(self, raw: RawPage, asked: Conditions | None) -> bytes:
        if self._closed:
            raise ReaderError(f"{raw.url} is not read: the readers are closed", CRASH)
        # an article first, before the reader of its page has read others and forgotten it
        turn = self._turns.take(site_of(host_of(raw.url)), first=asked is not None)
        job = _Job(raw.url, question(raw, asked), turn)
        self._wait(job)
        self._feed()
        try:
            return await job.answer
        finally:
            self._turns.end(turn, job.seconds)

    def _wait(self, *jobs: _Job) -> None:
        for job in jobs:
            insort(self._waiting, job, key=attrgetter("turn.due"))

    def _feed(self) -> None:
        """Send what waits to the processes with room; start one where there is none."""
        while self._waiting:
            if self._waiting[0].answer.done():
                del self._waiting[0]
                continue
            job = self._waiting[0]
            process = min(self._processes, key=lambda one: one.load(job), default=None)
            if process is None or (process.load(job) > 0 and len(self._processes) < self._most):
                process = self._started()
            if process.load(job) >= AHEAD:
                break
            self._turns.begin(job.turn)
            process.send(self._waiting.pop(0))
        if self._watch is None and any(process.jobs for process in self._processes):
            self._watch = asyncio.get_running_loop().call_later(_WATCH, self._look)

    def _started(self) -> _Process:
        process = _Process(self._path, self._limits)
        self._processes.append(process)
        self._count("started")
        task = asyncio.get_running_loop().create_task(self._run(process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return process

    async def _run(self, process: _Process) -> None:
        """Serve a process until it has ended, then send its questions to others."""
        await process.serve(self._feed)
        self._processes.remove(process)
        if self._closed:
            return
        jobs = process.jobs
        self._failed_starts = 0 if process.ready else self._failed_starts + 1
        if jobs and process.ready:
            self._judge(jobs.popleft(), process)
        self._wait(*jobs)
        if self._failed_starts >= TRIES:
            self._give_up(f"no reader can be started: each {process.end}")
        self._feed()

    def _give_up(self, message: str) -> None:
        for job in self._waiting:
            if not job.answer.done():
                job.answer.set_exception(NoReaderError(message))
        self._waiting.clear()

    def _judge(self, job: _Job, process: _Process) -> None:
        """Try the page once more that a process was reading when it ended, or give it up."""
        job.tries += 1
        job.seconds = self._limits.seconds
        reason = process.cause
        logger.warning("A reader %s at %s", process.end, job.url)
        self._count(reason)
        if reason == CRASH and process.signalled and job.tries < TRIES:
            self._wait(job)
        elif not job.answer.done():
            message = f"{job.url} ended as {reason}: its reader {process.end}"
            job.answer.set_exception(ReaderError(message, reason))

    def _look(self) -> None:
        self._watch = None
        for process in self._processes:
            self._wait(*process.look())
        self._feed()


class _Job:
    """A question and its answer to come."""

    def __init__(self, url: str, message: bytes, turn: Turn) -> None:
        self.url = url
        self.message = message
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.tries = 0
        self.shared = False
        self.turn = turn
        self.seconds = 0.0


class _Process(asyncio.Protocol):
    """One reader's process.

    Attributes:
        jobs: Questions under way, the first one is being answered.
        cause: Reason of its end, once it has ended.
        end: How it ended, in words.
        signalled: A signal ended it.
        ready: It has started.
    """

    def __init__(self, path: str, limits: ReaderLimits) -> None:
        self.jobs: deque[_Job] = deque()
        self.cause = self.end = ""
        self.signalled = self.ready = False
        self._limits = limits
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._began = time.monotonic() + STARTING
        self._buffer = bytearray()
        self._lost = asyncio.Event()
        self._answered: Callable[[], None] = lambda: None
        self._transport: asyncio.Transport | None = None
        self._ours, theirs = socket.socketpair()
        # a process that is starting keeps what is blocked here: a terminal's Ctrl-C reaches it, too
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            with theirs:
                self._child = subprocess.Popen(  # noqa: S603 - our own code
                    [sys.executable, "-c", _CODE, str(theirs.fileno()), path, *map(str, limits)],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._child.pid

    async def serve(self, answered: Callable[[], None]) -> None:
        """Pass questions and answers until the process has ended; call after each answer."""
        self._answered = answered
        loop = asyncio.get_running_loop()
        self._ours.setblocking(False)  # noqa: FBT003
        self._transport, _ = await loop.connect_accepted_socket(lambda: self, self._ours)
        for job in self.jobs:
            self._transport.write(job.message)
        await self._lost.wait()
        await self._reap()

    def load(self, job: _Job) -> int:
        """Return how many questions are before one; -1 where the process has read its page."""
        if job.url in self._recent and not job.shared:
            return -1
        return AHEAD if any(one.turn.guess > DEAR for one in self.jobs) else len(self.jobs)

    def send(self, job: _Job) -> None:
        """Send a question."""
        if not self.jobs:
            self._began = max(self._began, time.monotonic())
        self.jobs.append(job)
        if self._transport is not None:
            self._transport.write(job.message)

    @override
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= HEAD.size:
            end = HEAD.size + HEAD.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                return
            answer = bytes(memoryview(self._buffer)[HEAD.size : end])
            del self._buffer[:end]
            began, self._began = self._began, time.monotonic()
            if not self.ready:  # it says so, once
                self.ready = True
                continue
            job = self.jobs.popleft()
            job.seconds = self._began - began
            if not job.answer.done():
                self._recent.append(job.url)
                job.answer.set_result(answer)
        self._answered()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()

    def look(self) -> list[_Job]:
        """Stop the process where its page takes too long, or too much memory.

        Returns:
            Questions behind a page that takes long: another process may answer them first.
        """
        busy = time.monotonic() - self._began if self.jobs else 0.0
        if busy > SLOWER * self._limits.seconds:
            self._stop(TIMEOUT)
        elif busy and not ENFORCED and resident(self.pid) > self._limits.memory:
            self._stop(MEMORY)
        behind = [job for job in list(self.jobs)[1:] if busy > _WATCH and not job.shared]
        for job in behind:
            job.shared = True
        return behind

    def close(self) -> None:
        """End the process: at once where it reads, else by itself."""
        if self.jobs or self._transport is None:
            self._child.kill()
        if self._transport is not None:
            self._transport.close()

    def _stop(self, cause: str) -> None:
        self.cause = cause
        self._child.kill()

    async def _reap(self) -> None:
        """Wait for the end of the process, which has closed its socket, and note the cause."""
        deadline = time.monotonic() + _LAST_WORDS
        while (found := ended(self.pid)) is None:
            await asyncio.sleep(_POLL)
            if time.monotonic() > deadline:
                self._child.kill()
        code, used = found
        self._child.returncode = code
        self.signalled = code < 0
        self.end = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        grown = used > max(_MOSTLY * self._limits.memory, own_peak())
        if code == -signal.SIGPROF:
            self.cause = TIMEOUT
        elif code == NO_MEMORY or (grown and code != -signal.SIGKILL):
            self.cause = MEMORY
        self.cause = self.cause or CRASH
