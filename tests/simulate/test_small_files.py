"""Damaged offset checkpoints, compared with Kafka's CheckpointFile and with whole brokers."""

from dataclasses import replace

import pytest

from kafkaviz.format import checkpoint, names
from kafkaviz.simulate.config import release_behaviour
from kafkaviz.simulate.startup import small_files
from kafkaviz.simulate.startup.small_files import OwnFiles, own_steps
from kafkaviz.simulate.steps import StartupStep
from tests.conftest import DATA
from tests.support.cases import all_cases
from tests.support.vectors import json_lines

NOT_A_LINE, NOT_A_NUMBER, NO_LIST = b"0\n3\nt 0 5\n", b"0\n1\nt x 5\n", b"0\n2147483647\nt 0 5\n"


@all_cases("line", json_lines(DATA / "checkpoint_faults.jsonl"), ids=lambda line: line["hex"][:40])
def test_a_checkpoint_is_read_or_refused_as_in_kafka(line):
    """By the offsets or the exception of OffsetCheckpointFile, the same in 4.3.1 and 4.4.0."""
    data = bytes.fromhex(line["hex"])
    fault = small_files.checkpoint_fault(data)
    if "offsets" in line:
        offsets = {
            f"{topic} {partition}": offset
            for (topic, partition), offset in checkpoint.parse_offsets(data).items()
        }
        assert (fault, offsets) == (None, line["offsets"])
        return
    error = line["error"]
    is_uncaught = "cause" not in error
    assert isinstance(fault, checkpoint.UncaughtRefusal) == is_uncaught
    if is_uncaught:
        assert fault.exception == (error["class"], error["message"])
    steps = steps_of(names.RECOVERY_POINT_CHECKPOINT, data)
    is_harmless = error["class"].endswith("Exception") and is_uncaught
    expected = [] if is_harmless else [not is_uncaught]
    assert [step.takes_directory_offline for step in steps] == expected


def steps_of(name: str, data: bytes, has_replicas: bool = True) -> list[StartupStep]:
    return list(small_files.checkpoint_steps({name: data}, has_replicas=has_replicas))


@pytest.mark.parametrize(
    ("name", "ends_with_any"),
    [
        (names.RECOVERY_POINT_CHECKPOINT, True),
        (names.LOG_START_CHECKPOINT, True),
        (names.CLEANER_CHECKPOINT, False),
        (names.HIGH_WATERMARK_CHECKPOINT, False),
    ],
)
def test_what_a_damaged_checkpoint_does_to_a_start(name, ends_with_any):
    """Brokers of 4.3.1 and 4.4.0 with one log directory were started on these bytes.

    A wrong count ended the process. A field that is not a number did not, whichever the file.
    """
    (offline,) = steps_of(name, NOT_A_LINE)
    assert (offline.cause, offline.file) == ("checkpoint-bad", name)
    assert offline.takes_directory_offline and offline.way_out
    assert offline.error == (
        "org.apache.kafka.common.errors.KafkaStorageException: "
        f"Error while reading checkpoint file {name}"
    )
    errors = steps_of(name, NO_LIST)
    assert [step.takes_directory_offline for step in errors] == [False] * ends_with_any
    for harmless in (NOT_A_NUMBER, b"", b"0\r\n0\r\n", b"0" * 60):
        assert not steps_of(name, harmless)


def test_a_marker_that_is_a_folder_is_a_clean_stop_unless_it_is_full():
    """CleanShutdownFileHandler (4.3.1, 4.4.0) deletes it, which fails if the folder holds a file."""
    files = OwnFiles(meta_properties=b"version=1\nnode.id=1\ncluster.id=abc\n")
    assert own_steps(files, release_behaviour((4, 3, 1))) == ()
    full = replace(files, is_marker_full=True)
    (step,) = own_steps(full, release_behaviour((4, 3, 1)))
    assert (step.cause, step.file) == ("folder", names.CLEAN_SHUTDOWN)
    assert step.takes_directory_offline and "DirectoryNotEmptyException" in step.error


def test_nothing_reads_the_high_watermarks_of_a_directory_without_replicas():
    """ReplicaManager reads them for the first replica that it makes a leader or a follower."""
    assert not steps_of(names.HIGH_WATERMARK_CHECKPOINT, NOT_A_LINE, has_replicas=False)
