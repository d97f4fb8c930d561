"""The documents give the right numbers of lessons, steps and minutes."""

from pathlib import Path

import pytest

from kafkaviz.workshop import lessons

ROOT = Path(__file__).parents[2]
LESSONS = lessons.lessons("en")[0]
STEPS = [step for lesson in LESSONS for step in lesson.steps]
SHORT_STEPS = [step for step in STEPS if step.is_short]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("README.md", "Ten lessons on real bytes take {minutes:g} or {short:g} minutes."),
        ("docs/README.md", "a workshop of {short:g} or {minutes:g} minutes, without"),
        (
            "docs/tour.md",
            "Ten lessons, {minutes:g} minutes together or {short:g} by the short track",
        ),
        ("docs/how-to/teach.md", "# A workshop of {short:g} or {minutes:g} minutes,"),
        ("docs/how-to/teach.md", "| All {steps} steps | Short: {short_steps} steps |"),
        ("docs/how-to/teach.md", "| **Minutes** | **{minutes:g}** | **{short:g}** |"),
    ],
)
def test_a_page_says_how_long_the_lessons_are(page, words):
    expected = words.format(
        steps=len(STEPS),
        minutes=sum(step.minutes for step in STEPS),
        short_steps=len(SHORT_STEPS),
        short=sum(step.minutes for step in SHORT_STEPS),
    )
    assert expected in (ROOT / page).read_text(encoding="utf-8")


def test_the_table_of_the_lessons_is_theirs():
    rows = []
    for number, lesson in enumerate(LESSONS, 1):
        short = sum(step.minutes for step in lesson.steps if step.is_short)
        rows.append(f"| {number} | {lesson.title} | {lesson.minutes:g} | {short:g} |")
    text = (ROOT / "docs" / "how-to" / "teach.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in text
