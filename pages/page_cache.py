"""Page cache: which pages of an index a search touches while it grows, which had gone cold, and what other searches would cost."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_bars, layout_bars, page_faults, tail_pages
from kafkaviz.figures.page_faults import PLAIN, WARM
from kafkaviz.search import exercise, layouts
from kafkaviz.search.exercise import BASE, NO_ANSWER, POPULAR, RIGHT, Checked, NoRule
from kafkaviz.search.pages import Growth, Memory, Readers, Replay, Stretch
from kafkaviz.ui import page_caches as lab
from kafkaviz.ui import parts, state
from kafkaviz.ui.frame import frame
from kafkaviz.ui.page_caches import PRACTICE, Settings
from kafkaviz.ui.pick import Place
from kafkaviz.ui.tables import csv_of, download, mode, table

LEAD = "A reader at the tail looks its offset up after every append. Which pages of the index does that touch, and which had gone cold?"
HALF = (0.5, 0.5)
KEY = (("touched", "page touched by the lookup"), ("fault", "touched after going cold: a fault"), ("end", "end of the index"))
FIRST_N, LAST_N, DEFAULT_N = 6145, 7168, 6901
WRONG_SHOWN, FAULTS_SHOWN = 8, 2000
TURNS_OVER = """
All that is read and written fills the page cache; a page that nobody touches leaves it once as much came in as it holds. 64 GB filled
at 300 MB/s are turned over in 213 s: a log of 75 kB/s writes 16 MB meanwhile.
"""
TOLD = (
    "The published page sets hold for part of the way only, and the page that comes back does not come back at once. "
    "The conclusion stands: tail readers meet cold pages with plain bisection and none with the warm section."
)


def main() -> None:
    """The page."""
    place = frame("Page cache")
    parts.title("Page cache", LEAD, gap=16)
    whole(place)


@st.fragment
def whole(place: Place) -> None:
    """All of it: a slider redraws this, not the frame around it."""
    with st.container(gap=None, key="kv_lab"):
        sections(place)


def sections(place: Place) -> None:
    """From the growth to the exercise."""
    wanted, offsets, clock = settings(place)
    growing(wanted, clock)
    st.space(32)
    example()
    st.space(32)
    left, right = st.columns(HALF, gap=20)
    with left:
        turnovers(wanted)
    with right, st.container(gap=None):
        as_told()
    st.space(32)
    who_is_protected(wanted)
    st.space(32)
    what_if(wanted.key, offsets)
    st.space(32)
    ceiling()


# ---- settings


def settings(place: Place) -> tuple[Settings, np.ndarray | None, np.ndarray | None]:
    """The sliders; of a real index its offsets and its positions too."""
    is_made = index_asked(place) == PRACTICE
    with st.container(key="kv_set"):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        cold = choice(first[0], "A page goes cold after this much own log", state.COLD, lab.COLD, "16 MB", TURNS_OVER)
        entries = choice(first[1], "Grow the index to, pages of 4 KiB", state.GROW, lab.GROW, "40 pages", is_free=is_made)
        gap = choice(first[2], "Log bytes an entry covers", state.GAP, lab.GAP, "4608 B", is_free=is_made)
        page_bytes = choice(second[0], "Bytes of a page of memory", state.PAGE_SIZE, lab.PAGE_SIZE, "4 KiB")
        warm_bytes = choice(second[1], "Bytes of the warm section", state.SECTION, lab.SECTION, "8 KiB")
        share = choice(second[2], "Lookups by readers that lag", state.LAGGARDS, lab.LAGGARDS, "none")
        around, every, entry_bytes, lag, seed, chosen = more(place)
    key, offsets, clock = real(place, chosen)
    if clock is not None:
        entries, gap, entry_bytes = len(clock), max(1, int(clock[-1]) // len(clock)) if len(clock) else 1, 8
        words = f"{chosen}: {units.group(entries)} entries as they lie there, {units.group(gap)} B of log apart on average."
        st.html(f'<p class="kv-sm kv-fnt" style="margin-top:10px">{parts.escape(words)}</p>')
    readers = Readers(share, *lag, every, seed)
    return Settings(Growth(entries, gap, entry_bytes), Memory(page_bytes, cold, around), readers, warm_bytes, key), offsets, clock


def index_asked(place: Place) -> str:
    """The index that the control or the address names, before the control is drawn."""
    said = st.session_state.get(state.INDEX) or st.query_params.get(state.INDEX)
    return said if said in lab.indexes(place.broker) else PRACTICE


def choice(column, label: str, key: str, choices: dict, default: str, about: str | None = None, is_free: bool = True):
    """A slider over names; what the name stands for. is_free: False where something else decides."""
    adopt(key, list(choices))
    name = column.select_slider(label, list(choices), value=default, key=key, bind="query-params", help=about, disabled=not is_free)
    return choices[name]


def adopt(key: str, choices: list[str]) -> None:
    """An address may say anything: what is no choice is passed over."""
    if st.session_state.get(key, choices[0]) not in choices:
        del st.session_state[key]
    if key not in st.session_state and st.query_params.get(key, choices[0]) not in choices:
        st.query_params.pop(key)


def more(place: Place) -> tuple:
    """What is seldom changed."""
    names = [PRACTICE, *lab.indexes(place.broker)]
    with st.expander("Index, read-ahead, and how readers come"):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        around = choice(first[0], "The kernel reads around a fault", state.AROUND, lab.AROUND, "none")
        every = choice(first[1], "A lookup after", state.EVERY, lab.EVERY, "each append")
        lag = choice(first[2], "Laggards read this far back", state.LAG, lab.LAG, "anywhere")
        adopt(state.ENTRY_SIZE, list(lab.ENTRY_SIZE))
        kind = second[0].selectbox("Kind of index", list(lab.ENTRY_SIZE), key=state.ENTRY_SIZE, bind="query-params")
        adopt(state.INDEX, names)
        about = "The largest segment of a topic-partition: as many entries, and as far apart, as they lie there"
        chosen = second[1].selectbox("An index to grow", names, key=state.INDEX, bind="query-params", help=about)
        seed = second[2].number_input("Seed of the laggards", 0, lab.LARGEST_SEED, lab.DEFAULT_SEED, key=state.SEED, bind="query-params")
    return around, every, lab.ENTRY_SIZE[kind or next(iter(lab.ENTRY_SIZE))], lag, int(seed or 0), chosen or PRACTICE


def real(place: Place, chosen: str) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The index that was chosen, if it is a real one and can be read."""
    segment = lab.indexes(place.broker).get(chosen)
    if segment is None:
        return "", None, None
    try:
        key = f"{place.listed.key} {chosen}"
        return key, *lab.read(key, segment)
    except KafkavizError as fault:
        with parts.state(
            "unread", "warning", f"The index of {units.legible(chosen)} cannot be read", f"{fault}. A practice log stands in."
        ):
            pass
        return "", None, None


# ---- the growth


def growing(wanted: Settings, clock: np.ndarray | None) -> None:
    """Both images, and what is in them as a table."""
    plain, warm = lab.images(wanted, clock)
    st.space(16)
    for column, replay, search in zip(st.columns(HALF, gap=20), (plain, warm), (PLAIN, WARM), strict=True):
        with column, st.container(key=f"kv_fig_{search}"):
            shown = page_faults.view(replay, search, wanted.warm_bytes)
            drawn(shown, page_faults.figure, f"kv_image_{search}", wanted)
    st.html(f'<div style="margin-top:10px">{parts.key(KEY)}</div>')
    st.space(12)
    with st.expander(f"{units.group(plain.pages)} page{'' if plain.pages == 1 else 's'} as a table"):
        names = ("Page", "Lookups, plain", "Faults, plain", "Lookups, warm first", "Faults, warm first")
        table = pd.DataFrame(page_faults.rows(plain, warm), columns=names)
        st.dataframe(table, hide_index=True, height=280, row_height=31, key="kv_pages_table")
        with st.container(horizontal=True):
            download("Download pages as CSV", lambda: table.to_csv(index=False), "pages.csv", "kv_pages_csv")
            download("Download the faults, plain", lambda: faults_csv(plain), "faults-plain.csv", "kv_faults_plain")
            download("Download the faults, warm first", lambda: faults_csv(warm), "faults-warm.csv", "kv_faults_warm")


def faults_csv(replay: Replay) -> str:
    """Each fault: when the index had how many entries, which page, idle for how many bytes of log, whose lookup."""
    found = replay.first_faults.tolist()
    return csv_of(("entries", "page", "idle_bytes", "reader"), ((*one[:3], "laggard" if one[3] else "tail") for one in found))


@st.fragment
def example() -> None:
    """The 13th and 14th page of KAFKA-6432, entry by entry."""
    with st.container(key="kv_fig_example"):
        head, control = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
        count = whole_number(state.ENTRIES, FIRST_N, LAST_N)
        now = int(st.session_state.get(state.ENTRIES) or state.number(st.query_params.get(state.ENTRIES)) or count)
        page, before = divmod(now - 1, layouts.A_PAGE)
        label = f"Entries, {units.group(before + 1)} of them in page {page}"
        entries = control.slider(label, FIRST_N, LAST_N, count, key=state.ENTRIES, bind="query-params")
        shown = tail_pages.view(entries)
        with head:
            parts.figure_head(shown.title, shown.below)
        chart(shown, tail_pages.figure, "kv_example", entries)
    with st.expander("Every probe as a table"):
        table(("Search", "Probe", "Slot", "Page"), tail_pages.rows(shown), "lrrr")


def whole_number(key: str, least: int, most: int) -> int:
    """Where a slider begins; a number of the address that lies outside is passed over."""
    said = state.number(st.query_params.get(key))
    if key not in st.session_state and key in st.query_params and (said is None or not least <= said <= most):
        st.query_params.pop(key)
    return DEFAULT_N


def turnovers(wanted: Settings) -> None:
    """Faults a grown page, plain against warm, and the closed form."""
    growth, share = lab.long(wanted.growth), wanted.readers.laggard_share
    who = "tail reader" if not share else f"tail reader and {100 * share:g} % laggards"
    span = f"{units.group(growth.counted_from)} to {units.group(growth.entries)} entries"
    below = f"Cold faults per grown index page, {who}, {span}, an entry every {units.group(growth.gap_bytes)} B"
    with st.container(key="kv_fig_bars"):
        shown = fault_bars.view(lab.bars(wanted), wanted.memory.cold_after_bytes, below)
        drawn(shown, fault_bars.figure, "kv_bars", wanted)
    st.space(12)
    with st.expander("As a table, beside the closed form"):
        rows = fault_bars.rows(shown)
        table(("Cold after", "Plain, replayed", "Plain, closed form", "Warm section"), rows, "lrrr")
        download("Download as CSV", lambda: csv_of(("cold_after", "plain", "closed_form", "warm"), rows), "turnover.csv", "kv_bars_csv")


def as_told() -> None:
    """What was published about pages 12 and 13, and what the code does."""
    parts.heading("KAFKA-6432, as told and as it is")
    st.space(8)
    head = "".join(f"<th>{name}</th>" for name in ("Entries", "As told", "Plain, as it is", "Warm"))
    parts.table(head, map(told_row, lab.stretches()))
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{parts.escape(TOLD)}</p>')


def told_row(one: Stretch) -> str:
    """A stretch of sizes; what was published is struck out where it is not so."""
    sizes = units.group(one.first) if one.first == one.last else f"{units.group(one.first)}–{units.group(one.last)}"
    told, plain, warm = (" ".join(map(str, pages or ())) for pages in (one.told, one.plain, one.warm))
    said = parts.mono(told) if one.as_told else f'<s class="kv-fnt">{parts.mono(told)}</s>'
    mark = "&ensp;✓" if one.as_told else ""
    return f"<tr><td>{sizes}</td><td>{said}</td><td><b>{parts.mono(plain)}</b>{mark}</td><td>{parts.mono(warm)}</td></tr>"


def who_is_protected(wanted: Settings) -> None:
    """Faults of each kind of reader, by how many of them lag."""
    rows = lab.protected(wanted)
    aside = f"faults per 1000 lookups of each kind, pages cold after {fault_bars.name(wanted.memory.cold_after_bytes)}"
    parts.heading("Who is protected?", aside)
    st.space(8)
    heads = ("Lookups by laggards", "Tail, plain", "Tail, warm first", "Laggards, plain", "Laggards, warm first")
    cells = [(one.name, *map(rate, (one.plain_tail, one.warm_tail, one.plain_laggard, one.warm_laggard))) for one in rows]
    mine = next((place for place, share in enumerate(lab.LAGGARDS.values()) if share == wanted.readers.laggard_share), None)
    table(heads, cells, "lrrrr", mine)
    words = (
        "The section keeps readers at the tail from cold pages. Laggards as a rule meet some more instead, "
        "because nobody else keeps the middle pages warm for them."
    )
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{words}</p>')
    download("Download as CSV", lambda: csv_of(heads, cells), "protected.csv", "kv_protected_csv")


def rate(faults: float | None) -> str:
    """Faults per 1000 lookups."""
    return units.MISSING if faults is None else "0" if not faults else f"{faults:.2f}" if faults < 10 else units.group(round(faults))


# ---- what if


@st.fragment
def what_if(key: str, offsets: np.ndarray | None) -> None:
    """Other ways to search an index, in both currencies."""
    parts.heading("What if Kafka used…", "another search, or another layout of the same keys")
    patterns = [*lab.PATTERNS, *([lab.OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    adopt(state.PATTERN, patterns)
    look = {"default": patterns[0], "required": True, "bind": "query-params", "label_visibility": "collapsed"}
    pattern = st.segmented_control("Keys", patterns, key=state.PATTERN, **look) or patterns[0]
    keys = offsets if pattern == lab.OPEN_INDEX else None
    shown = layout_bars.view(*lab.compared(pattern, key if keys is not None else "", keys), lab.workload_words(pattern))
    with st.container(key="kv_fig_layouts"):
        drawn(shown, layout_bars.figure, "kv_layouts", (pattern, key))
    heads = ("Search or layout", "Probes", "at most", "Pages", "at most", "At the tail", "In the heap", "")
    with st.expander("As a table"):
        rows = layout_bars.rows(shown)
        table(heads, rows, "lrrrrrrl", shown.kafkas)
        names = ("way", "probes", "most_probes", "pages", "most_pages", "tail_probes_pages", "heap", "note")
        download("Download as CSV", lambda: csv_of(names, rows), "layouts.csv", "kv_layouts_csv")


# ---- the exercise


@st.fragment
def ceiling() -> None:
    """A reader's rule for the ceiling, tried on every slot."""
    parts.heading("Your turn: the ceiling", "the smallest slot whose key is not below the target")
    words = (
        "Kafka's lookup gives the floor: the greatest slot whose key is not above the target, or −1. "
        f"Say what the ceiling is, from what it gave. Words of a rule: {exercise.GRAMMAR}."
    )
    st.html(f'<p style="color:var(--kv-ink-2);margin:4px 0 12px;max-width:118ch">{parts.escape(words)}</p>')
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_rule"):
        written = st.text_input("Your rule", "slot + 1", key=state.RULE, bind="query-params", max_chars=exercise.LONGEST)
        adopt(state.TRIED_ON, list(lab.TRIED))
        look = {"default": next(iter(lab.TRIED)), "required": True, "bind": "query-params"}
        on = st.segmented_control("Tried on", list(lab.TRIED), key=state.TRIED_ON, **look) or next(iter(lab.TRIED))
    try:
        verdict(lab.tried(written or "", on), on)
    except NoRule as fault:
        with parts.state("no_rule", "info", "This is no rule yet", f"At {fault}."):
            pass
    popular(on)


def verdict(checked: Checked, on: str) -> None:
    """Right, or wrong where."""
    tried, wrong = len(checked.cases), len(checked.wrong)
    if checked.is_right:
        why = f"{units.group(tried)} targets, at, below and above every key, and an index without an entry: all as a linear scan finds."
        with parts.state("verdict", "ok", "Right for every slot", why):
            pass
    else:
        why = f"Of {units.group(tried)} targets, at, below and above every key: {failing(checked)}."
        with parts.state("verdict", "error", f"Wrong for {units.group(wrong)} of {units.group(tried)} targets", why):
            pass
    shown = checked.cases if tried <= 2 * WRONG_SHOWN else first_of_each(checked)
    heads = ("Target", "which is", "lookup gives", "Your rule", "Ceiling", "")
    cells = [
        (units.group(one.target), one.kind, slot(one.floor_slot), slot(one.answered), slot(one.ceiling), one.is_right) for one in shown
    ]
    keys = ", ".join(map(units.group, lab.tried_keys(on).tolist())) if checked.entries < 10 else f"{units.group(checked.entries)} keys"
    with st.expander(f"{units.group(len(cells))} of {units.group(tried)} targets, keys {keys}", expanded=not checked.is_right):
        table(heads, [(*row, "✓" if right else "✗") for *row, right in cells], "rlrrrl")
        download("Download every target as CSV", lambda: csv_of(heads[:5], rows_of(checked)), "ceiling.csv", "kv_ceiling_csv")


def rows_of(checked: Checked) -> Iterable[tuple]:
    """Every case."""
    return ((one.target, one.kind, one.floor_slot, slot(one.answered), one.ceiling) for one in checked.cases)


def first_of_each(checked: Checked) -> list[exercise.Case]:
    """A few wrong ones of each kind, else a right one."""
    found = []
    for kind in exercise.KINDS:
        of_kind = [one for one in checked.cases if one.kind == kind]
        found += [one for one in of_kind if not one.is_right][: WRONG_SHOWN // 2] or of_kind[:1]
    return found


def failing(checked: Checked) -> str:
    """Where a rule fails, in words."""
    counts = {kind: checked.counts(kind) for kind in exercise.KINDS}
    told = [
        f"{units.group(wrong)} of {units.group(count)} that are {kind}" for kind, (count, wrong) in counts.items() if wrong and count > 1
    ]
    told += [kind for kind, (count, wrong) in counts.items() if wrong and count == 1]
    return "it fails for " + ", ".join(told)


def slot(answered: int) -> str:
    """An answer in words."""
    named = {-1: "none", BASE: "base offset, position 0", NO_ANSWER: "key of no slot"}
    return named.get(answered, f"slot {units.group(answered)}")


def popular(on: str) -> None:
    """The two answers that are given most often, a right one, and Kafka's own."""
    rows = []
    for name, rule in POPULAR.items():
        checked = lab.tried(rule, on)
        rows.append((name, rule, f"{units.group(len(checked.wrong))} of {units.group(len(checked.cases))}", failing(checked)))
    table(("Often answered", "As a rule", "Wrong", "Where"), rows, "lcrw")
    with st.expander("A right rule, and Kafka's own"):
        st.code(RIGHT, language=None)
        first = exercise.kafkas_own(exercise.ARTICLE)[0]
        st.markdown(
            f"Kafka's own twin is `fetchUpperBoundOffset`. It passes over an exact match that it does not probe: of target {first}, the "
            "first key, it gives slot 1, not slot 0. That only makes a fetch reach a little further."
        )


# ---- small parts


def drawn(shown, draw, key: str, of: object) -> None:
    """A figure under its title."""
    parts.figure_head(shown.title, shown.below)
    chart(shown, draw, key, of)


def chart(shown, draw, key: str, of: object) -> None:
    """A view as a Plotly figure in our own look; of: what tells this view from others of the same figure."""
    alt, look = f"{shown.title}. {shown.below}", {"theme": None, "config": {"displayModeBar": False}}
    st.plotly_chart(lab.figure(f"{key} {of}", mode(), draw, shown), key=key, alt=alt, **look)


main()
