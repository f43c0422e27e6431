"""
The node's jars and launcher in the per-user cache, put there once.

A cache folder is complete or absent: it is built beside its place under a lock, checked against
the digests kept with this module, and moved in one step. Its name holds the digest of what it was
built from, so another release of ccrag builds another.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ccrag.config.environment import JAVA, environment
from ccrag.engine.node.java import find_java
from ccrag.engine.node.state import exclusive
from ccrag.errors import NodeError

ASSETS = Path(__file__).with_name("assets")
DIGESTS = "jars.sha256"
BUILT_FROM = ("OsNode.java", DIGESTS, "log4j2.properties", "pom.xml")
RESOLVE_TIMEOUT_S = 900.0
_DRAFT = "node-draft-"
_DIGEST_LINE = re.compile(r"([0-9a-f]{64})  (\S+\.jar)")


def prepare_runtime(cache: Path, *, assets: Path = ASSETS, notify: Callable[[str], None]) -> Path:
    """
    Return the cache folder with `lib/` (jars) and `classes/` (launcher), building it if absent.

    Raises:
        NodeError: no JDK, no Maven, Maven failed, or a jar is not the one this release was tested
            with.
    """
    expected = read_digests(assets / DIGESTS)
    folder = cache / f"node-{_fingerprint(assets)}"
    if not folder.is_dir():
        with exclusive(cache, timeout_s=RESOLVE_TIMEOUT_S, doing="resolving jars"):
            if not folder.is_dir():
                _build(folder, assets, expected, notify)
    verify_jars(folder / "lib", expected, remedy=f"delete {folder} and try again")
    return folder


def read_digests(path: Path) -> dict[str, str]:
    """
    Return name → sha256 of every jar, from lines as `sha256sum` prints them.

    Raises:
        NodeError: a line of another form.
    """
    digests = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        match = _DIGEST_LINE.fullmatch(line)
        if match is None:
            raise NodeError(f"{path}:{number}: expected a sha256 digest and a jar, got {line!r}")
        digests[match[2]] = match[1]
    return digests


def verify_jars(lib: Path, expected: Mapping[str, str], *, remedy: str) -> None:
    """
    Check that `lib` holds exactly the expected jars.

    Raises:
        NodeError: naming the first file that is missing, unexpected or different, and `remedy`.
    """
    found = {path.name: path for path in sorted(lib.iterdir())}
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            raise NodeError(f"{lib / name} is missing; {remedy}")
        if name not in expected:
            raise NodeError(f"{found[name]} is not among the known jars; {remedy}")
        with found[name].open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected[name]:
            raise NodeError(
                f"{found[name]} has sha256 {digest}, expected {expected[name]}; {remedy}"
            )


def unpack_bundles(lib: Path) -> None:
    """Replace each plugin bundle (zip) in `lib` by the jars inside it."""
    for bundle in sorted(lib.glob("*.zip")):
        with zipfile.ZipFile(bundle) as archive:
            for name in archive.namelist():
                if name.endswith(".jar"):
                    (lib / Path(name).name).write_bytes(archive.read(name))
        bundle.unlink()


def _fingerprint(assets: Path) -> str:
    digest = hashlib.sha256()
    for name in BUILT_FROM:
        digest.update((assets / name).read_bytes())
    return digest.hexdigest()[:12]


def _build(
    folder: Path, assets: Path, expected: Mapping[str, str], notify: Callable[[str], None]
) -> None:
    """Build `folder`; the caller holds the lock of its parent."""
    javac = find_java("javac")
    maven = shutil.which("mvn")
    if maven is None:
        raise NodeError(
            "no mvn in PATH; the embedded node needs Maven once, to fetch OpenSearch: install it, "
            "or set engine.url to an OpenSearch of your own"
        )
    for left_over in folder.parent.glob(f"{_DRAFT}*"):
        shutil.rmtree(left_over)
    notify(f"first time: resolving {len(expected)} jars with Maven (about 50 MB)")
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=folder.parent) as temporary:
        draft = Path(temporary) / "node"
        draft.mkdir()
        _resolve(maven, assets, draft)
        verify_jars(
            draft / "lib",
            expected,
            remedy="Maven fetched something else than this release of ccrag was tested with; "
            "check the repositories in your Maven settings",
        )
        _compile(javac, assets, draft)
        draft.rename(folder)


def _resolve(maven: str, assets: Path, draft: Path) -> None:
    pom = shutil.copy(assets / "pom.xml", draft)  # Maven may want to write beside it
    lib = draft / "lib"
    _run(
        [
            *(maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"),
            *(f"-DoutputDirectory={lib}", "-DincludeScope=runtime"),
        ],
        failure="Maven could not fetch OpenSearch; check the network and your Maven settings",
    )
    unpack_bundles(lib)


def _compile(javac: str, assets: Path, draft: Path) -> None:
    classes = draft / "classes"
    _run(
        [
            *(javac, "--release", "17", "-cp", f"{draft / 'lib'}/*"),
            *("-d", str(classes), str(assets / "OsNode.java")),
        ],
        failure="the node's launcher does not compile",
    )
    shutil.copy(assets / "log4j2.properties", classes)


def _run(command: list[str], *, failure: str) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=RESOLVE_TIMEOUT_S,
            env=environment(*JAVA),
        )
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"{failure} ({command[0]} took over {RESOLVE_TIMEOUT_S:.0f} s)") from error
    if done.returncode != 0:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise NodeError("\n  ".join([f"{failure}; {command[0]} says:", *said[-8:]]))
