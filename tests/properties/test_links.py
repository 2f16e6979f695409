"""Property tests of URLs, pages and traps: any string is accepted, results are stable."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import urljoin, urlsplit

from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import safe_url_string

from topiccrawl.links import urls
from topiccrawl.links.page import read_page
from topiccrawl.links.skeletons import group
from topiccrawl.links.traps import trap
from topiccrawl.links.urls import canonical, host_of, origin_of, site_of, words

BASES = st.sampled_from(
    ["http://a.test/", "https://b.test:81/x/y.html?q#f", "http://新.test/新/", "x", "//c"]
)
PIECES = st.sampled_from([
    "http:", "https:", "http://", "https://", "//", "/", "///", ":", "@", ".", "..", "./", "../",
    "?", "&", "=", "#", "%41", "%2e", "%2f", "%c4%e3", "%e4%bd%a0", "%", ";", "+", "\\", "[", "]",
    "~", "\t", "\n", " ", "a", "B", "新", "é", "ß", "\u0130", "ａ", "。", "\ud800", "\x00",
    "a.test", "A.TEST", "xn--a", "127.0.0.1", "[::1]", ":80", ":443", ":8080", "user:pw@", "sid=",
    ";jsessionid=1", "utm_source=a", "utm_a", "spm", "PHPSESSID=x", "0cc175b9c0f1b6", "2016",
    "index.html",
])  # fmt: skip
URLS = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(PIECES, max_size=12).map(lambda pieces: "http://a.test" + "".join(pieces)),
    st.text(max_size=60),
)
ENCODINGS = st.sampled_from(["utf-8", "gbk", "gb18030", "big5", "euc-jp", "no-such", "utf-16"])
SEGMENTS = st.lists(st.text("abz09-_~.", min_size=1, max_size=5), max_size=5)
TAGS = st.sampled_from([
    "<a href=x>", "<a href='../y?a=1'>", "<a href=z>", "</a>", "<div>", "</div>", "<ul>", "</ul>",
    "<li>", "<p>", "<table>", "<tr>", "<td>", "</table>", "<h2>", "</h2>", "<b>", "</b>",
    "<base href=/z/>", "<script>", "</script>", "<!--", "-->", "<img alt=i>", "<title>", "</title>",
    "<svg>", "</svg>", "<template>", "<iframe src=f>", "<frameset>", "<a rel=nofollow href=n>",
    "<select>", "<option>", "<", ">", "&", "&lt;", "新闻", "text", "&nbsp;", "\ud800", "\x00", " ",
])  # fmt: skip
SOUP = st.one_of(st.lists(TAGS, max_size=40).map("".join), st.text(max_size=100))


@given(URLS, st.none() | BASES | URLS, ENCODINGS)
def test_a_canonical_url_is_its_own_canonical_form(
    url: str, base: str | None, encoding: str
) -> None:
    once = canonical(url, base, encoding)
    if once is not None:
        assert canonical(once) == canonical(once, "http://other.test/x", encoding) == once
        assert once.isascii()
        assert "#" not in once
        parts = urlsplit(once)
        assert parts.scheme in {"http", "https"}
        assert parts.path.startswith("/")
        assert not {".", ".."} & set(parts.path.split("/"))


@given(URLS, BASES)
def test_scrapy_keeps_a_canonical_url_as_it_is(url: str, base: str) -> None:
    once = canonical(url, base)
    if once is not None:
        assert safe_url_string(once) == once


@given(URLS)
def test_fast_and_full_canonicalization_agree(url: str) -> None:
    once = canonical(url)
    if once is not None:
        assert urls._canonicalize.__wrapped__(once, None, "utf-8") == once


@given(SEGMENTS, st.sampled_from(["", "/", "../", "../../", "./"]), SEGMENTS)
def test_plain_references_resolve_as_urljoin_does(
    here: list[str], up: str, there: list[str]
) -> None:
    base = canonical(f"http://a.test/{'/'.join(here)}") or ""
    reference = up + "/".join(there)
    assert canonical(reference, base) == canonical(urljoin(base, reference))


@given(URLS)
def test_the_parts_of_any_string_are_strings(url: str) -> None:
    assert host_of(url) in origin_of(url)
    assert isinstance(site_of(url), str)
    assert all(word and word == word.lower() for word in words(url))
    assert len(group(url)) <= 3
    assert trap(url) is None or trap(url)


@given(URLS)
def test_origin_and_host_of_a_canonical_url_are_its_beginning(url: str) -> None:
    once = canonical(url)
    if once is not None:
        assert once.startswith(origin_of(once) + "/")
        assert host_of(once).strip("[]") == urlsplit(once).hostname
        assert host_of(once).endswith(site_of(once))


@given(URLS)
def test_groups_are_nested_and_have_no_digits(url: str) -> None:
    groups = group(url)
    assert all(inner.startswith(outer) for outer, inner in pairwise(groups))
    assert not any(letter.isdigit() and letter.isascii() for g in groups for letter in g)


@given(SOUP)
def test_any_page_can_be_read(html: str) -> None:
    page = read_page(html, "http://a.test/dir/")
    assert page == read_page(html, "http://a.test/dir/")
    assert page.text == " ".join(page.text.split())
    found = [link.url for link in page.links]
    assert len(found) == len(set(found))
    assert page.url not in found
    assert all(canonical(url) == url for url in found)
    blocks = [link.block for link in page.links]
    assert all(block >= -1 for block in blocks)


@given(SOUP)
def test_anchors_are_part_of_the_text(html: str) -> None:
    page = read_page(html, "http://a.test/dir/")
    together = page.text.replace(" ", "")
    for link in page.links:
        assert link.anchor in {"i", ""} or link.anchor.replace(" ", "") in together
