"""Which pages of an index a search touches: while the index grows and pages go cold, and of one
lookup at its end.
"""

from kafkaviz.figures import page_faults, tail_pages
from kafkaviz.figures.page_faults import PageFaultsView
from kafkaviz.figures.tail_pages import TailPagesView
from kafkaviz.search.index import ENTRY_BYTES, OFFSET
from kafkaviz.search.layouts import A_PAGE
from kafkaviz.search.pages import Growth, Memory, Readers
from kafkaviz.ui import state
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.ui.lessons.live.figure import Live, Onward, framed
from kafkaviz.ui.page_cache import options, replays

PAGE_BYTES, WARM_BYTES = 4096, 8192


def _growing(block: Block) -> PageFaultsView:
    growth = Growth(block["pages"] * A_PAGE, block["gap"], ENTRY_BYTES[OFFSET])
    memory = Memory(PAGE_BYTES, block["cold"] * options.MB, 0)
    readers = Readers(0.0, *options.LAG["anywhere"], 1, options.DEFAULT_SEED)
    plain, warm = replays.images(replays.Settings(growth, memory, readers, WARM_BYTES))
    return page_faults.view(
        plain if block["search"] == "plain" else warm, block["search"], WARM_BYTES
    )


def _draw_growing(shown: PageFaultsView, block: Block, key: str) -> None:
    framed(page_faults.figure, shown, block, key)


def _tail(block: Block) -> TailPagesView:
    return tail_pages.view(block["entries"])


def _draw_tail(shown: TailPagesView, block: Block, key: str) -> None:
    framed(tail_pages.figure, shown, block, key)


def _to_growing(block: Block) -> Onward:
    """The same growth, as far as the sliders there have its values."""
    asked = (
        (state.COLD, options.COLD, block["cold"] * options.MB),
        (state.GROW, options.GROW, block["pages"] * A_PAGE),
        (state.GAP, options.GAP, block["gap"]),
    )
    return "Page cache", {
        key: name for key, offered, value in asked for name, one in offered.items() if one == value
    }


def _to_tail(block: Block) -> Onward:
    return "Page cache", {state.ENTRIES: str(block["entries"])}


PAGES = Live(_growing, _draw_growing, _to_growing)
TAIL = Live(_tail, _draw_tail, _to_tail)
