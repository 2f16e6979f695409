"""One crawl of many hosts, each with another fault."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tests.crawl.run import run
from tests.crawl.web import Answer, Page, Web, article

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
OTHER = "退役电池怎样回收？记者走访了三家工厂，看到拆解、检测和梯次利用的全部过程。"
SETTINGS = (
    "REDIRECT_MAX_TIMES=5",
    "DOWNLOAD_DELAY_JITTER=0",
    'DOWNLOAD_SLOTS={"slot.test": {"delay": 0.4}}',
)


class Mixed(NamedTuple):
    """Result of the crawl: the web with its hits, the data folder, exit status and output."""

    web: Web
    data: Path
    status: int
    out: str

    def hits(self, host: str) -> list[str]:
        """Return the paths requested from a host, in order."""
        start = f"http://{host}"
        return [hit.url.removeprefix(start) for hit in self.web.hits if hit.url.startswith(start)]

    def gaps(self, host: str) -> list[float]:
        """Return the seconds between a host's requests, without those of robots.txt."""
        pages = [hit for hit in self.web.hits if hit.url.startswith(f"http://{host}")]
        times = sorted(hit.at for hit in pages if not hit.url.endswith("/robots.txt"))
        return [later - sooner for sooner, later in pairwise(times)]


def crawl(folder: Path) -> Mixed:
    """Crawl all hosts once."""
    topic = folder / "topic.toml"
    seeds = ", ".join(f'"http://{host}/"' for host in HOSTS)
    topic.write_text(
        f'seeds = [{seeds}]\ndenied_hosts = ["bad.test"]\n[terms]\n"新能源汽车" = 1\n',
        encoding="utf-8",
    )
    pages = {f"http://{host}{path}": page for host in HOSTS for path, page in HOSTS[host].items()}
    with Web(pages) as web:
        options = [part for setting in SETTINGS for part in ("-s", setting)]
        arguments = ("crawl", "trial", "-a", f"topic={topic}", *options)
        status, out = run(web.proxy, folder / "data", *arguments)
        return Mixed(web, folder / "data", status, out)


def front(host: str, *paths: str) -> str:
    return article(f"新能源汽车频道 {host}", TEXT, *(f"http://{host}{path}" for path in paths))


def story(name: str, *links: str) -> str:
    return article(f"新能源汽车{name}", f"{TEXT}{name}。", *links)


def redirect(url: str, *headers: tuple[str, str]) -> Answer:
    return Answer("", 302, (("Location", url), *headers))


def _cookie(handler: BaseHTTPRequestHandler) -> Answer:
    if "seen=1" in handler.headers.get("Cookie", ""):
        return Answer(story("饼干"))
    return redirect("http://cookie.test/cookie", ("Set-Cookie", "seen=1"))


def _next_redirect(handler: BaseHTTPRequestHandler) -> Answer:
    return redirect(f"http://loops.test/r/{int(handler.path.rpartition('/')[2]) + 1}")


_REFRESH = '<head><meta http-equiv="refresh" content="60;url=http://again.test/">'
_RULES = "User-agent: topiccrawl\nDisallow: /private\nCrawl-delay: 0.4\n"

HOSTS: dict[str, dict[str, Page]] = {
    "cookie.test": {"/": front("cookie.test", "/cookie"), "/cookie": _cookie},
    "loops.test": {
        "/": front("loops.test", "/r/0", "/loop"),
        "/loop": redirect("http://loops.test/loop"),
        **{f"/r/{number}": _next_redirect for number in range(20)},
    },
    "errors.test": {
        "/": front("errors.test", "/boom", "/item-error", "/gone", "/down", "/good"),
        "/boom": story("爆炸"),
        "/item-error": story("坏了", "http://errors.test/behind"),
        "/behind": story("在后面"),
        "/down": Answer("", 503),
        "/good": story("很好"),
    },
    "closed.test": {"/robots.txt": Answer("", 503), "/": story("关闭")},
    "rules.test": {
        "/robots.txt": Answer(_RULES, headers=(("Content-Type", "text/plain"),)),
        "/": front("rules.test", "/private/a", "/b", "/c", "/d"),
        **{f"/{name}": story(f"规则{name}") for name in "bcd"},
    },
    "round.test": {"/robots.txt": redirect("http://round.test/robots.txt"), "/": story("循环")},
    "away.test": {
        "/": front("away.test", "/away", "/trap"),
        "/away": redirect("http://www.bad.test/"),
        "/trap": redirect("http://away.test/x/y/x/y/x/y/"),
        "/x/y/x/y/x/y/": story("陷阱"),
    },
    "again.test": {"/": story("刷新").replace("<head>", _REFRESH)},
    "slot.test": {
        "/": front("slot.test", "/a", "/b"),
        "/a": story("甲"),
        "/b": story("乙"),
    },
    "owner.test": {
        "/": front("owner.test", "/noindex", "/noarchive", "/nofollow"),
        "/noindex": Answer(story("不索引"), headers=(("X-Robots-Tag", "noindex"),)),
        "/noarchive": Answer(
            article("新能源汽车电池回收", OTHER), headers=(("X-Robots-Tag", "noarchive"),)
        ),
        "/nofollow": Answer(
            story("不跟随", "http://owner.test/hidden"), headers=(("X-Robots-Tag", "nofollow"),)
        ),
        "/hidden": story("隐藏"),
    },
}
