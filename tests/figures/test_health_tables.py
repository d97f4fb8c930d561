"""The tables of the Health page, value by value."""

from kafkaviz.analysis.retention import RetentionLimits, SegmentAge, log_retention
from kafkaviz.figures.health import health_tables as tables
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep

DAY_MS = 86_400_000
SO = verbatim("so")
TYPED = verbatim("typed")
DEFAULT = message("setting_source.default", release="4.3")


def step(
    partition: str, action: str = "rebuild", cause: str = "unflushed", suffix: str = "index", **more
) -> StartupStep:
    return StartupStep(
        partition=partition,
        segment=7,
        action=action,
        cause=cause,
        why=message("tail.last_batch_cut"),
        file=f"{partition}/{7:020d}.{suffix}",
        **more,
    )


def started(*steps: StartupStep, starts: bool = True) -> Restart:
    return Restart(False, starts, steps)


def test_what_changes_most_comes_first():
    table = tables.steps_table(
        started(
            step("a-0", cause="producer-state"),
            step("b-0"),
            step("c-0", "delete", "orphan-index", size_bytes=24),
            step("d-0", "truncate", "tail", "log", from_position=561_373, size_bytes=45),
            step("e-0", "fail", "index-full", error="full"),
            starts=False,
        )
    )
    assert [(row.kind, row.cells[0]) for row in table.rows] == [
        ("error", "Fails"),
        ("error", "Cuts"),
        ("warning", "Deletes"),
        ("info", "Rebuilds"),
        ("", "Rebuilds"),
    ]
    assert table.rows[0].cells[3] == "Full" and table.rows[1].cells[1:3] == (
        "d-0/7.log",
        "45 B from byte 561\u202f373",
    )
    assert table.rows[1].link == {"tp": "d-0", "segment": "7"} and table.rows[2].link == {}
    assert table.shown == 4 and table.title == "Steps of the start before it fails: 5 steps"


def test_many_alike_are_one_row():
    """By kind and cause, with their number."""
    table = tables.steps_table(
        started(
            *(step(f"t-{number}") for number in range(4)), step("x-0", "delete", "orphan-index")
        )
    )
    assert [row.cells[1] for row in table.rows] == ["x-0/7.index", "4 files in 4 topic-partitions"]
    assert [row.is_one for row in table.rows] == [True, False] and "t-3" in table.rows[1].hover[1]
    within = tables.steps_table(
        started(
            *(
                step("t-0", "delete", "leftover-deleted", f"{number}.log", size_bytes=10)
                for number in range(4)
            )
        )
    )
    assert within.title == "Steps of every start: 4 steps, grouped into 1 row"
    rows = tables.steps_table(
        started(
            *(step(f"t-{number}") for number in range(9)), step("x-0", "delete", "orphan-index")
        )
    )
    assert rows.title == "Steps of the start: 10 steps, grouped into 2 rows" and len(rows.rows) == 2
    assert (
        within.rows[0].cells[:3] == ("Deletes", "4 files in t-0", "40 B")
        and within.shown == tables.FIRST_ROWS
    )


def test_a_start_without_steps_has_no_table():
    assert (
        tables.steps_table(None) is None
        and tables.steps_table(started()) is None
        and tables.retention_table([]) is None
    )


def test_names_stay_short():
    table = tables.steps_table(started(step("topic" * 20 + "-0")))
    assert (
        len(table.rows[0].cells[1]) <= tables.MAX_NAME_CHARACTERS + 1
        and "…" in table.rows[0].cells[1]
    )
    assert table.rows[0].hover[1].endswith(f"-0/{7:020d}.index")


def test_what_keeps_each_segment():
    limits = RetentionLimits(
        deletes=True,
        policy_source=SO,
        retention_ms=7 * DAY_MS,
        ms_source=DEFAULT,
        retention_bytes=-1,
        bytes_source=DEFAULT,
    )
    segments = [
        SegmentAge(0, 5, 0, "record", 9),
        SegmentAge(10, 5, 50 * DAY_MS, "mtime"),
        SegmentAge(20, 5, 11 * DAY_MS, "record", 29),
    ]
    compacted = log_retention(
        "b-1",
        [SegmentAge(0, 5, 0, "record", 9)],
        RetentionLimits(deletes=False, policy_source=SO),
        now_ms=10 * DAY_MS,
    )
    table = tables.retention_table(
        [log_retention("a-0", segments, limits, now_ms=10 * DAY_MS), compacted]
    )
    assert [(row.kind, row.cells[0], row.cells[2]) for row in table.rows] == [
        ("info", "a-0 0", "offset 9"),
        ("warning", "a-0 20", "offset 29"),
        ("", "a-0 10", "last write of the .log"),
        ("", "b-1 0", "offset 9"),
    ]
    assert (
        table.rows[1].cells[3]
        == "Until 1970-02-27 00:00:00, 39 d longer than by its own age: it waits for segment 10"
    )
    assert (
        table.notes[0].startswith("1 log: retention.ms 7 d (default")
        and "--set log.retention.ms=-1" in table.notes[-2]
    )
    assert table.notes[-1] == (
        "This counts the segments in use of every topic; __cluster_metadata has its own rules."
    )
    assert table.rows[1].link == {"tp": "a-0", "segment": "20"}


def test_only_so_many_rows_are_sent():
    limits = RetentionLimits(
        deletes=True,
        policy_source=SO,
        retention_ms=5,
        ms_source=TYPED,
        retention_bytes=-1,
        bytes_source=TYPED,
    )
    table = tables.retention_table(
        [
            log_retention(
                "a-0",
                [SegmentAge(number, 1, 0, "record", number) for number in range(400)],
                limits,
                now_ms=0,
            )
        ]
    )
    assert (
        len(table.rows) == tables.MAX_ROWS
        and table.more == 100
        and not any("--set" in note for note in table.notes)
    )
