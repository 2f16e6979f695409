"""Tests of meta refreshes in pages of any declared encoding."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from topiccrawl.middlewares.metarefresh import HeadRefreshMiddleware

REQUEST = Request("http://a.test/")


def process(body: bytes, charset: str = "utf-8") -> Request | Response:
    response = HtmlResponse(
        REQUEST.url, body=body, headers={"Content-Type": f"text/html; charset={charset}"}
    )
    middleware = HeadRefreshMiddleware.from_crawler(get_crawler())
    found = middleware.process_response(REQUEST, response)
    return REQUEST if found is response else found


def refresh(url: str) -> bytes:
    return f'<meta http-equiv="refresh" content="0; url={url}">'.encode("gbk")


@pytest.mark.parametrize("charset", ["zlib", "idna", "punycode", "undefined", "none", "x" * 999])
def test_codec_that_is_not_a_page_charset_is_not_used(charset: str) -> None:
    assert process(b"refresh" + b"a-" * 50_000, charset) is REQUEST


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://[::1", "data:,x", "file:///"])
def test_refresh_to_an_invalid_url_is_ignored(url: str) -> None:
    assert process(refresh(url)) is REQUEST


@pytest.mark.parametrize("charset", ["gbk", "utf-8", "zlib"])
def test_refresh_url_is_decoded_as_its_page(charset: str) -> None:
    found = process(refresh("/新闻") + "新能源汽车的动力电池今天有了新进展".encode("gbk"), charset)
    assert found.url == "http://a.test/%E6%96%B0%E9%97%BB"


@pytest.mark.parametrize("kind", [Response, HtmlResponse])
def test_response_that_is_no_page_or_has_no_type_is_passed_on(kind: type[Response]) -> None:
    response = kind(REQUEST.url, body=b"refresh")
    middleware = HeadRefreshMiddleware.from_crawler(get_crawler())
    assert middleware.process_response(REQUEST, response) is response
