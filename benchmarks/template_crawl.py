"""Whole template crawls of the demo's companies: search, layers, records, a second period.

    python -m benchmarks.template --crawl [--companies 216] [--seeds 1] [--group judging] [--json]
    python -m benchmarks.template --crawl --many 10000

The generated companies are found by a simulated search engine; ``scrapy crawl template`` runs
twice, in the second period over the next edition, where some companies are new, changed or gone.
Figures as in ``benchmarks.template``, but of the stored records; and how many of the new, changed
and gone records were reported as such, and only they. ``--many``: memory for a list of this many
seeds, beside a tenth of it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.template import truth, values_of
from lab.demo.answers import Answer
from lab.demo.companies.crawl import command, serving
from lab.demo.companies.web import CompanyWeb, Expected
from lab.demo.crawl import run
from lab.demo.server import DemoServer
from topiccrawl.addons.records.records import Records
from topiccrawl.links.urls import host_of
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from topiccrawl.addons.records.records import StoredRecord

QUIET = ("-a", "chance=0", "-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=ERROR")


class Period(NamedTuple):
    """Result of a period; sets are of entities.

    Attributes:
        field_precision: Share of the values stored that are right.
        field_recall: Share of the true values that are stored.
        records: Stored records.
        missing: Entities that have no record.
        needless: Records that are no entity's.
        new, changed, gone: Correctly reported as such.
        wrong: Wrongly reported as new, changed or gone, or not reported.
        seconds: Duration of the crawl.
    """

    field_precision: float
    field_recall: float
    records: int
    missing: int
    needless: int
    new: int
    changed: int
    gone: int
    wrong: tuple[str, ...]
    seconds: float


def measure(folder: Path, seed: int, companies: int, group: str | None) -> list[Period]:
    """The figures of two periods."""
    first = CompanyWeb(seed, companies, 0, group)
    second = CompanyWeb(seed, companies, 1, group)
    data = folder / "data"
    periods: list[Period] = []
    known: dict[str, StoredRecord] = {}
    for web in (first, second):
        began = time.perf_counter()
        with serving(web, former=first.hosts) as proxy:
            status = run(command(data, QUIET), proxy)
        if status:
            raise SystemExit(f"the crawl ended with {status}")
        seconds = time.perf_counter() - began
        now = stored(data)
        periods.append(_period(entities(first), entities(web), known, now, seconds))
        known = now
    return periods


def entities(web: CompanyWeb) -> dict[str, Expected]:
    """Return the records that a crawl should find, by their entity."""
    own = {one.host for one in web.companies}
    return {
        host.removeprefix("www.") if (host := host_of(one.pages[0])) in own else one.pages[0]: one
        for one in web.expected()
    }


def stored(data: Path) -> dict[str, StoredRecord]:
    """Return all records by entity, also those that are gone."""

    async def read() -> dict[str, StoredRecord]:
        store = Records(SqliteStorage(data))
        await store.open()
        try:
            return {one.entity: one async for one in store.select(gone=True)}
        finally:
            await store.close()

    return asyncio.run(read())


def _period(
    before: Mapping[str, Expected], after: Mapping[str, Expected],
    known: Mapping[str, StoredRecord], now: Mapping[str, StoredRecord], seconds: float,
) -> Period:  # fmt: skip
    here = {entity: one for entity, one in now.items() if not one.gone_at}
    right = wrong = missed = 0
    for entity, expected in after.items():
        true = truth(expected)
        got = set(values_of(here[entity].record.found)) if entity in here else set()
        right, wrong, missed = (
            right + len(true & got), wrong + len(got - true), missed + len(true - got)
        )  # fmt: skip
    needless = here.keys() - after.keys()
    wrong += sum(len(values_of(here[entity].record.found)) for entity in needless)
    reported = {
        "new": here.keys() - known.keys(),
        "changed": {
            e for e in here.keys() & known.keys() if here[e].changed_at > known[e].changed_at
        },
        "gone": {e for e, one in now.items() if one.gone_at},
    }
    old = before if known else {}
    true_of = {
        "new": after.keys() - old.keys(),
        "changed": {e for e in after.keys() & old.keys() if truth(after[e]) != truth(old[e])},
        "gone": old.keys() - after.keys(),
    }
    mistakes = [f"{kind} {e}" for kind in reported for e in sorted(reported[kind] ^ true_of[kind])]
    hits = {kind: len(reported[kind] & true_of[kind]) for kind in reported}
    return Period(
        round(right / max(1, right + wrong), 4), round(right / max(1, right + missed), 4),
        len(here), len(after.keys() - here.keys()), len(needless), hits["new"], hits["changed"],
        hits["gone"], tuple(mistakes), round(seconds, 1),
    )  # fmt: skip


class Endless:
    """A page with values on every host."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """See ``Answering``."""
        host = host_of(url)
        text = (
            f"<title>四川{host[1:-5]}软件有限公司</title><p>名称：四川{host[1:-5]}软件有限公司</p>"
            f"<p>电话：028-8{int(host[1:-5]):07}</p>"
        )
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def many(folder: Path, seeds: int) -> str:
    """Report the memory of crawls of a tenth of the seeds, and of all."""
    lines = []
    for count in (seeds // 10, seeds):
        file = folder / f"{count}.txt"
        file.write_text("".join(f"http://s{n}.test/\n" for n in range(1, count + 1)))
        began = time.perf_counter()
        quiet = ["-a", f"discover=list:{file}", "-s", "ROBOTSTXT_OBEY=0", *QUIET]
        text = TEMPLATE_OF_MANY.replace("SEEDS", str(count))
        (folder / "many.toml").write_text(text)
        with DemoServer(Endless()) as server:
            line = command(folder / str(count), [*quiet, "-a", f"template={folder}/many.toml"])
            status = run(line, server.proxy)
        found = len(stored(folder / str(count)))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        seconds = time.perf_counter() - began
        lines.append(
            f"{count} seeds: status {status}, {found} records, {seconds:.0f} s "
            f"({count / seconds:.0f} seeds/s), peak {peak:.0f} MB"
        )
    return "\n".join(lines)


TEMPLATE_OF_MANY = """
name = "many"
search.name = ["软件公司"]
limits.seeds = SEEDS
[crawl]
"名称" = "name"
"电话" = "telephone"
"""


def main(given: argparse.Namespace) -> int:
    """Print the figures of whole crawls, for the options of ``benchmarks.template``."""
    group = None if given.group == "both" else given.group
    with tempfile.TemporaryDirectory() as folder:
        if given.many:
            print(many(Path(folder), given.many))
            return 0
        periods = measure(Path(folder), given.seeds[0], given.companies, group)
    for number, period in enumerate(periods, 1):
        if given.json:
            print(json.dumps({"period": number, **period._asdict()}, ensure_ascii=False))
        else:
            print(f"period {number}")
            for name, value in period._asdict().items():
                print(f"  {name:<16}{value}")
    return 0
