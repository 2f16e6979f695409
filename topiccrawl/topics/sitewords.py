"""Term weights by site: terms on most pages of a site have a low weight on this site.

A place name in the masthead of a local paper, or a product name in a manual, is on every page and
does not distinguish pages. Document frequencies of the topic's terms are counted by site during the
crawl. The weight of a term is the geometric mean of its general IDF and its IDF on the site. The
general document frequency is the prior of the site's, with a weight of ``PRIOR`` pages. The scorer
scales the weights so that the length of the topic vector is unchanged: on a site about the topic,
where all terms are on most pages, they keep their weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

PRIOR = 20
"""Weight of the general document frequency, in pages."""

MOST_SITES = 10_000
"""Most sites stored; above it the least recently observed site is evicted."""


class SiteWords:
    """Counts of pages with each term of a topic, by site.

    Attributes:
        counts: Number of pages, and number of pages with each term, by site; JSON values.

    >>> words = SiteWords()
    >>> for n in range(200):
    ...     words.observe(f"http://a.test/{n}", ["oklahoma"])
    >>> round(words.factor("http://a.test/", "oklahoma", 8.0), 2)
    0.11
    >>> words.factor("http://b.test/", "oklahoma", 8.0)
    1.0
    """

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, dict[str, int]]] = {}

    def observe(self, url: str, terms: Iterable[str]) -> None:
        """Count a page and its terms; call it once for each page."""
        site = urlsplit(url).netloc
        pages, with_term = self.counts.pop(site, (0, {}))
        for term in terms:
            with_term[term] = with_term.get(term, 0) + 1
        self.counts[site] = (pages + 1, with_term)
        if len(self.counts) > MOST_SITES:
            del self.counts[next(iter(self.counts))]

    def factor(self, url: str, term: str, idf: float) -> float:
        """Return the weight of a term on this page's site, in [0, 1].

        Args:
            url: The page's URL.
            term: One of the topic's terms.
            idf: General inverse document frequency of the term, above 0.
        """
        pages, with_term = self.counts.get(urlsplit(url).netloc, (0, {}))
        if not pages:
            return 1.0
        share = (with_term.get(term, 0) + PRIOR * math.exp(-idf)) / (pages + PRIOR)
        return math.sqrt(min(1.0, max(0.0, -math.log(share)) / idf))
