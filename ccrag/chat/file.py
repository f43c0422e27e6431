"""
The file of a dialogue: JSON Lines, see `lines`.

A line is on disk before the next question is asked; of one that a kill cut off nothing is read. A
file that is damaged, of another kind, or over something else is refused and left as it is.
"""

import os
from contextlib import suppress
from pathlib import Path

import orjson

from ccrag.chat.exchanges import Conversation, Exchange
from ccrag.chat.transcript import NEW_LINE, Ground, exchange_line, read_exchange
from ccrag.errors import InputError
from ccrag.runs.files import replacing


class ChatFile:
    """
    Where a dialogue is kept; `read` comes before the first line that is appended.

    The file is made when that line is written, or by `begin`.
    """

    def __init__(self, path: Path, ground: Ground) -> None:
        self.path = path
        self._ground = ground
        self._end = 0
        """Where the next line is to stand; what follows is torn."""
        self._size = 0
        """Of the whole file, as we left it."""
        self._joint = b""
        """A newline, where the last line has none."""
        self._waiting: list[bytes] = []
        """Lines that could not be written."""

    @property
    def is_torn(self) -> bool:
        """Tell whether the file ended in the middle of a line when it was read."""
        return self._size > self._end

    def read(self) -> Conversation:
        """
        Return the dialogue as it stands; empty if there is no file yet.

        Raises:
            InputError: the file is damaged, none of a chat, or over something else.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return Conversation()
        except OSError as error:
            raise self._refused("cannot be read", error) from error
        if not data:
            return Conversation()
        conversation = Conversation()
        for number, line in enumerate(self._whole_lines(data), start=1):
            try:
                if number == 1:
                    self._ground.check(line)
                    continue
                exchange = read_exchange(line)
            except InputError as error:
                raise InputError(error.problem, path=self.path, line=number) from error
            conversation = Conversation() if exchange is None else conversation.and_then(exchange)
        return conversation

    def _whole_lines(self, data: bytes) -> list[bytes]:
        """
        Return the lines, at least one; a last one without newline only if nothing of it is missing.
        """
        *lines, last = data.split(b"\n")
        self._size, self._end = len(data), len(data) - len(last)
        if last and (not lines or _is_json(last)):
            lines.append(last)
            self._end, self._joint = len(data), b"\n"
        return lines

    def begin(self) -> None:
        """
        Write the first line, unless it is there.

        Raises:
            InputError: it cannot be written.
        """
        if self._end:
            return
        head = self._ground.line()
        try:
            self._check_untouched()
            with replacing(self.path) as file:
                file.write(head)
        except OSError as error:
            raise self._refused("cannot be written", error) from error
        self._end = self._size = len(head)

    def append_exchange(self, exchange: Exchange) -> None:
        """
        Keep an exchange; it is on disk when this returns.

        Raises:
            InputError: it could not be written. It will be, before the next line.
        """
        self._append(exchange_line(exchange))

    def append_new(self) -> None:
        """
        Keep that a new dialogue begins.

        Raises:
            InputError: as `append_exchange`.
        """
        self._append(NEW_LINE)

    def _append(self, line: bytes) -> None:
        lines = [*self._waiting, line]
        try:
            self.begin()
            self._write(self._joint + b"".join(lines))
        except InputError:
            self._waiting = lines
            raise
        self._joint, self._waiting = b"", []

    def _write(self, content: bytes) -> None:
        """Put `content` at the end, all of it or nothing."""
        try:
            self._check_untouched()
            self._put(content)
        except OSError as error:
            raise self._refused("cannot be written", error) from error

    def _check_untouched(self) -> None:
        size = self.path.stat().st_size if self.path.exists() else 0
        if size != self._size:
            raise InputError(
                "was changed by somebody else, so that nothing more is written to it; "
                "end this chat, and go on from the file or from another",
                path=self.path,
            )

    def _put(self, content: bytes) -> None:
        end = self._end
        try:
            with self.path.open("r+b") as file:
                file.seek(self._end)
                file.write(content)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            end += len(content)
        finally:
            if end == self._end:  # a torn line must not stand in the way of the next
                with suppress(OSError):
                    os.truncate(self.path, end)
            self._end = self._size = end

    def _refused(self, what: str, error: OSError) -> InputError:
        return InputError(f"{what}: {error.strerror}", path=self.path)


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
