"""Sharing of torch's threads: one operation over all cores, or an operation on each core."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread_per_operation() -> Iterator[int]:
    """Give each operation one thread inside the `with`, and yield how many workers to start."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)
