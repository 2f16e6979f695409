from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.demo import Web, judge
from lab.demo.judge import breadth_first
from tests.waiting import PATIENCE
from topiccrawl.addons.simulate.harvest import Graph, oracle_curve

if TYPE_CHECKING:
    from collections.abc import Iterable

TOOLS = Path(__file__).parents[5] / "shared" / "tools"


@st.composite
def graphs(draw: st.DrawFn) -> Graph[int]:
    size = draw(st.integers(1, 25))
    nodes = st.integers(0, size - 1)
    onward = draw(st.lists(st.lists(nodes, max_size=4), min_size=size, max_size=size))
    relevant = draw(st.frozensets(nodes, max_size=8))
    seeds = draw(st.lists(nodes, min_size=1, max_size=3, unique=True))
    return Graph(dict(enumerate(onward)), relevant, seeds)


@given(graphs(), st.integers(1, 40))
def test_oracle_finds_all_reachable_pages_first(graph: Graph[int], budget: int) -> None:
    oracle, plain = oracle_curve(graph, budget), breadth_first(graph, budget)
    assert len(oracle) == len(plain) == budget
    assert all(0 <= after - before <= 1 for before, after in pairwise([0, *oracle]))
    if budget >= len(graph.targets):
        assert oracle[-1] == plain[-1]


def write_log(path: Path, urls: Iterable[str], status: int = 200) -> Path:
    lines = (f"{i / 10:.4f}\t40000\t{status}\t100\t{url}\n" for i, url in enumerate(urls))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_full_crawl_finds_everything(web: Web, tmp_path: Path) -> None:
    urls = [t.url for t in web.truth.values() if t.obtainable]
    result = judge(write_log(tmp_path / "log", urls), web)
    assert result.pages == result.requests == len(urls)
    assert result.relevant == result.relevant_expected
    assert result.articles == result.articles_expected > 0
    assert result.trapped == result.forbidden == 0
    assert 0 < result.area < 1


def test_only_good_answers_count_and_once(web: Web, tmp_path: Path) -> None:
    urls = [web.seeds[0], web.seeds[0], "http://nowhere.test/"]
    result = judge(write_log(tmp_path / "a", urls), web)
    assert (result.requests, result.pages, result.relevant) == (3, 1, 1)
    assert judge(write_log(tmp_path / "b", urls, status=503), web).pages == 0
    assert judge(write_log(tmp_path / "c", []), web).harvest_rate == 0


def test_violations_are_counted(web: Web, tmp_path: Path) -> None:
    closed = next(t.url for t in web.truth.values() if t.reachable and not t.allowed)
    trap = next(t.url for t in web.truth.values() if t.url.endswith("/dir/"))
    urls = [closed, trap, trap + "list/", trap + "list/more/"]
    result = judge(write_log(tmp_path / "log", urls), web)
    assert (result.forbidden, result.trapped) == (1, 2)
    assert "1 for pages that robots.txt closes" in str(result)


@pytest.fixture(scope="module")
def collection(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("collection") / "demo.web.jsonl.gz"
    web.write_collection(path)
    return path


def test_a_collection_holds_what_can_be_had(web: Web, collection: Path) -> None:
    with gzip.open(collection, "rt", encoding="utf-8") as lines:
        pages = [json.loads(line) for line in lines]
    have = {page["url"] for page in pages if page["status"] == 200}
    traps = {t.url for t in web.truth.values() if t.kind == "trap"}
    assert have == {t.url for t in web.truth.values() if t.obtainable} - traps
    labelled = {page["url"] for page in pages if page["label"] == web.plan.topic.slug}
    assert labelled == {t.url for t in web.truth.values() if t.relevant and t.obtainable}


def test_equal_webs_write_equal_files(web: Web, collection: Path, tmp_path: Path) -> None:
    web.write_collection(tmp_path / "again.web.jsonl.gz")
    for ending in (".web.jsonl.gz", ".topics.json"):
        again = (tmp_path / f"again{ending}").read_bytes()
        assert again == collection.with_name(f"demo{ending}").read_bytes()


def test_topic_is_hard_enough_for_a_benchmark(web: Web, collection: Path) -> None:
    topic = json.loads(collection.with_name("demo.topics.json").read_text(encoding="utf-8"))[0]
    assert topic["seeds"] == list(web.seeds)
    assert topic["reachable"] // 2 == topic["budget"]
    assert 0.1 < topic["reachable_relevant"] / topic["reachable"] < 0.4
    assert topic["oracle"][0] == 1
    assert 0.2 < topic["reference"]["bfs"] < 0.9


@pytest.mark.skipif(not TOOLS.exists(), reason="the shared judge (../shared/tools) is not here")
def test_the_shared_judge_agrees(web: Web, collection: Path, tmp_path: Path) -> None:
    urls = [t.url for t in web.truth.values() if t.obtainable and t.kind != "trap"]
    log = write_log(tmp_path / "log", urls)
    topics = collection.with_name("demo.topics.json")
    what = map(str, (TOOLS / "harvest.py", collection, topics, web.plan.topic.slug, log))
    line = [sys.executable, *what, "--json"]
    out = subprocess.run(line, check=True, capture_output=True, text=True, timeout=PATIENCE)
    theirs, ours = json.loads(out.stdout), judge(log, web)
    assert theirs["pages"] == ours.pages
    assert theirs["of"] == ours.relevant_expected
    assert theirs["relevant"] <= ours.relevant
