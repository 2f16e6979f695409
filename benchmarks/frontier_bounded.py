"""Costs and savings of a bound on recorded URLs: the same crawl without and with one, its filters.

    python -m benchmarks.frontier_bounded [--urls 1000000] [--known 100000] [--keys 2000000]

A popped page adds 50 links, 60 % of them old; 9 of 10 new ones are predicted to be low. RAM
is anonymous, beyond that of an empty process. ``filter``: keys of evicted records, as many as long
crawls have: bytes, the share of false positives, and the time of a lookup.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from typing_extensions import override

from benchmarks.frontier import (
    RUDE,
    Figure,
    Run,
    allocated,
    anonymous_bytes,
    measure,
    percentile,
    shown,
)
from benchmarks.frontier_web import ANCHOR, CONTEXT, Largest, Web
from benchmarks.output import command_line, show
from topiccrawl.frontier.contract import Limits
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.seen import NAME, Seen
from topiccrawl.frontier.store import Store
from topiccrawl.model import Offer

HOSTS = 500
GOOD = 0.9
RECENT = 20_000
ERROR = 0.001
ASKED = 1_000_000


class Choosy(Largest):
    """A strategy that queues one link of ten."""

    @override
    def lane(self, evidence: tuple[float, ...]) -> int:
        """Queue links with good anchors; reject all others."""
        return 1 if evidence[1] > GOOD else 2


class Late(Web):
    """Half of the links to old pages lead to recent ones."""

    @override
    def offer(self, number: int) -> Offer:
        """An offer with the evidence of its number."""
        chance = number * 2_654_435_761 % 1000 / 1000
        return Offer(self.url(number), 2, (0.5, chance, chance, 1.0), ANCHOR, CONTEXT)

    @override
    def page(self, share: float = 0.6) -> list[Offer]:
        """Links of one page: some new, most offered before."""
        first, self.made = self.made, self.made + 20
        recent = [self.rng.randrange(max(0, first - RECENT), first + 1) for _ in range(15)]
        others = [self.rng.randrange(first + 1) for _ in range(15)]
        return [self.offer(number) for number in (*range(first, self.made), *recent, *others)]


def crawl(folder: Path, urls: int, known: int) -> list[Figure]:
    """Crawl until ``urls`` URLs were offered."""
    before = anonymous_bytes()
    limits = Limits(max_known=known, seen_error=ERROR)
    run = Run(EmbeddedFrontier(folder, Choosy(), RUDE, limits), Late(HOSTS))
    run.push(HOSTS)
    half: list[int] = []
    while run.web.made < urls:
        run.page(run.web.page())
        if not half and run.web.made >= urls // 2:
            half = [anonymous_bytes() - before, allocated(folder)]
    counts, name = run.frontier.counts(), "bounded" if known else "unbounded"
    figures = [
        Figure(f"{name}_links_cpu", run.links / run.cpu, "links/s"),
        Figure(f"{name}_stall_p99_ms", percentile(run.stalls, 0.99), "ms"),
        Figure(f"{name}_stall_max_ms", percentile(run.stalls, 1.0), "ms"),
        Figure(f"{name}_known", counts["known"], "URLs"),
        Figure(f"{name}_pages", len(run.pops), "pages"),
        Figure(f"{name}_ram_half_way", half[0] / 1e6, "MB"),
        Figure(f"{name}_disk_half_way", half[1] / 1e6, "MB"),
        Figure(f"{name}_ram", (anonymous_bytes() - before) / 1e6, "MB"),
    ]
    run.frontier.close()
    return [*figures, Figure(f"{name}_disk", allocated(folder) / 1e6, "MB")]


def filters(folder: Path, keys: int, _: int) -> list[Figure]:
    """Filters of ``keys`` keys, filled as by a crawl."""
    rng = random.Random(1)  # noqa: S311 - not for secrets
    store = Store(folder, sync="never")
    seen = Seen(store, ERROR)
    start = time.process_time()
    for at in range(0, keys, 500):
        bucket = at // 500 % 256
        seen.add(bucket, [bytes([bucket]) + rng.randbytes(11) for _ in range(500)])
        if at % 50_000 == 0:
            store.commit()
    middle = time.process_time()
    others = [rng.randbytes(12) for _ in range(ASKED)]
    asked = time.process_time()
    found = sum(key in seen for key in others)
    end = time.process_time()
    kept = [data for _, data in store.items("seen")]
    longest = max(NAME.unpack(name)[1] for name, _ in store.items("seen")) + 1
    store.close()
    return [
        Figure("filter_bytes_key", sum(map(len, kept)) / keys, "bytes"),
        Figure("filter_error", 1000 * found / ASKED, "of 1,000"),
        Figure("filter_chain", longest, "filters"),
        Figure("filter_add_us", 1e6 * (middle - start) / keys, "us"),
        Figure("filter_ask_us", 1e6 * (end - asked) / ASKED, "us"),
    ]


def main() -> None:
    """Command line."""
    parser = command_line(__doc__, urls=1_000_000, known=100_000, keys=2_000_000)
    kinds = {"filters": filters, "bounded": crawl, "unbounded": crawl}
    parser.add_argument("--only", nargs="+", choices=kinds, default=list(kinds))
    options = parser.parse_args()
    parent = Path(tempfile.gettempdir())
    sizes = {
        "filters": (options.keys, 0), "bounded": (options.urls, options.known),
        "unbounded": (options.urls, 0),
    }  # fmt: skip
    figures: dict[str, float] = {}
    for kind in options.only:
        figures |= shown(measure(kinds[kind], parent, *sizes[kind]))
    if options.json:
        show(figures, options.json, "")


if __name__ == "__main__":
    main()
