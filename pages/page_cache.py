"""Page cache: which pages of an index a search touches while it grows, which had gone cold, and what other searches would cost."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_bars, fault_words, layout_bars, page_faults, tail_pages
from kafkaviz.figures.page_faults import PLAIN, WARM
from kafkaviz.search import exercise, layouts
from kafkaviz.search.exercise import BASE, NO_ANSWER, RIGHT, Checked, NoRule
from kafkaviz.search.pages import Growth, Memory, Readers, Replay, Stretch
from kafkaviz.ui import choice, parts, rules, state
from kafkaviz.ui import page_caches as lab
from kafkaviz.ui.charts import mode
from kafkaviz.ui.frame import frame
from kafkaviz.ui.page_caches import PRACTICE, Settings
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import counted, say

HALF = (0.5, 0.5)
KEY = ("touched", "fault", "end")
FIRST_N, LAST_N, DEFAULT_N = 6145, 7168, 6901
WRONG_SHOWN = 8
PAGE_COLUMNS = ("page", "lookups_plain", "faults_plain", "lookups_warm", "faults_warm")  # of files, here and below
READERS = ("by_laggards", "tail_plain", "tail_warm", "laggards_plain", "laggards_warm")
PROBE_COLUMNS = ("search", "probe", "slot", "page")
LAYOUT_COLUMNS = ("way", "probes", "most_probes", "pages", "most_pages", "tail_probes_pages", "heap", "note")
TARGET_COLUMNS = ("target", "which_is", "lookup_gives", "rule", "the_ceiling")


def main() -> None:
    """The page."""
    place = frame("Page cache")
    printed()
    parts.title(say("page_cache.title"), say("page_cache.lead"), gap=16)
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
    with left, st.container(gap=None):
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
        cold = slider(first[0], "cold", state.COLD, lab.COLD, "16 MB", help=say("page_cache.cold_about"))
        entries = slider(first[1], "grow", state.GROW, lab.GROW, "40 pages", lab.pages_words, disabled=not is_made)
        gap = slider(first[2], "gap", state.GAP, lab.GAP, "4608 B", disabled=not is_made)
        page_bytes = slider(second[0], "page_size", state.PAGE_SIZE, lab.PAGE_SIZE, "4 KiB")
        warm_bytes = slider(second[1], "section", state.SECTION, lab.SECTION, "8 KiB", lab.or_none)
        share = slider(second[2], "laggards", state.LAGGARDS, lab.LAGGARDS, "none", lab.or_none)
        around, every, entry_bytes, lag, seed, chosen = more(place)
    key, offsets, clock = real(place, chosen)
    if clock is not None:
        entries, gap, entry_bytes = len(clock), max(1, int(clock[-1]) // len(clock)) if len(clock) else 1, 8
        words = say("page_cache.real", name=chosen, entries=units.group(entries), gap=units.group(gap))
        st.html(f'<p class="kv-sm kv-fnt" style="margin-top:10px">{parts.escape(words)}</p>')
    readers = Readers(share, *lag, every, seed)
    return Settings(Growth(entries, gap, entry_bytes), Memory(page_bytes, cold, around), readers, warm_bytes, key), offsets, clock


def index_asked(place: Place) -> str:
    """The index that the control or the address names, before the control is drawn."""
    said = st.session_state.get(state.INDEX) or st.query_params.get(state.INDEX)
    return said if said in lab.indexes(place.broker) else PRACTICE


def slider(column, name: str, key: str, named: dict, default: str, says: Callable[[str], str] = str, **look: object):
    """A slider over names, the chosen one at the end of its label's line; what that stands for.

    name: of its label in the catalogue; says: what a choice is called.
    """
    with column:
        beside = st.empty()
        chosen = choice.ask(st.select_slider, say(f"page_cache.{name}"), named, default, key, says, **look)
        beside.html(f'<div class="kv-value{" asked" if "help" in look else ""}" aria-hidden="true">{parts.escape(says(chosen))}</div>')
    return named[chosen]


def more(place: Place) -> tuple:
    """What is seldom changed."""
    names = [PRACTICE, *lab.indexes(place.broker)]
    with st.expander(say("page_cache.more")):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        around = slider(first[0], "around", state.AROUND, lab.AROUND, "none", lab.or_none)
        every = slider(first[1], "every", state.EVERY, lab.EVERY, "each append", lab.every_words)
        lag = slider(first[2], "lag", state.LAG, lab.LAG, "anywhere", lab.lag_words)
        kinds = list(lab.ENTRY_SIZE)
        kind = choice.ask(second[0].selectbox, say("page_cache.kind"), kinds, kinds[0], state.ENTRY_SIZE, lab.kind_words)
        look = {"help": say("page_cache.index_about")}
        chosen = choice.ask(second[1].selectbox, say("page_cache.index"), names, PRACTICE, state.INDEX, lab.index_words, **look)
        seeds = (0, lab.LARGEST_SEED, lab.DEFAULT_SEED)
        seed = second[2].number_input(say("page_cache.seed"), *seeds, key=state.SEED, bind="query-params")
    return around, every, lab.ENTRY_SIZE[kind], lag, int(seed or 0), chosen


def real(place: Place, chosen: str) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The index that was chosen, if it is a real one and can be read."""
    segment = lab.indexes(place.broker).get(chosen)
    if segment is None:
        return "", None, None
    try:
        key = f"{place.listed.key} {chosen}"
        return key, *lab.read(key, segment)
    except KafkavizError as fault:
        unread = say("page_cache.unread", name=units.legible(chosen))
        with parts.state("unread", "warning", unread, say("page_cache.unread_below", fault=fault_words.told(fault))):
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
    st.html(f'<div style="margin-top:10px">{parts.key((one, say(f"page_cache.key_{one}")) for one in KEY)}</div>')
    st.space(12)
    with st.expander(counted("page_cache.pages_table", plain.pages, n=units.group(plain.pages))):
        table = pd.DataFrame(page_faults.rows(plain, warm), columns=[say(f"page_cache.{name}") for name in PAGE_COLUMNS])
        st.dataframe(table, hide_index=True, height=280, row_height=31, key="kv_pages_table")
        with st.container(horizontal=True):
            download(say("page_cache.pages_csv"), lambda: table.to_csv(index=False, header=PAGE_COLUMNS), "pages.csv", "kv_pages_csv")
            download(say("page_cache.plain_csv"), lambda: faults_csv(plain), "faults-plain.csv", "kv_faults_plain")
            download(say("page_cache.warm_csv"), lambda: faults_csv(warm), "faults-warm.csv", "kv_faults_warm")


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
        label = say("page_cache.entries", n=units.group(before + 1), page=page)
        entries = control.slider(label, FIRST_N, LAST_N, count, key=state.ENTRIES, bind="query-params")
        shown = tail_pages.view(entries)
        with head:
            parts.figure_head(shown.title, shown.below)
        chart(shown, tail_pages.figure, "kv_example", entries)
    with st.expander(say("page_cache.probes_table")):
        rows = tail_pages.rows(shown)
        table([say(f"page_cache.{name}") for name in PROBE_COLUMNS], rows, "lrrr")
        download(say("page_cache.csv"), lambda: csv_of(PROBE_COLUMNS, rows), "probes.csv", "kv_probes_csv")


def whole_number(key: str, least: int, most: int) -> int:
    """Where a slider begins; a number of the address that lies outside is passed over."""
    said = state.number(st.query_params.get(key))
    if key not in st.session_state and key in st.query_params and (said is None or not least <= said <= most):
        st.query_params.pop(key)
    return DEFAULT_N


def turnovers(wanted: Settings) -> None:
    """Faults a grown page, plain against warm, and the closed form."""
    growth, share = lab.long(wanted.growth), wanted.readers.laggard_share
    key = "page_cache.bars_laggards" if share else "page_cache.bars"
    span = {"first": units.group(growth.counted_from), "last": units.group(growth.entries), "gap": units.group(growth.gap_bytes)}
    below = say(key, share=f"{100 * share:g}", **span)
    with st.container(key="kv_fig_bars"):
        shown = fault_bars.view(lab.bars(wanted), wanted.memory.cold_after_bytes, below)
        drawn(shown, fault_bars.figure, "kv_bars", wanted)
    st.space(12)
    with st.expander(say("page_cache.bars_table")):
        rows = fault_bars.rows(shown)
        table([say(f"page_cache.{name}") for name in ("cold_after", "replayed", "formula", "warm")], rows, "lrrr")
        download(say("page_cache.csv"), lambda: csv_of(("cold_after", "plain", "closed_form", "warm"), rows), "turnover.csv", "kv_bars_csv")


def as_told() -> None:
    """What was published about pages 12 and 13, and what the code does."""
    parts.heading(say("page_cache.as_told"))
    st.space(8)
    head = "".join(f"<th>{parts.escape(say(f'page_cache.told_{name}'))}</th>" for name in ("entries", "told", "plain", "warm"))
    parts.table(head, map(told_row, lab.stretches()))
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{parts.escape(say("page_cache.told"))}</p>')


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
    aside = say("page_cache.protected_below", cold=fault_bars.name(wanted.memory.cold_after_bytes))
    parts.heading(say("page_cache.protected"), aside)
    st.space(8)
    heads = [say(f"page_cache.{name}") for name in READERS]
    cells = [(lab.or_none(one.name), *map(rate, (one.plain_tail, one.warm_tail, one.plain_laggard, one.warm_laggard))) for one in rows]
    mine = next((place for place, share in enumerate(lab.LAGGARDS.values()) if share == wanted.readers.laggard_share), None)
    table(heads, cells, "lrrrr", mine)
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{parts.escape(say("page_cache.protected_why"))}</p>')
    download(say("page_cache.csv"), lambda: csv_of(READERS, cells), "protected.csv", "kv_protected_csv")


def rate(faults: float | None) -> str:
    """Faults per 1000 lookups."""
    return units.MISSING if faults is None else "0" if not faults else f"{faults:.2f}" if faults < 10 else units.group(round(faults))


# ---- what if


@st.fragment
def what_if(key: str, offsets: np.ndarray | None) -> None:
    """Other ways to search an index, in both currencies."""
    parts.heading(say("page_cache.what_if"), say("page_cache.what_if_below"))
    patterns = [*lab.PATTERNS, *([lab.OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    look = {"required": True, "label_visibility": "collapsed"}
    says = lab.pattern_words
    pattern = choice.ask(st.segmented_control, say("page_cache.keys"), patterns, patterns[0], state.PATTERN, says, **look)
    keys = offsets if pattern == lab.OPEN_INDEX else None
    shown = layout_bars.view(*lab.compared(pattern, key if keys is not None else "", keys), lab.workload_words(pattern))
    with st.container(key="kv_fig_layouts"):
        drawn(shown, layout_bars.figure, "kv_layouts", (pattern, key))
    told = ("way", "probes", "at_most", "pages", "at_most", "at_the_tail", "in_the_heap")
    heads = [*(say(f"page_cache.{name}") for name in told), ""]
    with st.expander(say("page_cache.as_table")):
        rows = layout_bars.rows(shown)
        table(heads, rows, "lrrrrrrl", shown.kafkas)
        download(say("page_cache.csv"), lambda: csv_of(LAYOUT_COLUMNS, rows), "layouts.csv", "kv_layouts_csv")


# ---- the exercise


@st.fragment
def ceiling() -> None:
    """A reader's rule for the ceiling, tried on every slot."""
    parts.heading(say("page_cache.ceiling"), say("page_cache.ceiling_below"))
    words = say("page_cache.ceiling_words", grammar=rules.grammar())
    st.html(f'<p style="color:var(--kv-ink-2);margin:4px 0 12px;max-width:118ch">{parts.escape(words)}</p>')
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_rule"):
        written = st.text_input(say("page_cache.rule"), "slot + 1", key=state.RULE, bind="query-params", max_chars=exercise.LONGEST)
        tries = list(lab.TRIED)
        look = {"says": lab.tried_words, "required": True}
        on = choice.ask(st.segmented_control, say("page_cache.tried_on"), tries, tries[0], state.TRIED_ON, **look)
    try:
        verdict(lab.tried(written or "", on), on)
    except NoRule as fault:
        with parts.state("no_rule", "info", say("page_cache.no_rule"), say("page_cache.no_rule_at", where=rules.fault(fault))):
            pass
    popular(on)


def verdict(checked: Checked, on: str) -> None:
    """Right, or wrong where."""
    tried, wrong = units.group(len(checked.cases)), units.group(len(checked.wrong))
    if checked.is_right:
        mark, found, why = "ok", say("page_cache.right"), say("page_cache.right_why", n=tried)
    else:
        mark, found = "error", say("page_cache.wrong", wrong=wrong, n=tried)
        why = say("page_cache.wrong_why", n=tried, failing=failing(checked))
    with parts.state("verdict", mark, found, why):
        pass
    targets(checked, on)


def targets(checked: Checked, on: str) -> None:
    """Every target of a small index, of a large one some of each kind."""
    shown = checked.cases if len(checked.cases) <= 2 * WRONG_SHOWN else first_of_each(checked)
    heads = [say(f"page_cache.{name}") for name in TARGET_COLUMNS]
    cells = [(units.group(one.target), rules.kind(one.kind), *map(slot, answers(one)), one.is_right) for one in shown]
    key, keys = "page_cache.targets_many", units.group(checked.entries)
    if checked.entries < 10:
        key, keys = "page_cache.targets", ", ".join(map(units.group, lab.tried_keys(on).tolist()))
    head = say(key, shown=units.group(len(cells)), n=units.group(len(checked.cases)), keys=keys)
    with st.expander(head, expanded=not checked.is_right):
        table([*heads, ""], [(*row, "✓" if right else "✗") for *row, right in cells], "rlrrrl")
        download(say("page_cache.targets_csv"), lambda: csv_of(TARGET_COLUMNS, rows_of(checked)), "ceiling.csv", "kv_ceiling_csv")


def answers(of: exercise.Case) -> tuple[int, int, int]:
    """What lookup gave, the rule, and what is right."""
    return of.floor_slot, of.answered, of.ceiling


def rows_of(checked: Checked) -> Iterable[tuple]:
    """Every case."""
    return ((one.target, rules.kind(one.kind), one.floor_slot, slot(one.answered), one.ceiling) for one in checked.cases)


def first_of_each(checked: Checked) -> list[exercise.Case]:
    """A few wrong ones of each kind, else a right one."""
    found = []
    for kind in exercise.KINDS:
        of_kind = [one for one in checked.cases if one.kind == kind]
        found += [one for one in of_kind if not one.is_right][: WRONG_SHOWN // 2] or of_kind[:1]
    return found


def failing(checked: Checked) -> str:
    """Where a rule fails, in words."""
    return say("page_cache.fails", kinds=rules.failing(checked))


def slot(answered: int) -> str:
    """An answer in words."""
    named = {-1: "no_slot", BASE: "base", NO_ANSWER: "no_answer"}.get(answered, "slot_n")
    return say(f"page_cache.{named}", n=units.group(answered))


def popular(on: str) -> None:
    """The two answers that are given most often, a right one, and Kafka's own."""
    rows = []
    for name, rule in rules.popular().items():
        checked = lab.tried(rule, on)
        wrong = say("page_cache.wrong_of", wrong=units.group(len(checked.wrong)), n=units.group(len(checked.cases)))
        rows.append((name, rule, wrong, failing(checked)))
    table([say(f"page_cache.{name}") for name in ("often", "as_rule", "wrong_n", "where")], rows, "lcrw")
    with st.expander(say("page_cache.right_rule")):
        st.code(RIGHT, language=None)
        st.markdown(say("page_cache.kafkas_own", target=exercise.kafkas_own(exercise.ARTICLE)[0]))


# ---- small parts


def drawn(shown, draw, key: str, of: object) -> None:
    """A figure under its title."""
    parts.figure_head(shown.title, shown.below)
    chart(shown, draw, key, of)


def chart(shown, draw, key: str, of: object) -> None:
    """A view as a Plotly figure in our own look; of: what tells this view from others of the same figure."""
    alt, look = say("common.titled", title=shown.title, below=shown.below), {"theme": None, "config": {"displayModeBar": False}}
    st.plotly_chart(lab.figure(f"{key} {of}", mode(), draw, shown), key=key, alt=alt, **look)


main()
