"""Every roll and what tripped it, as a table."""

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.lanes import Lanes
from kafkaviz.figures import roll_words
from kafkaviz.ui import parts
from kafkaviz.ui.tables import csv_of, download
from kafkaviz.words import say

COLUMNS = ("segment", "cause", "because", "open_for")
MOST_ROWS = 400


def every_roll(shown: Lanes) -> None:
    """The table; of a long log its beginning and its end."""
    parts.heading(say("rolls.every_roll"))
    st.space(8)
    count = len(shown.lanes)
    rows = list(zip(roll_words.rows(shown), shown.lanes, strict=True))
    if count > MOST_ROWS:
        rows = [*rows[: MOST_ROWS // 2], None, *rows[-MOST_ROWS // 2 :]]
    with st.container(key="kv_rolls_table"):
        told = [say(f"rolls.head_{one}") for one in COLUMNS]
        parts.table(
            "".join(f"<th{' class=r' if one == told[-1] else ''}>{one}</th>" for one in told),
            (_row(one, count) for one in rows),
        )
    download(
        say("rolls.every_roll_csv"),
        lambda: csv_of(roll_words.COLUMNS, roll_words.values(shown)),
        "rolls.csv",
        "kv_rolls_csv",
    )


def _row(one: tuple | None, count: int) -> str:
    """A roll, its cause in its colour; None for those that are left out."""
    if one is None:
        return (
            "<tr>"
            '<td colspan="4" class="kv-fnt">'
            f"{say('common.more_in_csv', n=units.group(count - MOST_ROWS))}</td></tr>"
        )
    (segment, cause, because, span), lane = one
    ink = roll_words.text_ink(lane).replace("_", "-")
    quiet = ' class="kv-fnt"' if lane.is_active else ""
    return (
        f'<tr><td class="kv-mono kv-tight">{segment}</td>'
        f'<td style="font-weight:600;color:var(--kv-{ink})">{parts.escape(cause)}</td>'
        f'<td{quiet}>{parts.escape(because)}</td><td class="r">{parts.escape(span)}</td></tr>'
    )
