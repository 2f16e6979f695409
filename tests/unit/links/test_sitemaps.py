"""Tests of the parsing of sitemaps."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.links.sitemaps import Sitemap, read_sitemap

URL = "http://a.test/1.html"
NEWS = f"<urlset xmlns:n='x'><url><loc>{URL}</loc><n:news/></url><url/></urlset>"


@given(st.binary())
def test_any_bytes_give_a_sitemap(data: bytes) -> None:
    assert isinstance(read_sitemap(data), Sitemap)
    assert isinstance(read_sitemap(b"<" + data), Sitemap)
    assert isinstance(read_sitemap(b"\x1f\x8b" + data), Sitemap)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (NEWS.encode(), Sitemap((URL,), frozenset({URL}))),
        (gzip.compress(NEWS.encode(), mtime=0), Sitemap((URL,), frozenset({URL}))),
        (f"\ufeff{URL}\r\nftp://a.test/\n".encode(), Sitemap((URL,))),
        (b"<sitemapindex><sitemap><loc>u</loc></sitemap></sitemapindex>", Sitemap(sitemaps=("u",))),
        (b"User-agent: *\nSITEMAP: u", Sitemap(sitemaps=("u",))),
        (b"<urlset><!-- c --><url><loc>u</loc><!-- c --></url>", Sitemap(("u",))),
        (b'<!DOCTYPE u [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url>',
         Sitemap()),
    ],
)  # fmt: skip
def test_sitemap_is_read_from_each_format(data: bytes, expected: Sitemap) -> None:
    assert read_sitemap(data) == expected
