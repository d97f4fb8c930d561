"""Each claim of docs/lessons-claims.md names an existing step, and words in it."""

import re
from functools import cache
from pathlib import Path

import pytest

from kafkaviz.workshop import lessons

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "lessons-claims.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| Claim")
]


@cache
def step_source(lesson_number: int, number: int) -> str:
    """Returns the text below a step's heading in the English file of a lesson, in one line."""
    lesson = lessons.lessons("en")[0][lesson_number - 1]
    source = (lessons.LESSONS_FOLDER / lesson.file_name).read_text(encoding="utf-8")
    steps = re.split(r"^## ", source, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", steps[number])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_a_claim_is_where_the_table_says(row):
    _, verdict, step, words = row
    lesson_number, number = map(int, step.split("."))
    assert verdict in {"right", "mended", "answered"}
    assert words.strip('"').lower() in step_source(lesson_number, number).lower()


def test_there_are_claims():
    assert {row[2].partition(".")[0] for row in ROWS} == set("12345678")
