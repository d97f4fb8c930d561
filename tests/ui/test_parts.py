"""The small parts: what is read from files never becomes markup."""

import pytest

from kafkaviz.ui import parts


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
    """A long path loses its middle, and is as long as asked."""
    assert parts.middle(text, length) == short
    assert len(short) <= length


def test_plain_text_is_no_markdown():
    """A name full of Markdown reads as it is in a label."""
    assert parts.plain("__consumer_offsets-0") == r"\_\_consumer\_offsets\-0"
    assert parts.plain(":red[x] $y$") == r"\:red\[x\] \$y\$"
    assert parts.plain("orders 0") == "orders 0"


def test_a_name_becomes_no_markup():
    """Text is escaped wherever it goes into HTML."""
    evil = '<img src=x onerror="alert(1)">'
    for html in (
        parts.mono(evil),
        parts.escape(evil),
        parts.icon(evil),
        parts.key([("closed", evil)]),
        parts._metric(evil, evil, evil),
    ):
        assert "<img" not in html


def test_dashes_are_marked_where_a_number_will_stand():
    """A lone dash is marked; the dash of a range is not."""
    assert parts._dashes("– batches, – records") == "<i>–</i> batches, <i>–</i> records"
    assert parts._dashes("0–39 999") == "0–39 999"


def test_a_metric_splits_the_unit_off():
    """The number stands large, its unit small."""
    html = parts._metric("Log", "20.5 MiB", "54 917 batches")
    assert '<div class="kv-v">20.5 <small>MiB</small></div>' in html


@pytest.mark.parametrize("kind", parts.SEVERITIES)
def test_a_severity_says_its_name(kind):
    """A mark is read out, not only seen."""
    assert f'aria-label="{kind}"' in parts.severity(kind)
