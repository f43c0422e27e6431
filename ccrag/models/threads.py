"""How torch's threads are shared: one operation over all cores, or an operation on each core."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread_per_operation() -> Iterator[int]:
    """Let threads begun inside work alone, and yield how many there should be."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)
