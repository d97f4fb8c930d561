"""The table of start-up steps on the Health page, value by value."""

from functools import partial

from kafkaviz.figures.startup_steps import FIRST_ROWS, MAX_NAME_CHARACTERS, steps_table
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep
from tests.support.startup_steps import startup_step

step = partial(startup_step, segment=7)


def started(*steps: StartupStep, starts: bool = True) -> Restart:
    return Restart(False, starts, steps)


def test_what_changes_most_comes_first():
    table = steps_table(
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
    assert table.rows[0].cells[3] == "Full"
    assert table.rows[1].cells[1:3] == ("d-0/7.log", "45 B from byte 561\u202f373")
    assert table.rows[1].link == {"tp": "d-0", "segment": "7"} and table.rows[2].link == {}
    assert table.shown == 4 and table.title == "Startup steps before it fails: 5 steps"


def test_many_alike_are_one_row():
    """By kind and cause, with their number."""
    orphan = step("x-0", "delete", "orphan-index")
    table = steps_table(started(*(step(f"t-{number}") for number in range(4)), orphan))
    assert [row.cells[1] for row in table.rows] == ["x-0/7.index", "4 files in 4 topic-partitions"]
    assert [row.is_one for row in table.rows] == [True, False] and "t-3" in table.rows[1].hover[1]
    leftovers = [
        step("t-0", "delete", "leftover-deleted", f"{number}.log", size_bytes=10)
        for number in range(4)
    ]
    within = steps_table(started(*leftovers))
    assert within.title == "Steps of every startup: 4 steps, grouped into 1 row"
    rows = steps_table(started(*(step(f"t-{number}") for number in range(9)), orphan))
    assert rows.title == "Startup steps: 10 steps, grouped into 2 rows" and len(rows.rows) == 2
    assert within.rows[0].cells[:3] == ("Deletes", "4 files in t-0", "40 B in length")
    assert within.shown == FIRST_ROWS


def test_a_start_without_steps_has_no_table():
    assert steps_table(None) is None and steps_table(started()) is None


def test_names_stay_short():
    table = steps_table(started(step("topic" * 20 + "-0")))
    assert len(table.rows[0].cells[1]) <= MAX_NAME_CHARACTERS + 1
    assert "…" in table.rows[0].cells[1]
    assert table.rows[0].hover[1].endswith(f"-0/{7:020d}.index")
