"""The darkness of a segment's batches, by size or by age.

An overview of a large segment has columns of equal length.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.batch_counts import COLUMNS
from kafkaviz.figures.text.join_text import join_sentences
from kafkaviz.messages import say

SHADES = PLAIN, SIZE, AGE = "Plain", "Size", "Age"
EXACT_ROWS = 1000  # up to this many batches are drawn one by one
DAY_MS = 86_400_000


class SegmentOverview(NamedTuple):
    """The segment in columns of equal length.

    Attributes:
        entries: index entries that point into each column, at most 255.
        shades: darkness of each column's batches, 0 to 255.
    """

    entries: np.ndarray
    shades: np.ndarray


def shade_range(anatomy: Anatomy, shade: str) -> tuple[int, int]:
    """Returns the values that are drawn lightest and darkest.

    For sizes, the largest 1 % is left out. For times, all known times count.
    """
    if shade == "Size":
        last_rank = len(anatomy.batches) - 1
        return int(anatomy.counts.sizes[0]), anatomy.counts.size_at(int(0.99 * last_rank))
    return (shade == "Age" and anatomy.counts.known_ms) or (0, 0)


def hint_text(shade: str, value_range: tuple[int, int]) -> str:
    """Explains the shade and the controls of the figure.

    Args:
        value_range: the result of shade_range.
    """
    low, high = value_range
    if shade == "Size":
        shade_text = say(
            "ruler.by_size" if low < high else "ruler.all_of_size",
            low=units.format_count(low),
            high=units.format_count(high),
            size=units.format_count(low),
        )
    elif shade == "Age":
        format_time = units.moment if high - low >= DAY_MS else units.clock
        shade_text = say("ruler.by_age", low=format_time(low), high=format_time(high))
    else:
        shade_text = say("ruler.by_interval")
    return join_sentences([shade_text, say("ruler.hint")])


def build_overview(
    anatomy: Anatomy, shade: str, value_range: tuple[int, int]
) -> SegmentOverview | None:
    """Returns the segment in columns, or None if there are few enough batches to draw each.

    A column in which no batch begins belongs to the batch that covers it.

    Args:
        value_range: the result of shade_range.
    """
    if len(anatomy.batches) <= EXACT_ROWS:
        return None
    width_bytes = max(1, anatomy.segment.log.size_bytes) / COLUMNS
    positions = anatomy.index.entries["position"]
    positions = positions[(positions >= 0) & (positions < anatomy.segment.log.size_bytes)]
    entries = np.bincount(
        np.minimum((positions / width_bytes).astype(int), COLUMNS - 1), minlength=COLUMNS
    )
    columns = anatomy.counts.columns
    counts = columns.batches
    if shade == "Plain":
        values = counts
        low = 0
        high = max(1, int(counts.max()))
    else:
        sums = columns.size_bytes if shade == "Size" else columns.max_timestamp_ms
        values = sums / np.maximum(counts, 1)
        low, high = value_range
    covering_columns = np.maximum.accumulate(np.where(counts > 0, np.arange(COLUMNS), 0))
    shades = np.clip((values[covering_columns] - low) / max(1, high - low), 0, 1) * 255
    shades[np.arange(COLUMNS) * width_bytes >= anatomy.end.position] = 0
    return SegmentOverview(np.minimum(entries, 255).astype(np.uint8), shades.astype(np.uint8))
