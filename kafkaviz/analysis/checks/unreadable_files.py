"""The findings about unreadable files, and what a broker would do with such files.

For example:

- The user may not read the .index of orders-0: unreadable-file, an error. If the broker may not
  read the file either, it takes the log directory offline.
- The .log of orders-0 is gone: unreadable-file, for information. A running broker deleted or
  renamed the file after it was listed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.findings import ERROR, INFO, Evidence, Finding, finding
from kafkaviz.errors import KafkavizError
from kafkaviz.log.broker import Problem
from kafkaviz.messages import Message, message
from kafkaviz.units import replace_surrogates
from kafkaviz.versions import Release

OFFLINE = message("consequence.unread_offline")
NO_START = message("consequence.unread_no_start")
ONLY_THERE = message("consequence.unread_only_there")
SNAPSHOT = message("consequence.unread_newest_snapshot")
VANISHED = message("consequence.vanished")
STEPS = {
    "permission": message("next_step.read_as_other_user"),
    "missing": message("next_step.check_again"),
    "special": message("next_step.move_special_away"),
    "large": message("next_step.look_at_writer"),
}
OTHERWISE = message("next_step.look_at_disk")


def file_finding(
    name: str, fault: KafkavizError, facts: PartitionFacts, consequence: Message = OFFLINE
) -> Finding:
    """Returns a finding about an unreadable file of a partition directory.

    `consequence` is what happens if the broker cannot read the file either.
    """
    path = f"{facts.partition}/{name}"
    problem = Problem.from_fault(Path(facts.partition), fault)
    return path_finding(path, facts.partition, problem, facts.release, consequence)


def path_finding(
    file: str,
    partition: str | None,
    problem: Problem,
    release: Release,
    consequence: Message = OFFLINE,
) -> Finding:
    """Returns a finding about an unreadable file or folder.

    The severity is ERROR if broker start-up reads the file. The severity is INFO if the file
    vanished after it was listed, because a running broker deletes segments and partitions. `file`
    is the path relative to the broker directory.
    """
    shown_path = replace_surrogates(file)
    name = shown_path.rpartition("/")[2]
    text = message("finding.unreadable", file=name, problem=problem.what)
    is_vanished = problem.kind == "missing"
    if is_vanished:
        text = message("finding.vanished", file=name)
        consequence = VANISHED
    unreadable_finding = finding(
        "unreadable-file",
        text,
        Evidence(problem.what, message("evidence.readable_file")),
        partition=partition and replace_surrogates(partition),
        file=shown_path,
        release=release,
        consequence=consequence,
        next_step=STEPS.get(problem.kind, OTHERWISE),
    )
    if is_vanished:
        return replace(unreadable_finding, severity=INFO)
    is_error = prevents_prediction(unreadable_finding)
    return replace(unreadable_finding, severity=ERROR) if is_error else unreadable_finding


def fold_vanished(findings: Sequence[Finding]) -> list[Finding]:
    """Returns a partition's findings, with all findings about vanished files merged into one."""
    vanished = [finding for finding in findings if finding.consequence == VANISHED]
    if len(vanished) < 2:
        return list(findings)
    first = vanished[0]
    name = str(first.file).rpartition("/")[2]
    text = message("finding.vanished_files", file=name, n=len(vanished) - 1)
    others = [finding for finding in findings if finding.consequence != VANISHED]
    return [*others, replace(first, message=text)]


def prevents_prediction(unreadable_finding: Finding) -> bool:
    """Returns whether a finding is about an unreadable file that start-up reads.

    If so, start-up cannot be predicted, because the broker may be able to read the file.
    """
    return unreadable_finding.consequence in (OFFLINE, NO_START, SNAPSHOT)
