"""The effect of segment.index.bytes on the time of a lookup, and on the rolls of a log.

The upper panel shows the modelled time of a lookup on cold pages. The lower panel shows the size of
the .log at the roll.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from kafkaviz import config_def
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome, SafeIndexSize
from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import join_sentences
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import MISSING, format_bytes, format_count, format_us

HEIGHT = 280
LEFT = 58
RIGHT = 24
TOP = 28
BOTTOM = 42
# positions as shares of the figure's height
TIMES_FROM = 0.54  # start of the upper panel
ROLLS_TO = 0.28  # end of the lower panel
NAME_SHARE = 0.075  # height of a line's name
MIDDLE_BITS = 16  # from 64 KiB on, the name of a line is on its left
SIZE_TICKS = [1 << power for power in (6, 16, 26)]
TICK_BITS = 4  # two ticks that are closer would have overlapping texts
LOG_TICKS = [1 << power for power in (10, 15, 20, 25, 30)]
DEFAULT_BYTES = IndexConfig().segment_index_bytes
# without a considered size, today's is compared with a size that causes this many times as many
# rolls
TIMES_AS_MANY = 8
ALIKE_RATIO = 1.2  # up to this ratio of the longest lookup to the shortest, the size hardly matters
COST_TICKS_US = [step * 10**power for power in range(7) for step in (1, 2, 5)]


@dataclass(frozen=True, kw_only=True)
class IndexSizeCurveView:
    """The same log written with each index size. Arrays have one value per size."""

    title: str
    caption: str
    sizes: np.ndarray
    cold_us: np.ndarray  # modelled mean time of a lookup with no page in memory (`Range.typical`)
    log_bytes: np.ndarray  # the size of a segment's .log at the roll
    causes: tuple[RollCause, ...]
    hover_texts: tuple[str, ...]
    # a pair (size, text) for today's interval, and one for the considered interval if it differs.
    # The size is the least at which no index ends a segment; without such a size, no pair
    safe_sizes: tuple[tuple[float, str], ...]
    full_until: float  # below this index size, a full index ends segments
    today: int  # an index into the arrays
    considered: int | None  # an index into the arrays; None if it is today's size
    most_us: float  # the end of the upper vertical axis
    log_range: tuple[float, float]  # both ends of the lower vertical axis, in bytes


def view(
    outcomes: Sequence[IndexSizeOutcome],
    costs: LookupCosts,
    *,
    today_bytes: int,
    considered_bytes: int,
    safe: SafeIndexSize,
    safe_today: SafeIndexSize | None = None,
    is_today_known: bool = True,
) -> IndexSizeCurveView:
    """Returns two curves over the index size, for one interval: the lookup time and the .log size.

    Args:
        outcomes: the outcome of each size, including today's and the considered size.
        safe: the least safe size at the interval of `outcomes`.
        safe_today: the least safe size at today's interval; None if `outcomes` have this interval.
        is_today_known: whether today's interval is known; otherwise it is inferred or assumed.
    """
    places = {outcome.index_bytes: place for place, outcome in enumerate(outcomes)}
    today = places[today_bytes]
    considered = places[considered_bytes]
    cold_us = np.array([outcome.cold_us(costs).typical for outcome in outcomes])
    log_bytes = np.array([outcome.log_bytes for outcome in outcomes])
    other = outcomes[considered] if considered != today else _comparison(outcomes, outcomes[today])
    interval_key = "below_if" if is_today_known else "below_if_assumed"
    caption = (
        say(
            f"index_size.{interval_key if safe_today else 'below_today'}",
            interval=format_bytes(safe.interval_bytes),
            today=format_bytes((safe_today or safe).interval_bytes),
        ),
        _comparison_text(outcomes[today], other, costs),
        say("index_size.below"),
    )
    return IndexSizeCurveView(
        title=_title(cold_us, safe_today or safe, today_bytes),
        caption=join_sentences(caption),
        sizes=np.array([outcome.index_bytes for outcome in outcomes]),
        cold_us=cold_us,
        log_bytes=log_bytes,
        causes=tuple(outcome.cause for outcome in outcomes),
        hover_texts=tuple(hover_text(outcome, costs) for outcome in outcomes),
        safe_sizes=tuple(_safe_sizes(safe, safe_today, is_today_known=is_today_known)),
        full_until=safe.index_bytes,
        today=today,
        considered=None if considered == today else considered,
        most_us=1.3 * float(cold_us.max()),
        log_range=(0.4 * float(log_bytes.min()), 2.5 * float(log_bytes.max())),
    )


def _safe_sizes(
    safe: SafeIndexSize, safe_today: SafeIndexSize | None, *, is_today_known: bool
) -> Iterator[tuple[float, str]]:
    pairs = [("safe_today" if is_today_known else "safe_assumed", safe_today or safe)]
    if safe_today:
        pairs.append(("safe_what_if", safe))
    for key, each in pairs:
        if each.cause and each.index_bytes < float("inf"):
            index = roll_text.cause_name(each.cause)
            size = format_bytes(each.index_bytes)
            yield each.index_bytes, say(f"index_size.{key}", size=size, index=index)


def least_safe_bytes(outcomes: Sequence[IndexSizeOutcome]) -> int | None:
    """Returns the smallest size in `outcomes` at which no index gets full, or None."""
    return next((each.index_bytes for each in outcomes if not each.is_index_full), None)


def before_sweep(curve: IndexSizeCurveView) -> IndexSizeCurveView:
    is_today = np.arange(len(curve.sizes)) == curve.today
    return replace(
        curve,
        title=say("index_size.asked", today=format_bytes(int(curve.sizes[curve.today]))),
        caption=say("index_size.below"),
        safe_sizes=(),
        full_until=0,
        considered=None,
        cold_us=np.where(is_today, curve.cold_us, np.nan),
        log_bytes=np.where(is_today, curve.log_bytes, np.nan),
    )


def _title(cold_us: np.ndarray, safe: SafeIndexSize, today_bytes: int) -> str:
    """Says whether the size matters to a lookup, and below which size an index ends segments."""
    change = "alike" if cold_us.max() <= ALIKE_RATIO * cold_us.min() else "unlike"
    if not safe.index_bytes:
        limit = "never_full"
    elif safe.index_bytes == float("inf"):
        limit = "always_full"
    else:
        limit = "today_full" if today_bytes < safe.index_bytes else "full_below"
    lookup_text = say(
        f"index_size.{change}",
        least=format_us(float(cold_us.min())),
        most=format_us(float(cold_us.max())),
    )
    limit_text = say(
        f"index_size.{limit}",
        interval=format_bytes(safe.interval_bytes),
        index=roll_text.cause_name(safe.cause) if safe.cause else "",
        safe="" if limit == "always_full" else format_bytes(safe.index_bytes),
    )
    return join_sentences([lookup_text, limit_text])


def _comparison_text(today: IndexSizeOutcome, other: IndexSizeOutcome, costs: LookupCosts) -> str:
    ratio = other.rolls_per_gib / today.rolls_per_gib
    key = "more_rolls" if ratio > 1 else "fewer_rolls"
    if 0.99 < ratio < 1.01:
        key = "same_rolls"
    return say(
        f"index_size.{key}",
        other=format_bytes(other.index_bytes),
        us=format_us(other.cold_us(costs).typical),
        us_today=format_us(today.cold_us(costs).typical),
        times=count_text(max(ratio, 1 / ratio)),
    )


def _comparison(outcomes: Sequence[IndexSizeOutcome], today: IndexSizeOutcome) -> IndexSizeOutcome:
    """Returns the outcome to compare with today's, if the user considers no other size.

    - If a full index rolls segments today: the outcome of Kafka's default size.
    - Otherwise: the largest size with at least `TIMES_AS_MANY` times today's rolls.
    - If no size has so many rolls: the smallest size.
    """
    if today.is_index_full:
        default = (each for each in outcomes if each.index_bytes == DEFAULT_BYTES)
        return next(default, outcomes[-1])
    least = TIMES_AS_MANY * today.rolls_per_gib
    return ([outcomes[0]] + [each for each in outcomes if each.rolls_per_gib >= least])[-1]


def count_text(value: float) -> str:
    """Formats a number such as 7.3, 42 or 12 345; returns `MISSING` if it is infinite."""
    if not np.isfinite(value):
        return MISSING
    return f"{value:.2g}" if value < 99.5 else format_count(round(value))


def hover_text(outcome: IndexSizeOutcome, costs: LookupCosts) -> str:
    """Returns the hover text of one outcome, with a line break between sentences."""
    search = outcome.search()
    return say(
        "index_size.hover",
        size=format_bytes(outcome.index_bytes),
        interval=format_bytes(outcome.config.index_interval_bytes),
        offsets=outcome.config.offset_slots,
        times=format_count(outcome.config.usable_time_slots),
        cause=roll_text.cause_name(outcome.cause),
        log=outcome.log_bytes,
        gib=count_text(outcome.rolls_per_gib),
        day=count_text(outcome.rolls_per_day),
        entries=outcome.entries,
        probes=f"{search.mean_probes:.1f}",
        plain=f"{outcome.search(warm=False).mean_probes:.1f}",
        pages=f"{search.mean_pages:.1f}",
        reads=f"{outcome.cold_index_reads:.1f}",
        headers=f"{outcome.headers:.1f}",
        us=format_us(outcome.cold_us(costs).typical),
    )


# the columns of the CSV file
VALUES: dict[str, Callable[[IndexSizeOutcome, LookupCosts], float | str]] = {
    "segment_index_bytes": lambda size, _: size.index_bytes,
    "offset_slots": lambda size, _: size.config.offset_slots,
    "usable_time_slots": lambda size, _: size.config.usable_time_slots,
    "ends_a_segment": lambda size, _: str(size.cause),
    "segment_log_bytes": lambda size, _: round(size.log_bytes),
    "rolls_a_gib": lambda size, _: round(size.rolls_per_gib, 3),
    "rolls_a_day": lambda size, _: round(size.rolls_per_day, 3) if size.open_ms else "",
    "entries": lambda size, _: size.entries,
    "headers_mean": lambda size, _: round(size.headers, 3),
    "probes_mean": lambda size, _: round(size.search().mean_probes, 3),
    "plain_probes_mean": lambda size, _: round(size.search(warm=False).mean_probes, 3),
    "tail_probes": lambda size, _: size.search().tail_probes,
    "pages_mean": lambda size, _: round(size.search().mean_pages, 3),
    "cold_reads_mean": lambda size, _: round(size.cold_index_reads, 3),
    "cold_mean_us": lambda size, costs: round(size.cold_us(costs).typical, 3),
}
COLUMNS = tuple(VALUES)


def rows(outcomes: Sequence[IndexSizeOutcome], costs: LookupCosts) -> list[tuple]:
    return [tuple(value(outcome, costs) for value in VALUES.values()) for outcome in outcomes]


# the columns of a table of sizes, by the keys of their heads
CELLS: dict[str, Callable[[IndexSizeOutcome, LookupCosts], str]] = {
    "index_size.head_size": lambda size, _: format_bytes(size.index_bytes),
    "index_size.head_slots": lambda size, _: (
        f"{format_count(size.config.offset_slots)}, {format_count(size.config.usable_time_slots)}"
    ),
    "index_size.head_ends": lambda size, _: roll_text.cause_name(size.cause),
    "index_size.head_log": lambda size, _: format_bytes(size.log_bytes),
    "index_size.head_gib": lambda size, _: count_text(size.rolls_per_gib),
    "index_size.head_day": lambda size, _: count_text(size.rolls_per_day),
    "tuning.head_entries": lambda size, _: format_count(size.entries),
    "lookup.count_headers": lambda size, _: f"{size.headers:.1f}",
    "index_size.head_probes": lambda size, _: (
        f"{size.search().mean_probes:.1f} ({size.search(warm=False).mean_probes:.1f})"
    ),
    "lookup.count_pages": lambda size, _: f"{size.search().mean_pages:.1f}",
    "index_size.head_reads": lambda size, _: f"{size.cold_index_reads:.1f}",
    "index_size.head_cold": lambda size, costs: f"≈ {format_us(size.cold_us(costs).typical)}",
}


def table(
    outcomes: Sequence[IndexSizeOutcome], costs: LookupCosts, heads: Iterable[str] = CELLS
) -> tuple[list[str], list[list[str]]]:
    """Returns the heads and the rows of a table with one row per size. `heads`: keys of CELLS."""
    heads = list(heads)
    cells = [[CELLS[head](outcome, costs) for head in heads] for outcome in outcomes]
    return [say(head) for head in heads], cells


def figure(curve: IndexSizeCurveView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    low, high = curve.log_range
    x = np.log2(curve.sizes)
    chart = go.Figure([_time_line(curve, colours), _roll_line(curve, colours)])
    step_us = next(tick for tick in COST_TICKS_US if 3 * tick > curve.most_us)
    log_ticks = [tick for tick in LOG_TICKS if low <= tick <= high]
    lines, names = _named_lines(curve, colours)
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT, (LEFT, RIGHT, TOP, BOTTOM)),
        hovermode="closest",
        dragmode=False,
        shapes=[*_full_areas(curve, colours), *lines],
        annotations=[
            *names,
            theme.vertical_axis_name(say("index_size.axis_cold"), colours, left_px=LEFT, y=1.0),
            theme.vertical_axis_name(say("index_size.axis_log"), colours, left_px=LEFT, y=ROLLS_TO),
            theme.axis_name(config_def.label("segment.index.bytes"), colours),
        ],
        xaxis=theme.PLAIN_AXIS
        | theme.outside_ticks(colours)
        | {
            "range": [float(x[0]) - 0.3, float(x[-1]) + 0.3],
            **theme.ticks(_size_ticks(curve), format_bytes, is_log2=True),
            "tickangle": 0,
            "anchor": "y2",
        },
        yaxis=theme.PLAIN_AXIS
        | theme.grid_lines(colours)
        | {
            "domain": [TIMES_FROM, 1],
            "range": [0, curve.most_us],
            **theme.ticks([step_us, 2 * step_us], format_us),
        },
        yaxis2=theme.PLAIN_AXIS
        | theme.grid_lines(colours)
        | {
            "domain": [0, ROLLS_TO],
            "type": "log",
            "range": np.log10([low, high]).tolist(),
            **theme.ticks(log_ticks, format_bytes),
        },
    )


def _size_ticks(curve: IndexSizeCurveView) -> list[float]:
    """Returns the ticks: the first of `safe_sizes`, and round sizes that are not close to it."""
    safe = [size for size, _ in curve.safe_sizes[:1]]
    return safe + [
        tick for tick in SIZE_TICKS if all(abs(np.log2(tick / size)) >= TICK_BITS for size in safe)
    ]


def _time_line(curve: IndexSizeCurveView, colours: dict[str, str]) -> go.Scatter:
    return go.Scatter(
        x=np.log2(curve.sizes),
        y=curve.cold_us,
        mode="markers" if np.isnan(curve.cold_us).any() else "lines",
        line={"color": colours["cold"], "width": 2.4},
        marker={"color": colours["cold"], "size": 8},
        name="cold_us",
        **theme.hover(curve.hover_texts),
    )


def _roll_line(curve: IndexSizeCurveView, colours: dict[str, str]) -> go.Scatter:
    """Draws the .log size at the roll. The colour of a point shows which limit caused the roll."""
    cause_colours = [colours[roll_text.COLOUR_NAMES[cause]] for cause in curve.causes]
    return go.Scatter(
        x=np.log2(curve.sizes),
        y=curve.log_bytes,
        yaxis="y2",
        mode="lines+markers",
        line={"color": colours["log"], "width": 1.6},
        marker={"size": 7, "color": cause_colours},
        name="log_bytes",
        cliponaxis=False,
        **theme.hover(curve.hover_texts),
    )


def _full_areas(curve: IndexSizeCurveView, colours: dict[str, str]) -> list[dict]:
    """Returns an area per panel that covers the sizes at which a full index rolls segments."""
    start = float(np.log2(curve.sizes[0])) - 0.3
    end = float(np.log2(curve.sizes[-1])) + 0.3
    until = min(float(np.log2(max(curve.full_until, 1))), end)
    if until <= start:
        return []
    fill = colours["time_soft"]
    return [
        theme.area(fill, opacity=0.5, xref="x", x0=start, x1=until, yref="paper", y0=low, y1=high)
        for low, high in ((0, ROLLS_TO), (TIMES_FROM, 1))
    ]


def _named_lines(
    curve: IndexSizeCurveView, colours: dict[str, str]
) -> tuple[list[dict], list[dict]]:
    """Returns the lines of the safe, today's and the considered sizes, and the lines' names."""
    labelled = [
        (size, text, "time", "solid" if row else "2px,3px", row)
        for row, (size, text) in enumerate(curve.safe_sizes)
    ]
    labelled.append((curve.sizes[curve.today], say("curves.word_today"), "ink", "4px,3px", -1))
    if curve.considered is not None:
        size = int(curve.sizes[curve.considered])
        name = f"<b>{say('curves.considered', interval=format_bytes(size))}</b>"
        labelled.append((size, name, "ink", "solid", -2))
    lines = []
    names = []
    for size, text, colour, dash, row in labelled:
        x = float(np.log2(size))
        is_left = x > MIDDLE_BITS
        line = {"width": 1.4, "color": colours[colour], "dash": dash}
        lines.append(theme.vertical_line(x, line) | {"xref": "x"})
        names.append(
            theme.note(
                text,
                colours["time_text" if colour == "time" else colour],
                x=x,
                xanchor="right" if is_left else "left",
                xshift=-5 if is_left else 5,
                yref="paper",
                y=TIMES_FROM + NAME_SHARE * row,
                yanchor="bottom",
                bgcolor=colours["raised"],
            )
        )
    return lines, names
