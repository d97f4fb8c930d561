"""The pages that lookups read while an index grows, drawn as an image.

The number of entries grows to the right, page numbers grow upward, and dots mark page faults.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analysis.cost.page_replay import Replay
from kafkaviz.figures import theme
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import count_phrase
from kafkaviz.units import format_count

COLUMNS = 280
MAX_ROWS = 300
MAX_DOTS = 800
HEIGHT = 344
TICKS = 4
MAX_GAP_ROWS = 64  # with more rows, gaps would cover the cells, so none are drawn
CROWDED_ENTRIES = 10_000  # from this size on, the axis title replaces the last number
MIN_NOTE_PAGES = 20  # an image of fewer pages has no room for texts
NO_NAME = "<extra></extra>"  # hides the name of the trace in a hover text
PLAIN = "plain"
WARM = "warm"
NOTES = {  # position as shares of width and height, and the message key
    PLAIN: ((0.62, 0.07, "first_page"), (0.5, 0.17, "middle_page")),
    WARM: ((0.52, 0.4, "older_pages"),),
}
AXIS = theme.PLAIN_AXIS | {"showgrid": False, "automargin": False, "title": None, "ticks": ""}
FEW_PAGES = 3  # up to this number of pages read, the title states the number


@dataclass(frozen=True)
class ImageNote:
    entries: float
    page: float
    text: str


@dataclass(frozen=True, kw_only=True)
class PageFaultsView:
    """An image of the pages that lookups read. x is the number of index entries, y is the page.

    A row stands for `row_pages` pages. Each column stands for the same number of new entries.
    """

    title: str
    caption: str
    entries: int
    pages: int
    end_page: float  # the size of the index in pages, not rounded
    row_pages: int
    lookup_counts: np.ndarray  # (rows, columns): the lookups that read each page, summed per row
    dots: np.ndarray  # (n, 3): entries, page and number of page faults
    notes: tuple[ImageNote, ...]

    @property
    def is_dense(self) -> bool:
        """Whether the dots are drawn as an image, because there are more than MAX_DOTS."""
        return len(self.dots) > MAX_DOTS


def view(replay: Replay, search: str) -> PageFaultsView:
    row_pages = max(1, -(-replay.pages // MAX_ROWS))
    lookup_counts = _sum_rows(replay.touched, row_pages)
    fault_counts = _sum_rows(replay.faulted, row_pages)
    row, column = np.nonzero(fault_counts)
    entries = (column + 0.5) * replay.entries / fault_counts.shape[1]
    return PageFaultsView(
        title=_title(replay),
        caption=say(f"page_faults.below_{search}"),
        entries=replay.entries,
        pages=replay.pages,
        end_page=replay.grown_pages,
        row_pages=row_pages,
        lookup_counts=lookup_counts,
        dots=np.column_stack([entries, (row + 0.5) * row_pages, fault_counts[row, column]]),
        notes=_image_notes(replay, search),
    )


def cut(image: PageFaultsView, entries: int) -> PageFaultsView:
    """Returns the image up to a number of entries, for a question about what follows."""
    columns = image.lookup_counts.shape[1]
    lookup_counts = image.lookup_counts.copy()
    lookup_counts[:, -(-entries * columns // max(image.entries, 1)) :] = 0
    question = say("page_faults.and_then" if entries else "page_faults.and_reads")
    note = ImageNote(max(entries * 1.12, 0.56 * image.entries), 0.2 * image.pages, question)
    return replace(
        image,
        title=say("page_faults.question", pages=say_count("common.n_pages", image.pages)),
        lookup_counts=lookup_counts,
        dots=image.dots[image.dots[:, 0] <= entries],
        notes=(note,),
    )


def _sum_rows(cells: np.ndarray, row_pages: int) -> np.ndarray:
    rows = -(-len(cells) // row_pages)
    padded = np.zeros((rows * row_pages, cells.shape[1]), np.int64)
    padded[: len(cells)] = cells
    return padded.reshape(rows, row_pages, cells.shape[1]).sum(axis=1)


def _title(replay: Replay) -> str:
    faults = int(replay.faulted.sum())
    pages = say_count("common.n_pages", replay.pages)
    if faults:
        faults_text = say_count("page_faults.n_faults", faults)
        return say("page_faults.faults", faults=faults_text, pages=pages)
    if not sum(replay.lookups):
        return say("page_faults.no_lookup", pages=pages)
    most_pages = max(replay.most_pages)
    if most_pages > FEW_PAGES:
        return say("page_faults.no_fault", pages=pages)
    key = "page_faults.no_fault_newest" if replay.pages > FEW_PAGES else "page_faults.no_fault_few"
    return say(key, few=count_phrase("common.n_pages", most_pages))


def _image_notes(replay: Replay, search: str) -> tuple[ImageNote, ...]:
    if replay.pages < MIN_NOTE_PAGES:
        return ()
    return tuple(
        ImageNote(x_share * replay.entries, y_share * replay.pages, say(f"page_faults.{name}"))
        for x_share, y_share, name in NOTES[search]
    )


def figure(image: PageFaultsView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    traces = [_lookup_heatmap(image, colours["hot"]), *_fault_traces(image, colours)]
    line = theme.straight_line(
        0, image.entries, -0.5, image.end_page - 0.5, line={"color": colours["ink_3"], "width": 1}
    )
    axis_text = say_count("common.n_entries", image.entries)
    return go.Figure(traces).update_layout(
        theme.chart_layout(mode, HEIGHT, (40, 4, 8, 26)),
        plot_bgcolor=colours["panel"],
        shapes=[line],
        xaxis=_x_axis(image),
        yaxis=_y_axis(image),
        annotations=[
            *(_note_annotation(note, colours) for note in image.notes),
            theme.axis_name(axis_text, colours, shift_px=-1),
        ],
    )


def _lookup_heatmap(image: PageFaultsView, colour: str) -> go.Heatmap:
    counts = np.where(image.lookup_counts > 0, image.lookup_counts, np.nan).astype(np.float32)
    gap = 1.5 if len(counts) <= MAX_GAP_ROWS else 0
    hover = say("page_faults.hover_touched", page="%{y:.0f}", lookups="%{z}")
    return _cell_heatmap(image, counts, colour, hover, name="touched", ygap=gap, opacity=0.75)


def _cell_heatmap(
    image: PageFaultsView, cells: np.ndarray, colour: str, hover: str, **style: Any
) -> go.Heatmap:
    """Returns a heatmap of the cells.

    A row stands for several pages. The row is centred at the mean of the numbers of these pages.
    """
    column_entries = image.entries / max(cells.shape[1], 1)
    return go.Heatmap(
        z=cells,
        x0=column_entries / 2,
        dx=column_entries,
        y0=(image.row_pages - 1) / 2,
        dy=image.row_pages,
        colorscale=[[0, colour], [1, colour]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=hover + NO_NAME,
        **style,
    )


def _fault_traces(image: PageFaultsView, colours: dict[str, str]) -> list[go.Scatter | go.Heatmap]:
    dots = image.dots
    if not len(dots):
        return []
    if image.is_dense:
        cells = np.full(image.lookup_counts.shape, np.nan, np.float32)
        row = (dots[:, 1] / image.row_pages).astype(int)
        column = (dots[:, 0] * cells.shape[1] / image.entries).astype(int)
        cells[row, column] = dots[:, 2]
        hover = say("page_faults.hover_faults", page="%{y:.0f}", faults="%{z}")
        return [
            _cell_heatmap(image, cells, colours["cold"], hover, name="faults", ygap=0, opacity=1)
        ]
    outline = {"color": colours["ink"], "width": 1.5}
    size = 9 if len(dots) <= 100 else 6
    hover = say("page_faults.hover_fault", page="%{customdata[0]:.0f}", entries="%{x:.0f}")
    return [
        go.Scatter(
            x=dots[:, 0],
            y=dots[:, 1] - 0.5,
            customdata=np.floor(dots[:, 1:2]),
            mode="markers",
            name="faults",
            marker={"size": size, "color": colours["cold"], "line": outline},
            cliponaxis=False,
            hovertemplate=hover + NO_NAME,
        )
    ]


def _x_axis(image: PageFaultsView) -> dict:
    values = [image.entries * tick / TICKS for tick in range(TICKS + 1)]
    tick_texts = ["0", *(format_count(round(value)) for value in values[1:-1]), ""]
    if image.entries >= CROWDED_ENTRIES:
        tick_texts[-2] = ""
    ticks = {"tickvals": values, "ticktext": tick_texts, "ticklabelstandoff": 2}
    return AXIS | ticks | {"range": [0, image.entries or 1]}


def _y_axis(image: PageFaultsView) -> dict:
    step = max(1, _round_step(image.pages / TICKS))
    values = [page for page in range(0, image.pages, step) if page <= image.pages - step * 0.4]
    tick_texts = [*(format_count(page) for page in values), say("page_faults.page")]
    end = (image.pages or 1) - 0.5
    ticks = {"tickvals": [*values, end], "ticktext": tick_texts, "ticklabelstandoff": 6}
    return AXIS | ticks | {"range": [-0.5, end]}


def _round_step(step: float) -> int:
    power = 10 ** max(0, len(str(int(step))) - 1)
    return next((factor * power for factor in (1, 2, 5, 10) if factor * power >= step), 1)


def _note_annotation(note: ImageNote, colours: dict[str, str]) -> dict:
    text = theme.note(note.text, colours["ink_2"], x=note.entries, y=note.page, xanchor="left")
    return text | {"bgcolor": colours["panel"], "borderpad": 2}
