"""Converts findings, restart steps and retention to table rows, and rows back to objects."""

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from kafkaviz.analysis import finding_rows
from kafkaviz.analysis.disk import CHECKED_USES, DiskShare
from kafkaviz.analysis.findings import Finding
from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.retention import (
    COUNTED_BY,
    STATES,
    LogRetention,
    RetentionLimits,
    SegmentAge,
    SegmentRetention,
)
from kafkaviz.analysis.serialization import encode, from_plain, to_plain
from kafkaviz.config_def import LONG_MAX
from kafkaviz.format import names
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.pipeline.catalog.catalog_info import SourceCheck
from kafkaviz.pipeline.catalog.schema import use_column
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import replace_surrogates

AGE_COLUMNS = {
    "segment_base_offset": "base_offset",
    "bytes": "size_bytes",
    "timestamp_ms": "timestamp_ms",
    "counted_by": "counted_by",
    "offset": "offset",
}
RETENTION_COLUMNS = ("state", "until_ms", "gone_ms", "blocked_by", "more_bytes")
LIMITS_COLUMNS = ("deletes", "retention_ms", "retention_bytes", "is_tiered")
OFFSET_COLUMNS = ("log_start_offset", "high_watermark", "log_end_offset")  # in table `partitions`
SOURCE_COLUMNS = {
    "policy_source": "policy_source",
    "retention_ms_source": "ms_source",
    "retention_bytes_source": "bytes_source",
}


class StoredHealth(NamedTuple):
    """A broker's findings in a catalog: analysis.broker_health.Health without the broker."""

    assumed_release: AssumedRelease
    findings: tuple[Finding, ...]
    restart: Restart | None
    retention: tuple[LogRetention, ...]
    disk: tuple[DiskShare, ...]


def finding_row(broker: str, finding: Finding) -> dict[str, Any]:
    """Returns the row of a finding. `broker` is the broker's name in the tables."""
    owner = _owner(broker, finding.partition, finding.log_directory)
    return _storable(owner | finding_rows.to_row(finding))


def step_row(broker: str, step: StartupStep) -> dict[str, Any]:
    owner = _owner(broker, step.partition, step.log_directory)
    return _storable(owner | finding_rows.step_to_row(step))


def retention_rows(broker: str, log: LogRetention) -> list[dict[str, Any]]:
    """Returns one row per segment: what keeps the segment, and the log's retention settings."""
    owner = _owner(broker, log.partition, log.log_directory)
    return [_storable(owner | _retention_row(log, segment)) for segment in log.segments]


def source_check(
    version: AssumedRelease, restart: Restart | None, level: CheckLevel
) -> SourceCheck:
    if restart is None:
        return SourceCheck(version, level=level)
    return SourceCheck(version, restart.clean, restart.starts, level)


def disk_columns(share: DiskShare) -> dict[str, int]:
    """Returns the columns of table `partitions` about disk use."""
    uses = {use_column(use): share.uses.get(use, 0) for use in CHECKED_USES}
    return {"files": share.files, "allocated_bytes": share.allocated_bytes, **uses}


def _parse_share(row: dict) -> DiskShare | None:
    if row.get("files") is None:
        return None
    sizes = {use: row[use_column(use)] for use in CHECKED_USES}
    return DiskShare(
        log_directory=row["log_directory"],
        partition=row["directory"],
        topic=row["topic"],
        uses={use: size for use, size in sizes.items() if size},
        files=row["files"],
        allocated_bytes=row["allocated_bytes"],
    )


def stored_health(
    check: SourceCheck,
    findings: pa.Table,
    steps: pa.Table,
    retention: pa.Table,
    partitions: pa.Table,
) -> StoredHealth:
    """Builds a `StoredHealth` from a broker's rows. Raises ValueError if a row is invalid."""
    restart_steps = tuple(finding_rows.step_from_row(row) for row in steps.to_pylist())
    restart = (
        None if check.starts is None else Restart(bool(check.clean), check.starts, restart_steps)
    )
    partition_rows = partitions.to_pylist()
    offsets = {_place(row): {name: row[name] for name in OFFSET_COLUMNS} for row in partition_rows}
    logs = tuple(
        _parse_log(list(rows), offsets.get(place, {}))
        for place, rows in groupby(retention.to_pylist(), key=_place)
    )
    return StoredHealth(
        check.assumed_release,
        tuple(finding_rows.from_row(row) for row in findings.to_pylist()),
        restart,
        logs,
        tuple(filter(None, map(_parse_share, partition_rows))),
    )


def _place(row: dict) -> tuple[str, str]:
    return row["directory"], row["log_directory"]


def _owner(broker: str, directory: str | None, log_directory: str | None) -> dict:
    name = names.parse_directory(directory) if directory else None
    partition = {"topic": name.topic, "partition": name.partition} if name else {}
    owner = {"broker": broker, "directory": directory, "log_directory": log_directory}
    return {**owner, **partition}


def _retention_row(log: LogRetention, segment: SegmentRetention) -> dict:
    limits = log.limits
    return {
        **{column: getattr(segment.age, name) for column, name in AGE_COLUMNS.items()},
        **{name: getattr(segment, name) for name in RETENTION_COLUMNS},
        **{name: getattr(limits, name) for name in LIMITS_COLUMNS},
        **{column: str(getattr(limits, name) or "") for column, name in SOURCE_COLUMNS.items()},
        "limits_json": encode(limits),
        "now_ms": log.now_ms,
    }


def _parse_log(rows: list[dict], offsets: Mapping[str, int | None]) -> LogRetention:
    try:
        limits = from_plain(RetentionLimits, json.loads(rows[0]["limits_json"]))
    except (TypeError, RecursionError) as fault:
        raise ValueError(f"no limits of a log: {fault}") from None
    log = LogRetention(
        rows[0]["directory"],
        limits,
        rows[0]["now_ms"],
        tuple(map(_parse_segment, rows)),
        log_directory=rows[0]["log_directory"],
        **offsets,
    )
    return from_plain(LogRetention, to_plain(log))


def _parse_segment(row: dict) -> SegmentRetention:
    age = SegmentAge(**{name: row[column] for column, name in AGE_COLUMNS.items()})
    if row["state"] not in STATES or age.counted_by not in COUNTED_BY:
        raise ValueError(f"{row['state']}, {age.counted_by} keeps no segment")
    return SegmentRetention(age=age, **{name: row[name] for name in RETENTION_COLUMNS})


def _storable(row: dict) -> dict:
    """Returns a copy of a row that Parquet accepts.

    Bytes that are not UTF-8 are replaced. Integers of more than 64 bits, as in some file names,
    become null.
    """
    stored = dict(row)
    for name, value in row.items():
        if isinstance(value, str):
            stored[name] = replace_surrogates(value)
        elif isinstance(value, int) and abs(value) > LONG_MAX:
            stored[name] = None
    return stored
