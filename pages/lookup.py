"""Lookup: follow one offset or one timestamp through the indexes to its record, step by step."""

import json
import secrets

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures import fault_words, lookup_lanes, probe_histogram, stepper
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.probe_histogram import HistogramView
from kafkaviz.figures.stepper import Made
from kafkaviz.figures.why_offset import WhyView
from kafkaviz.search.bounds import ISOLATIONS, READ_UNCOMMITTED
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.lookup_object import as_object
from kafkaviz.search.profile import SearchProfile
from kafkaviz.ui import choice, lookups, parts, pick, state
from kafkaviz.ui.charts import mode, plot
from kafkaviz.ui.components import stepper as components
from kafkaviz.ui.frame import frame
from kafkaviz.ui.lookups import OFFSET, OWN, PRACTICE, SETS, TARGETS, TIMESTAMP, VERSIONS, Source
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import counted, say, text_in

WIDTHS = (0.555, 0.445)
LABEL_CHARACTERS = 20
COUNTS = ("probes", "pages", "headers")
DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"


def main() -> None:
    """The page, or the sentence that says why there is none."""
    place = frame("Lookup")
    printed()
    has_log = place.segment is not None and place.segment.log is not None
    own = {OWN: parts.middle(units.legible(place.partition.directory), LABEL_CHARACTERS)} if has_log else {}
    sets = own | {one: say(f"lookup.set_{one}") for one in SETS}
    wanted = choice.adopt(state.SET, sets.keys(), OWN, set_named)
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
        with parts.state("no_log", "warning", say("lookup.no_log"), say("lookup.no_log_below"), level=1):
            st.page_link("app.py", label=say("common.show_broker"), icon=":material/dns:", query_params=state.address(place.directory))
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


def set_named(said: str) -> str | None:
    """Links may name an index as the page does in English."""
    return next((one for one in SETS if text_in("en", f"lookup.set_{one}").casefold() == said.casefold()), None)


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
    every_step(shown, found)


def head(source: Source) -> None:
    """Which index this is."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = say("common.titled" if source.note else "lookup.alone", title=source.title, below=source.note)
        parts.title(say("lookup.title"), lead, gap=0)
        with st.popover(say("lookup.how_to_read"), type="tertiary", icon=":material/help:", width="content"):
            st.markdown(say("lookup.help"))


def controls(source: Source, sets: dict[str, str], assumed: str) -> tuple[str, SearchProfile]:
    """Offset or timestamp, which one, in what, as which release."""
    targets, own = TARGETS[:1] if source.is_alone else TARGETS, lookups.like(assumed)
    by = choice.settle(state.BY, targets, OFFSET)
    name = choice.settle(state.SET, sets.keys(), OWN, set_named)
    version = choice.settle(state.SEARCH, VERSIONS.keys(), own, lookups.like)
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl"):
        anew = {"required": True, "on_change": start_anew}
        st.segmented_control(say("lookup.by"), targets, key=state.BY, format_func=target_words, **anew)
        fresh(source, by, name)
        st.text_input(label(source, by), key=state.TARGET, bind="query-params", width=172)
        look = {"required": True, "on_change": another_index}
        st.segmented_control(say("lookup.index"), list(sets), key=state.SET, format_func=sets.__getitem__, **look)
        about = say("lookup.search_about", version=assumed) if name == OWN else None
        st.selectbox(say("lookup.search_as"), list(VERSIONS), key=state.SEARCH, format_func=release_words, width=172, help=about)
    warm_entries = second_row(source, by, name)
    st.space(16)
    if source.is_alone:
        wrong_keys()
    return by, lookups.release(assumed if version == own else version, warm_entries, by)


def target_words(by: str) -> str:
    """Offset or timestamp."""
    return say(f"lookup.by_{by}")


def release_words(version: str) -> str:
    """Which releases search as this one does."""
    return say(f"lookup.search_{VERSIONS[version]}")


def label(source: Source, by: str) -> str:
    """What the field of the target takes."""
    if by == OFFSET:
        return say("lookup.target_offset", first=units.group(source.first), last=units.group(source.last))
    now = value(by)
    if now is None or lookups.named(now):
        return say("lookup.target_none" if now is None else "lookup.target_named")
    return say("lookup.target_ms", time=units.clock(now))


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


def another_index() -> None:
    """Its warm section is its own too."""
    start_anew()
    st.session_state.pop(state.WARM, None)
    st.query_params.pop(state.WARM, None)


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
            st.text_input(say("lookup.own_keys"), DEFAULT_KEYS, key=state.KEYS, bind="query-params", on_change=start_anew)
        span = source.span(by)
        if span:
            now = value(by)
            st.session_state[state.SLIDER] = min(max(span[0] if now is None else now, span[0]), span[1])
            st.slider(say("lookup.slider"), *span, key=state.SLIDER, label_visibility="collapsed", on_change=take_slider, args=(by,))
            dice = {"icon": ":material/casino:", "on_click": take_random, "args": (span, by)}
            st.button(say("lookup.surprise"), type="tertiary", key="kv_random", **dice)
        if by == TIMESTAMP:
            for named in ("earliest", "latest", "max"):
                st.button(say(f"lookup.{named}"), type="tertiary", key=f"kv_{named}", on_click=take, args=(NAMES[named], by))
        if source.is_made:
            return warm_choice(name)
        choice.ask(st.selectbox, say("lookup.consumer"), ISOLATIONS, READ_UNCOMMITTED, state.ISOLATION, width=172)
        return lookups.KAFKAS_WARM


def wrong_keys() -> None:
    """What the field of the keys holds, where it holds none; the page then shows others."""
    try:
        lookups.parsed_keys(st.session_state.get(state.KEYS) or "")
    except ValueError as fault:
        with parts.state("keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS)):
            pass
        st.space(16)


def warm_choice(name: str) -> int:
    """How many entries are warm."""
    usual = str(4 if name == "twenty" else lookups.KAFKAS_WARM)
    return int(choice.ask(st.selectbox, say("lookup.warm"), map(str, lookups.WARM_ENTRIES), usual, state.WARM, width=172))


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
        shown = st.session_state.get(state.TARGET) or say("lookup.nothing")
        what = say("lookup.no_offset" if by == OFFSET else "lookup.no_time", said=shown[:40])
        with parts.state("target", "info", what, say("lookup.choose")):
            offered = say("lookup.offer", target=lookups.written(source.default(by), by))
            st.button(offered, key="kv_offer", on_click=start_anew)
    elif by == TIMESTAMP and (odd := units.other_unit(target)):
        unit = say(f"lookup.unit_{odd.unit}")
        means = say("lookup.unit_below", meant=units.moment(target), unit=unit, would=units.moment(odd.timestamp_ms))
        with parts.state("unit", "warning", say("lookup.unit", target=target, unit=unit), means):
            st.button(say("lookup.unit_use", ms=odd.timestamp_ms), key="kv_unit", on_click=take, args=(odd.timestamp_ms, by))
        st.space(16)
    return target


def damaged(fault: KafkavizError) -> None:
    """The way leads into bytes that cannot be read; or there is no way, whatever the bytes."""
    is_damage = isinstance(fault, CorruptFile)
    why = say("lookup.damaged_below", fault=fault_words.told(fault)) if is_damage else fault_words.line(fault)
    with parts.state("damaged", "error", say("lookup.damaged" if is_damage else "lookup.refused"), why):
        st.button(say("common.try_again"), key="kv_again")


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
    look = {"required": True, "label_visibility": "collapsed"}
    what = choice.ask(st.segmented_control, say("lookup.count"), COUNTS, COUNTS[0], state.COUNTED, counts_words, **look)
    mine = lookups.costs(source, found, by, of)
    if mine is None:
        return
    other = lookups.costs(source, found, by, lookups.other(of))
    shown = probe_histogram.view(mine, other, what, lookups.count_of(found, what), "millisecond" if by == TIMESTAMP else "offset")
    parts.figure_head(shown.title, shown.below)
    plot(probe_histogram.figure(shown, mode()), "kv_spread", alt(shown))
    with st.expander(say("lookup.as_table")):
        table((counts_words(what), say("lookup.share"), say("lookup.other")), probe_histogram.rows(shown), "rrr")


def alt(shown: HistogramView | WhyView) -> str:
    """A figure in words, for who does not see it."""
    return say("common.titled", title=shown.title, below=shown.below)


def counts_words(what: str) -> str:
    """What is counted."""
    return say(f"lookup.count_{what}")


def why(source: Source, found: Made, of: SearchProfile) -> None:
    """The whole partition, and where the target meets it."""
    shown = lookups.why(source, found, of)
    st.space(32)
    parts.heading(say("lookup.why"))
    st.space(10)
    with st.container(key="kv_fig_why"):
        parts.figure_head(shown.title, shown.below)
        plot(why_figure.figure(shown, mode()), "kv_why", alt(shown))
        st.html("".join(f"<p>{parts.escape(note)}</p>" for note in shown.notes or [say("lookup.why_same")]))
    st.space(8)
    table([say(f"lookup.why_{name}") for name in ("segment", "offsets", "newest", "largest", "fate")], shown.rows, "lllll")


def onward(place: Place, found: Made) -> None:
    """From the record that was found to its batch on the Segment page."""
    record = found.found.record
    offset, position = units.group(record.offset), units.group(record.batch_position)
    label = say("lookup.onward", offset=offset, segment=units.file_stem(record.segment), position=position)
    address = state.address(place.directory, place.partition.directory, record.segment, record.offset)
    st.space(8)
    with st.container(key="kv_onward"):
        st.page_link("pages/segment.py", label=label, icon=":material/straighten:", query_params=address)


def every_step(shown: stepper.StepperView, found: Made) -> None:
    """Every step as a row, to read and to take along."""
    st.space(16)
    with st.expander(counted("lookup.n_steps", len(shown.steps), n=units.group(len(shown.steps)))):
        rows = [(str(number), say(f"lookup.phase_{step.phase}"), step.text) for number, step in enumerate(shown.steps, 1)]
        table((say("lookup.step"), say("lookup.phase"), say("lookup.what_happens")), rows, "lll")
        with st.container(horizontal=True):
            kept = [(number, step.phase, step.text) for number, step in enumerate(shown.steps, 1)]
            download(say("lookup.steps_csv"), lambda: csv_of(("step", "phase", "text"), kept), "lookup.csv", "kv_steps_csv")
            if found.found.choices:
                data = lambda: json.dumps(as_object(found.found), indent=2)  # noqa: E731 - the button calls it on click
                look = {"on_click": "ignore", "type": "tertiary", "icon": ":material/download:"}
                st.download_button(say("lookup.lookup_json"), data, "lookup.json", "application/json", key="kv_lookup_json", **look)


main()
