"""Creation of the detector named by TOPICCRAWL_DUPLICATES, and detection without a store."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from topiccrawl.dedup.contract import DuplicateDetector, ExactText, Match
from topiccrawl.dedup.index import CAPACITY, KeyIndex
from topiccrawl.dedup.ranked import RankedKeywords
from topiccrawl.dedup.verified import WINDOW, VerifiedShingles
from topiccrawl.errors import SettingError, expect, translated
from topiccrawl.messages import message
from topiccrawl.model import Article

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NOT_LOADED = (ImportError, AttributeError, TypeError, ValueError)
NAMES = (VerifiedShingles.name, RankedKeywords.name, ExactText.name)
"""Names of the detectors; the first is the default."""

DEFAULT = NAMES[0]


def load_detector(name: str = DEFAULT, window: int = WINDOW) -> DuplicateDetector:
    """Return a new detector.

    Args:
        name: One of ``NAMES``, or the dotted path of a class.
        window: Maximum number of days between two compared articles (``shingles``); 0 for no limit.

    Raises:
        SettingError: The name is unknown, the class is invalid, or the window is negative.

    >>> load_detector("ranked-keywords").scheme
    'ranked-keywords/1 (6, 4) (10, 6)'
    >>> load_detector("topiccrawl.dedup.ExactText").scheme
    'exact-text/1'
    """
    if window < 0:
        raise SettingError(
            "TOPICCRAWL_DUPLICATES_WINDOW = {window}: give the maximum number of days "
            "between two articles of one story, or 0 for no limit",
            window=window,
        )
    if name == VerifiedShingles.name:
        return VerifiedShingles(window)
    own = {RankedKeywords.name: RankedKeywords, ExactText.name: ExactText}
    return own[name]() if name in own else _load_class(name)


def _load_class(path: str) -> DuplicateDetector:
    """Return an instance of the class at a dotted path."""
    what = f"TOPICCRAWL_DUPLICATES = {path!r}"
    known = f"choose one of {', '.join(NAMES)}, or write the dotted path of a class"
    if "." not in path:
        raise SettingError("{what}: {known}", what=what, known=known)
    text = message("{what} cannot be loaded ({error}): {known}")
    with translated(SettingError, text, _NOT_LOADED, what=what, known=known):
        detector = resolve_name(path)()
    if not isinstance(detector, DuplicateDetector):
        raise SettingError(
            "{what} must have scheme, keys, judge, learn and know: {known}",
            what=what,
            known=known,
        )
    return detector


def index_of(detector: DuplicateDetector, capacity: int = CAPACITY) -> KeyIndex:
    """Return an empty index for a detector.

    Args:
        detector: Detector of the keys; its attribute ``exact``, if true, selects an exact index.
        capacity: Maximum number of articles; the newest are kept.
    """
    return KeyIndex(capacity, exact=getattr(detector, "exact", False))


def find_duplicates(
    articles: Iterable[Article], detector: DuplicateDetector | None = None, *, scan: bool = False
) -> Iterator[tuple[Article, Match]]:
    """Yield the articles that are duplicates of earlier ones, each with its match.

    Args:
        articles: Articles in the order of storing; all stories are kept in RAM.
        detector: Duplicate detector; ``VerifiedShingles`` if None.
        scan: Compare with all stories instead of those that the index finds.

    >>> from topiccrawl.model import Article
    >>> from topiccrawl.text.digest import digest_of
    >>> text = "销量创下新高，" + "，".join(f"第{n}家车企交付{n * 700}辆" for n in range(20))
    >>> texts = [text, "新桥昨天通车。" * 9, text[:150]]
    >>> articles = [Article(f"http://{n}.test/", "", one, digest=digest_of(one))
    ...             for n, one in enumerate(texts)]
    >>> [(copy.url, match.url, match.reason) for copy, match in find_duplicates(articles)]
    [('http://2.test/', 'http://0.test/', 'trimmed')]
    """
    detector = detector or VerifiedShingles()
    remedy = "see topiccrawl.dedup.load_detector"
    expect(detector, DuplicateDetector, "the detector must be a DuplicateDetector", remedy)
    index = index_of(detector)
    stories: dict[int, Article] = {}
    for number, article in enumerate(articles, 1):
        expect(
            article, Article, "every article must be an Article", "see topiccrawl.extract_article"
        )
        keys = detector.keys(article)
        near = stories if scan and keys else index.find(keys)
        match = detector.judge(article, [stories[one] for one in near])
        if match is not None and not match.follows:
            yield article, match
            continue
        index.add(number, keys)
        stories[number] = article
        detector.learn(article)
