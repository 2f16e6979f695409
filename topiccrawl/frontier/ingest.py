"""Ingest of links, seeds and redirects: new URLs are queued, recorded ones merged and moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from xxhash import xxh3_64_digest

from topiccrawl.frontier import rows
from topiccrawl.frontier.queues import Queues, RowScorer, entry_of
from topiccrawl.frontier.rows import FLOATS, HEAD_BYTES, LINK_AT, LINK_READ, LINK_WRITE, TOP, Row
from topiccrawl.links.strategies.contract import NORMAL, PRIOR, REJECTED
from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.frontier.contract import Limits, Outcome, Seed
    from topiccrawl.frontier.hosts import Origin
    from topiccrawl.frontier.seen import Seen
    from topiccrawl.model import Evidence, Offer

MAX_DEPTH = 65_535
Link = tuple["Origin", "Offer"]
"""Link of a page: the origin of its URL, and its offer."""


class Forwarder(Protocol):
    """Sender of links, seeds and redirects to the nodes that serve their hosts."""

    def send(self, parent: Row, key: bytes, offers: Sequence[Offer]) -> tuple[list[Offer], int]:
        """Return the offers of a page that are served here, and the number of others sent."""

    def send_seed(self, seed: Seed) -> bool:
        """Send a seed of another node's host; return whether it was sent."""

    def send_redirect(self, source: Row, source_key: bytes, outcome: Outcome) -> bool:
        """Send a redirect to another node's host; return whether it was sent."""


class LinkIngest:
    """Ingest of links, seeds and redirects.

    Args:
        queues: Rows and the queues they are in.
        scorer: Re-scores rows.
        seen: Filters of evicted URLs.
        limits: Limits of depth and hosts.

    Attributes:
        forwarder: Sends URLs that other nodes serve, if nodes share the crawl; else None.
        seen: Filters of evicted URLs.
    """

    def __init__(self, queues: Queues, scorer: RowScorer, seen: Seen, limits: Limits) -> None:
        self.forwarder: Forwarder | None = None
        self._queues, self._urls, self._tally = queues, queues.urls, queues.tally
        self._leased, self._registry = queues.leases.by_key, queues.registry
        self._scorer, self._strategy, self._version = scorer, scorer.strategy, 0
        self._rescored: dict[bytes, Evidence] = {}  # new evidence of the page's stale links
        self.seen, self._limits = seen, limits
        self._max_depth = min(limits.max_depth or MAX_DEPTH, MAX_DEPTH)

    def links(self, parent: Row, key: bytes, offers: Sequence[Offer]) -> int:
        """Count new links of a page and queue new URLs; return the number of links counted."""
        forwarded = 0
        if self.forwarder is not None:
            offers, forwarded = self.forwarder.send(parent, key, offers)
        links = dict.fromkeys(self._urls.links(key))
        recorded = set(self._urls.store.get_many("urls", links) if links else ())
        merged = self.add_links(offers, key, parent.depth + 1, recorded)
        if merged:
            links.update(dict.fromkeys(merged))
            self._urls.put_links(key, b"".join(links))
        return len(merged) + forwarded

    def add_links(
        self, offers: Iterable[Offer], parent: bytes, depth: int, counted: set[bytes]
    ) -> list[bytes]:
        """Merge links of a page that are not ``counted`` yet; return their keys.

        New URLs are queued, recorded ones get one more in-link. New URLs beyond the depth limit are
        only counted.
        """
        counted.add(parent)
        links = self._offers_by_key(offers, counted)
        stored = self._urls.store.get_many("urls", links)
        self._version = self._scorer.version
        self._rescored = self._scorer.rescored(stored)
        merged: dict[bytes, bytes] = {}
        new: list[bytes] = []
        for key, (origin, offer) in links.items():
            row = stored.get(key)
            if row is not None:
                merged[key] = self._merge_link(row, key, parent, offer)
            elif self.seen and key in self.seen:
                self._tally["seen"] += 1
            elif depth > self._max_depth:
                self._tally["depth"] += 1
            elif added := self._build(self._urls.seq + len(new), origin, offer, parent, depth):
                merged[key] = added
                new.append(key)
        self._urls.put_many(merged, new)
        self._tally["known"] += len(new)
        return list(merged)

    def seed(self, seed: Seed) -> bool:
        """Queue a URL in priorQueue; return False if it has a record or was evicted.

        Raises:
            ValueError: The URL has no host.
        """
        if not host_of(seed.url):
            raise ValueError(f"{seed.url!r} has no host: see topiccrawl.canonicalize_url")
        if self.forwarder is not None and self.forwarder.send_seed(seed):
            return True
        key = rows.key_of(seed.url)
        return not (self._urls.row(key) or self._was_evicted(key)) and self.add_seed(seed, key)

    def add_seed(self, seed: Seed, key: bytes) -> bool:
        """Queue a URL that has no record; return False if its host has too many origins."""
        origin = self._queues.origin(seed.url)
        if origin is None:
            return False
        row = Row(
            flags=rows.PINNED, depth=min(max(seed.depth, 0), MAX_DEPTH), lane=PRIOR,
            value=rows.quantum(seed.value), version=self._scorer.version,
            texts=rows.texts(seed.url, payload=seed.payload),
        )  # fmt: skip
        self._queues.add(row, key, origin, self._strategy.group(seed.url))
        return True

    def _was_evicted(self, key: bytes) -> bool:
        """Check whether a URL without a record was evicted; count it if so."""
        evicted = key in self.seen
        self._tally["seen"] += evicted
        return evicted

    def redirected(self, source: Row, source_key: bytes, outcome: Outcome) -> None:
        """Give the target of a redirect the evidence and value of its source."""
        if self.forwarder is not None and self.forwarder.send_redirect(source, source_key, outcome):
            return
        origin = self._origin(outcome.target, set())
        if origin is None:
            return
        key = rows.key_of(outcome.target)
        row = self._urls.row(key)
        if key == source_key or (row is None and self._was_evicted(key)):
            return
        if self._scorer.rescore(source):
            source.lane, source.value = self._scorer.lane_and_value(source, source.lane)
        if row is None:
            _, anchor, context, stored, _ = source.texts.decode().split("\0")
            payload = stored if outcome.payload is None else outcome.payload
            row = Row(
                flags=source.flags & rows.PINNED, redirects=min(outcome.redirects, 255),
                depth=source.depth, first=source_key, lane=min(source.lane, NORMAL),
                value=source.value, version=source.version, evidence=source.evidence,
                texts=rows.texts(outcome.target, anchor, context, payload),
            )  # fmt: skip
            self._queues.add(row, key, origin, self._strategy.group(outcome.target))
        elif rows.is_movable(row.state, row.flags):
            self._inherit(row, key, source)

    def _inherit(self, row: Row, key: bytes, source: Row) -> None:
        """Merge the evidence and value of a redirect's source into a recorded row."""
        self._scorer.rescore(row)
        if source.evidence:
            row.evidence = self._strategy.fold(row.evidence, source.evidence)
        lane, value = self._scorer.lane_and_value(row, source.lane)
        if not source.evidence:
            row.flags |= rows.PINNED
            value = max(value, source.value)
        self._queues.move(row, key, lane, value)
        self._urls.put(key, row)

    def _offers_by_key(self, offers: Iterable[Offer], seen: set[bytes]) -> dict[bytes, Link]:
        """Return offers by key in page order, the first of each key, without keys in ``seen``."""
        found: dict[bytes, Link] = {}
        find = self._registry.by_prefix.get
        hosts: set[str] = set()
        last, prefix = None, b""
        for offer in offers:
            url = offer[0]
            origin = find(url[: url.find("/", 8) + 1]) or self._origin(url, hosts)
            if origin is not None:
                if origin is not last:  # most links of a page lead to few hosts
                    last, prefix = origin, rows.host_digest(origin.host.name)
                found.setdefault(prefix + xxh3_64_digest(url.encode()), (origin, offer))
        for key in seen:
            found.pop(key, None)
        return found

    def _origin(self, url: str, hosts: set[str]) -> Origin | None:
        """Return the origin of a URL; None (counted) if its host is new and exceeds a limit.

        Without these limits a site with endless host names would fill the frontier. Seeds are not
        checked.

        Args:
            url: A link, or the target of a redirect.
            hosts: New hosts of the page so far; a new host is added.
        """
        name = host_of(url)
        if self._registry.find_host(name) is None:
            if reason := self._exceeded_limit(name, len(hosts)):
                self._tally[reason] += 1
                return None
            hosts.add(name)
        return self._queues.origin(url)

    def _exceeded_limit(self, name: str, before: int) -> str:
        """Return the name of the limit that a new host exceeds, or "".

        Args:
            name: Name of the host.
            before: Number of new hosts found earlier in the page.
        """
        limits, registry = self._limits, self._registry
        if 0 < limits.max_hosts <= len(registry.by_name):
            return "all-hosts"
        if 0 < limits.max_page_hosts <= before:
            return "page-hosts"
        if 0 < limits.max_domain_hosts <= registry.siblings(name):
            return "domain-hosts"
        return ""

    def _build(self, number: int, origin: Origin, offer: Offer, parent: bytes, depth: int) -> bytes:
        """Return the row of a new URL, in a queue or the errorQueue; b"" if it is refused.

        Args:
            number: Arrival number of the URL.
            origin: Its origin.
            offer: Its link.
            parent: Key of the page.
            depth: Depth of the page's links.
        """
        strategy, queues = self._strategy, self._queues
        url, lane, evidence, anchor, context = offer
        evidence = strategy.fold((), evidence)
        value = rows.quantum(strategy.value(evidence))
        if queues.refuses(value):
            return b""
        lane = min(lane, strategy.lane(evidence))
        packed = rows.texts(url, anchor, context)
        state = rows.QUEUED, 0
        unit = self._registry.unit(origin, strategy.group(url))
        if lane < REJECTED:
            queues.replace_entry(unit, lane, 0, entry_of(value, number))
        else:
            queues.count_error(rows.LOW_VALUE_REASON)
            state = rows.ERROR, rows.LOW_VALUE
            packed += rows.LOW_VALUE_REASON.encode()
        count = len(evidence)
        head: bytes = rows.NEW_ROW[count].pack(
            *state, 0, 0, 0, depth, unit.host.id, unit.uid, number, 0.0, 0.0, parent,
            lane, 1, count, 1, value, self._version, parent, value, *evidence,
        )  # fmt: skip
        return head + packed

    def _merge_link(self, data: bytes, key: bytes, parent: bytes, offer: Offer) -> bytes:
        """Return the stored form of a recorded row after one more link to it.

        Rows that are queued and nothing else are changed without decoding.
        """
        plain, host, unit, number, lane, parents, count, inlinks, value, version = (
            LINK_READ.unpack_from(data)
        )
        if plain or not count or key in self._leased:
            return self._merge_link_slowly(data, key, parent, offer)
        strategy = self._strategy
        _, new_lane, contribution, anchor, context = offer
        end = HEAD_BYTES + (parents << 4)
        fold, value_of, quantum = strategy.fold, strategy.value, rows.quantum
        best_parents, is_best = rows.with_parent(
            data[HEAD_BYTES:end], parent, quantum(value_of(fold((), contribution)))
        )
        known = self._rescored.get(key) or FLOATS[count].unpack_from(data, end)
        evidence = fold(known, contribution)
        new_value = quantum(value_of(evidence))
        new_lane = min(lane, new_lane, strategy.lane(evidence))
        if new_value != value or new_lane != lane:
            queue, change = self._registry.hosts[host].units[unit], self._queues.replace_entry
            before, after = (TOP - value) << 32 | number, (TOP - new_value) << 32 | number
            if new_lane == lane and version == self._version:
                change(queue, lane, before, after)
            else:  # if the row was alone in its unit, the unit gets a current bias
                change(queue, lane, before, 0)
                change(queue, new_lane, 0, after)
        packed = data[end + 4 * count :]
        if is_best:
            packed = rows.with_evidence_texts(packed, anchor, context)
        parents, count = len(best_parents) >> 4, len(evidence)
        fields: bytes = LINK_WRITE[parents][count].pack(
            new_lane, parents, count, inlinks + 1, new_value, self._version, best_parents, *evidence
        )
        return data[:LINK_AT] + fields + packed

    def _merge_link_slowly(self, data: bytes, key: bytes, parent: bytes, offer: Offer) -> bytes:
        """Merge a link into any row: leased, waiting, pinned or settled."""
        if not rows.is_movable(*data[:2]):
            return rows.with_inlink(data)
        strategy = self._strategy
        row = rows.decode(data)
        row.inlinks += 1
        row.version, row.evidence = self._version, self._rescored.get(key, row.evidence)
        _, lane, evidence, anchor, context = offer
        offered = rows.quantum(strategy.value(strategy.fold((), evidence)))
        row.parents, is_best = rows.with_parent(row.parents, parent, offered)
        if is_best:
            row.texts = rows.with_evidence_texts(row.texts, anchor, context)
        row.evidence = strategy.fold(row.evidence, evidence)
        self._queues.move(row, key, *self._scorer.lane_and_value(row, lane))
        return row.encode()
