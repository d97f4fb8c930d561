"""The pages of the app, and the parts that other packages add to them and to the server.

The app knows its own ten pages. Another package adds an entry to these dictionaries under a name
of its own, as kafkaviz.workshop does. Its functions are called when the app needs them, so that a
page which does not show the package need not import it. Adding an entry again changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kafkaviz import environment

# pairs of keys and the message key of their action
Keys = tuple[tuple[str | tuple[str, ...], str], ...]


class GoToEntry(NamedTuple):
    """One result of Go to. `aside` is a note in grey."""

    heading: str
    words: str
    aside: str
    page: str
    address: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the app."""

    script: str
    icon: str
    depth: int  # how far its address goes: 1 broker, 2 topic-partition, 3 segment
    group: int  # its group in the sidebar, where a line separates groups
    keys: Keys = ()  # its keys, for the list of keys
    keys_heading: str = ""  # the message key of their heading; the name of the page if it is ""
    private_parameters: tuple[str, ...] = ()  # address parameters that a copied link leaves out
    # the entries of Go to on this page. It gets the typed text and the address parameters that
    # links to the page keep.
    find_entries: Callable[[str, Mapping[str, str]], Iterable[GoToEntry]] | None = None

    @property
    def exists(self) -> bool:
        return (environment.ROOT / self.script).exists()

    @property
    def path(self) -> str:
        return "" if self.script == "app.py" else Path(self.script).stem


PROJECTOR_KEY = (("F", "Esc"), "projector")  # of pages whose figure can be shown large
# in the order of the sidebar
PAGES = {
    "Broker": Page(script="app.py", icon="dns", depth=1, group=1),
    "Segment": Page(
        script="pages/segment.py",
        icon="straighten",
        depth=3,
        group=1,
        keys=(("[]", "segments"), ("←→", "batches"), ("+−", "zoom"), PROJECTOR_KEY),
    ),
    "Lookup": Page(
        script="pages/lookup.py",
        icon="manage_search",
        depth=3,
        group=1,
        keys=(
            ("←→", "step"),
            (("Home", "End"), "ends"),
            (("Space",), "play"),
            PROJECTOR_KEY,
        ),
        keys_heading="frame.stepper",
    ),
    "Page cache": Page(
        script="pages/page_cache.py", icon="memory", depth=1, group=1, keys=(PROJECTOR_KEY,)
    ),
    "Rolls": Page(script="pages/rolls.py", icon="layers", depth=2, group=2, keys=(PROJECTOR_KEY,)),
    "Tuning": Page(script="pages/tuning.py", icon="tune", depth=2, group=2, keys=(PROJECTOR_KEY,)),
    "Health": Page(script="pages/health.py", icon="ecg_heart", depth=1, group=2),
    "Disk": Page(script="pages/disk.py", icon="hard_drive", depth=1, group=2),
    "Compare": Page(script="pages/compare.py", icon="compare_arrows", depth=1, group=2),
    "Explore": Page(
        script="pages/explore.py",
        icon="terminal",
        depth=1,
        group=3,
        keys=((("Ctrl", "Enter"), "run"),),
    ),
}
# each function returns the class of an ASGI middleware
MIDDLEWARE: dict[str, Callable[[], type[Any]]] = {}
# each runs while the server runs, and gets the Streamlit app
BACKGROUND_WORK: dict[str, Callable[[object], AbstractAsyncContextManager[None]]] = {}
