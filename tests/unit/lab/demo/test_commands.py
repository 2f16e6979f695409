from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.demo import DemoServer, Web
from lab.demo.__main__ import main
from lab.demo.crawl import command, run
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

FETCH = "import sys, urllib.request as u; u.urlopen(sys.argv[1]).read(); sys.exit(int(sys.argv[2]))"
WAIT = """
import signal, sys, time
def stop(*_):
    print("stopped", flush=True)
    sys.exit(7)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
time.sleep(600)
"""
OUTER = """
import sys
from lab.demo.crawl import run
sys.exit(run([sys.executable, "-c", sys.argv[1]], "http://127.0.0.1:9"))
"""


@pytest.fixture
def kept_handlers() -> Iterator[None]:
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    assert former == {number: signal.getsignal(number) for number in former}


@pytest.mark.usefixtures("kept_handlers")
def test_a_command_sees_the_web_and_its_status_is_ours(web: Web, tmp_path: Path) -> None:
    with DemoServer(web, log=tmp_path / "log") as server:
        for status in (0, 3):
            line = [sys.executable, "-c", FETCH, web.seeds[0], str(status)]
            assert run(line, server.proxy) == status
    assert (tmp_path / "log").read_text(encoding="utf-8").count(web.seeds[0]) == 2


def test_a_killed_command_gives_a_shell_s_status() -> None:
    line = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    assert run(line, "http://127.0.0.1:9") == 128 + signal.SIGKILL


def test_an_interrupt_is_passed_on_and_waited_for() -> None:
    line = [sys.executable, "-c", OUTER, WAIT]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as outer:
        assert outer.stdout is not None
        assert outer.stdout.readline() == "ready\n"
        outer.send_signal(signal.SIGINT)
        assert outer.stdout.readline() == "stopped\n"
        assert outer.wait(PATIENCE) == 7


def test_the_operator_s_arguments_come_last(web: Web) -> None:
    line = command(web, Path("state"), ["-s", "DOWNLOAD_DELAY=2", "-O", "out.jsonl"])
    assert line.index("DOWNLOAD_DELAY=2") > line.index("DOWNLOAD_DELAY=0.05")
    assert line[-2:] == ["-O", "out.jsonl"]
    assert f"topic={web.topic}" in line
    assert f"seeds={','.join(web.seeds)}" in line


def test_truth_and_collection_are_written(tmp_path: Path) -> None:
    shared = ["--pages", "450", "--seed", "2"]
    assert main(["truth", *shared, str(tmp_path / "t.jsonl")]) == 0
    assert (tmp_path / "t.jsonl").read_text(encoding="utf-8").count("\n") == 450
    assert main(["collection", *shared, str(tmp_path / "d.web.jsonl.gz")]) == 0
    assert (tmp_path / "d.topics.json").exists()


def test_wrong_arguments_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["truth", "--pages", "9", str(tmp_path / "t")]) == 2
    assert "too few" in capsys.readouterr().err
    assert main(["truth", "--colour", "red", str(tmp_path / "t")]) == 2
    assert "--colour" in capsys.readouterr().err
    assert main(["truth", "--pages", "450", str(tmp_path / "none" / "t")]) == 2
    assert "none/t" in capsys.readouterr().err


def test_serving_ends_at_an_interrupt(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = [sys.executable, "-m", "lab.demo", "serve", "--pages", "450", "--log", str(log)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        seed = server.stdout.readline().split()[1].split(",")[0]
        proxy = said.strip().rpartition("http_proxy=")[2]
        environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
        fetch = [sys.executable, "-c", FETCH, seed, "0"]
        subprocess.run(fetch, env=environment, check=True, timeout=PATIENCE)
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0
    assert seed in log.read_text(encoding="utf-8")
