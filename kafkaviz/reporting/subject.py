"""All that a report tells of, worked out before a line of it is written: inventory, checkup,
tuning, and what else was asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kafkaviz.analyse import calibration, cost_model, health, overview, tail, tuning
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.health import Health
from kafkaviz.analyse.infer.version import Looks, looks_like
from kafkaviz.analyse.overview import UNKNOWN, Overview
from kafkaviz.analyse.tuning import At, Budgets, Recommendation
from kafkaviz.analyse.tuning.source import Case, Source, open_source
from kafkaviz.errors import KafkavizError
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import open_settings
from kafkaviz.pipeline.content import Content, content, merged
from kafkaviz.pipeline.rows import codec_names
from kafkaviz.reporting import inputs, records
from kafkaviz.reporting.inputs import Digest
from kafkaviz.reporting.records import Sample

Watch = Callable[[str], None]  # told what is being read


@dataclass(frozen=True)
class Tuned:
    """The tuning of all that was opened: the answer of each topic by its name, that for all
    together, and each interval with its prices.
    """

    source: Source
    answers: Mapping[str, Recommendation | None]
    whole: Recommendation
    every: tuple[At, ...]
    budgets: Budgets
    costs: Costs

    @property
    def case(self) -> Case:
        """All of it together."""
        return self.source.whole


@dataclass(frozen=True)
class Subject:
    """What a report tells of.

    tails: what stands behind the last whole batch, in words, by topic-partition directory and base
    offset. tuned: None where nothing can be tuned, untuned says why. samples, digests: None where
    nobody asked for records or checksums.
    """

    overview: Overview
    looks: Looks
    tails: Mapping[tuple[str, int], str]
    health: Health
    tuned: Tuned | None
    untuned: str = ""
    samples: tuple[Sample, ...] | None = None
    digests: tuple[Digest, ...] | None = None

    @property
    def broker(self) -> Broker:
        """The directory."""
        return self.overview.broker


def gather(
    broker: Broker,
    version: str | None = None,
    typed: Mapping[str, str] | None = None,
    checked: Health | None = None,
    with_payload: bool = False,
    with_sha256: bool = False,
    watch: Watch = lambda what: None,
) -> Subject:
    """Reads the directory. version, typed: as for a checkup. checked: a checkup that there is
    already, by the same release.

    RefusedSetting, CannotOpen; a broken segment is left out and named.
    """
    settings = (
        open_settings(broker, health.assumed_version(broker, version).version, typed)
        if typed
        else None
    )
    checked = checked or health.check(
        broker, version, settings=settings, watch=lambda one: watch(f"checking {one.directory}")
    )
    listed, tails = _counted(broker, watch)
    tuned, why = _tuned(broker, checked.version.text, typed or {}, watch)
    samples = tuple(records.samples(broker, watch)) if with_payload else None
    digests = tuple(inputs.digests(broker, watch)) if with_sha256 else None
    return Subject(listed, looks_like(broker), tails, checked, tuned, why, samples, digests)


# ---- the inventory


def _counted(broker: Broker, watch: Watch) -> tuple[Overview, dict[tuple[str, int], str]]:
    """The listing with what every header and every index tells, and what stands behind the last
    batches.
    """
    found, problems, tails = overview.inventory(broker), list(broker.problems), {}
    rows, codecs, entries = found.segments.copy(), {}, []
    for place, partition in enumerate(broker.partitions):
        watch(f"counting {partition.directory}")
        before, used = 0, 0
        for row, segment in zip(
            rows[found.starts[place] : found.starts[place + 1]], partition.segments, strict=True
        ):
            try:
                positions, told, behind = _read(segment, row)
            except KafkavizError as fault:
                row["left_out"] = True
                problems.append(Problem.of(segment.files[0].path, fault))
            else:
                entries.append(
                    (place, positions[(positions >= 0) & (positions < row["log_bytes"])] + before)
                )
                used |= told.codecs
                if behind:
                    tails[partition.directory, segment.base_offset] = behind
            before += int(row["log_bytes"])
        codecs[partition.directory] = codec_names(used)
    places = [np.full(len(positions), place, np.int32) for place, positions in entries]
    positions = np.concatenate([np.empty(0, np.int64), *(one for _, one in entries)])
    dense = overview.Entries(np.concatenate([np.empty(0, np.int32), *places]), positions)
    together = tuple({one.path: one for one in problems}.values())
    return replace(found, segments=rows, entries=dense, codecs=codecs, problems=together), tails


def _read(segment: Segment, row: np.void) -> tuple[np.ndarray, Content, str]:
    """Fills the counts of a segment's row; (the positions in its offset index, what its headers
    tell, what stands behind them).
    """
    once = replace(segment)  # a segment keeps the indexes that it read for as long as it lives
    positions, times = once.offset_index["position"], len(once.time_index)
    scan = once.scan() if once.log else None
    told = merged(map(content, scan)) if scan else Content()
    valid_bytes = scan.end.position if scan else 0
    values = {
        "batches": told.batches,
        "records": told.records,
        "valid_bytes": valid_bytes,
        "torn_bytes": int(row["log_bytes"]) - valid_bytes,
        "last_offset": told.last_offset,
        "max_timestamp_ms": told.max_timestamp_ms,
        "offset_entries": len(positions),
        "time_entries": times,
    }
    for name, value in values.items():
        row[name] = UNKNOWN if value is None else value
    behind = tail.read(once.log, valid_bytes, told.last_offset) if once.log else None
    return positions, told, behind.words if behind and segment.in_use else ""


# ---- the tuning


def _tuned(
    broker: Broker, version: str, typed: Mapping[str, str], watch: Watch
) -> tuple[Tuned | None, str]:
    """(the tuning, ""), or (None, why there is none)."""
    try:
        source = open_source(
            broker.source, version, typed, watch=lambda name, share: watch(f"tuning {name}")
        )
        costs = cost_model.costs(source.by_base_offset, None, measured=calibration.kept())
    except KafkavizError as fault:
        return None, str(fault)
    budgets = Budgets()
    answers, whole = tuning.answers(source.cases, source.whole, budgets, costs)
    if whole is None:
        return None, "there is no batch, and so no lookup"
    return Tuned(
        source, answers, whole, tuning.every(source.whole.measured, costs, budgets), budgets, costs
    ), ""
