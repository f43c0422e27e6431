import pytest

from ccrag.answering.trimming import trimmed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ice melts.", "Ice melts."),
        ("Ice melts [3].", "Ice melts."),
        ("Ice melts [3, 5-7] in  spring.", "Ice melts in spring."),
        ("A measure of capacity36,37, it is stable.", "A measure of capacity, it is stable."),
        ("However, ice (and snow) melts.", "Ice melts."),
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
