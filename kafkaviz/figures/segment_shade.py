"""How dark the batches of a segment are drawn, by size or by age, and the whole of a large segment
in columns of equal length.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures.listed import sentences
from kafkaviz.words import say

SHADES = PLAIN, SIZE, AGE = "Plain", "Size", "Age"
EXACT_ROWS = 1000  # up to here the overview draws each batch
COLUMNS = 1000  # of the overview beyond
DAY_MS = 86_400_000


class Overview(NamedTuple):
    """The segment in equal columns: entries that point into each, and how dark its batches are, 0
    to 255.
    """

    entries: np.ndarray
    shades: np.ndarray


def darkest(anatomy: Anatomy, shade: str) -> tuple[int, int]:
    """The values drawn lightest and darkest: all but the largest hundredth of the sizes, and all
    times there are.
    """
    if shade == "Size":
        sizes = anatomy.batches["size_bytes"]
        return int(sizes.min()), int(np.sort(sizes)[int(0.99 * (len(sizes) - 1))])
    known = anatomy.batches["max_timestamp_ms"][anatomy.batches["max_timestamp_ms"] >= 0]
    return (int(known.min()), int(known.max())) if shade == "Age" and len(known) else (0, 0)


def hint(shade: str, ends: tuple[int, int]) -> str:
    """How to read the shade, and what can be done with the figure; ends: the values drawn lightest
    and darkest.
    """
    low, high = ends
    if shade == "Size":
        sizes = {"low": units.group(low), "high": units.group(high), "size": units.group(low)}
        said = say("ruler.by_size" if low < high else "ruler.all_of_size", **sizes)
    elif shade == "Age":
        when = units.moment if high - low >= DAY_MS else units.clock
        said = say("ruler.by_age", low=when(low), high=when(high))
    else:
        said = say("ruler.by_interval")
    return sentences([said, say("ruler.hint")])


def overview(anatomy: Anatomy, shade: str, ends: tuple[int, int]) -> Overview | None:
    """The segment in columns of equal length; a column between two starts belongs to the batch that
    covers it.

    None where there are few enough batches to draw each. ends: the values drawn lightest and
    darkest.
    """
    if len(anatomy.batches) <= EXACT_ROWS:
        return None
    width_bytes = max(1, anatomy.segment.log.size_bytes) / COLUMNS
    starts = np.minimum((anatomy.batches["position"] / width_bytes).astype(int), COLUMNS - 1)
    pointed = anatomy.index.entries["position"]
    pointed = pointed[(pointed >= 0) & (pointed < anatomy.segment.log.size_bytes)]
    entries = np.bincount(
        np.minimum((pointed / width_bytes).astype(int), COLUMNS - 1), minlength=COLUMNS
    )
    counts = np.bincount(starts, minlength=COLUMNS)
    if shade == "Plain":
        values, low, high = counts, 0, max(1, int(counts.max()))
    else:
        field = anatomy.batches["size_bytes" if shade == "Size" else "max_timestamp_ms"].astype(
            float
        )
        values, (low, high) = np.bincount(starts, field, COLUMNS) / np.maximum(counts, 1), ends
    covering = np.maximum.accumulate(np.where(counts > 0, np.arange(COLUMNS), 0))
    shades = np.clip((values[covering] - low) / max(1, high - low), 0, 1) * 255
    shades[np.arange(COLUMNS) * width_bytes >= anatomy.end.position] = 0
    return Overview(np.minimum(entries, 255).astype(np.uint8), shades.astype(np.uint8))
