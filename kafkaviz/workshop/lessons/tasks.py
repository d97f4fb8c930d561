"""The exercises in lessons. Their answers are computed, not read from the lesson files."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.compaction.record_fates import GOES
from kafkaviz.analysis.comparison.comparison import SIDES
from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes
from kafkaviz.figures.comparison import replica_axis
from kafkaviz.figures.lookup import LookupContext
from kafkaviz.format import offset_index, time_index
from kafkaviz.messages import message, say
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import capitalize
from kafkaviz.simulate.writer.append_loop import entry_rows
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.workshop.figures import block_location, checks, customer_log, limit_race, rolls
from kafkaviz.workshop.figures.lookups import make_lookup
from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.grammar import CAUSES, TASK_KEYS, LessonBlock, NoValue

NUMBERS = "numbers"
CHOICE = "choice"
RULE = "rule"
ENTRY_BYTES = {".index": offset_index.ENTRY.itemsize, ".timeindex": time_index.ENTRY.itemsize}
YES = "yes"
NO = "no"
MAX_BATCHES = 1_000_000
WIDE_DIGITS = {0xFF10 + digit: str(digit) for digit in range(10)}


@dataclass(frozen=True)
class LessonTask:
    """The task and the right answer of an exercise."""

    kind: str  # NUMBERS, CHOICE or RULE
    answer: tuple  # the right answer; for RULE, the keys of the index on which rules are tested
    choices: tuple[str, ...] = ()
    bytes_text: str = ""  # hexadecimal bytes that are shown with the task; "" if none


def task(block: LessonBlock) -> LessonTask:
    """Returns the task that an exercise block describes.

    Raises:
        NoValue: a key is missing, or its value does not fit the data.
        KafkavizError: the data cannot be read.
    """
    missing = [key for key in TASK_KEYS[block["of"]] if block[key] is None]
    if missing:
        raise NoValue(message("lesson.exercise_needs", kind=block["of"], keys=tuple(missing)))
    return TASKS[block["of"]](block)


def is_right(task: LessonTask, text: str) -> bool:
    if task.kind == RULE:
        rule = exercise.read(text)
        return rule is not None and exercise.check(rule, task.answer).is_right
    if task.kind == CHOICE:
        return (text,) == task.answer
    return numbers(text) == task.answer


def numbers(text: str) -> tuple[int, ...]:
    """Returns the whole numbers in a typed text.

    Commas, thin spaces and underscores may group digits. Digits may be full-width.
    """
    ascii_text = text.translate(WIDE_DIGITS)
    ungrouped_text = re.sub(r"(?<=[0-9])[,_\u202f](?=[0-9]{3}(?![0-9]))", "", ascii_text)
    return tuple(int(number) for number in re.findall(r"-?[0-9]{1,18}", ungrouped_text))


def _lookup(block: LessonBlock) -> LookupContext:
    return make_lookup(block, "timestamp" if block["of"] == "time" else "offset")


def _probe(block: LessonBlock) -> LessonTask:
    probes = _lookup(block).result.searches[0].slot_search.probes
    if block["after-probes"] >= len(probes):
        raise NoValue(message("lesson.too_few_probes", count=len(probes)))
    return LessonTask(NUMBERS, (probes[block["after-probes"]].slot,))


def _floor(block: LessonBlock) -> LessonTask:
    return LessonTask(NUMBERS, (_lookup(block).result.searches[0].slot_search.slot,))


def _start(block: LessonBlock) -> LessonTask:
    scan = _lookup(block).result.scan
    if scan is None:
        raise NoValue(message("lesson.reads_no_batch"))
    return LessonTask(NUMBERS, (scan.from_position,))


def _time(block: LessonBlock) -> LessonTask:
    answer = _lookup(block).result.answer
    if answer is None:
        raise NoValue(message("lesson.no_record_that_late"))
    return LessonTask(NUMBERS, (answer.offset,))


def _decode(block: LessonBlock) -> LessonTask:
    segment = block_location.locate(block).segment
    suffix = block["file"]
    info = getattr(segment, suffix[1:])
    if info is None:
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=suffix))
    is_offset_index = suffix == ".index"
    size = ENTRY_BYTES[suffix]
    with open(info.path, "rb") as file:
        file.seek(block["slot"] * size)
        data = file.read(size)
    if len(data) < size:
        raise NoValue(message("lesson.no_slot", file=suffix, slot=block["slot"]))
    entry = (offset_index if is_offset_index else time_index).parse(data)[0]
    offset = segment.base_offset + int(entry["relative_offset"])
    if is_offset_index:
        answer = (offset, int(entry["position"]))
    else:
        answer = (int(entry["timestamp_ms"]), offset)
    return LessonTask(NUMBERS, answer, bytes_text=data.hex(" "))


def _file_size(block: LessonBlock) -> LessonTask:
    size = ENTRY_BYTES[block["file"]]
    return LessonTask(NUMBERS, (block["limit"] // size * size,))


def _varint(block: LessonBlock) -> LessonTask:
    try:
        number, end = varint.read_varint(block["bytes"])
    except CorruptBytes as fault:
        raise NoValue(message("lesson.bytes", problem=fault.what)) from None
    if end != len(block["bytes"]):
        raise NoValue(message("lesson.more_than_one_number"))
    return LessonTask(NUMBERS, (number,), bytes_text=block["bytes"].hex(" "))


def _step(block: LessonBlock):
    steps = rolls.growth_view(block).growth.steps
    if not 1 <= block["step"] <= len(steps):
        raise NoValue(message("lesson.steps_of_story", count=len(steps)))
    return steps[block["step"] - 1]


def _entry(block: LessonBlock) -> LessonTask:
    return LessonTask(CHOICE, (YES if _step(block).has_offset_entry else NO,), (YES, NO))


def _time_entry(block: LessonBlock) -> LessonTask:
    return LessonTask(CHOICE, (YES if _step(block).has_time_entry else NO,), (YES, NO))


def _cause(block: LessonBlock) -> LessonTask:
    segments = limit_race.simulate(block).history.segments
    if block["segment"] >= len(segments) or segments[block["segment"]].reason is None:
        raise NoValue(message("lesson.rolled_segment", most=len(segments) - 2))
    return LessonTask(CHOICE, (segments[block["segment"]].reason.cause,), CAUSES)


def _entries(block: LessonBlock) -> LessonTask:
    if not 0 < block["batches"] <= MAX_BATCHES:
        raise NoValue(message("lesson.batch_count", most=MAX_BATCHES))
    sizes = np.full(block["batches"], block["batch-bytes"], np.int64)
    return LessonTask(NUMBERS, (len(entry_rows(sizes, block["interval"])),))


def _ceiling(block: LessonBlock) -> LessonTask:
    return LessonTask(RULE, block["keys"])


def _drops(block: LessonBlock) -> LessonTask:
    comparison = checks.compare_replicas(block)
    walk = replica_axis.follower_truncation(comparison, SIDES.index(block["leader"]))
    return LessonTask(NUMBERS, (walk.drop_count,) if walk else ())


def _dirty_ratio(block: LessonBlock) -> LessonTask:
    ratio = customer_log.check(block["log"], block["day"]).log.decision.cleanable_ratio
    return LessonTask(NUMBERS, (round(100 * (ratio or 0)),))


def _stays(block: LessonBlock) -> LessonTask:
    check = customer_log.check(block["log"], block["day"])
    offsets = tuple(
        record.offset
        for record in check.records
        if record.segment == block["segment"] and record.fate not in GOES
    )
    if check.cleaning is None or not offsets:
        raise NoValue(message("lesson.not_cleaned", day=block["day"]))
    return LessonTask(NUMBERS, offsets)


TASKS: dict[str, Callable[[LessonBlock], LessonTask]] = {
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
    "drops": _drops,
    "dirty-ratio": _dirty_ratio,
    "stays": _stays,
}


def choice_label(word: str) -> str:
    if word in (YES, NO):
        return say(f"workshop.{word}")
    return capitalize(roll_text.cause_name(RollCause(word)))
