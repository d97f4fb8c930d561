"""Rolls: a simulated log growing, each roll with its cause; which limit binds where; a partition's real rolls."""

import io
from collections.abc import Sequence

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import limits
from kafkaviz.analyse.lanes import Lanes
from kafkaviz.analyse.limits import IndexRoom, Load, safe_index_bytes
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words, limit_curves, roll_summary, roll_timeline, roll_words
from kafkaviz.figures import growth as growth_figure
from kafkaviz.log.broker import Broker
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.ui import choice, parts, pick, state, upload
from kafkaviz.ui import rolls as lab
from kafkaviz.ui.charts import mode, plot
from kafkaviz.ui.components.growth import growth
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import counted, say

SIMULATED = "Simulated"  # as a value of state.ROLLS_OF
WIDTHS = (1.15, 1)
KEY = {
    "roll-size": Cause.SIZE, "roll-time": Cause.TIME, "roll-offset": Cause.OFFSET_INDEX_FULL, "roll-timestamp": Cause.TIME_INDEX_FULL,
}  # fmt: skip
HEADS = ("segment", "cause", "because", "open_for")
STEP_HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")
OTHERS, NAME_CHARACTERS, MOST_ROWS = 2, 22, 400
CHOICES = (state.WORKLOAD, *state.SETTING.values(), state.SPEED, state.BATCH_SIZE, state.STORY)
PANEL = ("segment.bytes", "segment.ms", "segment.index.bytes", "index.interval.bytes")
MORE = "segment.jitter.ms"
CHANGED = ("workload", "throughput", "batches")


def main() -> None:
    """The page."""
    place = frame("Rolls")
    printed()
    whole(place, head(place))


@st.fragment
def whole(place: Place, of: str) -> None:
    """All but the head: a slider redraws this, not the frame around it."""
    choice.stay(CHOICES, place.address)
    with st.container(gap=None, key="kv_rolls"):
        above = None
        if of == SIMULATED:
            above = simulated()
        else:
            on_disk(place)
        st.space(32)
        step_by_step(above)


# ---- what is looked at


def head(place: Place) -> str:
    """Title, and the choice between a simulated log and the open topic-partition or another; what was chosen."""
    labels = {parts.middle(one, NAME_CHARACTERS): one for one in sources(place)}
    now = shown_now(list(labels))
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = st.container(width="stretch")
        look = {"default": now, "required": True, "label_visibility": "collapsed", "key": f"kv_rolls_of_{now}"}
        label = st.segmented_control(say("rolls.of"), list(labels), format_func=called, **look) or now
    of = labels[label]
    if label != now:
        st.session_state[state.ROLLS_ON_DISK] = of != SIMULATED
        there = place.address if of == SIMULATED else state.address(place.directory, of) | {state.ROLLS_OF: label}
        st.switch_page("pages/rolls.py", query_params=there)
    with lead:
        parts.title(say("common.page_rolls"), say("rolls.lead") if of == SIMULATED else told_on_disk(place), gap=0)
    return of


def called(label: str) -> str:
    """What a choice is called: a topic-partition by its name."""
    return say("rolls.simulated") if label == SIMULATED else parts.plain(label)


def shown_now(labels: list[str]) -> str:
    """Simulated or the open topic-partition, as the address says; else as it was looked at before; else the simulated log.

    Not bound to the address: it can only change together with the topic-partition, which is the frame's.
    """
    said = st.query_params.get(state.ROLLS_OF)
    if said == SIMULATED or len(labels) == 1:
        return labels[0]
    return labels[1] if said in labels or st.session_state.get(state.ROLLS_ON_DISK) else labels[0]


def sources(place: Place) -> list[str]:
    """The simulated log, the open topic-partition, and the two others that rolled most."""
    if not place.partition:
        return [SIMULATED]
    own = place.partition.directory
    others = sorted(rolled(place.broker, own), key=lambda one: -one[1])[:OTHERS]
    return [SIMULATED, units.legible(own), *(name for name, _ in others)]


def rolled(broker: Broker, own: str) -> list[tuple[str, int]]:
    """Topic-partitions with more than one segment, and how many."""
    found = ((one.directory, len(one.live)) for one in broker.partitions if one.state == "current" and one.directory != own)
    return [(units.legible(name), count) for name, count in found if count > 1]


def told_on_disk(place: Place) -> str:
    """How many segments there are."""
    count = len(place.partition.live)
    return counted("rolls.lead_on_disk", count, n=units.group(count), partition=units.legible(place.partition.label))


# ---- a simulated log


def simulated() -> tuple[Workload, LogConfig] | None:
    """Controls, lanes, curves, table, comparison, and what to take along; the workload and settings, where a log could be made."""
    chosen = controls()
    if chosen is None:
        return None
    of, config = chosen
    try:
        run = lab.simulated(of, config)
    except KafkavizError as fault:
        with parts.state("unmade", "error", say("rolls.unmade"), fault_words.line(fault)):
            pass
        return None
    notes(of, config, run)
    if not run.lanes.lanes:
        return None
    figures(run.lanes, run.load, run.key, run.appended)
    compared(of, config, run.lanes)
    take_along(of, config, run)
    return chosen


def controls() -> tuple[Workload, LogConfig] | None:
    """The workload and the settings that the sliders say; None where what somebody wrote is no workload."""
    names = [*lab.workloads(), lab.OWN]
    with st.container(key="kv_set"):
        row = st.columns(5, gap=24)
        with row[0]:
            st.html(f'<div class="kv-lab">{say("rolls.workload")}</div>')
            look = {"says": lab.told, "label_visibility": "collapsed", "on_change": settings_anew}
            name = choice.ask(st.selectbox, say("rolls.workload"), names, names[0], state.WORKLOAD, **look)
        of = own_workload() if name == lab.OWN else lab.workloads()[name]
        if of is None:
            return None
        values = {one: setting(row[place], of, one) for place, one in enumerate(PANEL, start=1)}
        row = st.columns(5, gap=24)
        with row[0]:
            story = parts.escape(lab.story_of(name) or of.story)
            st.html(f'<div class="kv-lab">{say("rolls.story")}</div><p class="kv-sm kv-story" title="{story}">{story}</p>')
        speed = slider(row[1], say("rolls.throughput"), state.SPEED, lab.SPEED_ORDER, lab.AS_IT_IS)
        batch = slider(row[2], say("rolls.batch_size"), state.BATCH_SIZE, lab.BATCH_ORDER, lab.AS_IT_IS)
        values[MORE] = setting(row[3], of, MORE)
        with row[4]:
            st.html(f'<div class="kv-lab">{say("rolls.all_settings")}</div>')
            st.button(say("rolls.settings_anew"), type="tertiary", icon=":material/restart_alt:", key="kv_anew", on_click=settings_anew)
    st.space(16)
    return lab.changed(of, speed, batch), lab.config_of(of, values)


def settings_anew() -> None:
    """Another workload comes with its own settings."""
    for key in (*state.SETTING.values(), state.SPEED, state.BATCH_SIZE, state.ROLLS_ROWS):
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def own_workload() -> Workload | None:
    """The field for a workload of one's own; what is wrong with it."""
    if state.OWN_TEXT not in st.session_state:
        st.session_state[state.OWN_TEXT] = lab.own_text(next(iter(lab.workloads().values())))
    with st.expander(say("rolls.own_toml"), expanded=True):
        text = st.text_area(say("rolls.workload"), key=state.OWN_TEXT, height=260, label_visibility="collapsed", on_change=settings_anew)
        st.html(f'<p class="kv-sm kv-fnt">{say("rolls.own_below")}</p>')
    try:
        return lab.own(text)
    except KafkavizError as fault:
        with parts.state("own", "error", say("rolls.no_workload"), fault_words.line(fault)):
            pass
        return None


def setting(column, of: Workload, name: str) -> int:
    """One of the topic's settings."""
    values = lab.choices(of, name)
    return values[slider(column, name, state.SETTING[name], list(values), lab.written(name, lab.setting(of, name)))]


def slider(column, label: str, key: str, names: Sequence[str], default: str) -> str:
    """A slider over names."""
    with column:
        return choice.slider(label, names, default, key, lab.told)


# ---- settings that do not work, and what else must be said


def notes(of: Workload, config: LogConfig, run: lab.Simulated) -> None:
    """In place of a traceback: what Kafka does with such settings."""
    room = lab.room(config)
    if room == IndexRoom.NONE:
        key = "rolls.no_offset_entry" if config.segment_index_bytes < 8 else "rolls.no_time_entry"
        note("error", say("rolls.no_log"), say(key, room=units.size(config.segment_index_bytes), failed=run.failed))
    elif room == IndexRoom.ALWAYS_FULL:
        note("warning", say("rolls.every_append"), say("rolls.always_full", room=units.size(config.segment_index_bytes)))
    elif run.failed:
        note("error", say("rolls.refused"), say("rolls.refused_below", failed=run.failed))
    if config.segment_bytes < lab.LEAST_SEGMENT_BYTES and of.release >= (4, 1):
        note("info", say("rolls.toy_size"), say("rolls.toy_size_below", version=of.kafka_version))
    if run.is_cut:
        many = {"batches": units.group(len(run.appended)), "segments": units.group(len(run.lanes.lanes))}
        note("info", say("rolls.cut", **many), say("rolls.cut_below"))


def note(mark: str, finding: str, why: str) -> None:
    """A sentence in its place."""
    with parts.state(f"note_{mark}", mark, finding, why):
        pass
    st.space(16)


# ---- on disk


def on_disk(place: Place) -> None:
    """The rolls of the open topic-partition."""
    directory = pick.partition(place).directory
    try:
        found = lab.real(place.listed, directory)
    except KafkavizError as fault:
        with parts.state("unread", "error", say("rolls.untold"), fault_words.line(fault)):
            look = {"icon": ":material/ecg_heart:", "query_params": state.address(place.directory)}
            st.page_link("pages/health.py", label=say("rolls.show_wrong"), **look)
        return
    found_in(found, len(found.lanes.lanes))
    if not found.lanes.lanes:
        with parts.empty("rolls", say("rolls.empty"), say("rolls.empty_below")):
            pass
        return
    figures(found.lanes, found.load, found.key, None)


def found_in(found: lab.Real, count: int) -> None:
    """The settings that the partition ran with, and where each was found."""
    on_disk = counted("rolls.segments_on_disk", count, n=units.group(count))
    cells = [f'<div><div class="kv-lab">{say("rolls.found_in")}</div><b class="kv-sm">{on_disk}</b></div>']
    for name in PANEL:
        value = lab.written(name, getattr(found.lanes.config, name.replace(".", "_")))
        source = f'<div class="kv-fnt" style="font-size:12px">{parts.escape(lab.source(found, name))}</div>'
        cells.append(f"<div>{parts.label(name, value)}{source}</div>")
    with st.container(key="kv_set"):
        st.html(f'<div class="kv-found">{"".join(cells)}</div>')
    st.space(16)


# ---- lanes, curves, table


def figures(shown: Lanes, load: Load, key: str, appended: np.ndarray | None) -> None:
    """The segments as they fill; which limit binds where; every roll."""
    first = rows_from(len(shown.lanes))
    drawn = lab.timeline(key, first, mode(), shown, appended)
    view = drawn.view
    with st.container(key="kv_fig_rolls"):
        with st.container(horizontal=True, key="kv_rolls_head"):
            with st.container(width="stretch"):
                parts.figure_head(view.title, view.below)
            st.html(parts.key((kind, roll_words.name(cause)) for kind, cause in KEY.items()), width="content")
        plot(drawn.figure, "kv_timeline", say("common.titled", title=view.title, below=view.below))
        pager(len(shown.lanes))
    st.space(16)
    left, right = st.columns(WIDTHS, gap=20)
    with left, st.container(key="kv_fig_limits"):
        curves(shown, load, key)
    with right, st.container(gap=None):
        every_roll(shown)


def rows_from(count: int) -> int:
    """The number of the first row that is drawn."""
    known = pages(count)
    return known[choice.settle(state.ROLLS_ROWS, known.keys(), next(iter(known)))]


def pages(count: int) -> dict[str, int]:
    """The rows that are drawn together, by name."""
    return {f"{units.group(low + 1)}–{units.group(high + 1)}": low for low, high in roll_timeline.slices(count)}


def pager(count: int) -> None:
    """Which rows are drawn, where they are not all."""
    known = list(pages(count))
    if len(known) > 1:
        with st.container(key="kv_rolls_pager", horizontal=True, vertical_alignment="center", gap=12):
            st.html(f'<span class="kv-sm kv-fnt">{say("common.segments")}</span>', width="content")
            look = {"label_visibility": "collapsed", "width": 420}
            st.select_slider(say("common.segments"), known, key=state.ROLLS_ROWS, **look)


def curves(shown: Lanes, load: Load, key: str) -> None:
    """Time until a roll by each limit alone, over the speed."""
    drawn = lab.curves(key, mode(), shown, load)
    view = drawn.view
    parts.figure_head(view.title, view.below)
    plot(drawn.figure, "kv_limits", say("common.titled", title=view.title, below=view.below))
    with st.expander(say("rolls.curves_table")):
        st.html(f'<p class="kv-sm">{parts.escape(safe_words(shown.config, load, shown.bytes_per_s))}</p>')
        heads = (say("rolls.at"), say("rolls.first"), *(roll_words.name(cause).capitalize() for cause in view.seconds))
        table(heads, limit_curves.rows(view), "ll" + "r" * len(view.seconds))


def safe_words(config: LogConfig, load: Load, bytes_per_s: float) -> str:
    """How large segment.index.bytes must be for no index to fill first."""
    gap = limits.gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = float(limits.time_share(gap, bytes_per_s)) if bytes_per_s > 0 else 1.0
    safe = safe_index_bytes(config.segment_bytes, gap, share)
    return say(
        "rolls.safe" if config.segment_index_bytes >= safe else "rolls.unsafe", batch=units.size(round(load.batch_bytes)),
        gap=units.group(round(gap)), share=units.share(share, 1), safe=units.group(safe), now=units.group(config.segment_index_bytes),
    )  # fmt: skip


def every_roll(shown: Lanes) -> None:
    """The table; of a long log its beginning and its end."""
    parts.heading(say("rolls.every_roll"))
    st.space(8)
    count = len(shown.lanes)
    rows = list(zip(roll_words.rows(shown), shown.lanes, strict=True))
    if count > MOST_ROWS:
        rows = [*rows[: MOST_ROWS // 2], None, *rows[-MOST_ROWS // 2 :]]
    with st.container(key="kv_rolls_table"):
        told = [say(f"rolls.head_{one}") for one in HEADS]
        parts.table("".join(f"<th{' class=r' if one == told[-1] else ''}>{one}</th>" for one in told), (row(one, count) for one in rows))
    download(say("rolls.every_roll_csv"), lambda: csv_of(HEADS, roll_words.rows(shown)), "rolls.csv", "kv_rolls_csv")


def row(one: tuple | None, count: int) -> str:
    """A roll, its cause in its colour; None for those that are left out."""
    if one is None:
        return f'<tr><td colspan="4" class="kv-fnt">{say("rolls.more_in_csv", n=units.group(count - MOST_ROWS))}</td></tr>'
    (segment, cause, because, span), lane = one
    ink = roll_words.text_ink(lane).replace("_", "-")
    quiet = ' class="kv-fnt"' if lane.is_active else ""
    return (
        f'<tr><td class="kv-mono kv-tight">{segment}</td><td style="font-weight:600;color:var(--kv-{ink})">{parts.escape(cause)}</td>'
        f'<td{quiet}>{parts.escape(because)}</td><td class="r">{parts.escape(span)}</td></tr>'
    )


# ---- change a setting, compare


def compared(of: Workload, config: LogConfig, shown: Lanes) -> None:
    """What this run came to, beside the run before or the one that was choice."""
    now = roll_summary.summary(shown, told_settings(of, config))
    last = st.session_state.get(state.RUN)
    if last is not None and last != now and not st.session_state.get(state.PINNED):
        st.session_state[state.BEFORE] = last
    st.session_state[state.RUN] = now
    before = st.session_state.get(state.BEFORE)
    st.space(32)
    with st.container(horizontal=True, vertical_alignment="center", key="kv_compare_head"):
        parts.heading(say("rolls.before_after"), say("rolls.before_after_how"))
        if st.session_state.get(state.PINNED):
            st.button(say("rolls.unpin"), type="tertiary", icon=":material/keep_off:", key="kv_unpin", on_click=unpin)
        else:
            st.button(say("rolls.pin"), type="tertiary", icon=":material/keep:", key="kv_pin", on_click=pin)
    st.space(8)
    if before is None or before == now:
        words = say("rolls.run_kept" if before == now else "rolls.run_first")
        st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{words}</p>')
        return
    changes = roll_summary.changes(before, now, setting_words)
    st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2);margin-bottom:8px">{parts.escape(changes)}</p>')
    first = say("rolls.kept" if st.session_state.get(state.PINNED) else "rolls.before")
    table(("", first, say("rolls.now"), say("rolls.change")), roll_summary.rows(before, now), "lrrr")


def told_settings(of: Workload, config: LogConfig) -> dict[str, str]:
    """What may have been changed; its words are those of links, the same in every language."""
    found = {"workload": of.title or lab.OWN}
    found |= {name: lab.written(name, getattr(config, name.replace(".", "_"))) for name in state.SETTING}
    return found | {
        "throughput": st.session_state.get(state.SPEED, lab.AS_IT_IS),
        "batches": st.session_state.get(state.BATCH_SIZE, lab.AS_IT_IS),
    }


def setting_words(told: str) -> str:
    """A name or a value of told_settings in the reader's language."""
    return say(f"rolls.changed_{told}") if told in CHANGED else lab.told(told)


def pin() -> None:
    """What is shown now stays the one that is compared with."""
    st.session_state[state.BEFORE], st.session_state[state.PINNED] = st.session_state.get(state.RUN), True


def unpin() -> None:
    """The run before the last change counts again."""
    st.session_state[state.PINNED] = False


# ---- take it along


def take_along(of: Workload, config: LogConfig, run: lab.Simulated) -> None:
    """The directory as an archive, and opened here like any other."""
    st.space(16)
    size_bytes = run.lanes.log_bytes
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_take"):
        if run.failed or run.is_cut or size_bytes > lab.MOST_ARCHIVE_BYTES:
            why = "rolls.take_refused" if run.failed else "rolls.take_cut" if run.is_cut else "rolls.take_large"
            st.html(f'<p class="kv-sm kv-fnt">{say(why, size=units.size(size_bytes))}</p>')
            return
        name = f"{of.topic}.tar.gz"
        made = lambda: lab.archive(of, config)  # noqa: E731 - made when it is asked for
        look = {"on_click": "ignore", "icon": ":material/download:", "key": "kv_archive"}
        st.download_button(say("rolls.take_archive"), made, name, "application/gzip", **look)
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(made()), name)
            st.switch_page("app.py", query_params=state.address(path))
        words = say("rolls.take_words", size=units.size(size_bytes), segments=units.group(len(run.lanes.lanes)))
        st.html(f'<span class="kv-sm kv-fnt">{words}</span>')


# ---- append by append


def step_by_step(above: tuple[Workload, LogConfig] | None) -> None:
    """The stepper. above: the simulated log, if one is shown."""
    names = [*lab.STORIES, *([lab.ABOVE] if above else [])]
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        parts.heading(say("rolls.by_append"), say("rolls.by_append_keys"))
        look = {"required": True, "label_visibility": "collapsed", "says": lambda one: say(f"rolls.story_{lab.STORY_KEYS[one]}")}
        name = choice.ask(st.segmented_control, say("rolls.story"), names, names[0], state.STORY, **look)
    below = say(f"rolls.story_{lab.STORY_KEYS[name]}_below", n=lab.SHOWN_APPENDS)
    st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 12px">{parts.escape(below)}</p>')
    shown = lab.story_above(*above) if name == lab.ABOVE else lab.story(name)
    growth(growth_figure.message(shown))
    st.space(16)
    with st.expander(say("rolls.every_step")):
        heads, rows = [say(f"rolls.head_{one}") for one in STEP_HEADS], growth_figure.rows(shown)
        table(heads, rows, "rwrrr")
        download(say("rolls.every_step_csv"), lambda: csv_of(heads, rows), "growth.csv", "kv_growth_csv")


main()
