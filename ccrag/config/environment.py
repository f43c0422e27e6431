"""The environment of processes that ccrag starts: keys and passwords are none of their business."""

import os

INHERITED = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH")
"""Variables that every process gets: none that may hold a key."""
JAVA = (
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "M2_HOME",
    "MAVEN_HOME",
    "MAVEN_OPTS",
    "MAVEN_ARGS",
)
"""Variables that Java's tools read besides."""


def environment(*more: str) -> dict[str, str]:
    """Return the variables that a process is started with: `INHERITED` and `more`, where set."""
    return {name: os.environ[name] for name in (*INHERITED, *more) if name in os.environ}
