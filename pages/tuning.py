"""Tuning: what another interval would have cost this log."""

import math
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.tuning import SETTING, Budgets
from kafkaviz.analyse.tuning_source import Source
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words, tuning_curve
from kafkaviz.figures.tuning_terms import between
from kafkaviz.ui import choice, parts, pick, state
from kafkaviz.ui import tunings as lab
from kafkaviz.ui.charts import mode
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.rolls import workloads as settings_lab
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.ui.tuning_sections import Shown, called, go_to, sections, verdict
from kafkaviz.words import counted, say

NAME_CHARACTERS = 20
BUDGETS = (state.P99, state.COLD_P99, state.SHARE, state.FETCHES, state.CORES, state.STORAGE, state.READS_AS, state.TIERED, state.WORKLOAD)


def main() -> None:
    """The page."""
    place = frame("Tuning")
    printed()
    whole(place)


@st.fragment
def whole(place: Place) -> None:
    """All but the frame: a slider redraws this alone."""
    choice.stay(BUDGETS, place.address)
    with st.container(gap=None, key="kv_tuning"):
        choices = lab.scopes(place.broker, place.partition)
        label = scope(list(choices), place)
        kind, name = choices[label]
        if kind != "workload" and place.fault:
            pick.partition(place)
        head = st.container(key="kv_head", horizontal=True, vertical_alignment="bottom")
        controls = st.container(key="kv_tune_set", horizontal=True, vertical_alignment="bottom", gap=20)
        if kind == "workload":
            name = workload_choice()
        of = asked_for(place, kind, name)
        if of is None:
            first_words(head, controls, choices, label, place)
            return
        reading = lab.readings().of(of)
        if not reading.wait(lab.PATIENCE_S):
            first_words(head, controls, choices, label, place)
            progress(reading)
            return
        if reading.fault:
            first_words(head, controls, choices, label, place)
            cannot(reading, place)
            return
        page(place, kind, name, label, choices, of, reading.source, head, controls)


def page(place: Place, kind: str, name: str, label: str, choices: dict, of: lab.Wanted, source: Source, head, controls) -> None:
    """All of it, of what was measured."""
    if not any(case.measured.parts.batches for case in source.cases):
        first_words(head, controls, choices, label, place)
        with parts.empty("tuning", say("tuning.empty"), say("tuning.empty_below", name=lab.told(label))):
            pass
        return
    curves, side = st.columns((1, 0.4594), gap=20)
    with side, st.container(key="kv_verdict_side", gap=16):
        slot = st.container()
        budgets, storage, is_tiered = more(source)
    costs = lab.costs(source, storage)
    answer = lab.answer(of.key, budgets_now(budgets), costs, is_tiered, source)
    shown = Shown(place, kind, name, label, of.key, source, answer, budgets_now(budgets), costs, is_tiered)
    with head:
        title(shown)
    forget_of_another(of.key)
    with controls:
        segmented(choices, label, place)
        shown = replace(shown, chosen=interval(shown))
        budget()
        st.button(say("tuning.today"), icon=":material/replay:", key="kv_today", on_click=today_again, args=(shown.today.interval_bytes,))
    with slot:
        verdict(shown)
    with curves, st.container(gap=16):
        both_curves(shown)
    sections(shown)


# ---- what is tuned


def scope(labels: list[str], place: Place) -> str:
    """What the address names; else the open topic-partition."""
    said = st.query_params.get(state.TUNING_OF)
    if said in labels:
        return said
    own = units.legible(place.partition.directory) if place.partition else ""
    return own if own in labels else labels[0]


def choice_words(option: str) -> str:
    """What a choice is called; a topic-partition by its name, which is no Markdown."""
    return parts.plain(lab.told(option))


def segmented(choices: dict[str, tuple[str, str]], now: str, place: Place) -> None:
    """The choice; another one is another address."""
    shown = {parts.middle(one, NAME_CHARACTERS): one for one in choices}
    middle = next(name for name, one in shown.items() if one == now)
    with st.container(width="content", gap=4):
        words = say("tuning.of_workload" if choices[now][0] == "workload" else "tuning.of_directory")
        st.html(f'<div class="kv-lab">{words}</div>', width="content")
        look = {"default": middle, "required": True, "label_visibility": "collapsed", "key": f"kv_tune_of_{now}"}
        label = shown.get(st.segmented_control(say("tuning.tuned"), list(shown), format_func=choice_words, **look) or middle, now)
    if label != now:
        kind, name = choices[label]
        go_to(place, name if kind == "partition" else place.address.get(state.TOPIC_PARTITION, ""), "" if kind == "partition" else label)


def asked_for(place: Place, kind: str, name: str) -> lab.Wanted | None:
    """What is to be measured; None where somebody's workload is none yet. name: of a workload its title."""
    if kind != "workload":
        return lab.wanted(pick.listed(place), kind, name, release())
    text = st.session_state.get(state.OWN_TUNED, "")
    try:
        if name == lab.OWN:
            settings_lab.own(text)
    except KafkavizError as fault:
        with parts.state("own", "error", say("rolls.no_workload"), fault_words.line(fault)):
            pass
        return None
    return lab.wanted_workload(name, text, release())


def release() -> str | None:
    """The release that is asked for."""
    said = asked(state.READS_AS, lab.RELEASES, lab.AS_FOUND)
    return None if said == lab.AS_FOUND else said


def asked(key: str, names: Sequence[str], default: str) -> str:
    """What a control says that is drawn further down, or the address."""
    return choice.adopt(key, names, default)


def workload_choice() -> str:
    """Which workload, by its title, and the field for one's own."""
    names = [*lab.presets(), lab.OWN]
    with st.container(key="kv_tune_workload", gap=8):
        with st.container(horizontal=True, vertical_alignment="center", gap=16):
            look = {"says": settings_lab.told, "on_change": forget_considered, "label_visibility": "collapsed", "width": 320}
            name = choice.ask(st.selectbox, say("rolls.workload"), names, names[0], state.WORKLOAD, **look)
            st.html(f'<span class="kv-sm kv-fnt">{parts.escape(lab.story(name))}</span>')
        if name == lab.OWN:
            own_text()
    return name


def own_text() -> None:
    """The field for a workload of one's own; it begins with one that works."""
    if state.OWN_TUNED not in st.session_state:
        st.session_state[state.OWN_TUNED] = settings_lab.own_text(next(iter(settings_lab.by_title().values())))
    look = {"height": 220, "label_visibility": "collapsed", "on_change": forget_considered}
    st.text_area(say("rolls.own_toml"), key=state.OWN_TUNED, **look)


def forget_considered() -> None:
    """Another log comes with its own recommendation."""
    st.session_state.pop(state.CONSIDERED, None)
    st.query_params.pop(state.CONSIDERED, None)


def forget_of_another(key: str) -> None:
    """Another log comes with its own recommendation and settings, unless its address brings others."""
    if st.session_state.get(state.TUNED) not in (None, key):
        for one in (state.CONSIDERED, *state.IF.values()):
            if one not in st.query_params:
                st.session_state.pop(one, None)
    st.session_state[state.TUNED] = key


def first_words(head, controls, choices: dict, label: str, place: Place) -> None:
    """Title and choice, where there is nothing to show yet."""
    with head:
        of = say("tuning.whole_broker") if choices[label][0] == "broker" else lab.told(label)
        parts.title(say("common.page_tuning"), say("tuning.lead_short", of=of), gap=0)
    with controls:
        segmented(choices, label, place)


# ---- while it is read, and where it cannot be


@st.fragment(run_every=0.5)
def progress(reading: lab.Reading) -> None:
    """How far the measuring is; the page is drawn when it has ended."""
    if reading.wait(0):
        st.rerun()
    done, total, now, seconds = reading.progress
    share = done / total if total else 0.0
    told = say("tuning.measured", done=units.size(done), total=units.size(total)) if total else say("tuning.being_written")
    with st.container(horizontal=True, key="kv_strip_tuning", vertical_alignment="center"):
        bar = f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>' if total else ""
        st.html(
            f'<div class="kv-work" role="status">{parts.icon("bolt", True)}<span>{told}</span>{bar}'
            f'<span class="kv-fnt">{parts.escape(speed(done, total, seconds) or now)}</span></div>'
        )
        st.button(say("tuning.cancel"), type="tertiary", key="kv_tuning_cancel", on_click=reading.cancel)


def speed(done: int, total: int, seconds: float) -> str:
    """How fast, and how long still; nothing before the first .log is done."""
    if not done:
        return ""
    left = units.duration(1000 * math.ceil((total - done) * seconds / done))
    return say("tuning.speed", speed=units.rate(done / seconds), left=left)


def cannot(reading: lab.Reading, place: Place) -> None:
    """Why there is nothing to show, and a way on."""
    if isinstance(reading.fault, lab.Stopped):
        with parts.state("stopped", "info", say("tuning.stopped"), say("tuning.stopped_below")):
            st.button(say("tuning.measure_again"), key="kv_tuning_again", on_click=lab.readings().of, args=(reading.of,))
        return
    with parts.state("unread", "error", say("tuning.cannot"), fault_words.line(reading.fault)):
        look = {"icon": ":material/ecg_heart:", "query_params": state.address(place.directory)}
        st.page_link("pages/health.py", label=say("rolls.show_wrong"), **look)


# ---- title and controls


def title(shown: Shown) -> None:
    """What is tuned, in figures."""
    with st.container(width="stretch"):
        parts.title(say("common.page_tuning"), lead(shown), gap=0)
    here = shown.place.listed
    if here is None or shown.kind == "workload":
        return
    look = {"on_click": "ignore", "icon": ":material/download:", "key": "kv_tuning_report"}
    if lab.log_bytes(here) > lab.REPORTED_BYTES:
        words = say("tuning.report_large", size=units.size(lab.log_bytes(here)))
        st.download_button(say("tuning.report"), "", disabled=True, help=words, **look)
        return
    name = f"{here.broker.source.name.split('.tar')[0]}.html"
    words = say("tuning.report_help")
    st.download_button(say("tuning.report"), lambda: lab.report(here), name, "text/html", help=words, **look)


def lead(shown: Shown) -> str:
    """2 167 batches of 78 to 2 903 B, 2.38 MiB of log in 3 segments."""
    measured = shown.case.measured
    sums = measured.parts
    of = called(shown)
    sizes = [one["size_bytes"] for one in measured.sizes if len(one)]
    least, most = min(int(one.min()) for one in sizes), max(int(one.max()) for one in sizes)
    low, high = units.group(least), f"{units.group(most)} B"
    bytes_words = high if least == most else say("curves.between", low=low, high=high)
    return say(
        "tuning.lead", of=of, batches=counted("common.n_batches", sums.batches, n=units.group(sums.batches)), bytes=bytes_words,
        log=units.size(sums.log_bytes), segments=counted("common.n_segments", sums.segments, n=units.group(sums.segments)),
    )  # fmt: skip


def interval(shown: Shown) -> int:
    """The slider over every swept interval; where nobody moved it, what the recommendation considers."""
    options = [str(one.interval_bytes) for one in shown.answer.every]
    default = str(shown.answer.whole.considered)
    with st.container(width="stretch", gap=4):
        above = st.empty()
        chosen = int(choice.ask(st.select_slider, SETTING, options, default, state.CONSIDERED, label_visibility="collapsed"))
        value = f'<b style="color:var(--kv-ink)">{units.group(chosen)}</b>'
        words = f"{SETTING} &nbsp;{say('tuning.is_today', value=value) if chosen == shown.today.interval_bytes else value}"
        above.html(f'<div class="kv-lab">{words}</div>')
    return chosen


def today_again(interval_bytes: int) -> None:
    """The slider back to where the log is."""
    st.session_state[state.CONSIDERED] = str(interval_bytes)


def budget() -> None:
    """What the p99 of a lookup may take."""
    with st.container(width=124, gap=4):
        st.html(f'<div class="kv-lab">{say("tuning.p99_may_take")}</div>')
        look = {"says": lab.told, "label_visibility": "collapsed"}
        choice.ask(st.selectbox, say("tuning.p99_may_take"), lab.P99_US, lab.DEFAULT_P99, state.P99, **look)


def more(source: Source) -> tuple[Budgets, str, bool]:
    """The budgets that are seldom given, where cold reads go, and how the log is read."""
    with st.expander(say("tuning.more")):
        cold = one_of("tuning.cold_p99", state.COLD_P99, lab.COLD_P99_US)
        share = one_of("tuning.index_share", state.SHARE, lab.SHARE)
        fetches = one_of("tuning.fetches", state.FETCHES, lab.FETCHES)
        cores = one_of("compare.cores", state.CORES, lab.CORES, is_free=fetches is not None)
        storages = lab.storages()
        storage = one_of("tuning.cold_reads", state.STORAGE, dict(zip(storages, storages, strict=True)))
        releases = dict(zip(lab.RELEASES, lab.RELEASES, strict=True))
        one_of("tuning.as_kafka", state.READS_AS, releases, about=say("tuning.as_kafka_now", version=source.version, why=source.because))
        tiered = one_of("tuning.remote_storage", state.TIERED, lab.TIERED)
        st.html(f'<p class="kv-sm kv-fnt">{say("tuning.budget_met")}</p>')
    return Budgets(None, cold, cores if fetches else None, share, fetches), storage, tiered


def one_of(label: str, key: str, choices: dict, is_free: bool = True, about: str | None = None):
    """A selectbox over names, the first of which goes without saying; what the name stands for. label: a key of the catalogue."""
    names = list(choices)
    return choices[choice.ask(st.selectbox, say(label), names, names[0], key, says=lab.told, disabled=not is_free, help=about)]


def budgets_now(rest: Budgets) -> Budgets:
    """With the budget of the p99, whose control is drawn above and read before."""
    return replace(rest, p99_us=lab.P99_US[asked(state.P99, list(lab.P99_US), lab.DEFAULT_P99)])


# ---- the curves


def both_curves(shown: Shown) -> None:
    """Headers and bytes over the interval; a click on a point considers it."""
    view, below = lab.viewed(("curve", *shown.asked), lambda: curve_view(shown)), tuning_curve.below()
    with st.container(key="kv_fig_headers", gap=0):
        parts.figure_head(view.titles[0], below[0])
        chosen_in(lab.drawn(("headers", *shown.asked), mode(), tuning_curve.headers_figure, view), "kv_headers", view.titles[0])
    with st.container(key="kv_fig_bytes", gap=0):
        parts.figure_head(view.titles[1], below[1])
        chosen_in(lab.drawn(("bytes", *shown.asked), mode(), tuning_curve.bytes_figure, view), "kv_bytes_curve", view.titles[1])
    rows = tuning_curve.rows(shown.answer.every)
    with st.expander(say("tuning.every_interval")):
        heads = (
            say("tuning.head_interval"), say("tuning.head_entries"), say("compare.both_indexes"), say("tuning.head_headers_mean"),
            "p50", "p99", "max", say("tuning.head_warm_p99"),
        )  # fmt: skip
        cells = [
            (
                units.group(row[0]),
                units.group(row[1]),
                units.size(row[2]),
                f"{row[4]:.1f}",
                *map(units.group, (row[5], row[7], row[8])),
                one,
            )
            for row, one in zip(rows, (between(at.p99_us) for at in shown.answer.every), strict=True)
        ]
        marked = next(place for place, row in enumerate(rows) if row[0] == shown.today.interval_bytes)
        with st.container(key="kv_tune_table"):
            table(heads, cells, "rrrrrrrr", marked)
        download(say("tuning.every_interval_csv"), lambda: csv_of(tuning_curve.COLUMNS, rows), "sweep.csv", "kv_sweep_csv")


def curve_view(shown: Shown) -> tuning_curve.TuningCurveView:
    """What both figures draw."""
    measured, every = shown.case.measured, shown.answer.every
    return tuning_curve.view(
        every, shown.today, shown.chosen, measured.log_bytes, measured.parts.least_batch_bytes, shown.budgets, shown.costs
    )  # fmt: skip


def chosen_in(figure, key: str, alt: str) -> None:
    """A figure whose points can be chosen."""
    look = {"theme": None, "config": {"displayModeBar": False}, "key": key, "alt": say("tuning.curve_alt", title=alt)}
    st.plotly_chart(figure, on_select=lambda: considered_in(key), selection_mode="points", **look)


def considered_in(key: str) -> None:
    """A point was clicked: its interval is considered."""
    event = st.session_state.get(key)
    points = [one for one in (event.selection.points if event else []) if one.get("customdata")]
    if points:
        st.session_state[state.CONSIDERED] = str(points[0]["customdata"][0])


main()
