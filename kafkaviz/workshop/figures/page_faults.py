"""The pages that lookups read while an index grows, drawn as an image.

The number of entries grows to the right, page numbers grow upward, and dots mark page faults.
"""

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analysis.page_replay import Replay
from kafkaviz.figures import theme
from kafkaviz.figures.text.sentences import count_phrase
from kafkaviz.messages import say, say_count
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
FEW_PAGES = 3  # up to this number of pages read, the title states the number


@dataclass(frozen=True)
class ImageNote:
    entries: float
    page: float
    text: str


@dataclass(frozen=True, kw_only=True)
class PageFaultsView:
    """An image of the pages that lookups read. x is the number of index entries, y is the page.

    Attributes:
        end_page: the size of the index in pages, not rounded.
        row_pages: the number of pages in a row of the image.
        lookup_counts: (rows, columns) array: the lookups that read a page, summed over the pages of
            the row. Each column stands for the same number of new entries.
        dots: (n, 3) array: entries, page and number of page faults.
    """

    title: str
    caption: str
    entries: int
    pages: int
    end_page: float
    row_pages: int
    lookup_counts: np.ndarray
    dots: np.ndarray
    notes: tuple[ImageNote, ...]

    @property
    def is_dense(self) -> bool:
        """Whether there are more than MAX_DOTS dots, which are drawn as an image instead."""
        return len(self.dots) > MAX_DOTS


def view(replay: Replay, search: str) -> PageFaultsView:
    row_pages = max(1, -(-replay.pages // MAX_ROWS))
    lookup_counts, fault_counts = (
        _sum_rows(cells, row_pages) for cells in (replay.touched, replay.faulted)
    )
    notes = _image_notes(replay, search)
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
        notes=notes,
    )


def cut(faults_view: PageFaultsView, entries: int) -> PageFaultsView:
    """Returns the image up to a number of entries, for a question about what follows."""
    columns = faults_view.lookup_counts.shape[1]
    lookup_counts = faults_view.lookup_counts.copy()
    lookup_counts[:, -(-entries * columns // max(faults_view.entries, 1)) :] = 0
    question = say("page_faults.and_then" if entries else "page_faults.and_reads")
    pages = say_count("common.n_pages", faults_view.pages)
    return replace(
        faults_view,
        title=say("page_faults.question", pages=pages),
        lookup_counts=lookup_counts,
        dots=faults_view.dots[faults_view.dots[:, 0] <= entries],
        notes=(
            ImageNote(
                max(entries * 1.12, 0.56 * faults_view.entries), 0.2 * faults_view.pages, question
            ),
        ),
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
        return say(
            "page_faults.faults",
            faults=say_count("page_faults.n_faults", faults),
            pages=pages,
        )
    if not sum(replay.lookups):
        return say("page_faults.no_lookup", pages=pages)
    most_pages = max(replay.most_pages)
    if most_pages > FEW_PAGES:
        return say("page_faults.no_fault", pages=pages)
    return say(
        "page_faults.no_fault_newest" if replay.pages > FEW_PAGES else "page_faults.no_fault_few",
        few=count_phrase("common.n_pages", most_pages),
    )


def _image_notes(replay: Replay, search: str) -> tuple[ImageNote, ...]:
    if replay.pages < MIN_NOTE_PAGES:
        return ()
    return tuple(
        ImageNote(x_share * replay.entries, y_share * replay.pages, say(f"page_faults.{name}"))
        for x_share, y_share, name in NOTES[search]
    )


def figure(faults_view: PageFaultsView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    chart = go.Figure(
        [_lookup_heatmap(faults_view, colours["hot"]), *_fault_traces(faults_view, colours)]
    )
    end_points = {"x0": 0, "y0": -0.5, "x1": faults_view.entries, "y1": faults_view.end_page - 0.5}
    line = {"type": "line", **end_points, "line": {"color": colours["ink_3"], "width": 1}}
    chart.update_layout(
        theme.chart_layout(mode, HEIGHT, (40, 4, 8, 26)),
        plot_bgcolor=colours["panel"],
        shapes=[line],
        xaxis=_x_axis(faults_view),
        yaxis=_y_axis(faults_view),
        annotations=[
            *(_note_annotation(note, colours) for note in faults_view.notes),
            theme.axis_name(
                say_count("common.n_entries", faults_view.entries), colours, shift_px=-1
            ),
        ],
    )
    return chart


def _lookup_heatmap(faults_view: PageFaultsView, colour: str) -> go.Heatmap:
    positive_counts = np.where(
        faults_view.lookup_counts > 0, faults_view.lookup_counts, np.nan
    ).astype(np.float32)
    gap = 1.5 if len(faults_view.lookup_counts) <= MAX_GAP_ROWS else 0
    hover = say("page_faults.hover_touched", page="%{y:.0f}", lookups="%{z}")
    return _cell_heatmap(
        faults_view,
        positive_counts,
        colour,
        gap=gap,
        name="touched",
        hover=hover + NO_NAME,
        opacity=0.75,
    )


def _cell_heatmap(
    faults_view: PageFaultsView,
    cells: np.ndarray,
    colour: str,
    *,
    gap: float,
    name: str,
    hover: str,
    opacity: float,
) -> go.Heatmap:
    """Returns a heatmap of the cells. A row is centred at the mean of its page numbers."""
    column_entries = faults_view.entries / max(cells.shape[1], 1)
    row_height = faults_view.row_pages
    return go.Heatmap(
        z=cells,
        x0=column_entries / 2,
        dx=column_entries,
        y0=(row_height - 1) / 2,
        dy=row_height,
        ygap=gap,
        name=name,
        opacity=opacity,
        colorscale=[[0, colour], [1, colour]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=hover,
    )


def _fault_traces(
    faults_view: PageFaultsView, colours: dict[str, str]
) -> list[go.Scatter | go.Heatmap]:
    if not len(faults_view.dots):
        return []
    if faults_view.is_dense:
        cells = np.full(faults_view.lookup_counts.shape, np.nan, np.float32)
        column = (faults_view.dots[:, 0] * cells.shape[1] / faults_view.entries).astype(int)
        cells[(faults_view.dots[:, 1] / faults_view.row_pages).astype(int), column] = (
            faults_view.dots[:, 2]
        )
        hover = say("page_faults.hover_faults", page="%{y:.0f}", faults="%{z}")
        return [
            _cell_heatmap(
                faults_view,
                cells,
                colours["cold"],
                gap=0,
                name="faults",
                hover=hover + NO_NAME,
                opacity=1,
            )
        ]
    size = 9 if len(faults_view.dots) <= 100 else 6
    hover = say("page_faults.hover_fault", page="%{customdata[0]:.0f}", entries="%{x:.0f}")
    return [
        go.Scatter(
            x=faults_view.dots[:, 0],
            y=faults_view.dots[:, 1] - 0.5,
            customdata=np.floor(faults_view.dots[:, 1:2]),
            mode="markers",
            name="faults",
            marker={
                "size": size,
                "color": colours["cold"],
                "line": {"color": colours["ink"], "width": 1.5},
            },
            cliponaxis=False,
            hovertemplate=hover + NO_NAME,
        )
    ]


def _x_axis(faults_view: PageFaultsView) -> dict:
    values = [faults_view.entries * tick / TICKS for tick in range(TICKS + 1)]
    tick_texts = ["0", *(format_count(round(value)) for value in values[1:-1]), ""]
    if faults_view.entries >= CROWDED_ENTRIES:
        tick_texts[-2] = ""
    return {
        "range": [0, faults_view.entries or 1],
        "tickvals": values,
        "ticktext": tick_texts,
        **_PLAIN_AXIS,
        "ticks": "",
        "ticklabelstandoff": 2,
    }


def _y_axis(faults_view: PageFaultsView) -> dict:
    step = max(1, _round_step(faults_view.pages / TICKS))
    values = [
        page for page in range(0, faults_view.pages, step) if page <= faults_view.pages - step * 0.4
    ]
    tick_texts = [*(format_count(page) for page in values), say("page_faults.page")]
    axis_range = [-0.5, (faults_view.pages or 1) - 0.5]
    return {
        "range": axis_range,
        "tickvals": [*values, axis_range[1]],
        "ticktext": tick_texts,
        **_PLAIN_AXIS,
        "ticks": "",
        "ticklabelstandoff": 6,
    }


_PLAIN_AXIS = {
    "showgrid": False,
    "fixedrange": True,
    "showline": False,
    "zeroline": False,
    "automargin": False,
    "title": None,
}


def _round_step(step: float) -> int:
    power = 10 ** max(0, len(str(int(step))) - 1)
    return next((factor * power for factor in (1, 2, 5, 10) if factor * power >= step), 1)


def _note_annotation(note: ImageNote, colours: dict[str, str]) -> dict:
    return theme.note(
        note.text,
        colours["ink_2"],
        x=note.entries,
        y=note.page,
        xanchor="left",
        bgcolor=colours["panel"],
        borderpad=2,
    )
