"""Which segments a broker with tiered storage uploads, and why not the others.

A broker of 4.3.1 with Kafka's LocalTieredStorage fills six topics and stops. Files are then removed
or damaged by hand, and kafkaviz predicts what will be uploaded. The broker starts again, the topics
get remote storage, and the store and the broker's log have the answer.
"""

from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from kafkaviz.analysis.checks.plan import CheckPlan, plan_check
from kafkaviz.analysis.tiering.upload import (
    UPLOADABLE_STATES,
    PartitionUpload,
    UploadState,
    partition_upload,
    tiered_directories,
    tiered_uploads,
)
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.format.remote_segment import LOCAL_ROOT
from kafkaviz.log.broker import open_broker, read_tiered_state
from kafkaviz.log.settings import Settings
from kafkaviz.units import file_stem
from tests.kafka.harness import run_twice, scratch

RELEASE = "4.3.1"
LOGGER = "org.apache.kafka.server.log.remote.storage"
FAILED = "Error occurred while copying log segments of partition"
# of the closed segments of a topic, the one that is changed by hand
DAMAGED = 2
# what the first segment that is not uploaded waits for, by topic
EXPECTED = {
    "plain": UploadState.ACTIVE,
    "snapshot": UploadState.SNAPSHOT_MISSING,
    "epochs": UploadState.EPOCHS_MISSING,
    "index": UploadState.ACTIVE,
    "open": UploadState.ABOVE_STABLE,
    "stopped": UploadState.COPY_DISABLED,
}
# the exception in the broker's log, by topic
EXCEPTIONS = {
    "snapshot": "java.lang.NullPointerException",
    "epochs": "java.lang.IllegalArgumentException",
}


def differences() -> tuple[list[str], str]:
    """Returns the differences and a summary."""
    with scratch() as folder:
        return _compare(Path(folder))


def _compare(folder: Path) -> tuple[list[str], str]:
    logs, store, log_file = folder / "logs", folder / "store", folder / "broker.log"
    options = (
        f"-Dorg.slf4j.simpleLogger.logFile={log_file}",
        f"-Dorg.slf4j.simpleLogger.log.{LOGGER}=error",
    )

    def damage_and_predict() -> dict[str, PartitionUpload]:
        _damage(logs)
        return {upload.partition: upload for upload in _predict(logs)}

    predicted = run_twice("UploadBroker", folder, damage_and_predict, options=options)
    found = list(_differences(logs, store, log_file.read_text(), predicted))
    count = sum(len(upload.segments) for upload in predicted.values())
    return found, f"{count} segments of a broker with tiered storage, {len(found)} differ"


def _damage(logs: Path) -> None:
    """Removes a producer snapshot and the leader epochs, and cuts an index, each of one topic."""
    bases = sorted(int(path.stem) for path in (logs / "snapshot-0").glob("*.log"))
    (logs / "snapshot-0" / f"{file_stem(bases[DAMAGED + 1])}.snapshot").unlink()
    (logs / "epochs-0" / LEADER_EPOCHS).unlink()
    index = sorted((logs / "index-0").glob("*.index"))[DAMAGED]
    index.write_bytes(index.read_bytes()[:-3])


def _predict(logs: Path) -> Iterator[PartitionUpload]:
    """Yields what will be uploaded once the topics have remote storage."""
    plan = plan_check(open_broker(logs), RELEASE)
    for topic in EXPECTED:
        overrides = {"remote.storage.enable": "true"}
        if topic == "stopped":
            overrides["remote.log.copy.disable"] = "true"
        settings: Settings = replace(plan.settings, overrides=overrides)
        topic_plan: CheckPlan = replace(plan, settings=settings)
        partition = plan.broker.partition(f"{topic}-0")
        yield partition_upload(topic_plan, partition, highest_remote_offset=-1)


def _differences(
    logs: Path, store: Path, log_text: str, predicted: dict[str, PartitionUpload]
) -> Iterator[str]:
    plan = plan_check(open_broker(logs), RELEASE)
    state = read_tiered_state(store, logs, tiered_directories(plan))
    uploads, problems = tiered_uploads(plan, state)
    yield from (str(problem) for problem in problems)
    after = {upload.partition: upload for upload in uploads}
    for topic, expected in EXPECTED.items():
        directory = f"{topic}-0"
        held = _states(predicted[directory], without=UPLOADABLE_STATES)
        first_held = next(iter(held.values()))
        if first_held is not expected:
            yield f"{directory}: {first_held} instead of {expected} is predicted"
        offsets = [item.start_offset for item in predicted[directory].segments]
        uploadable = [offset for offset in offsets if offset not in held]
        folders = list((store / LOCAL_ROOT).glob(f"{directory}-*"))
        stored = sorted(int(path.name[:20]) for home in folders for path in home.glob("*.log"))
        if stored != uploadable:
            yield f"{directory}: {stored} were uploaded, {uploadable} predicted"
        yield from _compare_after(predicted[directory], after[directory])
        failures = log_text.count(f"{FAILED}: ")
        exception = EXCEPTIONS.get(topic)
        lines = [line for line in log_text.splitlines() if FAILED in line and directory in line]
        if bool(lines) != bool(exception):
            yield f"{directory}: {len(lines)} of {failures} failures in the broker's log"
        if exception and not _is_caused(log_text, directory, exception):
            yield f"{directory}: no {exception} in the broker's log"
    if len(_started_only(state, "snapshot-0")) < 2:
        yield "snapshot-0: no attempt left a COPY_SEGMENT_STARTED"
    if _started_only(state, "epochs-0"):
        yield "epochs-0: an attempt left a COPY_SEGMENT_STARTED"
    damaged = [path.stat().st_size for path in store.glob(f"{LOCAL_ROOT}/index-0-*/*.index")]
    if not any(size % 8 for size in damaged):
        yield "index-0: the damaged index was not uploaded as it was"


def _compare_after(before: PartitionUpload, after: PartitionUpload) -> Iterator[str]:
    """The segments that were not uploaded are still there, each with the reason of before."""
    held = _states(before, without=UPLOADABLE_STATES)
    left = _states(after, without=(UploadState.UPLOADED,))
    if held != left:
        yield f"{before.partition}: {left} after the uploads, {held} predicted"
    if before.failing and not after.kept_segments:
        yield f"{before.partition}: nothing is kept because it is not uploaded"


def _states(upload: PartitionUpload, without: Container[UploadState]) -> dict[int, UploadState]:
    """Returns the states of the segments, by their start offsets."""
    return {item.start_offset: item.state for item in upload.segments if item.state not in without}


def _is_caused(log_text: str, directory: str, exception: str) -> bool:
    lines = log_text.splitlines()
    return any(
        FAILED in line and directory in line and following.startswith(exception)
        for line, following in pairwise(lines)
    )


def _started_only(state, directory: str) -> list:
    (partition,) = (item for item in state.partitions if item.directory == directory)
    return [item for item in partition.segments if item.state == "COPY_SEGMENT_STARTED"]
