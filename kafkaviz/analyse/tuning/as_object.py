"""A tuning as one plain object, for JSON: what kafkaviz tune prints, and what pages and reports can
take over.
"""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from kafkaviz.analyse.cost_model import Costs, Range
from kafkaviz.analyse.tuning.assumptions import Assumption, tornado
from kafkaviz.analyse.tuning.consequences import footprint_at, limits_at, tiered
from kafkaviz.analyse.tuning.gain import Gain
from kafkaviz.analyse.tuning.measured import BROKER_SETTING, SETTING
from kafkaviz.analyse.tuning.priced import At, Budgets, by_target
from kafkaviz.analyse.tuning.reasons import Reason
from kafkaviz.analyse.tuning.rule import Recommendation
from kafkaviz.analyse.tuning.source import BROKER, Case, Source
from kafkaviz.analyse.tuning.words import alter_line, reach_words, words
from kafkaviz.analyse.what_if import WhatIf


def as_object(
    source: Source,
    answers: Mapping[str, Recommendation | None],
    whole: Recommendation | None,
    budgets: Budgets,
    costs: Costs,
) -> dict:
    """Everything that was worked out. answers: by the name of a case; whole: of all of them."""
    case = source.whole
    found = {
        "source": {"kind": source.kind, "name": source.name, **_of_log(case)},
        "kafka_version": {"assumed": source.version, "because": source.because},
        "current": _current(case, whole),
        "sweep": [_row(row) for row in case.measured.parts.sweep()],
        "recommendation": _recommendation(source, case, whole),
        "budgets": {
            "p99_us": budgets.p99_us,
            "cold_p99_us": budgets.cold_p99_us,
            "cores": budgets.cores,
            "index_share": budgets.index_share,
            "fetches_per_s": budgets.fetches_per_s,
        },
        "costs": {
            "header_us": _range(costs.header_us),
            "first_us": _range(costs.first_us),
            "storage": costs.storage.name,
            "read_us": _range(costs.storage.read_us),
            "modelled": costs.is_modelled,
            "calibrated": costs.calibrated,
        },
    }
    if whole:
        found["tornado"] = [
            _assumption(one) for one in tornado(case.measured, case.today, budgets, costs)
        ]
        found |= _limits(case, whole)
    if source.kind == BROKER:
        found["topics"] = [_topic(one, answers.get(one.name)) for one in source.cases]
        found["metadata_left_out"] = source.metadata_left_out
    found["unused_left_out"] = [one.path for one in source.unused]
    found["problems"] = [{"path": str(one.path), "message": one.what} for one in source.problems]
    return plain(found)


def plain(value: Any) -> Any:
    """The same as JSON has it: no NaN and no infinity, no number of numpy's."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def what_if_object(found: WhatIf) -> dict:
    """A replay: what the log would have become."""
    return {
        "segments": found.segments,
        "rolls": dict(found.rolls),
        "log_bytes": found.log_bytes,
        "offset_entries": found.offset_entries,
        "time_entries": found.time_entries,
        "index_bytes": found.index_bytes,
        "maps": found.maps,
        "files": found.files,
    }


def _of_log(case: Case) -> dict:
    parts = case.measured.parts
    return {
        "log_bytes": parts.log_bytes,
        "batches": parts.batches,
        "segments": case.measured.segments,
        "partitions": case.today.partitions,
        "batch_bytes_mean": case.measured.batch_bytes,
        "batch_bytes_least": parts.least_batch_bytes,
        "single_record_share": case.measured.single_share,
        "bytes_per_s": case.measured.bytes_per_s,
    }


def _current(case: Case, whole: Recommendation | None) -> dict:
    today, place = case.today, case.measured.parts.at(case.today.interval_bytes)
    found = {
        SETTING: today.interval_bytes,
        "interval_source": today.interval_source,
        "segment.bytes": today.config.segment_bytes,
        "segment.index.bytes": today.config.segment_index_bytes,
        "segment.ms": today.config.segment_ms,
        "tiered": today.is_tiered,
        "per_append": today.is_coarse,
        "inferred": list(today.inferred),
        **_row(case.measured.parts.sweep()[place]),
        "replayed": dict(zip(("offset_entries", "time_entries"), case.replayed, strict=True)),
        "on_disk": None
        if case.held is None
        else dict(zip(("offset_entries", "time_entries"), case.held, strict=True)),
    }
    return found | (_prices(whole.today) if whole else {})


def _prices(one: At) -> dict:
    return {
        "mean_us": _range(one.mean_us),
        "p99_us": _range(one.p99_us),
        "cold_mean_us": _range(one.cold_mean_us),
        "cold_p99_us": _range(one.cold_p99_us),
        "cold_reads_mean": one.cold_reads_mean,
        "cold_reads_p99": one.cold_reads_p99,
        "cold_index_reads": one.index_reads,
        "by_target": {name: _headers(row) for name, row in by_target(one).items()},
        "index_share": one.index_share,
        "cores": _range(one.cores) if one.cores else None,
        "price_us": one.price_us,
    }


def _row(row: np.void) -> dict:
    return dict(zip(cast("tuple[str, ...]", row.dtype.names), row.item(), strict=True))


def _headers(row: np.void) -> dict:
    """What lookups of a kind of target read."""
    return {
        name: row[name].item()
        for name in cast("tuple[str, ...]", row.dtype.names)
        if name.startswith("headers") or name == "skipped_bytes_mean"
    }


def _range(one: Range) -> dict:
    return one._asdict()


def _recommendation(source: Source, case: Case, one: Recommendation | None) -> dict:
    is_broker = source.kind == BROKER
    setting = BROKER_SETTING if is_broker else SETTING
    if one is None:
        because = ["there is no batch: nothing can be said of a log that is empty"]
        value = case.today.interval_bytes
        return {
            "verdict": "keep",
            "setting": setting,
            "value": value,
            "because": because,
            "reasons": [],
            "not_fixed": [],
        }
    topic = None if is_broker else case.today.topic
    return {
        "verdict": str(one.verdict),
        "setting": setting,
        "value": one.value,
        "because": [words(why) for why in one.because],
        "reasons": [_reason(why) for why in one.because],
        "considered": one.considered,
        "meets_budgets": one.meets_budgets,
        "gain": _gain(one.gain),
        "not_fixed": [words(why) for why in one.not_fixed],
        "proposed": {**_row(one.proposed.row), **_prices(one.proposed)},
        "command": alter_line(SETTING, one.value, topic) if one.verdict == "change" else None,
        "reaches": reach_words(SETTING),
    }


def _reason(why: Reason) -> dict:
    """The values that are numbers and names; what stands elsewhere in the object is left out."""
    return {
        "code": why.code,
        **{
            name: value
            for name, value in why.values.items()
            if isinstance(value, int | float | str | dict | tuple) and not isinstance(value, Range)
        },
    }


def _gain(gain: Gain) -> dict:
    return {
        "p99_us": _range(gain.p99_us),
        "mean_us": _range(gain.mean_us),
        "index_share": _range(gain.index_share),
        "cores": _range(gain.cores) if gain.cores else None,
        "blocks": gain.blocks,
    }


def _limits(case: Case, whole: Recommendation) -> dict:
    one = limits_at(case.measured, case.today.config, whole.value)
    ends = zip(
        ("segment_bytes", "segment_ms_bytes", "offset_full_bytes", "time_full_bytes"),
        one.ends_bytes.values(),
        strict=True,
    )
    sizes = {"least_index_bytes": one.least_index_bytes, "safe_index_bytes": one.safe_index_bytes}
    told = {"binding": one.binding, **dict(ends), **sizes}
    files = dict(
        zip(("apparent_bytes", "allocated_bytes"), case.index_files or (None, None), strict=True)
    )
    footprint = footprint_at(case.measured, case.today, whole.value) | files
    carried = (
        tiered(whole.today, whole.proposed, case.measured, case.today)
        if case.today.is_tiered
        else None
    )
    return {"limits": told, "footprint": footprint, "tiered": carried}


def _topic(case: Case, one: Recommendation | None) -> dict:
    told = {
        "topic": case.name,
        **_of_log(case),
        SETTING: case.today.interval_bytes,
        "interval_source": case.today.interval_source,
    }
    if one is None:
        return told | {"verdict": "keep", "value": case.today.interval_bytes, "because": []}
    return told | {
        "verdict": str(one.verdict),
        "value": one.value,
        "because": [words(why) for why in one.because],
        "headers_p99": one.today.row["headers_p99"],
        "p99_us": _range(one.today.p99_us),
        "index_share": one.today.index_share,
    }


def _assumption(one: Assumption) -> dict:
    return {
        "name": one.name,
        "unit": one.unit,
        "low": one.low,
        "typical": one.typical,
        "high": one.high,
        "p99_us_low": one.p99_us_low,
        "p99_us_high": one.p99_us_high,
        "verdict_low": list(one.verdict_low),
        "verdict_high": list(one.verdict_high),
    }
