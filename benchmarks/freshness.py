"""Delay until on-topic articles are found: ``python -m benchmarks.freshness [--json [FILE]]``.

Weeks of generated news webs (``benchmarks.freshness_web``) are simulated in seconds: articles
appear on hubs by known rates, and each schedule visits hubs with the same requests an hour and the
same politeness towards hosts. Printed for each web: the mean delay in minutes from an article's
appearance until a visit shows it, and the share of articles that had left the lists before.
On-topic articles alone count. An article that is not found in the end counts with its delay until
then.

``YieldRevisits`` is compared with an even pace, the adaptive schedules of Apache Nutch and Apache
StormCrawler (as they are; and ``-all``, where hubs are visited before their dates while requests
remain), visits in proportion to all new articles, and an oracle that knows the rates;
``benchmarks.freshness_peers`` describes each. ``bound`` is the minimal expected delay if
lists are endless. Summaries are geometric means over webs: of ours over the best peer of each web,
and over the oracle. Shapes ``steady`` and ``mixed`` with seeds 1 and 2 were used while the
policy was written; the seeds of a plain run and all other shapes were not.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from benchmarks.freshness_peers import Dated, Nutch, Oracle, Proportional, Storm, bound
from benchmarks.freshness_web import SHAPES, made
from benchmarks.output import STDOUT, command_line, show
from topiccrawl.addons.watch.contract import Observation, Visits
from topiccrawl.addons.watch.policies import Pace, YieldRevisits
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.freshness_peers import Schedule
    from benchmarks.freshness_web import Hub, Shape, Visit
    from topiccrawl.addons.watch.contract import RevisitPolicy

HOUR = 3600.0
SEEDS = (101, 102)
"""Seeds that were not used while the policy was written."""

OURS, ORACLE = "yields", "oracle"


class Policy(Dated):
    """A ``RevisitPolicy`` as a schedule; as in a crawl, no hub is visited before its date."""

    def __init__(self, policy: RevisitPolicy) -> None:
        super().__init__()
        self._policy = policy
        self._pages: dict[int, Visits] = {}

    @override
    def due(self, hub: int, now: float, visit: Visit) -> float:
        at, page = now * HOUR, self._pages.get(hub)
        if page is None:
            page = Visits(f"http://{hub}.test/", Role.HUB, at, at)
        else:
            seen = Observation(at, visit.new > 0, visit.relevant, visit.new)
            page = self._policy.learn(page, seen)
        self._pages[hub] = page
        return self._policy.due(page) / HOUR


class Outcome(NamedTuple):
    """Result of a schedule.

    Attributes:
        delay: Mean minutes until an on-topic article was found.
        missed: Share of on-topic articles that were never shown to it, in [0, 1].
        spent: Share of the requests that it used, in [0, 1].
    """

    delay: float
    missed: float
    spent: float


class Watch:
    """One schedule on one web.

    Args:
        hubs: The web.
        shape: Its parameters.
        schedule: Chooses the next hub.
    """

    def __init__(self, hubs: Sequence[Hub], shape: Shape, schedule: Schedule) -> None:
        self._hubs = hubs
        self._shape = shape
        self._schedule = schedule
        self._seen = [0] * len(hubs)
        self._free_at = [0.0] * shape.hosts
        self._waited, self._counted, self._missed, self._spent = 0.0, 0, 0, 0

    def run(self) -> Outcome:
        """Run the watch to its end."""
        shape = self._shape
        slots = int(shape.hours * shape.requests)
        late = sorted(range(len(self._hubs)), key=lambda hub: -self._hubs[hub].born)
        for slot in range(slots):
            now = slot / shape.requests
            while late and self._hubs[late[-1]].born <= now:
                self._schedule.add(late.pop(), now)
            self._ask(now)
        for hub, seen in zip(self._hubs, self._seen, strict=True):
            self._count(hub.visit(seen, float(shape.hours))[1])
        whole = self._counted + self._missed
        return Outcome(60 * self._waited / self._counted, self._missed / whole, self._spent / slots)

    def _ask(self, now: float) -> None:
        """Send one request, where a hub is due whose host is free."""
        hub = self._schedule.take(now, lambda hub: self._free_at[self._hubs[hub].host] <= now)
        if hub is None:
            return
        self._spent += 1
        self._free_at[self._hubs[hub].host] = now + self._shape.delay
        self._seen[hub], visit = self._hubs[hub].visit(self._seen[hub], now)
        self._count(visit)
        self._schedule.saw(hub, now, visit)

    def _count(self, visit: Visit) -> None:
        self._waited += visit.waited
        self._counted += visit.counted
        self._missed += visit.missed


def schedules(hubs: Sequence[Hub], shape: Shape) -> Mapping[str, Callable[[], Schedule]]:
    """Return the compared schedules by name."""
    even = shape.hubs / shape.requests
    return {
        "uniform": Dated,
        "nutch": lambda: Nutch(even),
        "nutch-all": lambda: Nutch(even, early=True),
        "stormcrawler": lambda: Storm(even),
        "stormcrawler-all": lambda: Storm(even, early=True),
        "proportional": lambda: Proportional(shape.requests),
        OURS: lambda: Policy(YieldRevisits(Pace(rate=shape.requests / HOUR))),
        ORACLE: lambda: Oracle(hubs),
    }


def compared(shape: Shape, seed: int) -> dict[str, Outcome]:
    """Return the result of each schedule on one web."""
    hubs = made(shape, seed)
    return {name: Watch(hubs, shape, one()).run() for name, one in schedules(hubs, shape).items()}


def best_peer(outcomes: Mapping[str, Outcome]) -> str:
    """Name of the peer that found articles soonest."""
    peers = outcomes.keys() - {OURS, ORACLE}
    return min(peers, key=lambda name: outcomes[name].delay)


def figures(webs: Mapping[str, dict[str, Outcome]]) -> dict[str, float]:
    """Return the figures over some webs."""
    over_peer = [web[OURS].delay / web[best_peer(web)].delay for web in webs.values()]
    over_oracle = [web[OURS].delay / web[ORACLE].delay for web in webs.values()]
    return {
        "delay_over_best_peer": geometric_mean(over_peer),
        "delay_over_best_peer_worst": max(over_peer),
        "delay_over_oracle": geometric_mean(over_oracle),
        "delay_over_oracle_worst": max(over_oracle),
        "missed_share": fmean(web[OURS].missed for web in webs.values()),
        "missed_share_of_best_peers": fmean(web[best_peer(web)].missed for web in webs.values()),
        "missed_share_of_oracle": fmean(web[ORACLE].missed for web in webs.values()),
        "requests_spent": fmean(web[OURS].spent for web in webs.values()),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and print."""
    parser = command_line(__doc__)
    parser.add_argument("--shapes", default=",".join(SHAPES), help="which webs (default: all)")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="comma-separated")
    parser.add_argument("--days", type=int, help="days watched, instead of the web's own")
    options = parser.parse_args(arguments)
    out = sys.stderr if options.json == STDOUT else sys.stdout
    webs, hours = {}, 0
    for name in options.shapes.split(","):
        shape = SHAPES[name]
        if options.days:
            shape = replace(shape, hours=24 * options.days)
        for seed in map(int, options.seeds.split(",")):
            webs[f"{name}/{seed}"] = web = compared(shape, seed)
            hours += shape.hours
            lowest = 60 * bound(made(shape, seed), shape.requests)
            print(f"{name}/{seed}  (bound {lowest:.1f} min)", *_lines(web), sep="\n", file=out)
    measured = figures(webs) | {"hours": hours, "webs": len(webs)}
    outcomes = {
        name: {one: outcome._asdict() for one, outcome in web.items()} for name, web in webs.items()
    }
    table = "\n".join(f"{name}: {value:.4g}" for name, value in measured.items())
    show(measured | {"outcomes": outcomes}, options.json, table)


def _lines(web: Mapping[str, Outcome]) -> Iterator[str]:
    best = best_peer(web)
    for name, one in web.items():
        mark = "  best peer" if name == best else ""
        yield (
            f"  {name:<18}{one.delay:8.1f} min{one.missed:8.2%} missed"
            f"{one.spent:6.0%} of the requests{mark}"
        )


if __name__ == "__main__":
    main()
