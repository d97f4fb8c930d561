"""A log that grows append by append."""

from functools import partial

from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.frontend import growth
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls.growth import GrowthView
from kafkaviz.messages import say
from kafkaviz.workshop.figures.figure import (
    PAPER_ROWS,
    Component,
    Destination,
    LessonFigure,
    Part,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock

# the names used on the Rolls page
STORIES = dict(zip(("first", "full-time-index"), simulation_cache.STORIES, strict=True))
HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def view(block: LessonBlock) -> GrowthView:
    return simulation_cache.lesson_story(STORIES[block["story"]])


def _draw(growth_view: GrowthView, block: LessonBlock, key: str) -> list[Part]:
    data = growth_figure.browser_payload(growth_view) | stepper_data(block, key)
    return [Component(partial(growth, data, key=key))]


def _draw_question(growth_view: GrowthView, block: LessonBlock, key: str) -> list[Part]:
    """Returns the log at the step where the stepper will start."""
    message = growth_figure.browser_payload(growth_view)
    data = stepper_data(block, key)
    step = message["steps"][int(data["begin"])]
    base = message | data | {"key": f"{message['key']} ?", "begin": 0, "steps": [step]}
    return [Component(partial(growth, base, key=key))]


def _on_paper(growth_view: GrowthView, block: LessonBlock, key: str) -> list[Part]:
    last_step = block["step"] or PAPER_ROWS
    rows = growth_figure.rows(growth_view)[max(0, last_step - PAPER_ROWS) : last_step]
    return [table_html([say(f"workshop.{name}") for name in HEADS], rows, "rwrrr")]


def _to_rolls(block: LessonBlock) -> Destination:
    return "Rolls", {page_state.STORY: STORIES[block["story"]]} | start_parameters(block)


GROWTH = LessonFigure(view, _draw, _to_rolls, _on_paper, _draw_question)
