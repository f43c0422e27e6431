"""
Find where a model thinks aloud in its reply, in the spellings that model families use. Pure.

What stands between an opening tag and its end is no answer. Without an end, nothing after the
opening is one; and what stands before an end without an opening is none either: some chat templates
put the opening tag into the prompt.
"""

import re

_WORD = r"(?:think|thinking|thought|thoughts|reason|reasoning|reflection|scratchpad|analysis)"
_TAG = re.compile(
    rf"""
      (?: [<＜◁] \s{{0,3}} (?P<slash>/?) \s{{0,3}} (?:\w{{1,16}}:)? (?P<tag>{_WORD})
          (?: \s [^<>＜＞◁▷]{{0,80}} )? (?<!/) [>＞▷] )
    | (?: \[ (?P<square_slash>/?) (?P<square>{_WORD}) \] )
    | (?: <\| (?P<pipe_slash>/?) (?: (?P<side>begin|start|end) _ (?:of_)? )? (?P<pipe>{_WORD}) \|> )
    | (?P<unused>  <unused9[45]> )
    | (?P<channel> <\|channel\|> \s{{0,3}} (?P<name>\w{{1,20}}) [^<>]{{0,80}} <\|message\|> )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""`<think>`, `◁think▷`, `[THINK]`, `<|begin_of_thought|>`, gpt-oss' channels, and their ends."""
_CHANNEL_END = re.compile(r"<\|(?:end|start|return|call|channel)\|>", re.IGNORECASE)
ANSWER_CHANNEL = "final"


class ThinkingTag:
    """A tag of thinking that was found in a text."""

    def __init__(self, match: re.Match[str]) -> None:
        """Take a match of `find_tag`."""
        self._match = match
        self.start = match.start()
        self.end = match.end()

    @property
    def opens(self) -> bool:
        """Tell whether thinking begins here; otherwise it ends here."""
        found = self._match
        if found["channel"]:
            return found["name"].casefold() != ANSWER_CHANNEL
        if found["unused"]:
            return found["unused"] == "<unused94>"
        ends = (found["side"] or "").casefold() == "end"
        return not (found["slash"] or found["square_slash"] or found["pipe_slash"] or ends)

    @property
    def kind(self) -> str:
        """Return what an opening tag and its end share."""
        found = self._match
        named = found["tag"] or found["square"] or found["pipe"]
        return named.casefold() if named else ("channel" if found["channel"] else "unused")

    def end_in(self, text: str) -> int | None:
        """Return where the thinking that this tag opens has ended; None: nowhere in `text`."""
        if self.kind == "channel":
            end = _CHANNEL_END.search(text, self.end)
            if end is None:
                return None
            return end.end() if end[0].casefold() == "<|end|>" else end.start()
        at = self.end
        while (tag := find_tag(text, at)) is not None:
            if not tag.opens and tag.kind == self.kind:
                return tag.end
            at = tag.end
        return None


def find_tag(text: str, at: int = 0) -> ThinkingTag | None:
    """Return the first tag of thinking in `text` from `at` on, if there is one."""
    match = _TAG.search(text, at)
    return None if match is None else ThinkingTag(match)
