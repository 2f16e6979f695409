"""A refresh in the head of a page, whatever the server says of its encoding."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from topiccrawl.middlewares.metarefresh import HeadRefreshMiddleware

ASKED = Request("http://a.test/")


def answered(body: bytes, charset: str = "utf-8") -> Request | Response:
    answer = HtmlResponse(
        ASKED.url, body=body, headers={"Content-Type": f"text/html; charset={charset}"}
    )
    middleware = HeadRefreshMiddleware.from_crawler(get_crawler())
    found = middleware.process_response(ASKED, answer)
    return ASKED if found is answer else found


def refresh(url: str) -> bytes:
    return f'<meta http-equiv="refresh" content="0; url={url}">'.encode("gbk")


@pytest.mark.parametrize("charset", ["zlib", "idna", "punycode", "undefined", "none", "x" * 999])
def test_no_codec_of_python_is_used_that_is_no_charset_of_pages(charset: str) -> None:
    assert answered(b"refresh" + b"a-" * 50_000, charset) is ASKED


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://[::1", "data:,x", "file:///"])
def test_a_page_that_refreshes_to_no_page_is_a_page(url: str) -> None:
    assert answered(refresh(url)) is ASKED


@pytest.mark.parametrize("charset", ["gbk", "utf-8", "zlib"])
def test_a_refresh_is_followed_in_the_encoding_of_its_page(charset: str) -> None:
    found = answered(refresh("/新闻") + "新能源汽车的动力电池今天有了新进展".encode("gbk"), charset)
    assert found.url == "http://a.test/%E6%96%B0%E9%97%BB"
