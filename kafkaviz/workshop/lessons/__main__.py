"""python -m kafkaviz.workshop.lessons [FOLDER ...].

Checks lesson files and prints each fault as file:line. The exit status is 1 if there are faults.
Checks that the grammar is correct, that every figure and answer can be computed, and that all
languages of a lesson have the same structure.
"""

import logging
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lessons.grammar import Lesson, LessonBlock, LessonFault

# keys whose values are sentences, which are translated
TRANSLATED_KEYS = {
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


def faults(folders: Iterable[Path] | None = None) -> tuple[int, list[LessonFault]]:
    """Returns (number of lesson files, their faults). `folders` defaults to the app's folders."""
    translations = {}
    lesson_faults = []
    count = 0
    for path in lessons.files(lessons.folders() if folders is None else folders):
        lesson, read_faults = lessons.read(path)
        count += 1
        lesson_faults += read_faults
        if lesson:
            lesson_faults += check_lesson(lesson)
            translations.setdefault(lesson.name, []).append(lesson)
    for first, *others in translations.values():
        lesson_faults += [
            LessonFault(translation.file_name, line, what)
            for translation in others
            for line, what in _translation_faults(first, translation)
        ]
    return count, lesson_faults


def check_lesson(lesson: Lesson) -> list[LessonFault]:
    """Returns the faults in the blocks of a parsed lesson."""
    return [
        LessonFault(lesson.file_name, block.line, what)
        for step in lesson.steps
        for block in step.blocks()
        for what in _block_faults(block)
    ]


def _block_faults(block: LessonBlock) -> Iterator[Message]:
    # imported here, because these imports make Streamlit print warnings until `main` has disabled
    # them
    from kafkaviz.workshop.figures import LIVE
    from kafkaviz.workshop.lab import break_it

    try:
        if block.kind in LIVE:
            LIVE[block.kind].make(block)
        elif block.kind == "break-it":
            break_it.make(block)
        elif block.kind == "exercise":
            yield from _exercise_faults(block)
        elif block.kind == "predict" and not block["choice"]:
            yield message("lesson_file.question_needs_choice")
    except (KafkavizError, ValueError) as fault:
        yield fault.message if isinstance(fault, KafkavizError) else verbatim(str(fault))


def _exercise_faults(block: LessonBlock) -> Iterator[Message]:
    from kafkaviz.workshop.lessons import exercise, tasks

    task = tasks.task(block)
    if task.kind == tasks.RULE and not block["rule"]:
        yield message("lesson_file.ceiling_needs_rule")
    elif task.kind == tasks.RULE and not exercise.check(block["rule"], task.answer).is_right:
        yield message("lesson_file.wrong_rule")


def _translation_faults(lesson: Lesson, translation: Lesson) -> Iterator[tuple[int, Message]]:
    """Yields (line, fault) of a translation that differs from the lesson."""
    file = lesson.file_name
    if _plan(lesson) != _plan(translation):
        yield 1, message("lesson_file.other_head", file=file)
        return
    for step, other_step in zip(lesson.steps, translation.steps, strict=True):
        count = len(step.blocks())
        other_count = len(other_step.blocks())
        for block, other_block in zip(step.blocks(), other_step.blocks(), strict=False):
            if structure(block) != structure(other_block):
                what = message("lesson_file.other_block", file=file, line=block.line)
                yield other_block.line, what
        if count != other_count:
            what = message(
                "lesson_file.other_block_count", count=other_count, file=file, other_count=count
            )
            yield other_step.line, what


def _plan(lesson: Lesson) -> tuple[float, int, int]:
    return lesson.minutes, lesson.order, len(lesson.steps)


def structure(block: LessonBlock) -> tuple:
    """Returns what must be equal in all languages: a block's kind, keys and untranslated values."""
    return block.kind, tuple(
        (key, "" if key in TRANSLATED_KEYS else text) for key, text in block.lines
    )


def main(folders: Iterable[Path] | None) -> int:
    count, all_faults = faults(folders)
    for fault in all_faults:
        print(fault)
    if not count:
        print("no lesson found: a file is called name.en.md or name.zh.md")
        return 1
    print(f"{count} files, {len(all_faults)} faults")
    return 1 if all_faults else 0


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call outside a page
    sys.exit(main([Path(argument) for argument in sys.argv[1:]] or None))
