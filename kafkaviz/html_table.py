"""A small HTML table, for values that a notebook shows through `_repr_html_`."""

from collections.abc import Iterable, Sequence
from html import escape

from kafkaviz.messages import say
from kafkaviz.units import MISSING, escape_controls, format_count

MAX_ROWS = 60


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a title and a table; after MAX_ROWS rows it only says how many more there are.

    Args:
        columns: the message keys of the column names.
        rows: numbers are aligned to the right; None is shown as a dash.
    """
    rows = list(rows)
    head = "".join(f"<th>{escape(say(column))}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MAX_ROWS])
    more = len(rows) - MAX_ROWS
    note = f"<p>{escape(say('common.n_more', n=more))}</p>" if more > 0 else ""
    caption = f"<p><strong>{escape(escape_controls(title))}</strong></p>"
    return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: object) -> str:
    if value is None:
        return f"<td>{MISSING}</td>"
    if isinstance(value, int):
        return f'<td style="text-align: right">{format_count(value)}</td>'
    return f'<td style="text-align: left">{escape(escape_controls(str(value)))}</td>'
