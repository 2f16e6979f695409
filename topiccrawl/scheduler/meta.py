"""The one key that topiccrawl puts into ``request.meta``: plain JSON, read and written here.

>>> from scrapy import Request
>>> request = Request("http://example.test/")
>>> write(request, Ticket(token=7, evidence=(0.5,), depth=2))
>>> read(request).evidence, read(request).depth
((0.5,), 2)
>>> read(Request("http://example.test/")) is None
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scrapy import Request

    from topiccrawl.model import Evidence

KEY = "topiccrawl"
"""The one key in ``request.meta``."""
ROLE = "topiccrawl_role"
"""Set by a spider on a request with ``dont_filter``: the name of the purpose of the fetch. A URL is
fetched once for each name, also after a restart."""
RENDER = "topiccrawl_render"
"""Set by a spider on a request for a page that a browser renders."""


class Ticket(NamedTuple):
    """Data of a request that came from the frontier.

    Attributes:
        token: Number of the open lease in this process; 0 for a request outside the frontier.
        robots: Whether it fetches a robots.txt.
        evidence: Evidence of the URL when it was leased.
        depth: Links from the nearest seed.
        anchor: Anchor text stored with the URL; empty for a seed.
        context: Context text stored with it.
        slot: Host whose slot must be released when the request leaves the downloader, or "".
        reported: Whether its download was reported to the frontier.
    """

    token: int
    robots: bool = False
    evidence: Evidence = ()
    depth: int = 0
    anchor: str = ""
    context: str = ""
    slot: str = ""
    reported: bool = False


def write(request: Request, ticket: Ticket) -> None:
    """Put a ticket on a request, replacing an older one."""
    request.meta[KEY] = {**ticket._asdict(), "evidence": list(ticket.evidence)}
    request.meta["depth"] = ticket.depth


def read(request: Request | None) -> Ticket | None:
    """Return the ticket of a request, or None where it has none."""
    value: dict[str, Any] | None = None if request is None else request.meta.get(KEY)
    return None if value is None else Ticket(**{**value, "evidence": tuple(value["evidence"])})
