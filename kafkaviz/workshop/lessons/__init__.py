"""The lessons of the Workshop: Markdown files in this folder and the folders in KAFKAVIZ_LESSONS.

Each language of a lesson is a file, such as warm-section.en.md and warm-section.zh.md. README.md
explains how to write a lesson. New and changed files are used at the next rerun of the page.

    grammar.py    the parts of a lesson: steps, and the kinds of blocks with their keys
    ../figures/   the figures
    tasks.py      the computed answers of exercises
    exercise.py   the exercise in which the reader writes a rule: how a search finds the ceiling,
                  the first entry at or above the target
    __main__.py   checks lesson files
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from kafkaviz.app.access import parse_directories
from kafkaviz.messages import Message, message
from kafkaviz.workshop.lessons.grammar import (
    FILE_BYTES,
    HEAD,
    KINDS,
    NAME,
    Key,
    Lesson,
    LessonBlock,
    LessonFault,
    LessonStep,
    NoValue,
)

LESSONS_FOLDER = Path(__file__).parent
LESSONS = "KAFKAVIZ_LESSONS"
ENGLISH = "en"


def folders() -> list[Path]:
    """Returns the folders with lessons: this folder, then the folders in KAFKAVIZ_LESSONS.

    KAFKAVIZ_LESSONS is a JSON list of folders, or has the folders separated by os.pathsep.
    """
    return [LESSONS_FOLDER, *parse_directories(os.environ.get(LESSONS, ""))]


def files(folder_paths: Iterable[Path]) -> Iterator[Path]:
    for folder in folder_paths:
        if folder.is_dir():
            yield from sorted(
                path for path in folder.iterdir() if NAME.fullmatch(path.name) and path.is_file()
            )


def read(path: Path) -> tuple[Lesson | None, list[LessonFault]]:
    """Returns (lesson, []) for a valid file, else (None, faults)."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as fault:
        what = message("lesson_file.cannot_be_read", reason=fault.strerror)
        return None, [LessonFault(path.name, 1, what)]


@lru_cache(maxsize=256)
def _read(path: Path, mtime_ns: int, size_bytes: int) -> tuple[Lesson | None, list[LessonFault]]:
    if size_bytes > FILE_BYTES:
        what = message("lesson_file.too_large", kib=FILE_BYTES >> 10)
        return None, [LessonFault(path.name, 1, what)]
    try:
        return parse(path.read_text(encoding="utf-8"), path.name)
    except UnicodeDecodeError as fault:
        line = path.read_bytes()[: fault.start].count(b"\n") + 1
        return None, [LessonFault(path.name, line, message("lesson_file.no_utf8"))]


def lessons(language: str) -> tuple[list[Lesson], list[LessonFault]]:
    """Returns all lessons in order, and the faults of invalid files.

    A lesson without a file in `language` is returned in English. Without an English file, it is
    returned in another language. If two folders have a file of the same name, the last folder's
    file is used. So a teacher can replace a lesson.
    """
    by_name: dict[str, dict[str, Lesson]] = {}
    faults: list[LessonFault] = []
    for path in files(folders()):
        lesson, file_faults = read(path)
        faults += file_faults
        if lesson:
            by_name.setdefault(lesson.name, {})[lesson.language] = lesson
    translations = [
        by_language.get(language) or by_language.get(ENGLISH) or next(iter(by_language.values()))
        for by_language in by_name.values()
    ]
    return sorted(translations, key=lambda lesson: (lesson.order, lesson.name)), faults


FENCE = "```"
FENCE_START = re.compile(r"```kafkaviz(?:\s+(.*?))?\s*")
LINE = re.compile(r"([A-Za-z][A-Za-z0-9.-]*):(?:\s+(.*\S))?\s*")
MAX_STEPS = 10
MIN_STEPS = 3


def parse(text: str, file: str) -> tuple[Lesson | None, list[LessonFault]]:
    """Parses the text of a lesson file. Returns (lesson, []) or (None, faults)."""
    return _LessonParser(text, file).lesson()


class _LessonParser:
    def __init__(self, text: str, file: str) -> None:
        self._lines = re.split(r"\r?\n", text.removesuffix("\n"))
        self._file = file
        self.faults: list[LessonFault] = []

    def lesson(self) -> tuple[Lesson | None, list[LessonFault]]:
        name_match = NAME.fullmatch(self._file.rpartition("/")[2])
        if not name_match:
            self._add_fault(1, "lesson_file.file_name")
        line_index, head = self._head()
        steps = tuple(self._steps(line_index))
        self._check_totals(head, steps)
        if self.faults:
            return None, sorted(self.faults, key=lambda fault: fault.line)
        name = cast(re.Match[str], name_match)  # no fault was found, so the file name matches
        head["short"] = head["short"] or head["title"]
        return Lesson(name=name[1], language=name[2], steps=steps, file_name=self._file, **head), []

    def _add_fault(self, line: int, key: str, **values: object) -> None:
        self.faults.append(LessonFault(self._file, line, message(key, **values)))

    def _check_totals(self, head: Mapping[str, Any], steps: tuple[LessonStep, ...]) -> None:
        count = len(steps)
        if not MIN_STEPS <= count <= MAX_STEPS:
            self._add_fault(
                1, "lesson_file.step_count", least=MIN_STEPS, most=MAX_STEPS, count=count
            )
        total = sum(step.minutes for step in steps)
        minutes = head["minutes"]
        if total and minutes and total != minutes:
            self._add_fault(
                1, "lesson_file.minutes_differ", total=f"{total:g}", minutes=f"{minutes:g}"
            )

    def _head(self) -> tuple[int, dict[str, Any]]:
        """Returns (index of the line after the head, the values of its keys)."""
        if self._lines[0].strip() != "---":
            self._add_fault(1, "lesson_file.no_head")
            return 0, {name: key.default for name, key in HEAD.items()}
        end = next(
            (number for number, line in enumerate(self._lines[1:], 1) if line.strip() == "---"),
            None,
        )
        if end is None:
            self._add_fault(1, "lesson_file.head_without_end")
            end = len(self._lines) - 1
        lines = self._parse_lines(1, end)
        values, _ = self._parse_values(HEAD, lines, 1, message("lesson_file.the_head"))
        return end + 1, values

    def _steps(self, line_index: int) -> Iterator[LessonStep]:
        title = None
        line = 0
        parts = []
        while line_index < len(self._lines):
            text = self._lines[line_index]
            if text.startswith(FENCE):
                line_index = self._fence(line_index, parts, is_in_step=title is not None)
                continue
            line_index += 1
            if text.startswith("## "):
                if title is not None:
                    yield self._step(title, line, parts)
                title = text[3:].strip()
                line = line_index
                parts = []
            elif title is not None:
                parts.append(text)
            elif text.strip():
                self._add_fault(line_index, "lesson_file.text_outside_step")
        if title is not None:
            yield self._step(title, line, parts)

    def _step(self, title: str, line: int, parts: list[str | LessonBlock]) -> LessonStep:
        """Returns a step. `parts` are the step's lines of prose and its blocks."""
        elements = []
        for is_prose, group in groupby(parts, lambda part: isinstance(part, str)):
            if is_prose:
                elements.append("\n".join(map(str, group)).strip())
            else:
                elements += group
        step = LessonStep(title, line, tuple(filter(None, elements)))
        for kind in ("predict", "exercise"):
            for extra in step.blocks(kind)[1:]:
                self._add_fault(extra.line, "lesson_file.second_block", kind=kind)
        if not step.parts:
            self._add_fault(line, "lesson_file.empty_step")
        return step

    def _fence(self, line_index: int, parts: list, *, is_in_step: bool) -> int:
        """Parses a fenced block into `parts`. Returns the index of the line after the block."""
        fence_match = FENCE_START.fullmatch(self._lines[line_index])
        # any fence or heading ends a kafkaviz block
        ends = (FENCE, "## ") if fence_match else ()
        end = line_index + 1
        for text in self._lines[line_index + 1 :]:
            if text.rstrip() == FENCE or text.startswith(ends):
                break
            end += 1
        if end == len(self._lines) or self._lines[end].rstrip() != FENCE:
            self._add_fault(line_index + 1, "lesson_file.block_without_end")
            return end
        if not fence_match:
            parts.extend(self._lines[line_index : end + 1])
        elif not is_in_step:
            self._add_fault(line_index + 1, "lesson_file.block_outside_step")
        elif block := self._block(fence_match[1] or "", line_index, end):
            parts.append(block)
        return end + 1

    def _block(self, name: str, line_index: int, end: int) -> LessonBlock | None:
        line = line_index + 1
        kind = KINDS.get(name)
        if kind is None:
            kinds = tuple(sorted(KINDS))
            if name:
                self._add_fault(line, "lesson_file.no_such_block", name=name, kinds=kinds)
            else:
                self._add_fault(line, "lesson_file.block_without_kind", kinds=kinds)
            return None
        lines = self._parse_lines(line, end)
        context = message("lesson_file.a_block", name=name)
        values, settings = self._parse_values(kind.keys, lines, line, context, kind.setting_key)
        return LessonBlock(
            name,
            line,
            MappingProxyType(values),
            tuple((key, text) for key, text, _ in lines),
            MappingProxyType(settings),
        )

    def _parse_lines(self, first: int, end: int) -> list[tuple[str, str, int]]:
        """Splits lines into (key, text, line number from 1)."""
        lines: list[tuple[str, str, int]] = []
        for number in range(first, end):
            text = self._lines[number]
            match = LINE.fullmatch(text)
            if text.startswith("  ") and lines:
                key, previous, line = lines[-1]
                lines[-1] = key, f"{previous} {text.strip()}".strip(), line
            elif match:
                lines.append((match[1], match[2] or "", number + 1))
            elif text.strip():
                self._add_fault(number + 1, "lesson_file.no_key_line")
        return lines

    def _parse_values(
        self,
        keys: Mapping[str, Key],
        lines: list[tuple[str, str, int]],
        line: int,
        context: Message,
        setting_key: Key | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        values: dict[str, Any] = {
            name: () if key.is_repeatable else key.default for name, key in keys.items()
        }
        settings: dict[str, Any] = {}
        known_names: set[str] = set()
        for name, text, number in lines:
            key = keys.get(name) or setting_key
            if key is None:
                names = tuple(keys)
                self._add_fault(
                    number, "lesson_file.no_such_key", context=context, name=name, keys=names
                )
            elif name in keys and name in known_names and not key.is_repeatable:
                self._add_fault(number, "lesson_file.key_twice", name=name)
            elif (value := self._parse_value(key, name, text, number)) is None:
                pass
            elif name not in keys:
                settings[name] = value
            else:
                values[name] = (*values[name], value) if key.is_repeatable else value
            known_names.add(name)
        for name, key in keys.items():
            if key.is_required and name not in known_names:
                self._add_fault(line, "lesson_file.needs_key", context=context, name=name)
        return values, settings

    def _parse_value(self, key: Key, name: str, text: str, line: int) -> Any:
        """Returns the value of a key. For an invalid value, adds a fault and returns None."""
        if not text:
            self._add_fault(line, "lesson_file.no_value", name=name)
            return None
        try:
            return key.parse(text)
        except NoValue as fault:
            expected = fault.message
            self._add_fault(
                line, "lesson_file.wrong_value", name=name, expected=expected, value=text[:40]
            )
            return None
