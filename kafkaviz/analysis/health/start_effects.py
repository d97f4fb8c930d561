"""Findings about files that the next start changes: the predicted start decides their texts.

A check of a file does not know the other files of its log. For example, an .index has a wrong
entry, and the start rebuilds it because the broker was killed. Then the file does not have to be
moved away.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kafkaviz.analysis.checks.state import RESTART_CODES
from kafkaviz.analysis.findings.finding import INFO, Finding
from kafkaviz.messages import message
from kafkaviz.simulate.startup.restart import Restart, StartupStep
from kafkaviz.simulate.steps import RECOVERY_CAUSES

REWRITTEN = message("consequence.start_rewrites")
LET_START_REBUILD = message("next_step.let_start_rebuild")
DELETED = message("consequence.deleted_at_start")
RESTORE_BEFORE_CUT = message("next_step.restore_before_cut")
OFFLINE = message("consequence.directory_offline")
ENDS_START = message("consequence.ends_start")
# consequences that already say that the start deletes the file, or cuts the .log there
DELETED_KEYS = ("consequence.deleted_at_start", "consequence.leftover_cleaned")
CUT_KEYS = ("consequence.recovery_cuts_tail", "consequence.damage_cut")
INDEX_FAMILIES = ("offset-index", "time-index")
INDEX_CODES = ("txnindex-mismatch", "txnindex-torn")


def fit_to_start(findings: Iterable[Finding], restart: Restart) -> Iterator[Finding]:
    """Yields the findings, with a new consequence and next step where the start changes the file.

    A file with a strange name at which the start ends is left out: the finding about the end of the
    start says the same.
    """
    steps = _steps_by_file(restart)
    logs_with_deletions = {
        (step.log_directory, step.partition)
        for step in restart.steps
        if step.cause == "after-truncation"
    }
    for finding in findings:
        step = steps.get((finding.log_directory, finding.file))
        is_fixed = finding.severity == INFO or finding.code in RESTART_CODES
        if step is None or is_fixed or finding.partition is None:
            yield finding
        elif step.action == "truncate":
            has_deletions = (step.log_directory, step.partition) in logs_with_deletions
            yield _fit_to_cut(finding, step, has_deletions=has_deletions)
        elif step.action == "delete":
            yield _fit_to_deletion(finding, step)
        elif step.action == "rebuild":
            yield _fit_to_rebuild(finding)
        elif finding.code != "unknown-file":
            yield _fit_to_failure(finding, step)


def _steps_by_file(restart: Restart) -> dict[tuple[str | None, str | None], StartupStep]:
    """Returns the step that decides the fate of each file: a failure, or else the last change."""
    steps: dict[tuple[str | None, str | None], StartupStep] = {}
    for step in restart.steps:
        place = step.log_directory, step.file
        known = steps.get(place)
        if step.file is None or (known is not None and known.action == "fail"):
            continue
        is_recovery = step.cause in (*RECOVERY_CAUSES, "metadata-log")
        is_change = step.action == "truncate" or (step.action == "delete" and not step.is_expected)
        if step.action == "fail" or is_change or (step.action == "rebuild" and is_recovery):
            steps[place] = step
        elif step.action == "rebuild":  # a file with the suffix .swap takes its name
            steps.pop(place, None)
    return steps


def _is_about_index(finding: Finding) -> bool:
    return finding.family in INDEX_FAMILIES or finding.code in INDEX_CODES


def _fit_to_rebuild(finding: Finding) -> Finding:
    if finding.code == "index-missing" or not _is_about_index(finding):
        return finding
    return replace(finding, consequence=REWRITTEN, next_step=LET_START_REBUILD)


def _fit_to_cut(finding: Finding, step: StartupStep, *, has_deletions: bool) -> Finding:
    cut_at = step.from_position or 0
    outcome = dict(finding.consequence.values).get("outcome", finding.consequence)
    if finding.position is None or finding.position < cut_at or outcome.key in CUT_KEYS:
        return finding
    key = "start_cuts_and_deletes" if has_deletions else "start_cuts"
    return replace(
        finding,
        consequence=message(f"consequence.{key}", byte=cut_at),
        next_step=RESTORE_BEFORE_CUT,
    )


def _fit_to_deletion(finding: Finding, step: StartupStep) -> Finding:
    if finding.consequence.key in DELETED_KEYS:
        return finding
    next_step = message("next_step.copy_files")
    if step.cause == "log-start-beyond-end":
        next_step = message("next_step.correct_log_start")
    elif finding.needs_replica:
        next_step = RESTORE_BEFORE_CUT
    return replace(finding, consequence=DELETED, next_step=next_step)


def _fit_to_failure(finding: Finding, step: StartupStep) -> Finding:
    is_other_file = finding.family == "other-files" and not _is_about_index(finding)
    if is_other_file or finding.consequence.key == "consequence.log_not_opened":
        return finding  # says already how the start ends
    next_step = finding.next_step if finding.needs_replica else step.way_out or finding.next_step
    consequence = OFFLINE if step.takes_directory_offline else ENDS_START
    return replace(finding, consequence=consequence, next_step=next_step)
