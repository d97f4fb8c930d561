"""How a directory changed between two times, compared with a predicted broker start-up.

For example:

- Predicted: truncate a .log at byte 9000. The .log now ends at byte 9000.
- Predicted: rebuild an .index with 80 bytes. The .index now has these 80 bytes.
- Not predicted: another .log has 4000 bytes more, because producers continued.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from kafkaviz.analysis.comparison.byte_differences import common_prefix_bytes
from kafkaviz.analysis.restart.next_start import (
    ConfigLookup,
    config_lookup,
    log_files,
    predict_restart,
)
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.metadata_log import DIRECTORY
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


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file that has changed.

    Attributes:
        file: the path relative to the log directory, such as "orders-0/partition.metadata".
        sizes: the sizes before and after, in bytes; None: the file does not exist.
        same_bytes: the number of bytes before the first difference.
        is_predicted: whether a predicted start-up step explains the change.
    """

    partition: str
    file: str
    kind: ChangeKind
    sizes: tuple[int | None, int | None]
    same_bytes: int
    is_predicted: bool


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
        is_started: whether the broker was probably started in between: the clean-shutdown marker
            has changed, or at least half of the predicted file changes happened.
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


def is_same_directory(a: Broker, b: Broker) -> bool:
    """Returns whether meta.properties shows that both are one directory at two times."""
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

    Args:
        settings: the settings of the earlier state.

    Raises:
        CannotOpen: a file cannot be read.
    """
    files = _files(before), _files(after)
    recovered_files: dict[str, bytes] = {}
    find_config = config_lookup(settings)
    doubtful = _doubtful_partitions(before, after, find_config)

    def keep_indexes(directory: str, base_offset: int, segment: RecoveredSegment) -> None:
        stem = f"{directory}/{file_stem(base_offset)}."
        recovered_files[f"{stem}index"] = segment.index()
        recovered_files[f"{stem}timeindex"] = segment.timeindex()

    same_bytes = {
        name: common_prefix_bytes(files[0][name], files[1][name])
        for name in files[0].keys() & files[1].keys()
    }
    if _is_unchanged(files, same_bytes):
        return StartComparison(None, (), (), is_started=False)
    if _recency(files[1]) < _recency(files[0]):
        changes = tuple(_changes(files, same_bytes, set()))
        return StartComparison(None, (), changes, is_started=False, is_swapped=True)
    restart = predict_restart(before, find_config, settings.release, on_recovered=keep_indexes)
    sizes = {name: info.size_bytes for name, info in files[1].items()}
    steps = tuple(
        PredictedStep(
            step,
            _outcome(step, files, same_bytes, recovered_files, after, doubtful=doubtful),
            sizes.get(step.file or ""),
        )
        for step in restart.steps
    )
    predicted_files = {
        predicted.step.file
        for predicted in steps
        if predicted.outcome is StepOutcome.AS_PREDICTED and predicted.step.action != "keep"
    } - {predicted.step.file for predicted in steps if predicted.outcome is StepOutcome.OTHERWISE}
    changes = tuple(_changes(files, same_bytes, predicted_files))
    changed_files = {change.file for change in changes}
    is_started = _is_other_marker(before, after) or _looks_started(steps, changed_files)
    if not is_started:
        changes = tuple(replace(change, is_predicted=False) for change in changes)
    return StartComparison(
        restart if is_started else None, steps if is_started else (), changes, is_started=is_started
    )


def _is_unchanged(
    files: tuple[Mapping[str, FileInfo], Mapping[str, FileInfo]], same_bytes: Mapping[str, int]
) -> bool:
    return files[0].keys() == files[1].keys() and all(
        files[0][name].size_bytes == size_bytes == files[1][name].size_bytes
        for name, size_bytes in same_bytes.items()
    )


def _recency(files: Mapping[str, FileInfo]) -> tuple[str, int]:
    """Returns the end of the metadata log, or else the newest modification time.

    The newer state of a directory has the larger value.
    """
    logs = [name for name in files if name.startswith(f"{DIRECTORY}/") and name.endswith(".log")]
    if logs:
        return max(logs), files[max(logs)].size_bytes
    return "", max((info.mtime_ns for info in files.values()), default=0)


def _is_other_marker(before: Broker, after: Broker) -> bool:
    if not before.is_clean:
        return False
    return not after.is_clean or before.clean_body != after.clean_body


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
    before: Broker, after: Broker, find_config: ConfigLookup
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
        for info in log_files(partition)
    }


def _outcome(
    step: StartupStep,
    files: tuple[Mapping[str, FileInfo], Mapping[str, FileInfo]],
    same_bytes: Mapping[str, int],
    recovered_files: Mapping[str, bytes],
    after: Broker,
    *,
    doubtful: Mapping[str, bool],
) -> StepOutcome:
    def outcome(*, is_fulfilled: bool) -> StepOutcome:
        return StepOutcome.AS_PREDICTED if is_fulfilled else StepOutcome.OTHERWISE

    partitions = {partition.directory: partition for partition in after.partitions}
    is_in_two = doubtful.get(step.partition or "")
    if step.action == "fail" or is_in_two:
        return StepOutcome.UNSEEN
    if step.action == "delete":
        if step.file is None:
            return outcome(is_fulfilled=step.partition not in partitions)
        if step.partition not in partitions:
            return StepOutcome.UNSEEN
        return outcome(is_fulfilled=step.file not in files[1] or step.file not in same_bytes)
    if step.action == "create":
        return outcome(is_fulfilled=step.partition in partitions)
    if step.partition not in partitions or (step.partition == DIRECTORY and not step.file):
        return StepOutcome.UNSEEN
    if step.file is None:
        return StepOutcome.UNSEEN
    bases = {segment.base_offset for segment in partitions[step.partition].live}
    if step.segment is not None and bases and step.segment not in bases:
        return StepOutcome.UNSEEN
    info = files[1].get(step.file)
    if info is None:
        # without a segment, the file is a producer snapshot, which a later roll or stop replaces
        return outcome(is_fulfilled=False) if step.segment is not None else StepOutcome.UNSEEN
    if step.action == "truncate":
        end = step.from_position or 0
        is_cut = same_bytes[step.file] == end
        return outcome(is_fulfilled=is_cut or same_bytes[step.file] >= end == info.size_bytes)
    if step.action == "keep":
        return outcome(is_fulfilled=same_bytes[step.file] == files[0][step.file].size_bytes)
    if is_in_two is False and info.name.endswith("index"):
        return StepOutcome.UNSEEN
    return _rebuild_outcome(step, info, recovered_files.get(step.file))


def _rebuild_outcome(
    step: StartupStep, info: FileInfo, recovered_bytes: bytes | None
) -> StepOutcome:
    """Returns whether an index begins with the bytes that recovery should have written."""
    if recovered_bytes is not None and info.name.endswith("index"):
        data, size_bytes = file.read_data(info.path)
        data = data.ljust(min(size_bytes, len(recovered_bytes)), b"\0")
        is_same = data[: len(recovered_bytes)] == recovered_bytes
        return StepOutcome.AS_PREDICTED if is_same else StepOutcome.OTHERWISE
    if step.size_bytes is None or info.size_bytes >= step.size_bytes:
        return StepOutcome.AS_PREDICTED
    return StepOutcome.OTHERWISE


def _changes(
    files: tuple[Mapping[str, FileInfo], Mapping[str, FileInfo]],
    same_bytes: Mapping[str, int],
    predicted_files: Collection[str | None],
) -> Iterator[FileChange]:
    before, after = files
    for name in sorted(before.keys() | after.keys()):
        sizes = before.get(name), after.get(name)
        old_bytes, new_bytes = (info.size_bytes if info else None for info in sizes)
        same = same_bytes.get(name, 0)
        if old_bytes == new_bytes == same and name in same_bytes:
            continue
        kind = _kind(name, before, after, same)
        partition = name.partition("/")[0]
        yield FileChange(
            partition=partition,
            file=name,
            kind=kind,
            sizes=(old_bytes, new_bytes),
            same_bytes=same,
            is_predicted=name in predicted_files,
        )


def _kind(
    name: str, before: Mapping[str, FileInfo], after: Mapping[str, FileInfo], same_bytes: int
) -> ChangeKind:
    if name not in after:
        return ChangeKind.DELETED
    directory, _, file_name = name.partition("/")
    segment_name = names.parse_file(file_name)
    if name not in before:
        bases = [
            parsed.base_offset
            for other in before
            if other.startswith(f"{directory}/")
            and (parsed := names.parse_file(other.partition("/")[2]))
            and parsed.kind == "log"
        ]
        is_rolled = bool(segment_name and bases and segment_name.kind == "log") and (
            segment_name is not None and segment_name.base_offset > max(bases)
        )
        return ChangeKind.ROLL if is_rolled else ChangeKind.CREATED
    old_bytes = before[name].size_bytes
    new_bytes = after[name].size_bytes
    if segment_name and segment_name.kind == "log":
        if same_bytes == min(old_bytes, new_bytes):
            return ChangeKind.CUT if new_bytes < old_bytes else ChangeKind.APPENDED
        return ChangeKind.CLEANED
    if segment_name and segment_name.kind in INDEX_KINDS:
        return _index_kind(before[name], after[name], same_bytes)
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
