"""Small HTML parts: text from files never becomes markup."""

import pytest

from kafkaviz.app.widgets import elements


@pytest.mark.parametrize(
    ("text", "length", "short"),
    [
        ("/data/kafka", 21, "/data/kafka"),
        ("/srv/backup/2026/kafka-logs", 21, "/srv/b…026/kafka-logs"),
        ("", 21, ""),
        ("abcdefgh", 8, "abcdefgh"),
        ("abcdefghi", 8, "ab…efghi"),
    ],
)
def test_middle_keeps_both_ends(text, length, short):
    """The result has the requested length."""
    assert elements.cut_middle(text, length) == short
    assert len(short) <= length


def test_plain_text_is_no_markdown():
    assert elements.escape_markdown("__consumer_offsets-0") == r"\_\_consumer\_offsets\-0"
    assert elements.escape_markdown(":red[x] $y$") == r"\:red\[x\] \$y\$"
    assert elements.escape_markdown("orders 0") == "orders 0"


def test_a_name_becomes_no_markup():
    evil = '<img src=x onerror="alert(1)">'
    for html in (
        elements.mono(evil),
        elements.escape(evil),
        elements.icon(evil),
        elements.key([("closed", evil)]),
        elements._metric(evil, evil, evil),
    ):
        assert "<img" not in html


def test_dashes_are_marked_where_a_number_will_stand():
    assert elements._dashes("– batches, – records") == "<i>–</i> batches, <i>–</i> records"
    assert elements._dashes("0–39 999") == "0–39 999"


def test_a_metric_splits_the_unit_off():
    html = elements._metric("Log", "20.5 MiB", "54 917 batches")
    assert '<div class="kv-v">20.5 <small>MiB</small></div>' in html


@pytest.mark.parametrize("kind", elements.SEVERITIES)
def test_a_severity_says_its_name(kind):
    assert f'aria-label="{kind}"' in elements.severity(kind)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("of < 0.01 %", "of <~0.01~%"),
        ("300 µs to 5.6 ms, 316 µs", "300~µs to 5.6~ms, 316~µs"),
        ("9.57 KiB beside 2 MB", "9.57~KiB beside 2~MB"),
        ("13 segments by 3 brokers", "13 segments by 3 brokers"),
    ],
)
def test_a_number_keeps_its_unit(text, kept):
    assert elements.keep_units(text) == kept.replace("~", "\u00a0")
