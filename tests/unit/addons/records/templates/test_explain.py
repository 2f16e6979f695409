"""Tests of the command that prints the record of a page file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.records.templates.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "<title>四川云上软件有限公司</title><p>电话：028-86111111</p>".encode("gbk")


def test_record_is_printed_with_its_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lx.html"
    file.write_bytes(PAGE)
    assert main([str(file), "--template", "软件公司-四川"]) == 0
    out = capsys.readouterr().out
    assert "record 四川云上软件有限公司" in out
    assert "联系方式: +86 28 8611 1111" in out
    assert "0.97 line: 电话:028-86111111" in out
    assert "QQ: not found" in out
    assert main([str(file), "--template", "软件公司-四川", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "四川云上软件有限公司"


def test_control_characters_of_the_page_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "lx.html").write_text(
        "<title>四川云上\u202e软件有限公司</title><p>电话：028-86111111</p>"
    )
    for options in ([], ["--json"]):
        assert main([str(file), "--template", "软件公司-四川", *options]) == 0
        out = capsys.readouterr().out
        assert ("\\u202e" in out, "\u202e" in out) == (True, False)


def test_exit_status_without_record_or_with_invalid_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>a")
    assert main([str(file), "--template", "软件公司-四川"]) == 1
    for wrong in ([str(file), "--template", "x"], ["none.html", "--template", "软件公司-四川"]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)
    assert "none.html: cannot be read" in capsys.readouterr().err
