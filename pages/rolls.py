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
from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures import limit_curves, roll_summary, roll_timeline, roll_words
from kafkaviz.log.broker import Broker
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import parts, pick, state, upload
from kafkaviz.ui import rolls as lab
from kafkaviz.ui.components.growth import growth
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import Place
from kafkaviz.ui.tables import csv_of, download, table

SIMULATED = "Simulated"
WIDTHS = (1.15, 1)
LEAD = "A log grows, and every append first asks: is the active segment full, too old, or out of index slots?"
KEY = (("roll-size", "size"), ("roll-time", "time"), ("roll-offset", "offset index"), ("roll-timestamp", "time index"))
HEADS = ("Segment", "Cause", "Because", "Open for")
OTHERS, NAME_CHARACTERS, MOST_ROWS = 2, 22, 400
PANEL = ("segment.bytes", "segment.ms", "segment.index.bytes", "index.interval.bytes")
MORE = "segment.jitter.ms"


def main() -> None:
    """The page."""
    place = frame("Rolls")
    whole(place, head(place))


@st.fragment
def whole(place: Place, of: str) -> None:
    """All but the head: a slider redraws this, not the frame around it."""
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
        label = st.segmented_control("Rolls of", list(labels), **look) or now
    of = labels[label]
    if label != now:
        st.session_state[state.ROLLS_ON_DISK] = of != SIMULATED
        there = place.address if of == SIMULATED else state.address(place.directory, of) | {state.ROLLS_OF: label}
        st.switch_page("pages/rolls.py", query_params=there)
    with lead:
        parts.title("Rolls", LEAD if of == SIMULATED else told_on_disk(place), gap=0)
    return of


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
    many = f"{units.group(count)} segment{'' if count == 1 else 's'} of {units.legible(place.partition.label)}, as they were found"
    return f"{many}. Causes are inferred from what is on disk."


def adopt(key: str, choices: Sequence[str]) -> None:
    """An address may say anything: what is no choice is passed over."""
    if st.session_state.get(key, choices[0]) not in choices:
        del st.session_state[key]
    if key not in st.session_state and st.query_params.get(key, choices[0]) not in choices:
        st.query_params.pop(key)


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
        with parts.state("unmade", "error", "This workload cannot be made", f"{fault}."):
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
    adopt(state.WORKLOAD, names)
    with st.container(key="kv_set"):
        row = st.columns(5, gap=24)
        with row[0]:
            st.html('<div class="kv-lab">Workload</div>')
            look = {"bind": "query-params", "label_visibility": "collapsed", "on_change": settings_anew}
            name = st.selectbox("Workload", names, key=state.WORKLOAD, **look) or names[0]
        of = own_workload() if name == lab.OWN else lab.workloads()[name]
        if of is None:
            return None
        values = {one: slider(row[place], of, one) for place, one in enumerate(PANEL, start=1)}
        row = st.columns(5, gap=24)
        with row[0]:
            st.html(
                f'<div class="kv-lab">Story</div><p class="kv-sm kv-story" title="{parts.escape(of.story)}">{parts.escape(of.story)}</p>'
            )
        speed = choice(row[1], "Throughput", state.SPEED, lab.SPEED_ORDER, lab.AS_IT_IS)
        batch = choice(row[2], "Batch size, uncompressed", state.BATCH_SIZE, lab.BATCH_ORDER, lab.AS_IT_IS)
        values[MORE] = slider(row[3], of, MORE)
        with row[4]:
            st.html('<div class="kv-lab">All settings</div>')
            st.button("As the workload has them", type="tertiary", icon=":material/restart_alt:", key="kv_anew", on_click=settings_anew)
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
    with st.expander("Your workload, as TOML", expanded=True):
        text = st.text_area("Workload", key=state.OWN_TEXT, height=260, label_visibility="collapsed", on_change=settings_anew)
        st.html('<p class="kv-sm kv-fnt">Ctrl + Enter takes it over. The same file works with kafkaviz simulate.</p>')
    try:
        return lab.own(text)
    except KafkavizError as fault:
        with parts.state("own", "error", "This is no workload yet", f"{fault}."):
            pass
        return None


def slider(column, of: Workload, name: str) -> int:
    """One of the topic's settings."""
    values = lab.choices(of, name)
    return values[choice(column, name, state.SETTING[name], list(values), lab.written(name, lab.setting(of, name)))]


def choice(column, label: str, key: str, names: Sequence[str], default: str) -> str:
    """A slider over names, its label on the left and its value on the right above it."""
    adopt(key, names)
    with column:
        above = st.empty()
        chosen = st.select_slider(label, names, value=default, key=key, bind="query-params", label_visibility="collapsed")
        above.html(f'<div class="kv-lab kv-two"><span>{parts.escape(label)}</span><b>{parts.escape(chosen)}</b></div>')
    return chosen


# ---- settings that do not work, and what else must be said


def notes(of: Workload, config: LogConfig, run: lab.Simulated) -> None:
    """In place of a traceback: what Kafka does with such settings."""
    room = lab.room(config)
    if room == IndexRoom.NONE:
        entry = "an entry of the offset index takes 8 B" if config.segment_index_bytes < 8 else "an entry of the time index takes 12 B"
        why = f"segment.index.bytes is {units.size(config.segment_index_bytes)}, and {entry}. "
        why += f"Kafka takes the setting (from 4 on), then fails: {run.failed}."
        note("error", "No log can be opened: an index file without room for one entry cannot be made", why)
    elif room == IndexRoom.ALWAYS_FULL:
        why = (
            f"segment.index.bytes is {units.size(config.segment_index_bytes)}: one time entry, and that slot is kept for the end of the "
            "segment. The time index counts as full from the start."
        )
        note("warning", "A roll at every append", why)
    elif run.failed:
        note("error", "Kafka refuses a batch of this workload", f"{run.failed}. What came before it is shown.")
    if config.segment_bytes < lab.LEAST_SEGMENT_BYTES and of.release >= (4, 1):
        why = f"Kafka {of.kafka_version} refuses segment.bytes below 1048576: a topic’s from 4.1 on, a broker’s from 4.0 on. "
        why += "Its own tests use internal.segment.bytes."
        note("info", "A toy size", why)
    if run.is_cut:
        many = f"{units.group(len(run.appended))} batches in {units.group(len(run.lanes.lanes))} segments"
        note("info", f"The first {many}", "The workload goes on; kafkaviz simulate writes all of it.")


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
        with parts.state("unread", "error", "The rolls of this topic-partition cannot be told", f"{fault}."):
            st.page_link(
                "pages/health.py", label="Show what is wrong", icon=":material/ecg_heart:", query_params=state.address(place.directory)
            )
        return
    found_in(found, len(found.lanes.lanes))
    if not found.lanes.lanes:
        with parts.empty("rolls", "No record, no roll", "The log of this topic-partition is empty."):
            pass
        return
    figures(found.lanes, found.load, found.key, None)


def found_in(found: lab.Real, count: int) -> None:
    """The settings that the partition ran with, and where each was found."""
    cells = [
        f'<div><div class="kv-lab">Found in</div><b class="kv-sm">{units.group(count)} segment{"" if count == 1 else "s"} on disk</b></div>'
    ]
    for name in PANEL:
        value = lab.written(name, getattr(found.lanes.config, name.replace(".", "_")))
        label = f'<div class="kv-lab kv-two"><span>{name}</span><b>{parts.escape(value)}</b></div>'
        cells.append(f'<div>{label}<div class="kv-fnt" style="font-size:12px">{parts.escape(found.sources.get(name, ""))}</div></div>')
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
            st.html(parts.key(KEY), width="content")
        chart(drawn.figure, "kv_timeline", f"{view.title}. {view.below}")
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
    adopt(state.ROLLS_ROWS, list(known))
    said = st.session_state.get(state.ROLLS_ROWS) or st.query_params.get(state.ROLLS_ROWS)
    return known.get(said, 0)


def pages(count: int) -> dict[str, int]:
    """The rows that are drawn together, by name."""
    return {f"{units.group(low + 1)}–{units.group(high + 1)}": low for low, high in roll_timeline.slices(count)}


def pager(count: int) -> None:
    """Which rows are drawn, where they are not all."""
    known = list(pages(count))
    if len(known) > 1:
        with st.container(key="kv_rolls_pager", horizontal=True, vertical_alignment="center", gap=12):
            st.html('<span class="kv-sm kv-fnt">Segments</span>', width="content")
            st.select_slider("Segments", known, key=state.ROLLS_ROWS, bind="query-params", label_visibility="collapsed", width=420)


def curves(shown: Lanes, load: Load, key: str) -> None:
    """Time until a roll by each limit alone, over the speed."""
    drawn = lab.curves(key, mode(), shown, load)
    view = drawn.view
    parts.figure_head(view.title, view.below)
    chart(drawn.figure, "kv_limits", f"{view.title}. {view.below}")
    with st.expander("As a table, and the index that is safe"):
        st.html(f'<p class="kv-sm">{parts.escape(safe_words(shown.config, load, shown.bytes_per_s))}</p>')
        heads = ("At", "First", *(roll_words.name(cause).capitalize() for cause in view.seconds))
        table(heads, limit_curves.rows(view), "ll" + "r" * len(view.seconds))


def safe_words(config: LogConfig, load: Load, bytes_per_s: float) -> str:
    """How large segment.index.bytes must be for no index to fill first."""
    gap = limits.gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = float(limits.time_share(gap, bytes_per_s)) if bytes_per_s > 0 else 1.0
    safe = safe_index_bytes(config.segment_bytes, gap, share)
    is_safe = config.segment_index_bytes >= safe
    verdict = "is enough" if is_safe else "is less: an index rolls first"
    return (
        f"Batches of {units.size(round(load.batch_bytes))} with this interval have an entry about every {units.group(round(gap))} B, and "
        f"{units.share(share, 1)} of the entries find a newer millisecond. No index fills before the segment from segment.index.bytes "
        f"{units.group(safe)} on; {units.group(config.segment_index_bytes)} {verdict}."
    )


def every_roll(shown: Lanes) -> None:
    """The table; of a long log its beginning and its end."""
    parts.heading("Every roll and what tripped it")
    st.space(8)
    count = len(shown.lanes)
    rows = list(zip(roll_words.rows(shown), shown.lanes, strict=True))
    if count > MOST_ROWS:
        rows = [*rows[: MOST_ROWS // 2], None, *rows[-MOST_ROWS // 2 :]]
    with st.container(key="kv_rolls_table"):
        parts.table("".join(f"<th{' class=r' if one == HEADS[-1] else ''}>{one}</th>" for one in HEADS), (row(one, count) for one in rows))
    heads = ("segment", "cause", "because", "open_for")
    download("Download every roll as CSV", lambda: csv_of(heads, roll_words.rows(shown)), "rolls.csv", "kv_rolls_csv")


def row(one: tuple | None, count: int) -> str:
    """A roll, its cause in its colour; None for those that are left out."""
    if one is None:
        return f'<tr><td colspan="4" class="kv-fnt">{units.group(count - MOST_ROWS)} more, in the CSV</td></tr>'
    (segment, cause, because, span), lane = one
    ink = roll_words.text_ink(lane).replace("_", "-")
    quiet = ' class="kv-fnt"' if lane.is_active else ""
    return (
        f'<tr><td class="kv-mono kv-tight">{segment}</td><td style="font-weight:600;color:var(--kv-{ink})">{parts.escape(cause)}</td>'
        f'<td{quiet}>{parts.escape(because)}</td><td class="r">{parts.escape(span)}</td></tr>'
    )


# ---- change a setting, compare


def compared(of: Workload, config: LogConfig, shown: Lanes) -> None:
    """What this run came to, beside the run before or the one that was kept."""
    now = roll_summary.summary(shown, told_settings(of, config))
    last = st.session_state.get(state.RUN)
    if last is not None and last != now and not st.session_state.get(state.PINNED):
        st.session_state[state.BEFORE] = last
    st.session_state[state.RUN] = now
    before = st.session_state.get(state.BEFORE)
    st.space(32)
    with st.container(horizontal=True, vertical_alignment="center", key="kv_compare_head"):
        parts.heading("Before and after", "change a setting, compare")
        if st.session_state.get(state.PINNED):
            st.button("Compare with the last run again", type="tertiary", icon=":material/keep_off:", key="kv_unpin", on_click=unpin)
        else:
            st.button("Keep this run to compare", type="tertiary", icon=":material/keep:", key="kv_pin", on_click=pin)
    st.space(8)
    if before is None or before == now:
        words = "This run is kept" if before == now else "This is the first run"
        st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{words}. Move a slider, and what it changes stands here.</p>')
        return
    st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2);margin-bottom:8px">{parts.escape(roll_summary.changes(before, now))}</p>')
    table(("", "Kept" if st.session_state.get(state.PINNED) else "Before", "Now", "Change"), roll_summary.rows(before, now), "lrrr")


def told_settings(of: Workload, config: LogConfig) -> dict[str, str]:
    """What may have been changed, in words."""
    found = {"workload": of.title or lab.OWN}
    found |= {name: lab.written(name, getattr(config, name.replace(".", "_"))) for name in state.SETTING}
    return found | {
        "throughput": st.session_state.get(state.SPEED, lab.AS_IT_IS),
        "batches": st.session_state.get(state.BATCH_SIZE, lab.AS_IT_IS),
    }


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
            too_much = "Only its beginning is here" if run.is_cut else f"{units.size(size_bytes)} of .log are too much for a page"
            why = "Kafka refuses a part of it" if run.failed else too_much
            st.html(f'<p class="kv-sm kv-fnt">{why}: kafkaviz simulate writes it to a directory.</p>')
            return
        name = f"{of.topic}.tar.gz"
        made = lambda: lab.archive(of, config)  # noqa: E731 - made when it is asked for
        st.download_button(
            "Download as .tar.gz", made, name, "application/gzip", on_click="ignore", icon=":material/download:", key="kv_archive"
        )
        if st.button("Open the result", icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(made()), name)
            st.switch_page("app.py", query_params=state.address(path))
        words = (
            f"{units.size(size_bytes)} of real records in {units.group(len(run.lanes.lanes))} segments, byte for byte as Kafka writes them."
        )
        st.html(f'<span class="kv-sm kv-fnt">{words}</span>')


# ---- append by append


def step_by_step(above: tuple[Workload, LogConfig] | None) -> None:
    """The stepper. above: the simulated log, if one is shown."""
    names = [*lab.STORIES, *([lab.ABOVE] if above else [])]
    adopt(state.STORY, names)
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        parts.heading("Append by append", "← → Home End, Space plays")
        look = {"default": names[0], "required": True, "bind": "query-params", "label_visibility": "collapsed"}
        name = st.segmented_control("Story", names, key=state.STORY, **look) or names[0]
    st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 12px">{parts.escape(lab.STORY_WORDS[name])}</p>')
    shown = lab.story_above(*above) if name == lab.ABOVE else lab.story(name)
    growth(growth_figure.message(shown))
    st.space(16)
    with st.expander("Every step as a table"):
        heads = ("Step", "What happens", "Counter", "Offset entries", "Time entries")
        table(heads, growth_figure.rows(shown), "rwrrr")
        download("Download every step as CSV", lambda: csv_of(heads, growth_figure.rows(shown)), "growth.csv", "kv_growth_csv")


# ---- small parts


def chart(figure, key: str, alt: str) -> None:
    """A Plotly figure in our own look."""
    st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=key, alt=alt)


def mode() -> str:
    """Light or dark."""
    return st.context.theme.type or "light"


main()
