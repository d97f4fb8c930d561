"""The broker map: one row per topic-partition.

A row has a bar for each segment. The length of a bar shows the size of the segment. A strip below
the bars shows how close together the index entries are.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import compress
from typing import NamedTuple, cast

import numpy as np
import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analysis.badges import Badge
from kafkaviz.analysis.overview import KINDS, UNKNOWN, BrokerOverview, PartitionRow, torn_mask
from kafkaviz.analysis.segment.anatomy import READ_TAIL_BYTES, Tail
from kafkaviz.figures import theme
from kafkaviz.figures.broker import map_badges, map_rows
from kafkaviz.figures.broker.map_badges import BADGE_PX, RowBadge
from kafkaviz.figures.broker.map_rows import CELLS, LARGEST, ORDERS, REMOTE, build_strip
from kafkaviz.figures.theme import PlainFigure
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import end_sentence, join_semicolon, join_sentences, number_word

COUNT_COLUMNS = ("batches", "records", "offset_entries", "time_entries")
MAX_BARS_PER_ROW = 2000  # a row with more segments is drawn as one bar
MAX_BARS = 6000  # on the whole map; beyond it, the rows with the most segments become one bar each
DENSE_TEXT_BYTES = 2500  # with fewer log bytes per index entry, the number at the row's end is blue
ENTRIES_TO_COMPARE = 5  # index densities are compared only for logs with more entries than this
PLOT_PX = 754  # width of the plot on a page of 1280 px; positions of badges are computed for it
# width of the plot on a page of 1024 px, without the row ends; badge texts must fit into it
NARROW_PX = 550
BARS_SHARE = 0.88  # share of the axis that bars may use; the rest is for badge texts
GAP_SHARE = 0.0018  # the space after a bar, as a share of the axis: about 1.5 px
# from the end of a row to the middle of its badge, and from the badge to its text
BADGE_AT_PX = 12.5
WORDS_AFTER_PX = 6
WORDS_PX = BADGE_AT_PX + BADGE_PX / 2 + WORDS_AFTER_PX  # from the end of a row to the badge's text
CHARACTER_PX = 5.8  # width of a Latin character
WIDE_PX = 12.5  # width of a Chinese character
PIN_AT_PX = 1  # from the top of a row to the middle of a pin
EMPTY_PX = 6  # from the start of a row to the word for an empty log
TICKS = 6

ROW_PX = 22
BAR_PX = 10
BAR_TOP_PX = 4
STRIP_PX = 3
STRIP_TOP_PX = 16
LEFT_PX = 176
RIGHT_PX = 62
TOP_PX = 20  # room for the heading of the numbers at the right
BOTTOM_PX = 26
NAME_CHARACTERS = 26
TORN_SHARE = 0.0115  # drawn width of a torn end (share of the axis); it would be invisible to scale


@dataclass(frozen=True, kw_only=True)
class SegmentBar:
    """A bar of the map: one segment, or all segments of a row that has too many to draw."""

    row: int
    start_byte: int
    size_bytes: int
    kind: str  # one of overview.KINDS, "remote" (only in tiered storage) or "many"
    directory: str
    base_offset: int  # segment that a click opens
    hover: str
    severity: str = ""  # severity of the worst finding about the segment


@dataclass(frozen=True, kw_only=True)
class MapRow:
    """A row of the map: a topic-partition, or the heading of a log directory."""

    name: str
    is_quiet: bool = False  # the topic is internal, or its directory is no longer in use
    log_bytes: int = 0
    gap: str = ""  # log bytes per entry
    is_dense: bool = False
    directory: str = ""
    badge: RowBadge | None = None  # shows the worst finding of the row
    torn_ends: tuple[int, ...] = ()  # ends of torn segments, in bytes from the start of the row
    heading: str = ""  # only for the heading of a log directory: a summary of its contents


@dataclass(frozen=True, kw_only=True)
class BrokerMapView:
    title: str
    caption: str
    rows: tuple[MapRow, ...]
    bars: tuple[SegmentBar, ...]
    axis_bytes: float  # length of the axis: the longest row, plus room for badge texts
    outlined_row: int | None = None  # the row with the densest index, if the title names it
    strip: np.ndarray  # darkness 0 to 1, (rows, `map_rows.CELLS`); NaN without entries

    @property
    def alt(self) -> str:
        count = sum(not row.heading for row in self.rows)
        map_text = say("broker.map_alt", title=self.title, count=count)
        badge_texts = join_semicolon(
            say("broker.mark_of", name=row.name, words=row.badge.text)
            for row in self.rows
            if row.badge
        )
        return join_sentences((map_text, end_sentence(badge_texts)))

    @property
    def longest_bytes(self) -> int:
        return max((row.log_bytes for row in self.rows), default=0)


def view(
    overview: BrokerOverview,
    order: str = LARGEST,
    page: int = 0,
    tails: Mapping[tuple[str, int], str] | None = None,
    badges: Mapping[str, Sequence[Badge]] | None = None,
) -> BrokerMapView:
    """Returns one page of the map.

    Args:
        order: a key of map_rows.ORDERS.
        tails: texts about the bytes after a segment's last complete batch, by
            (topic-partition directory, base offset).
        badges: findings by topic-partition directory.
    """
    badges = badges or {}
    page_rows = map_rows.find_page_rows(overview.partitions, order, page)
    indexes = _with_headings(overview.partitions, page_rows)
    rows = tuple(
        _heading_row(overview, index)
        if isinstance(index, str)
        else _row(overview.partitions[index], overview.segment_rows(index), tails or {}, badges)
        for index in indexes
    )
    longest_bytes = max((row.log_bytes for row in rows), default=0)
    segment_counts = [overview.partitions[index].sums.segments for index in page_rows]
    detailed = set(compress(page_rows, _choose_detailed(segment_counts)))
    bars = tuple(
        bar
        for row_number, index in enumerate(indexes)
        if not isinstance(index, str)
        for bar in _segment_bars(
            overview, index, row_number, is_detailed=index in detailed, badges=badges
        )
    )
    axis_bytes = _axis_length(rows, longest_bytes)
    densest = _densest_partition(overview)
    outlined_row = None if densest not in indexes else indexes.index(densest)
    return BrokerMapView(
        title=_title(overview),
        caption=_caption(overview, order, densest, is_here=outlined_row is not None),
        outlined_row=outlined_row,
        rows=rows,
        bars=bars,
        axis_bytes=axis_bytes,
        strip=_density_strips(overview, indexes, longest_bytes, axis_bytes),
    )


def _with_headings(partitions: Sequence[PartitionRow], indexes: Sequence[int]) -> list[int | str]:
    rows: list[int | str] = []
    last_directory = ""
    for index in indexes:
        directory = partitions[index].log_directory
        if directory != last_directory:
            rows.append(directory)
            last_directory = directory
        rows.append(index)
    return rows


def _heading_row(overview: BrokerOverview, log_directory: str) -> MapRow:
    sums = overview.directory_sums(log_directory)
    count = sum(row.log_directory == log_directory for row in overview.partitions)
    heading = say(
        "broker.directory_heading",
        partitions=say_count("common.n_topic_partitions", count),
        log=sums.log_bytes,
        index=sums.index_bytes,
    )
    return MapRow(name=log_directory, heading=heading)


def _row(
    partition: PartitionRow,
    segments: np.ndarray,
    tails: Mapping[tuple[str, int], str],
    badges: Mapping[str, Sequence[Badge]],
) -> MapRow:
    gap = partition.sums.bytes_per_entry
    name_in_address = partition.address_name or partition.directory
    tail = next(
        (tail_text for (directory, _), tail_text in tails.items() if directory == name_in_address),
        "",
    )
    name = partition.label
    if partition.state != "current":
        state = say(f"common.state_{partition.state}")
        name = say("broker.named_state", name=name, state=state)
    torn_ends = ()
    if tail:
        torn_ends = tuple(np.cumsum(segments["log_bytes"])[torn_mask(segments)].tolist())
    badge = map_badges.find_row_badge(
        partition.label, badges.get(name_in_address, ()), tail, segments["base_offset"].tolist()
    )
    return MapRow(
        name=name,
        is_quiet=partition.is_internal or partition.state != "current",
        log_bytes=partition.sums.log_bytes,
        gap=_gap(partition),
        is_dense=bool(gap and gap < DENSE_TEXT_BYTES),
        directory=name_in_address,
        badge=badge,
        torn_ends=torn_ends,
    )


def _gap(partition: PartitionRow) -> str:
    if partition.sums.offset_entries == 0:
        return say("broker.no_entry")
    if partition.sums.bytes_per_entry is None:
        return units.MISSING
    return f"{units.format_count(round(partition.sums.bytes_per_entry))} B"


def _choose_detailed(counts: Sequence[int]) -> list[bool]:
    is_detailed = [count <= MAX_BARS_PER_ROW for count in counts]
    for index in sorted(range(len(counts)), key=lambda index: -counts[index]):
        rows = zip(counts, is_detailed, strict=True)
        bars = sum(count if has_bars else 1 for count, has_bars in rows)
        if bars <= MAX_BARS:
            break
        is_detailed[index] = False
    return is_detailed


def _segment_bars(
    overview: BrokerOverview,
    index: int,
    row: int,
    *,
    is_detailed: bool,
    badges: Mapping[str, Sequence[Badge]],
) -> list[SegmentBar]:
    segments = overview.segment_rows(index)
    partition = overview.partitions[index]
    if not is_detailed:
        return [_row_bar(segments, row, partition)]
    starts = np.cumsum(segments["log_bytes"]) - segments["log_bytes"]
    badges_by_base = map_badges.group_by_segment(
        badges.get(partition.address_name or partition.directory, ())
    )
    return [
        _segment_bar(
            row, int(start), segment, partition, badges_by_base.get(int(segment["base_offset"]), ())
        )
        for start, segment in zip(starts, segments, strict=True)
    ]


def _segment_bar(
    row: int, start_byte: int, segment: np.void, partition: PartitionRow, badges: Sequence[Badge]
) -> SegmentBar:
    base_offset = int(segment["base_offset"])
    is_remote = base_offset in partition.remote_bases
    return SegmentBar(
        row=row,
        start_byte=start_byte,
        size_bytes=int(segment["log_bytes"]),
        kind=REMOTE if is_remote else KINDS[segment["kind"]],
        directory=partition.address_name or partition.directory,
        base_offset=base_offset,
        hover=_hover(segment, partition.label, badges, is_remote=is_remote),
        severity=badges[0].severity if badges else "",
    )


def _row_bar(segments: np.ndarray, row: int, partition: PartitionRow) -> SegmentBar:
    largest = segments[segments["log_bytes"].argmax()]
    log_bytes = int(segments["log_bytes"].sum())
    segments_text = say("broker.hover_many", count=units.format_count(len(segments)))
    head = say(
        "common.comma", first=f"<b>{escape(partition.label, quote=False)}</b>", next=segments_text
    )
    hover = f"{head}<br>{say('broker.hover_many_below', size=log_bytes)}"
    return SegmentBar(
        row=row,
        start_byte=0,
        size_bytes=log_bytes,
        kind="many",
        directory=partition.address_name or partition.directory,
        base_offset=int(largest["base_offset"]),
        hover=hover,
    )


def _hover(segment: np.void, name: str, badges: Sequence[Badge], *, is_remote: bool) -> str:
    count = {
        name: None if segment[name] == UNKNOWN else int(segment[name]) for name in COUNT_COLUMNS
    }
    counts = {  # `say_count` uses the plural for an unknown count
        name: say_count(f"common.n_{name}", count[name]) for name in ("batches", "records")
    }
    head = f"<b>{escape(name, quote=False)}</b> {units.file_stem(int(segment['base_offset']))}"
    lines = [
        say("common.comma", first=head, next=say(f"common.kind_{KINDS[segment['kind']]}")),
        say("broker.hover_batches", size=int(segment["log_bytes"]), **counts),
        say(
            "broker.entries",
            offset=units.format_count(count["offset_entries"]),
            time=units.format_count(count["time_entries"]),
        ),
    ]
    if is_remote:
        lines.insert(1, say("broker.hover_remote"))
    if torn_mask(cast(np.ndarray, segment)):  # `torn_mask` also accepts a single row
        lines.append(say("broker.hover_torn", bytes=units.format_count(int(segment["torn_bytes"]))))
    lines += [map_badges.badge_line(badge) for badge in badges[: map_badges.MAX_LINES]]
    return "<br>".join(lines)


def _density_strips(
    overview: BrokerOverview, indexes: Sequence[int | str], longest_bytes: int, axis_bytes: float
) -> np.ndarray:
    gap_bytes = axis_bytes * GAP_SHARE
    strips = np.full((len(indexes), CELLS), np.nan, np.float32)
    for row, index in enumerate(indexes):
        if not isinstance(index, str):
            segments = overview.segment_rows(index)
            positions = _positions(overview, index)
            strips[row] = build_strip(segments, positions, longest_bytes, gap_bytes)
    return strips


def _comparable_rows(overview: BrokerOverview) -> list[PartitionRow]:
    return [
        row
        for row in overview.partitions
        if (row.sums.offset_entries or 0) > ENTRIES_TO_COMPARE and row.sums.log_bytes
    ]


def _positions(overview: BrokerOverview, index: int) -> np.ndarray | None:
    if overview.entries is None:
        return None
    start, stop = np.searchsorted(overview.entries.partition, [index, index + 1])
    return overview.entries.position[start:stop]


def _densest_partition(overview: BrokerOverview) -> int | None:
    """Returns the index of the partition with the fewest log bytes per index entry.

    Ignores partitions with at most `ENTRIES_TO_COMPARE` entries. Returns None if two partitions
    tie, if a segment is torn, or if the broker has only one partition.
    """
    if torn_mask(overview.segments).any() or len(overview.partitions) == 1:
        return None
    comparable = _comparable_rows(overview)
    gaps = [round(cast(float, row.sums.bytes_per_entry)) for row in comparable]
    if not gaps or gaps.count(min(gaps)) > 1:
        return None
    return overview.partitions.index(comparable[gaps.index(min(gaps))])


def _caption(overview: BrokerOverview, order: str, densest: int | None, *, is_here: bool) -> str:
    caption = say("broker.map_below")
    if densest is None:
        return caption
    row = map_rows.order_rows(overview.partitions, order).index(densest) + 1
    where = say("broker.dense_row" if is_here else "broker.dense_elsewhere", row=row)
    return join_sentences((where, caption))


def _title(overview: BrokerOverview) -> str:
    tails = overview.segments["torn_bytes"][torn_mask(overview.segments)]
    if len(tails):
        return say_count(
            "broker.torn_title",
            len(tails),
            count=number_word(len(tails)).capitalize(),
            bytes=units.format_count(int(tails.sum())),
        )
    comparable = _comparable_rows(overview)
    if comparable:
        return _dense_title(comparable, is_alone=len(overview.partitions) == 1)
    if not overview.total.log_bytes:
        return say("broker.empty_title")
    row = min(overview.partitions, key=ORDERS[LARGEST])
    return say(
        "broker.large_title",
        name=row.label,
        size=row.sums.log_bytes,
        total=overview.total.log_bytes,
    )


def _dense_title(comparable: Sequence[PartitionRow], *, is_alone: bool) -> str:
    least_bytes = min(round(cast(float, row.sums.bytes_per_entry)) for row in comparable)
    densest, *others = (
        row for row in comparable if round(cast(float, row.sums.bytes_per_entry)) == least_bytes
    )
    if others:
        key = "dense_same" if len(others) + 1 == len(comparable) else "dense_several"
        return say(
            f"broker.{key}",
            count=number_word(len(others) + 1).capitalize(),
            bytes=units.format_count(least_bytes),
        )
    return say(
        "broker.dense_alone" if is_alone else "broker.dense_title",
        name=densest.label,
        bytes=units.format_count(least_bytes),
    )


def tail_text(tail: Tail) -> str:
    """Describes the bytes after the last complete batch in a few words."""
    if tail.size_bytes > READ_TAIL_BYTES:
        return say("broker.tail_long", size=tail.size_bytes)
    return say_count(f"broker.tail_{tail.kind}", tail.size_bytes)


class MapFigure(NamedTuple):
    view: BrokerMapView
    figure: PlainFigure


def draw(map_view: BrokerMapView, mode: str) -> MapFigure:
    return MapFigure(map_view, PlainFigure.from_plotly(figure(map_view, mode)))


def figure(map_view: BrokerMapView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    rows = len(map_view.rows)
    fig = go.Figure(
        [
            _density_heatmap(map_view, colours),
            *_segment_traces(map_view, colours),
            *_torn_traces(map_view, colours),
            *_badge_traces(map_view, colours),
        ]
    )
    values = _ticks(map_view.longest_bytes)
    axis = {"ticks": "", "automargin": False, "fixedrange": True}
    return fig.update_layout(
        template=theme.template(mode),
        height=max(rows, 1) * ROW_PX + TOP_PX + BOTTOM_PX,
        margin={"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        barmode="overlay",
        xaxis=axis
        | {
            "range": [0, map_view.axis_bytes],
            **theme.ticks(values, lambda value: units.format_bytes(value) if value else "0"),
            "showgrid": True,
            "showline": False,
        },
        yaxis=axis | {"range": [max(rows, 1), 0], "showticklabels": False, "showgrid": False},
        annotations=[
            note
            for number, row in enumerate(map_view.rows)
            for note in _row_annotations(number, row, map_view.axis_bytes, colours)
        ]
        + [_column_name(colours)],
        shapes=[] if map_view.outlined_row is None else [_outline(map_view.outlined_row, colours)],
    )


def _outline(row: int, colours: Mapping[str, str]) -> dict:
    line = {"color": colours["offset"], "width": 1.5}
    return theme.rectangle(0, 1, row, row + 1, xref="paper", line=line)


def _axis_length(rows: Sequence[MapRow], longest_bytes: int) -> float:
    shares = [
        (row.log_bytes, 1 - (WORDS_PX + _text_px(row.badge.text)) / NARROW_PX)
        for row in rows
        if row.badge
    ]
    return max(1.0, longest_bytes / BARS_SHARE, *(log_bytes / share for log_bytes, share in shares))


def _text_px(text: str) -> float:
    return sum(
        WIDE_PX if unicodedata.east_asian_width(character) in "WF" else CHARACTER_PX
        for character in text
    )


def _ticks(longest_bytes: int) -> list[int]:
    step = 1
    while longest_bytes / step > TICKS:
        step *= 2
    return list(range(0, longest_bytes + 1, step))


def _segment_traces(map_view: BrokerMapView, colours: Mapping[str, str]) -> list[go.Bar]:
    marker_by_kind = {
        "closed": {"color": colours["log"]},
        "many": {"color": colours["log"]},
        "active": {"color": colours["log_soft"], "line": {"color": colours["log"], "width": 1.3}},
        REMOTE: _hatched_marker("-", colours, size=4, solidity=0.3),
        "deleted": _hatched_marker("\\", colours, size=6, solidity=0.2),
        "cleaned": _hatched_marker(".", colours, size=4, solidity=0.3),
        "swap": _hatched_marker("x", colours, size=6, solidity=0.2),
    }
    return [
        _trace(
            kind, [bar for bar in map_view.bars if bar.kind == kind], marker, map_view.axis_bytes
        )
        for kind, marker in marker_by_kind.items()
    ]


def _hatched_marker(shape: str, colours: Mapping[str, str], size: int, solidity: float) -> dict:
    line = {"color": colours["log"], "width": 1}
    pattern = {"shape": shape, "fgcolor": colours["log"], "size": size, "solidity": solidity}
    pattern |= {"fillmode": "replace"}
    return {"color": colours["raised"], "line": line, "pattern": pattern}


def _trace(kind: str, bars: Sequence[SegmentBar], marker: dict, axis_bytes: float) -> go.Bar:
    """Draws the bars of one kind. Each bar ends 1.5 px early, so that a gap follows."""
    gap = axis_bytes * GAP_SHARE
    return go.Bar(
        orientation="h",
        y=[bar.row + BAR_TOP_PX / ROW_PX for bar in bars],
        base=[bar.start_byte for bar in bars],
        x=[max(bar.size_bytes - gap, gap) for bar in bars],
        width=BAR_PX / ROW_PX,
        offset=0,
        marker=marker,
        name=kind,
        # offsets as text, because JavaScript rounds them above 2**53
        customdata=[[bar.directory, str(bar.base_offset)] for bar in bars],
        hovertext=[bar.hover for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _density_heatmap(map_view: BrokerMapView, colours: Mapping[str, str]) -> go.Heatmap:
    cells = np.full((2 * len(map_view.rows), CELLS), np.nan, np.float32)
    cells[1::2] = map_view.strip
    edges = [0.0]
    for row in range(len(map_view.rows)):
        edges += [row + STRIP_TOP_PX / ROW_PX, row + (STRIP_TOP_PX + STRIP_PX) / ROW_PX]
    scale = [[0, colours["raised"]], [1, colours["offset"]]]
    x = np.linspace(0, map_view.longest_bytes or 1, CELLS + 1)
    return go.Heatmap(
        z=cells,
        x=x,
        y=edges,
        zmin=-0.22,
        zmax=1,
        colorscale=scale,
        showscale=False,
        hoverinfo="skip",
        name="density",
    )


def _badge_traces(map_view: BrokerMapView, colours: Mapping[str, str]) -> list[go.Scatter]:
    bars_per_row = Counter(bar.row for bar in map_view.bars)
    pinned_bars = [
        bar
        for bar in map_view.bars
        if bar.severity
        and bars_per_row[bar.row] > 1
        and bar.start_byte + bar.size_bytes not in map_view.rows[bar.row].torn_ends
    ]
    pins = [
        (bar.start_byte + bar.size_bytes / 2, bar.row + PIN_AT_PX / ROW_PX, bar.severity)
        for bar in pinned_bars
    ]
    badge_x_bytes = map_view.axis_bytes * BADGE_AT_PX / PLOT_PX
    badge_places = [
        (row.log_bytes + badge_x_bytes, _row_middle(number), row.directory, row.badge)
        for number, row in enumerate(map_view.rows)
        if row.badge
    ]
    return [*map_badges.pin_traces(pins, colours), *map_badges.badge_traces(badge_places, colours)]


def _torn_traces(map_view: BrokerMapView, colours: Mapping[str, str]) -> list[go.Bar]:
    ends = [(number, end) for number, row in enumerate(map_view.rows) for end in row.torn_ends]
    if not ends:
        return []
    width = map_view.axis_bytes * TORN_SHARE
    pattern = {
        "shape": "x",
        "fgcolor": colours["torn"],
        "bgcolor": colours["torn_soft"],
        "size": 4,
        "solidity": 0.35,
        "fillmode": "replace",
    }
    line = {"color": colours["torn"], "width": 1}
    torn_bars = go.Bar(
        name="torn",
        orientation="h",
        y=[number + (BAR_TOP_PX - 1) / ROW_PX for number, _ in ends],
        base=[max(end - width, 0) for _, end in ends],
        x=[width] * len(ends),
        width=(BAR_PX + 2) / ROW_PX,
        offset=0,
        marker={"color": colours["torn_soft"], "line": line, "pattern": pattern, "cornerradius": 0},
        hoverinfo="skip",
    )
    return [torn_bars]


def _row_middle(number: int) -> float:
    return number + (BAR_TOP_PX + BAR_PX / 2) / ROW_PX


def _row_annotations(
    number: int, row: MapRow, axis_bytes: float, colours: Mapping[str, str]
) -> list[dict]:
    y = _row_middle(number)
    left = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": -LEFT_PX}
    right = {"xref": "paper", "x": 1, "xanchor": "right", "xshift": RIGHT_PX}
    if row.heading:
        heading = _annotation(row.heading, y, 12.5, colours["ink_2"]) | left
        heading["text"] = f"<b>{escape(row.name, quote=False)}</b>  {heading['text']}"
        return [heading]
    name = _annotation(_short(row.name), y, 13, colours["ink_3" if row.is_quiet else "ink"]) | left
    if _short(row.name) != row.name:
        name["hovertext"] = escape(row.name, quote=False)
    gap = _annotation(row.gap, y, 12.5, colours["offset_text" if row.is_dense else "ink_2"]) | right
    if not row.log_bytes:
        empty = _annotation(say("broker.empty"), y, 12, colours["ink_3"])
        return [name, gap, empty | {"x": 0, "xanchor": "left", "xshift": EMPTY_PX}]
    if not row.badge:
        return [name, gap]
    colour = colours[f"{map_badges.COLOUR_NAMES[row.badge.severity]}_text"]
    badge = _annotation(row.badge.text, y, 12.5, colour) | {
        "x": row.log_bytes + axis_bytes * BADGE_AT_PX / PLOT_PX,
        "xanchor": "left",
        "xshift": BADGE_PX / 2 + WORDS_AFTER_PX,
    }
    return [name, gap, badge]


def _short(name: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 9]}…{name[-8:]}"


def _annotation(text: str, y: float, size: float, colour: str) -> dict:
    text = escape(text, quote=False)
    return theme.note(text, colour, size, y=y, yanchor="middle", borderpad=0, borderwidth=0)


def _column_name(colours: Mapping[str, str]) -> dict:
    """Returns the heading of the numbers at the right, "log bytes per entry"."""
    return (
        _annotation(say("broker.entry_gap"), 1, 12, colours["ink_3"])
        | {"xref": "paper", "x": 1, "xanchor": "right", "xshift": RIGHT_PX}
        | {"yref": "paper", "yanchor": "bottom", "yshift": 3}
    )
