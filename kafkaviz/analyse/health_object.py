"""The health of a directory as one object of plain values: what `kafkaviz check --json` prints and
the Health page hands out.
"""

from kafkaviz.analyse.finding import Finding
from kafkaviz.analyse.health import Health
from kafkaviz.analyse.restart import Step
from kafkaviz.analyse.retention import Kept, LogRetention


def as_object(health: Health) -> dict:
    """The directory, the release assumed, the findings, the foretold start, the counts, and what
    keeps each segment; as JSON takes them.
    """
    restart = health.restart
    return {
        "directory": str(health.broker.source),
        "kafka_version": {"assumed": health.version.text, "because": health.version.because},
        "findings": [_finding(one) for one in health.findings],
        "restart": restart
        and {
            "clean": restart.clean,
            "starts": restart.starts,
            "steps": [_step(step) for step in restart.steps],
        },
        "counts": health.counts,
        "retention": [_retention(one) for one in health.retention],
    }


def _finding(one: Finding) -> dict:
    names = ("code", "severity", "partition", "file", "position", "length", "message")
    evidence = {
        name: getattr(one.evidence, name)
        for name in ("found", "expected", "found_hex", "expected_hex")
    }
    last = ("consequence", "next_step", "reference")
    return (
        {name: getattr(one, name) for name in names}
        | {"evidence": evidence}
        | {name: getattr(one, name) for name in last}
    )


def _step(step: Step) -> dict:
    return {
        "partition": step.partition,
        "segment": step.segment,
        "file": step.file,
        "action": step.action,
        "from_position": step.from_position,
        "bytes": step.size_bytes,
        "why": step.why,
        "error": step.error,
        "way_out": step.way_out,
    }


def _retention(log: LogRetention) -> dict:
    limits = log.limits
    return {
        "partition": log.partition,
        "now_ms": log.now_ms,
        "deletes": {"value": limits.deletes, "source": limits.policy_source},
        "retention_ms": {"value": limits.retention_ms, "source": limits.ms_source},
        "retention_bytes": {"value": limits.retention_bytes, "source": limits.bytes_source},
        "tiered": limits.is_tiered,
        "log_bytes": log.log_bytes,
        "over_bytes": log.over_bytes,
        "segments": [_kept(one) for one in log.segments],
    }


def _kept(one: Kept) -> dict:
    aged = one.aged
    return {
        "segment": aged.base_offset,
        "bytes": aged.size_bytes,
        "timestamp_ms": aged.timestamp_ms,
        "counted_by": aged.counted_by,
        "offset": aged.offset,
        "state": one.state,
        "until_ms": one.until_ms,
        "gone_ms": one.gone_ms,
        "blocked_by": one.blocked_by,
        "more_bytes": one.more_bytes,
    }
