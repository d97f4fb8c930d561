"""How a directory changed between two times, compared with a predicted broker start-up.

For example:

- Predicted: truncate a .log at byte 9000. The .log now ends at byte 9000.
- Predicted: rebuild an .index with 80 bytes. The .index now has these 80 bytes.
- Not predicted: another .log has 4000 bytes more, because producers continued.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from kafkaviz.analysis.comparison.byte_differences import common_prefix_bytes
from kafkaviz.analysis.restart import next_start
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.metadata_log import DIRECTORY
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings
from kafkaviz.simulate.recovery import RecoveredSegment
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import file_stem

INDEX_KINDS = ("index", "timeindex", "txnindex")


class ChangeKind(StrEnum):
    CUT = "cut"  # only the first bytes are left
    APPENDED = "appended"  # bytes were added at the end
    REBUILD = "rebuilt"  # an index has other entries
    TRIMMED = "trimmed"  # an index lost its unwritten slots
    TRIMMED_AND_APPENDED = "trimmed-and-appended"  # it was trimmed, and has more entries
    ROLL = "rolled"  # a new segment after all others
    CLEANED = "cleaned"  # a .log has other batches
    CREATED = "created"
    REWRITTEN = "rewritten"  # a small file has other content
    DELETED = "deleted"


class StepOutcome(StrEnum):
    AS_PREDICTED = "as-foretold"
    OTHERWISE = "otherwise"
    UNSEEN = "unseen"  # it cannot be seen, for example because of later changes


# by whether the step happened; None: it cannot be seen
OUTCOMES = {True: StepOutcome.AS_PREDICTED, False: StepOutcome.OTHERWISE, None: StepOutcome.UNSEEN}


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file that has changed.

    Attributes:
        file: the path relative to the log directory, such as "orders-0/partition.metadata".
        sizes: the bytes before and after; None: the file does not exist.
        same_bytes: the number of bytes before the first difference.
        is_predicted: whether a predicted start-up step explains the change.
    """

    partition: str
    file: str
    kind: ChangeKind
    sizes: tuple[int | None, int | None]
    same_bytes: int
    is_predicted: bool = False


@dataclass(frozen=True)
class PredictedStep:
    """A predicted start-up step, its outcome, and the file's size in the later state."""

    step: StartupStep
    outcome: StepOutcome
    size_bytes: int | None


@dataclass(frozen=True)
class StartComparison:
    """A directory at two times, and whether a broker start-up explains the changes.

    Attributes:
        restart: the start-up predicted from the earlier state; None: the broker was not started.
        is_started: whether the broker was probably started in between: the earlier clean-shutdown
            marker is gone or rewritten, or at least half of the predicted file changes happened.
        is_swapped: whether the second state is older than the first. If so, nothing is predicted.
    """

    restart: Restart | None
    steps: tuple[PredictedStep, ...]
    changes: tuple[FileChange, ...]
    is_started: bool
    is_swapped: bool = False

    @property
    def unexpected_steps(self) -> tuple[PredictedStep, ...]:
        return tuple(step for step in self.steps if step.outcome is StepOutcome.OTHERWISE)


@dataclass(frozen=True)
class _TwoStates:
    before: Mapping[str, FileInfo]
    after: Mapping[str, FileInfo]

    @cached_property
    def same_bytes(self) -> dict[str, int]:
        """The number of bytes before the first difference, per file that exists at both times."""
        return {
            name: common_prefix_bytes(self.before[name], self.after[name])
            for name in self.before.keys() & self.after.keys()
        }


def is_same_directory(a: Broker, b: Broker) -> bool:
    """Returns whether meta.properties shows that both are one directory, at different times."""
    if a.is_lone or b.is_lone or not a.cluster_id or a.node_number is None:
        return False
    if (a.cluster_id, a.node_number) != (b.cluster_id, b.node_number):
        return False
    ids_a = _directory_ids(a)
    ids_b = _directory_ids(b)
    return not ids_a or not ids_b or ids_a == ids_b


def _directory_ids(broker: Broker) -> set[str]:
    ids = (directory.directory_id for directory in broker.log_directories)
    return {directory_id for directory_id in ids if directory_id}


def compare_start(before: Broker, after: Broker, settings: Settings) -> StartComparison:
    """Returns how a directory changed, and which predicted start-up steps happened.

    `settings` belong to the earlier state. Raises CannotOpen if a file cannot be read.
    """
    files = _TwoStates(_files(before), _files(after))
    recovered_files: dict[str, bytes] = {}
    find_config = next_start.config_lookup(settings)
    doubtful = _doubtful_partitions(before, after, find_config)

    def keep_indexes(directory: str, base_offset: int, segment: RecoveredSegment) -> None:
        stem = f"{directory}/{file_stem(base_offset)}."
        recovered_files[f"{stem}index"] = segment.index()
        recovered_files[f"{stem}timeindex"] = segment.timeindex()

    changes = tuple(_changes(files))
    if not changes:
        return StartComparison(None, (), (), is_started=False)
    if _recency(files.after) < _recency(files.before):
        return StartComparison(None, (), changes, is_started=False, is_swapped=True)
    restart = next_start.predict_restart(
        before, find_config, settings.release, on_recovered=keep_indexes
    )
    partitions = {partition.directory: partition for partition in after.partitions}
    steps = []
    for step in restart.steps:
        is_fulfilled = _is_fulfilled(step, files, recovered_files, partitions, doubtful)
        info = files.after.get(step.file or "")
        steps.append(PredictedStep(step, OUTCOMES[is_fulfilled], info.size_bytes if info else None))
    is_other_marker = before.is_clean and (
        not after.is_clean or before.clean_body != after.clean_body
    )
    if not is_other_marker and not _looks_started(steps, {change.file for change in changes}):
        return StartComparison(None, (), changes, is_started=False)
    predicted_files = {
        predicted.step.file
        for predicted in steps
        if predicted.outcome is StepOutcome.AS_PREDICTED and predicted.step.action != "keep"
    } - {predicted.step.file for predicted in steps if predicted.outcome is StepOutcome.OTHERWISE}
    changes = tuple(
        replace(change, is_predicted=change.file in predicted_files) for change in changes
    )
    return StartComparison(restart, tuple(steps), changes, is_started=True)


def _recency(files: Mapping[str, FileInfo]) -> tuple[str, int]:
    """Returns a value that is larger for the newer state of a directory.

    It is (last .log of the metadata log, size of this .log), or ("", newest modification time).
    """
    logs = [name for name in files if name.startswith(f"{DIRECTORY}/") and name.endswith(".log")]
    if logs:
        return max(logs), files[max(logs)].size_bytes
    return "", max((info.mtime_ns for info in files.values()), default=0)


def _looks_started(steps: Iterable[PredictedStep], changed_files: Collection[str]) -> bool:
    """Returns whether at least half of the predicted file changes happened.

    Changes that a running broker also makes do not count, such as deleting a producer snapshot.
    """
    file_steps = [
        predicted
        for predicted in steps
        if predicted.step.file
        and predicted.step.action != "keep"
        and not predicted.step.is_expected
    ]
    signs = {
        predicted.step.file
        for predicted in file_steps
        if predicted.outcome is StepOutcome.AS_PREDICTED and predicted.step.file in changed_files
    }
    untouched = {
        predicted.step.file
        for predicted in file_steps
        if predicted.outcome is StepOutcome.OTHERWISE and predicted.step.file not in changed_files
    }
    return bool(signs) and len(signs) >= len(untouched)


def _doubtful_partitions(
    before: Broker, after: Broker, find_config: next_start.ConfigLookup
) -> Mapping[str, bool]:
    """Returns the partitions in which some predicted steps cannot be judged.

    The key is the directory's name. True: the partition is in two log directories, so no step can
    be judged. False: the settings are unknown, so no rebuilt index can be judged.
    """
    doubtful = {
        partition.directory: False
        for partition in before.partitions
        if not find_config(partition).is_known
    }
    for broker in (before, after):
        for partition in broker.partitions:
            if broker.partition_name(partition) != partition.directory:
                doubtful[partition.directory] = True
    return doubtful


def _files(broker: Broker) -> dict[str, FileInfo]:
    return {
        f"{broker.partition_name(partition)}/{info.name}": info
        for partition in broker.partitions
        for info in next_start.log_files(partition)
    }


def _is_fulfilled(
    step: StartupStep,
    files: _TwoStates,
    recovered_files: Mapping[str, bytes],
    partitions: Mapping[str, Partition],
    doubtful: Mapping[str, bool],
) -> bool | None:
    """Returns whether a predicted step happened. None: the files do not show it."""
    is_in_two = doubtful.get(step.partition or "")
    if step.action == "fail" or is_in_two:
        return None
    if step.action == "delete" and step.file is None:
        return step.partition not in partitions
    if step.action == "create":
        return step.partition in partitions
    partition = partitions.get(step.partition or "")
    if partition is None or step.file is None:
        return None
    if step.action == "delete":
        return step.file not in files.same_bytes
    bases = {segment.base_offset for segment in partition.live}
    if step.segment is not None and bases and step.segment not in bases:
        return None
    info = files.after.get(step.file)
    if info is None:
        # without a segment, the file is a producer snapshot, which a later roll or stop replaces
        return None if step.segment is None else False
    if step.action == "truncate":
        end = step.from_position or 0
        same_bytes = files.same_bytes[step.file]
        return same_bytes == end or same_bytes >= end == info.size_bytes
    if step.action == "keep":
        return files.same_bytes[step.file] == files.before[step.file].size_bytes
    recovered_bytes = None
    if info.name.endswith("index"):
        if is_in_two is False:
            return None
        recovered_bytes = recovered_files.get(step.file)
    if recovered_bytes is None:
        return step.size_bytes is None or info.size_bytes >= step.size_bytes
    data, size_bytes = file.read_data(info.path)
    data = data.ljust(min(size_bytes, len(recovered_bytes)), b"\0")
    return data[: len(recovered_bytes)] == recovered_bytes


def _changes(files: _TwoStates) -> Iterator[FileChange]:
    for name in sorted(files.before.keys() | files.after.keys()):
        before = files.before.get(name)
        after = files.after.get(name)
        same_bytes = files.same_bytes.get(name, 0)
        if before and after and before.size_bytes == after.size_bytes == same_bytes:
            continue
        yield FileChange(
            partition=name.partition("/")[0],
            file=name,
            kind=_kind(name, files),
            sizes=(before.size_bytes if before else None, after.size_bytes if after else None),
            same_bytes=same_bytes,
        )


def _kind(name: str, files: _TwoStates) -> ChangeKind:
    before = files.before.get(name)
    after = files.after.get(name)
    if after is None:
        return ChangeKind.DELETED
    directory, _, file_name = name.partition("/")
    segment_name = names.parse_file(file_name)
    if before is None:
        bases = [
            parsed.base_offset
            for other in files.before
            if other.startswith(f"{directory}/")
            and (parsed := names.parse_file(other.partition("/")[2]))
            and parsed.kind == "log"
        ]
        if segment_name and segment_name.kind == "log":
            base = segment_name.base_offset
            return ChangeKind.ROLL if base > max(bases, default=base) else ChangeKind.CREATED
        return ChangeKind.CREATED
    same_bytes = files.same_bytes[name]
    if segment_name and segment_name.kind == "log":
        if same_bytes == min(before.size_bytes, after.size_bytes):
            is_shorter = after.size_bytes < before.size_bytes
            return ChangeKind.CUT if is_shorter else ChangeKind.APPENDED
        return ChangeKind.CLEANED
    if segment_name and segment_name.kind in INDEX_KINDS:
        return _index_kind(before, after, same_bytes)
    return ChangeKind.REWRITTEN


def _index_kind(before: FileInfo, after: FileInfo, same_bytes: int) -> ChangeKind:
    is_shorter = after.size_bytes < before.size_bytes
    if is_shorter and same_bytes == after.size_bytes:
        rest = file.read_data(before.path)[0][same_bytes:]
        return ChangeKind.CUT if rest.strip(b"\0") else ChangeKind.TRIMMED
    data = file.read_data(before.path)[0].rstrip(b"\0")
    if same_bytes < len(data):
        return ChangeKind.REBUILD
    return ChangeKind.TRIMMED_AND_APPENDED if is_shorter else ChangeKind.APPENDED
