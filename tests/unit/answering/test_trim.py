import pytest

from ccrag.answering.trim import trimmed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ice melts.", "Ice melts."),
        ("Ice melts [3].", "Ice melts."),
        ("Ice melts [3, 5-7] in  spring.", "Ice melts in spring."),
        ("A measure of capacity36,37, it is stable.", "A measure of capacity, it is stable."),
        ("However, ice melts (Smith et al., 2019).", "Ice melts."),
        ("Ice melts (see Fig. 3) in May.", "Ice melts in May."),
        ("Ice (and snow) melts.", "Ice (and snow) melts."),
        ("The dose is 4 grams (2 grams for children).",) * 2,
        ("The default is 8080 (8443 with TLS).",) * 2,
        ("It was founded in Bergen (1928).",) * 2,
        ("Values lie in [0, 1].",) * 2,
        ("Allowed is the range [1, 5].",) * 2,
        ("The first item is items[1].",) * 2,
        ("It needs Python3 or base64.",) * 2,
        ("For example, the limit is 5 MB.",) * 2,
        ("In addition, it grows.", "It grows."),
        ("The value is 3.5 at p53 and 2020.", "The value is 3.5 at p53 and 2020."),
        ("Thus it melts.", "Thus it melts."),
        ("(see above)", "(see above)"),
        ("", ""),
        ("因此，冰融化。", "因此，冰融化。"),
    ],
)
def test_markers_asides_and_connectives_go(text: str, expected: str) -> None:
    assert trimmed(text) == expected
    assert trimmed(trimmed(text)) == trimmed(text)
