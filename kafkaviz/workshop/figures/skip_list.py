"""The segments of a real topic-partition as the skip list that a broker keeps in memory."""

from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.messages import say
from kafkaviz.workshop.drawings import skip_list
from kafkaviz.workshop.drawings.skip_list import SkipListView
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.drawing import render_drawing
from kafkaviz.workshop.figures.figure import LessonFigure
from kafkaviz.workshop.lessons.grammar import LessonBlock

HEADS = ("skip_list.head_level", "report.base_offset", "skip_list.head_where")


def _make(block: LessonBlock) -> SkipListView:
    partition = block_location.locate(block).partition
    keys = [segment.base_offset for segment in partition.live]
    return skip_list.view(keys, block["offset"], partition.directory, block["data"])


def _draw(view: SkipListView, block: LessonBlock, key: str) -> None:
    words = skip_list.describe(view)
    render_drawing(skip_list.figure, view, block, key, title=view.title, words=words)


def _draw_question(view: SkipListView, block: LessonBlock, key: str) -> None:
    words = view.caption
    render_drawing(skip_list.question_figure, view, block, key, title=view.question, words=words)


def _on_paper(view: SkipListView, block: LessonBlock, key: str) -> None:
    elements.figure_head(view.title, view.caption)
    table([say(head) for head in HEADS], skip_list.rows(view), "rrl")


SKIP_LIST = LessonFigure(_make, _draw, block_location.to_segment, _on_paper, _draw_question)
