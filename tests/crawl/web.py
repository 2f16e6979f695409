"""A small web for one test: a proxy that serves pages by URL and records all requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple, Self

from typing_extensions import override

from lab.demo.server import came
from tests.waiting import until

if TYPE_CHECKING:
    import socket


class Hit(NamedTuple):
    """One request; ``at`` is its time of arrival in seconds since the epoch."""

    at: float
    url: str
    status: int


class Answer(NamedTuple):
    """Answer to a request; ``seconds`` is the delay of its body."""

    body: str | bytes = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


Page = str | Answer | Callable[[BaseHTTPRequestHandler], Answer]


class Web:
    """Serves ``pages`` (URL to text, Answer, or a function of the request) on a free port."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = pages
        self.hits: list[Hit] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                answer = web.answer(self)
                web.hits.append(Hit(arrival(self.connection), self.path, answer.status))
                time.sleep(answer.seconds)
                body = answer.body.encode() if isinstance(answer.body, str) else answer.body
                self.send_response(answer.status)
                headers = {"Content-Type": "text/html; charset=utf-8", **dict(answer.headers)}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(
                    int(self.headers["Content-Length"])
                )  # else it is read as the next request
                self.do_GET()

            @override
            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def answer(self, handler: BaseHTTPRequestHandler) -> Answer:
        page = self.pages.get(handler.path, Answer("not found", 404))
        if callable(page):
            page = page(handler)
        return Answer(page) if isinstance(page, str) else page

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def quiet(self, seconds: float) -> None:
        """Wait until there was no request for some seconds; AssertionError if there always is."""
        until(lambda: not self.hits or time.time() - self.hits[-1].at > seconds)

    def count(self, url: str) -> int:
        """Return the number of requests of a URL."""
        return sum(hit.url == url for hit in self.hits)


def arrival(connection: socket.socket) -> float:
    """Return the arrival time of a connection's last bytes, in seconds since the epoch."""
    return time.time() - (time.monotonic() - came(connection))


def article(title: str, text: str, *links: str) -> str:
    """Return an article page with links."""
    anchors = "".join(f'<p>另见 <a href="{url}">{url}</a></p>' for url in links)
    paragraphs = "".join(f"<p>{text}第{i}段，记者在现场了解到更多情况。</p>" for i in range(6))
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"
        f"<div>{paragraphs}</div>{anchors}</body></html>"
    )
