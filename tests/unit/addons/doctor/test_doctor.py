"""Tests of the doctor's examinations on real folders, ports and servers."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from pymongo import MongoClient
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from tests.mongo_server import MongoServer, database_uri
from tests.users import ordinary_user
from topiccrawl.addons.doctor.commands.doctor import Command, lines_of
from topiccrawl.addons.doctor.examinations import examinations_of, examine
from topiccrawl.addons.mongodb.client import Server
from topiccrawl.errors import SettingError
from topiccrawl.frontier.store import Store
from topiccrawl.messages import choose_language
from topiccrawl.scheduler.findings import Level, ok
from topiccrawl.storage.database import FILE, Database
from topiccrawl.storage.lmdb_files import LOCK, require_readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.scheduler.findings import Finding


def settings(folder: Path, **given: object) -> Settings:
    made = Settings()
    made.setmodule("topiccrawl.settings", priority="project")
    made.setdict({"TOPICCRAWL_DATA_DIR": str(folder), **given}, priority="cmdline")
    return made


def found(name: str, folder: Path, **given: object) -> list[Finding]:
    return list(examine(settings(folder, **given), [name]))


def worst(findings: list[Finding]) -> Level:
    order = list(Level)
    return max((finding.level for finding in findings), key=order.index)


def test_no_examination_fails_and_each_warning_has_a_remedy(tmp_path: Path) -> None:
    agent = "topiccrawl (+https://a.test/crawler)"
    findings = list(examine(settings(tmp_path, USER_AGENT=agent)))
    assert worst(findings) is not Level.FAIL, findings
    for finding in findings:
        assert bool(finding.remedy) == (finding.level is not Level.OK)
        assert finding.text in "\n".join(lines_of(finding))
    assert {"python", "packages", "dictionary", "disk", "clock"} <= {f.what for f in findings}


@pytest.mark.parametrize(
    ("name", "given", "level", "message"),
    [
        ("settings", {"DOWNLOAD_DELAY": "soon"}, Level.FAIL, "DOWNLOAD_DELAY is 'soon'"),
        ("settings", {"TOPICCRAWL_WORK_SITES": "0"}, Level.FAIL, "TOPICCRAWL_WORK_SITES is '0'"),
        ("settings", {"TOPICCRAWL_PAGE": "9"}, Level.WARN, "did you mean TOPICCRAWL_PAGES?"),
        ("settings", {"TOPICCRAWL_CRAWL": "../x"}, Level.FAIL, "TOPICCRAWL_CRAWL"),
        ("manners", {"DOWNLOAD_DELAY": "0"}, Level.WARN, "DOWNLOAD_DELAY is 0 s"),
        ("manners", {"ROBOTSTXT_OBEY": "0"}, Level.WARN, "is not obeyed"),
        ("manners", {"TELNETCONSOLE_ENABLED": "1"}, Level.WARN, "opens a telnet console"),
        ("ports", {"TOPICCRAWL_DASHBOARD": "0.0.0.0:0"}, Level.WARN, "from other machines"),
        ("ports", {"TOPICCRAWL_DASHBOARD": "who"}, Level.FAIL, "TOPICCRAWL_DASHBOARD is 'who'"),
        ("redis", {"REDIS_URL": "redis://:secret@127.0.0.1:9/0"}, Level.FAIL, "127.0.0.1:9"),
        ("redis", {"REDIS_URL": "nonsense"}, Level.FAIL, "REDIS_URL cannot be used"),
        ("mongodb", {"MONGODB_URI": "mongodb://me:secret@127.0.0.1:9/n?timeoutMS=300"},
         Level.FAIL, "mongodb://127.0.0.1:9/n"),
    ],
)  # fmt: skip
def test_wrong_setting_is_reported(
    name: str, given: dict[str, str], level: Level, message: str, tmp_path: Path
) -> None:
    findings = found(name, tmp_path, **given)
    assert worst(findings) is level
    text = "\n".join(line for finding in findings for line in lines_of(finding))
    assert message in text
    assert "secret" not in text


def test_unwritable_folder_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert worst(found("disk", tmp_path / "file" / "data")) is Level.FAIL
    assert worst(found("disk", tmp_path / "not" / "yet")) is not Level.FAIL
    assert not (tmp_path / "not").exists(), "looking makes nothing"


def test_damaged_store_is_a_failure(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE)
    database.open()
    database.close()
    assert worst(found("state", tmp_path)) is Level.OK
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[:8192] + b"\xff" * 8192 + data[16384:])
    findings = found("state", tmp_path)
    assert worst(findings) is Level.FAIL
    assert "restore it from a backup" in findings[-1].remedy


def test_folder_in_place_of_the_store_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert worst(found("state", tmp_path)) is Level.FAIL


def test_damaged_frontier_is_a_failure(tmp_path: Path) -> None:
    store = Store(tmp_path / "frontiers" / "a")
    store.put_many("urls", {b"%09d" % n: b"x" * 400 for n in range(1_000)})
    store.commit()
    store.wait_for_commit()
    require_readable(store.path)  # also while a crawl writes to it
    store.close()
    assert worst(found("state", tmp_path)) is Level.OK
    path = store.path / "data.mdb"
    data = path.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    damaged = (bytes(4096) if page.count(b"x") > 1_000 else page for page in pages)
    path.write_bytes(b"".join(damaged))
    assert worst(found("state", tmp_path)) is Level.FAIL


@pytest.mark.parametrize("denied", [FILE, "frontiers/a", f"frontiers/a/{LOCK}"])
def test_state_without_access_is_not_reported_as_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    if denied == FILE:
        Database(tmp_path / FILE).open()
    else:
        Store(tmp_path / "frontiers" / "a").close()
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777)
    (tmp_path / denied).chmod(0o555)
    monkeypatch.chdir(tmp_path)
    with ordinary_user():
        (failed,) = [one for one in found("state", Path()) if one.level is Level.FAIL]
    assert failed.text == f"{denied}: this user may not read and write it"
    assert failed.remedy == "give this user read and write access"


def test_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        findings = found("ports", tmp_path, TOPICCRAWL_DASHBOARD=str(taken.getsockname()[1]))
    assert worst(findings) is Level.WARN


def test_redis_without_persistence_is_reported(tmp_path: Path, redis_url: str) -> None:
    findings = found("redis", tmp_path, REDIS_URL=redis_url)
    assert worst(findings) is Level.WARN
    assert any("append-only" in finding.text for finding in findings)


def test_redis_user_without_rights_fails(tmp_path: Path, redis_url: str) -> None:
    named = redis_url.replace("//", "//doctor:secret@")
    with redis.Redis.from_url(redis_url) as client:
        for rights in (["+@all", "-info"], ["+@read", "+info", "+time"]):
            client.execute_command(
                "ACL", "SETUSER", "doctor", "reset", "on", ">secret", "~*", *rights
            )
            (finding,) = found("redis", tmp_path, REDIS_URL=named)
            assert finding.level is Level.FAIL
            assert "multi-node.md" in finding.remedy
        client.execute_command("ACL", "DELUSER", "doctor")


def test_full_redis_fails(tmp_path: Path, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.config_set("maxmemory", 1)
        try:
            (finding,) = found("redis", tmp_path, REDIS_URL=redis_url)
        finally:
            client.config_set("maxmemory", 0)
    assert finding.level is Level.FAIL
    assert "maxmemory" in finding.text


def test_available_mongodb_is_ok(tmp_path: Path, mongo_uri: str) -> None:
    assert worst(found("mongodb", tmp_path, MONGODB_URI=mongo_uri)) is Level.OK


def test_mongodb_of_a_newer_version_fails(tmp_path: Path, mongo_uri: str) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    with MongoClient[dict[str, Any]](uri) as client:
        client[Server(uri).name]["meta"].insert_one({"_id": "schema", "version": 99})
    (finding,) = found("mongodb", tmp_path, MONGODB_URI=uri)
    assert finding.level is Level.FAIL
    assert "update topiccrawl" in finding.text


def test_mongodb_user_without_write_rights_fails(tmp_path: Path) -> None:
    mongo = MongoServer(tmp_path / "mongo")
    mongo.start("--sync-on-commit")
    try:
        with MongoClient[dict[str, Any]](mongo.uri) as client:
            user = {"createUser": "reader", "pwd": "secret", "roles": ["read"]}
            client["news"].command(user)
        mongo.kill()
        mongo.start("--auth")
        uri = mongo.uri.replace("//", "//reader:secret@").replace("/?", "/news?")
        (finding,) = found("mongodb", tmp_path, MONGODB_URI=uri)
    finally:
        mongo.kill()
    assert finding.level is Level.FAIL
    assert "give the user the role readWrite" in finding.text


def test_exit_status_follows_the_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given, status in (({}, 0), ({"DOWNLOAD_DELAY": "soon"}, 1)):
        command = Command()
        command.settings = settings(tmp_path, **given)
        command.run(["settings"], type("Options", (), {"json": True})())
        assert command.exitcode == status
        (finding,) = json.loads(capsys.readouterr().out)
        assert finding["level"] == ("fail" if status else "ok")
    with pytest.raises(UsageError, match="unknown examination 'x'"):
        list(examine(settings(tmp_path), ["x"]))
    known = examinations_of(settings(tmp_path))
    assert {"versions", "extras", "ports", "redis", "mongodb"} <= set(known)


def test_json_is_in_english_and_lines_are_translated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for is_json in (True, False):
        command = Command()
        command.settings = settings(tmp_path, TOPICCRAWL_LANGUAGE="zh")
        try:
            command.run(["manners"], type("Options", (), {"json": is_json})())
        finally:
            choose_language("")
        shown.append(capsys.readouterr().out)
    assert json.loads(shown[0])[-1]["text"] == "one request to a host every 1 s"
    assert "正常  抓取礼仪    每个主机每 1 秒一次请求" in shown[1].splitlines()


def test_requirements_of_another_python_are_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "topiccrawl-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: topiccrawl\nVersion: 1\n"
        "Requires-Dist: no-such-a; python_version < '3'\n"
        "Requires-Dist: no-such-b; python_version < '3' and extra == 'warc'\n"
        "Requires-Dist: no-such-c; python_version >= '3' and extra == 'warc'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    findings = [*found("versions", tmp_path), *found("extras", tmp_path)]
    missing = [finding.text for finding in findings if finding.level is not Level.OK]
    assert missing == ["warc: no-such-c is missing"]


def mine(_: Settings) -> Iterator[Finding]:
    yield ok("mine", "well")


def test_own_examinations_are_run_and_others_disabled(tmp_path: Path) -> None:
    own = {"mine": f"{__name__}.mine", "ports": None}
    (finding,) = found("mine", tmp_path, TOPICCRAWL_EXAMINATIONS=own)
    assert finding == ok("mine", "well")
    with pytest.raises(UsageError, match="'ports'"):
        found("ports", tmp_path, TOPICCRAWL_EXAMINATIONS=own)
    with pytest.raises(SettingError, match=r"^TOPICCRAWL_EXAMINATIONS is 'no\.such'"):
        found("mine", tmp_path, TOPICCRAWL_EXAMINATIONS={"mine": "no.such"})
