"""What a check found, by code and by file."""

from functools import cache
from pathlib import Path

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.findings import Finding


@cache
def checked(path: Path, version: str | None = None) -> Health:
    """Checks a directory that no test changes, once for all tests of a process."""
    return check(path, version)


def only(health: Health, code: str) -> Finding:
    (finding,) = [finding for finding in health.findings if finding.code == code]
    return finding


def codes(health: Health, severity: str | None = None) -> set[str]:
    return {finding.code for finding in health.findings if severity in (None, finding.severity)}


def alarms(health: Health) -> set[tuple[str, str]]:
    """Returns (code, file) of all errors and warnings."""
    return {
        (finding.code, finding.file) for finding in health.findings if finding.severity != "info"
    }
