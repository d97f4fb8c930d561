"""The pages of an index that a search reads while the index grows and pages go cold."""

from kafkaviz.analysis.page_cache.index_layouts import ENTRIES_A_PAGE
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory, Readers
from kafkaviz.app import page_state
from kafkaviz.app.cache.simulation_cache import ReplaySettings, replays
from kafkaviz.app.pages.page_cache import controls
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.page_cache import page_faults
from kafkaviz.figures.page_cache.page_faults import PageFaultsView
from kafkaviz.messages import message, say
from kafkaviz.search.index import ENTRY_BYTES, OFFSET
from kafkaviz.workshop.drawings import moving_middles
from kafkaviz.workshop.drawings.moving_middles import MovingMiddlesView
from kafkaviz.workshop.figures.figure import Destination, LessonFigure, Part, drawing, drawn_figure
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

PAGE_BYTES = 4096
WARM_BYTES = 8192
MIDDLES_HEADS = (
    "moving_middles.head_entries",
    "page_cache.pages",
    "moving_middles.head_read",
    "moving_middles.head_fresh",
)
MAX_MIDDLES_ENTRIES = 40 * ENTRIES_A_PAGE


def _make_page_faults(block: LessonBlock) -> PageFaultsView:
    growth = IndexGrowth(block["pages"] * ENTRIES_A_PAGE, block["gap"], ENTRY_BYTES[OFFSET])
    memory = Memory(PAGE_BYTES, block["cold"] * controls.MB, 0)
    lag, lag_entries = controls.LAG["anywhere"]
    readers = Readers(lag=lag, lag_entries=lag_entries, seed=controls.DEFAULT_SEED)
    plain, warm = replays(ReplaySettings(growth, memory, readers, WARM_BYTES))
    return page_faults.view(
        plain if block["search"] == "plain" else warm, block["search"], WARM_BYTES
    )


def _draw_page_faults(view: PageFaultsView, block: LessonBlock, key: str) -> list[Part]:
    return [drawing(page_faults.figure, view, block, key)]


def _draw_growth_until(view: PageFaultsView, block: LessonBlock, key: str) -> list[Part]:
    """Returns the growth up to the point of the question."""
    start = page_faults.cut(view, block["until"] * ENTRIES_A_PAGE)
    return [drawing(page_faults.figure, start, block, f"{key}_until")]


def _make_middles(block: LessonBlock) -> MovingMiddlesView:
    """Returns the pages read at both sizes of an index.

    Raises:
        NoValue: a size has no entry, too many to draw, or the second is not larger.
    """
    if not 0 < block["entries"] < block["then"] <= MAX_MIDDLES_ENTRIES:
        raise NoValue(message("moving_middles.sizes", most=MAX_MIDDLES_ENTRIES))
    return moving_middles.view(block["entries"], block["then"])


def _middles_table(view: MovingMiddlesView) -> str:
    return table_html(list(map(say, MIDDLES_HEADS)), moving_middles.rows(view), "rrll")


def _to_page_faults(block: LessonBlock) -> Destination:
    """Returns the Page cache page with the same growth, as far as its sliders offer the values."""
    sliders = (
        (page_state.COLD, controls.COLD, block["cold"] * controls.MB),
        (page_state.GROW, controls.GROW, block["pages"] * ENTRIES_A_PAGE),
        (page_state.GAP, controls.GAP, block["gap"]),
    )
    return "Page cache", {
        key: name
        for key, choices, value in sliders
        for name, choice in choices.items()
        if choice == value
    }


def _to_tail_pages(block: LessonBlock) -> Destination:
    return "Page cache", {page_state.ENTRIES: str(block["entries"])}


PAGES = LessonFigure(
    _make_page_faults, _draw_page_faults, _to_page_faults, question=_draw_growth_until
)
MIDDLES = drawn_figure(
    _make_middles,
    _to_tail_pages,
    (moving_middles.figure, moving_middles.question_figure),
    _middles_table,
)
