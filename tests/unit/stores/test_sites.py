from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from topiccrawl.stores.sites import SiteKnowledge

if TYPE_CHECKING:
    from pathlib import Path


def test_knowledge_is_kept_by_site_and_key(tmp_path: Path) -> None:
    async def law() -> None:
        known = SiteKnowledge(tmp_path, now=lambda: 1.0)
        await known.open()
        await known.put("a.test", {"patterns": ["^/a/"], "articles": 3})
        await known.put("a.test", {"articles": 4})
        await known.close()
        await known.open()
        assert await known.get("a.test") == {"patterns": ["^/a/"], "articles": 4}
        assert await known.get("b.test") == {}
        await known.close()

    asyncio.run(law())


def test_a_value_that_json_cannot_carry_is_refused(tmp_path: Path) -> None:
    async def law() -> None:
        known = SiteKnowledge(tmp_path)
        await known.open()
        try:
            with pytest.raises(TypeError):
                await known.put("a.test", {"one": 1, "bad": {1, 2}})
            assert await known.get("a.test") == {}
        finally:
            await known.close()

    asyncio.run(law())
