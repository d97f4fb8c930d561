"""What other index intervals would have cost a real log, and what to set."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import cost_model, sweep, tuning
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.tuning.source import open_source
from kafkaviz.figures import tuning_curve as curve
from kafkaviz.ui import anatomies, charts, parts, state
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live import places
from kafkaviz.ui.lessons.live.figure import Live, Onward, told
from kafkaviz.ui.pick import InSegment
from kafkaviz.ui.tables import table
from kafkaviz.words import language, say

INTERVALS = (0, 512, 1024, 2048, 4096, 8192, 16384, 65536)
KAFKAS = 4096
HEADS = ("interval", "offset_entries", "index_bytes", "headers_mean", "headers_p99")


# ---- swept: counted, one interval a row


def _make_sweep(block: Block) -> tuple[InSegment, np.ndarray]:
    here, anatomy = places.anatomy(block)
    return here, _swept(anatomies.key(anatomy.segment), anatomy)


@st.cache_resource(max_entries=8, show_spinner=False)
def _swept(key: str, _anatomy: Anatomy) -> np.ndarray:
    return sweep.sweep(_anatomy.batches, INTERVALS)


def _draw_sweep(made: tuple[InSegment, np.ndarray], block: Block, key: str) -> None:
    here, found = made
    parts.figure_head(
        f"{here.partition.directory}/{here.segment.name}.log, {block['data']}",
        say("workshop.sweep_below"),
    )
    st.space(8)
    table(_heads(), map(_row, found), "rrrrr", INTERVALS.index(KAFKAS))


def _heads() -> list[str]:
    return [say(f"workshop.{name}") for name in HEADS]


def _row(one: np.void) -> tuple[str, ...]:
    names = ("interval_bytes", "entries", "index_bytes", "headers_p99")
    interval, entries, index_bytes, p99 = (units.group(int(one[name])) for name in names)
    return interval, entries, index_bytes, f"{one['headers_mean']:.1f}", p99


# ---- tuned: priced, with a recommendation


@dataclass(frozen=True)
class Tuned:
    """What tuning says of a topic-partition: a view of its curves, each swept interval, the
    recommendation in one line.
    """

    place: InSegment
    view: curve.TuningCurveView
    every: tuple
    verdict: str
    today_bytes: int


def _make_tuning(block: Block) -> Tuned:
    here = places.place(block)
    return _tuned(
        f"{here.listed.key} {here.partition.directory!r}", block["considered"], language(), here
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _tuned(key: str, considered: int, spoken: str, _here: InSegment) -> Tuned:
    source = open_source(_here.partition.path)
    case, budgets, prices = source.whole, tuning.Budgets(), cost_model.costs(source.by_base_offset)
    every, today = tuning.every(case.measured, prices, budgets), case.today.interval_bytes
    if considered not in {one.interval_bytes for one in every}:
        raise NoValue(
            "considered: one of the intervals that are swept, such as 1024 or 16384, not "
            f"{considered}"
        )
    now = tuning.today_at(case.measured, prices, today, budgets)
    view = curve.view(
        every,
        now,
        considered,
        case.measured.log_bytes,
        case.measured.parts.least_batch_bytes,
        budgets,
        prices,
    )
    found = tuning.recommend(case.measured, case.today, budgets, prices)
    return Tuned(_here, view, every, _verdict(found) if found else "", today)


def _verdict(found: tuning.Recommendation) -> str:
    """What to do, in a line."""
    is_kept = found.verdict == tuning.Verdict.KEEP
    values = {"name": tuning.SETTING, "today": found.today.interval_bytes, "value": found.value}
    return say("workshop.tuning_keep" if is_kept else "workshop.tuning_change", **values)


def _draw_tuning(made: Tuned, block: Block, key: str) -> None:
    drawn = (curve.headers_figure, curve.bytes_figure)
    columns = st.columns((0.5, 0.5), gap=20)
    for number, (column, title, words, draw) in enumerate(
        zip(columns, made.view.titles, curve.below(), drawn, strict=True)
    ):
        own = f"{key}_{number}"
        with column, st.container(key=f"kv_fig_{own}"):
            parts.figure_head(title, words)
            charts.plot(
                charts.figure((own, told(block)), draw, made.view), own, f"{title}. {words}"
            )
    if made.verdict:
        of = f"{parts.escape(made.place.partition.directory)}, {parts.escape(block['data'])}"
        st.html(f'<p class="kv-sm">{of}<br><b>{parts.escape(made.verdict)}</b></p>')


def _tuning_on_paper(made: Tuned, block: Block, key: str) -> None:
    parts.figure_head(
        f"{made.place.partition.directory}, {block['data']}", say("workshop.sweep_below")
    )
    shown = [one for one in made.every if one.interval_bytes in INTERVALS]
    marked = next(
        (place for place, one in enumerate(shown) if one.interval_bytes == made.today_bytes), None
    )
    table(_heads(), [_row(one.row) for one in shown], "rrrrr", marked)


def _to_tuning(block: Block) -> Onward:
    here = places.place(block)
    return "Tuning", state.address(here.directory, here.partition.directory)


SWEEP = Live(_make_sweep, _draw_sweep, places.to_segment)
TUNING = Live(_make_tuning, _draw_tuning, _to_tuning, _tuning_on_paper)
