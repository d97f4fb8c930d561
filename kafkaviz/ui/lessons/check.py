"""Whether a lesson can be taught: its grammar, that every figure can be made, every answer worked
out, and that its languages agree.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from kafkaviz.errors import KafkavizError
from kafkaviz.search import exercise
from kafkaviz.ui import lessons
from kafkaviz.ui.lessons import tasks
from kafkaviz.ui.lessons.grammar import Block, Fault, Lesson, NoValue
from kafkaviz.ui.lessons.live import LIVE

# what a translation changes
FREE = {
    "ask",
    "choice",
    "right",
    "reveal",
    "hint",
    "solution",
    "said",
    "so",
    "versions",
    "say",
    "watch",
}


def faults(places: Iterable[Path] | None = None) -> tuple[int, list[Fault]]:
    """How many files there are in these folders (by default those of the app), and all that is
    wrong with them, by file and line.
    """
    found, wrong, count = {}, [], 0
    for path in lessons.files(lessons.folders() if places is None else places):
        lesson, unread = lessons.read(path)
        count += 1
        wrong += unread
        if lesson:
            wrong += of_lesson(lesson)
            found.setdefault(lesson.name, []).append(lesson)
    for same in found.values():
        wrong += [fault for other in same[1:] for fault in _apart(same[0], other)]
    return count, wrong


def of_lesson(lesson: Lesson) -> list[Fault]:
    """What is wrong with the blocks of a lesson whose grammar is right."""
    return [
        Fault(lesson.place, block.line, what)
        for step in lesson.steps
        for block in step.blocks()
        for what in _block_faults(block)
    ]


def _block_faults(block: Block) -> Iterator[str]:
    try:
        if block.kind in LIVE:
            LIVE[block.kind].make(block)
        elif block.kind == "exercise":
            yield from _exercise_faults(block)
        elif block.kind == "predict" and not block["choice"]:
            yield "a question needs the key choice beside the key right"
    except (KafkavizError, NoValue, ValueError) as fault:
        yield str(fault)


def _exercise_faults(block: Block) -> Iterator[str]:
    of = tasks.task(block)
    if of.by == tasks.RULE and not block["rule"]:
        yield "an exercise of ceiling needs the key rule: a right one"
    elif (
        of.by == tasks.RULE
        and not exercise.check(exercise.parse(block["rule"]), tasks.np.array(of.answer)).is_right
    ):
        yield "the rule of this exercise is wrong for some target"


def _apart(one: Lesson, other: Lesson) -> Iterator[Fault]:
    """Where two languages of a lesson do not have the same steps and blocks."""
    if (one.minutes, one.order, len(one.steps)) != (other.minutes, other.order, len(other.steps)):
        yield Fault(
            other.place, 1, f"minutes, order or the number of steps are not those of {one.place}"
        )
        return
    for here, there in zip(one.steps, other.steps, strict=True):
        for mine, yours in zip(here.blocks(), there.blocks(), strict=False):
            if structure(mine) != structure(yours):
                yield Fault(
                    other.place,
                    yours.line,
                    f"this block is not that of {one.place}, line {mine.line}",
                )
        if len(here.blocks()) != len(there.blocks()):
            yield Fault(
                other.place,
                there.line,
                (
                    f"this step has {len(there.blocks())} blocks, {one.place} has "
                    f"{len(here.blocks())} of it"
                ),
            )


def structure(block: Block) -> tuple:
    """What of a block is the same in every language: its kind, the order of its keys, and all
    values that are no sentence.
    """
    return block.kind, tuple((key, "" if key in FREE else text) for key, text in block.said)
