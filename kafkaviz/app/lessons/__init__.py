"""The lessons of the Workshop.

Markdown files, found in this folder and in the one that KAFKAVIZ_LESSONS names.

A lesson is one file a language, warm-section.en.md and warm-section.zh.md; README.md says how to
write one. A file that is put here, or changed, is on the page at the next rerun.

    grammar.py    what a lesson consists of: steps, blocks and their keys
    reader.py     a file as such, or its faults, each with its line
    kinds.py      which blocks there are, and what each says
    live/         the figures, from the app's own components
    tasks.py      the answers of exercises, worked out
    exercise.py   the ceiling as a rule of the reader's: parsed, and tried on every slot
    check.py      whether all that a lesson asks for is there

The page that teaches with them is kafkaviz/app/pages/workshop/.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from kafkaviz.app.lessons.grammar import FILE_BYTES, NAME, Lesson, LessonFault
from kafkaviz.app.lessons.kinds import KINDS
from kafkaviz.app.lessons.reader import parse
from kafkaviz.app.state.access import parse_directories
from kafkaviz.messages import message

LESSONS_FOLDER = Path(__file__).parent
LESSONS = "KAFKAVIZ_LESSONS"
ENGLISH = "en"


def folders() -> list[Path]:
    """Where lessons lie.

    Here, and in the folder or folders of KAFKAVIZ_LESSONS, written as those of KAFKAVIZ_ALLOW_ROOT.
    """
    return [LESSONS_FOLDER, *parse_directories(os.environ.get(LESSONS, ""))]


def files(folder_paths: Iterable[Path]) -> Iterator[Path]:
    """Every file with the name of a lesson, folder by folder."""
    for folder in folder_paths:
        if folder.is_dir():
            yield from sorted(
                path for path in folder.iterdir() if NAME.fullmatch(path.name) and path.is_file()
            )


def read(path: Path) -> tuple[Lesson | None, list[LessonFault]]:
    """A lesson, or all that is wrong with its file."""
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
    """All lessons in order, in this language, or in English, or in what language there is.

    And what is wrong with files that are none.

    Of two files of one name the one in the folder that is named last counts: a teacher may replace
    a lesson.
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
