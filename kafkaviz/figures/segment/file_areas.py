"""The files of a segment as areas on one scale: a file with half of the bytes has half of the area.

A magnifier shows files that are too small to be seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.units import format_count, format_percent

HEIGHT_PX = 284
# positions in the figure (0 to 1): the .log, the column of small files, the magnifier
LOG_WIDTH = 0.42
LOG_HEIGHT = 0.8
BASE = 0.1
SMALL_X = 0.45
GLASS_X = 0.55
GLASS_Y = 0.1
GLASS_WIDTH = 0.445
GLASS_HEIGHT = 0.8
# gap between small files; share of the magnifier's height that the tallest file in it takes
SMALL_GAP = 0.03
GLASS_SHARE = 0.34
COLOURS = {".log": "log", ".index": "offset", ".timeindex": "time"}


@dataclass(frozen=True)
class FileArea:
    suffix: str
    size_bytes: int
    content: str


@dataclass(frozen=True)
class FileAreasView:
    """The files of a segment, the .log first."""

    title: str
    question: str
    caption: str
    files: tuple[FileArea, ...]
    candidates: tuple[int, ...]  # the sizes of the .index that the question offers


def view(
    sizes: Mapping[str, int],
    counts: Mapping[str, int],
    *,
    candidates: Sequence[int],
    segment: str,
    source: str,
) -> FileAreasView:
    """Returns the areas of .log, .index and .timeindex.

    `sizes` are in bytes. `counts` are batches of the .log and entries of the indexes. `candidates`
    are the .index sizes that `question_figure` draws.
    """
    files = tuple(
        FileArea(suffix, sizes[suffix], say(f"file_areas.content{suffix.replace('.', '_')}", n=n))
        for suffix, n in counts.items()
    )
    index = format_percent(sizes[".index"], sizes[".log"])
    timeindex = format_percent(sizes[".timeindex"], sizes[".log"])
    return FileAreasView(
        say("file_areas.title", index=index, timeindex=timeindex),
        say("file_areas.question"),
        say("file_areas.below", segment=segment, source=source),
        files,
        tuple(sorted(candidates)),
    )


def rows(areas: FileAreasView) -> list[tuple[str, str, str, str]]:
    """Returns (file, bytes, share of the .log, content) of each file."""
    log_bytes = areas.files[0].size_bytes
    rows = []
    for file in areas.files:
        share = format_percent(file.size_bytes, log_bytes)
        rows.append((file.suffix, format_count(file.size_bytes), share, file.content))
    return rows


def describe(areas: FileAreasView) -> str:
    return join_semicolon(
        f"{suffix} {size_bytes} B, {part}, {content}"
        for suffix, size_bytes, part, content in rows(areas)
    )


def figure(areas: FileAreasView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    log_bytes = areas.files[0].size_bytes
    small_files = areas.files[1:]
    sides = [_sides(file.size_bytes, log_bytes) for file in small_files]
    zoom = min(
        GLASS_SHARE * GLASS_HEIGHT / max(height for _, height in sides),
        0.4 * GLASS_WIDTH / max(width for width, _ in sides),
    )
    shapes = []
    notes = []
    top = BASE
    for file, (width, height) in zip(small_files, sides, strict=True):
        shapes.append(_box(SMALL_X, top, width, height, colours[COLOURS[file.suffix]]))
        top += height + SMALL_GAP
    glass_bottom = top - SMALL_GAP
    top = GLASS_Y + 0.06
    for file, (width, height) in zip(small_files, sides, strict=True):
        colour = COLOURS[file.suffix]
        shapes.append(_box(GLASS_X + 0.02, top, zoom * width, zoom * height, colours[colour]))
        notes.append(_label(GLASS_X + 0.03 + zoom * width, top, file, colours[f"{colour}_text"]))
        top += zoom * height + 0.06
    widest = max(width for width, _ in sides)
    glass = [
        _frame(SMALL_X - 0.008, BASE - 0.025, widest + 0.016, glass_bottom - BASE + 0.05, colours),
        _frame(GLASS_X, GLASS_Y, GLASS_WIDTH, GLASS_HEIGHT, colours),
    ]
    x = SMALL_X + widest + 0.008
    line = {"color": colours["ink_3"], "width": 1}
    rays = [
        theme.straight_line(x, GLASS_X, BASE - 0.025, GLASS_Y, line=line),
        theme.straight_line(x, GLASS_X, glass_bottom + 0.025, GLASS_Y + GLASS_HEIGHT, line=line),
    ]
    text = say("file_areas.glass", times=zoom * zoom)
    name = _text(
        GLASS_X + GLASS_WIDTH - 0.01, GLASS_Y + GLASS_HEIGHT - 0.05, text, colours["ink_3"]
    )
    return _chart(
        mode,
        [_log_box(colours), *shapes, *glass, *rays],
        [_log_label(areas, colours), *notes, name | {"xanchor": "right"}],
    )


def question_figure(areas: FileAreasView, mode: str) -> go.Figure:
    """Draws the .log, and the possible .index sizes from which the reader chooses."""
    colours = theme.colours(mode)
    log_bytes = areas.files[0].size_bytes
    shapes = []
    notes = []
    top = BASE
    for size_bytes in areas.candidates:
        width, height = _sides(size_bytes, log_bytes)
        shapes.append(_frame(SMALL_X, top, width, height, colours))
        text = say("file_areas.perhaps", size=size_bytes)
        colour = colours["offset_text"]
        notes.append(_text(SMALL_X + width + 0.015, top + height / 2, text, colour))
        top += max(height, 0.08) + 0.08
    return _chart(mode, [_log_box(colours), *shapes], [_log_label(areas, colours), *notes])


def _sides(size_bytes: int, log_bytes: int) -> tuple[float, float]:
    scale = (size_bytes / log_bytes) ** 0.5
    return LOG_WIDTH * scale, LOG_HEIGHT * scale


def _chart(mode: str, shapes: list[dict], annotations: list[dict]) -> go.Figure:
    axis = {"visible": False, "fixedrange": True}
    chart = go.Figure(go.Scatter(x=[0], y=[0], mode="markers", marker={"opacity": 0}))
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (0, 0, 0, 0)),
        hovermode=False,
        xaxis=axis | {"range": [0, 1]},
        yaxis=axis | {"range": [1, 0]},
        shapes=shapes,
        annotations=annotations,
    )


def _box(x: float, y: float, width: float, height: float, fill: str) -> dict:
    return theme.rectangle(x, x + width, y, y + height, fillcolor=fill, line={"width": 0})


def _log_box(colours: Mapping[str, str]) -> dict:
    return _box(0, BASE, LOG_WIDTH, LOG_HEIGHT, colours["log_soft"]) | {
        "line": {"color": colours["log"], "width": 1.5}
    }


def _frame(x: float, y: float, width: float, height: float, colours: Mapping[str, str]) -> dict:
    line = {"color": colours["ink_3"], "width": 1.2, "dash": "3px,3px"}
    return _box(x, y, width, height, "rgba(0,0,0,0)") | {"line": line}


def _log_label(areas: FileAreasView, colours: Mapping[str, str]) -> dict:
    return _label(0.015, BASE + 0.05, areas.files[0], colours["log_text"])


def _label(x: float, y: float, file: FileArea, colour: str) -> dict:
    lines = (f"<b>{file.suffix}</b>", f"{format_count(file.size_bytes)} B", file.content)
    return _text(x, y, "<br>".join(lines), colour) | {"yanchor": "top"}


def _text(x: float, y: float, text: str, colour: str) -> dict:
    return theme.note(text, colour, 13, x=x, y=y, xanchor="left", yanchor="middle", align="left")
