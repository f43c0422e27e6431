"""Display trims of an answer sentence: what the source says stays in its evidence. Pure."""

import re

# "[3]", "[4, 7-9]"; not "values in [0, 1]", "list[3]", "the range [1, 5]": these say something
_CITATION = re.compile(
    r"(?<!\bin)(?<!\bof)(?<!\bto)(?<!\bis)(?<!\bare)(?<!\bfrom)(?<!\bwithin)(?<!\bbetween)"
    r"(?<!\brange)(?<!\binterval)(?<!\blist)(?<!\barray)(?<!\bvector)(?<![=:,<>(])"
    # A run of blanks is tried from its beginning alone, or long ones would cost their square.
    r"(?<!\s)\s+\[\s*[1-9]\d*(?:\s*[-–,;]\s*[1-9]\d*)*\s*\]"
    r"|(?<=[a-z]{4})\d{1,2}(?:,\d{1,2})+(?=[.,;]?(?:\s|$))",  # "capacity36,37": raised numbers
    re.IGNORECASE,
)
# Only what points elsewhere, "(Smith et al., 2019)", "(see Fig. 3)": another may be the answer
_ASIDE = re.compile(
    r"(?:(?<!\s)\s+)?\((?:see |e\.g\. |cf\. )?"
    r"(?:(?-i:[A-Z])[^()\d]*,? (?:19|20)\d\d[a-z]?(?:[;,] [^()]*)?"
    r"|(?:figs?|figures?|tables?|tabs?|eqs?|refs?|sections?|appendix)\.? [^()]*)\)",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|consequently"
    r"|nevertheless|nonetheless|accordingly|similarly|likewise|besides|finally"
    r"|on the other hand|in contrast|as a result),\s+",  # "for example" is part of the claim
    re.IGNORECASE,
)
_SPACE_BEFORE_MARK = re.compile(r"(?<!\s)\s+([.,;:!?])")


def trimmed(text: str) -> str:
    """
    Return `text` without citation markers, pointers in parentheses and a leading connective.

    Nothing that could be part of what is said goes: no other parenthesis, number or index. White
    space is collapsed and the first letter is a capital again. Words are otherwise left as they
    stand, in their order. Nothing left: the text as it came.
    """
    rest = _CONNECTIVE.sub("", _ASIDE.sub("", _CITATION.sub("", text)).strip())
    rest = " ".join(_SPACE_BEFORE_MARK.sub(r"\1", rest).split())
    if not any(map(str.isalnum, rest)):
        return text
    return rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
