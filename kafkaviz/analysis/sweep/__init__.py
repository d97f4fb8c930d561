"""What every index.interval.bytes would have cost one log.

Index entries, and the batch headers that a lookup reads. Exact, no model.

The batches are held, the interval is swept. Of twenty batches of 1000 bytes and ten records each:

    interval 4096   entries at batches 5, 10, 15      a fetch at the base offset of batch 7 starts
    at 5 and reads 5, 6, 7: 3 headers
    interval 3999   entries at batches 4, 8, 12, 16   it starts at 4 and reads 4, 5, 6, 7
    interval 0      entries at batches 1 to 19        it starts at 6 and reads 6, 7: never fewer
    than 2

The key of an entry is its batch's last offset, so that a fetch at the base offset of an indexed
batch starts at the entry before, unless the batch holds one record. As LogSegment.append of Kafka
2.0 to 4.3.1; that an index can be full is left out.

Sweeps of segments add up: parts(one) + parts(other) is what parts([one, other]) gives, and a sum
over tasks is as exact as one pass.
"""

from kafkaviz.analysis.sweep.columns import Columns, ColumnsBuilder
from kafkaviz.analysis.sweep.counts import add_histograms, mean, quantile
from kafkaviz.analysis.sweep.interval_headers import SIZES, headers, sizes
from kafkaviz.analysis.sweep.sums import INTERVALS, SWEEP, SweepParts, no_parts
from kafkaviz.analysis.sweep.sweeper import (
    CLEANER_APPEND_BYTES,
    FOLLOWER_APPEND_BYTES,
    Sweeper,
    parts,
    sweep,
)
from kafkaviz.analysis.sweep.targets import BASE, EVERY, LAST, every_offset
from kafkaviz.analysis.sweep.times import sweep_times

__all__ = [
    "BASE",
    "CLEANER_APPEND_BYTES",
    "EVERY",
    "FOLLOWER_APPEND_BYTES",
    "INTERVALS",
    "LAST",
    "SIZES",
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
    "quantile",
    "sizes",
    "sweep",
    "sweep_times",
]
