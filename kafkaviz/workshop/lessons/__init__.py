"""The lessons of the Workshop: Markdown files in this folder and in those of KAFKAVIZ_LESSONS.

Each language of a lesson is one file, such as warm-section.en.md and warm-section.zh.md. README.md
explains how to write one. A new or changed file is used from the next rerun on.

    grammar.py    the parts of a lesson: steps, blocks and their keys
    reader.py     parses a file, or reports its faults with their lines
    kinds.py      the kinds of blocks and their keys
    ../figures/   the figures, built from the app's components
    tasks.py      the computed answers of exercises
    exercise.py   the exercise in which the reader writes a rule for the ceiling
    check.py      checks that everything a lesson needs exists

The page that shows them is kafkaviz/workshop/page/.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from kafkaviz.app.access import parse_directories
from kafkaviz.messages import message
from kafkaviz.workshop.lessons.grammar import FILE_BYTES, NAME, Lesson, LessonFault
from kafkaviz.workshop.lessons.kinds import KINDS
from kafkaviz.workshop.lessons.reader import parse

LESSONS_FOLDER = Path(__file__).parent
LESSONS = "KAFKAVIZ_LESSONS"
ENGLISH = "en"


def folders() -> list[Path]:
    """Returns the folders of lessons: this one, and those in KAFKAVIZ_LESSONS.

    The variable has the same form as KAFKAVIZ_ALLOW_ROOT.
    """
    return [LESSONS_FOLDER, *parse_directories(os.environ.get(LESSONS, ""))]


def files(folder_paths: Iterable[Path]) -> Iterator[Path]:
    for folder in folder_paths:
        if folder.is_dir():
            yield from sorted(
                path for path in folder.iterdir() if NAME.fullmatch(path.name) and path.is_file()
            )


def read(path: Path) -> tuple[Lesson | None, list[LessonFault]]:
    """Returns the lesson, or None and all faults of its file."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as fault:
        return None, [
            LessonFault(path.name, 1, message("lesson_file.cannot_be_read", reason=fault.strerror))
        ]


@lru_cache(maxsize=256)
def _read(path: Path, mtime_ns: int, size_bytes: int) -> tuple[Lesson | None, list[LessonFault]]:
    if size_bytes > FILE_BYTES:
        return None, [
            LessonFault(path.name, 1, message("lesson_file.too_large", kib=FILE_BYTES >> 10))
        ]
    try:
        return parse(path.read_text(encoding="utf-8"), path.name, KINDS)
    except UnicodeDecodeError as fault:
        line = path.read_bytes()[: fault.start].count(b"\n") + 1
        return None, [LessonFault(path.name, line, message("lesson_file.no_utf8"))]


def lessons(language: str) -> tuple[list[Lesson], list[LessonFault]]:
    """Returns all lessons in order, and the faults of files that could not be read.

    Each lesson is in `language` if it exists, else in English, else in any language. If files have
    the same name, the one in the last folder counts, so that a teacher can replace a lesson.
    """
    by_name: dict[str, dict[str, Lesson]] = {}
    faults: list[LessonFault] = []
    for path in files(folders()):
        lesson, file_faults = read(path)
        faults += file_faults
        if lesson:
            by_name.setdefault(lesson.name, {})[lesson.language] = lesson
    translations = [_select_language(by_language, language) for by_language in by_name.values()]
    return sorted(
        translations, key=lambda translation: (translation.order, translation.name)
    ), faults


def _select_language(by_language: dict[str, Lesson], language: str) -> Lesson:
    return by_language.get(language) or by_language.get(ENGLISH) or next(iter(by_language.values()))
