"""Tests of ``FairQueue``, which shares the readers' time among sites."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.fair_queue import Entry, FairQueue

GOOD = "good.test"


def served(costs: dict[str, float], pages: int, every: float) -> Counter[str]:
    """Serve sites that always queue their next page, and one site that queues a page sometimes.

    Args:
        costs: Seconds that a page takes, by site.
        pages: Pages of the site ``GOOD``.
        every: Seconds between two of its pages.

    Returns:
        Number of pages read by site when the last page of ``GOOD`` is read.
    """
    queue, done = FairQueue(), Counter[str]()
    waiting = [queue.enqueue(site) for site in costs if site != GOOD]
    clock, due = 0.0, every
    while done[GOOD] < pages:
        if clock >= due and not any(entry.site == GOOD for entry in waiting):
            waiting.append(queue.enqueue(GOOD))
            due = clock + every
        entry: Entry = min(waiting, key=lambda entry: entry.finish)
        waiting.remove(entry)
        queue.start(entry)
        clock += costs[entry.site]
        queue.finish(entry, costs[entry.site])
        done[entry.site] += 1
        if entry.site != GOOD:
            waiting.append(queue.enqueue(entry.site))
    return done


def test_page_waits_for_one_slow_page_of_any_number_of_sites() -> None:
    costs = {GOOD: 0.01} | {f"d{number}.test": 1.0 for number in range(60)}
    done = served(costs, 100, 2.0)
    slow = [number for site, number in done.items() if site != GOOD]
    assert sum(slow) <= 60 + 100 * 3  # one page of each site, then those that fit between two pages
    assert max(slow) - min(slow) <= 1


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=20), st.floats(0.001, 0.01))
def test_every_site_gets_its_share(costs: list[float], cost: float) -> None:
    sites = {f"s{number}.test": seconds for number, seconds in enumerate(costs)}
    done = served({GOOD: cost, **sites}, 20, 0.0)
    assert done[GOOD] == 20
    used = [done[site] * seconds for site, seconds in sites.items()]
    assert max(used) - min(used) <= 2 * max(costs) + 20 * cost


def test_cancelled_page_does_not_change_the_estimate() -> None:
    queue = FairQueue()
    queue.finish(queue.enqueue("d.test"), 2.0)
    queue.finish(queue.enqueue("d.test"), 0.0)
    assert queue.enqueue("d.test").estimate == 2.0


def test_first_page_does_not_delay_queued_pages() -> None:
    queue = FairQueue()
    queue.finish(queue.enqueue("d.test"), 10.0)
    waiting = [queue.enqueue("d.test") for _ in range(5)]
    queue.start(waiting[0])
    queue.start(queue.enqueue("d.test", first=True))
    assert queue.enqueue(GOOD).start < waiting[1].finish
