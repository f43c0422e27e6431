"""The Java tools of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from ccrag.config.environment import JAVA, environment
from ccrag.errors import NodeError

MIN_JAVA = 17
_VERSION = re.compile(r'(?:version "|javac )(\d+)')


def find_java(name: Literal["java", "javac"]) -> str:
    """
    Return the absolute path of `name`: of JAVA_HOME if that is set, else of PATH.

    Raises:
        NodeError: it is missing, or older than Java 17.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home) / "bin") if home else None)
    if found is None:
        place = f"JAVA_HOME ({home})" if home else "PATH"
        raise _missing(f"no {name} in {place}")
    version = _major_version(found)
    if version is None:
        raise _missing(f"{found} does not tell its version")
    if version < MIN_JAVA:
        raise _missing(f"{found} is Java {version}")
    return str(Path(found).absolute())


def _missing(what: str) -> NodeError:
    return NodeError(
        f"{what}; the embedded node needs a JDK {MIN_JAVA} or newer: install one "
        "(java and javac), or set engine.url to an OpenSearch of your own"
    )


def _major_version(tool: str) -> int | None:
    told = subprocess.run(
        [tool, "-version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(*JAVA),
    )
    match = _VERSION.search(told.stdout + told.stderr)
    return int(match[1]) if match else None
