"""The health of a directory as one object of plain values: what `kafkaviz check --json` prints and the Health page hands out."""

from kafkaviz.analyse.finding import Finding
from kafkaviz.analyse.health import Health
from kafkaviz.analyse.restart import Step


def as_object(health: Health) -> dict:
    """The directory, the release assumed, the findings, the foretold start and the counts, all as JSON takes them."""
    restart = health.restart
    return {
        "directory": str(health.broker.source),
        "kafka_version": {"assumed": health.version.text, "because": health.version.because},
        "findings": [_finding(one) for one in health.findings],
        "restart": restart and {"clean": restart.clean, "starts": restart.starts, "steps": [_step(step) for step in restart.steps]},
        "counts": health.counts,
    }


def _finding(one: Finding) -> dict:
    names = ("code", "severity", "partition", "file", "position", "length", "message")
    evidence = {name: getattr(one.evidence, name) for name in ("found", "expected", "found_hex", "expected_hex")}
    last = ("consequence", "next_step", "reference")
    return {name: getattr(one, name) for name in names} | {"evidence": evidence} | {name: getattr(one, name) for name in last}


def _step(step: Step) -> dict:
    return {
        "partition": step.partition, "segment": step.segment, "action": step.action, "from_position": step.from_position,
        "bytes": step.size_bytes, "why": step.why,
    }  # fmt: skip
