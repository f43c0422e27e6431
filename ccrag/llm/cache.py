"""
Replies on disk: the same request to the same server is asked once.

One file a reply, named by the digest of server and request, in the user's cache folder. It holds
the request too, so that a file can be read by a person, and deleted by anyone at any time. Keys
are no part of a request.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from threading import get_ident

import orjson

from ccrag.errors import ModelError
from ccrag.llm.calls import is_usable
from ccrag.llm.client import Llm
from ccrag.llm.reply import ChatReply, Usage
from ccrag.llm.request import ChatRequest, request_body


class ReplyCache:
    """Kept replies of one server. Safe for threads and processes."""

    def __init__(self, folder: Path, *, server: str) -> None:
        """
        Use `folder`, which need not exist.

        Args:
            server: tells replies of one base URL from another's.
        """
        self._folder = folder
        self._server = server

    def fetch(self, request: ChatRequest) -> ChatReply | None:
        """
        Return the kept reply to `request`, marked as cached; None when there is none.

        Raises:
            ModelError: the file cannot be read, or is no reply.
        """
        path = self._path(request)
        try:
            content = orjson.loads(path.read_bytes())
            reply = content["reply"]
            usage = None if reply["usage"] is None else Usage(**reply["usage"])
            return ChatReply(**{**reply, "usage": usage, "cached": True})
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"the kept reply {path} cannot be read: {error}; delete it, or pass "
                "--set provider.cache=false"
            ) from error

    def keep(self, request: ChatRequest, reply: ChatReply) -> None:
        """
        Write `reply` whole or not at all.

        Raises:
            ModelError: the folder cannot be written.
        """
        path = self._path(request)
        partial = path.with_suffix(f".{os.getpid()}-{get_ident()}.part")
        content = {"request": request_body(request), "reply": asdict(reply)}
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
            partial.replace(path)
        except OSError as error:
            raise ModelError(
                f"a reply cannot be kept in {path.parent}: {error}; set provider.cache_folder, or "
                "pass --set provider.cache=false"
            ) from error

    def _path(self, request: ChatRequest) -> Path:
        named = f"{self._server}\n{request.digest}".encode()
        digest = hashlib.blake2b(named, digest_size=16).hexdigest()
        return self._folder / digest[:2] / f"{digest}.json"


def drop_replies(folder: Path, shown: Sequence[str]) -> int:
    """
    Delete the kept replies, of any server, whose request holds one of `shown`.

    Args:
        shown: texts as they stand in a request's messages.

    Raises:
        ModelError: a file cannot be read or deleted.
    """
    dropped = 0
    for path in sorted(folder.glob("??/*.json")) if shown else ():
        try:
            messages = orjson.loads(path.read_bytes())["request"]["messages"]
            held = "\n".join(message["content"] for message in messages)
            if any(text in held for text in shown):
                path.unlink()
                dropped += 1
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"the kept reply {path} cannot be read: {error}; delete it") from error
    return dropped


class CachedLlm:
    """A model whose replies are kept."""

    def __init__(self, llm: Llm, cache: ReplyCache) -> None:
        self._llm = llm
        self._cache = cache

    def complete(self, request: ChatRequest) -> ChatReply:
        """
        Return the kept reply, or the model's, which is kept then.

        A reply that cannot be used is never kept, and one that was kept before is asked again.

        Raises:
            ModelError: no reply could be had, or the cache cannot be used.
        """
        kept = self._cache.fetch(request)
        if kept is not None and is_usable(request, kept):
            return kept
        reply = self._llm.complete(request)
        if is_usable(request, reply):
            self._cache.keep(request, reply)
        return reply
