"""The exercises of lessons: each answer is worked out from real bytes or by the app's own search
and writer, never written in a lesson.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes
from kafkaviz.figures.lookup_made import Made
from kafkaviz.format import offset_index, time_index
from kafkaviz.search import exercise
from kafkaviz.simulate.lessons import index_keys
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.kinds import CAUSES, TASK_KEYS
from kafkaviz.ui.lessons.live import growing, places, rolled
from kafkaviz.ui.lookup import practice, releases, searched

NUMBERS, CHOICE, RULE = "numbers", "choice", "rule"
ENTRY_BYTES = {".index": offset_index.ENTRY.itemsize, ".timeindex": time_index.ENTRY.itemsize}
CAUSE_NAMES = {
    Cause.SIZE: "size",
    Cause.TIME: "time",
    Cause.OFFSET_INDEX_FULL: "offset-index",
    Cause.TIME_INDEX_FULL: "time-index",
}
YES, NO = "yes", "no"
MOST_BATCHES = 1_000_000


@dataclass(frozen=True)
class Task:
    """What an exercise asks. by: numbers, a choice of words, or a rule; answer: what is right, of a
    rule the keys it is tried on.

    given: bytes that are shown with the task, and before them the byte of the file where they lie;
    "" where there are none.
    """

    by: str
    answer: tuple
    choices: tuple[str, ...] = ()
    given: str = ""


def task(block: Block) -> Task:
    """The task of a block exercise.

    Raises NoValue or KafkavizError where it cannot be worked out.
    """
    missing = [key for key in TASK_KEYS[block["of"]] if block[key] is None]
    if missing:
        raise NoValue(f"an exercise of {block['of']} needs {', '.join(missing)}")
    return TASKS[block["of"]](block)


def is_right(of: Task, given: str) -> bool:
    """Whether an answer is right. Raises exercise.NoRule for a rule that is none."""
    if of.by == RULE:
        return exercise.check(exercise.parse(given), np.array(of.answer)).is_right
    if of.by == CHOICE:
        return (given,) == of.answer
    return numbers(given) == of.answer


def numbers(given: str) -> tuple[int, ...]:
    """The whole numbers in what somebody typed; digits may be grouped by commas, thin spaces or
    underscores.
    """
    plain = re.sub(r"(?<=\d)[,_\u202f](?=\d{3}(?!\d))", "", given)
    return tuple(int(one) for one in re.findall(r"-?\d{1,18}", plain))


# ---- searches


def _lookup(block: Block) -> Made:
    by = "timestamp" if block["of"] == "time" else "offset"
    source = practice.of_practice(block["set"])
    warm = releases.KAFKAS_WARM if block["warm"] is None else block["warm"]
    return searched.made(
        source,
        by,
        block["target"],
        releases.release(cast(str, releases.like(block["search"])), warm, by),
    )


def _probe(block: Block) -> Task:
    probes = _lookup(block).found.searches[0].found.probes
    if block["after-probes"] >= len(probes):
        raise NoValue(f"this search has {len(probes)} probes: after-probes is less")
    return Task(NUMBERS, (probes[block["after-probes"]].slot,))


def _floor(block: Block) -> Task:
    return Task(NUMBERS, (_lookup(block).found.searches[0].found.slot,))


def _start(block: Block) -> Task:
    scan = _lookup(block).found.scan
    if scan is None:
        raise NoValue("this lookup reads no batch")
    return Task(NUMBERS, (scan.from_position,))


def _time(block: Block) -> Task:
    answer = _lookup(block).found.answer
    if answer is None:
        raise NoValue("no record is that late")
    return Task(NUMBERS, (answer.offset,))


# ---- bytes


def _decode(block: Block) -> Task:
    here = places.place(block)
    found = getattr(here.segment, block["file"][1:])
    if found is None:
        raise NoValue(f"the segment {here.segment.name} has no {block['file']}")
    size = ENTRY_BYTES[block["file"]]
    start = block["slot"] * size
    with open(found.path, "rb") as file:
        file.seek(start)
        data = file.read(size)
    if len(data) < size:
        raise NoValue(f"the {block['file']} has no slot {block['slot']}")
    base = here.segment.base_offset
    entry = (offset_index if block["file"] == ".index" else time_index).parse(data)[0]
    offset = base + int(entry["relative_offset"])
    second = int(entry["position"]) if block["file"] == ".index" else int(entry["timestamp_ms"])
    answer = (offset, second) if block["file"] == ".index" else (second, offset)
    return Task(NUMBERS, answer, given=data.hex(" "))


def _file_size(block: Block) -> Task:
    size = ENTRY_BYTES[block["file"]]
    return Task(NUMBERS, (block["limit"] // size * size,))


def _varint(block: Block) -> Task:
    try:
        number, end = varint.read_varint(block["bytes"])
    except CorruptBytes as fault:
        raise NoValue(f"bytes: {fault.what}") from None
    if end != len(block["bytes"]):
        raise NoValue("bytes: more than one number")
    return Task(NUMBERS, (number,), given=block["bytes"].hex(" "))


# ---- writing


def _step(block: Block):
    steps = growing.view(block).growth.steps
    if not 1 <= block["step"] <= len(steps):
        raise NoValue(f"the story has the steps 1 to {len(steps)}")
    return steps[block["step"] - 1]


def _entry(block: Block) -> Task:
    return Task(CHOICE, (YES if _step(block).has_offset_entry else NO,), (YES, NO))


def _time_entry(block: Block) -> Task:
    return Task(CHOICE, (YES if _step(block).has_time_entry else NO,), (YES, NO))


def _cause(block: Block) -> Task:
    lanes = rolled.simulated(block).lanes.lanes
    if block["segment"] >= len(lanes) or lanes[block["segment"]].reason is None:
        raise NoValue(f"segment: the number of one that was rolled, 0 to {len(lanes) - 2}")
    return Task(CHOICE, (CAUSE_NAMES.get(lanes[block["segment"]].reason.cause, ""),), CAUSES)


def _entries(block: Block) -> Task:
    if not 0 < block["batches"] <= MOST_BATCHES:
        raise NoValue(f"batches: 1 to {MOST_BATCHES}")
    sizes = np.full(block["batches"], block["batch-bytes"], np.int64)
    return Task(NUMBERS, (len(cast(np.ndarray, index_keys.entry_rows(sizes, block["interval"]))),))


def _ceiling(block: Block) -> Task:
    return Task(RULE, block["keys"])


TASKS: dict[str, Callable[[Block], Task]] = {
    "probe": _probe,
    "floor": _floor,
    "start": _start,
    "time": _time,
    "decode": _decode,
    "file-size": _file_size,
    "varint": _varint,
    "entry": _entry,
    "time-entry": _time_entry,
    "cause": _cause,
    "entries": _entries,
    "ceiling": _ceiling,
}
