"""Reference model of the frontier: a dictionary with linear search, simple instead of fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.contracts.model_parts import TOP, Entry, Gate, Site, quantum
from topiccrawl.frontier.contract import Ending
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.contracts.strategies import Best
    from topiccrawl.frontier.contract import Limits, Outcome, Politeness
    from topiccrawl.model import Offer

NAMES = ("prior", "normal")


@dataclass
class Model:
    strategy: Best
    politeness: Politeness
    limits: Limits
    now: float
    entries: dict[str, Entry] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    groups: dict[tuple[str, str], GroupStats] = field(default_factory=dict)
    children: dict[str, set[str]] = field(default_factory=dict)
    robots_out: dict[str, float] = field(default_factory=dict)
    slots: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    turn: int = 0
    seq: int = 0

    # --- sites, robots.txt, order

    def site(self, url: str) -> Site:
        return self.sites.setdefault(urlsplit(url).hostname or "", Site())

    def gate(self, url: str) -> Gate:
        return self.gates.setdefault(origin(url), Gate())

    def bias(self, url: str) -> float:
        host = urlsplit(url).hostname or ""
        names = ["", *self.strategy.group(url)]
        return self.strategy.bias([self.groups.get((host, n), GroupStats(0, 0.0)) for n in names])

    def sort_key(self, entry: Entry) -> tuple[float, int]:
        return (TOP - entry.value) - self.bias(entry.url) * TOP, entry.seq

    def full(self, site: Site) -> bool:
        most = self.limits.max_host_pages or 1 << 60
        budget = site.leased > 0 and site.pages + site.leased >= most > site.pages
        return site.active >= self.politeness.concurrency or budget

    def open(self, entry: Entry, now: float) -> bool:
        site, gate = self.site(entry.url), self.gate(entry.url)
        held = gate.state == "asked" or (gate.state == "waiting" and gate.retry > now)
        late = entry.due > now or site.next_at > now
        return entry.state == "queued" and not (self.full(site) or held or late)

    def best(self, lane: int, now: float) -> Entry | None:
        found = [e for e in self.entries.values() if e.lane == lane and self.open(e, now)]
        return min(found, key=self.sort_key, default=None)

    def available(self, now: float) -> bool:
        return any(self.open(entry, now) for entry in self.entries.values())

    # --- adding URLs

    def push(self, url: str, value: float = 1.0) -> bool:
        if url in self.entries:
            return False
        entry = Entry(url, 0, quantum(value), self._next(), pinned=True)
        entry.version = self.strategy.version
        self.entries[url] = entry
        return True

    def links(self, parent: Entry, offers: Sequence[Offer]) -> None:
        seen = self.children.setdefault(parent.url, set())
        page = {parent.url}
        for offer in offers:
            if offer.url in page or (offer.url in seen and offer.url in self.entries):
                continue
            page.add(offer.url)
            seq = self._next()
            child = self.entries.get(offer.url)
            if child is None and self.limits.max_depth and parent.depth >= self.limits.max_depth:
                continue
            seen.add(offer.url)
            if child is None:
                child = Entry(offer.url, 2, 0, seq, "low", depth=parent.depth + 1)
                child.version = self.strategy.version
                child.reason = "low-value"
                self.entries[offer.url] = child
            child.inlinks += 1
            if child.state in {"queued", "leased", "low"}:
                self._offered(child, offer, parent.url)

    def _offered(self, child: Entry, offer: Offer, parent: str) -> None:
        self.rescore(child)
        offered = quantum(self.strategy.value(self.strategy.fold((), offer.evidence)))
        if child.linked_by(parent, offered):
            child.anchor, child.context = offer.anchor, offer.context
        child.evidence = self.strategy.fold(child.evidence, offer.evidence)
        self.judge(child, offer.lane)

    def rescore(self, entry: Entry) -> bool:
        if entry.version == self.strategy.version:
            return False
        entry.version = self.strategy.version
        if entry.evidence:
            texts = (entry.anchor, entry.context)
            entry.evidence = self.strategy.rescore(entry.evidence, *texts)
        return True

    def judge(self, entry: Entry, lane: int) -> None:
        entry.lane = min(entry.lane, lane)
        if entry.evidence:
            value = quantum(self.strategy.value(entry.evidence))
            entry.value = max(value, entry.value) if entry.pinned else value
            entry.lane = min(entry.lane, self.strategy.lane(entry.evidence))
        if entry.state == "low" and entry.lane < 2:
            entry.state, entry.reason = "queued", ""

    # --- leases

    def pop(self, n: int) -> list[tuple[str, Kind, float]]:
        self.expire()
        out: list[tuple[str, Kind, float]] = []
        while len(out) < n:
            lane = 0 if self.turn < self.strategy.share[0] else 1
            entry = self.best(lane, self.now) or self.best(1 - lane, self.now)
            if entry is None:
                break
            gate = self.gate(entry.url)
            if self.politeness.robots and gate.expires <= self.now:
                out.append((self._lease_robots(entry), Kind.ROBOTS, 0.0))
            elif self.rescore(entry):
                self.judge(entry, entry.lane)
            elif refusal := self.refusal(entry):
                entry.state, entry.reason = "error", refusal
            else:
                out.append((entry.url, Kind.PAGE, entry.value / TOP + self.bias(entry.url)))
                self._lease(entry)
        return out

    def refusal(self, entry: Entry) -> str:
        if self.limits.max_host_pages and self.site(entry.url).pages >= self.limits.max_host_pages:
            return "host-budget"
        if not self.politeness.robots:
            return ""
        if self.gate(entry.url).state == "gone":
            return self.gate(entry.url).cause or "robots-unavailable"
        closed = urlsplit(entry.url).path.startswith("/no")
        return "robots" if closed and self.gate(entry.url).state == "rules" else ""

    def _lease_robots(self, entry: Entry) -> str:
        self.gate(entry.url).state = "asked"
        url = origin(entry.url) + "/robots.txt"
        self.robots_out[url] = self.now + self.limits.lease_seconds
        self._start(url)
        return url

    def _lease(self, entry: Entry) -> None:
        self.turn = (self.turn + 1) % sum(self.strategy.share)
        entry.state = "leased"
        entry.expires = self.now + self.limits.lease_seconds
        self.site(entry.url).leased += 1
        self._start(entry.url)

    def _start(self, url: str) -> None:
        site = self.site(url)
        site.active += 1
        site.next_at = self.now + self.politeness.delay
        self.slots.add(url)

    def expire(self) -> None:
        for url, expires in list(self.robots_out.items()):
            if expires <= self.now:
                self.robots(url, 0, "lease-expired")
        for entry in self.entries.values():
            if entry.state == "leased" and entry.expires <= self.now:
                self._end_lease(entry)
                self._retry(entry, "lease-expired", 0.0)

    # --- ends of leases

    def downloaded(self, url: str, latency: float) -> None:
        if url in self.slots:
            self.free(url)
            site = self.site(url)
            site.next_at = max(site.next_at, self.now - latency + self.politeness.delay)

    def free(self, url: str) -> None:
        if url in self.slots:
            self.slots.discard(url)
            self.site(url).active -= 1

    def robots(self, url: str, status: int, cause: str = "") -> None:
        del self.robots_out[url]
        self.free(url)
        gate = self.gate(url)
        gate.cause = cause
        if status:
            gate.state = "rules" if status == 200 else "free"
        else:
            gate.attempts += 1
            if gate.attempts < self.limits.max_attempts:
                gate.state = "waiting"
                pause = max(1.0, self.politeness.delay) * 2.0**gate.attempts
                gate.retry = self.now + min(self.politeness.max_delay, pause)
                return
            gate.state = "gone"
        gate.attempts = 0
        away = min(self.politeness.robots_ttl, self.politeness.robots_away)
        gate.expires = self.now + (away if gate.state == "gone" else self.politeness.robots_ttl)

    def finish(self, url: str, outcome: Outcome, offers: Sequence[Offer]) -> None:
        entry = self.entries[url]
        again = entry.counted
        self._end_lease(entry)
        self.links(entry, offers)
        match outcome.ending:
            case Ending.CRAWLED:
                entry.state = "crawled"
                if not again:
                    self._learn(url, outcome)
                entry.counted = True
            case Ending.ERROR:
                entry.state, entry.reason = "error", outcome.reason
                entry.attempts += 1
            case Ending.REDIRECTED:
                self._redirect(entry, outcome)
            case Ending.LATER:
                self._retry(entry, outcome.reason, outcome.not_before)
            case Ending.RELEASED:
                entry.state = "queued"
        if entry.state != "queued":
            self.site(url).pages += not again

    def release_all(self) -> None:
        for entry in self.entries.values():
            if entry.state == "leased":
                self._end_lease(entry)
                entry.state = "queued"
        for url in list(self.robots_out):
            del self.robots_out[url]
            self.free(url)
        for gate in self.gates.values():
            if gate.state in {"asked", "waiting"}:
                gate.state, gate.attempts, gate.retry = "unknown", 0, 0.0

    crash_wait = 0.0
    """Seconds that a page waits, multiplied by the number of its crashes."""

    def crash(self) -> None:
        begun = set(self.begun)
        self.release_all()
        for url in begun:
            entry = self.entries[url]
            entry.crashes += 1
            if entry.crashes >= self.limits.max_crashes:
                entry.state, entry.reason = "error", "crash"
            elif self.crash_wait:
                entry.due = self.now + self.crash_wait * entry.crashes

    def requeue(self, url: str, value: float | None = None) -> bool:
        entry = self.entries.get(url)
        if entry is None or entry.state == "leased":
            return False
        if entry.state == "queued" and entry.due <= self.now:
            return False
        entry.state, entry.reason, entry.lane = "queued", "", min(entry.lane, 1)
        entry.attempts, entry.crashes, entry.due = 0, 0, 0.0
        if value is not None:
            entry.lane, entry.value, entry.pinned = 0, quantum(value), True
        return True

    def forget(self, url: str) -> bool:
        entry = self.entries.pop(url, None)
        if entry is not None and entry.state == "leased":
            self._end_lease(entry)
        return entry is not None

    def moved(self) -> None:
        """Remove what an export cannot contain: links to URLs without a record."""
        for page in list(self.children):
            self.children[page] &= self.entries.keys()
            if page not in self.entries:
                del self.children[page]
        for entry in self.entries.values():
            entry.parents = [known for known in entry.parents if known[1] in self.entries]

    def _end_lease(self, entry: Entry) -> None:
        self.free(entry.url)
        self.begun.discard(entry.url)
        self.site(entry.url).leased -= 1

    def _retry(self, entry: Entry, reason: str, due: float) -> None:
        entry.attempts += 1
        entry.reason = reason
        if entry.attempts >= self.limits.max_attempts:
            entry.state = "error"
            self.site(entry.url).pages += reason == "lease-expired"
        else:
            entry.state, entry.due = "queued", due

    def _redirect(self, entry: Entry, outcome: Outcome) -> None:
        target = self.entries.get(outcome.target)
        entry.state, entry.reason = "crawled", "redirected"
        if outcome.target == entry.url:
            return
        if self.rescore(entry):
            self.judge(entry, entry.lane)
        if target is None:
            copy = Entry(**vars(entry) | {"url": outcome.target, "seq": self._next()})
            copy.state, copy.attempts, copy.crashes, copy.counted = "queued", 0, 0, False
            copy.inlinks, copy.reason, copy.parents, copy.due = 0, "", [], 0.0
            copy.redirects = outcome.redirects
            self.entries[outcome.target] = copy
        elif target.state in {"queued", "leased", "low"}:
            self.rescore(target)
            if entry.evidence:
                target.evidence = self.strategy.fold(target.evidence, entry.evidence)
            else:
                target.pinned, target.value = True, max(target.value, entry.value)
            self.judge(target, entry.lane)

    def _learn(self, url: str, outcome: Outcome) -> None:
        host, relevance = urlsplit(url).hostname or "", outcome.relevance
        for name in ("", *(() if outcome.paged else self.strategy.group(url))):
            pages, total = self.groups.get((host, name), GroupStats(0, 0.0))
            self.groups[host, name] = GroupStats(pages + 1, total + relevance)

    def _next(self) -> int:
        self.seq += 1
        return self.seq

    # --- figures

    def counts(self) -> dict[str, int]:
        sizes = dict.fromkeys(("prior", "normal", "leased", "crawled", "error"), 0)
        for entry in self.entries.values():
            name = "error" if entry.state == "low" else entry.state
            sizes[NAMES[entry.lane] if name == "queued" else name] += 1
        return sizes | {"known": len(self.entries)}

    def reasons(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in self.entries.values():
            if entry.state in {"low", "error"}:
                name = f"error/{entry.reason}"
                found[name] = found.get(name, 0) + 1
        return found


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
