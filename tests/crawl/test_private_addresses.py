"""Private addresses are fetched only if the operator has allowed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed
from typing_extensions import override

from tests.crawl.run import run
from tests.crawl.web import Answer, Web, article
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.crawl


class LoopbackResolver(CachingThreadedResolver):
    """Resolves each name below .test to this machine."""

    @override
    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:
        return succeed("127.0.0.1") if name.endswith(".test") else super().getHostByName(name)


SPELLINGS = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]")
ELSEWHERE = ("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/admin")
RESOLVER = {"DNS_RESOLVER": f"{__name__}.LoopbackResolver"}
QUICKLY = {**RESOLVER, "DOWNLOAD_TIMEOUT": "3"}


def redirect(url: str) -> Answer:
    return Answer("", 302, (("Location", url),))


def crawl(web: Web, data: Path, seed: str, **settings: str) -> str:
    arguments = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={seed}")
    return run("", data, *arguments, **{**QUICKLY, **settings})[1]


def test_links_redirects_and_names_of_this_host_are_refused(tmp_path: Path) -> None:
    with Web({}) as web:
        port = web.proxy.rpartition(":")[2]
        links = [f"http://{host}:{port}/literal" for host in SPELLINGS]
        seed, evil = f"http://seed.test:{port}", f"http://rebinding.test:{port}/resolved"
        web.pages = {
            "/": article("足球", "足球比赛。", *links, *ELSEWHERE, evil, f"{seed}/a", f"{seed}/b"),
            "/a": redirect(f"http://0x7f.1:{port}/redirected"),
            "/b": article("足球", "足球联赛。"),
        }
        out = crawl(web, tmp_path / "data", f"{seed}/")
        requests = [hit.url for hit in web.hits]
        assert sorted(requests) == ["/", "/a", "/b", "/robots.txt"], out[-4000:]
        assert f"'topiccrawl/links/private-address': {len(links) + len(ELSEWHERE)}" in out
        assert f"'topiccrawl/private_address': {len(links) + len(ELSEWHERE) + 3}" in out
        (folder,) = (tmp_path / "data" / "frontiers").iterdir()
        for url in (f"{seed}/a", evil):
            report = read_frontier(folder).why(url)
            assert report is not None
            assert (report.queue, report.reason) == ("error", "private-address")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("TOPICCRAWL_OWN_HOSTS", "127.0.0.1,intranet.test"),
        ("TOPICCRAWL_PRIVATE_ADDRESSES", "1"),
    ],
)
def test_hosts_allowed_by_the_operator_are_fetched(
    tmp_path: Path, setting: str, value: str
) -> None:
    with Web({}) as web:
        port = web.proxy.rpartition(":")[2]
        links = (f"http://2130706433:{port}/one", f"http://intranet.test:{port}/two")
        page = article("足球", "足球比赛。")
        web.pages = {"/": article("足球", "足球。", *links), "/one": page, "/two": page}
        out = crawl(web, tmp_path / "data", f"http://127.0.0.1:{port}/", **{setting: value})
        assert (web.count("/one"), web.count("/two")) == (1, 1), out[-4000:]
        assert "topiccrawl/private_address" not in out


def test_local_proxy_serves_names_but_not_private_addresses(tmp_path: Path) -> None:
    inside = "http://127.0.0.1:9/inside"
    with Web({}) as web:
        web.pages = {
            "http://a.test/": article("足球", "足球比赛。", inside, "http://b.test/"),
            "http://b.test/": redirect(inside),
            inside: article("足球", "足球比赛。"),
        }
        run(web.proxy, tmp_path / "data", "crawl", "topic", "-a", "topic=足球", "-a",
            "seeds=http://a.test/", **QUICKLY)  # fmt: skip
        assert (web.count("http://b.test/"), web.count(inside)) == (1, 0)
