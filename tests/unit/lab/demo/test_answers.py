from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from lab.demo import Web, generate
from lab.demo.answers import snare
from lab.demo.plan import Kind

if TYPE_CHECKING:
    from lab.demo.answers import Answer


def corner(web: Web, name: str) -> str:
    return next(url for url in web.truth if urlsplit(url).path == f"/corner/{name}")


def header(answer: Answer, name: str) -> str:
    return dict(answer.headers).get(name, "")


@pytest.mark.parametrize(
    ("name", "status"), [("gone.html", 410), ("missing.html", 404), ("crash.html", 500)]
)
def test_errors_stay_errors(web: Web, name: str, status: int) -> None:
    url = corner(web, name)
    assert {web.answer(url, visit).status for visit in range(5)} == {status}
    assert web.truth[url].status == status
    assert not web.truth[url].obtainable


def test_busy_pages_say_when_to_come_back(web: Web) -> None:
    answer = web.answer(corner(web, "busy.html"))
    assert (answer.status, header(answer, "Retry-After")) == (503, "1")
    host = web.answer("http://www.busy.example/")
    assert (host.status, header(host, "Retry-After")) == (503, "1")


def test_a_flaky_page_comes_right(web: Web) -> None:
    url = corner(web, "flaky.html")
    assert [web.answer(url, visit).status for visit in range(4)] == [503, 503, 200, 200]
    halved = corner(web, "halved.html")
    assert [web.answer(halved, visit).cut for visit in range(3)] == ["half", "", ""]
    assert web.truth[url].obtainable
    assert web.truth[halved].obtainable


def test_a_page_redirects_to_itself_until_it_sees_its_cookie(web: Web) -> None:
    url = corner(web, "cookie.html")
    first = web.answer(url)
    assert (first.status, header(first, "Location")) == (302, url)
    cookie = header(first, "Set-Cookie").partition(";")[0]
    assert web.answer(url, 1, f"a=b; {cookie}").status == 200


def test_redirects_chain_loop_and_leave_the_host(web: Web) -> None:
    def follow(name: str) -> list[str]:
        trail = [corner(web, name)]
        while (target := web.truth[trail[-1]].target) and len(trail) < 9:
            trail.append(target)
        return trail

    assert len(follow("go/moved")) == 2
    assert follow("go/chain-1")[-1] == corner(web, "target.html")
    assert len(follow("go/chain-1")) == 4
    assert len(follow("go/loop-1")) == 9
    assert urlsplit(follow("go/front")[-1]).netloc != urlsplit(follow("go/front")[0]).netloc


def test_directives_stand_in_page_or_header(web: Web) -> None:
    assert web.truth[corner(web, "noindex.html")].noindex
    assert b'name="robots" content="noindex' in web.answer(corner(web, "noindex.html")).body
    assert "noarchive" in header(web.answer(corner(web, "header.html")), "X-Robots-Tag")
    assert web.truth[corner(web, "header.html")].noarchive


def test_content_types_may_be_wrong(web: Web) -> None:
    pdf = web.answer(corner(web, "download.html"))
    assert header(pdf, "Content-Type") == "application/pdf"
    photo = web.answer(corner(web, "photo.html"))
    assert header(photo, "Content-Type") == "text/html"
    assert photo.body.startswith(b"GIF89a")


def test_bodies_empty_long_and_deep(web: Web) -> None:
    assert web.answer(corner(web, "empty.html")).body == b""
    assert len(web.answer(corner(web, "long.html")).body) > 100_000
    assert web.answer(corner(web, "deep.html")).body.count(b"<div>") >= 1_000


def test_copies_name_their_original(web: Web) -> None:
    copies = [t for t in web.truth.values() if t.kind == Kind.COPY]
    assert len(copies) == 2
    for copy in copies:
        assert web.truth[copy.canonical].story == copy.story
        assert f'rel="canonical" href="{copy.canonical}"'.encode() in web.answer(copy.url).body


def test_a_soft_host_answers_everything(web: Web) -> None:
    answer = web.answer("http://www.soft.example/no/such/page")
    assert answer.status == 200
    assert "不存在".encode() in answer.body
    lost = [t for t in web.truth.values() if t.kind == Kind.ERROR and t.status == 200]
    assert len(lost) == 3


def test_unreachable_hosts(web: Web) -> None:
    assert web.answer("http://nowhere.test/").status == 502
    assert web.answer("http://www.refused.example/robots.txt").status == 502
    assert web.answer("http://www.dropped.example/robots.txt").cut == "drop"
    assert web.answer("http://www.norobots.example/robots.txt").status == 503
    assert web.answer("http://www.norobots.example/").status == 200
    assert web.answer("http://www.slow.example/").latency > 0.5


def test_scheme_fragment_and_case_of_the_host_do_not_matter(web: Web) -> None:
    url = web.seeds[0]
    host = urlsplit(url).netloc
    assert web.answer(
        url.replace("http://" + host, "HTTPS://" + host.upper()) + "#x"
    ) == web.answer(url)


def test_pictures_and_styles_exist(web: Web) -> None:
    host = urlsplit(web.seeds[0]).netloc
    for path, kind in (
        ("logo.gif", "image/gif"),
        ("a.css", "text/css"),
        ("a.js", "text/javascript"),
    ):
        answer = web.answer(f"http://{host}/static/{path}")
        assert (answer.status, header(answer, "Content-Type")) == (200, kind)
    assert web.answer(f"http://{host}/favicon.ico").status == 404


def test_the_shop_needs_no_session(web: Web) -> None:
    """The session id is noise: without it the same item comes."""
    shop = next(t.url for t in web.truth.values() if t.kind == Kind.TRAP and "shop." in t.url)
    links = [snare(shop.removeprefix("http://"))]
    assert links[0] is not None
    hrefs = [href for href, _ in links[0].links]
    assert {href.partition("/s/")[1] for href in hrefs} == {"", "/s/"}
    item = next(href for href in hrefs if href.startswith("/item?id=2"))
    body = web.answer(shop + item[1:]).body.split(b"<ul>")[0]
    assert web.answer(f"{shop}item?id=2").body.split(b"<ul>")[0] == body


@pytest.mark.parametrize("entrance", ["rili", "shop", "/dir/"])
def test_traps_never_end(web: Web, entrance: str) -> None:
    """Every step gives a new address; the shop's have the same few texts."""
    url = next(t.url for t in web.truth.values() if t.kind == Kind.TRAP and entrance in t.url)
    seen, bodies = {url}, set()
    for _ in range(50):
        host = urlsplit(url).netloc
        trap = snare(url.removeprefix("http://"))
        assert trap is not None
        href = trap.links[-1][0] if entrance != "rili" else trap.links[0][0]
        url = f"http://{host}{href}" if href.startswith("/") else url + href
        assert url not in seen
        seen.add(url)
        answer = web.answer(url)
        assert answer.status == 200
        bodies.add(answer.body.split(b"<ul>")[0])
        assert web.lookup(url) is not None
    assert len(bodies) == 1 if entrance == "shop" else len(bodies) == 50


def test_a_redirect_without_end(web: Web) -> None:
    url = next(u for u in web.truth if u.endswith("/hop/1"))
    for step in range(2, 40):
        location = header(web.answer(url), "Location")
        assert location == f"/hop/{step}"
        url = url.rpartition("/hop/")[0] + location
    assert web.lookup(url) is not None


def test_traps_can_be_left_out() -> None:
    bare = generate(7, 500, traps=False, faults=False)
    assert not [t for t in bare.truth.values() if t.kind == Kind.TRAP]
    assert bare.answer("http://rili.chenxi.example/2026/03/").status == 502
    assert {t.status for t in bare.truth.values() if t.kind == Kind.ERROR} == {200, 404, 410}
