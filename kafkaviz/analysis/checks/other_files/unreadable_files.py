"""What is told of a file that could not be read here: whose fault it is, what a broker in our place
would do, and who may read it.

    orders-0/00000000000000000000.index may not be read     unreadable-file, an error: a broker that
    may not either goes offline
"""

from dataclasses import replace
from pathlib import Path

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.finding import ERROR, Evidence, Finding, Version, finding
from kafkaviz.errors import KafkavizError
from kafkaviz.log.broker import Problem
from kafkaviz.units import replace_surrogates

UNKNOWN_CONTENT = "What is in it is not known here"
OFFLINE = (
    f"{UNKNOWN_CONTENT}. A broker that cannot read it either takes the whole log directory offline"
)
NO_START = f"{UNKNOWN_CONTENT}. A broker that cannot read it either does not start"
COUNTS_AS_EMPTY = f"{UNKNOWN_CONTENT}. A broker that cannot read it either takes it for empty"
ONLY_THERE = "A start goes by its being there alone; what is in it is not known here"
SNAPSHOT = f"{UNKNOWN_CONTENT}. A node that cannot read its newest one either does not start"
STEPS = {
    "permission": "Read it as a user who may, such as the one that the broker runs as",
    "missing": "Check again: it was moved or removed while it was read",
    "special": "Move it away: a broker keeps regular files alone",
    "large": "Look at what wrote it: no broker makes one so large",
}
OTHERWISE = "Look at the disk it lies on, and check again"


def file_finding(
    name: str, fault: KafkavizError, facts: PartitionFacts, consequence: str = OFFLINE
) -> Finding:
    """A file of a partition directory; consequence: one of those above."""
    return path_finding(
        f"{facts.partition}/{name}",
        facts.partition,
        Problem.from_fault(Path(facts.partition), fault),
        facts.version,
        consequence,
    )


def path_finding(
    file: str, partition: str | None, problem: Problem, version: Version, consequence: str = OFFLINE
) -> Finding:
    """A file or directory, relative to the broker directory.

    An error where a broker that cannot read it either is stopped by that.
    """
    shown_path, evidence = (
        replace_surrogates(file),
        Evidence(problem.what, "a file that can be read"),
    )
    message = f"{shown_path.rpartition('/')[2]} could not be read: {problem.what}"
    next_step = STEPS.get(problem.kind, OTHERWISE)
    unreadable_finding = finding(
        "unreadable-file",
        message,
        evidence,
        partition=partition and replace_surrogates(partition),
        file=shown_path,
        version=version,
        consequence=consequence,
        next_step=next_step,
    )
    return (
        replace(unreadable_finding, severity=ERROR)
        if hides_start(unreadable_finding)
        else unreadable_finding
    )


def hides_start(unreadable_finding: Finding) -> bool:
    """Whether it is about a file that a start reads: it cannot be foretold then, since the broker
    may read it or not.
    """
    return unreadable_finding.consequence in (OFFLINE, NO_START, SNAPSHOT)
