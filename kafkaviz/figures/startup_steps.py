"""The steps of the next broker start-up as a table.

Cut      append-time-0/0.log       45 B from byte 561 373     its last batch is not whole
Rebuild  48 files, 24 partitions   segments extend past the recovery point
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import capitalize, join_comma
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import CAUSES, StartupStep

MAX_SEPARATE = 3  # more steps of the same kind and cause share one row
MAX_ROWS = 300  # most rows of a table that are sent to the browser
FIRST_ROWS = 6  # how many of them are shown at first
ACTION_ORDER = ("fail", "truncate", "delete", "rebuild", "create", "keep")
MAX_NAME_CHARACTERS = 44  # a longer name is shortened in the middle


class HealthRow(NamedTuple):
    kind: str  # the severity that the mark of the row shows; "" for no mark
    cells: tuple[str, ...]
    hover: tuple[str, ...]  # the full text of each cell
    link: Mapping[str, str]  # query parameters of the page that shows the segment
    is_one: bool = True  # whether the row is about one file or segment, which the cells name


class HealthTable(NamedTuple):
    title: str
    columns: tuple[str, ...]
    code: tuple[int, ...]  # indexes of the columns that hold names
    rows: tuple[HealthRow, ...]
    shown: int  # number of rows shown at first
    more: int  # number of rows that are not sent


def steps_table(restart: Restart | None) -> HealthTable | None:
    """Returns a table of the next start-up's steps. None: no steps, or the steps are unknown."""
    if restart is None or not restart.steps:
        return None
    groups: dict[tuple, list[StartupStep]] = defaultdict(list)
    for step in restart.steps:
        groups[step.is_expected, ACTION_ORDER.index(step.action), step.cause].append(step)
    rows = [row for key in sorted(groups) for row in _group_rows(groups[key])]
    # expected steps may happen at any start, so they do not count
    own_rows = sum(len(_group_rows(groups[key])) for key in groups if not key[0])
    title_key = "start" if restart.starts else "failing"
    if not own_rows:
        title_key = "every"
    steps_text = say_count("health.n_steps", len(restart.steps))
    if len(rows) != len(restart.steps):
        steps_text = say_count("health.steps_together", len(rows), steps=steps_text)
    return HealthTable(
        title=say(f"health.steps_{title_key}", steps=steps_text),
        columns=tuple(say(f"health.column_{name}") for name in ("step", "where", "what", "why")),
        code=(1,),
        rows=tuple(rows[:MAX_ROWS]),
        shown=min(own_rows or FIRST_ROWS, FIRST_ROWS),
        more=max(0, len(rows) - MAX_ROWS),
    )


def _group_rows(steps_alike: Sequence[StartupStep]) -> list[HealthRow]:
    if len(steps_alike) <= MAX_SEPARATE:
        return [_step_row(step) for step in steps_alike]
    first = steps_alike[0]
    partitions = {step.partition or "" for step in steps_alike}
    location = say_count("common.n_topic_partitions", len(partitions))
    if len(partitions) == 1:
        location = _short_path(first.partition or say("health.broker_directory"))
    size_bytes = sum(step.size_bytes or 0 for step in steps_alike)
    size_text = ""
    exact_size = ""
    if first.action in ("truncate", "delete") and size_bytes:
        size_text = _length_text(first, size_bytes)
        exact_size = f"{units.format_count(size_bytes)} B"
    cells = (
        say(f"health.does_{first.action}"),
        say_count("health.files_in", len(steps_alike), where=location),
        size_text,
        capitalize(render(CAUSES[first.cause])),
    )
    names = join_comma(sorted(partitions, key=natural_sort_key)[:20])
    return [HealthRow(_severity(first), cells, ("", names, exact_size, ""), {}, is_one=False)]


def _step_row(step: StartupStep) -> HealthRow:
    location = step.file or step.partition or say("health.broker_directory")
    exact_size = "" if step.size_bytes is None else f"{units.format_count(step.size_bytes)} B"
    link = {}
    if step.partition and step.segment is not None and step.file and step.action != "delete":
        link = {"tp": step.partition, "segment": str(step.segment)}
    cells = (
        say(f"health.does_{step.action}"),
        _short_path(location),
        _size_text(step),
        capitalize(step.error or render(step.why)),
    )
    return HealthRow(_severity(step), cells, ("", location, exact_size, render(step.why)), link)


def _severity(step: StartupStep) -> str:
    if step.action in ("fail", "truncate"):
        return "error"
    if step.is_expected or step.action == "keep":
        return ""
    if step.action == "delete":
        return "warning"
    return "info"


def _length_text(step: StartupStep, size_bytes: int) -> str:
    """Returns a size as text. If the step deletes files, the text calls the size their length."""
    size = units.format_bytes(size_bytes)
    return say("health.in_length", size=size) if step.action == "delete" else size


def _size_text(step: StartupStep) -> str:
    size = "" if step.size_bytes is None else _length_text(step, step.size_bytes)
    if step.from_position is not None:
        position_text = units.format_count(step.from_position)
        if step.action == "truncate":
            return say("health.from_byte", size=size, byte=position_text)
        return say("health.at_byte", byte=position_text)
    return say("health.to_size", size=size) if step.action == "rebuild" and size else size


def _short_path(name: str) -> str:
    directory, slash, file = name.rpartition("/")
    stem, dot, suffix = file.partition(".")
    if slash and len(stem) == 20 and stem.isdigit():
        name = f"{directory}/{int(stem)}{dot}{suffix}"
    if len(name) <= MAX_NAME_CHARACTERS:
        return name
    return f"{name[: MAX_NAME_CHARACTERS // 2]}…{name[-MAX_NAME_CHARACTERS // 2 :]}"
