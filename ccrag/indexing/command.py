"""Commands that an error recommends: what is typed back does what it says."""

import shlex
from collections.abc import Sequence

from ccrag.config import Settings
from ccrag.indexing.spec import index_spec
from ccrag.models.encoder import missing_extra

SECRETS = ("password", "token", "api_key")
"""Settings whose values no message shows."""
UNNEEDED = ("provider.", "output.", "batch.", "serve.", "chat.", "llm.")
"""Sections that no index depends on; the first may hold a key that no message should show."""


def index_command(name: str, pipelines: Sequence[Settings] | Settings) -> str:
    """
    Return the command that builds the index `name` for `pipelines`; PATH... is the user's to fill.

    It keeps every pipeline as it was given (a TOML file stays a path) and every setting that an
    index can depend on. Pipelines under different settings take a command each, joined by `&&`,
    and so does an extra that must be installed first.
    """
    wanted = [pipelines] if isinstance(pipelines, Settings) else pipelines
    groups: dict[tuple[str, ...], list[str]] = {}
    installs: dict[str, None] = {}
    for settings in wanted:
        source = settings.source
        given = source.pipeline or settings.name
        needed = (item for item in source.overrides if not item.strip().startswith(UNNEEDED))
        named = groups.setdefault(tuple(map(_without_secret, needed)), [])
        if given not in named:
            named.append(given)
        extra = missing_extra(settings.encoder) if index_spec(settings).needs_encoder else None
        if extra is not None:
            installs[extra] = None
    commands = []
    for overrides, named in groups.items():
        options = ["--index", name, "--pipeline", ",".join(named)]
        for override in overrides:
            options += ["--set", override]
        commands.append(f"ccrag index PATH... {shlex.join(options)}")
    return " && ".join((*installs, *commands))


def _without_secret(override: str) -> str:
    """
    Return an override whose value, if it is a secret, is the user's to fill again, as PATH... is.
    """
    key, _, _ = override.partition("=")
    is_secret = key.rpartition(".")[2].strip().lower() in SECRETS
    return f"{key}=..." if is_secret else override
