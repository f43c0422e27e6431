"""
A provider on loopback that speaks the OpenAI API: chat completions, files, batches.

    with serving(lambda body: '{"sentences": []}') as provider:
        provider.fail("POST /chat/completions", refused(429), HANG)
        provider.batches.endings.append(Ending("expired", done=3))
        ...  # provider.url is the base URL

What it answers is scripted, and so is what goes wrong. Everything it was asked is kept.
"""

from tests.provider.batches import Ending, Lines
from tests.provider.faults import CUT, DROPPED, HANG, HANG_AFTER, Fault, refused
from tests.provider.server import Provider, serving

__all__ = [
    "CUT",
    "DROPPED",
    "HANG",
    "HANG_AFTER",
    "Ending",
    "Fault",
    "Lines",
    "Provider",
    "refused",
    "serving",
]
