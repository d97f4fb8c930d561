"""The sections of the Tuning page below its curves: before and after, a broker's topics, limits, assumptions, the log once more."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import tuning, tuning_words
from kafkaviz.analyse.cost_model import JVM_MAPS, MAX_MAP_COUNT, Costs
from kafkaviz.analyse.tuning import SETTING, At, Budgets, Recommendation
from kafkaviz.analyse.tuning_source import Case, Source
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import before_after, fault_words, limit_map, tornado, tuning_reasons, tuning_verdict
from kafkaviz.figures.listed import sentences
from kafkaviz.figures.tuning_terms import change, micros
from kafkaviz.simulate.config import LogConfig
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui import tunings as lab
from kafkaviz.ui.charts import mode, plot
from kafkaviz.ui.pick import Place
from kafkaviz.ui.rolls import workloads as settings_lab
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import counted, say

MOST_TOPICS = 400
HALF = (1, 1)
TOPIC_HEADS = ("topic", "log", "batch_mean", "interval", "index_share", "headers_mean", "p99_warm", "answer")
TOPIC_COLUMNS = (
    "topic", "log_bytes", "batch_bytes_mean", "interval_bytes", "index_bytes", "headers_mean", "headers_p99", "answer", "value",
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """What a run of the page is about: what is tuned, its measures, the answer, and what it was asked with.

    kind: "partition", "topic", "broker" or "workload". chosen: the interval held
    against today's. label: how what is tuned is called.
    """

    place: Place
    kind: str
    name: str
    label: str
    key: str
    source: Source
    answer: lab.Answer
    budgets: Budgets
    costs: Costs
    is_tiered: bool
    chosen: int = 0

    @property
    def case(self) -> Case:
        """What is measured, all of it together."""
        return self.answer.case

    @property
    def config(self) -> LogConfig:
        """The settings that the log was written with."""
        return self.case.today.config

    @property
    def today(self) -> At:
        """Today's interval with its prices."""
        return self.answer.whole.today

    @property
    def considered(self) -> At:
        """The interval that is held against it."""
        if self.chosen == self.today.interval_bytes:
            return self.today
        return next(one for one in self.answer.every if one.interval_bytes == self.chosen)

    @property
    def asked(self) -> tuple:
        """All that its figures depend on."""
        return self.key, self.budgets, self.costs, self.is_tiered, self.chosen


def go_to(place: Place, topic_partition: str, label: str = "") -> None:
    """Another thing to tune: another address, with the same budgets; it comes with its own recommendation."""
    left = (state.CONSIDERED, state.TUNING_OF, state.TOPIC_PARTITION, *state.IF.values())
    kept = {name: value for name, value in st.query_params.items() if name not in left}
    for key in (state.CONSIDERED, *state.IF.values()):
        st.session_state.pop(key, None)
    there = kept | state.address(place.directory, topic_partition) | ({state.TUNING_OF: label} if label else {})
    st.switch_page("pages/tuning.py", query_params=there)


def sections(shown: Shown) -> None:
    """What follows from the curves, down the page."""
    st.space(32)
    if shown.kind in ("broker", "topic") and len(shown.source.cases) > 1:
        topics(shown)
        st.space(32)
    compared(shown)
    st.space(32)
    left, right = st.columns(HALF, gap=20)
    with left, st.container(gap=None):
        limits_figure(shown)
    with right, st.container(gap=None):
        assumptions_figure(shown)
    st.space(32)
    once_more(shown)
    st.space(32)
    others(shown)


# ---- the answer


def verdict(shown: Shown) -> None:
    """One line, its reason, and below it what is sure and what is modelled."""
    found = verdict_view(shown)
    boxes = "".join(
        f'<div class="f"><b>{say("tuning.box_head", word=parts.escape(word))}</b> {parts.escape(text)}</div>' for word, text in found.boxes
    )
    st.html(
        f'<div class="kv-verdict" role="status"><div class="v"><div class="kv-lab">{say("tuning.recommendation")}</div>'
        f'<h2 class="w">{parts.severity(found.mark)}{parts.escape(found.headline)}</h2><p>{parts.escape(found.why)}</p></div>{boxes}</div>'
    )
    with st.expander(say("tuning.every_reason")):
        st.html("".join(f'<p class="kv-sm kv-reason">{parts.escape(one)}</p>' for one in tuning_reasons.every(shown.answer.whole)))


def verdict_view(shown: Shown) -> tuning_verdict.VerdictView:
    """The answer in words."""
    case, cases = shown.case, shown.source.cases
    held = None if any(one.held is None for one in cases) else summed(one.held for one in cases)
    entries = tuning_verdict.Entries(summed(one.replayed for one in cases), held, shown.kind == "workload", len(cases))
    return tuning_verdict.view(shown.answer.whole, case.measured, case.today, shown.budgets, shown.costs, entries)


def summed(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sums of both."""
    offsets, times = zip(*pairs, strict=True)
    return sum(offsets), sum(times)


# ---- before and after


def compared(shown: Shown) -> None:
    """Today beside what is considered, and the line that changes it; without another interval beside its own replay."""
    now, other = shown.today, shown.considered
    is_same = now is other or now.interval_bytes == other.interval_bytes
    names = [units.size(one.interval_bytes) for one in (now, other)]
    parts.heading(say("tuning.today_alone") if is_same else say("tuning.against", today=names[0], other=names[1]))
    if is_same:
        other = next((one for one in shown.answer.every if one.interval_bytes == now.interval_bytes), now)
        names = [say("tuning.as_it_is"), say("tuning.batch_by_batch")]
    st.space(10)
    rows = compared_rows(shown, other)
    heads = (say("tuning.for", of=called(shown)), *names, say("rolls.change"), say("tuning.how_known"))
    before_after_table(heads, rows)
    with st.container(horizontal=True, gap=12):
        download(
            say("tuning.csv"), lambda: csv_of(("what", *names, "change", "kind", "known"), map(astuple, rows)), "before-after.csv",
            "kv_compared_csv",
        )  # fmt: skip
        whole = lambda: lab.tuned_object(shown.source, shown.answer, shown.budgets, shown.costs, shown.is_tiered)  # noqa: E731 - when asked for
        name = f"tuning-{shown.label.replace(' ', '-')}.json"
        look = {"on_click": "ignore", "type": "tertiary", "icon": ":material/download:", "key": "kv_tuning_json"}
        st.download_button(say("tuning.json"), whole, name, "application/json", **look)
    commands(shown, {} if is_same else {SETTING: other.interval_bytes}, verdict_view(shown).command_lead)


def called(shown: Shown) -> str:
    """What is tuned, in a sentence."""
    if shown.kind == "workload":
        return say("tuning.the_workload", name=settings_lab.told(shown.name))
    return say("tuning.whole_broker") if shown.kind == "broker" else lab.told(units.legible(shown.label))


def compared_rows(shown: Shown, other: At) -> list[before_after.Row]:
    """Values side by side, today's and the other's."""
    now, measured = shown.today, shown.case.measured
    times = now.time_entries, other.time_entries
    ends = tuple(tuning.limits_at(measured, shown.config, one.interval_bytes).binding for one in (now, other))
    return before_after.rows(now, other, shown.costs, shown.budgets, times, ends)


def before_after_table(heads: Sequence[str], rows: Iterable[before_after.Row]) -> None:
    """A change for the better green, for the worse ochre, with its sign."""
    head = "".join(f"<th{' class=r' if 0 < place < 4 else ''}>{parts.escape(one)}</th>" for place, one in enumerate(heads))
    parts.table(head, (
        f'<tr><td>{parts.escape(one.name)}</td><td class="r">{parts.escape(one.before)}</td>'
        f'<td class="r"><b>{parts.escape(one.after)}</b></td>'
        f'<td class="r {f"kv-{one.kind}" if one.kind else "kv-fnt"}">{parts.escape(one.change)}</td>'
        f'<td class="kv-fnt">{parts.escape(one.known)}</td></tr>'
        for one in rows
    ))  # fmt: skip


def commands(shown: Shown, changed: dict[str, int], words: str, name: str = "interval") -> None:
    """What to run, and what it reaches."""
    topic = None if shown.kind == "broker" else shown.case.today.topic
    with st.container(key=f"kv_tune_cmd_{name}", gap=8):
        if not changed:
            lines = say("tuning.nothing_to_run", interval=shown.today.interval_bytes)
        else:
            st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{parts.escape(words)}</p>')
            lines = "\n".join(tuning_words.alter_line(name, value, topic) for name, value in changed.items())
        st.code(lines.replace(tuning_words.BOOTSTRAP, "<broker>:9092"), language=None, wrap_lines=True)
        at_once = [say("tuning.at_once", name=one) for one in changed if one not in tuning_words.NEW_SEGMENTS]
        st.html(f'<p class="kv-sm kv-fnt">{parts.escape(sentences([say("tuning.reach"), *at_once]))}</p>')


# ---- a broker, topic by topic


def topics(shown: Shown) -> None:
    """Every topic with its own answer, the densest index first; a click opens it."""
    each, cases = shown.answer.each, sorted(shown.source.cases, key=lambda one: -one.index_share)
    changing = sum(one is not None and one.verdict == tuning.Verdict.CHANGE for one in each.values())
    aside = say("tuning.some_gain", n=changing, count=len(cases)) if changing else say("tuning.none_gains")
    parts.heading(say("tuning.topics"), aside)
    st.space(10)
    head = "".join(f"<th{' class=r' if 0 < place < 7 else ''}>{say(f'tuning.head_{one}')}</th>" for place, one in enumerate(TOPIC_HEADS))
    with st.container(key="kv_topics"):
        parts.table(head, (topic_row(shown, one, each.get(one.name)) for one in cases[:MOST_TOPICS]))
    if len(cases) > MOST_TOPICS:
        st.html(f'<p class="kv-sm kv-fnt">{say("rolls.more_in_csv", n=units.group(len(cases) - MOST_TOPICS))}</p>')
    st.space(12)
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_topics_foot"):
        names = {first_partition(shown.place, one.name): one.name for one in cases}
        names.pop("", None)
        words = say("tuning.open_topic")
        look = {"label_visibility": "collapsed", "index": None, "placeholder": words, "width": 260, "key": "kv_topic_open"}
        chosen = st.selectbox(words, list(names), format_func=lambda one: names.get(one, one), **look)
        if chosen:
            go_to(shown.place, chosen)
        download(say("tuning.topics_csv"), lambda: csv_of(TOPIC_COLUMNS, map(topic_values(each), cases)), "topics.csv", "kv_topics_csv")
        if shown.source.metadata_left_out:
            st.html(f'<span class="kv-sm kv-fnt">{say("tuning.metadata_left")}</span>')
    left_out(shown)


def topic_row(shown: Shown, case: Case, one: Recommendation | None) -> str:
    """A topic, as a row; its name opens it."""
    name = parts.escape(units.legible(case.name))
    if one is None:
        return f'<tr><td>{name}</td><td class="r">0 B</td>{"<td class=r>–</td>" * 5}<td class="kv-fnt">{say("tuning.no_batch")}</td></tr>'
    row, keeps = one.today.row, one.verdict == tuning.Verdict.KEEP
    said = say("curves.keep") if keeps else f"<b>{units.group(one.value)}</b>"
    return (
        f'<tr><td>{name}</td><td class="r">{units.size(case.measured.log_bytes)}</td>'
        f'<td class="r">{units.size(case.measured.batch_bytes)}</td>'
        f'<td class="r">{units.group(one.today.interval_bytes)}</td><td class="r">{100 * one.today.index_share:.2f} %</td>'
        f'<td class="r">{row["headers_mean"]:.1f}</td><td class="r">≈ {micros(one.today.p99_us.typical)}</td>'
        f'<td class="{"kv-fnt" if keeps else ""}">{said}</td></tr>'
    )


def topic_values(each: dict) -> Callable[[Case], tuple]:
    """A topic, as numbers."""

    def of(case: Case) -> tuple:
        one = each.get(case.name)
        if one is None:
            return (case.name, case.measured.log_bytes, *[""] * 7)
        row = one.today.row
        return (
            case.name, case.measured.log_bytes, round(case.measured.batch_bytes, 1), one.today.interval_bytes, int(row["index_bytes"]),
            round(float(row["headers_mean"]), 3), int(row["headers_p99"]), str(one.verdict), one.value,
        )  # fmt: skip

    return of


def first_partition(place: Place, topic: str) -> str:
    """A topic's partition with the longest log."""
    own = [one for one in place.broker.partitions if one.topic == topic and one.state == "current"]
    return max(own, key=lambda one: one.log_bytes).directory if own else ""


def left_out(shown: Shown) -> None:
    """What could not be read."""
    problems = shown.source.problems
    if problems:
        why = "; ".join(f"{one.path.name}: {one.what}" for one in problems[:3])
        with parts.state("left_out", "warning", say("tuning.left_out", n=len(problems)), f"{why}."):
            pass


# ---- which limit, which assumption


def limits_figure(shown: Shown) -> None:
    """The interval and the index size together: which limit ends a segment."""
    room = considered_config(shown).segment_index_bytes
    asked = ("limits", shown.key, shown.config, shown.chosen, room)
    view = lab.viewed(asked, lambda: limit_map.view(shown.case.measured, shown.config, shown.chosen, room))
    with st.container(key="kv_fig_limit_map"):
        parts.figure_head(view.title, limit_map.below())
        alt = say("common.titled", title=view.title, below=limit_map.below())
        plot(lab.drawn(asked, mode(), limit_map.figure, view), "kv_limit_map", alt)
    st.space(12)
    with st.expander(say("rolls.curves_table")):
        st.html(f'<p class="kv-sm">{parts.escape(limit_map.words(view, shown.case.measured, shown.config))}</p>')
        rows = limit_map.rows(view)
        heads = [say(f"tuning.head_{one}") for one in ("interval", "safe", "first_today")]
        table(heads, [(units.group(a), units.group(b), c) for a, b, c in rows], "rrl")
        download(say("tuning.csv"), lambda: csv_of(limit_map.COLUMNS, rows), "limits.csv", "kv_limits_csv")


def assumptions_figure(shown: Shown) -> None:
    """What moves the modelled time, and whether the answer would be another."""
    asked = ("tornado", shown.key, shown.budgets, shown.costs, shown.is_tiered)
    now, found = lab.assumptions(shown.key, shown.budgets, shown.costs, shown.is_tiered, shown.case)
    answer = (str(now.verdict), now.value)
    view = lab.viewed(asked, lambda: tornado.view(found, answer, now.today.p99_us.typical, shown.budgets.p99_us))
    with st.container(key="kv_fig_tornado"):
        parts.figure_head(view.title, tornado.below())
        alt = say("common.titled", title=view.title, below=tornado.below())
        plot(lab.drawn(asked, mode(), tornado.figure, view), "kv_tornado", alt)
    st.space(12)
    with st.expander(say("tuning.as_table")):
        heads, rows = tornado.columns(), tornado.rows(view)
        table(heads, rows, "lrrrrll")
        download(say("tuning.csv"), lambda: csv_of(heads, rows), "assumptions.csv", "kv_tornado_csv")


# ---- the log once more


def considered_config(shown: Shown) -> LogConfig:
    """The settings that the sliders below say; what nobody moved is as it was."""
    fields = {}
    for name, key in state.IF.items():
        said = st.session_state.get(key) or st.query_params.get(key)
        known = {settings_lab.written(name, one): one for one in choices_of(shown, name)}
        fields[name.replace(".", "_")] = known.get(said, getattr(shown.config, name.replace(".", "_")))
    return replace(shown.config, index_interval_bytes=shown.chosen, **fields)


def choices_of(shown: Shown, name: str) -> list[int]:
    """What a slider offers: the usual values, and the log's own."""
    return sorted({*lab.SETTINGS[name], getattr(shown.config, name.replace(".", "_"))})


def once_more(shown: Shown) -> None:
    """Every batch appended anew under other settings: segments, rolls by cause, bytes, maps."""
    parts.heading(say("tuning.once_more"), "" if shown.case.logs is None else say("tuning.once_more_how"))
    st.space(10)
    if shown.case.logs is None:
        footprint(shown)
        return
    with st.container(key="kv_set"):
        for column, name in zip(st.columns(3, gap=24), state.IF, strict=True):
            with column:
                setting(shown, name)
    other = considered_config(shown)
    st.space(12)
    if shown.case.measured.log_bytes > lab.AT_ONCE_BYTES and not asked_to_replay(shown):
        return
    try:
        with st.spinner(say("tuning.appending")):
            pair = lab.replayed(shown.key, shown.config, other, shown.source)
    except KafkavizError as fault:
        with parts.state("refused", "error", say("tuning.cannot_write"), fault_words.line(fault)):
            pass
        return
    rows = before_after.replayed_rows(*pair)
    heads = [say(f"tuning.head_{one}") for one in ("written", "as_set", "as_considered")]
    before_after_table((*heads, say("rolls.change"), say("tuning.how_known")), rows)
    download(
        say("tuning.csv"), lambda: csv_of(("what", "as_set", "considered", "change", "kind", "known"), map(astuple, rows)), "replayed.csv",
        "kv_replayed_csv",
    )  # fmt: skip
    footprint(shown)
    moved = {
        name: getattr(other, name.replace(".", "_")) for name in state.IF if getattr(other, name.replace(".", "_")) != asked_of(shown, name)
    }
    if moved:
        commands(shown, moved, say("tuning.to_set_those"), "others")


def asked_of(shown: Shown, name: str) -> int:
    """A setting as the log has it."""
    return getattr(shown.config, name.replace(".", "_"))


def asked_to_replay(shown: Shown) -> bool:
    """A large log waits for its button."""
    words = say("tuning.write_once_more", size=units.size(shown.case.measured.log_bytes))
    return st.button(words, icon=":material/replay:", key="kv_replay")


def setting(shown: Shown, name: str) -> None:
    """A slider with its name and value above it, and where the log's own value is from."""
    names = [settings_lab.written(name, one) for one in choices_of(shown, name)]
    own = settings_lab.written(name, asked_of(shown, name))
    choice.slider(name, names, own, state.IF[name])
    words = say("tuning.now_inferred" if name in shown.case.today.inferred else "tuning.now_set", value=own)
    st.html(f'<div class="kv-fnt" style="font-size:12px">{parts.escape(words)}</div>')


def footprint(shown: Shown) -> None:
    """Files, maps and memory of the log's segments with the indexes of the considered interval."""
    today = replace(shown.case.today, config=considered_config(shown))
    found = tuning.footprint_at(shown.case.measured, today, shown.chosen)
    told = {name: units.group(found[name]) for name in ("files", "maps", "maps_left")}
    told |= {name: units.size(found[f"{name}_bytes"]) for name in ("preallocated", "resident")}
    of = counted("common.n_segments", found["segments"], n=units.group(found["segments"]))
    words = say("tuning.footprint", segments=of, most=units.group(MAX_MAP_COUNT), own=units.group(JVM_MAPS), **told)
    if found["stale_maps"]:
        words = sentences([words, say("tuning.footprint_stale", stale=units.group(found["stale_maps"]))])
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{parts.escape(words)}</p>')


# ---- followers, remote storage


def others(shown: Shown) -> None:
    """What other writers make of the same batches, and what remote reads carry."""
    left, right = st.columns(HALF, gap=20)
    with left, st.container(gap=None):
        by_append(shown)
    with right, st.container(gap=None):
        remote(shown)


def by_append(shown: Shown) -> None:
    """One entry an append, as followers and the cleaner wrote until KAFKA-806."""
    parts.heading(say("tuning.writers"), say("tuning.writers_at", interval=units.size(shown.today.interval_bytes)))
    st.space(8)
    rows = [
        (say(f"tuning.writer_{one.name}"), units.group(one.entries), f"{one.headers_mean:.1f}", units.group(one.headers_p99),
         f"≈ {micros(shown.costs.warm_us(one.headers_p99).typical)}")
        for one in lab.writers(shown.key, shown.today.interval_bytes, shown.case.measured.sizes)
    ]  # fmt: skip
    heads = (say("tuning.head_writer"), say("tuning.head_entries"), say("tuning.head_headers_mean"), "p99", say("tuning.head_p99_warm"))
    table(heads, rows, "wrrrr", 1 if shown.case.today.is_coarse else 0)
    words = say("tuning.writers_coarse" if shown.case.today.is_coarse else "tuning.writers_below")
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{words}</p>')
    download(say("tuning.csv"), lambda: csv_of(heads, rows), "writers.csv", "kv_writers_csv")


def remote(shown: Shown) -> None:
    """A remote read carries what it skips."""
    parts.heading(say("tuning.tiered"), "" if shown.case.today.is_tiered else say("tuning.tiered_if"))
    st.space(8)
    now, other = shown.today, shown.considered
    today = shown.case.today
    found = tuning.tiered(now, other, shown.case.measured, today)
    names = [units.size(one.interval_bytes) for one in (now, other)]
    rows = [
        (say("tuning.remote_skips"), *(units.size(float(one.row["skipped_bytes_mean"])) for one in (now, other)),
         change(float(now.row["skipped_bytes_mean"]), float(other.row["skipped_bytes_mean"]))),
        (say("tuning.remote_share"), *(f"{100 * found[f'carried_share_{one}']:.2f} %" for one in ("now", "other")), ""),
        (say("tuning.remote_cached"), *(many(found[f"cached_segments_{one}"]) for one in ("now", "other")),
         change(found["cached_segments_now"], found["cached_segments_other"])),
    ]  # fmt: skip
    heads = ("", *names, say("rolls.change"))
    table(heads, rows, "wrrr")
    words = say("tuning.remote_below", interval=units.size(int(tuning.TIERED_SHARE * today.fetch_bytes)))
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{words}</p>')
    download(say("tuning.csv"), lambda: csv_of(("what", *heads[1:]), rows), "tiered.csv", "kv_tiered_csv")


def many(count: float) -> str:
    """How many, and that all fit where there is no end."""
    return say("tuning.all") if math.isinf(count) else units.group(round(count))
