"""Tests of the data of sites, over each storage."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from topiccrawl.storage.contract import Storage


@pytest.fixture
def sites(storage: Storage) -> Sites:
    return Sites(storage)


def test_values_are_stored_by_site_and_key(sites: Sites) -> None:
    async def check() -> None:
        await sites.open()
        await sites.put("a.test", {"patterns": ["^/a/"], "articles": 3})
        await sites.put("a.test", {"articles": 4})
        await sites.close()
        await sites.open()
        assert await sites.get("a.test") == {"patterns": ["^/a/"], "articles": 4}
        assert await sites.get("b.test") == {}
        assert await sites.sites("patterns") == ["a.test"]
        assert await sites.sites("frame") == []
        await sites.close()

    asyncio.run(check())


def test_a_value_that_json_cannot_carry_is_refused(sites: Sites) -> None:
    async def check() -> None:
        await sites.open()
        try:
            with pytest.raises(TypeError):
                await sites.put("a.test", {"one": 1, "bad": {1, 2}})
            assert await sites.get("a.test") == {}
        finally:
            await sites.close()

    asyncio.run(check())
