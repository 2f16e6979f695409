"""Keys of topiccrawl in ``request.meta``.

>>> from scrapy import Request
>>> lease_number(Request("http://a.test/", meta={KEY: 7})), lease_number(Request("http://a.test/"))
(7, 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

KEY = "topiccrawl"
"""Number of the open lease (``Lease.epoch``) of a request; ``LeaseBook`` has the lease."""
ROLE = "topiccrawl_role"
"""Set by a spider on a request with ``dont_filter``: the purpose of the fetch. A URL is fetched
once for each purpose, also after a restart."""
RENDER = "topiccrawl_render"
"""Set by a spider on a request for a page that a browser renders."""


def lease_number(request: Request | None) -> int:
    """Return the number of a request's lease; 0 if it has none."""
    number = None if request is None else request.meta.get(KEY)
    return number if isinstance(number, int) else 0
