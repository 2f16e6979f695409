"""One crawl of hosts with many faults: rules are obeyed, and every page has an outcome."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.mixed import Mixed, crawl
from tests.crawl.run import stored
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Explanation

pytestmark = [pytest.mark.crawl, pytest.mark.slow]


@pytest.fixture(scope="module", name="mixed")
def _mixed(tmp_path_factory: pytest.TempPathFactory) -> Mixed:
    mixed = crawl(tmp_path_factory.mktemp("mixed"))
    assert mixed.status == 0, mixed.out[-3000:]
    return mixed


def why(mixed: Mixed, url: str) -> Explanation:
    (folder,) = (mixed.data / "frontiers").iterdir()
    found = read_frontier(folder).why(f"http://{url}")
    assert found is not None, f"{url} is not known"
    return found


def test_a_self_redirect_with_a_cookie_is_followed(mixed: Mixed) -> None:
    assert mixed.hits("cookie.test").count("/cookie") == 2
    assert "http://cookie.test/cookie" in stored(mixed.data)


def test_endless_redirects_end(mixed: Mixed) -> None:
    assert mixed.hits("loops.test").count("/r/5") == 1
    assert "/r/6" not in mixed.hits("loops.test")
    assert why(mixed, "loops.test/r/5").reason == "max-redirects"
    assert why(mixed, "loops.test/loop").reason == "max-redirects"


def test_callback_and_pipeline_errors_end_pages_and_keep_links(mixed: Mixed) -> None:
    reasons = {path: why(mixed, f"errors.test{path}").reason for path in TRIES}
    assert reasons == {path: reason for path, (reason, _) in TRIES.items()}
    requests = mixed.hits("errors.test")
    assert {path: requests.count(path) for path in TRIES} == {p: n for p, (_, n) in TRIES.items()}
    assert {"http://errors.test/behind", "http://errors.test/good"} <= set(stored(mixed.data))


TRIES = {
    "/boom": ("callback-ZeroDivisionError", 1),
    "/item-error": ("item-error", 3),
    "/gone": ("http-404", 1),
    "/down": ("http-503", 3),
}
"""Reason of a failure, and number of requests; RETRY_TIMES is 2."""


def test_robots_txt_with_5xx_closes_only_its_host(mixed: Mixed) -> None:
    assert set(mixed.hits("closed.test")) == {"/robots.txt"}
    assert 1 < len(mixed.hits("closed.test")) <= 3
    assert why(mixed, "closed.test/").reason == "robots-unavailable"


def test_robots_rules_and_crawl_delay_are_obeyed(mixed: Mixed) -> None:
    assert mixed.hits("rules.test").count("/robots.txt") == 1
    assert "/private/a" not in mixed.hits("rules.test")
    assert why(mixed, "rules.test/private/a").reason == "robots"
    gaps = mixed.gaps("rules.test")
    assert len(gaps) == 3
    assert min(gaps) > 0.35


def test_robots_txt_with_endless_redirects_is_ignored(mixed: Mixed) -> None:
    assert mixed.hits("round.test") == ["/robots.txt"] * 6 + ["/"]


def test_redirects_obey_the_rules_for_links(mixed: Mixed) -> None:
    assert mixed.hits("www.bad.test") == []
    assert why(mixed, "away.test/away").reason == "host-denied"
    assert "/x/y/x/y/x/y/" not in mixed.hits("away.test")
    assert why(mixed, "away.test/trap").reason == "repeated-path"


def test_page_that_refreshes_itself_is_fetched_once(mixed: Mixed) -> None:
    assert mixed.hits("again.test").count("/") == 1


def test_download_slot_of_a_host_has_its_own_delay(mixed: Mixed) -> None:
    gaps = mixed.gaps("slot.test")
    assert len(gaps) == 2
    assert min(gaps) > 0.35


def test_x_robots_tag_is_obeyed(mixed: Mixed) -> None:
    assert {"/noindex", "/noarchive", "/nofollow"} <= set(mixed.hits("owner.test"))
    assert "/hidden" not in mixed.hits("owner.test")
    assert "http://owner.test/noindex" not in stored(mixed.data)
    with closing(sqlite3.connect(mixed.data / "store.sqlite")) as connection:
        query = "SELECT url FROM articles WHERE noarchive"
        assert list(connection.execute(query)) == [("http://owner.test/noarchive",)]
