"""A log that grows append by append."""

from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.frontend import growth
from kafkaviz.app.widgets.tables import table
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls.growth import GrowthView
from kafkaviz.messages import say
from kafkaviz.workshop.figures.figure import (
    PAPER_ROWS,
    Destination,
    LessonFigure,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock

# the names used on the Rolls page
STORIES = dict(zip(("first", "full-time-index"), simulation_cache.STORIES, strict=True))
HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def view(block: LessonBlock) -> GrowthView:
    return simulation_cache.lesson_story(STORIES[block["story"]])


def _draw(growth_view: GrowthView, block: LessonBlock, key: str) -> None:
    growth(growth_figure.browser_payload(growth_view) | stepper_data(block, key), key=key)


def _draw_question(growth_view: GrowthView, block: LessonBlock, key: str) -> None:
    """Draws the log at the step where the stepper will start."""
    message = growth_figure.browser_payload(growth_view)
    data = stepper_data(block, key)
    step = message["steps"][int(data["begin"])]
    growth(message | data | {"key": f"{message['key']} ?", "begin": 0, "steps": [step]}, key=key)


def _on_paper(growth_view: GrowthView, block: LessonBlock, key: str) -> None:
    last_step = block["step"] or PAPER_ROWS
    table(
        [say(f"workshop.{name}") for name in HEADS],
        growth_figure.rows(growth_view)[max(0, last_step - PAPER_ROWS) : last_step],
        "rwrrr",
    )


def _to_rolls(block: LessonBlock) -> Destination:
    return "Rolls", {page_state.STORY: STORIES[block["story"]]} | start_parameters(block)


GROWTH = LessonFigure(view, _draw, _to_rolls, _on_paper, _draw_question)
