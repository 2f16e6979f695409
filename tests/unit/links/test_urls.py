"""Tests of canonical URLs by example; their properties are in tests/properties."""

from __future__ import annotations

import pytest

from topiccrawl.links.skeletons import group
from topiccrawl.links.urls import MAX_URL, canonical, host_of, origin_of, site_of, words

BASE = "http://news.test/sport/2020/a.html?p=1"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("http://A.Test", "http://a.test/"),
        ("HTTPS://a.test:443/x", "https://a.test/x"),
        ("http://a.test:8080/x", "http://a.test:8080/x"),
        ("http://a.test:/x", "http://a.test/x"),
        ("http://a.test:0080/x", "http://a.test/x"),
        ("http://a.test./x", "http://a.test/x"),
        ("http://user:secret@a.test/x", "http://a.test/x"),
        ("http://a.test/x#part", "http://a.test/x"),
        ("http://a.test/x#!/state", "http://a.test/x"),
        ("http://a.test?", "http://a.test/"),
        ("  http://a.test/a\n\tb ", "http://a.test/ab"),
        ("http:\\\\a.test\\x?q=\\", "http://a.test/x?q=%5C"),
        ("http:///a.test/x", "http://a.test/x"),
        ("http:a.test/x", "http://a.test/x"),
        ("http://[::0001]:80/x", "http://[::1]/x"),
        ("http://新闻.test/", "http://xn--efvy88h.test/"),
        ("http://faß.test/", "http://xn--fa-hia.test/"),  # IDNA 2008: not fass.test
        ("http://FASS.test/", "http://fass.test/"),
        ("http://☃.test/", "http://xn--n3h.test/"),  # a symbol, by IDNA 2003
        ("http://a%2Etest/", "http://a.test/"),
        ("http://a.test/./b/../c/%2e%2e/d", "http://a.test/d"),
        ("http://a.test/../../x/..", "http://a.test/"),
        ("http://a.test/a//b/", "http://a.test/a//b/"),
        ("http://a.test/%7euser/%41%2f%3d", "http://a.test/~user/A%2F%3D"),
        ("http://a.test/100%/x", "http://a.test/100%25/x"),
        ("http://a.test/新?q=新 闻", "http://a.test/%E6%96%B0?q=%E6%96%B0%20%E9%97%BB"),
        ("http://a.test/?z=1&a=2&z=3", "http://a.test/?z=1&a=2&z=3"),
        ("http://a.test/?q=%c4%e3%ba%c3", "http://a.test/?q=%C4%E3%BA%C3"),
    ],
)
def test_canonical_form(written: str, expected: str) -> None:
    assert canonical(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "",
        "x.html",
        "//a.test/x",
        "javascript:void(0)",
        "JavaScript:alert(1)",
        "mailto:a@b.test",
        "ftp://a.test/",
        "data:text/html,x",
        "http://",
        "http://:80/",
        "http://a b.test/",
        "http://a..test/",
        "http://a.test:x/",
        "http://a.test:65536/",
        "http://a.test:²/",
        "http://[::1/",
        "http://[zz]/",
        f"http://{'a' * 64}.test/",
        f"http://{'新' * 300}.test/",
        "http://新..\u0378.test/",
        f"http://a.test/{'x' * MAX_URL}",
        f"http://a.test/{'新' * 1000}",
    ],
)
def test_invalid_url_has_no_canonical_form(written: str) -> None:
    assert canonical(written) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("b.html", "http://news.test/sport/2020/b.html"),
        ("/b", "http://news.test/b"),
        ("//other.test/b", "http://other.test/b"),
        ("../b", "http://news.test/sport/b"),
        ("./b", "http://news.test/sport/2020/b"),
        ("?p=2", "http://news.test/sport/2020/a.html?p=2"),
        ("#top", BASE),
        ("", BASE),
        ("http:b", "http://news.test/sport/2020/b"),
        ("https:b.test/x", "https://b.test/x"),
        ("b:c", None),
        ("a/b:c", "http://news.test/sport/2020/a/b:c"),
        ("https://x.test/b", "https://x.test/b"),
        ("\\\\other.test\\b", "http://other.test/b"),
        ("新闻.html", "http://news.test/sport/2020/%E6%96%B0%E9%97%BB.html"),
    ],
)
def test_relative_url_is_resolved(written: str, expected: str | None) -> None:
    assert canonical(written, BASE) == expected


def test_relative_url_needs_a_usable_base() -> None:
    assert canonical("b.html", "mailto:x") is None
    assert canonical("http://a.test/b", "mailto:x") == "http://a.test/b"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("http://a.test/x;jsessionid=0A1B?id=1", "http://a.test/x?id=1"),
        ("http://a.test/x?PHPSESSID=abc&id=1", "http://a.test/x?id=1"),
        ("http://a.test/x?id=1&utm_source=b&utm_medium=c", "http://a.test/x?id=1"),
        ("http://a.test/x?spm=a2c.1", "http://a.test/x"),
        ("http://a.test/x?%75tm_source=b", "http://a.test/x"),
        ("http://a.test/x?ASPSESSIONIDAB=Q&y", "http://a.test/x?y"),
        ("http://a.test/x?sid=0cc175b9c0f1", "http://a.test/x"),
        ("http://a.test/x?sid=20160112", "http://a.test/x?sid=20160112"),
        ("http://a.test/x?sid=sport", "http://a.test/x?sid=sport"),
        ("http://a.test/x?SessionID=12&y", "http://a.test/x?SessionID=12&y"),
        ("http://a.test/x?session_id=7", "http://a.test/x?session_id=7"),
        ("http://a.test/x?sessionid=12345", "http://a.test/x"),  # of a visitor
        ("http://a.test/x?sessionid=12345678&y=1", "http://a.test/x?y=1"),
        ("http://a.test/x?sessionid=12ab&sessionid", "http://a.test/x"),
        ("http://a.test/x?s=football2016cup", "http://a.test/x?s=football2016cup"),
        ("http://a.test/x?spmx=1&mysid=0cc175b9c0f1", "http://a.test/x?spmx=1&mysid=0cc175b9c0f1"),
    ],
)
def test_only_session_ids_and_trackers_are_removed(written: str, expected: str) -> None:
    assert canonical(written) == expected


def test_query_uses_the_encoding_of_its_page() -> None:
    # 你 is C4 E3 in GBK, E4 BD A0 in UTF-8, A7 41 in Big5; paths are always UTF-8
    assert canonical("http://a.test/你?w=你", encoding="gbk") == "http://a.test/%E4%BD%A0?w=%C4%E3"
    assert canonical("http://a.test/?w=你", encoding="Big5") == "http://a.test/?w=%A7A"
    assert canonical("http://a.test/?w=東京", encoding="cp932") == "http://a.test/?w=%93%8C%8B%9E"
    assert canonical("http://a.test/?w=서울", encoding="cp949") == "http://a.test/?w=%BC%AD%BF%EF"
    assert canonical("http://a.test/?w=мир", encoding="cp1251") == "http://a.test/?w=%EC%E8%F0"
    assert canonical("http://a.test/?w=é", encoding="utf-16-le") == "http://a.test/?w=%C3%A9"
    # 你 is U+4F60: as browsers, characters that the encoding lacks become references
    lacking = "http://a.test/?w=%26%2320320%3B"
    assert {canonical("http://a.test/?w=你", encoding=e) for e in ("cp1251", "cp949")} == {lacking}
    assert canonical("http://a.test/?w=你", encoding="rot13") == "http://a.test/?w=%E4%BD%A0"


def test_lone_surrogate_in_a_url_is_replaced() -> None:
    assert canonical("http://a.test/\ud800") == "http://a.test/%3F"


@pytest.mark.parametrize(
    ("url", "host", "origin", "site"),
    [
        ("http://news.a.com.cn/x", "news.a.com.cn", "http://news.a.com.cn", "a.com.cn"),
        ("https://B.co.uk:8443?x", "b.co.uk", "https://b.co.uk:8443", "b.co.uk"),
        ("http://u:p@a.test/x@y", "a.test", "http://a.test", "a.test"),
        (
            "http://www.city.demo.test/",
            "www.city.demo.test",
            "http://www.city.demo.test",
            "demo.test",
        ),
        ("http://10.0.0.1:80/", "10.0.0.1", "http://10.0.0.1:80", "10.0.0.1"),
        ("http://[::1]:80/", "[::1]", "http://[::1]:80", "[::1]"),
        ("http://localhost/", "localhost", "http://localhost", "localhost"),
        ("nothing", "", "", "nothing"),
        ("", "", "", ""),
    ],
)
def test_host_origin_site(url: str, host: str, origin: str, site: str) -> None:
    assert (host_of(url), origin_of(url), site_of(url)) == (host, origin, site)


def test_words_are_decoded_from_utf_8_or_gbk() -> None:
    assert words("http://a.test/%E8%B6%B3%E7%90%83/News24h?k=cup") == [
        "足球", "news", "24", "h", "k", "cup",
    ]  # fmt: skip
    assert words("http://a.test/%d7%e3%c7%f2") == ["足球"]
    assert words("http://a.test") == []


def test_digits_in_directories_are_replaced() -> None:
    assert group("http://a.test/n1/20200511/c2/d/x.html?a=/b/") == ("/n#/", "/n#/#/", "/n#/#/c#/")
    assert group("http://a.test/n1/20200511/x.html", levels=1) == ("/n#/",)
    assert group("http://a.test/?x=/y/") == ()
    assert group(f"http://a.test/{'d' * 100}/x") == (f"/{'d' * 40}/",)
