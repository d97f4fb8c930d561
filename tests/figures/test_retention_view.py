"""The view of retention, value by value."""

import re
import shlex

from kafkaviz.analysis.retention import RetentionLimits, SegmentAge, log_retention
from kafkaviz.analysis.retention_sums import retention_changes
from kafkaviz.figures.disk import retention_view
from kafkaviz.figures.disk.retention_view import ProposedLimits
from kafkaviz.messages import message, verbatim
from kafkaviz.units import DAY_MS, HOUR_MS

SO = verbatim("so")
TYPED = verbatim("typed")
DEFAULT = message("setting_source.default", release="4.3")


def limits(deletes: bool = True, retention_ms: int = DAY_MS, source=TYPED) -> RetentionLimits:
    return RetentionLimits(
        deletes=deletes,
        policy_source=SO,
        retention_ms=retention_ms,
        ms_source=source,
        retention_bytes=-1,
        bytes_source=source,
    )


def test_what_keeps_each_segment():
    segments = [
        SegmentAge(0, 5, 0, "record", 9),
        SegmentAge(10, 5, 50 * DAY_MS, "mtime"),
        SegmentAge(20, 5, 11 * DAY_MS, "record", 29),
    ]
    week = limits(retention_ms=7 * DAY_MS, source=DEFAULT)
    compacted = log_retention(
        "b-1",
        [SegmentAge(0, 5, 0, "record", 9)],
        RetentionLimits(deletes=False, policy_source=SO),
        now_ms=10 * DAY_MS,
    )
    table = retention_view.segment_table(
        [log_retention("a-0", segments, week, now_ms=10 * DAY_MS), compacted]
    )
    assert [(row.kind, row.cells[0], row.cells[2]) for row in table.rows] == [
        ("info", "a-0 0", "offset 9"),
        ("warning", "a-0 20", "offset 29"),
        ("", "a-0 10", "last write of the .log"),
        ("", "b-1 0", "offset 9"),
    ]
    waits = "39 d longer than its own age requires, because it waits for segment 10"
    assert table.rows[1].cells[3] == f"Until 1970-02-27 00:00:00, {waits}"
    assert table.notes[0].startswith("1 log: retention.ms 7 d (default")
    assert "--set log.retention.ms=-1" in table.notes[-2]
    assert table.notes[-1] == (
        "This counts the segments in use in all topics; __cluster_metadata has its own rules."
    )
    assert (table.rows[1].partition, table.rows[1].base_offset) == ("a-0", 20)


def test_only_so_many_rows_are_shown():
    segments = [SegmentAge(number, 1, 0, "record", number) for number in range(400)]
    log = log_retention("a-0", segments, limits(retention_ms=5), now_ms=0)
    table = retention_view.segment_table([log])
    assert (len(table.rows), table.more) == (retention_view.MAX_ROWS, 100)
    assert not any("--set" in note for note in table.notes)


def made_log(name: str, hours: list[int], retention_ms: int = DAY_MS, deletes: bool = True):
    """Returns a log whose segments of 100 bytes are so many hours old."""
    now_ms = 100 * DAY_MS
    segments = [
        SegmentAge(10 * number, 100, now_ms - age * HOUR_MS, "record", 10 * number + 9)
        for number, age in enumerate(hours)
    ]
    return log_retention(name, segments, limits(deletes, retention_ms), now_ms=now_ms)


def test_a_schedule_counts_each_byte_once():
    """The rows and the sum add up to the size of the logs; a compacted log has no date."""
    logs = [
        made_log("a-0", [30, 23, 20, 1], DAY_MS),
        made_log("b-0", [1], 30 * DAY_MS),
        made_log("c-0", [9], deletes=False),
    ]
    table = retention_view.schedule_table(logs, logs, is_changed=False)
    assert table.values == (
        ("a-0", 400, 100, 100, 0, 300, 0, 0, 0, ""),
        ("b-0", 100, 0, 0, 0, 0, 0, 100, 0, ""),
        ("c-0", 100, 0, 0, 0, 0, 0, 0, 100, "the topic is only compacted"),
    )
    total = table.rows[0]
    assert total[:3] == ("All logs", "600 B", "100 B") and len(total) == len(table.columns) == 9
    assert all(row[1] == sum(row[3:9]) for row in table.values)


def test_the_hour_of_the_deadline_is_counted_from_the_pass():
    """A segment goes once its age is above the limit, so exactly an hour later is not within it."""
    log = made_log("a-0", [23], DAY_MS)
    (values,) = retention_view.schedule_table([log], [log], is_changed=False).values
    assert values[4:7] == (0, 100, 0)


def test_other_limits_free_more_or_less():
    logs = [made_log("a-0", [30, 23, 20, 1]), made_log("b-0", [9], deletes=False)]
    for proposed, freed, finding in (
        (ProposedLimits(retention_ms=21 * HOUR_MS), 200, "200 B of 500 B: 100 B more than today"),
        (ProposedLimits(retention_ms=-1), 0, "0 B of 500 B: 100 B less than today"),
        (ProposedLimits(retention_bytes=250), 100, "100 B of 500 B, as much as today"),
    ):
        changes = retention_changes(logs, map(proposed.applied_to, logs), lambda log: log.partition)
        assert [change.due_bytes for change in changes] == [freed, 0]
        assert retention_view.bars_finding(changes, is_changed=True).endswith(finding)
        html = retention_view.bars(changes)
        widths = [float(width) for width in re.findall(r"<i [^>]*width:([\d.]+)%", html)]
        assert abs(sum(widths[:-1]) - 100) < 0.01 and widths[-1] == 25
        assert ("<s " in html) == (freed != 100)


def test_bars_beyond_the_largest_share_one():
    logs = [made_log(f"t{number:02}-0", [30] * (number + 1)) for number in range(15)]
    changes = retention_changes(logs, logs, lambda log: log.partition)
    html = retention_view.bars(changes)
    assert html.count('class="n"') == retention_view.MAX_BARS + 1 and "3 others" in html
    assert "600 B of 600 B" in html  # one, two and three segments


def test_the_command_is_quoted_and_removes_what_is_the_default():
    settings = {"retention.ms": 1, "retention.bytes": None}
    command = retention_view.alter_command(["my topic"], settings)
    words = shlex.split(command.replace("<", "").replace(">", ""))[3:]
    assert words[:4] == ["--entity-type", "topics", "--entity-name", "my topic"]
    changes = "--alter --add-config retention.ms=1 --delete-config retention.bytes"
    assert words[4:] == changes.split()
    several = retention_view.alter_command(["a", "b'c"], {"retention.ms": -1})
    assert several.startswith("for topic in a 'b'\"'\"'c'; do\n") and '"$topic"' in several
    assert retention_view.alter_command(["a"], {}) == ""
    assert retention_view.alter_command([], {"x": 1}) == ""
