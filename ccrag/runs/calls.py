"""Add up a run's calls to language models."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ccrag.config import ProviderSettings
from ccrag.formats.provenance import CallRecord


@dataclass(slots=True)
class CallTotals:
    """Calls and tokens, those of replies kept from earlier counted apart: they cost nothing."""

    calls: int = 0
    cached: int = 0
    """Of these, from kept replies."""
    prompt_tokens: int = 0
    """Tokens sent in the calls that were made, as far as the server counts."""
    completion_tokens: int = 0
    """Tokens of the replies to them, as far as the server counts."""
    uncounted: int = 0
    """Calls made whose tokens the server did not tell."""

    def add(self, calls: Iterable[CallRecord]) -> None:
        """Count calls, as provenance has them."""
        for call in calls:
            self.calls += 1
            if call["cached"]:
                self.cached += 1
            elif call["prompt_tokens"] is None or call["completion_tokens"] is None:
                self.uncounted += 1
            else:
                self.prompt_tokens += call["prompt_tokens"]
                self.completion_tokens += call["completion_tokens"]

    def cost(self, provider: ProviderSettings) -> float:
        """By the provider's prices per million tokens."""
        prompt = self.prompt_tokens * provider.prompt_price
        return (prompt + self.completion_tokens * provider.completion_price) / 1_000_000

    def as_json(self, provider: ProviderSettings) -> dict[str, Any]:
        """For provenance; the cost is left out when no price is known."""
        priced = provider.prompt_price or provider.completion_price
        return {**asdict(self), **({"cost": round(self.cost(provider), 6)} if priced else {})}
