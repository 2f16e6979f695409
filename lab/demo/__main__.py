"""``python -m lab.demo``: serve, describe, export or crawl a demo web."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from lab.demo.crawl import crawl
from lab.demo.server import DemoServer
from lab.demo.web import DEFAULT_PAGES, DEFAULT_TOPIC, Web, generate

if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return its exit status."""
    options, rest = _parser().parse_known_args(arguments)
    if rest and options.command != "crawl":
        print(f"python -m lab.demo: unknown arguments: {' '.join(rest)}", file=sys.stderr)  # noqa: T201
        return _USAGE_ERROR
    try:
        web = generate(
            options.seed,
            options.pages,
            options.topic,
            traps=not options.no_traps,
            faults=not options.no_faults,
        )
        return _run(web, options, rest)
    except (ValueError, OSError) as error:  # a port or file that cannot be had
        print(f"python -m lab.demo: {error}", file=sys.stderr)  # noqa: T201
        return _USAGE_ERROR


def _run(web: Web, options: argparse.Namespace, rest: list[str]) -> int:
    if options.command == "crawl":
        folder = options.folder / f"{options.seed}-{options.pages}"
        return crawl(web, folder, [one for one in rest if one != "--"], options.port)
    if options.command == "serve":
        _serve(web, options)
    elif options.command == "truth":
        web.write_truth(options.path)
    else:
        web.write_collection(options.path)
    return 0


def _serve(web: Web, options: argparse.Namespace) -> None:
    halt = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: halt.set())
    faults = {"latency": options.latency, "error_rate": options.error_rate}
    with DemoServer(web, options.log, options.port, seed=options.seed, **faults) as server:
        hosts = len(web.hosts)
        print(f"{options.pages} pages of {hosts} hosts, http_proxy={server.proxy}", flush=True)  # noqa: T201
        print(f"seeds: {','.join(web.seeds)}", flush=True)  # noqa: T201
        halt.wait()


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--seed", type=int, default=1, help="equal seeds give equal webs")
    shared.add_argument("--pages", type=int, default=DEFAULT_PAGES, help="size of the web")
    shared.add_argument("--topic", default=DEFAULT_TOPIC, help="subject that counts as relevant")
    shared.add_argument("--no-traps", action="store_true", help="no endless pages")
    shared.add_argument("--no-faults", action="store_true", help="no failing or slow hosts")
    shared.add_argument("--port", type=int, default=0, help="of the server; 0 takes a free one")
    parser = argparse.ArgumentParser(prog="python -m lab.demo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", parents=[shared], help="serve it as an HTTP proxy")
    serve.add_argument("--log", type=Path, help="file that gets a line a request")
    serve.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    serve.add_argument("--error-rate", type=float, default=0.0, help="share of answers that fail")
    for command, what in (("truth", "JSON lines"), ("collection", "NAME.web.jsonl.gz")):
        writer = commands.add_parser(command, parents=[shared], help=f"write it as {what}")
        writer.add_argument("path", type=Path)
    job = commands.add_parser(
        "crawl",
        parents=[shared],
        allow_abbrev=False,
        help="crawl it; further arguments go to scrapy crawl",
    )
    job.add_argument("--folder", type=Path, default=Path("data/demo"), help="state and log")
    return parser


if __name__ == "__main__":
    sys.exit(main())
