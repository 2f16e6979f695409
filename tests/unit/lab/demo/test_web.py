from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from lab.demo import Web, generate
from lab.demo.plan import Kind
from lab.demo.vocabulary import language, subjects

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def digest(web: Web) -> str:
    state = hashlib.sha256()
    for url, truth in web.truth.items():
        state.update(repr((truth, web.answer(url, 5))).encode())
    return state.hexdigest()


def test_equal_seeds_give_equal_bytes() -> None:
    assert digest(generate(3, 400)) == digest(generate(3, 400))
    assert digest(generate(3, 400)) != digest(generate(4, 400))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 99),
    pages=st.integers(400, 2500),
    topic=st.sampled_from([s.name for s in subjects()]),
    traps=st.booleans(),
    faults=st.booleans(),
)
def test_any_web_has_its_size_and_closed_links(
    *, seed: int, pages: int, topic: str, traps: bool, faults: bool
) -> None:
    web = generate(seed, pages, topic, traps=traps, faults=faults)
    assert len(web.truth) == pages
    assert all(0 <= n < pages for i in range(pages) for n in web.linkage.followed(i))
    assert web.relevant & web.obtainable
    kinds = Counter(entry.kind for entry in web.plan.entries)
    assert (kinds[Kind.TRAP] > 0) is traps
    assert len(web.obtainable) > 0.9 * pages or faults


def test_reading_order_changes_nothing(web: Web) -> None:
    urls = list(web.truth)
    again = generate(7, pages=700)
    for url in reversed(urls):
        again.answer(url)
    assert digest(again) == digest(web)


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        generate(1, pages=50)
    with pytest.raises(ValueError, match="no subject 'x'"):
        generate(1, topic="x")


def test_every_link_leads_somewhere_stated(web: Web, links_of: Callable[[str], list[str]]) -> None:
    for url, truth in web.truth.items():
        if truth.status == 200 and truth.kind != Kind.FILE:
            for link in links_of(url):
                assert web.lookup(link) is not None, f"{url} links to {link}"


def test_what_is_reachable_can_be_reached_by_reading(
    web: Web, links_of: Callable[[str], list[str]]
) -> None:
    """A crawl of the served bytes, robots.txt read by another library, finds what truth says."""
    rules = {
        host: Protego.parse(web.answer(f"http://{host}/robots.txt").body.decode())
        for host in web.hosts
        if web.answer(f"http://{host}/robots.txt").status == 200
    }

    def fetchable(url: str) -> bool:
        host = urlsplit(url).netloc
        closed = web.answer(f"http://{host}/robots.txt").status in {0, 502, 503}
        answer = web.answer(url, 1_000, "seen=1")
        fine = answer.status in {200, 301, 302, 307} and not answer.cut
        return (
            fine and not closed and (host not in rules or rules[host].can_fetch(url, "topiccrawl"))
        )

    found, queue = set(web.seeds), list(web.seeds)
    while queue:
        url = queue.pop()
        if not fetchable(url) or web.truth[url].kind in {Kind.FILE, Kind.TRAP}:
            continue
        for link in links_of(url):
            target = urldefrag(link).url
            if target not in found and not (web.endless(target) and target not in web.truth):
                found.add(target)
                queue.append(target)
    assert found == {url for url, truth in web.truth.items() if truth.reachable}
    assert {u for u in found if fetchable(u) and not web.truth[u].target} - {
        url for url, truth in web.truth.items() if truth.obtainable
    } == {u for u in found if u.endswith("/hop/1")}


def test_paths_run_from_a_seed_along_links(web: Web) -> None:
    for url, truth in web.truth.items():
        path = web.path(url)
        assert bool(path) is truth.reachable
        if path:
            assert path[0] in web.seeds
            assert path[-1] == url
            assert len(path) == truth.depth + 1


def test_robots_txt_says_what_truth_says(web: Web) -> None:
    for url, truth in web.truth.items():
        answer = web.answer(f"http://{urlsplit(url).netloc}/robots.txt")
        if answer.status == 200:
            rules = Protego.parse(answer.body.decode())
            assert rules.can_fetch(url, "topiccrawl") is truth.allowed, url
        else:
            assert truth.allowed is (answer.status == 404), url


def test_links_are_topical(web: Web) -> None:
    """On-topic pages link to on-topic ones more than others do, and only more."""
    shares = {True: [0, 0], False: [0, 0]}
    for number, entry in enumerate(web.plan.entries):
        if entry.kind == Kind.ARTICLE:
            targets = [
                n for b in web.linkage.blocks(number) if b.role == "related" for n in b.targets
            ]
            counts = shares[number in web.relevant]
            counts[0] += sum(n in web.relevant for n in targets)
            counts[1] += len(targets)
    on, off = (counts[0] / counts[1] for counts in (shares[True], shares[False]))
    assert 0.6 < on < 1
    assert 0 < off < 0.2


def test_proportions() -> None:
    web = generate(5, 5_000)
    kinds = Counter(entry.kind for entry in web.plan.entries)
    assert 0.6 < kinds[Kind.ARTICLE] / 5_000 < 0.85
    assert 0.05 < kinds[Kind.HUB] / 5_000 < 0.2
    assert min(kinds[kind] for kind in Kind) >= 2
    assert 0.12 < len(web.relevant) / 5_000 < 0.3
    reprints = sum(e.kind == Kind.ARTICLE and e.of >= 0 for e in web.plan.entries)
    assert 0.05 < reprints / kinds[Kind.ARTICLE] < 0.2
    assert len(web.hosts) > 60


def test_the_island_lies_behind_pages_off_topic(web: Web) -> None:
    site = next(s for s in web.plan.sites if s.kind == "island")
    pages = [t for t in web.truth.values() if urlsplit(t.url).netloc == site.front]
    assert sum(t.relevant for t in pages) > 5
    for truth in pages:
        before = [web.truth[u] for u in web.path(truth.url)]
        entrance = next(i for i, t in enumerate(before) if urlsplit(t.url).netloc == site.front)
        assert all(not t.relevant for t in before[entrance - 3 : entrance])


def test_turning_pages_shows_a_whole_channel() -> None:
    """下一页 leads through every list page, and nothing else is called so."""
    web = generate(3, 2_000)
    plan, words = web.plan, set(language("zh").lists["next_page"])
    section = max(
        (s for s in plan.sections if plan.sites[s.site].language == "zh"),
        key=lambda s: len(plan.contents[s.number]),
    )
    url, listed, turns = plan.entries[plan.lists[section.number][0]].url, set(), 0
    while url:
        tree = LexborHTMLParser(web.answer(url).body.decode(web.truth[url].encoding))
        anchors = [(a.text().strip(), a.attributes["href"] or "") for a in tree.css("a")]
        listed |= {urljoin(url, href) for _, href in anchors}
        onward = [urljoin(url, href) for text, href in anchors if text in words]
        assert len(onward) <= 1
        url, turns = (onward[0] if onward else ""), turns + 1
    assert turns == len(plan.lists[section.number]) > 2
    assert listed >= {plan.entries[n].url for n in plan.contents[section.number]}


def test_truth_is_written_a_line_a_page(web: Web, tmp_path: Path) -> None:
    web.write_truth(tmp_path / "truth.jsonl")
    lines = (tmp_path / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [r["url"] for r in records] == list(web.truth)
    article = next(r for r in records if r["kind"] == "article")
    assert article == asdict(web.truth[article["url"]])
