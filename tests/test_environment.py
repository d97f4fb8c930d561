import pytest

from kafkaviz.environment import positive_number
from kafkaviz.errors import KafkavizError

NAME = "KAFKAVIZ_SOME_LIMIT"


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 7), ("  ", 7), ("5", 5), (f"{'0' * 5000}12", 12), ("9" * 18, 10**18 - 1)],
)
def test_a_limit_is_a_number_above_zero(monkeypatch, text, number):
    monkeypatch.setenv(NAME, text)
    assert positive_number(NAME, 7) == number


@pytest.mark.parametrize(
    "text", ["0", "-1", "1e3", "٣", "²", "1_000", "0x10", "9" * 19, "9" * 5000]
)
def test_any_other_limit_is_refused_in_one_line(monkeypatch, text):
    """Python itself refuses to parse thousands of digits."""
    monkeypatch.setenv(NAME, text)
    with pytest.raises(KafkavizError) as fault:
        positive_number(NAME, 7)
    assert NAME in str(fault.value) and len(str(fault.value)) < 200
