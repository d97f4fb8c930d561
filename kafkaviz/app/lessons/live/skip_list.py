"""The segments of a real topic-partition as the skip list that a broker keeps in memory."""

from kafkaviz.app.lessons.grammar import LessonBlock
from kafkaviz.app.lessons.live import block_location
from kafkaviz.app.lessons.live.drawing import render_drawing
from kafkaviz.app.lessons.live.figure import LessonFigure
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.figures.lookup import skip_list
from kafkaviz.figures.lookup.skip_list import SkipListView
from kafkaviz.messages import say

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
