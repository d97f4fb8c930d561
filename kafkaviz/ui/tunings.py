"""What the Tuning page works out, kept between reruns: logs measured in the background, answers by budgets, replays, drawn figures."""

import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import streamlit as st

from kafkaviz import words
from kafkaviz.analyse import calibration, cost_model, sweep, tuning, tuning_object, tuning_source, what_if
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import Assumption, At, Budgets, Recommendation
from kafkaviz.analyse.tuning_source import Case, Source
from kafkaviz.analyse.what_if import WhatIf
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS
from kafkaviz.errors import KafkavizError
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending import workload
from kafkaviz.ui import cache, state
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.rolls import workloads as rolls
from kafkaviz.units import legible
from kafkaviz.words import say

KEPT = 24
READINGS = 12  # that are kept, the newest
PATIENCE_S = 2.5  # that a page waits for a reading before it shows how far it is
AT_ONCE_BYTES = 256 << 20  # of .log that is written once more without being asked for
REPORTED_BYTES = 1 << 30  # of .log, in a report that a page makes
BROKER, WORKLOAD, ALL_OF = state.WHOLE_BROKER, "Workload", "all of "  # as values of state.TUNING_OF
OWN = rolls.OWN
ANY, AS_FOUND, CALIBRATED, UNCOUNTED = "any", "as the directory tells", "calibrated", "not counted"
WARM = " warm"
P99_US = {
    "10 µs warm": 10.0,
    "25 µs warm": 25.0,
    "50 µs warm": 50.0,
    "100 µs warm": 100.0,
    "250 µs warm": 250.0,
    "1 ms warm": 1000.0,
    ANY: None,
}
COLD_P99_US = {ANY: None, "0.5 ms": 500.0, "1 ms": 1000.0, "5 ms": 5000.0, "20 ms": 20_000.0, "100 ms": 100_000.0}
FETCHES = {UNCOUNTED: None, "100": 100.0, "1 000": 1000.0, "10 000": 10_000.0, "100 000": 100_000.0}
CORES = {ANY: None, "0.05": 0.05, "0.1": 0.1, "0.5": 0.5, "1": 1.0, "4": 4.0}
SHARE = {ANY: None, "0.05 %": 0.0005, "0.1 %": 0.001, "0.5 %": 0.005, "1 %": 0.01, "5 %": 0.05}
RELEASES = (AS_FOUND, "4.3.1", "4.1.0", "4.0.2", "3.9.0", "2.8.2")
DEFAULT_P99 = "50 µs warm"
TIERED = {"as the topic says": False, "tiered": True}
TOLD = {  # names of options that are words; times, shares and numbers are the same in every language
    ANY: "any", AS_FOUND: "as_found", CALIBRATED: "calibrated", UNCOUNTED: "uncounted", "as the topic says": "as_topic", "tiered": "tiered",
    BROKER: "broker", WORKLOAD: "workload",
}  # fmt: skip
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SETTINGS = {  # to replay with: the values that a slider offers
    "segment.bytes": (MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 2**31 - 1),
    "segment.ms": (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS),
    "segment.index.bytes": (4 * KIB, 16 * KIB, 64 * KIB, 100 * KIB, 256 * KIB, MIB, 2 * MIB, 10 * MIB),
}


# ---- what is tuned


@dataclass(frozen=True)
class Wanted:
    """What is to be measured. given: as tuning_source.open_source takes it, or the text of a workload; sizes: bytes by .log."""

    key: str
    given: str
    kind: str
    sizes: tuple[tuple[str, int], ...] = ()
    is_text: bool = False
    version: str | None = None

    @property
    def total_bytes(self) -> int:
        """Of .log, that are read."""
        return sum(size for _, size in self.sizes)


def scopes(broker: Broker | None, own: Partition | None, others: int = 2) -> dict[str, tuple[str, str]]:
    """What there is to choose from, by label: (kind, topic-partition or topic). The open topic-partition and the largest others, the
    whole of its topic where that has more, the broker, and a workload."""
    found = {}
    if broker and own:
        near = sorted(_rivals(broker, own), key=_log_bytes, reverse=True)[:others]
        several = sum(one.topic == own.topic and one.state == "current" for one in broker.partitions) > 1
        shown = sorted([own, *near[: others - several]], key=_log_bytes, reverse=True)
        found |= {legible(one.directory): ("partition", one.directory) for one in shown}
        if several:
            found[f"{ALL_OF}{legible(own.topic)}"] = ("topic", own.topic)
    if broker and broker.partitions:
        found[BROKER] = ("broker", "")
    return found | {WORKLOAD: ("workload", "")}


def told(option: str) -> str:
    """The name of an option in the reader's language."""
    if option in TOLD:
        return say(f"tuning.option_{TOLD[option]}")
    if option.startswith(ALL_OF):
        return say("tuning.option_all_of", topic=option.removeprefix(ALL_OF))
    return say("tuning.option_warm", us=option.removesuffix(WARM)) if option.endswith(WARM) else option


def _rivals(broker: Broker, own: Partition) -> list[Partition]:
    usual = (one for one in broker.partitions if one.state == "current" and not one.topic.startswith("__"))
    return [one for one in usual if one.directory != own.directory and one.topic != own.topic]


def _log_bytes(partition: Partition) -> int:
    return sum(one.log.size_bytes for one in partition.live if one.log)


def wanted(here: Listed, kind: str, name: str, version: str | None) -> Wanted:
    """A part of a broker directory."""
    broker = here.broker
    chosen = [one for one in broker.partitions if one.state == "current" and _is_meant(one, kind, name)]
    sizes = tuple((f"{one.directory}/{part.name}.log", part.log.size_bytes) for one in chosen for part in one.live)
    given = {"partition": lambda: broker.partition(name).path, "topic": lambda: broker.path / name, "broker": lambda: broker.path}[kind]()
    return Wanted(f"{here.key}|{kind}|{name}|{version}", str(given), kind, sizes, version=version)


def _is_meant(partition: Partition, kind: str, name: str) -> bool:
    return kind == "broker" or name == (partition.directory if kind == "partition" else partition.topic)


def wanted_workload(name: str, text: str, version: str | None) -> Wanted:
    """A workload that comes along, by its title, or a text that somebody wrote."""
    if name != OWN:
        return Wanted(f"workload|{name}|{version}", presets()[name], "workload", version=version)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Wanted(f"workload|{digest}|{version}", text, "workload", is_text=True, version=version)


@st.cache_resource(show_spinner=False)
def presets() -> dict[str, str]:
    """The workloads that come along: their names, by title."""
    return {one.title: name for name, one in workload.presets().items()}


def story(name: str) -> str:
    """What a workload is about, in a sentence or two."""
    return say("tuning.own_below") if name == OWN else rolls.story_of(name)


# ---- measured in the background


class Stopped(Exception):
    """Somebody pressed Cancel."""


class Reading:
    """One source that is being measured, in a thread of its own."""

    def __init__(self, of: Wanted) -> None:
        self.of, self.since, self.used = of, time.monotonic(), time.monotonic()
        self.source: Source | None = None
        self.fault: Exception | None = None
        self._sizes, self._done_bytes, self._now, self._share, self._is_stopped = dict(of.sizes), 0, "", 0.0, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.source = _opened(self.of, self._watch)
        except (KafkavizError, Stopped) as fault:
            self.fault = fault
        except Exception as fault:  # the thread has nobody above it: the page shows what went wrong
            self.fault = KafkavizError(f"{type(fault).__name__}: {fault}")

    def _watch(self, name: str, share: float = 0.0) -> None:
        if self._is_stopped:
            raise Stopped
        if name != self._now:
            self._done_bytes += self._sizes.get(self._now, 0)
        self._now, self._share = name, share

    def wait(self, patience_s: float) -> bool:
        """Whether it ended within so long."""
        self.used = time.monotonic()
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Ends at the next step of a log."""
        self._is_stopped = True

    @property
    def progress(self) -> tuple[int, int, str, float]:
        """(bytes of .log that are done, of the one that is read now as much as its share, of how many, that .log, seconds so far)."""
        done = self._done_bytes + int(self._share * self._sizes.get(self._now, 0))
        return done, self.of.total_bytes, self._now, time.monotonic() - self.since


def _opened(of: Wanted, watch: tuning_source.Watch) -> Source:
    if not of.is_text:
        return tuning_source.open_source(of.given, of.version, watch=watch)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.toml"
        path.write_text(of.given, encoding="utf-8")
        return tuning_source.open_source(path, of.version)


class Readings:
    """The readings of this server, by what they read: no log is measured twice at once."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), {}

    def of(self, wanted: Wanted) -> Reading:
        """The one of this key; it is begun where there is none, and anew after it was cancelled."""
        with self._lock:
            found = self._known.get(wanted.key)
            if found is None or isinstance(found.fault, Stopped):
                found = self._known[wanted.key] = Reading(wanted)
                for key in sorted(self._known, key=lambda one: self._known[one].used)[:-READINGS]:
                    self._known.pop(key).cancel()
            return found


@st.cache_resource(show_spinner=False)
def readings() -> Readings:
    """This server's readings."""
    return Readings()


# ---- answers


def costs(source: Source, storage: str) -> Costs:
    """The prices for the release that wrote the log; storage: of cost_model.STORAGES, or as this machine was calibrated."""
    return cost_model.costs(source.by_base_offset, None if storage == CALIBRATED else storage, measured=calibrated())


def calibrated() -> dict | None:
    """The last calibration; a page goes on with presets where the file is none."""
    try:
        return calibration.kept()
    except KafkavizError:
        return None


def storages() -> list[str]:
    """What cold reads can be priced with; what this machine measured first."""
    found = calibrated()
    return [*([CALIBRATED] if found and found.get("random_read_us") else []), *_default_first()]


def _default_first() -> list[str]:
    names = list(cost_model.STORAGES)
    return [cost_model.DEFAULT_STORAGE, *(one for one in names if one != cost_model.DEFAULT_STORAGE)]


def with_tiered(source: Source, is_tiered: bool) -> Source:
    """The same, its topics with remote storage."""
    if not is_tiered:
        return source
    return replace(source, cases=tuple(replace(one, today=replace(one.today, is_tiered=True)) for one in source.cases))


@dataclass(frozen=True)
class Answer:
    """All that is known of a source under budgets and prices. each: the answer of each case by name; every: each swept interval priced."""

    case: Case
    whole: Recommendation | None
    each: dict[str, Recommendation | None]
    every: tuple[At, ...]


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def answer(key: str, budgets: Budgets, prices: Costs, is_tiered: bool, _source: Source) -> Answer:
    """The answer for a source. key: of what was measured."""
    source = with_tiered(_source, is_tiered)
    case = source.whole
    each, whole = tuning.answers(source.cases, case, budgets, prices)
    return Answer(case, whole, each, tuning.every(case.measured, prices, budgets) if whole else ())


def tuned_object(source: Source, known: Answer, budgets: Budgets, prices: Costs, is_tiered: bool = False) -> str:
    """The object that kafkaviz tune --json prints."""
    found = tuning_object.as_object(with_tiered(source, is_tiered), known.each, known.whole, budgets, prices)
    return json.dumps(found, indent=1, ensure_ascii=False)


def log_bytes(here: Listed) -> int:
    """Of all .log files of a broker directory."""
    return sum(map(_log_bytes, here.broker.partitions))


def report(here: Listed) -> str:
    """The report of a broker directory, dated now; of its checkup what the catalog tells, if it is fresh."""
    from kafkaviz import report as html  # it takes Plotly's own text, which no page needs before

    return html.report(here.broker, int(1000 * time.time()), checked=cache.told_health(here))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def assumptions(key: str, budgets: Budgets, prices: Costs, is_tiered: bool, _case: Case) -> tuple[Recommendation, tuple[Assumption, ...]]:
    """The answer for all batches together, and what moves it."""
    found = tuning.recommend(_case.measured, _case.today, budgets, prices)
    return found, tuning.tornado(_case.measured, _case.today, budgets, prices)


def drawn(key: tuple, mode: str, draw: Callable, shown: object) -> object:
    """A view as it is drawn in a mode. key: of what the view depends on."""
    return _drawn(key, mode, words.language(), draw, shown)


@st.cache_resource(max_entries=2 * KEPT, show_spinner=False)
def _drawn(key: tuple, mode: str, language: str, _draw: Callable, _shown: object) -> object:
    return _draw(_shown, mode)


def viewed(key: tuple, view: Callable) -> object:
    """A view that takes some time to work out."""
    return _viewed(key, words.language(), view)


@st.cache_resource(max_entries=2 * KEPT, show_spinner=False)
def _viewed(key: tuple, language: str, _view: Callable) -> object:
    return _view()


# ---- the log once more


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def replayed(key: str, config: LogConfig, other: LogConfig, _source: Source) -> tuple[WhatIf, WhatIf]:
    """The log with its settings and with others. Raises KafkavizError with Kafka's exception where it takes one with an exception."""
    case = _source.whole
    changed = {name: getattr(other, name) for name in LogConfig.__dataclass_fields__}
    return what_if.compare(case.logs, config, changed, _source.of, case.is_leader)


# ---- other writers


@dataclass(frozen=True)
class Writer:
    """Who wrote an index, of WRITERS, and what a lookup in it reads: entries, mean and p99 of headers, the mean of skipped bytes."""

    name: str
    append_bytes: int | None
    entries: int
    headers_mean: float
    headers_p99: int
    skipped_bytes_mean: float


WRITERS = {"batch": None, "follower": 16 * KIB, "cleaner": sweep.CLEANER_APPEND_BYTES, "catching_up": sweep.FOLLOWER_APPEND_BYTES}
_COLUMNS = np.dtype([("size_bytes", "i8"), ("base_offset", "i8"), ("last_offset", "i8"), ("max_timestamp_ms", "i8")])


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def writers(key: str, interval_bytes: int, _sizes: Sequence[np.ndarray]) -> tuple[Writer, ...]:
    """The same batches, indexed append by append: counted, at one interval. _sizes: sweep.SIZES of each segment."""
    segments = [_batches(one) for one in _sizes]
    found = []
    for name, append_bytes in WRITERS.items():
        row = sweep.sweep(segments, (interval_bytes,), append_bytes=append_bytes)[0]
        mean, skipped = float(row["headers_mean"]), float(row["skipped_bytes_mean"])
        found.append(Writer(name, append_bytes, int(row["entries"]), mean, int(row["headers_p99"]), skipped))
    return tuple(found)


def _batches(sizes: np.ndarray) -> np.ndarray:
    """Batches of these sizes; offsets only tell whether one holds one record."""
    rows = np.zeros(len(sizes), _COLUMNS)
    rows["size_bytes"] = sizes["size_bytes"]
    rows["base_offset"] = 2 * np.arange(len(sizes))
    rows["last_offset"] = rows["base_offset"] + ~sizes["is_single"]
    rows["max_timestamp_ms"] = -1
    return rows
