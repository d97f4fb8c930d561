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


def _move_indexes(disk: Path, step: StartupStep | Finding) -> None:
    path = disk / step.file
    _move_away(path)
    _move_away(path.with_suffix(".index"))


def _cut_torn_batch(disk: Path, finding: Finding) -> None:
    """Cuts the .log where its last batch ends, as `truncate -s` does."""
    os.truncate(disk / finding.file, finding.position)


def _remove_marker(disk: Path, step: StartupStep | Finding) -> None:
    (disk / names.CLEAN_SHUTDOWN).unlink(missing_ok=True)


def _by_key(keys: dict[Callable, tuple[str, ...]]) -> dict[str, Callable]:
    return {key: action for action, of_action in keys.items() for key in of_action}


METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
ACTIONS: dict[str, Action] = _by_key(
    {
        _move_file: (
            *("move_bootstrap_away", "move_cluster_snapshot_away", "move_file_away"),
            *("move_folder_out", "restore_cleaner_offsets", "restore_high_watermarks"),
            *("restore_leader_epochs", "restore_log_starts", "restore_quorum_state"),
            "restore_recovery_points",
        ),
        _move_named_directory: ("move_directory_away", "move_one_directory_away"),
        _move_log_and_later: ("move_log_away",),
        _move_indexes: ("move_txnindex_and_index_away",),
        _remove_marker: ("recover_corrupt_log",),
        _write_properties: ("write_meta_properties",),
        _write_partition_metadata: ("write_partition_metadata",),
    }
)
FINDING_ACTIONS: dict[str, Callable[[Path, Finding], None]] = _by_key(
    {
        _cut_torn_batch: ("cut_by_hand",),
        _remove_marker: ("let_recovery_cut", "start_as_after_kill"),
        _move_file: (
            *("move_bootstrap_away", "move_file_away", "move_out", "replace_epochs"),
            *("restore_or_remove_checkpoint", "restore_quorum_state", "take_snapshot"),
        ),
        _move_indexes: ("rebuild_both_indexes", "rebuild_indexes", "rebuild_txnindex"),
        _write_properties: ("rewrite_meta_properties",),
        _write_partition_metadata: ("rewrite_partition_metadata",),
    }
)
BACKUP_ACTIONS: dict[str, Callable[[Path, StartupStep | Finding, Path], None]] = _by_key(
    {
        _restore_partition: (
            *("compare_with_replica", "fetch_cluster_metadata_again", "restore_or_recover"),
            "restore_partition",
        ),
        _restore_log_start: ("correct_log_start",),
        _restore_segments: (
            *("impossible_base_offset", "log_too_large", "look_for_log", "look_for_segment"),
            *("move_log_away", "restore_before_cut", "restore_closed_segment", "restore_segment"),
            "restore_unreadable_message",
        ),
        _restore_snapshots: ("put_snapshots_back",),
        _restore_file: (
            *("metadata_log_missing", "replace_epochs", "restore_cleaner_offsets"),
            *("restore_directory", "restore_empty_checkpoint", "restore_high_watermarks"),
            *("restore_leader_epochs", "restore_log_starts", "restore_or_remove_checkpoint"),
            *("restore_quorum_state", "restore_recovery_points", "take_snapshot"),
        ),
    }
)
