"""MongoDB server for tests: that of MONGODB_TEST_URI, or a new process.

The process is a wire-compatible server, which is neither linked nor shipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import xxhash
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.crawl.run import MEASURED
from tests.ports import free_port
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = "from secantus.cli import main; main()"


class MongoServer:
    """A server on a free port whose data outlives its process.

    Args:
        folder: Folder of its data.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """URI of the server."""
        return f"mongodb://127.0.0.1:{self.port}/?directConnection=true"

    def start(self, *options: str) -> None:
        """Start the server on its data, and wait until it answers."""
        if sys.version_info >= (3, 14) and find_spec("secantus") is None:
            pytest.skip("secantusdb has no wheel for this Python: set MONGODB_TEST_URI")
        command = [sys.executable, "-c", SERVER, "--port", str(self.port)]
        command += ["--storage-path", str(self.folder), "--log-level", "ERROR", *options]
        unmeasured = {name: value for name, value in os.environ.items() if name != MEASURED}
        self.process = subprocess.Popen(
            command, env=unmeasured, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            until(self._answers, lambda: "the MongoDB test server does not start")
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """``kill -9``: nothing is flushed, and no client is notified."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        with MongoClient[dict[str, object]](self.uri, serverSelectionTimeoutMS=1000) as client:
            try:
                client.admin.command("ping")
            except PyMongoError:
                return False
            return True


@contextmanager
def running() -> Iterator[str]:
    """URI of a server for a test run; each test uses its own database."""
    if named := os.environ.get("MONGODB_TEST_URI"):
        yield named
        return
    with tempfile.TemporaryDirectory() as folder:
        server = MongoServer(Path(folder))
        server.start()
        try:
            yield server.uri
        finally:
            server.kill()


def database_uri(uri: str, folder: Path) -> str:
    """URI of the database that replaces a folder."""
    host, _, options = uri.partition("/?")
    name = xxhash.xxh64_hexdigest(str(folder).encode())
    return f"{host.rstrip('/')}/test_{name}" + (f"?{options}" if options else "")
