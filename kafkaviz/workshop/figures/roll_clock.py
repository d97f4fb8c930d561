"""A roll by time of a real segment, on the time axis of its records."""

from kafkaviz.app.cache import segment_cache
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.log import settings as log_settings
from kafkaviz.messages import message, say
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.config import log_config
from kafkaviz.workshop.drawings import roll_clock as clock_figure
from kafkaviz.workshop.drawings.roll_clock import RollClockView, TimeRoll
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import LessonFigure, Part, drawing
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def _make(block: LessonBlock) -> RollClockView:
    """Returns the roll that ended a block's segment.

    Raises:
        NoValue: the segment was not rolled by time.
    """
    location, anatomy = block_location.anatomy(block)
    base_offset = location.segment.base_offset
    partition = location.partition
    cause = segment_cache.roll_reason(location.snapshot, partition, location.segment)
    if cause != RollCause.TIME:
        raise NoValue(message("roll_clock.no_time_roll", segment=location.segment.name))
    next_segment = next(
        segment
        for segment in partition.live
        if segment.base_offset > base_offset and segment.log.size_bytes
    )
    incoming = segment_cache.read(next_segment).batches.row(0)
    settings = log_settings.open_settings(location.snapshot.broker)
    config = log_config(
        {name: setting.value for name, setting in settings.topic_settings(partition.topic).items()}
    )
    return clock_figure.view(
        TimeRoll(
            base_offset=base_offset,
            batches_ms=tuple(anatomy.batches.all_rows()["max_timestamp_ms"].tolist()),
            incoming_first_ms=int(incoming["base_timestamp_ms"]),
            incoming_ms=int(incoming["max_timestamp_ms"]),
            segment_ms=config.most_segment_ms,
            jitter_ms=config.segment_jitter_ms,
        ),
        partition.directory,
        block["data"],
    )


def _draw(view: RollClockView, block: LessonBlock, key: str) -> list[Part]:
    return [*_draw_question(view, block, key), _table()]


def _draw_question(view: RollClockView, block: LessonBlock, key: str) -> list[Part]:
    """Returns the time axis without the table of releases."""
    words = clock_figure.describe(view)
    return [drawing(clock_figure.figure, view, block, key, words=words)]


def _table() -> str:
    heads = [say("roll_clock.head_releases"), say("roll_clock.head_counts")]
    return table_html(heads, clock_figure.rows(), "lw")


def _on_paper(view: RollClockView, block: LessonBlock, key: str) -> list[Part]:
    return [elements.figure_head_html(view.title, clock_figure.describe(view)), _table()]


CLOCK = LessonFigure(_make, _draw, block_location.to_segment, _on_paper, _draw_question)
