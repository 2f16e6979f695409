"""Tests of the validators that a template crawl stores for conditional requests."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from topiccrawl.addons.records import spider
from topiccrawl.addons.records.periods.visits import PageResult, Result


@pytest.mark.parametrize(("length", "kept"), [(20, True), (50_000, False)])
def test_too_long_validator_is_not_stored(length: int, kept: bool) -> None:  # noqa: FBT001
    etag = "e" * length
    response = HtmlResponse("http://a.test/", headers={"ETag": etag}, body=b"")
    step = spider._with_validators(
        PageResult("http://a.test/", "n", Result.READ, records=()), response
    )
    assert step.etag == (etag if kept else "")
