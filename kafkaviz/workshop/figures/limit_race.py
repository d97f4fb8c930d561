"""A figure of how a simulated segment approaches each limit that would roll the segment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analysis.roll_limits import LimitRace, race
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import RollSimulation
from kafkaviz.app.widgets import charts
from kafkaviz.app.workloads import config_of, display_title, format_setting
from kafkaviz.figures import theme
from kafkaviz.messages import message, say
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.simulate.producers import workload
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import DAY_MS, MINUTE_MS, duration, format_percent
from kafkaviz.workshop.figures.figure import Destination, drawn_figure, note
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

GAP_PX = 10  # between two labels in a row
WIDE_PX = 13.5  # width of a Chinese character at a font size of 13 px
NARROW_PX = 7.0  # width of any other character


def stack_labels(labels: Iterable[tuple[float, str]]) -> dict[tuple[float, str], tuple[int, str]]:
    """Returns where to draw each label: (row, Plotly's `xanchor`). Row 0 is next to the axis.

    A label is (point on the axis from 0 to 1, text). It gets the row nearest to the axis that has
    enough free space around this point.
    """
    width_px = MIN_WIDTH_PX - LEFT_PX - RIGHT_PX
    ends: list[float] = []  # where the last label of each row ends
    places = {}
    for share, text in sorted(labels, key=itemgetter(0)):
        point_px = share * width_px
        label_px = sum(WIDE_PX if ord(character) > 0x2E7F else NARROW_PX for character in text)
        if point_px < label_px / 2:
            anchor = "left"
        elif point_px > width_px - label_px / 2:
            anchor = "right"
        else:
            anchor = "center"
        left_px = point_px - {"left": 0, "center": label_px / 2, "right": label_px}[anchor]
        free = (row for row, end_px in enumerate(ends) if end_px + GAP_PX <= left_px)
        row = next(free, len(ends))
        ends[row : row + 1] = [left_px + label_px]
        places[share, text] = row, anchor
    return places


HEIGHT_PX = 330
LEFT_PX = 52
RIGHT_PX = 12
BOTTOM_PX = 40
LABEL_PX = 17  # height of a row of labels
MIN_WIDTH_PX = 440  # of the figure
MAX_ROLLS = 4  # the figure ends at most at this multiple of the time until the roll
MARGIN = 1.04  # length of the axis, as a multiple of the time to the last limit
POINTS = 160  # points per line
TICKS = 6


@dataclass(frozen=True, kw_only=True)
class RaceLine:
    """A line of the figure: how a segment approaches one limit."""

    cause: RollCause
    name: str
    limit_text: str
    roll_text: str  # the amount that counts toward the limit, at the roll
    early_text: str  # the amount that counts toward the limit, at `LimitRaceView.early_ms`
    points: np.ndarray  # (n, 2): ms since the segment's first append, share of the limit (0 to 1)
    share_at_roll: float
    # when the segment would reach the limit if no other limit rolled it; None: after the figure
    reached_ms: int | None


@dataclass(frozen=True, kw_only=True)
class LimitRaceView:
    """How a segment approached its limits: a line per limit, from its start to its roll."""

    title: str
    question: str
    caption: str
    lines: tuple[RaceLine, ...]
    cause: RollCause
    roll_ms: int
    early_ms: int  # an early time to compare with: 1 % to 10 % of `roll_ms`
    end_ms: float


def view(run: RollSimulation, number: int, workload_title: str) -> LimitRaceView:
    """Returns how a segment approached its limits. `number` must not be the active segment's."""
    base_offset = run.history.segments[number].base_offset
    first_row = np.searchsorted(run.appended_batches["base_offset"], base_offset)
    limit_race = race(run.appended_batches[first_row:], run.history.config)
    cause = limit_race.cause
    roll = limit_race.roll
    assert cause is not None and roll is not None
    roll_ms = int(limit_race.at_ms[roll])
    reached_ms = {
        limit: int(limit_race.at_ms[append])
        for limit, append in limit_race.reached.items()
        if append is not None and limit_race.at_ms[append] <= MAX_ROLLS * max(roll_ms, 1)
    }
    end_ms = MARGIN * max(1, *reached_ms.values())
    early_ms = 10 ** max(0, len(str(roll_ms)) - 2)
    early = int(np.searchsorted(limit_race.at_ms, early_ms))
    lines = tuple(
        _line(limit_race, limit, (early, roll), reached_ms.get(limit), end_ms)
        for limit in RollCause
    )
    return LimitRaceView(
        title=say(
            "limit_race.title",
            cause=roll_text.cause_name(cause),
            span=roll_ms,
            size=int(limit_race.log_bytes[roll]),
        ),
        question=say("limit_race.question"),
        caption=say("limit_race.below", offset=base_offset, workload=workload_title),
        lines=lines,
        cause=cause,
        roll_ms=roll_ms,
        early_ms=early_ms,
        end_ms=end_ms,
    )


def _line(
    limit_race: LimitRace,
    cause: RollCause,
    appends: tuple[int, int],
    reached_ms: int | None,
    end_ms: float,
) -> RaceLine:
    early, roll = appends
    last = limit_race.reached[cause] if reached_ms is not None else None
    if last is None:
        last = int(np.searchsorted(limit_race.at_ms, end_ms, "right")) - 1
    drawn = np.unique([*np.linspace(0, last, POINTS).astype(int), min(roll, last)])
    shares = np.minimum(limit_race.shares(cause), 1)
    return RaceLine(
        cause=cause,
        name=roll_text.cause_name(cause),
        limit_text=_amount(cause, limit_race.limits[cause]),
        roll_text=_amount(cause, int(limit_race.amounts[cause][roll])),
        early_text=_amount(cause, int(limit_race.amounts[cause][early])),
        points=np.column_stack([limit_race.at_ms[drawn], shares[drawn]]),
        share_at_roll=float(shares[roll]),
        reached_ms=reached_ms,
    )


def _amount(cause: RollCause, amount: int) -> str:
    name = "index-full" if cause in roll_text.INDEXES else cause
    return say(f"limit_race.amount_{name}", amount=amount)


def rows(race_view: LimitRaceView) -> list[tuple[str, ...]]:
    """Returns a row per limit: name, value, amount and share at the roll, time to the limit."""
    return [
        (
            line.name,
            line.limit_text,
            line.roll_text,
            format_percent(line.share_at_roll, 1),
            say("limit_race.much_later") if line.reached_ms is None else duration(line.reached_ms),
        )
        for line in race_view.lines
    ]


def describe_limits(race_view: LimitRaceView) -> str:
    return join_semicolon(f"{line.name} {line.limit_text}" for line in race_view.lines)


def figure(race_view: LimitRaceView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    labels = _limit_labels(race_view, colours)
    traces = [trace for line in race_view.lines for trace in _line_traces(line, race_view, colours)]
    return _frame(race_view, mode, traces, labels).update_layout(
        shapes=[*_rest_of_time(race_view, colours), _limit_line(colours)]
    )


def question_figure(race_view: LimitRaceView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    marker = {"size": 11, "color": colours["ink"]}
    start = go.Scatter(
        x=[0], y=[0], mode="markers", marker=marker, cliponaxis=False, hoverinfo="skip"
    )
    early = say("limit_race.early", span=race_view.early_ms)
    rows = [("", say("limit_race.head_most"), early, colours["ink_3"])]
    for line in race_view.lines:
        colour = _text_colour(line.cause, colours)
        rows.append((f"<b>{line.name}</b>", line.limit_text, line.early_text, colour))
    left = {"xanchor": "left", "align": "left"}
    notes = [
        note(x, 1, row[column], row[-1], xref="paper", yanchor="top", yshift=-10 - 24 * number)
        | left
        for column, x in enumerate((0.02, 0.33, 0.68))
        for number, row in enumerate(rows)
        if row[column]
    ]
    start_text = say("limit_race.start")
    notes.append(note(0, 0, start_text, colours["ink_2"], xshift=14, yshift=14) | left)
    return _frame(race_view, mode, [start], notes).update_layout(
        shapes=[_limit_line(colours)], yaxis_showgrid=False
    )


def _frame(
    race_view: LimitRaceView, mode: str, traces: Sequence, annotations: Sequence[dict]
) -> go.Figure:
    colours = theme.colours(mode)
    plain = theme.PLAIN_AXIS | {"ticks": "", "title": None}
    ticks = np.arange(0, race_view.end_ms, _tick_step(race_view.end_ms))
    return go.Figure(list(traces)).update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (LEFT_PX, RIGHT_PX, 3 * LABEL_PX + 6, BOTTOM_PX)),
        hovermode="closest",
        xaxis=plain
        | {
            "range": [0, race_view.end_ms],
            "tickvals": ticks,
            "ticktext": [duration(tick) if tick else "0" for tick in ticks],
            "showgrid": False,
        },
        yaxis=plain
        | {
            "range": [0, 1],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["0", "25 %", "50 %", "75 %", "100 %"],
            "gridcolor": colours["line"],
        },
        annotations=[*annotations, theme.axis_name(say("limit_race.axis"), colours, shift_px=-20)],
    )


def _tick_step(span_ms: float) -> float:
    steps = [factor * 10**power for power in range(5) for factor in (1, 2, 5)]
    steps += [minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 30, 60, 120, 360, 720)]
    return next(
        (step for step in steps if span_ms / step <= TICKS),
        DAY_MS * max(1, round(span_ms / TICKS / DAY_MS)),
    )


def _limit_line(colours: Mapping[str, str]) -> dict:
    return theme.straight_line(
        0, 1, 1, 1, xref="paper", line={"color": colours["ink"], "width": 1.5}, layer="below"
    )


def _rest_of_time(race_view: LimitRaceView, colours: Mapping[str, str]) -> list[dict]:
    roll_ms = race_view.roll_ms
    ink = {"color": colours["ink"], "width": 1}
    return [
        theme.area(colours["panel"], x0=roll_ms, x1=race_view.end_ms, y0=0, y1=1),
        theme.straight_line(roll_ms, roll_ms, 0, 1, line=ink, layer="below"),
    ]


def _line_traces(
    line: RaceLine, race_view: LimitRaceView, colours: Mapping[str, str]
) -> list[go.Scatter]:
    colour = colours[roll_text.COLOUR_NAMES[line.cause]]
    hover = say("limit_race.hover", limit=line.name, share="%{y:.0%}", span="%{customdata}")
    is_first = line.cause == race_view.cause
    dash = "6px,4px" if line.cause == RollCause.TIME else "solid"
    before = line.points[line.points[:, 0] <= race_view.roll_ms]
    after_roll = line.points[line.points[:, 0] >= race_view.roll_ms]
    traces = [
        go.Scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="lines",
            name=line.name,
            line={"color": colour, "width": width, "dash": line_dash},
            customdata=[duration(at_ms) for at_ms in points[:, 0]],
            hovertemplate=f"{hover}<extra></extra>",
        )
        for points, width, line_dash in (
            (before, 3.2 if is_first else 2, dash),
            (after_roll, 1.6, "dot"),
        )
        if len(points) > 1 and not (is_first and points is after_roll)
    ]
    if line.reached_ms is not None:
        marker = {
            "size": 12 if is_first else 8,
            "color": colour if is_first else colours["raised"],
            "line": {"color": colour, "width": 2},
        }
        traces.append(
            go.Scatter(
                x=[line.reached_ms],
                y=[1],
                mode="markers",
                name=f"{line.name} 100 %",
                marker=marker,
                cliponaxis=False,
                hoverinfo="skip",
            )
        )
    return traces


def _text_colour(cause: RollCause, colours: Mapping[str, str]) -> str:
    name = roll_text.COLOUR_NAMES[cause]
    return colours["ink" if name == "ink" else f"{name}_text"]


def _limit_labels(race_view: LimitRaceView, colours: Mapping[str, str]) -> list[dict]:
    """Returns one label per line.

    If a line reaches the limit, the label is there, otherwise at the right end of the line.
    """
    reached = {}  # by cause: where the line reaches its limit, and the text
    for line in race_view.lines:
        if line.reached_ms is not None:
            key = "limit_race.rolls" if line.cause == race_view.cause else "limit_race.alone"
            text = say(key, limit=line.name, span=duration(line.reached_ms))
            reached[line.cause] = line.reached_ms / race_view.end_ms, text
    places = stack_labels(reached.values())
    reached_labels = []
    far_labels = []
    for line in race_view.lines:
        colour = _text_colour(line.cause, colours)
        if line.reached_ms is None:
            share = float(line.points[-1, 1])
            text = say("limit_race.far", limit=line.name, share=format_percent(share, 1))
            label = note(1, share, text, colour, xref="paper", xanchor="right", yshift=2)
            far_labels.append(label | {"yanchor": "bottom"})
        else:
            row, anchor = places[reached[line.cause]]
            _, text = reached[line.cause]
            text = f"<b>{text}</b>" if line.cause == race_view.cause else text
            label = note(line.reached_ms, 1, text, colour, xanchor=anchor, yanchor="bottom")
            reached_labels.append(label | {"yshift": 7 + LABEL_PX * row})
    return [*reached_labels, *far_labels]


def simulate(block: LessonBlock) -> RollSimulation:
    preset = _find_workload(block["workload"])
    return simulation_cache.simulate(preset, config_of(preset, block.settings))


def _make(block: LessonBlock) -> LimitRaceView:
    preset = _find_workload(block["workload"])
    run = simulate(block)
    if not preset.is_leader:
        raise NoValue(message("limit_race.follower", name=block["workload"]))
    if run.history.config.segment_jitter_ms:
        raise NoValue(message("limit_race.jitter"))
    segments = run.history.segments
    if block["segment"] >= len(segments) or segments[block["segment"]].reason is None:
        raise NoValue(message("lesson.rolled_segment", most=len(segments) - 2))
    return charts.view(
        ("limit race", run.key, block["segment"]),
        lambda: view(run, block["segment"], display_title(preset.title)),
    )


def _find_workload(name: str) -> workload.Workload:
    if name not in workload.PRESETS:
        raise NoValue(message("lesson.no_workload", name=name, names=tuple(workload.PRESETS)))
    return workload.preset(name)


def _to_rolls(block: LessonBlock) -> Destination:
    settings = {
        page_state.SETTING[name]: format_setting(name, value)
        for name, value in block.settings.items()
        if name in page_state.SETTING
    }
    title = _find_workload(block["workload"]).title
    workload_address = {page_state.ROLLS_SUBJECT: "Simulated", page_state.WORKLOAD: title}
    return "Rolls", workload_address | settings


RACE = drawn_figure(
    _make,
    _to_rolls,
    (figure, question_figure),
    heads=[f"limit_race.head_{name}" for name in ("limit", "most", "at_roll", "share", "alone")],
    rows=rows,
    kinds="lrrrr",
    marked_row=lambda view: [line.cause for line in view.lines].index(view.cause),
    question_words=describe_limits,
    has_table_below=True,
)
