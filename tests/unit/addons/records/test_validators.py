"""What a template crawl remembers of an answer, to ask on condition the next time."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from topiccrawl.addons.records import spider as template
from topiccrawl.addons.records.periods.visits import PageResult, Result


@pytest.mark.parametrize(("length", "kept"), [(20, True), (50_000, False)])
def test_a_validator_that_no_server_takes_back_is_not_kept(length: int, kept: bool) -> None:  # noqa: FBT001
    etag = "e" * length
    response = HtmlResponse("http://a.test/", headers={"ETag": etag}, body=b"")
    step = template._with_validators(
        PageResult("http://a.test/", "n", Result.READ, records=()), response
    )
    assert step.etag == (etag if kept else "")
