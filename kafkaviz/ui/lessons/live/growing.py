"""A log that grows, append by append."""

from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures.growth import GrowthView
from kafkaviz.ui import state
from kafkaviz.ui.components.growth import growth
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.ui.lessons.live.figure import PAPER_ROWS, Live, Onward, begins, position
from kafkaviz.ui.rolls import stories
from kafkaviz.ui.tables import table
from kafkaviz.words import say

# as the Rolls page names them
STORIES = dict(zip(("first", "full-time-index"), stories.STORIES, strict=True))
HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def view(block: Block) -> GrowthView:
    """The story of a block, in words."""
    return stories.story(STORIES[block["story"]])


def _draw(shown: GrowthView, block: Block, key: str) -> None:
    growth(growth_figure.message(shown) | position(block, key), key=key)


def _on_paper(shown: GrowthView, block: Block, key: str) -> None:
    last = block["step"] or PAPER_ROWS
    table(
        [say(f"workshop.{name}") for name in HEADS],
        growth_figure.rows(shown)[max(0, last - PAPER_ROWS) : last],
        "rwrrr",
    )


def _onward(block: Block) -> Onward:
    return "Rolls", {state.STORY: STORIES[block["story"]]} | begins(block)


GROWTH = Live(view, _draw, _onward, _on_paper)
