"""The cache of jars, with a Maven and a JDK of shell scripts."""

import hashlib
import shutil
import zipfile
from pathlib import Path

import pytest

from ccrag.engine.node.jars import (
    ASSETS,
    BUILT_FROM,
    prepare_runtime,
    read_digests,
    unpack_bundles,
    verify_jars,
)
from ccrag.errors import NodeError

MAVEN = """#!/bin/sh
for argument; do case $argument in -DoutputDirectory=*) lib=${argument#*=};; esac; done
mkdir -p "$lib" && printf core > "$lib/core.jar"
echo run >> "$(dirname "$0")/maven.runs"
"""
JAVAC = """#!/bin/sh
if [ "$1" = -version ]; then echo javac 17.0.9; exit; fi
for argument; do [ "$previous" = -d ] && classes=$argument; previous=$argument; done
mkdir -p "$classes"
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


class Machine:
    """Tools, assets and cache in a folder of their own."""

    def __init__(self, root: Path) -> None:
        self.bin, self.assets, self.cache = root / "bin", root / "assets", root / "cache"
        self.bin.mkdir()
        script(self.bin / "mvn", MAVEN)
        script(self.bin / "javac", JAVAC)
        shutil.copytree(ASSETS, self.assets)
        self.expect({"core.jar": sha256("core")})
        self.said: list[str] = []

    def expect(self, digests: dict[str, str]) -> None:
        lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
        (self.assets / "jars.sha256").write_text(lines)

    def prepare(self) -> Path:
        return prepare_runtime(self.cache, assets=self.assets, notify=self.said.append)

    def maven_runs(self) -> int:
        runs = self.bin / "maven.runs"
        return len(runs.read_text().splitlines()) if runs.exists() else 0

    def cached(self) -> list[str]:
        return sorted(path.name for path in self.cache.iterdir() if path.name != "node.lock")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{machine.bin}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return machine


def test_jars_are_resolved_once(machine: Machine) -> None:
    folder = machine.prepare()
    assert (folder / "lib" / "core.jar").read_text() == "core"
    assert (folder / "classes" / "log4j2.properties").is_file()
    assert machine.prepare() == folder
    assert machine.maven_runs() == 1
    assert machine.said == ["first time: resolving 1 jars with Maven (about 50 MB)"]
    assert machine.cached() == [folder.name]


@pytest.mark.parametrize("name", BUILT_FROM)
def test_another_release_has_another_folder(machine: Machine, name: str) -> None:
    first = machine.prepare()
    if name == "jars.sha256":
        script(machine.bin / "mvn", MAVEN.replace("core.jar", "other.jar"))
        machine.expect({"other.jar": sha256("core")})
    else:
        with (machine.assets / name).open("a") as file:
            file.write("\n")
    assert machine.prepare() != first


def test_a_wrong_digest_is_not_cached(machine: Machine) -> None:
    machine.expect({"core.jar": sha256("another core")})
    with pytest.raises(NodeError, match=r"core\.jar has sha256 .*Maven settings"):
        machine.prepare()
    assert machine.cached() == []


def test_a_jar_damaged_in_the_cache_is_named(machine: Machine) -> None:
    folder = machine.prepare()
    (folder / "lib" / "core.jar").write_text("c0re")
    with pytest.raises(NodeError, match=rf"core\.jar has sha256 .*delete {folder}"):
        machine.prepare()


def test_a_maven_that_fails_leaves_nothing(machine: Machine) -> None:
    script(machine.bin / "mvn", MAVEN + "echo no route to host >&2; exit 1\n")
    with pytest.raises(NodeError, match="Maven could not fetch OpenSearch(.|\n)*no route to host"):
        machine.prepare()
    assert machine.cached() == []


def test_what_an_interrupted_resolution_left_is_cleared(machine: Machine) -> None:
    (machine.cache / "node-draft-1" / "node").mkdir(parents=True)
    folder = machine.prepare()
    assert machine.cached() == [folder.name]


@pytest.mark.parametrize(
    ("tool", "message"),
    [("mvn", "no mvn in PATH; .*needs Maven"), ("javac", "no javac in PATH; .*JDK 17")],
)
def test_a_missing_tool_is_one_line(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tool: str, message: str
) -> None:
    monkeypatch.setenv("PATH", str(machine.bin))
    (machine.bin / tool).unlink()
    with pytest.raises(NodeError, match=message) as caught:
        machine.prepare()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("home", "message"),
    [(True, r"no javac in JAVA_HOME \(.*\); "), (False, r"javac is Java 11; .*JDK 17")],
)
def test_an_unfit_jdk_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, home: bool, message: str
) -> None:
    script(machine.bin / "javac", JAVAC.replace("17.0.9", "11.0.2"))
    if home:
        monkeypatch.setenv("JAVA_HOME", str(machine.cache))
    with pytest.raises(NodeError, match=message):
        machine.prepare()


def jars(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.jar").write_text(text)
    return folder


def test_exactly_the_expected_jars_pass(tmp_path: Path) -> None:
    expected = {"a.jar": sha256("A"), "b.jar": sha256("B")}
    verify_jars(jars(tmp_path, a="A", b="B"), expected, remedy="-")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": "A"}, r"b\.jar is missing; do this"),
        ({}, r"a\.jar is missing; do this"),
        ({"a": "A", "b": "B", "c": "C"}, r"c\.jar is not among the known jars; do this"),
        ({"a": "A", "b": "b"}, rf"b\.jar has sha256 {sha256('b')}, expected {sha256('B')}; do"),
    ],
)
def test_other_jars_do_not(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    expected = {"a.jar": sha256("A"), "b.jar": sha256("B")}
    with pytest.raises(NodeError, match=message):
        verify_jars(jars(tmp_path, **texts), expected, remedy="do this")


def test_a_line_that_is_no_digest_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jars.sha256"
    path.write_text(f"{sha256('A')}  a.jar\n{sha256('B')[1:]}  b.jar\n")
    with pytest.raises(NodeError, match=r"jars\.sha256:2: expected a sha256 digest"):
        read_digests(path)


def test_the_digests_kept_here_name_the_engine_and_knn() -> None:
    names = read_digests(ASSETS / "jars.sha256").keys()
    pom = (ASSETS / "pom.xml").read_text()
    for jar in ("opensearch-2.19.6.jar", "opensearch-knn-2.19.1.0.jar"):
        assert jar in names
        assert f"version>{jar.rpartition('-')[2].removesuffix('.jar')}<" in pom


def test_a_bundle_becomes_the_jars_inside_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "plugin.zip", "w") as bundle:
        bundle.writestr("deep/../../knn.jar", "K")
        bundle.writestr("LICENSE.txt", "-")
    unpack_bundles(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"knn.jar": "K"}
