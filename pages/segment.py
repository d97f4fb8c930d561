"""Segment: the three files of a segment, how they point at each other, and what is in them."""

from collections.abc import Callable
from html import escape

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import pin
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.pin import Asked
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import fault_words, segment_shade, segment_tables, segment_words
from kafkaviz.figures.segment_facts import FactGroups
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Index, Segment
from kafkaviz.ui import anatomies, bytes_tab, choice, parts, pick, segment_parts, state
from kafkaviz.ui.components import address, ruler
from kafkaviz.ui.frame import frame, pages
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.words import counted, say

WIDTHS = (0.7207, 0.2793)  # 728 and 276 pixels in a window 1280 wide, as Streamlit shares out what the gap leaves
BATCHES, INDEX, TIMES = "Batches", "Index", "Time index"  # tabs, as the address has them
LISTED = 12  # segments offered instead of one that is not there


def main() -> None:
    """The page, or the sentence that says why there is none."""
    place = frame("Segment")
    printed()
    partition = pick.partition(place)
    if place.segment is None:
        return not_there(place, partition)
    if place.segment.log is None:
        return without_log(place)
    try:
        anatomy = anatomies.read(place.segment)
    except CannotOpen as fault:
        return unreadable(fault)
    head(place, partition, anatomy)
    if anatomy.grown_bytes:
        grown(anatomy)
    if not len(anatomy.batches):
        return no_batch(place, partition, anatomy)
    explore(place, anatomy, anatomies.facts(place.listed, partition, anatomy))


# ---- the page


def head(place: Place, partition: Partition, anatomy: Anatomy) -> None:
    """Which segment this is, how the batches are shaded, and the way to Lookup."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        parts.title(_title(partition, anatomy.segment), segment_words.lead(anatomy, partition.state), gap=0)
        if len(anatomy.batches):
            choice.adopt(state.SHADE, {one: one for one in segment_shade.SHADES})
            look = {"label_visibility": "collapsed", "format_func": lambda one: say(f"segment.shade_{one}")}
            st.segmented_control(say("segment.shade"), segment_shade.SHADES, key=state.SHADE, required=True, **look)
        if "Lookup" in pages() and len(anatomy.batches) and st.button(say("segment.look_up"), icon=":material/manage_search:"):
            offset = int(anatomy.batches["last_offset"][chosen(place, anatomy).row])
            st.switch_page(pages()["Lookup"].script, query_params={**place.address, "by": "offset", "target": str(offset)})


@st.fragment
def explore(place: Place, anatomy: Anatomy, groups: FactGroups) -> None:
    """The ruler, the facts, and the tables that follow the pin: only this part reruns when the pin moves."""
    if anatomies.is_lost(anatomy):
        st.rerun()
    tab = choice.adopt(state.TAB, tabs())
    with st.container(gap=24):
        left, right = st.columns(WIDTHS, gap=20)
        with left:
            ruler.ruler(drawn(place, anatomy))
        with right, st.container(key="kv_fig_facts"):
            segment_parts.facts(groups)
        tables(place, anatomy)
    shade = st.session_state[state.SHADE]
    address({state.TAB: None if tab == BATCHES else tab, state.SHADE: None if shade == segment_shade.PLAIN else shade})


def tabs() -> dict[str, str]:
    """The names of the tabs, by their words in the address."""
    names = {BATCHES: "segment.tab_batches", INDEX: "segment.tab_index", TIMES: "segment.tab_times", bytes_tab.TAB: "segment.tab_bytes"}
    return {word: say(key) for word, key in names.items()}


def drawn(place: Place, anatomy: Anatomy) -> bytes:
    """What the ruler is sent: the slice it asked for, around the offset that was asked for."""
    wanted = ruler.state("slice", anatomies.key(anatomy.segment))
    sought = asked(anatomy, wanted.get("offset") or st.query_params.get(state.PIN, ""))
    return anatomies.message(anatomy, sought, st.session_state[state.SHADE], centre_row(anatomy, wanted), place.address)


def asked(anatomy: Anatomy, offset: str) -> Asked:
    """The batch of an offset; without one that of the byte that a link led to, else a telling one."""
    byte = None if offset else bytes_tab.came(anatomies.key(anatomy.segment))
    return pin.at_byte(anatomy, *byte) if byte else pin.find(anatomy, offset)


def centre_row(anatomy: Anatomy, wanted: dict) -> int | None:
    """Around which row the ruler wants its slice; None: around the pin."""
    if "row" in wanted:
        return int(wanted["row"])
    return pin.row_at(anatomy, int(wanted["position"])) if "position" in wanted else None


def tables(place: Place, anatomy: Anatomy) -> None:
    """What is in the files around the pin."""
    around = chosen(place, anatomy)
    counts = len(anatomy.batches), len(anatomy.index.entries), len(anatomy.times.entries)
    parts.tab_counts(state.TAB, counts)
    batches, index, times, stored = st.tabs(list(tabs().values()), key=state.TAB, on_change="rerun")
    with batches:
        segment_parts.batches(segment_tables.batch_rows(anatomy, around))
        download(place, anatomy, "batches", counted("segment.download_batches", counts[0], n=units.group(counts[0])))
    with index:
        index_table(place, anatomy, around)
    with times:
        time_table(place, anatomy, around)
    if stored.open:
        with stored:
            bytes_tab.show(place, anatomy, around)


def chosen(place: Place, anatomy: Anatomy) -> Chosen:
    """The pin: what the reader chose in the ruler, else what the address names, else a telling batch."""
    picked = ruler.state("pin", anatomies.key(anatomy.segment))
    if picked:
        return segment_tables.chosen(anatomy, int(picked["row"]), int(picked["slot"]), int(picked["time"]))
    sought = asked(anatomy, st.query_params.get(state.PIN, ""))
    shown = pin.telling(anatomy) if sought.row is None else sought
    return segment_tables.chosen(anatomy, shown.row, shown.slot, shown.time)


def index_table(place: Place, anatomy: Anatomy, around: Chosen) -> None:
    """The .index around the slot that goes with the pin."""
    if has_entries(anatomy, "index", anatomy.index, segment_words.no_entry):
        segment_parts.index(segment_tables.index_rows(anatomy, around))
        download(place, anatomy, "index", _entries(len(anatomy.index.entries)))


def time_table(place: Place, anatomy: Anatomy, around: Chosen) -> None:
    """The .timeindex around the slot that goes with the pin."""
    if has_entries(anatomy, "timeindex", anatomy.times, segment_words.no_time):
        segment_parts.time_index(segment_tables.time_rows(anatomy, around, segment_words.closing(anatomy)))
        download(place, anatomy, "timeindex", _entries(len(anatomy.times.entries)))


def has_entries(anatomy: Anatomy, kind: str, index: Index, why: Callable[[Anatomy], str]) -> bool:
    """Whether an index file has an entry to show; where it has none, or is not there, the tab says so, and why."""
    if getattr(anatomy.segment, kind) is None:
        with parts.state(f"no_{kind}", "warning", say("segment.no_file", file=f".{kind}"), say(f"segment.without_{kind}")):
            return False
    if not len(index.entries):
        with parts.empty(kind, say("segment.no_entry", file=f".{kind}"), why(anatomy)):
            return False
    return True


def _entries(count: int) -> str:
    return counted("segment.download_entries", count, n=units.group(count))


def download(place: Place, anatomy: Anatomy, table: str, label: str) -> None:
    """The whole of a table, made when it is asked for."""
    name = f"{units.legible(place.partition.directory)}-{anatomy.segment.name}-{table}.csv"
    data = lambda: segment_tables.csv(anatomy, table)  # noqa: E731 - the button calls it on click
    st.download_button(label, data, name, "text/csv", on_click="ignore", type="tertiary", icon=":material/download:", key=f"kv_csv_{table}")


# ---- what stands here when there is nothing to draw


def not_there(place: Place, partition: Partition) -> None:
    """No such segment: those that there are."""
    if not partition.segments:
        return without_segment(place, partition)
    asked = st.query_params.get(state.SEGMENT, "")
    _bare_title(partition)
    found = list({one.base_offset: one for one in reversed(partition.segments) if one.log}.values())
    why = counted("segment.not_there_why", len(found), n=units.group(len(found)), name=units.legible(partition.label))
    with parts.state("not_there", "info", say("segment.not_there", asked=asked), why), st.container(gap=0):
        for one in nearest(found, state.number(asked)):
            told = {"size": units.size(one.log.size_bytes), "state": say(f"common.kind_{one.state}")}
            label = say("segment.offered", name=f"`{one.name}`", **told)
            if st.button(label, icon=":material/straighten:", type="tertiary", key=f"kv_to_{one.name}"):
                st.switch_page("pages/segment.py", query_params=state.address(place.directory, partition.directory, one.base_offset))


def without_segment(place: Place, partition: Partition) -> None:
    """A directory without a file of any segment; what else lies there has bytes too."""
    _bare_title(partition)
    with parts.empty("segment", say("segment.no_segment"), say("segment.no_segment_why")):
        _to_broker(place)
    bytes_below(place)


def nearest(found: list[Segment], offset: int | None) -> list[Segment]:
    """At most twelve segments, those whose base offsets lie closest to the one asked for."""
    close = sorted(found, key=lambda one: abs(one.base_offset - (offset or 0)))[:LISTED]
    return sorted(close, key=lambda one: one.base_offset)


def without_log(place: Place) -> None:
    """Index files whose log is gone."""
    _bare_title(place.partition, place.segment)
    names = ", ".join(one.path.name for one in place.segment.files)
    with parts.state("no_log", "warning", say("segment.no_log"), say("segment.no_log_why", names=names)):
        _to_broker(place)
    bytes_below(place)


def unreadable(fault: CannotOpen) -> None:
    """A file that may not be read, or went while it was looked at."""
    _bare_title(None)
    gone = fault.kind == "missing"
    why = say("segment.gone_why") if gone else say("segment.unreadable_why", what=fault_words.what(fault.what))
    finding = say("segment.gone" if gone else "segment.unreadable", name=fault.path.name)
    with parts.state("unreadable", "info" if gone else "lock" if fault.kind == "permission" else "error", finding, why):
        st.button(say("common.try_again"), key="kv_again")


def grown(anatomy: Anatomy) -> None:
    """A broker was writing while the file was read."""
    before, after = (units.group(one) for one in anatomy.grown_bytes)
    finding = say("segment.grown", name=anatomy.segment.log.path.name)
    with parts.state("grown", "warning", finding, say("segment.grown_why", before=before, after=after)):
        st.button(say("segment.read_again"), key="kv_read_again", on_click=anatomies.forget)
    st.space(16)


def no_batch(place: Place, partition: Partition, anatomy: Anatomy) -> None:
    """A log that is empty, or holds less than one batch."""
    left, right = st.columns(WIDTHS, gap=20)
    with left, parts.empty("segment", *segment_words.nothing(anatomy)):
        _to_broker(place)
    with right, st.container(key="kv_fig_facts"):
        segment_parts.facts(anatomies.facts(place.listed, partition, anatomy))
    bytes_below(place)


@st.fragment
def bytes_below(place: Place) -> None:
    """The bytes of what is there, below the sentence that says what is not."""
    st.space(24)
    parts.heading(say("segment.bytes_heading"))
    bytes_tab.alone(place)


def _bare_title(partition: Partition | None, segment: Segment | None = None) -> None:
    parts.title(_title(partition, segment))


def _title(partition: Partition | None, segment: Segment | None) -> str:
    """The name of the topic-partition, and where the segment starts, as HTML."""
    name = units.legible(partition.label) if partition else parts.page_name("Segment")
    base = say("segment.from_offset", offset=units.group(segment.base_offset)) if segment else ""
    return f'{escape(name)} <span class="kv-fnt" style="font-weight:500">{escape(base)}</span>' if base else escape(name)


def _to_broker(place: Place) -> None:
    st.page_link("app.py", label=say("common.show_broker"), icon=":material/dns:", query_params=state.address(place.directory))


main()
