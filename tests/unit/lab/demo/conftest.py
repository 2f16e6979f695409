from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest
from selectolax.lexbor import LexborHTMLParser

from lab.demo import Web, generate

if TYPE_CHECKING:
    from collections.abc import Callable

LATE = 1_000


@pytest.fixture(scope="session")
def web() -> Web:
    """A small web with everything in it."""
    return generate(7, pages=700)


Links = list[str]


@pytest.fixture(scope="session")
def links_of(web: Web) -> Callable[[str], Links]:
    """Return the links of a page that a crawler may follow, from its HTML."""

    def read(url: str) -> Links:
        answer = web.answer(url, LATE, "seen=1")
        if answer.status // 100 == 3:
            return [urljoin(url, dict(answer.headers)["Location"])]
        truth = web.lookup(url)
        assert truth is not None
        tree = LexborHTMLParser(answer.body.decode(truth.encoding))
        robots = tree.css_first('meta[name="robots"]')
        if robots is not None and "nofollow" in (robots.attributes["content"] or ""):
            return []
        base = tree.css_first("base[href]")
        start = urljoin(url, base.attributes["href"] or "") if base is not None else url
        return [
            urljoin(start, anchor.attributes["href"] or "")
            for anchor in tree.css("a[href]:not([rel=nofollow])")
        ]

    return read
