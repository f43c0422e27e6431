"""
The child process of `isolated`: reads one file of its working folder under limits.

Run as `python -m ccrag.corpus.readers.isolated_child REQUEST`; the request is JSON with `file`,
and the fields of `ReadLimits`. Writes `answer.json`: `documents` and `notes`, or `problem`
and `line`. Its standard input carries no data: when it closes, the parent has ended.
"""

import os
import resource
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import orjson

from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.packed import DEFAULT_SIZES
from ccrag.corpus.readers.isolated import ANSWER, OUT_OF_MEMORY, ReadLimits
from ccrag.errors import InputError
from ccrag.types import JSON, Document

NICENESS = 10
"""Those who wait for an answer come before those who add a file."""
MEGABYTE = 1024 * 1024


def main() -> None:
    """Read the file that the request names, and write the answer."""
    request = orjson.loads(sys.argv[1])
    name = request.pop("file")
    limits = ReadLimits(**request)
    _limit(limits)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        answer = _read(Path(name), limits)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except InputError as error:
        answer = {"problem": error.problem, "line": error.line}
    Path(ANSWER).write_bytes(orjson.dumps(answer))


def _read(path: Path, limits: ReadLimits) -> JSON:
    report = LoadReport()
    documents: list[Document] = []
    chars = 0
    # A page takes several times its bytes: one of over a quarter of the memory would not fit.
    most = limits.memory_mb * MEGABYTE // 4
    sizes = DEFAULT_SIZES.at_most(most)
    for document in read_documents(find_files([path], report), report=report, sizes=sizes):
        documents.append(document)
        chars += len(document.title) + len(document.text) + sum(map(len, document.links))
        if len(documents) > limits.documents:
            raise InputError(f"it holds more than {limits.documents} documents; split it")
        if chars > limits.chars:
            raise InputError(f"it holds more than {limits.chars} characters of text; split it")
    if not documents:
        raise InputError("it holds no document")
    return {"documents": [asdict(document) for document in documents], "notes": report.warnings}


def _limit(limits: ReadLimits) -> None:
    """Bound what this process and its children may take."""
    os.nice(NICENESS)
    # The soft limit's signal ends Python; the hard limit, a second later, kills what ignores it.
    seconds = max(1, round(limits.seconds))
    bounds = (
        # Not the address space: libraries reserve much of it that they never use.
        (resource.RLIMIT_DATA, limits.memory_mb * MEGABYTE, limits.memory_mb * MEGABYTE),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, limits.answer_mb * MEGABYTE, limits.answer_mb * MEGABYTE),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for kind, soft, hard in bounds:
        _, allowed = resource.getrlimit(kind)
        if allowed != resource.RLIM_INFINITY:
            soft, hard = min(soft, allowed), min(hard, allowed)
        resource.setrlimit(kind, (soft, hard))


def _end_with_parent() -> None:
    """End this process and its children when the parent's end of standard input closes."""
    os.read(0, 1)  # not sys.stdin: its lock would be held when the interpreter ends
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
