"""Computes the exact cost that each index.interval.bytes would have had for a log (a "sweep").

The cost is the number of index entries, and the number of batch headers that lookups read. For
example, a log has twenty batches of 1000 bytes and ten records each. The base offset of batch 7 is
looked up:

- interval 4096: entries at batches 5, 10, 15. The scan starts at 5 and reads 3 headers.
- interval 3999: entries at batches 4, 8, 12, 16. The scan starts at 4 and reads 4 headers.
- interval 0: entries at batches 1 to 19. The scan starts at 6 and reads 2 headers, the fewest
  possible.

The key of an entry is the last offset of its batch. So the lookup of an indexed batch's base offset
starts at the previous entry, unless the batch has only one record. The rules are those in
LogSegment.append of Kafka 2.0 to 4.3.1. Full indexes are not considered.

The results for two segments can be added: parts(a) + parts(b) equals parts([a, b]).
"""

from kafkaviz.analysis.sweep.sums import (
    INTERVALS,
    SWEEP,
    SweepParts,
    add_histograms,
    mean,
    no_parts,
    scale_counts,
)
from kafkaviz.analysis.sweep.sweeper import (
    BASE,
    EVERY,
    FOLLOWER_APPEND_BYTES,
    Sweeper,
    every_offset,
    parts,
    sweep,
)
from kafkaviz.analysis.sweep.times import Columns, ColumnsBuilder, headers

__all__ = [
    "BASE",
    "EVERY",
    "FOLLOWER_APPEND_BYTES",
    "INTERVALS",
    "SWEEP",
    "Columns",
    "ColumnsBuilder",
    "SweepParts",
    "Sweeper",
    "add_histograms",
    "every_offset",
    "headers",
    "mean",
    "no_parts",
    "parts",
    "scale_counts",
    "sweep",
]
