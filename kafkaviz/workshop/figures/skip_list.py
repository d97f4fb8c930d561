"""The segments of a real topic-partition as the skip list that a broker keeps in memory."""

from kafkaviz.app.widgets.tables import table_html
from kafkaviz.messages import say
from kafkaviz.workshop.drawings import skip_list
from kafkaviz.workshop.drawings.skip_list import SkipListView
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure
from kafkaviz.workshop.lessons.grammar import LessonBlock

HEADS = ("skip_list.head_level", "report.base_offset", "skip_list.head_where")


def _make(block: LessonBlock) -> SkipListView:
    partition = block_location.locate(block).partition
    keys = [segment.base_offset for segment in partition.live]
    return skip_list.view(keys, block["offset"], partition.directory, block["data"])


def _table(view: SkipListView) -> str:
    return table_html([say(head) for head in HEADS], skip_list.rows(view), "rrl")


SKIP_LIST = drawn_figure(
    _make,
    block_location.to_segment,
    (skip_list.figure, skip_list.question_figure),
    _table,
    words=skip_list.describe,
)
