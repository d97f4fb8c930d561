"""The figures of lessons, from the app's own components: what each works out of its block, how it is drawn, and what it is on paper.

A figure is made before it is drawn, and making it fails with KafkavizError or NoValue where what the block asks for is not there;
check.py makes every figure of a lesson to find that out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import cost_model, pin, sweep, tuning, tuning_source
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import (
    finding_words,
    limit_curves,
    lookup_lanes,
    page_faults,
    roll_timeline,
    segment_bytes,
    segment_tables,
    segment_words,
    stepper,
    tail_pages,
)
from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures import tuning_curve as curve
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.figures.stepper import Made
from kafkaviz.search.pages import Growth, Memory, Readers
from kafkaviz.simulate.lessons import growth as grown
from kafkaviz.simulate.sending import workload
from kafkaviz.ui import anatomies, cache, lookups, page_caches, parts, pick, rolls, segment_parts, state
from kafkaviz.ui.components import bytes as bytes_door
from kafkaviz.ui.components import ruler as ruler_door
from kafkaviz.ui.components import stepper as stepper_door
from kafkaviz.ui.components.entries import entries as entries_door
from kafkaviz.ui.components.growth import growth as growth_door
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.pick import Place
from kafkaviz.words import language, say

GROWN = {"first": grown.first_segments, "full-time-index": grown.full_time_index}
MB = 1_000_000
PAPER_FIELDS, PAPER_ROWS = 26, 12  # of a table that is printed
INTERVALS = (0, 512, 1024, 2048, 4096, 8192, 16384, 65536)
SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")


@dataclass(frozen=True)
class Live:
    """A kind of figure. make(block) -> what is drawn; draw and paper(made, block, key); onward(block) -> the page it goes on in."""

    make: Callable[[Block], object]
    draw: Callable[[object, Block, str], None]
    paper: Callable[[object, Block, str], None] | None = None
    onward: Callable[[Block], tuple[str, dict[str, str]] | None] | None = None


# ---- what a block points at


def place(block: Block) -> Place:
    """The sample, topic-partition and segment of a block. Raises NoValue or CannotOpen."""
    for needed in ("data", "tp"):
        if block[needed] is None:
            raise NoValue(f"the key {needed} is missing")
    listed = cache.listed(sample(block["data"]))
    partition = listed.broker.partition(block["tp"])
    segment = pick.largest(partition) if block["segment"] is None else partition.segment(block["segment"])
    return Place(str(sample(block["data"])), listed, partition, segment)


def sample(wanted: str) -> Path:
    """The sample directory of this name, without its .tar.gz. Raises NoValue."""
    known = {_stem(path.name): path for path in cache.samples()}
    if wanted not in known:
        raise NoValue(f"there is no sample {wanted}; there are {', '.join(known)}")
    return known[wanted]


def _stem(name: str) -> str:
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)


def made(block: Block) -> Made:
    """The lookup of a block."""
    source = lookups.of_practice(block["set"]) if block["set"] else lookups.of_place(place(block))
    like = lookups.like(block["search"])
    warm = lookups.KAFKAS_WARM if block["warm"] is None else block["warm"]
    return lookups.made(source, block["by"], block["target"], lookups.release(like, warm, block["by"]))


def _key(block: Block) -> str:
    return f"lesson {language()} {block.kind} {block.said}"


# ---- a lookup


def _draw_stepper(found: Made, block: Block, key: str) -> None:
    begin_at(block)
    stepper_door.stepper(stepper.message(stepper.view(found), found, _key(block)), None, key=key)


def begin_at(block: Block) -> None:
    """The step that a stepper begins at, where its address says none: the component itself reads it there."""
    if block["step"] and "step" not in st.query_params:
        st.query_params["step"] = str(block["step"])


def _stepper_on_paper(found: Made, block: Block, key: str) -> None:
    shown = stepper.view(found)
    rows_of((say("workshop.step"), say("workshop.what_happens")), [(str(n), one.text) for n, one in enumerate(shown.steps, 1)], "rw")


def _to_lookup(block: Block) -> tuple[str, dict[str, str]]:
    asked = {state.BY: block["by"], state.TARGET: str(block["target"])}
    if block["set"]:
        warm = {} if block["warm"] is None else {state.WARM: str(block["warm"])}
        return "Lookup", {state.SET: block["set"], state.SEARCH: lookups.like(block["search"]), **asked, **warm}
    here = place(block)
    return "Lookup", here.address | asked | {state.SEARCH: lookups.like(block["search"])}


def _draw_lanes(found: Made, block: Block, key: str) -> None:
    stepper_door.lanes(lookup_lanes.message(lookup_lanes.view(found), _key(block)), key=key)


def _make_why(block: Block) -> object:
    if block["by"] != "timestamp":
        raise NoValue("why tells of a timestamp: by is timestamp")
    source = lookups.of_practice(block["set"]) if block["set"] else lookups.of_place(place(block))
    of = lookups.release(lookups.like(block["search"]), lookups.KAFKAS_WARM, block["by"])
    return lookups.why(source, lookups.made(source, block["by"], block["target"], of), of)


def _draw_why(shown: object, block: Block, key: str) -> None:
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(shown.title, shown.below)
        chart(figure(key, _key(block), mode(), why_figure.figure, shown), key, say("common.titled", title=shown.title, below=shown.below))
        st.html("".join(f'<p class="kv-sm">{parts.escape(note)}</p>' for note in shown.notes))


# ---- an index above its log


def draw_entries(found: Made, block: Block, key: str, revealed: bool = True) -> None:
    with st.container(key=f"kv_fig_{key}"):
        entries_door(_entries(found, block, revealed), key)


def _entries(found: Made, block: Block, revealed: bool) -> dict:
    """What the component is sent: slots, batches, and once it may be known where the search went."""
    segment, rows = found.log.segments[0], found.batches(0)
    slots, target = segment.offset_slots, block["target"]
    slot, scan = found.found.searches[0].found.slot, found.found.scan
    batch = scan.batch.position if scan and scan.batch else -1
    passed = sorted({read.position for read in scan.reads} - {batch}) if scan else []
    passed = [one for one in passed if one < batch]
    head = _found_words(target, slot, [int(one["position"]) for one in slots], batch)
    return {
        "title": head if revealed else say("workshop.entries_ask", target=target),
        "below": say("workshop.entries_below"),
        "slots": [[int(one["relative_offset"]), int(one["position"])] for one in slots],
        "batches": [[int(one[name]) for name in ("position", "size_bytes", "base_offset", "last_offset")] for one in rows],
        "target": target, "slot": slot, "from": scan.from_position if scan else 0, "passed": passed, "batch": batch, "revealed": revealed,
        "slot_word": say("workshop.slot"), "here": say("workshop.entries_here", target=target),
        "read": say(f"workshop.entries_read{'_one' if len(passed) == 1 else ''}", count=len(passed)) if passed else "",
    }  # fmt: skip


def _found_words(target: int, slot: int, positions: Sequence[int], batch: int) -> str:
    """Where the search began; and the entry of the target's own batch, where it is another one."""
    if slot < 0:
        return say("workshop.entries_none", target=target)
    own = positions.index(batch) if batch in positions else slot
    return say("workshop.entries_found" if own == slot else "workshop.entries_found_not", target=target, slot=slot, own=own)


# ---- a real segment


def _anatomy(block: Block) -> tuple[Place, Anatomy]:
    here = place(block)
    if here.segment.log is None:
        raise NoValue(f"the segment {here.segment.name} has no .log")
    return here, anatomies.read(here.segment)


def _chosen(anatomy: Anatomy, block: Block) -> Chosen:
    asked = pin.find(anatomy, "" if block["offset"] is None else str(block["offset"]))
    if asked.row is None:
        raise NoValue(f"offset {block['offset']}: {segment_words.not_here(anatomy, asked)}")
    return segment_tables.chosen(anatomy, asked.row, asked.slot, asked.time)


def _make_bytes(block: Block) -> tuple:
    here = place(block)
    if block["file"] in segment_bytes.FILES:
        here, anatomy = _anatomy(block)
        if block["file"] not in segment_bytes.files(here.segment):
            raise NoValue(f"the segment {here.segment.name} has no {block['file']}")
        return here, anatomy, _chosen(anatomy, block), None
    beside = {one.name: one for one in here.partition.others}
    if block["file"] not in beside:
        raise NoValue(f"{block['tp']} has no file {block['file']}")
    return here, None, None, beside[block["file"]]


def _bytes_view(made: tuple, block: Block, key: str) -> tuple[segment_bytes.BytesView, str]:
    here, anatomy, around, found = made
    of = f"{_key(block)} {here.listed.key}"
    told = bytes_door.wanted(of, key)
    wanted = segment_bytes.Wanted(told.get("outer"), told.get("inner"))
    if found is not None:
        return segment_bytes.whole(found, block["file"], wanted, block["byte"]), of
    return segment_bytes.view(anatomy, block["file"], *around, wanted, segment_bytes.Look(block["byte"])), of


def _draw_bytes(made: tuple, block: Block, key: str) -> None:
    shown, of = _bytes_view(made, block, key)
    with st.container(gap=10):
        parts.figure_head(_name(made[0], block), say("workshop.bytes_below"))
        st.html(parts.key((f"byte-{kind}", words) for kind, words in segment_bytes.legend(shown)))
        bytes_door.bytes_view(segment_bytes.message(shown, of), key=key)


def _name(here: Place, block: Block) -> str:
    file = f"{here.segment.name}{block['file']}" if block["file"].startswith(".") else block["file"]
    return f"{here.partition.directory}/{file}, {block['data']}"


def _bytes_on_paper(made: tuple, block: Block, key: str) -> None:
    shown, _ = _bytes_view(made, block, key)
    pane = shown.outer
    rows = []
    first = next((place for place, span in enumerate(pane.spans) if span.end > pane.chosen), 0)
    first = 0 if first < PAPER_FIELDS else first - PAPER_ROWS
    for span in pane.spans[first : first + PAPER_FIELDS]:
        data = pane.data[max(0, span.start - pane.first) : span.end - pane.first]
        text = data[:16].hex(" ") + (" …" if len(data) > 16 else "")
        rows.append((units.group(span.start), text, span.name, str(span.value)[:60]))
    parts.figure_head(_name(made[0], block), "")
    rows_of((say("workshop.byte"), say("workshop.raw"), say("workshop.field"), say("workshop.value")), rows, "rclw")


def _to_bytes(block: Block) -> tuple[str, dict[str, str]]:
    here = place(block)
    pinned = {} if block["offset"] is None else {state.PIN: str(block["offset"])}
    byte = {} if block["byte"] is None else {state.BYTE: str(block["byte"])}
    return "Segment", here.address | pinned | {state.TAB: "Bytes", state.FILE: block["file"]} | byte


def _make_ruler(block: Block) -> tuple:
    here, anatomy = _anatomy(block)
    return here, anatomy, _chosen(anatomy, block)


def _draw_ruler(made: tuple, block: Block, key: str) -> None:
    here, anatomy, _ = made
    wanted = ruler_door.state("slice", anatomies.key(anatomy.segment), key)
    asked = pin.find(anatomy, wanted.get("offset") or ("" if block["offset"] is None else str(block["offset"])))
    row = int(wanted["row"]) if "row" in wanted else pin.row_at(anatomy, int(wanted["position"])) if "position" in wanted else None
    ruler_door.ruler(anatomies.message(anatomy, asked, "Plain", row, here.address), key=key)


def _ruler_on_paper(made: tuple, block: Block, key: str) -> None:
    here, anatomy, around = made
    parts.figure_head(f"{here.partition.directory}/{here.segment.name}, {block['data']}", "")
    segment_parts.index(segment_tables.index_rows(anatomy, around))


def _to_segment(block: Block) -> tuple[str, dict[str, str]]:
    pinned = {} if block["offset"] is None else {state.PIN: str(block["offset"])}
    return "Segment", place(block).address | pinned


def _draw_table(made: tuple, block: Block, key: str) -> None:
    here, anatomy, around = made
    end = {"batches": ".log", "index": ".index", "time-index": ".timeindex"}[block["of"]]
    parts.figure_head(f"{here.partition.directory}/{here.segment.name}{end}, {block['data']}", say("workshop.rows_below"))
    st.space(8)
    if block["of"] == "batches":
        segment_parts.batches(segment_tables.batch_rows(anatomy, around))
    elif block["of"] == "index":
        segment_parts.index(segment_tables.index_rows(anatomy, around))
    else:
        segment_parts.time_index(segment_tables.time_rows(anatomy, around, ""))


def _make_segments(block: Block) -> tuple[Place, int | None]:
    here = place(block)
    held = None if block["offset"] is None else pick.segment_of(here.partition, block["offset"]).base_offset
    return here, held


def _draw_segments(made: tuple, block: Block, key: str) -> None:
    here, held = made
    head = "".join(f"<th{kind}>{say(f'workshop.{name}')}</th>" for name, kind in (
        ("base_offset", ' class="r"'), ("files", ""), ("log_bytes", ' class="r"'),
    ))  # fmt: skip
    rows = []
    for one in here.partition.live:
        ends = " ".join(file.path.suffix for file in one.files)
        mark = f' <b style="color:var(--kv-hit-text)">✓ {units.group(block["offset"])}</b>' if one.base_offset == held else ""
        named = f'{parts.mono(one.name)}{mark}<div class="kv-fnt kv-sm">{escape(ends)}</div>'
        cells = f'<td class="r">{units.group(one.base_offset)}</td><td>{named}</td>'
        rows.append(f'<tr{" class=on" if mark else ""}>{cells}<td class="r">{units.group(one.log.size_bytes)}</td></tr>')
    with st.container(key=f"kv_fig_{key}"):
        count = units.group(len(here.partition.live))
        parts.figure_head(say("workshop.segments_of", count=count, name=here.partition.directory), say("workshop.segments_below"))
        parts.table(head, rows)


# ---- a log that grows


def growth_of(story: str) -> growth_figure.GrowthView:
    """A story of simulate.lessons.growth, in words."""
    return _growth_of(story, language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _growth_of(story: str, spoken: str) -> growth_figure.GrowthView:
    return growth_figure.view(GROWN[story](), f"lesson {story}")


def _draw_growth(shown: growth_figure.GrowthView, block: Block, key: str) -> None:
    begin_at(block)
    growth_door(growth_figure.message(shown), key=key)


def _growth_on_paper(shown: growth_figure.GrowthView, block: Block, key: str) -> None:
    heads = ("step", "what_happens", "counter", "offset_entries", "time_entries")
    last = block["step"] or PAPER_ROWS
    rows_of([say(f"workshop.{name}") for name in heads], growth_figure.rows(shown)[max(0, last - PAPER_ROWS) : last], "rwrrr")


def workload_named(name: str) -> workload.Workload:
    """One of the presets, or of the two that the Rolls page begins with, by its topic. Raises NoValue."""
    known = {one.topic: one for one in rolls.workloads().values()} | workload.presets()
    if name not in known:
        raise NoValue(f"there is no workload {name}; there are {', '.join(known)}")
    return known[name]


def simulated(block: Block) -> rolls.Simulated:
    """The log of a block's workload, with its settings changed as the block says."""
    of = workload_named(block["workload"])
    return rolls.simulated(of, rolls.config_of(of, block.others))


def _draw_rolls(run: rolls.Simulated, block: Block, key: str) -> None:
    drawn = rolls.timeline(f"{run.key} {key}", 0, mode(), run.lanes, run.appended)
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(drawn.view.title, drawn.view.below)
        chart(drawn.figure, key, say("common.titled", title=drawn.view.title, below=drawn.view.below))
        causes = (("roll-size", "size"), ("roll-time", "time"), ("roll-offset", "offset_index"), ("roll-timestamp", "time_index"))
        st.html(parts.key((kind, say(f"workshop.{word}")) for kind, word in causes))


def _to_rolls(block: Block) -> tuple[str, dict[str, str]]:
    return "Rolls", {state.ROLLS_OF: "Simulated", state.WORKLOAD: workload_named(block["workload"]).title}


def _draw_limits(run: rolls.Simulated, block: Block, key: str) -> None:
    drawn = rolls.curves(f"{run.key} {key}", mode(), run.lanes, run.load)
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(drawn.view.title, drawn.view.below)
        chart(drawn.figure, key, say("common.titled", title=drawn.view.title, below=drawn.view.below))


def _rolls_on_paper(run: rolls.Simulated, block: Block, key: str) -> None:
    shown = roll_timeline.view(run.lanes, 0, run.appended)
    heads = [say(f"workshop.{name}") for name in ("segment", "cause", "because")]
    parts.figure_head(shown.title, "")
    rows_of(heads, [(one.name, one.cause, one.because) for one in shown.rows], "llw")


def _limits_on_paper(run: rolls.Simulated, block: Block, key: str) -> None:
    shown = limit_curves.view(run.lanes.config, run.load, run.lanes.bytes_per_s)
    st.html(f"<p>{escape(shown.title)}</p>")


# ---- pages of memory


def _make_pages(block: Block) -> tuple:
    wanted = page_caches.Settings(
        Growth(block["pages"] * 512, block["gap"], 8), Memory(4096, block["cold"] * MB, 0),
        Readers(0.0, *page_caches.LAG["anywhere"], 1, page_caches.DEFAULT_SEED), 8192,
    )  # fmt: skip
    plain, warm = page_caches.images(wanted)
    return page_faults.view(plain if block["search"] == "plain" else warm, block["search"], wanted.warm_bytes)


def _draw_pages(shown: page_faults.PageFaultsView, block: Block, key: str) -> None:
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(shown.title, shown.below)
        chart(figure(key, _key(block), mode(), page_faults.figure, shown), key, say("common.titled", title=shown.title, below=shown.below))


def _to_pages(block: Block) -> tuple[str, dict[str, str]]:
    return "Page cache", {}


def _draw_tail(shown: tail_pages.TailPagesView, block: Block, key: str) -> None:
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(shown.title, shown.below)
        chart(figure(key, _key(block), mode(), tail_pages.figure, shown), key, say("common.titled", title=shown.title, below=shown.below))


# ---- what is wrong, and what it costs


@st.cache_resource(max_entries=8, show_spinner=False)
def _findings(key: str, directory: str, _here: Place) -> tuple:
    from kafkaviz.analyse import health

    return health.check(_here.broker, partition=directory).findings


def _make_findings(block: Block) -> list:
    here = place(block)
    found = [one for one in _findings(here.listed.key, here.partition.directory, here) if not block["code"] or one.code in block["code"]]
    missing = set(block["code"]) - {one.code for one in found}
    if missing:
        raise NoValue(f"{block['tp']} has no finding {', '.join(sorted(missing))}")
    return found


def _draw_findings(found: list, block: Block, key: str) -> None:
    head = "".join(f"<th>{say(f'workshop.{name}')}</th>" for name in ("file", "what_is_there", "what_kafka_does"))
    wrap = ' style="white-space:normal"'
    rows = [
        f'<tr><td class="kv-mono">{escape(Path(one.file or "").name)}</td>'
        f"<td{wrap}>{escape(finding_words.told(one.message))}</td><td{wrap}>{escape(finding_words.consequence(one))}</td></tr>"
        for one in found
    ]
    parts.figure_head(f"{block['tp']}, {block['data']}", say("workshop.findings_below"))
    st.space(8)
    parts.table(head, rows)


def _to_health(block: Block) -> tuple[str, dict[str, str]]:
    return "Health", state.address(sample(block["data"]))


def _make_sweep(block: Block) -> tuple:
    here, anatomy = _anatomy(block)
    return here, _swept(anatomies.key(anatomy.segment), anatomy)


@st.cache_resource(max_entries=8, show_spinner=False)
def _swept(key: str, _anatomy: Anatomy) -> object:
    return sweep.sweep(_anatomy.batches, INTERVALS)


def _draw_sweep(made: tuple, block: Block, key: str) -> None:
    here, found = made
    parts.figure_head(f"{here.partition.directory}/{here.segment.name}.log, {block['data']}", say("workshop.sweep_below"))
    st.space(8)
    rows_of(_sweep_heads(), map(_sweep_row, found), "rrrrr", INTERVALS.index(4096))


def _sweep_heads() -> list[str]:
    return [say(f"workshop.{name}") for name in ("interval", "offset_entries", "index_bytes", "headers_mean", "headers_p99")]


def _sweep_row(one: np.void) -> tuple[str, ...]:
    names = ("interval_bytes", "entries", "index_bytes", "headers_p99")
    interval, entries, index_bytes, p99 = (units.group(int(one[name])) for name in names)
    return interval, entries, index_bytes, f"{one['headers_mean']:.1f}", p99


@dataclass(frozen=True)
class Tuned:
    """What tuning says of a topic-partition: a view of its curves, each swept interval, the recommendation in one line."""

    place: Place
    view: curve.TuningCurveView
    every: tuple
    verdict: str
    today_bytes: int


def _make_tuning(block: Block) -> Tuned:
    here = place(block)
    return _tuned(f"{here.listed.key} {here.partition.directory}", block["considered"], language(), here)


@st.cache_resource(max_entries=8, show_spinner=False)
def _tuned(key: str, considered: int, spoken: str, _here: Place) -> Tuned:
    source = tuning_source.open_source(_here.partition.path)
    case, budgets, prices = source.whole, tuning.Budgets(), cost_model.costs(source.by_base_offset)
    every, today = tuning.every(case.measured, prices, budgets), case.today.interval_bytes
    if considered not in {one.interval_bytes for one in every}:
        raise NoValue(f"considered: one of the intervals that are swept, such as 1024 or 16384, not {considered}")
    now = tuning.today_at(case.measured, prices, today, budgets)
    view = curve.view(every, now, considered, case.measured.log_bytes, case.measured.parts.least_batch_bytes, budgets, prices)
    found = tuning.recommend(case.measured, case.today, budgets, prices)
    return Tuned(_here, view, every, _verdict(found) if found else "", today)


def _verdict(found: tuning.Recommendation) -> str:
    """What to do, in a line."""
    is_kept = found.verdict == tuning.Verdict.KEEP
    values = {"name": tuning.SETTING, "today": found.today.interval_bytes, "value": found.value}
    return say("workshop.tuning_keep" if is_kept else "workshop.tuning_change", **values)


def _draw_tuning(made: Tuned, block: Block, key: str) -> None:
    below = curve.below()
    drawn = (curve.headers_figure, curve.bytes_figure)
    columns = st.columns((0.5, 0.5), gap=20)
    for number, (column, title, words, draw) in enumerate(zip(columns, made.view.titles, below, drawn, strict=True)):
        with column, st.container(key=f"kv_fig_{key}_{number}"):
            parts.figure_head(title, words)
            chart(figure(f"{key}_{number}", _key(block), mode(), draw, made.view), f"{key}_{number}", f"{title}. {words}")
    if made.verdict:
        of = f"{escape(made.place.partition.directory)}, {escape(block['data'])}"
        st.html(f'<p class="kv-sm">{of}<br><b>{escape(made.verdict)}</b></p>')


def _tuning_on_paper(made: Tuned, block: Block, key: str) -> None:
    parts.figure_head(f"{made.place.partition.directory}, {block['data']}", say("workshop.sweep_below"))
    shown = [one for one in made.every if one.interval_bytes in INTERVALS]
    marked = next((place for place, one in enumerate(shown) if one.interval_bytes == made.today_bytes), None)
    rows_of(_sweep_heads(), [_sweep_row(one.row) for one in shown], "rrrrr", marked)


def _to_tuning(block: Block) -> tuple[str, dict[str, str]]:
    here = place(block)
    return "Tuning", state.address(here.directory, here.partition.directory)


# ---- small parts


def chart(figure: object, key: str, alt: str) -> None:
    """A Plotly figure in our own look."""
    st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=key, alt=alt)


@st.cache_resource(max_entries=32, show_spinner=False)
def figure(key: str, said: str, mode: str, _draw: Callable, _shown: object) -> object:
    """A view drawn in a mode, once for as long as a block says the same."""
    return _draw(_shown, mode)


def mode() -> str:
    """Light or dark; paper is light."""
    return "light" if st.query_params.get(state.PAPER) else st.context.theme.type or "light"


def rows_of(heads: Sequence[str], rows: Iterable[Sequence[str]], kinds: str, mine: int | None = None) -> None:
    """A table of plain text; kinds: a letter a column: l left, r right, w text that breaks, c bytes. mine: the row to mark."""
    looks = {"l": "", "r": ' class="r"', "w": ' style="white-space:normal"', "c": ' class="kv-mono"'}
    cells = (
        f"<tr{' class=on' if place == mine else ''}>"
        + "".join(f"<td{looks[kind]}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for place, row in enumerate(rows)
    )  # fmt: skip
    parts.table("".join(f"<th{looks[kind]}>{escape(head)}</th>" for kind, head in zip(kinds, heads, strict=True)), cells)


def _set_of(block: Block) -> Made:
    """A lookup by offset in a practice log."""
    source = lookups.of_practice(block["set"])
    return lookups.made(source, "offset", block["target"], lookups.release(lookups.versions.NEWEST, lookups.KAFKAS_WARM, "offset"))


LIVE = {
    "entries": Live(_set_of, draw_entries, None, lambda block: (
        "Lookup", {state.SET: block["set"], state.BY: "offset", state.TARGET: str(block["target"])},
    )),
    "stepper": Live(made, _draw_stepper, _stepper_on_paper, _to_lookup),
    "lanes": Live(made, _draw_lanes, None, _to_lookup),
    "why": Live(_make_why, _draw_why, None, _to_lookup),
    "bytes": Live(_make_bytes, _draw_bytes, _bytes_on_paper, _to_bytes),
    "ruler": Live(_make_ruler, _draw_ruler, _ruler_on_paper, _to_segment),
    "table": Live(_make_ruler, _draw_table, None, _to_segment),
    "segments": Live(_make_segments, _draw_segments, None, _to_segment),
    "growth": Live(lambda block: growth_of(block["story"]), _draw_growth, _growth_on_paper, lambda block: ("Rolls", {})),
    "pages": Live(_make_pages, _draw_pages, None, _to_pages),
    "tail-pages": Live(lambda block: tail_pages.view(block["entries"]), _draw_tail, None, _to_pages),
    "rolls": Live(simulated, _draw_rolls, _rolls_on_paper, _to_rolls),
    "limits": Live(simulated, _draw_limits, _limits_on_paper, _to_rolls),
    "findings": Live(_make_findings, _draw_findings, None, _to_health),
    "tuning": Live(_make_tuning, _draw_tuning, _tuning_on_paper, _to_tuning),
    "sweep": Live(_make_sweep, _draw_sweep, None, _to_segment),
}  # fmt: skip

__all__ = ["LIVE", "Live", "draw_entries", "growth_of", "place", "rows_of", "simulated"]
