"""A small table in HTML, as a notebook shows a value by its _repr_html_."""

from collections.abc import Iterable, Sequence
from html import escape

from kafkaviz.messages import say
from kafkaviz.units import MISSING, escape_controls, group

MAX_ROWS = 60


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A title and a table below it; of many rows the first, and how many more there are.

    Args:
        columns: the keys of their names.
        rows: numbers stand at the right; None is a dash.
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
        return f'<td style="text-align: right">{group(value)}</td>'
    return f'<td style="text-align: left">{escape(escape_controls(str(value)))}</td>'
