"""The tables findings, restart_steps and retention: rows of what was found about a broker, and
those values again from the rows.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from kafkaviz.analyse.finding import CODES, SEVERITIES, Evidence, Finding
from kafkaviz.analyse.health import Assumed, Health
from kafkaviz.analyse.plain import plain_of, value_of
from kafkaviz.analyse.restart import Restart, Step
from kafkaviz.analyse.retention import COUNTED_BY, STATES, Aged, Kept, Limits, LogRetention
from kafkaviz.format import names
from kafkaviz.pipeline.catalog_info import Verdict
from kafkaviz.pipeline.schema import FINDINGS, RESTART_STEPS, RETENTION
from kafkaviz.simulate.steps import ACTIONS, CAUSES
from kafkaviz.units import encodable

# columns of that name
SAME = (
    "code",
    "severity",
    "file",
    "position",
    "length",
    "message",
    "consequence",
    "next_step",
    "reference",
)
MOST_LONG = 2**63 - 1
# those that a step calls otherwise
STEP_COLUMNS = {"directory": "partition", "segment_base_offset": "segment", "bytes": "size_bytes"}
AGED_COLUMNS = {
    "segment_base_offset": "base_offset",
    "bytes": "size_bytes",
    "timestamp_ms": "timestamp_ms",
    "counted_by": "counted_by",
    "offset": "offset",
}
KEPT_COLUMNS = ("state", "until_ms", "gone_ms", "blocked_by", "more_bytes")
LIMITS_COLUMNS = {
    "retention_ms_source": "ms_source",
    "retention_bytes_source": "bytes_source",
    **{
        name: name
        for name in ("deletes", "policy_source", "retention_ms", "retention_bytes", "is_tiered")
    },
}


class Told(NamedTuple):
    """What a catalog says of a broker: analyse.health.Health(broker, *told) is what a check of it
    gives.
    """

    version: Assumed
    findings: tuple[Finding, ...]
    restart: Restart | None
    retention: tuple[LogRetention, ...]


def findings_table(healths: Iterable[tuple[str, Health]]) -> pa.Table:
    """A row a finding, the worst of a broker first; each health comes with the broker's name."""
    rows = [
        _owner(name, one.partition) | _finding_row(one)
        for name, health in healths
        for one in health.findings
    ]
    return pa.Table.from_pylist([_storable(row) for row in rows], FINDINGS)


def steps_table(healths: Iterable[tuple[str, Health]]) -> pa.Table:
    """A row a step of each broker's next start, in its order."""
    known = [(name, health.restart) for name, health in healths if health.restart is not None]
    rows = [
        _owner(name, step.partition) | _step_row(step)
        for name, restart in known
        for step in restart.steps
    ]
    return pa.Table.from_pylist([_storable(row) for row in rows], RESTART_STEPS)


def retention_table(healths: Iterable[tuple[str, Health]]) -> pa.Table:
    """A row a segment: what keeps it, and the settings of its log."""
    kept = [
        (_owner(name, log.partition), log, one)
        for name, health in healths
        for log in health.retention
        for one in log.segments
    ]
    return pa.Table.from_pylist(
        [_storable(owner | _kept_row(log, one)) for owner, log, one in kept], RETENTION
    )


def verdict(health: Health) -> Verdict:
    """What _catalog.json says of it."""
    told = health.restart
    return Verdict(
        health.version.text,
        health.version.because,
        told.clean if told else None,
        told.starts if told else None,
    )


def told(verdict: Verdict, findings: pa.Table, steps: pa.Table, kept: pa.Table) -> Told:
    """The values again, of the rows of one broker; ValueError where a row holds none."""
    version = tuple(map(int, verdict.assumed_version.split(".")))
    done = tuple(_step(row) for row in steps.to_pylist())
    restart = None if verdict.starts is None else Restart(bool(verdict.clean), verdict.starts, done)
    logs = tuple(
        _log(list(rows)) for _, rows in groupby(kept.to_pylist(), key=lambda row: row["directory"])
    )
    return Told(
        Assumed(version, verdict.because),
        tuple(_finding(row) for row in findings.to_pylist()),
        restart,
        logs,
    )


def _owner(broker: str, directory: str | None) -> dict:
    """The leading columns, and the directory."""
    name = names.parse_directory(directory) if directory else None
    partition = {"topic": name.topic, "partition": name.partition} if name else {}
    return {"broker": broker, "directory": directory, **partition}


def _finding_row(one: Finding) -> dict:
    evidence = one.evidence
    row = {name: getattr(one, name) for name in SAME} | {
        "evidence": evidence.text,
        "evidence_found": evidence.found,
    }
    return row | {
        "evidence_expected": evidence.expected,
        "found_hex": evidence.found_hex,
        "expected_hex": evidence.expected_hex,
    }


def _finding(row: dict) -> Finding:
    evidence = Evidence(
        row["evidence_found"], row["evidence_expected"], row["found_hex"], row["expected_hex"]
    )
    found = Finding(
        partition=row["directory"], evidence=evidence, **{name: row[name] for name in SAME}
    )
    if found.code not in CODES or found.severity not in SEVERITIES:
        raise ValueError(f"{found.code}, {found.severity} is no finding")
    return value_of(Finding, plain_of(found))


def _step_row(step: Step) -> dict:
    return {name: getattr(step, STEP_COLUMNS.get(name, name)) for name in RESTART_STEPS.names[3:]}


def _step(row: dict) -> Step:
    step = Step(**{STEP_COLUMNS.get(name, name): row[name] for name in RESTART_STEPS.names[3:]})
    if step.action not in ACTIONS or step.cause not in CAUSES:
        raise ValueError(f"{step.action}, {step.cause} is no step of a start")
    return value_of(Step, plain_of(step))


def _kept_row(log: LogRetention, one: Kept) -> dict:
    row = {column: getattr(one.aged, name) for column, name in AGED_COLUMNS.items()} | {
        name: getattr(one, name) for name in KEPT_COLUMNS
    }
    return (
        row
        | {column: getattr(log.limits, name) for column, name in LIMITS_COLUMNS.items()}
        | {"now_ms": log.now_ms}
    )


def _log(rows: list[dict]) -> LogRetention:
    """What keeps the segments of a log, of its rows."""
    limits = Limits(**{name: rows[0][column] for column, name in LIMITS_COLUMNS.items()})
    log = LogRetention(rows[0]["directory"], limits, rows[0]["now_ms"], tuple(map(_kept, rows)))
    return value_of(LogRetention, plain_of(log))


def _kept(row: dict) -> Kept:
    aged = Aged(**{name: row[column] for column, name in AGED_COLUMNS.items()})
    if row["state"] not in STATES or aged.counted_by not in COUNTED_BY:
        raise ValueError(f"{row['state']}, {aged.counted_by} keeps no segment")
    return Kept(aged, **{name: row[name] for name in KEPT_COLUMNS})


def _storable(row: dict) -> dict:
    """A row as Parquet takes it: the name of a strange directory may be no UTF-8, and the number in
    that of a file no long.
    """
    texts = {name: encodable(value) for name, value in row.items() if isinstance(value, str)}
    return (
        row
        | texts
        | {
            name: None
            for name, value in row.items()
            if isinstance(value, int) and abs(value) > MOST_LONG
        }
    )
