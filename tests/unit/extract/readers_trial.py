"""Readers for tests: their pages end the reader, by URL path, or name its process."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from typing_extensions import override

from topiccrawl.extract.body import Body
from topiccrawl.extract.extract import Extraction
from topiccrawl.extract.reading import RawPage, ReadPage, StandardReader, pack

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.extract.extract import Conditions


def spins() -> None:
    while True:
        pass


def grows() -> None:
    chunks = []
    while True:
        chunks.append(bytearray(1 << 22))


def recurses() -> None:
    recurses()


def crashes_in_c() -> None:
    ctypes.string_at(0)


DEEDS: dict[str, Callable[[], object]] = {
    "spin": spins,
    "sleep": lambda: time.sleep(3600),
    "grow": grows,
    "leap": lambda: bytearray(1 << 40),
    "segfault": crashes_in_c,
    "abort": os.abort,
    "recurse": recurses,
    "exit": lambda: os._exit(3),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


class TrialReader(StandardReader):
    """Call the function of ``DEEDS`` that the last part of the path names.

    With the prefix ``late-`` it is called when the article is extracted. ``chatter`` sends two
    messages more than requested.
    """

    @override
    def read(self, raw: RawPage) -> ReadPage | None:
        self._do(raw, "")
        return super().read(raw)

    @override
    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        self._do(raw, "late-")
        return super().extract(raw, asked)

    def _do(self, raw: RawPage, when: str) -> None:
        name = urlsplit(raw.url).path.rpartition("/")[2].partition("_")[0]
        if name == "slow" and not when:
            time.sleep(0.1)
        if name == "chatter":
            os.write(int(sys.argv[1]), 2 * pack(None))
        if name.startswith(when) and (deed := DEEDS.get(name.removeprefix(when))):
            deed()


class NamedReader(StandardReader):
    """Return the process id as the encoding of a page and as the text of an article."""

    @override
    def read(self, raw: RawPage) -> ReadPage | None:
        read = super().read(raw)
        return read and read._replace(encoding=str(os.getpid()))

    @override
    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        return Extraction(body=Body(str(os.getpid())))


class UnstartableReader(StandardReader):
    """Reader that no reader process can start."""

    def __init__(self) -> None:
        if sys.argv[0] == "-c":  # a reader process
            raise RuntimeError("no reader")
