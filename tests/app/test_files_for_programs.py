"""CSV downloads are for programs: cells are numbers and identifiers, the same in every language."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace

import numpy as np
import pytest

from kafkaviz import messages
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.rolls import roll_history
from kafkaviz.app.pages.page_cache import page as page_cache
from kafkaviz.app.pages.tuning import comparisons
from kafkaviz.app.widgets.tables import to_csv
from kafkaviz.figures.page_cache import fault_bars
from kafkaviz.figures.page_cache.fault_bars import TurnoverFaults
from kafkaviz.figures.text import roll_text
from kafkaviz.figures.tuning import before_after
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason
from tests.support.tuning import NEW, compared, measured

LANES = tuple(
    roll_history.SegmentHistory(
        base_offset=1000,
        opened_ms=0,
        ended_ms=61_000,
        log_bytes=500,
        offset_entries=1,
        time_entries=1,
        reason=reason,
        is_active=is_active,
        read_fills=lambda: np.zeros(1, roll_history.FILL),
    )
    for reason, is_active in (
        (RollReason(RollCause.TIME, 60_006, 60_000, 9), False),
        (None, False),
        (None, True),
    )
)
AT = [SimpleNamespace(row={"skipped_bytes_mean": np.float64(mean)}) for mean in (1000.5, 4000.0)]
REMOTE = {
    "carried_share_now": 0.0000123,
    "carried_share_other": 0.5,
    "cached_segments_now": float("inf"),
    "cached_segments_other": 12.0,
}
BARS = fault_bars.FaultBarsView(
    "",
    "",
    (TurnoverFaults(1_000_000, 4.91666, 0.0, 4.92), TurnoverFaults(16_000_000, 2.5, 0.0, None)),
    None,
)


def replay_rows() -> list[before_after.ComparisonRow]:
    """Returns the rows of a replayed log."""
    now = WhatIf(
        config=LogConfig(),
        segments=3,
        rolls={"size": 2},
        log_bytes=3 << 20,
        offset_entries=900,
        time_entries=903,
    )
    other = WhatIf(
        config=LogConfig(segment_bytes=1 << 20),
        segments=6,
        rolls={"size": 3, "time-index-full": 2},
        log_bytes=3 << 20,
        offset_entries=450,
        time_entries=456,
    )
    return before_after.replay_rows(now, other)


# the file's content, and its second line
FILES: dict[str, tuple[Callable[[], Iterable[tuple]], tuple]] = {
    "before-after": (
        lambda: before_after.file_cells(compared(measured(1000), 16_384).values()),
        ("headers_p99", 6, 18, "worse"),
    ),
    "replayed": (lambda: before_after.file_cells(replay_rows()), ("segments", 3, 6, "")),
    "rolls": (
        lambda: roll_text.history_values(roll_history.RollHistory(LANES, LogConfig())),
        (1000, "unseen", "", "", 61_000),
    ),
    "turnover": (lambda: fault_bars.file_values(BARS), (16_000_000, 2.5, "", 0.0)),
    "protected": (
        lambda: page_cache.fault_rate_values(
            {"none": (1.5, 0.0, None, None), "0.1 %": (1.25, 0.0, 900.0, 12.5)}
        ),
        (0.001, 1.25, 0.0, 900.0, 12.5),
    ),
    "tiered": (lambda: comparisons.remote_values(*AT, REMOTE), ("carried_share", 0.000012, 0.5)),
    "writers": (
        lambda: comparisons.writer_values(
            {
                name: {"entries": 1234, "headers_mean": 4.0, "headers_p99": 6}
                for name in ("batch", "follower")
            },
            NEW,
        ),
        ("follower", 1234, 4.0, 6, round(NEW.warm_us(6).typical, 3)),
    ),
}


@pytest.mark.parametrize("file", FILES)
def test_a_cell_is_the_same_in_every_language(file, monkeypatch):
    get_table, second = FILES[file]
    tables = []
    for spoken in messages.LANGUAGES:
        monkeypatch.setattr(messages, "_language_sources", [lambda spoken=spoken: spoken])
        tables.append(list(map(tuple, get_table())))
    assert (
        tables[0] == tables[1] and len(tables[0]) > 1 and (second is None or tables[0][1] == second)
    )
    assert to_csv((), tables[0]).isascii() and not [
        cell for row in tables[0] for cell in row if isinstance(cell, str) and " " in cell
    ]
