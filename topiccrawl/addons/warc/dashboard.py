"""Dashboard routes of archived copies."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.warc.copies import Copy
    from topiccrawl.storage.ledger import Ledger


def routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:  # noqa: ARG001
    """Return the routes of archived copies: the list of a URL's copies, and a single copy."""
    folder = Path(settings.get("WARC_DIR") or "")
    archived = bool(settings.get("WARC_DIR")) and find_spec("warcio") is not None

    async def found(request: web.Request) -> list[Copy]:
        url = request.query.get("url", "")
        if not archived or canonical(url) is None:
            return []
        from topiccrawl.addons.warc.copies import copies

        return await asyncio.to_thread(copies, folder, url)

    async def every(request: web.Request) -> web.Response:
        return web.json_response([one.at for one in await found(request)])

    async def one(request: web.Request) -> web.Response:
        at = request.query.get("at", "")
        wanted = [one for one in await found(request) if at in {"", one.at}]
        if not wanted:
            raise web.HTTPNotFound(text="no archived copy of this page\n")
        from topiccrawl.addons.warc.copies import shown

        return await asyncio.to_thread(shown, folder, wanted[0])

    return [web.get("/api/copies", every), web.get("/api/copy", one)]
