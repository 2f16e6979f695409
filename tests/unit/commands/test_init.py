"""Test of the commands that ``topiccrawl init`` prints."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import topiccrawl
from topiccrawl.commands.init import create
from topiccrawl.commands.main import main
from topiccrawl.messages import choose_language
from topiccrawl.topics.topic import read, resolve


def test_folder_and_topic_are_quoted_for_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, topic = str(tmp_path / "my news"), '"battery recycling" | (电池 回收)'
    with pytest.raises(SystemExit, match="0"):
        main(["init", folder, "--topic", topic])
    commands = capsys.readouterr().out.splitlines()[1:3]
    assert shlex.split(commands[0]) == ["cd", folder]
    assert shlex.split(commands[1])[:3] == ["topiccrawl", "crawl", topic]


def test_folder_that_begins_with_a_dash_is_no_option_of_cd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["init", "-news"])
    assert capsys.readouterr().out.splitlines()[1] == "  cd ./-news"


@pytest.mark.parametrize(
    "words", ["人工智能在医疗中的应用", "玻利维亚总统辞职", "football", "+足球 -彩票"]
)
def test_the_topic_file_is_the_topic_of_the_words(tmp_path: Path, words: str) -> None:
    create(tmp_path / "news", resolve(words))
    (path,) = (tmp_path / "news" / "topics").glob("*.toml")
    assert read(path) == resolve(words)


def code(text: str) -> list[str]:
    """Return the statements of a module, without its docstring."""
    return [ast.dump(one) for one in ast.parse(text).body[1:]]


def test_comments_are_in_the_language_of_the_user(tmp_path: Path) -> None:
    create(tmp_path / "english", resolve("足球"))
    choose_language("zh")
    try:
        create(tmp_path / "chinese", resolve("足球"))
    finally:
        choose_language("")
    english, chinese = tmp_path / "english/english", tmp_path / "chinese/chinese"
    settings = (chinese / "settings.py").read_text("utf-8")
    assert "# 写上站点所有者可以联系你的地址。" in settings
    assert '# REDIS_URL = "redis://127.0.0.1:6379/0"' in settings
    named = (english / "settings.py").read_text("utf-8").replace("english", "chinese")
    assert code(settings) == code(named)
    assert read(*chinese.parent.glob("topics/*.toml")) == resolve("足球")


@pytest.mark.parametrize("name", ["data", "topics"])
def test_the_package_is_no_other_folder_of_the_project(tmp_path: Path, name: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["init", str(tmp_path / name)])
    assert (tmp_path / name / "newsroom" / "settings.py").is_file()


def test_a_package_in_a_zip_file_creates_the_same_files(tmp_path: Path) -> None:
    package = Path(topiccrawl.__file__).parent
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for file in package.rglob("*"):
            if "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(package.parent))
    code = "from topiccrawl.commands.main import main; main(['init', 'zipped'])"
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": "package.zip"}, check=True
    )
    with pytest.raises(SystemExit, match="0"):
        main(["init", str(tmp_path / "plain" / "zipped")])

    def texts(folder: Path) -> dict[Path, str]:
        found = (one for one in folder.rglob("*") if one.is_file())
        return {one.relative_to(folder): one.read_text("utf-8") for one in found}

    assert texts(tmp_path / "zipped") == texts(tmp_path / "plain" / "zipped")
    assert len(texts(tmp_path / "zipped")) > 5
