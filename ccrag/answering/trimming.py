"""Display trims of an answer sentence: what the source says stays in its evidence. Pure."""

import re

_CITATION = re.compile(
    # A run of blanks is tried from its beginning alone, or long ones would cost their square.
    r"(?:(?<!\s)\s+)?\[\s*\d+(?:\s*[-–,;]\s*\d+)*\s*\]"  # "[3]", "[4, 7-9]"
    r"|(?<=[a-z]{4})\d{1,2}(?:,\d{1,2})*(?=[.,;]?(?:\s|$))"  # "capacity36,37": raised numbers
)
_ASIDE = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")
_CONNECTIVE = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|consequently"
    r"|nevertheless|nonetheless|accordingly|similarly|likewise|besides|finally|as such"
    r"|for example|for instance|in particular|on the other hand|in contrast|as a result),\s+",
    re.IGNORECASE,
)
_SPACE_BEFORE_MARK = re.compile(r"(?<!\s)\s+([.,;:!?])")


def trimmed(text: str) -> str:
    """
    Return `text` without citation markers, asides in parentheses and a leading connective.

    White space is collapsed and the first letter is a capital again. Words are otherwise left as
    they stand, in their order. Nothing left: the text as it came.
    """
    rest = _CONNECTIVE.sub("", _ASIDE.sub("", _CITATION.sub("", text)).strip())
    rest = " ".join(_SPACE_BEFORE_MARK.sub(r"\1", rest).split())
    if not any(map(str.isalnum, rest)):
        return text
    return rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
