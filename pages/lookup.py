"""Lookup: follow one offset or one timestamp through the indexes to its record, step by step."""

import csv
import io
import json
import secrets
from collections.abc import Iterable, Sequence

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures import lookup_lanes, probe_histogram, stepper
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.lookup_words import count
from kafkaviz.figures.stepper import Made
from kafkaviz.search.bounds import ISOLATIONS, READ_UNCOMMITTED
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.lookup_object import as_object
from kafkaviz.search.profile import SearchProfile
from kafkaviz.ui import lookups, parts, pick, short, state
from kafkaviz.ui.components import stepper as components
from kafkaviz.ui.frame import frame
from kafkaviz.ui.lookups import OFFSET, OWN, PRACTICE, SETS, TARGETS, TIMESTAMP, VERSIONS, Source
from kafkaviz.ui.pick import Place

WIDTHS = (0.555, 0.445)
LABEL_CHARACTERS = 20
COUNTS = {"Probes": "probes", "Pages": "pages", "Headers": "headers"}
HELP = """
A lookup is a chain: **which segment**, then a binary search in its **index**, then **batch headers** in the `.log` from the byte that
the index gave, then **records**. Each dot in the bar is one step; `←` `→` go back and forward, `Home` `End` to the first and last,
`Space` plays.

Boxes are the slots of the index, hatched where they are out. The orange section is *warm*: its last entries, tried first from 2.1 on.
A page is 4 KiB of the index file; a probe needs its page in memory. Click a slot, or the strip of pages, to look up the key there.

Besides times, the log's start, its end and its largest timestamp can be asked for: *earliest*, *latest*, *max*. A *read_committed*
consumer gets no record of an aborted transaction, and none from the last stable offset on.
"""


def main() -> None:
    """The page, or the sentence that says why there is none."""
    place = frame("Lookup")
    has_log = place.segment is not None and place.segment.log is not None
    own = {OWN: parts.middle(units.legible(place.partition.directory), LABEL_CHARACTERS)} if has_log else {}
    sets = own | SETS
    wanted = short.adopt(state.SET, sets, OWN)
    if wanted == OWN or (not own and asks_for_place(place)):
        return of_place(place, sets)
    show(lookups.of_practice(wanted) if wanted in PRACTICE else typed(), sets, versions.NEWEST)


def asks_for_place(place: Place) -> bool:
    """Whether the address names a place that could not be opened, and no practice log."""
    return bool(place.fault or place.segment) and state.SET not in st.query_params


def of_place(place: Place, sets: dict[str, str]) -> None:
    """The open topic-partition."""
    segment = pick.segment(place)
    if segment.log is None:
        with parts.state("no_log", "warning", "There is no .log of this base offset", "Choose another segment above.", level=1):
            st.page_link("app.py", label="Show the broker", icon=":material/dns:", query_params=state.address(place.directory))
        return
    try:
        source = lookups.of_place(place)
    except KafkavizError as fault:
        return damaged(fault)
    show(source, sets, lookups.assumed(place).text, place)


def typed() -> Source:
    """The index whose keys somebody typed; where they are none, the last that were."""
    text = st.session_state.get(state.KEYS) or st.query_params.get(state.KEYS) or DEFAULT_KEYS
    try:
        return lookups.of_keys(lookups.parsed_keys(text))
    except ValueError:
        return lookups.of_keys(lookups.parsed_keys(DEFAULT_KEYS))


DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"


# ---- the page


def show(source: Source, sets: dict[str, str], assumed: str, place: Place | None = None) -> None:
    """Controls, stepper, comparison and distribution. assumed: the release that searches unless another is chosen."""
    head(source)
    by, of = controls(source, sets, assumed)
    isolation = st.session_state.get(state.ISOLATION) or READ_UNCOMMITTED
    target = asked(source, by)
    if target is None:
        return
    try:
        found = lookups.made(source, by, target, of, isolation)
    except KafkavizError as fault:
        return damaged(fault)
    key = f"{source.key}|{by}|{target}|{of}|{isolation}"
    shown = stepper.view(found)
    components.stepper(stepper.message(shown, found, key), lambda: take_slot(key, found, by))
    if place and found.found.record:
        onward(place, found)
    if found.found.searches:
        below(source, found, OFFSET if found.special else by, of, key)
    if by == TIMESTAMP and not found.special:
        why(source, found, of)
    table(shown, found)


def head(source: Source) -> None:
    """Which index this is."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        parts.title("Lookup", f"{source.title}. {source.note}".strip(), gap=0)
        with st.popover("How to read this", type="tertiary", icon=":material/help:", width="content"):
            st.markdown(HELP)


def controls(source: Source, sets: dict[str, str], assumed: str) -> tuple[str, SearchProfile]:
    """Offset or timestamp, which one, in what, as which release."""
    targets = {OFFSET: TARGETS[OFFSET]} if source.is_alone else TARGETS
    own = lookups.like(assumed)
    by = short.adopt(state.BY, targets, OFFSET)
    name = short.adopt(state.SET, sets, OWN)
    short.adopt(state.SEARCH, VERSIONS, own, lookups.like)
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl"):
        anew = {"required": True, "on_change": start_anew}
        st.segmented_control("Look up by", list(targets.values()), key=state.BY, **anew)
        fresh(source, by, name)
        st.text_input(label(source, by), key=state.TARGET, bind="query-params", width=172)
        st.segmented_control("Index", list(sets.values()), key=state.SET, **anew)
        about = f"The directory looks like Kafka {assumed}" if name == OWN else None
        st.selectbox("Search as in", list(VERSIONS.values()), key=state.SEARCH, width=172, help=about)
    short.tell(state.BY, targets, OFFSET)
    short.tell(state.SET, sets, OWN)
    version = short.tell(state.SEARCH, VERSIONS, own)
    warm_entries = second_row(source, by, name)
    st.space(16)
    if source.is_alone:
        wrong_keys()
    return by, lookups.release(assumed if version == own else version, warm_entries, by)


def adopt(name: str, choices: list[str]) -> None:
    """Takes a choice out of the address whatever its capitals: links write by=offset."""
    said = st.query_params.get(name, "")
    fitting = next((one for one in choices if one.lower() == said.lower()), None)
    if name not in st.session_state and fitting and fitting != said:
        st.query_params[name] = fitting
        st.rerun()
    elif st.session_state.get(name) not in (None, *choices):
        del st.session_state[name]


def label(source: Source, by: str) -> str:
    """What the field of the target takes."""
    if by == OFFSET:
        return f"Target offset, {units.group(source.first)} to {units.group(source.last)}"
    now = value(by)
    if now is None or lookups.named(now):
        return "Target, ms since 1970" if now is None else "Target, by its name"
    return f"Target, ms (UTC {units.clock(now)})"


def fresh(source: Source, by: str, name: str) -> None:
    """A target that was chosen for another index, or none, gives way to one worth a look."""
    chosen_for, now = st.session_state.get(state.ASKED), f"{name} {by}"
    begins = state.TARGET not in st.session_state and not st.query_params.get(state.TARGET)
    if begins or chosen_for not in (None, now):
        st.session_state[state.TARGET] = lookups.written(source.default(by), by)
    elif state.TARGET not in st.session_state:
        st.session_state[state.TARGET] = st.query_params[state.TARGET]
    st.session_state[state.ASKED] = now


def start_anew() -> None:
    """Another index, or another kind of target: the old target means nothing there."""
    st.session_state[state.ASKED] = ""


def value(by: str) -> int | None:
    """The target that the field holds; None for what is none."""
    try:
        return lookups.parsed(st.session_state.get(state.TARGET) or "", by)
    except (ValueError, OverflowError):
        return None


def second_row(source: Source, by: str, name: str) -> int:
    """A slider along all targets, one at random; the times with a name, the consumer; of a lesson how many entries are warm."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl2"):
        if source.is_alone:
            st.text_input("Keys of the index, in order", DEFAULT_KEYS, key=state.KEYS, bind="query-params", on_change=start_anew)
        span = source.span(by)
        if span:
            now = value(by)
            st.session_state[state.SLIDER] = min(max(span[0] if now is None else now, span[0]), span[1])
            st.slider("Target along the log", *span, key=state.SLIDER, label_visibility="collapsed", on_change=take_slider, args=(by,))
            st.button("Surprise me", icon=":material/casino:", type="tertiary", key="kv_random", on_click=take_random, args=(span, by))
        if by == TIMESTAMP:
            for named in ("earliest", "latest", "max"):
                st.button(named.capitalize(), type="tertiary", key=f"kv_{named}", on_click=take, args=(NAMES[named], by))
        if source.is_made:
            return warm_choice(name)
        adopt(state.ISOLATION, list(ISOLATIONS))
        st.selectbox("Consumer", list(ISOLATIONS), key=state.ISOLATION, bind="query-params", width=172)
        return lookups.KAFKAS_WARM


def wrong_keys() -> None:
    """What the field of the keys holds, where it holds none; the page then shows others."""
    try:
        lookups.parsed_keys(st.session_state.get(state.KEYS) or "")
    except ValueError as fault:
        with parts.state("keys", "info", str(fault), f"Shown are the keys {DEFAULT_KEYS} instead."):
            pass
        st.space(16)


def warm_choice(name: str) -> int:
    """How many entries are warm."""
    options = [str(one) for one in lookups.WARM_ENTRIES]
    usual = str(4 if name == "twenty" else lookups.KAFKAS_WARM)
    if st.session_state.get("kv_warm_of", name) != name:
        st.session_state.pop(state.WARM, None)
    st.session_state["kv_warm_of"] = name
    adopt(state.WARM, options)
    if state.WARM not in st.session_state:
        st.session_state[state.WARM] = usual
    return int(st.selectbox("Warm section, entries", options, key=state.WARM, bind="query-params", width=172) or usual)


def take(target: int, by: str) -> None:
    """Looks this up next."""
    st.session_state[state.TARGET] = lookups.written(target, by)


def take_slider(by: str) -> None:
    """The slider was moved."""
    take(st.session_state[state.SLIDER], by)


def take_random(span: tuple[int, int], by: str) -> None:
    """Any target."""
    take(span[0] + secrets.randbelow(span[1] - span[0] + 1), by)


def take_slot(key: str, found: Made, by: str) -> None:
    """A slot of the index was clicked: its key is the next target."""
    slot, segment = components.slot(key), lookups.chosen(found)
    if slot is None or segment is None:
        return
    is_time = by == TIMESTAMP
    entry = (segment.time_slots if is_time else segment.offset_slots)[slot]
    take(int(entry["timestamp_ms"]) if is_time else int(entry["relative_offset"]) + segment.base_offset, by)


def asked(source: Source, by: str) -> int | None:
    """The target; where the field holds none the page says so."""
    target = value(by)
    if target is None:
        shown = st.session_state.get(state.TARGET) or "Nothing"
        kind = "whole number" if by == OFFSET else "time: give milliseconds since 1970, 2026-11-21 09:29:44 in UTC, earliest, latest or max"
        why_not = "Choose another target in the field above, or take the one offered."
        with parts.state("target", "info", f"“{shown[:40]}” is no {kind}", why_not):
            st.button(f"Look up {lookups.written(source.default(by), by)}", key="kv_offer", on_click=start_anew)
    elif by == TIMESTAMP and (odd := units.other_unit(target)):
        finding = f"{target} makes sense in {odd.unit}, and Kafka counts in milliseconds"
        means = f"As it stands it means {units.moment(target)}; in {odd.unit} it would be {units.moment(odd.timestamp_ms)}."
        with parts.state("unit", "warning", finding, means):
            st.button(f"Use {odd.timestamp_ms} ms", key="kv_unit", on_click=take, args=(odd.timestamp_ms, by))
        st.space(16)
    return target


def damaged(fault: KafkavizError) -> None:
    """The way leads into bytes that cannot be read; or there is no way, whatever the bytes."""
    title, then = "This cannot be looked up", ""
    if isinstance(fault, CorruptFile):
        title, then = "The lookup ends in damaged bytes", " A broker would answer with an exception here."
    with parts.state("damaged", "error", title, f"{fault}.{then}"):
        st.button("Try again", key="kv_again")


# ---- below the stepper


def below(source: Source, found: Made, by: str, of: SearchProfile, key: str) -> None:
    """Plain beside warm, and where this target stands among all."""
    st.space(32)
    left, right = st.columns(WIDTHS, gap=24)
    with left:
        components.lanes(lookup_lanes.message(lookup_lanes.view(found), key))
    with right:
        spread(source, found, by, of)


@st.fragment
def spread(source: Source, found: Made, by: str, of: SearchProfile) -> None:
    """How many targets of this segment take as many probes, pages, headers."""
    adopt(state.COUNTED, list(COUNTS))
    look = {"default": "Probes", "required": True, "bind": "query-params", "label_visibility": "collapsed"}
    what = COUNTS[st.segmented_control("Count", list(COUNTS), key=state.COUNTED, **look) or "Probes"]
    mine = lookups.costs(source, found, by, of)
    if mine is None:
        return
    other = lookups.costs(source, found, by, lookups.other(of))
    shown = probe_histogram.view(mine, other, what, lookups.count_of(found, what), "millisecond" if by == TIMESTAMP else "offset")
    parts.figure_head(shown.title, shown.below)
    mode = st.context.theme.type or "light"
    options = {"theme": None, "config": {"displayModeBar": False}, "key": "kv_spread"}
    st.plotly_chart(probe_histogram.figure(shown, mode), alt=f"{shown.title}. {shown.below}", **options)
    with st.expander("As a table"):
        rows_of((what.capitalize(), "Share of targets", "The other search"), probe_histogram.rows(shown), "r")


def why(source: Source, found: Made, of: SearchProfile) -> None:
    """The whole partition, and where the target meets it."""
    shown = lookups.why(source, found, of)
    st.space(32)
    parts.heading("Why this offset?")
    st.space(10)
    with st.container(key="kv_fig_why"):
        parts.figure_head(shown.title, shown.below)
        chart = why_figure.figure(shown, st.context.theme.type or "light")
        st.plotly_chart(chart, theme=None, config={"displayModeBar": False}, key="kv_why", alt=f"{shown.title}. {shown.below}")
        st.html("".join(f"<p>{parts.escape(note)}</p>" for note in shown.notes) or "<p>The record closest in time is the same one.</p>")
    st.space(8)
    rows_of(("Segment", "Offsets", "Newest records of its batches (UTC)", "Largest timestamp, by", "Fate"), shown.rows)


def onward(place: Place, found: Made) -> None:
    """From the record that was found to its batch on the Segment page."""
    record = found.found.record
    offset, position = units.group(record.offset), units.group(record.batch_position)
    label = f"Offset {offset} in segment {units.file_stem(record.segment)}, batch at byte {position}"
    address = state.address(place.directory, place.partition.directory, record.segment, record.offset)
    st.space(8)
    with st.container(key="kv_onward"):
        st.page_link("pages/segment.py", label=label, icon=":material/straighten:", query_params=address)


def rows_of(heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> None:
    """A short table of plain text."""
    cells = ("<tr>" + "".join(f'<td class="{kind}">{parts.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    parts.table("".join(f'<th class="{kind}">{parts.escape(head)}</th>' for head in heads), cells)


def table(shown: stepper.StepperView, found: Made) -> None:
    """Every step as a row, to read and to take along."""
    st.space(16)
    with st.expander(f"{count(len(shown.steps), 'step')} as a table"):
        rows = [(str(number), step.phase, step.text) for number, step in enumerate(shown.steps, 1)]
        rows_of(("Step", "Phase", "What happens"), rows)
        with st.container(horizontal=True):
            look = {"on_click": "ignore", "type": "tertiary", "icon": ":material/download:"}
            st.download_button("Download steps as CSV", lambda: as_csv(rows), "lookup.csv", "text/csv", key="kv_steps_csv", **look)
            if found.found.choices:
                data = lambda: json.dumps(as_object(found.found), indent=2)  # noqa: E731 - the button calls it on click
                st.download_button("Download the lookup as JSON", data, "lookup.json", "application/json", key="kv_lookup_json", **look)


def as_csv(rows: list[tuple[str, str, str]]) -> str:
    """The steps as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows([("step", "phase", "text"), *rows])
    return text.getvalue()


main()
