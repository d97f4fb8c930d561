"""What the controls of the Page cache page offer, by the words that stand in the address; and what
a reader calls them.
"""

from kafkaviz.analysis import index_layouts
from kafkaviz.analysis.page_replay import EXPONENTIAL, FIXED, UNIFORM
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME
from kafkaviz.words import say

MB, KIB = 1_000_000, 1024
COLD = {f"{megabytes} MB": megabytes * MB for megabytes in (1, 2, 4, 8, 16, 32, 64, 256)}
GROW = {
    f"{count} pages": count * index_layouts.ENTRIES_A_PAGE for count in (14, 20, 40, 100, 512, 2560)
}
GAP = {f"{gap} B": gap for gap in (1024, 2304, 4608, 16384)}
PAGE_SIZE = {f"{kib} KiB": kib * KIB for kib in (4, 16, 64)}
SECTION = {"none": None, **{f"{kib} KiB": kib * KIB for kib in (4, 8, 16, 64, 256, 1024)}}
LAGGARDS = {"none": 0.0, "0.1 %": 0.001, "1 %": 0.01, "5 %": 0.05, "20 %": 0.2}
LAG = {
    "anywhere": (UNIFORM, 0),
    "about 30 entries": (EXPONENTIAL, 30),
    "about 300 entries": (EXPONENTIAL, 300),
    "about 3000 entries": (EXPONENTIAL, 3000),
    "always 3000 entries": (FIXED, 3000),
}
READ_AROUND = {"none": 0, "128 KiB": 128 * KIB, "1 MiB": 1024 * KIB, "8 MiB": 8192 * KIB}
LOOKUP_INTERVALS = {
    "each append": 1,
    "10 appends": 10,
    "100 appends": 100,
    "1000 appends": 1000,
    "5000 appends": 5000,
}
ENTRY_SIZE = {
    f"{kind.capitalize()} index, {ENTRY_BYTES[kind]} B": ENTRY_BYTES[kind]
    for kind in (OFFSET, TIME)
}
DEFAULT_SEED, LARGEST_SEED = 6432, 999_999
PRACTICE = "A practice log"


def size_text(name: str) -> str:
    """A size or a share, which every language writes alike, or none."""
    return say("page_cache.none") if name == "none" else name


def pages_text(name: str) -> str:
    """How far an index grows, of GROW."""
    return say("page_cache.n_pages", n=GROW[name] // index_layouts.ENTRIES_A_PAGE)


def lookup_interval_text(name: str) -> str:
    """When there is a lookup, of EVERY."""
    return (
        say("page_cache.each_append")
        if LOOKUP_INTERVALS[name] == 1
        else say("page_cache.n_appends", n=LOOKUP_INTERVALS[name])
    )


def lag_text(name: str) -> str:
    """How far laggards are behind, of LAG."""
    kind, entries = LAG[name]
    return say(f"page_cache.lag_{kind}", n=entries)


def index_kind_text(name: str) -> str:
    """An index, of ENTRY_SIZE."""
    size = ENTRY_SIZE[name]
    return say(f"page_cache.kind_{'offset' if size == ENTRY_BYTES[OFFSET] else 'time'}", bytes=size)


def index_text(name: str) -> str:
    """An index to grow: the practice log, or a topic-partition by its name."""
    return say("page_cache.practice") if name == PRACTICE else name
