"""
A real language model over HTTP, in a process of its own: SmolLM2-135M by llama.cpp's own server.

`python -m tests.model_server MODEL.gguf` prints the base URL and serves until its input closes.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTEXT_TOKENS = 4096


@contextmanager
def serving_model(model: Path) -> Iterator[str]:
    """Base URL of an OpenAI-compatible server that runs `model` on loopback."""
    command = [sys.executable, "-m", "tests.model_server", str(model)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    try:
        if not url:
            raise RuntimeError(f"the model's server did not start: {process.communicate()[1]}")
        yield url
    finally:
        process.communicate()


def main(model: str) -> None:
    """Serve `model` until standard input closes."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
