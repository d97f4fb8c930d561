"""Follows the advice of a start and of findings once on a directory, as a person would.

A `way_out` or `next_step` that needs another replica or a backup is among BACKUP_ACTIONS; the
backup is the directory before it was damaged. Advice that needs the broker's settings is in no
table.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.findings import Finding
from kafkaviz.format import checkpoint, names
from kafkaviz.log.broker import open_broker
from kafkaviz.log.metadata_log import read_image
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep

Action = Callable[[Path, StartupStep], None]


def follow(disk: Path, restart: Restart) -> bool:
    """Follows the advice of every failure of a start; returns whether all of it can be done here."""
    advised = [(step.way_out.key.removeprefix("way_out."), step) for step in restart.failures]
    if not all(key in ACTIONS for key, _ in advised):
        return False
    for key, step in advised:
        ACTIONS[key](disk, step)
    return True


def follow_findings(disk: Path, findings: Sequence[Finding]) -> list[Finding]:
    """Follows the advice of findings as far as possible, and returns those findings."""
    followed = []
    for finding in findings:
        action = FINDING_ACTIONS.get(finding.next_step.key.removeprefix("next_step."))
        if action and finding.file:
            action(disk, finding)
            followed.append(finding)
    return followed


def restore(disk: Path, health: Health, backup: Path) -> list[StartupStep | Finding]:
    """Restores from a backup what findings and failures advise to, and returns those that did.

    The other failures are mended without a backup, so that the broker can start.
    """
    followed = []
    for item in (*health.findings, *(health.restart.failures if health.restart else ())):
        advised = item.next_step if isinstance(item, Finding) else item.way_out
        key = advised.key.partition(".")[2] if advised else ""
        if key in BACKUP_ACTIONS and item.file:
            BACKUP_ACTIONS[key](disk, item, backup)
            followed.append(item)
        elif key in ACTIONS and not isinstance(item, Finding):
            ACTIONS[key](disk, item)
    return followed


def _restore_file(disk: Path, item: StartupStep | Finding, backup: Path) -> None:
    """Replaces the file or folder on disk by that of the backup."""
    _copy_back(disk, backup, item.file)


def _restore_partition(disk: Path, item: StartupStep | Finding, backup: Path) -> None:
    _copy_back(disk, backup, item.partition)


def _restore_segments(disk: Path, item: StartupStep | Finding, backup: Path) -> None:
    """Restores the segment of the file, and any other segment that is missing."""
    base = Path(item.file).name[:20]
    for path in sorted((backup / item.partition).iterdir()):
        if path.name.startswith(base) or not (disk / item.partition / path.name).exists():
            _copy_back(disk, backup, f"{item.partition}/{path.name}")


def _restore_snapshots(disk: Path, item: StartupStep | Finding, backup: Path) -> None:
    for path in (backup / item.partition).glob("*.snapshot"):
        _copy_back(disk, backup, f"{item.partition}/{path.name}")


def _restore_log_start(disk: Path, item: StartupStep | Finding, backup: Path) -> None:
    """Restores the partition's line."""
    name = names.parse_directory(item.partition)
    path = disk / names.LOG_START_CHECKPOINT
    offsets = checkpoint.parse_offsets(path.read_bytes())
    offsets.pop((name.topic, name.partition), None)
    known = checkpoint.parse_offsets((backup / names.LOG_START_CHECKPOINT).read_bytes())
    offsets |= {key: known[key] for key in known if key == (name.topic, name.partition)}
    path.write_bytes(checkpoint.build_offsets(offsets))


def _copy_back(disk: Path, backup: Path, name: str) -> None:
    target = disk / name
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    elif os.path.lexists(target):
        target.unlink()
    if (backup / name).is_dir():
        shutil.copytree(backup / name, target)
    elif (backup / name).exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(backup / name, target)


def _move_away(path: Path) -> None:
    if os.path.lexists(path):
        target = path.parent
        while (target / names.META_PROPERTIES).exists() or names.parse_directory(target.name):
            target = target.parent
        away = target / "away"
        away.mkdir(exist_ok=True)
        shutil.move(path, away / f"{len(list(away.iterdir()))}-{path.name}")


def _move_file(disk: Path, step: StartupStep | Finding) -> None:
    _move_away(disk / step.file)


def _move_named_directory(disk: Path, step: StartupStep) -> None:
    _move_away(disk / step.partition)


def _move_log_and_later(disk: Path, step: StartupStep) -> None:
    for path in (disk / step.partition).iterdir():
        if path.name[:20].isdigit() and path.name >= Path(step.file).name[:20]:
            _move_away(path)


def _write_properties(disk: Path, step: StartupStep | Finding) -> None:
    bootstrap = "version=1\nnode.id=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\n"
    (disk / names.META_PROPERTIES).write_text(bootstrap)


def _write_partition_metadata(disk: Path, step: StartupStep | Finding) -> None:
    name = names.parse_directory(step.partition)
    topic_id = read_image(open_broker(disk)).topic_ids.get(name.topic, METADATA_TOPIC_ID)
    (disk / step.file).write_text(f"version: {checkpoint.VERSION}\ntopic_id: {topic_id}\n")


def _move_transaction_index(disk: Path, step: StartupStep) -> None:
    path = disk / step.file
    _move_away(path)
    _move_away(path.with_suffix(".index"))


def _move_indexes(disk: Path, finding: Finding) -> None:
    path = disk / finding.file
    _move_away(path)
    _move_away(path.with_suffix(".index"))


def _cut_torn_batch(disk: Path, finding: Finding) -> None:
    """Cuts the .log where its last batch ends, as `truncate -s` does."""
    os.truncate(disk / finding.file, finding.position)


def _remove_marker(disk: Path, step: StartupStep | Finding) -> None:
    (disk / names.CLEAN_SHUTDOWN).unlink(missing_ok=True)


METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
ACTIONS: dict[str, Action] = {
    "move_bootstrap_away": _move_file,
    "move_cluster_snapshot_away": _move_file,
    "move_directory_away": _move_named_directory,
    "move_file_away": _move_file,
    "move_folder_out": _move_file,
    "move_log_away": _move_log_and_later,
    "move_one_directory_away": _move_named_directory,
    "move_txnindex_and_index_away": _move_transaction_index,
    "recover_corrupt_log": _remove_marker,
    "restore_cleaner_offsets": _move_file,
    "restore_high_watermarks": _move_file,
    "restore_leader_epochs": _move_file,
    "restore_log_starts": _move_file,
    "restore_quorum_state": _move_file,
    "restore_recovery_points": _move_file,
    "write_meta_properties": _write_properties,
    "write_partition_metadata": _write_partition_metadata,
}
FINDING_ACTIONS: dict[str, Callable[[Path, Finding], None]] = {
    "cut_by_hand": _cut_torn_batch,
    "let_recovery_cut": _remove_marker,
    "move_bootstrap_away": _move_file,
    "move_file_away": _move_file,
    "move_out": _move_file,
    "rebuild_both_indexes": _move_indexes,
    "rebuild_indexes": _move_indexes,
    "rebuild_txnindex": _move_indexes,
    "replace_epochs": _move_file,
    "restore_or_remove_checkpoint": _move_file,
    "restore_quorum_state": _move_file,
    "rewrite_meta_properties": _write_properties,
    "rewrite_partition_metadata": _write_partition_metadata,
    "start_as_after_kill": _remove_marker,
    "take_snapshot": _move_file,
}
BACKUP_ACTIONS: dict[str, Callable[[Path, StartupStep | Finding, Path], None]] = {
    "compare_with_replica": _restore_partition,
    "correct_log_start": _restore_log_start,
    "fetch_cluster_metadata_again": _restore_partition,
    "impossible_base_offset": _restore_segments,
    "log_too_large": _restore_segments,
    "look_for_log": _restore_segments,
    "look_for_segment": _restore_segments,
    "metadata_log_missing": _restore_file,
    "move_log_away": _restore_segments,
    "put_snapshots_back": _restore_snapshots,
    "replace_epochs": _restore_file,
    "restore_before_cut": _restore_segments,
    "restore_cleaner_offsets": _restore_file,
    "restore_closed_segment": _restore_segments,
    "restore_directory": _restore_file,
    "restore_empty_checkpoint": _restore_file,
    "restore_high_watermarks": _restore_file,
    "restore_leader_epochs": _restore_file,
    "restore_log_starts": _restore_file,
    "restore_or_recover": _restore_partition,
    "restore_or_remove_checkpoint": _restore_file,
    "restore_partition": _restore_partition,
    "restore_quorum_state": _restore_file,
    "restore_recovery_points": _restore_file,
    "restore_segment": _restore_segments,
    "restore_unreadable_message": _restore_segments,
    "take_snapshot": _restore_file,
}
