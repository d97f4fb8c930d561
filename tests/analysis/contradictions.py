from collections import defaultdict
from collections.abc import Iterator

from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.checks.state import RESTART_CODES
from kafkaviz.simulate.steps import RECOVERY_CAUSES


def _keys(room: str, names: str) -> set[str]:
    return {f"{room}.{name}" for name in names.split()}


# what a person does to a file by hand so that a start rebuilds it
BY_HAND = _keys(
    "next_step", "compare_with_rebuild rebuild_both_indexes rebuild_indexes rebuild_txnindex"
)
DELETED = _keys(
    "consequence", "deleted_at_start leftover_cleaned leftover_deleted recovery_will_delete"
)
CUT = _keys(
    "consequence",
    "damage_cut recovery_cuts_tail recovery_will_truncate start_cuts start_cuts_and_deletes",
)
# says that the start reads or changes nothing at this place
UNNOTICED = _keys(
    "consequence",
    """
    damage_perhaps_cut damage_stays damage_unnoticed folder index_not_monotonic
    index_offset_mismatch index_position_beyond_log index_position_not_batch_start
    kept_beside_folder log_garbage_tail log_torn_tail log_zero_tail search_skips
    time_lookups_astray timeindex_missing timeindex_timestamp_mismatch unknown_file
    """,
)


def contradictions(health: Health) -> list[str]:
    """Returns a line for each finding that contradicts another one or the predicted start."""
    return list(_contradictions(health)) if health.restart else []


def _contradictions(health: Health) -> Iterator[str]:
    steps = defaultdict(list)
    for step in health.restart.steps:
        steps[step.log_directory, step.file].append(step)
    for finding in health.findings:
        consequence = _outcome(finding)
        next_step = finding.next_step.key
        own_steps = steps[finding.log_directory, finding.file]
        actions = {step.action: step for step in own_steps if not step.is_expected}
        is_recovered = any(
            step.action == "rebuild" and step.cause in (*RECOVERY_CAUSES, "metadata-log")
            for step in own_steps
        )
        is_recreated = own_steps and own_steps[-1].action == "rebuild"
        text = f"{finding.code} of {finding.file} says {consequence} and {next_step}"
        if finding.severity == "info" or finding.code in RESTART_CODES:
            continue
        if "fail" in actions:
            if finding.code == "unknown-file" or consequence in UNNOTICED | DELETED | CUT:
                yield f"{text}, but the start ends at this file"
        elif "delete" in actions and not is_recreated:
            if consequence not in DELETED:
                yield f"{text}, but the start deletes this file"
        elif is_recovered and (next_step in BY_HAND or consequence in UNNOTICED):
            yield f"{text}, but the start rewrites this file"
        cut = actions.get("truncate")
        is_deleted = "delete" in actions or "fail" in actions
        if cut and not is_deleted and (finding.position or 0) >= cut.from_position:
            if consequence not in CUT and finding.position is not None:
                yield f"{text}, but the start cuts the file at byte {cut.from_position}"
        elif consequence in CUT and not cut and not _is_ended(health, finding):
            yield f"{text}, but the start does not cut the file"
        if consequence in DELETED and not own_steps and not _is_ended(health, finding):
            yield f"{text}, but the start does not delete the file"


def _outcome(finding) -> str:
    """Returns the part of a consequence that is about the start."""
    return dict(finding.consequence.values).get("outcome", finding.consequence).key


def _is_ended(health: Health, finding) -> bool:
    """Returns True if the start ends before it comes to the file."""
    return any(
        step.partition == finding.partition or step.cause == "directory-name"
        for step in health.restart.failures
    )
