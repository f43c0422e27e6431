"""
Prompts in files: the packaged ones in `ccrag/prompts`, or a user's own.

A file begins with `version: N` and holds messages, each below a line `--- system` or `--- user`.
They are Jinja templates; a value that is put in is never read as a template itself.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal, cast

from jinja2 import Environment, StrictUndefined, Template, TemplateError

from ccrag.errors import ConfigError
from ccrag.llm.request import ChatMessage

SUFFIX = ".md"
_VERSION = re.compile(r"version: *(\S+) *\n")
_ROLE = re.compile(r"^--- *(system|user) *$\n?", re.MULTILINE)
_JINJA = Environment(  # noqa: S701  # plain text for a model: nothing is HTML
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@lru_cache
def _compiled(template: str) -> Template:
    """Once for all queries: compiling takes longer than all else that makes a request."""
    return _JINJA.from_string(template)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file, read."""

    name: str
    version: str
    templates: tuple[tuple[Literal["system", "user"], str], ...]

    @property
    def label(self) -> str:
        """Return what the record of a call names it by: `name@version`."""
        return f"{self.name}@{self.version}"

    @property
    def text(self) -> str:
        """Return the templates, as the file has them."""
        return "".join(f"--- {role}\n{template}" for role, template in self.templates)

    @property
    def digest(self) -> str:
        """Return 16 hex digits over version and templates."""
        return hashlib.blake2b(
            repr((self.version, self.templates)).encode(), digest_size=8
        ).hexdigest()

    def messages(self, **values: object) -> tuple[ChatMessage, ...]:
        """
        Return the messages with `values` put in.

        Raises:
            ConfigError: the file asks for a value that there is not, or is not a template.
        """
        try:
            return tuple(
                ChatMessage(role, _compiled(template).render(values).strip())
                for role, template in self.templates
            )
        except TemplateError as error:
            raise ConfigError(f"prompt {self.name}: {error}") from error


def load_prompt(name: str) -> Prompt:
    """
    Return the prompt of a packaged name (`answer`), or of a file whose name ends in `.md`.

    Raises:
        ConfigError: there is none, or it has no version or no message.
    """
    if name.endswith(SUFFIX):
        return parse_prompt(Path(name).stem, _read(Path(name)))
    packaged = resources.files("ccrag") / "prompts" / f"{name}{SUFFIX}"
    if not packaged.is_file():
        known = ", ".join(prompt_names())
        raise ConfigError(f"no prompt {name!r}; there are {known}; or give a {SUFFIX} file")
    return parse_prompt(name, packaged.read_text(encoding="utf-8"))


def prompt_names() -> list[str]:
    """Return the names of the packaged prompts, sorted."""
    folder = resources.files("ccrag") / "prompts"
    names = [entry.name for entry in folder.iterdir() if entry.name.endswith(SUFFIX)]
    return sorted(name.removesuffix(SUFFIX) for name in names)


def parse_prompt(name: str, text: str) -> Prompt:
    """
    Read a prompt file's text.

    Raises:
        ConfigError: it has no version or no message.
    """
    version = _VERSION.match(text)
    if version is None:
        raise ConfigError(f"prompt {name}: its first line must say `version: N`")
    parts = _ROLE.split(text[version.end() :])
    roles = cast("list[Literal['system', 'user']]", parts[1::2])
    if not roles or parts[0].strip():
        raise ConfigError(f"prompt {name}: after the version, a line `--- system` or `--- user`")
    return Prompt(name, version[1], tuple(zip(roles, parts[2::2], strict=True)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"prompt file {path} cannot be read: {error}") from error
