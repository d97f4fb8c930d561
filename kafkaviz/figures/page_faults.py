"""Pages of an index that lookups touch while it grows, as an image: time to the right, pages
upward, a dot for each cold one.
"""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.figures.listed import many
from kafkaviz.search.pages import LAGGARD, TAIL, Replay
from kafkaviz.search.slots import WARM_BYTES
from kafkaviz.units import group, size
from kafkaviz.words import counted, say

COLUMNS, MOST_ROWS, MOST_DOTS = 280, 300, 800
HEIGHT, TICKS = 344, 4
GAPS_UP_TO = 64  # rows: thinner ones would be all gap
CROWDED = 10_000  # entries: the last tick's words need the room of the one before
NOTES_FROM = 20  # pages: an image of fewer has no room for words
PLAIN, WARM = "plain", "warm"
NOTES = {  # where, as parts of the image, and which words
    PLAIN: ((0.62, 0.07, "first_page"), (0.5, 0.17, "middle_page")),
    WARM: ((0.52, 0.4, "older_pages"),),
}
FEW = 3  # pages, of which a sentence says how few they are


@dataclass(frozen=True)
class Note:
    """Words in the image, at an entry and a page."""

    entries: float
    page: float
    text: str


@dataclass(frozen=True)
class PageFaultsView:
    """touched: (rows, columns) lookups, 0 where there is none; a row is row_pages pages, a column
    entries / columns entries.

    end_page: where the index ends, a part of its last page. dots: (n, 3) of entries, page, faults:
    the middle of each cell with a fault; beyond MOST_DOTS they are drawn as an image too.
    """

    title: str
    below: str
    entries: int
    pages: int
    end_page: float
    row_pages: int
    touched: np.ndarray
    dots: np.ndarray
    notes: tuple[Note, ...]

    @property
    def is_dense(self) -> bool:
        """Whether there are too many faults for a dot each."""
        return len(self.dots) > MOST_DOTS


def view(replay: Replay, search: str, warm_bytes: int | None = WARM_BYTES) -> PageFaultsView:
    """The image of a replay. search: PLAIN or WARM; warm_bytes: of the section that WARM has, None
    for none.
    """
    row_pages = max(1, -(-replay.pages // MOST_ROWS))
    touched, faulted = (_rows(cells, row_pages) for cells in (replay.touched, replay.faulted))
    notes = _notes(replay, search)
    return PageFaultsView(
        _title(replay),
        _below(search, warm_bytes),
        replay.entries,
        replay.pages,
        replay.grown_pages,
        row_pages,
        touched,
        _dots(faulted, replay, row_pages),
        notes,
    )


def _below(search: str, warm_bytes: int | None) -> str:
    if search == PLAIN or warm_bytes == WARM_BYTES:
        return say(f"page_faults.below_{search}")
    return (
        say("page_faults.below_section", size=size(warm_bytes))
        if warm_bytes
        else say("page_faults.below_none")
    )


def _rows(cells: np.ndarray, row_pages: int) -> np.ndarray:
    rows = -(-len(cells) // row_pages)
    padded = np.zeros((rows * row_pages, cells.shape[1]), np.int64)
    padded[: len(cells)] = cells
    return padded.reshape(rows, row_pages, cells.shape[1]).sum(axis=1)


def _dots(faulted: np.ndarray, replay: Replay, row_pages: int) -> np.ndarray:
    row, column = np.nonzero(faulted)
    entries = (column + 0.5) * replay.entries / faulted.shape[1]
    return np.column_stack([entries, (row + 0.5) * row_pages, faulted[row, column]])


def _title(replay: Replay) -> str:
    """How many faults on the whole way; without any, how few pages that takes."""
    faults, most = int(replay.faulted.sum()), max(replay.most_pages)
    pages = counted("page_faults.n_pages", replay.pages, n=group(replay.pages))
    if faults:
        return say(
            "page_faults.faults",
            faults=counted("page_faults.n_faults", faults, n=group(faults)),
            pages=pages,
        )
    if not sum(replay.lookups):
        return say("page_faults.no_lookup", pages=pages)
    if most > FEW:
        return say("page_faults.no_fault", pages=pages)
    newest = replay.pages > FEW and not replay.lookups[LAGGARD]
    return say(
        "page_faults.no_fault_newest" if newest else "page_faults.no_fault_few",
        few=many("page_faults.n_pages", most),
    )


def _notes(replay: Replay, search: str) -> tuple[Note, ...]:
    """Where an image is of tail readers alone, what is to be seen in it."""
    if replay.pages < NOTES_FROM or replay.lookups[LAGGARD] or not replay.lookups[TAIL]:
        return ()
    if search == WARM and max(replay.most_pages) > 4:
        return ()
    return tuple(
        Note(across * replay.entries, up * replay.pages, say(f"page_faults.{name}"))
        for across, up, name in NOTES[search]
    )


def rows(plain: Replay, warm: Replay) -> list[tuple[int, ...]]:
    """The images as a table: page, lookups that touch it and faults, plain; the same, warm section
    first.
    """
    sums = [
        cells.sum(axis=1) for replay in (plain, warm) for cells in (replay.touched, replay.faulted)
    ]
    return [(page, *(int(one[page]) for one in sums)) for page in range(plain.pages)]


def figure(shown: PageFaultsView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    chart = go.Figure([_image(shown, ink["offset"]), *_faults(shown, ink)])
    ends = {"x0": 0, "y0": -0.5, "x1": shown.entries, "y1": shown.end_page - 0.5}
    line = {"type": "line", **ends, "line": {"color": ink["line_2"], "width": 1}}
    chart.update_layout(
        template=theme.template(mode),
        height=HEIGHT,
        margin={"l": 40, "r": 4, "t": 8, "b": 26},
        showlegend=False,
        plot_bgcolor=ink["panel"],
        shapes=[line],
        xaxis=_across(shown),
        yaxis=_upward(shown),
        annotations=[*(_words(note, ink) for note in shown.notes), _end(shown, ink)],
    )
    return chart


def _image(shown: PageFaultsView, colour: str) -> go.Heatmap:
    seen = np.where(shown.touched > 0, shown.touched, np.nan).astype(np.float32)
    gap = 1.5 if len(shown.touched) <= GAPS_UP_TO else 0
    hover = say("page_faults.hover_touched", page="%{y:.0f}", lookups="%{z}")
    return _cells(shown, seen, colour, gap, "touched", f"{hover}<extra></extra>", 0.75)


def _cells(
    shown: PageFaultsView,
    cells: np.ndarray,
    colour: str,
    gap: float,
    name: str,
    hover: str,
    opacity: float,
) -> go.Heatmap:
    """Page 0 is the row around 0: what is under the pointer, and at the axis, is its number."""
    across, up = shown.entries / max(cells.shape[1], 1), shown.row_pages
    return go.Heatmap(
        z=cells,
        x0=across / 2,
        dx=across,
        y0=(up - 1) / 2,
        dy=up,
        ygap=gap,
        name=name,
        opacity=opacity,
        colorscale=[[0, colour], [1, colour]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=hover,
    )


def _faults(shown: PageFaultsView, ink: dict[str, str]) -> list[go.Scatter | go.Heatmap]:
    if not len(shown.dots):
        return []
    if shown.is_dense:
        cells = np.full(shown.touched.shape, np.nan, np.float32)
        column = (shown.dots[:, 0] * cells.shape[1] / shown.entries).astype(int)
        cells[(shown.dots[:, 1] / shown.row_pages).astype(int), column] = shown.dots[:, 2]
        hover = say("page_faults.hover_faults", page="%{y:.0f}", faults="%{z}")
        return [_cells(shown, cells, ink["ink"], 0, "faults", f"{hover}<extra></extra>", 1)]
    size = 9 if len(shown.dots) <= 100 else 6
    hover = say("page_faults.hover_fault", page="%{customdata[0]:.0f}", entries="%{x:.0f}")
    return [
        go.Scatter(
            x=shown.dots[:, 0],
            y=shown.dots[:, 1] - 0.5,
            customdata=np.floor(shown.dots[:, 1:2]),
            mode="markers",
            name="faults",
            marker={"size": size, "color": ink["ink"], "line": {"color": ink["panel"], "width": 1}},
            cliponaxis=False,
            hovertemplate=f"{hover}<extra></extra>",
        )
    ]


def _across(shown: PageFaultsView) -> dict:
    values = [shown.entries * tick / TICKS for tick in range(TICKS + 1)]
    words = ["0", *(group(round(value)) for value in values[1:-1]), ""]
    if shown.entries >= CROWDED:
        words[-2] = ""
    return {
        "range": [0, shown.entries or 1],
        "tickvals": values,
        "ticktext": words,
        **_QUIET,
        "ticks": "",
        "ticklabelstandoff": 2,
    }


def _end(shown: PageFaultsView, ink: dict[str, str]) -> dict:
    """The last tick's words, which end where the axis does."""
    place = {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": -1,
        "showarrow": False,
    }
    return place | {
        "text": say("page_faults.entries", n=group(shown.entries)),
        "font": {"size": 12, "color": ink["ink_3"]},
    }


def _upward(shown: PageFaultsView) -> dict:
    step = max(1, _round(shown.pages / TICKS))
    values = [page for page in range(0, shown.pages, step) if page <= shown.pages - step * 0.4]
    words = [*(group(page) for page in values), say("page_faults.page")]
    ends = [-0.5, (shown.pages or 1) - 0.5]
    return {
        "range": ends,
        "tickvals": [*values, ends[1]],
        "ticktext": words,
        **_QUIET,
        "ticks": "",
        "ticklabelstandoff": 6,
    }


_QUIET = {
    "showgrid": False,
    "fixedrange": True,
    "showline": False,
    "zeroline": False,
    "automargin": False,
    "title": None,
}


def _round(step: float) -> int:
    """A step that reads well: 1, 2, 5, 10, 20, 50 and so on."""
    power = 10 ** max(0, len(str(int(step))) - 1)
    return next((times * power for times in (1, 2, 5, 10) if times * power >= step), 1)


def _words(note: Note, ink: dict[str, str]) -> dict:
    look = {
        "font": {"size": 12, "color": ink["ink_2"]},
        "bgcolor": ink["panel"],
        "borderpad": 2,
        "showarrow": False,
    }
    return {"x": note.entries, "y": note.page, "text": note.text, "xanchor": "left", **look}
