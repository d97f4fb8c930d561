"""Every roll and what tripped it, as a table."""

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, to_csv
from kafkaviz.figures import roll_text
from kafkaviz.words import say

COLUMNS = ("segment", "cause", "because", "open_for")
MOST_ROWS = 400


def render_rolls(history: RollHistory) -> None:
    """The table; of a long log its beginning and its end."""
    elements.heading(say("rolls.every_roll"))
    st.space(8)
    count = len(history.segments)
    rows = list(zip(roll_text.rows(history), history.segments, strict=True))
    if count > MOST_ROWS:
        rows = [*rows[: MOST_ROWS // 2], None, *rows[-MOST_ROWS // 2 :]]
    with st.container(key="kv_rolls_table"):
        heads = [say(f"rolls.head_{column}") for column in COLUMNS]
        elements.table(
            "".join(f"<th{' class=r' if head == heads[-1] else ''}>{head}</th>" for head in heads),
            (_row(roll, count) for roll in rows),
        )
    download(
        say("rolls.every_roll_csv"),
        lambda: to_csv(roll_text.COLUMNS, roll_text.lane_values(history)),
        "rolls.csv",
        "kv_rolls_csv",
    )


def _row(roll: tuple | None, count: int) -> str:
    """A roll, its cause in its colour; None for those that are left out."""
    if roll is None:
        return (
            "<tr>"
            '<td colspan="4" class="kv-fnt">'
            f"{say('common.more_in_csv', n=units.group(count - MOST_ROWS))}</td></tr>"
        )
    (segment, cause, because, span), lane = roll
    ink = roll_text.text_colour(lane).replace("_", "-")
    quiet = ' class="kv-fnt"' if lane.is_active else ""
    return (
        f'<tr><td class="kv-mono kv-tight">{segment}</td>'
        f'<td style="font-weight:600;color:var(--kv-{ink})">{elements.escape(cause)}</td>'
        f'<td{quiet}>{elements.escape(because)}</td><td class="r">{elements.escape(span)}</td></tr>'
    )
