"""The pages of the app, and the parts that other packages add to the app.

The app knows its own ten pages. Another package, such as kafkaviz.workshop, adds entries to the
dictionaries of this module. The app calls the functions of an entry only when it needs them, so
most pages do not import that package. Adding an entry twice changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kafkaviz import environment
from kafkaviz.messages import say

# pairs of keyboard keys and the message key of their action
Keys = tuple[tuple[str | tuple[str, ...], str], ...]


class GoToEntry(NamedTuple):
    """One result of the Go to dialog. `aside` is a note in grey."""

    heading: str
    words: str
    aside: str
    page: str
    address: dict[str, str]


class Target(NamedTuple):
    """A result of the Go to dialog that does not depend on the directory."""

    kind: str  # the message key of the heading above the result
    words: str  # the text of the result, in the reader's language
    aside: str  # a note in grey; if one of `texts` matches, the matching passage replaces it
    page: str
    address: Mapping[str, str]  # parameters in addition to those of the page
    names: tuple[str, ...]  # the searched names in all languages, in lower case
    texts: tuple[str, ...] = ()  # searched texts without markup, the reader's language first


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the app."""

    script: str
    icon: str
    depth: int  # how much the address names: 1 a broker, 2 also a topic-partition, 3 also a segment
    group: int  # the group in the sidebar; lines separate groups
    keys: Keys = ()  # keyboard shortcuts, for the list of keys
    keys_heading: str = ""  # message key of the heading above `keys`; "" is the page's name
    private_parameters: tuple[str, ...] = ()  # address parameters that a copied link leaves out
    # the message keys of the tab labels, by the value of TAB in the address
    tabs: Mapping[str, str] = field(default_factory=dict)
    # lists further targets of Go to on this page, in the reader's language
    list_targets: Callable[[], Iterable[Target]] | None = None

    @property
    def tab_labels(self) -> dict[str, str]:
        """The label of each tab in the reader's language, by the tab's name in the address."""
        return {word: say(key) for word, key in self.tabs.items()}

    @property
    def exists(self) -> bool:
        return (environment.ROOT / self.script).exists()

    @property
    def path(self) -> str:
        return "" if self.script == "app.py" else Path(self.script).stem


PROJECTOR_KEY = (("F", "Esc"), "projector")  # for pages with a projector view
MORE = 3  # the last group, which has a heading in the sidebar
# in the order of the sidebar
PAGES = {
    "Broker": Page(script="app.py", icon="dns", depth=1, group=1),
    "Segment": Page(
        script="pages/segment.py",
        icon="straighten",
        depth=3,
        group=1,
        keys=(("[]", "segments"), ("←→", "batches"), ("+−", "zoom"), PROJECTOR_KEY),
        tabs={
            "Batches": "common.batches",
            "Index": "segment.tab_index",
            "Time index": "segment.tab_times",
            "Transactions": "segment.tab_transactions",
            "Bytes": "segment.bytes_heading",
        },
    ),
    "Lookup": Page(
        script="pages/lookup.py",
        icon="manage_search",
        depth=3,
        group=1,
        keys=(("←→", "step"), (("Home", "End"), "ends"), (("Space",), "play"), PROJECTOR_KEY),
        keys_heading="frame.stepper",
        tabs={"race": "lookup.view_race", "steps": "lookup.view_steps"},
    ),
    "Page cache": Page(
        script="pages/page_cache.py", icon="memory", depth=1, group=1, keys=(PROJECTOR_KEY,)
    ),
    "Rolls": Page(
        script="pages/rolls.py",
        icon="layers",
        depth=2,
        group=2,
        keys=(PROJECTOR_KEY,),
        tabs={
            "Chart": "rolls.tab_chart",
            "Growth": "rolls.by_append",
            "Limits": "rolls.tab_limits",
        },
    ),
    "Tuning": Page(
        script="pages/tuning.py",
        icon="tune",
        depth=2,
        group=2,
        keys=(PROJECTOR_KEY,),
        tabs={"Index": "common.index", "Batches": "common.batches", "Codec": "broker.column_codec"},
    ),
    "Health": Page(script="pages/health.py", icon="ecg_heart", depth=1, group=2),
    "Disk": Page(
        script="pages/disk.py",
        icon="hard_drive",
        depth=1,
        group=2,
        tabs={
            "Map": "disk.tab_map",
            "Retention": "disk.tab_retention",
            "Compaction": "disk.tab_compaction",
        },
    ),
    "Explore": Page(
        script="pages/explore.py",
        icon="terminal",
        depth=1,
        group=MORE,
        keys=((("Ctrl", "Enter"), "run"),),
    ),
    "Compare": Page(script="pages/compare.py", icon="compare_arrows", depth=1, group=MORE),
}
# each function returns the class of an ASGI middleware
MIDDLEWARE: dict[str, Callable[[], type[Any]]] = {}
# context managers that are open while the server runs; each function gets the Streamlit app
BACKGROUND_WORK: dict[str, Callable[[object], AbstractAsyncContextManager[None]]] = {}
