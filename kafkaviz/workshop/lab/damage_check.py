"""The findings that a check adds for a damaged copy.

A check reads directories, so the copy is written to a temporary one, which is removed at once.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.analysis.health import broker_health
from kafkaviz.format.names import OWN_FILES
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import is_there, read
from kafkaviz.workshop.lab.faults import Damage
from kafkaviz.workshop.lab.log_copy import LogCopy

FORECAST = "recovery-will-"  # prefix of the findings that predict the next start


def new_findings(
    findings: Iterable[Finding], usual: Iterable[Finding], damage: Damage
) -> tuple[Finding, ...]:
    """Returns the findings about the damaged files that the undamaged copy does not have.

    Findings of severity "info" and predictions of the next start are left out. The order stays.

    Args:
        usual: the findings of the undamaged copy.
    """
    stems = {Path(name).stem for name in (damage.file, damage.new_name) if name}
    usual_identities = {_identity(finding) for finding in usual}
    return tuple(
        finding
        for finding in findings
        if _identity(finding) not in usual_identities
        and finding.severity != "info"
        and not finding.code.startswith(FORECAST)
        and Path(finding.file or "").stem in stems
    )


def check_copy(broker: Broker, copy: LogCopy) -> tuple[Finding, ...]:
    """Returns the findings about a copy, as if its broker had been stopped cleanly.

    Args:
        broker: the broker directory of the original; its own files are copied along.

    Raises:
        CannotOpen: the temporary directory cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="kafkaviz-copy-") as folder:
        root = Path(folder)
        for name in filter(lambda name: is_there(broker.path / name), OWN_FILES):
            (root / name).write_bytes(read(broker.path / name))
        directory = root / copy.log.directory
        directory.mkdir()
        for file in copy.log.files:
            path = directory / file.name
            path.write_bytes(file.content())
            modified_ns = file.modified_ms * 1_000_000
            os.utime(path, ns=(modified_ns, modified_ns))
        return broker_health.check(open_broker(root), partition=copy.log.directory).findings


def _identity(finding: Finding) -> tuple:
    return finding.code, finding.file, finding.message
