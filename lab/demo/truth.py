"""Ground truth of a page of the demo web."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.demo.plan import Kind


@dataclass(frozen=True, slots=True)
class Truth:
    """All that the generator knows of a page.

    Attributes:
        url: Canonical URL.
        kind: What it is.
        subject: Label of its subject, "" for none.
        relevant: Whether it is an article, blog post or hub of the web's topic.
        allowed: Whether robots.txt lets ``topiccrawl`` fetch it (False too where that file is not
            available).
        reachable: Whether a page that can be fetched leads to it, endless traps apart.
        depth: Links (redirects count) from the nearest seed; -1 where not reachable.
        obtainable: Reachable, allowed, and in the end answered with status 200.
        status: Of its answer; 0 where there is none (cut, dropped, never ending).
        target: Where it redirects, "" for none.
        title: Headline of an article, blog post or advert.
        body: Its paragraphs, one a line.
        published: ISO 8601 with zone, to the minute.
        source: Site that published the story first.
        author: Its author.
        language: ``zh``, ``zh-Hant`` or ``en``.
        encoding: Codec of its bytes, whatever header and meta say.
        story: Number of its story, shared by reprints and copies; -1 for none.
        reprint_of: URL of the original that it reprints.
        like: Story that has the same template and names but other numbers and date; -1.
        canonical: URL that its ``rel=canonical`` names, "" for none.
        noindex: By meta robots or X-Robots-Tag; so are the next two.
        nofollow: Its links are not to be followed.
        noarchive: It is not to be kept.
    """

    url: str
    kind: Kind
    subject: str = ""
    relevant: bool = False
    allowed: bool = True
    reachable: bool = False
    depth: int = -1
    obtainable: bool = False
    status: int = 200
    target: str = ""
    title: str = ""
    body: str = ""
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    encoding: str = ""
    story: int = -1
    reprint_of: str = ""
    like: int = -1
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False

    def as_dict(self) -> Mapping[str, object]:
        """Return the fields as JSON values."""
        return asdict(self)
