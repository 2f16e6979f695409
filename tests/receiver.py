"""Webhook receiver for tests: a real server that fails, delays and stops on demand."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "a secret of more than sixteen bytes"  # noqa: S105 - of tests alone


def genuine(headers: Any, body: bytes, now: float) -> bool:
    """Return whether a message is recent and signed with the secret, as in docs/webhook.md."""
    message_id, stamp = headers["webhook-id"], headers["webhook-timestamp"]
    signed = f"{message_id}.{stamp}.".encode() + body
    expected = base64.b64encode(hmac.digest(SECRET.encode(), signed, "sha256")).decode()
    signatures = [one.partition(",")[2] for one in headers["webhook-signature"].split()]
    fresh = abs(now - int(stamp)) < 300
    return fresh and any(hmac.compare_digest(expected, one) for one in signatures)


class Listener:
    """Receives messages on a port that it keeps while it is stopped.

    Args:
        answer: Status for the message about an article's URL; 200 by default.
    """

    def __init__(self, answer: Callable[[str], int] = lambda _: 200) -> None:
        self.answer = answer
        self.gate = threading.Event()
        self.gate.set()
        self.taken: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.bodies: dict[str, str] = {}
        self.names: dict[str, set[str]] = {}
        self.forged = 0
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/news?from=crawl"

    def start(self) -> None:
        listener = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = listener.take(self.headers, body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            @override
            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def take(self, headers: Any, body: bytes) -> int:
        self.gate.wait(PATIENCE)  # a slow answer waits here
        about = json.loads(body)["data"]
        url = about["url"]
        self.forged += not genuine(headers, body, time.time())
        self.asked[url] += 1
        self.names.setdefault(url, set()).add(headers["webhook-id"])
        status = self.answer(url)
        if status < 300:
            self.taken[url] += 1
            self.bodies[url] = about["body"]
        return status

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
