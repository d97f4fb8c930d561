"""CSV downloads are for programs: cells are numbers and identifiers, the same in every language."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from kafkaviz import messages
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.app.widgets.tables import to_csv
from kafkaviz.figures.tuning import replay_table
from kafkaviz.render import roll_text
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason

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


def replay_rows() -> list[replay_table.ReplayRow]:
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
    return replay_table.rows(now, other)


# the file's content, and its second line
FILES: dict[str, tuple[Callable[[], Iterable[tuple]], tuple]] = {
    "replayed": (lambda: replay_table.file_cells(replay_rows()), ("segments", 3, 6)),
    "rolls": (
        lambda: roll_text.history_values(roll_history.RollHistory(LANES, LogConfig())),
        (1000, "unseen", "", "", 61_000),
    ),
}


@pytest.mark.parametrize("file", FILES)
def test_a_cell_is_the_same_in_every_language(file, monkeypatch):
    get_table, second = FILES[file]
    tables = []
    for spoken in messages.LANGUAGES:
        monkeypatch.setattr(messages, "_language_sources", [lambda spoken=spoken: spoken])
        tables.append(list(map(tuple, get_table())))
    assert tables[0] == tables[1]
    assert len(tables[0]) > 1
    assert second is None or tables[0][1] == second
    assert to_csv((), tables[0]).isascii()
    assert not [cell for row in tables[0] for cell in row if isinstance(cell, str) and " " in cell]
