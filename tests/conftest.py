"""
The engine that integration tests talk to.

In order: `OPENSEARCH_TEST_URL`; Docker, when an engine is running; the embedded node. Without any,
tests skip with the reason; with `CI` set they fail.
"""

import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import platformdirs
import pytest

from ccrag.config import NodeSettings
from ccrag.config.defaults import PIPELINE_VARIABLE
from ccrag.engine.node import ensure_node, stop_node
from ccrag.engine.node.health import is_ready
from ccrag.engine.node.jars import prepare_runtime
from ccrag.engine.node.java import find_java
from ccrag.errors import NodeError
from tests.support import TOKEN_VARIABLE

IMAGE = "opensearchproject/opensearch:2.19.6"
CONTAINER_START_S = 120.0


@pytest.fixture(scope="session", autouse=True)
def lexical_by_default() -> Iterator[None]:
    """Commands that name no pipeline need no model, so that most tests are quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PIPELINE_VARIABLE, "default")
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything under tests/integration and tests/browser needs an engine."""
    folders = {Path(__file__).parent / name for name in ("integration", "browser")}
    for item in items:
        if folders & set(item.path.parents):
            item.add_marker(pytest.mark.integration)


def fail_in_ci_else_skip(reason: str) -> NoReturn:
    """What a test needs is not here: that is no excuse in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def node_runtime() -> Path:
    """The embedded node's jars and launcher; the test is skipped where they cannot be had."""
    try:
        find_java("java")
        return prepare_runtime(
            platformdirs.user_cache_path("ccrag", appauthor=False), notify=lambda _: None
        )
    except NodeError as error:
        reason = f"no embedded node (nor OPENSEARCH_TEST_URL, nor Docker): {error}"
    fail_in_ci_else_skip(reason)


@pytest.fixture(scope="session")
def engine_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """
    URL of an OpenSearch for this session. It may hold other indexes: use your own names.

    The embedded node's secret goes into the environment beside it, for commands and for
    `tests.support.engine_settings`.
    """
    given = os.environ.get("OPENSEARCH_TEST_URL")
    if given:
        yield given
        return
    if _docker_engine_answers():
        with _container() as url:
            yield url
        return
    request.getfixturevalue("node_runtime")
    settings = NodeSettings(data=tmp_path_factory.mktemp("engine"))
    state = ensure_node(settings)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(TOKEN_VARIABLE, state.secret())
            yield state.url
    finally:
        stop_node(settings)


def _docker_engine_answers() -> bool:
    """Ask the engine: the command line tool alone says nothing."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    asked = subprocess.run(
        [docker, "version", "--format", "{{.Server.Version}}"],
        capture_output=True,
        check=False,
        timeout=30,
    )
    return asked.returncode == 0


@contextmanager
def _container() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, not ours
        from testcontainers.core.container import DockerContainer

        container = (
            DockerContainer(IMAGE)
            .with_env("discovery.type", "single-node")
            .with_env("DISABLE_INSTALL_DEMO_CONFIG", "true")
            .with_env("DISABLE_SECURITY_PLUGIN", "true")
            .with_env("OPENSEARCH_JAVA_OPTS", "-Xms512m -Xmx512m")
            .with_exposed_ports(9200)
        )
        container.start()
        url = f"http://{container.get_container_host_ip()}:{container.get_exposed_port(9200)}"
    try:
        _await_ready(url)
        yield url
    finally:
        container.stop()


def _await_ready(url: str) -> None:
    deadline = time.monotonic() + CONTAINER_START_S
    while not is_ready(url):
        if time.monotonic() > deadline:
            pytest.fail(f"OpenSearch in Docker was not ready after {CONTAINER_START_S:.0f} s")
        time.sleep(0.5)
