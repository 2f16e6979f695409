"""What is known of sites, over each implementation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from topiccrawl.storage.contract import Storage


@pytest.fixture
def known(storage: Storage) -> Sites:
    return Sites(storage)


def test_knowledge_is_kept_by_site_and_key(known: Sites) -> None:
    async def law() -> None:
        await known.open()
        await known.put("a.test", {"patterns": ["^/a/"], "articles": 3})
        await known.put("a.test", {"articles": 4})
        await known.close()
        await known.open()
        assert await known.get("a.test") == {"patterns": ["^/a/"], "articles": 4}
        assert await known.get("b.test") == {}
        assert await known.sites("patterns") == ["a.test"]
        assert await known.sites("frame") == []
        await known.close()

    asyncio.run(law())


def test_a_value_that_json_cannot_carry_is_refused(known: Sites) -> None:
    async def law() -> None:
        await known.open()
        try:
            with pytest.raises(TypeError):
                await known.put("a.test", {"one": 1, "bad": {1, 2}})
            assert await known.get("a.test") == {}
        finally:
            await known.close()

    asyncio.run(law())
