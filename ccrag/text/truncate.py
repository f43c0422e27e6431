"""Foreign text in messages and labels, truncated to what can be read at a glance. Pure."""

SHOWN_CHARS = 60


def shortened(text: str, *, max_chars: int) -> str:
    """Return `text`, or its beginning and an ellipsis: at most `max_chars` characters."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def short_repr(value: object, *, max_chars: int = SHOWN_CHARS) -> str:
    """Return `value` as Python writes it, shortened."""
    return shortened(repr(value), max_chars=max_chars)
