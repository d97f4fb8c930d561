"""The readers of texts that people write: workloads in TOML, and lessons in Markdown.

Each fault is one line.
"""

from functools import cache
from itertools import chain
from pathlib import Path
from random import Random

from kafkaviz.errors import KafkavizError
from kafkaviz.simulate.directory.simulation import plan_workload
from kafkaviz.simulate.producers.workload import PRESETS, load, preset_text, to_toml
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lessons import grammar
from tests.fuzz.mutators import mutated_text
from tests.fuzz.targets import Target, expect, of_bytes

LESSON = "warm-section.en.md"
NUMBERS = (
    *(b"-1", b"0", b"1e400", b"nan", b"9223372036854775808", b"0x7fffffff", b"2026-13-40", b"[[[["),
    *(b'"' * 3, b"true", b"{}"),
)


@cache
def workloads() -> tuple[bytes, ...]:
    texts = [preset_text(name) for name in PRESETS]
    return tuple(text.encode() for text in chain(texts, (to_toml(load(text)) for text in texts)))


@cache
def lesson_files() -> tuple[bytes, ...]:
    return tuple(
        path.read_bytes()
        for path in sorted(Path(lessons.LESSONS_FOLDER).glob("*.md"))
        if grammar.NAME.fullmatch(path.name)
    )


def mutated_values(data: bytes, draw: Random, others: tuple[bytes, ...]) -> bytes:
    """Returns a text whose words or values are changed."""
    if draw.random() < 0.5:
        return mutated_text(data, draw, others)
    lines = data.splitlines()
    valued = [at for at, line in enumerate(lines) if b"=" in line or b":" in line]
    for at in draw.sample(valued, min(len(valued), 1 + draw.randrange(3))):
        key, sign, _ = lines[at].partition(b"=" if b"=" in lines[at] else b":")
        lines[at] = key + sign + b" " + draw.choice(NUMBERS)
    return b"\n".join(lines)


def read_workload(seed: bytes, data: bytes, draw: Random) -> None:
    """Expects a workload that can be written and planned, or one line that names the file."""
    try:
        workload = load(data.decode("utf-8", "replace"), "w.toml")
    except KafkavizError as fault:
        is_line = "\n" not in str(fault) and str(fault).startswith("w.toml: ")
        expect(is_line, f"no line that names the file: {fault}")
        return
    expect(load(to_toml(workload)) == workload, "written back it is another workload")
    plan_workload(workload, {}, None, None)


def read_lesson(seed: bytes, data: bytes, draw: Random) -> None:
    """Reads a lesson, or expects its faults, each on a line of the file."""
    text = data.decode("utf-8", "replace")
    lesson, faults = lessons.parse(text, LESSON)
    expect((lesson is None) == bool(faults), "neither a lesson nor a fault, or both")
    lines = text.count("\n") + 2
    is_told = all(1 <= fault.line <= lines and "\n" not in str(fault.what) for fault in faults)
    expect(is_told, f"a fault outside the file: {faults}")


WRITTEN_BY_PEOPLE = (
    Target("workload", 15, of_bytes(workloads, mutated_values), read_workload),
    Target("lesson", 10, of_bytes(lesson_files, mutated_values), read_lesson),
)
