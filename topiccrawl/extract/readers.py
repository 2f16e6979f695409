"""Pool of reader processes, so that no page can block the crawl or exhaust its memory.

Each process handles requests one at a time and has a few pipelined requests. Other requests wait in
a queue that is fair to sites by processing time (``extract.fair_queue``). A process that exits is
replaced: the page that it was reading is considered the cause, other requests are sent again. A
page is retried until ``TRIES`` processes were terminated by signals, since a signal may also come
from outside. Any other exit is final for the page.
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
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.errors import TopiccrawlError
from topiccrawl.extract import reading
from topiccrawl.extract.fair_queue import Entry, FairQueue
from topiccrawl.extract.reading import RECENT, RawPage, ReadPage
from topiccrawl.extract.worker import NO_MEMORY, STOPS, own_peak, resident, wait_result
from topiccrawl.links.urls import host_of, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.extract.extract import Conditions, Extraction
    from topiccrawl.text.measure import Vocabulary

logger = logging.getLogger(__name__)

PIPELINE = 2
"""Most pipelined requests of a process, so that it never waits for the next one."""

TRIES = 3
"""Processes terminated by signals on a page before the page fails."""

WALL_FACTOR = 3
"""Factor of the processor time limit that gives the wall-clock limit, for readers that hang."""

SLOW = 0.1
"""Estimated seconds of a page from which no request is pipelined behind it."""

MAX_RESPONSE = 1 << 27
"""Most bytes of a response, which the crawl's process decodes; the largest page has 100 MB."""

STARTING = 60.0
"""Additional seconds that a process may take to start."""

CRASH, MEMORY, TIMEOUT = "reader-crash", "reader-memory", "reader-timeout"
"""Reasons of failed pages."""

ENFORCED = sys.platform.startswith("linux")
"""The system enforces address space limits; otherwise the crawl polls the memory of processes."""

_EXIT_SECONDS = 10.0
"""Seconds that a process may take to exit after it closed its socket."""

_POLL = 0.02
_WATCH = 0.5
"""Seconds between two checks of the processes."""
_MEMORY_SHARE = 0.7
"""Share of the memory limit from which a crash counts as out of memory."""
_CODE = "from topiccrawl.extract.worker import main; main()"


class ReaderError(TopiccrawlError):
    """A page that cannot be read.

    Args:
        message: URL of the page and exit of its reader.
        reason: ``reader-memory``, ``reader-timeout`` or ``reader-crash``.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class NoReaderError(TopiccrawlError):
    """Failure to start reader processes."""


class ReaderLimits(NamedTuple):
    """Limits for one page.

    Attributes:
        memory: Bytes of address space in addition to those of a started process.
        seconds: Seconds of processor time.
    """

    memory: int = 1 << 30
    seconds: float = 10.0


class Readers:
    """Pool of reader processes, which are started on demand.

    Args:
        most: Maximum number of processes.
        path: Dotted path of a ``PageReader``.
        limits: Limits for one page.
        count: Called with the name of each event: ``started``, or the reason of an exit.
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
        self._fair_queue = FairQueue()
        self._watch: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._closed = False

    async def read(self, raw: RawPage, vocabularies: Sequence[Vocabulary] = ()) -> ReadPage | None:
        """Run ``PageReader.read`` in a reader process; measure the text for the vocabularies.

        Raises:
            ReaderError: The page exceeds the limits or crashes its reader.
            NoReaderError: No reader can be started.
        """
        return reading.read_page_of(await self._request(raw, None, vocabularies))

    async def extract(
        self, raw: RawPage, conditions: Conditions, vocabularies: Sequence[Vocabulary] = ()
    ) -> Extraction:
        """Run ``PageReader.extract`` in a reader process; measure the article's text.

        Raises:
            ReaderError: See ``read``.
        """
        return reading.extraction_of(await self._request(raw, conditions, vocabularies))

    def pids(self) -> list[int]:
        """Return the ids of the running processes."""
        return [process.pid for process in self._processes]

    async def close(self) -> None:
        """Terminate all processes; pending requests are cancelled."""
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        for job in (*self._waiting, *(job for one in self._processes for job in one.jobs)):
            job.response.cancel()
        for process in self._processes:
            process.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _request(
        self, raw: RawPage, conditions: Conditions | None, vocabularies: Sequence[Vocabulary]
    ) -> bytes:
        if self._closed:
            raise ReaderError(f"{raw.url} is not read: the reader pool is closed", CRASH)
        # extraction first, while the page is still cached in its reader
        entry = self._fair_queue.enqueue(site_of(host_of(raw.url)), first=conditions is not None)
        message = reading.pack((raw, conditions, reading.pack(vocabularies)))
        job = _Job(raw.url, message, entry, measured=bool(vocabularies))
        self._enqueue(job)
        self._dispatch()
        try:
            return await job.response
        finally:
            self._fair_queue.finish(entry, job.seconds)

    def _enqueue(self, *jobs: _Job) -> None:
        for job in jobs:
            insort(self._waiting, job, key=attrgetter("entry.finish"))

    def _dispatch(self) -> None:
        """Send waiting requests to processes with free slots; start processes if needed."""
        while self._waiting:
            if self._waiting[0].response.done():
                del self._waiting[0]
                continue
            job = self._waiting[0]
            process = min(self._processes, key=lambda one: one.load(job), default=None)
            if process is None or (process.load(job) > 0 and len(self._processes) < self._most):
                process = self._start_process(job)
            if process.load(job) >= PIPELINE:
                break
            self._fair_queue.start(job.entry)
            process.send(self._waiting.pop(0))
        if self._watch is None and any(process.jobs for process in self._processes):
            self._watch = asyncio.get_running_loop().call_later(_WATCH, self._check_processes)

    def _start_process(self, job: _Job) -> _Process:
        process = _Process(self._path, self._limits, measuring=job.measured)
        self._processes.append(process)
        self._count("started")
        task = asyncio.get_running_loop().create_task(self._run(process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return process

    async def _run(self, process: _Process) -> None:
        """Serve a process until it exits, then send its pending requests to other processes."""
        await process.serve(self._dispatch)
        self._processes.remove(process)
        if self._closed:
            return
        jobs = process.jobs
        self._failed_starts = 0 if process.ready else self._failed_starts + 1
        if jobs and process.ready:
            self._retry_or_fail(jobs.popleft(), process)
        else:
            logger.warning("A reader process %s; it was reading no page", process.exit)
        self._enqueue(*jobs)
        if self._failed_starts >= TRIES:
            self._fail_all(f"no reader process can be started: each {process.exit}")
        self._dispatch()

    def _fail_all(self, message: str) -> None:
        for job in self._waiting:
            if not job.response.done():
                job.response.set_exception(NoReaderError(message))
        self._waiting.clear()

    def _retry_or_fail(self, job: _Job, process: _Process) -> None:
        """Retry the page that a process was reading when it exited, or fail it."""
        job.tries += 1
        job.seconds = self._limits.seconds
        reason = process.cause
        logger.warning("A reader process %s while reading %s", process.exit, job.url)
        self._count(reason)
        if reason == CRASH and process.signalled and job.tries < TRIES:
            self._enqueue(job)
        elif not job.response.done():
            message = f"{job.url} failed with {reason}: its reader process {process.exit}"
            job.response.set_exception(ReaderError(message, reason))

    def _check_processes(self) -> None:
        self._watch = None
        for process in self._processes:
            self._enqueue(*process.check_limits())
        self._dispatch()


class _Job:
    """A request and its pending response."""

    def __init__(self, url: str, message: bytes, entry: Entry, *, measured: bool) -> None:
        self.url = url
        self.message = message
        self.response: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.tries = 0
        self.duplicated = False
        self.entry = entry
        self.measured = measured
        self.seconds = 0.0


class _Process:
    """One reader process.

    Attributes:
        jobs: Pending requests; the first is in progress.
        cause: Reason of its exit, or "".
        exit: Description of its exit, or "".
        signalled: Whether a signal terminated it.
        ready: Whether it has started.
    """

    def __init__(self, path: str, limits: ReaderLimits, *, measuring: bool) -> None:
        self.jobs: deque[_Job] = deque()
        self.cause = self.exit = ""
        self.signalled = self.ready = False
        self._limits = limits
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._started_at = time.monotonic() + STARTING
        self._writer: asyncio.StreamWriter | None = None
        self._ours, theirs = socket.socketpair()
        options = theirs.fileno(), path, *limits, int(measuring)
        # a new process inherits the blocked signals, so that none of these terminates it
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        try:
            with theirs:
                self._child = subprocess.Popen(  # noqa: S603 - our own code
                    [sys.executable, "-c", _CODE, *map(str, options)],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._child.pid

    async def serve(self, answered: Callable[[], None]) -> None:
        """Exchange messages until the process exits; call ``answered`` after each response."""
        stream, self._writer = await asyncio.open_unix_connection(sock=self._ours)
        for job in self.jobs:
            self._writer.write(job.message)
        try:
            while True:
                (size,) = reading.HEAD.unpack(await stream.readexactly(reading.HEAD.size))
                if size > MAX_RESPONSE:
                    self._kill(MEMORY)
                    break
                self._receive(await stream.readexactly(size))
                answered()
        except (EOFError, ConnectionError):
            pass  # it has exited
        except (LookupError, OSError):  # an answer too many, or no other process can be started
            logger.exception("A reader process is ended")
        self._writer.close()
        await self._reap()

    def load(self, job: _Job) -> int:
        """Return the number of requests before a new one; -1 if the process has the page cached."""
        if job.url in self._recent and not job.duplicated:
            return -1
        return PIPELINE if any(one.entry.estimate > SLOW for one in self.jobs) else len(self.jobs)

    def send(self, job: _Job) -> None:
        """Send a request."""
        if not self.jobs:
            self._started_at = max(self._started_at, time.monotonic())
        self.jobs.append(job)
        if self._writer is not None:
            self._writer.write(job.message)

    def _receive(self, response: bytes) -> None:
        started_at, self._started_at = self._started_at, time.monotonic()
        if not self.ready:  # the first message only reports readiness
            self.ready = True
            return
        job = self.jobs.popleft()
        job.seconds = self._started_at - started_at
        if not job.response.done():
            self._recent.append(job.url)
            job.response.set_result(response)

    def check_limits(self) -> list[_Job]:
        """Kill the process if its page exceeds the limits of time or memory.

        Returns:
            Requests behind a slow page, which are also sent to another process.
        """
        busy = time.monotonic() - self._started_at if self.jobs else 0.0
        if busy > WALL_FACTOR * self._limits.seconds:
            self._kill(TIMEOUT)
        elif busy and not ENFORCED and resident(self.pid) > self._limits.memory:
            self._kill(MEMORY)
        delayed = [job for job in list(self.jobs)[1:] if busy > _WATCH and not job.duplicated]
        for job in delayed:
            job.duplicated = True
        return delayed

    def close(self) -> None:
        """Kill the process if it is reading; otherwise close its socket, so that it exits."""
        if self.jobs or self._writer is None:
            self._kill()
        if self._writer is not None:
            self._writer.close()

    def _kill(self, cause: str = "") -> None:
        self.cause = cause or self.cause
        with suppress(ProcessLookupError):  # ended, and no status is kept, see wait_result()
            os.kill(self.pid, signal.SIGKILL)  # Popen.kill() would take it before _reap()

    async def _reap(self) -> None:
        """Wait for the exit of the process, which has closed its socket, and set the cause."""
        deadline = time.monotonic() + _EXIT_SECONDS
        while (found := wait_result(self.pid)) is None:
            await asyncio.sleep(_POLL)
            if time.monotonic() > deadline:
                self._kill()
        code, peak = found
        self._child.returncode = code
        self.signalled = code < 0
        self.exit = f"was killed by signal {-code}" if code < 0 else f"exited with status {code}"
        grown = peak > max(_MEMORY_SHARE * self._limits.memory, own_peak())
        if code == -signal.SIGPROF:
            self.cause = TIMEOUT
        elif code == NO_MEMORY or (grown and code != -signal.SIGKILL):
            self.cause = MEMORY
        self.cause = self.cause or CRASH
