"""Tests of ``scrapy frames``."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline

from topiccrawl.addons.frames.frame import KEY, MIN_ARTICLES, SiteFrame
from topiccrawl.extract.body import Body
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

LINE = "本台热线欢迎来电。"


async def store_frame(folder: Path, frame: SiteFrame) -> None:
    knowledge = Sites(SqliteStorage(folder))
    await knowledge.open()
    await knowledge.put("a.test", {KEY: frame.to_json()})
    await knowledge.close()


def test_frames_are_shown_edited_and_dropped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
        monkeypatch.setattr(sys, "argv", ["scrapy", "frames", *arguments, *where])
        with pytest.raises(SystemExit) as end:
            cmdline.execute()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out + captured.err

    assert run("show") == (0, f"{tmp_path / 'store.sqlite'}: no frame of any site\n")
    for action in "show", "drop":
        status, out = run(action, "b.test")
        assert (status, "nothing is stored about the site b.test" in out) == (1, True)
    frame = SiteFrame()
    for number in range(MIN_ARTICLES):
        frame.observe(Body(f"第{number}条。\n{LINE}", box="div.text"))
    asyncio.run(store_frame(tmp_path, frame))
    assert "div.text" in run("show")[1]
    status, out = run("show", "a.test")
    assert status == 0
    assert f"{MIN_ARTICLES} of {MIN_ARTICLES} bodies: {LINE}" in out
    assert "by hand" in run("edit", "www.a.test", "div#story")[1], "it goes by the site's name"
    assert run("edit", "a/b", "div#story")[0] == 1
    assert "div#story" in run("show")[1]
    assert run("edit", "a.test", "div[")[0] == 1
    assert f"kept by hand: {LINE}" in run("keep", "a.test", LINE)[1]
    run("edit", "a.test", "none")
    status, out = run("drop", "a.test")
    assert (status, "learns" in out) == (0, True)
