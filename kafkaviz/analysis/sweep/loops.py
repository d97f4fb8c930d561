"""The compiled loops that follow all intervals through the batches of a segment."""

import numpy as np

from kafkaviz.binary.lazy_njit import njit

# The state of one interval between two batches. Rows and positions count from the segment's start.
STATE: np.dtype = np.dtype(
    [
        # the batch that the last entry points to; the first batch until there is an entry
        ("start_row", "i8"),
        ("start_position", "i8"),
        ("append_row", "i8"),  # first batch of the append
        ("append_position", "i8"),
        ("is_indexed", "i8"),  # whether the append gets an entry
        ("entries", "i8"),
        ("time_entries", "i8"),
        ("last_time_ms", "i8"),  # timestamp of the last time entry
        ("skipped_bytes", "i8"),  # summed over the targets
    ]
)
_BLOCK = 2048  # batches that stay in the processor's cache while all intervals are followed


@njit(cache=True)
def leap_to_entries(
    first_row: int,
    positions: np.ndarray,
    position_sums: np.ndarray,
    newest: np.ndarray,
    is_own: np.ndarray,
    intervals: np.ndarray,
    states: np.ndarray,
    steps: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Follows each interval from entry to entry, if each batch is an append with one target.

    Args:
        position_sums: the sum of all positions before each batch's own.
        is_own: whether the target is the batch's last offset.
    """
    for number in range(len(intervals)):
        interval = intervals[number]
        state = states[number]
        step = steps[starts[number] : starts[number + 1]]
        start_row = state.start_row - first_row
        start_position = state.start_position
        skipped = state.skipped_bytes
        entries = 0
        time_entries = 0
        last_time_ms = state.last_time_ms
        first = 0
        while first < len(positions):
            row = first
            while row < len(positions) and positions[row] - start_position <= interval:
                row += 1
            last = min(row, len(positions) - 1)
            step[first - start_row + 1] += 1
            step[last - start_row + 2] -= 1
            skipped += (
                position_sums[last + 1] - position_sums[first] - (last - first + 1) * start_position
            )
            if row == len(positions):
                break
            if is_own[row]:
                step[row - start_row + 1] -= 1
                step[row - start_row + 2] += 1
                step[1] += 1
                step[2] -= 1
                skipped -= positions[row] - start_position
            entries += 1
            if newest[row] > last_time_ms:
                time_entries += 1
                last_time_ms = newest[row]
            start_row = row
            start_position = positions[row]
            first = row + 1
        state.start_row = start_row + first_row
        state.start_position = start_position
        state.skipped_bytes = skipped
        state.entries += entries
        state.time_entries += time_entries
        state.last_time_ms = last_time_ms


@njit(cache=True)
def scan_blocks(
    first_row: int,
    positions: np.ndarray,
    newest: np.ndarray,
    targets: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    intervals: np.ndarray,
    states: np.ndarray,
    headers: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Follows each interval batch by batch, block after block.

    Args:
        newest: the largest timestamp up to each batch.
        opens: whether a batch is the first of its append.
        closes: whether a batch is the last of its append.
        headers: the histograms; that of interval k begins at starts[k].
    """
    for block in range(0, len(positions), _BLOCK):
        stop = min(block + _BLOCK, len(positions))
        for number in range(len(intervals)):
            rows = slice(block, stop)
            counts = headers[starts[number] : starts[number + 1]]
            _scan_block(
                first_row + block,
                positions[rows],
                newest[rows],
                targets[rows],
                opens[rows],
                closes[rows],
                intervals[number],
                states[number],
                counts,
            )


@njit(cache=True)
def _scan_block(
    first_row: int,
    positions: np.ndarray,
    newest: np.ndarray,
    targets: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    interval: int,
    state: np.record,
    counts: np.ndarray,
) -> None:
    start_row = state.start_row
    start_position = state.start_position
    skipped = state.skipped_bytes
    append_row = state.append_row
    append_position = state.append_position
    is_indexed = state.is_indexed
    for block_row in range(len(positions)):
        row = first_row + block_row
        position = positions[block_row]
        target = targets[block_row]
        if opens[block_row]:
            append_row = row
            append_position = position
            is_indexed = position - start_position > interval
        headers = row - start_row + 1
        counts[headers] += target.near
        counts[headers + 1] += target.far
        skipped += (target.near + target.far) * (position - start_position)
        if is_indexed and closes[block_row]:
            append_headers = row - append_row + 1
            counts[headers] -= target.near_last
            counts[headers + 1] -= target.far_last
            counts[append_headers] += target.near_last
            counts[append_headers + 1] += target.far_last
            skipped -= (target.near_last + target.far_last) * (append_position - start_position)
            start_row = append_row
            start_position = append_position
            state.entries += 1
            if newest[block_row] > state.last_time_ms:
                state.time_entries += 1
                state.last_time_ms = newest[block_row]
    state.start_row = start_row
    state.start_position = start_position
    state.skipped_bytes = skipped
    state.append_row = append_row
    state.append_position = append_position
    state.is_indexed = is_indexed


@njit(cache=True)
def fill_appends(sizes: np.ndarray, most_bytes: int) -> np.ndarray:
    """Returns the end row of each append, which takes as many whole batches as fit.

    An append has at least one batch.
    """
    ends = np.empty(len(sizes), np.int64)
    count = 0
    filled_bytes = 0
    for row in range(len(sizes)):
        if row and filled_bytes + sizes[row] > most_bytes:
            ends[count] = row
            count = count + 1
            filled_bytes = 0
        filled_bytes += sizes[row]
    ends[count] = len(sizes)
    return ends[: count + 1]
