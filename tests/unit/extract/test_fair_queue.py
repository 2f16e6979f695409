"""FairQueue at the readers: a site keeps its share of their time."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.fair_queue import Entry, FairQueue

GOOD = "good.test"


def served(costs: dict[str, float], pages: int, every: float) -> Counter[str]:
    """Serve sites that always send their next page, and a good one that sends one now and then.

    Args:
        costs: Seconds of a page by site.
        pages: Pages of the good site.
        every: Seconds between two of its pages.

    Returns:
        Pages read by site, when the good site's last page is read.
    """
    queue, done = FairQueue(), Counter[str]()
    waiting = [queue.enqueue(site) for site in costs if site != GOOD]
    clock, ask = 0.0, every
    while done[GOOD] < pages:
        if clock >= ask and not any(entry.site == GOOD for entry in waiting):
            waiting.append(queue.enqueue(GOOD))
            ask = clock + every
        entry: Entry = min(waiting, key=lambda one: one.finish)
        waiting.remove(entry)
        queue.start(entry)
        clock += costs[entry.site]
        queue.finish(entry, costs[entry.site])
        done[entry.site] += 1
        if entry.site != GOOD:
            waiting.append(queue.enqueue(entry.site))
    return done


def test_a_page_waits_for_one_dear_page_however_many_sites_send_them() -> None:
    costs = {GOOD: 0.01} | {f"d{number}.test": 1.0 for number in range(60)}
    done = served(costs, 100, 2.0)
    dear = [number for site, number in done.items() if site != GOOD]
    assert sum(dear) <= 60 + 100 * 3  # one entry of all, then what fits between two pages
    assert max(dear) - min(dear) <= 1


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=20), st.floats(0.001, 0.01))
def test_nobody_starves(costs: list[float], cost: float) -> None:
    sites = {f"s{number}.test": one for number, one in enumerate(costs)}
    done = served({GOOD: cost, **sites}, 20, 0.0)
    assert done[GOOD] == 20
    used = [done[site] * one for site, one in sites.items()]
    assert max(used) - min(used) <= 2 * max(costs) + 20 * cost


def test_a_page_given_up_says_nothing_of_its_site() -> None:
    queue = FairQueue()
    queue.finish(queue.enqueue("d.test"), 2.0)
    queue.finish(queue.enqueue("d.test"), 0.0)
    assert queue.enqueue("d.test").estimate == 2.0


def test_a_page_that_goes_first_leaves_the_others_where_they_are() -> None:
    queue = FairQueue()
    queue.finish(queue.enqueue("d.test"), 10.0)
    waiting = [queue.enqueue("d.test") for _ in range(5)]
    queue.start(waiting[0])
    queue.start(queue.enqueue("d.test", first=True))
    assert queue.enqueue(GOOD).start < waiting[1].finish
