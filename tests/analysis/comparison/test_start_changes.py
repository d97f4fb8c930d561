"""One directory before and after a start: the changes are the predicted ones."""

import os
import shutil
from collections import Counter

import pytest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.start_changes import ChangeKind, StepOutcome
from kafkaviz.log.broker import open_broker
from tests.analysis.comparison.logs import batch_bytes, write_partition

VALUES = {offset: b"value" for offset in range(8)}
DATA = [batch_bytes(VALUES, first=first, last=first + 1) for first in (0, 2, 4, 6)]


def broker(folder, segments, *, is_clean, files=()):
    folder.mkdir()
    (folder / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    write_partition(folder / "t-0", segments, "0\n1\n0 0\n")
    if is_clean:
        (folder / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    for name, data in dict(files).items():
        (folder / "t-0" / name).write_bytes(data)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_every_step_came_as_predicted(release, shared):
    """A killed directory, and the same after its release recovered it and was stopped."""
    before, after = (
        shared / "data" / f"kafka-{release}-{state}.tar.gz"
        for state in ("killed", "killed-restarted")
    )
    start = compare(before, after).start
    assert start.is_started
    assert {predicted.outcome for predicted in start.steps} == {StepOutcome.AS_PREDICTED}
    kinds = Counter(change.kind for change in start.changes if change.is_predicted)
    assert kinds[ChangeKind.CUT] == 3 and kinds[ChangeKind.TRIMMED] >= 29
    unforetold_logs = {
        change.file
        for change in start.changes
        if not change.is_predicted and change.file.endswith((".log", "index"))
    }
    assert unforetold_logs == {"__cluster_metadata-0/00000000000000000000.log"}


def test_a_step_that_came_otherwise_is_named(tmp_path):
    """Half a batch was to be cut, and a byte of the batch before it is gone too."""
    a = broker(tmp_path / "a", {0: [*DATA, DATA[0][:30]]}, is_clean=False)
    indexes = {f"{0:020d}.index": b""}
    b = broker(tmp_path / "b", {0: [b"".join(DATA)[:-1]]}, is_clean=True, files=indexes)
    start = compare(a, b).start
    assert start.is_started
    outcomes = {(step.step.action, step.step.file): step.outcome for step in start.steps}
    log, index = f"t-0/{0:020d}.log", f"t-0/{0:020d}.index"
    assert outcomes["truncate", log] is StepOutcome.OTHERWISE
    assert outcomes["rebuild", index] is StepOutcome.AS_PREDICTED
    assert log in {step.step.file for step in start.unexpected_steps}
    verdicts = {change.file: change.is_predicted for change in start.changes}
    assert verdicts[log] is False and verdicts[index] is True


def test_the_later_moment_given_first_is_reported(tmp_path):
    older, newer = (
        broker(tmp_path / name, {0: DATA}, is_clean=is_clean)
        for name, is_clean in (("older", False), ("newer", True))
    )
    log = newer / "t-0" / f"{0:020d}.log"
    log.write_bytes(b"".join(DATA[:3]))
    os.utime(log, ns=(2**61, 2**61))
    start = compare(newer, older).start
    assert start.is_swapped
    assert start.steps == () and not start.is_started
    for folder, batches in ((older, DATA[:2]), (newer, DATA[:1])):
        write_partition(folder / "__cluster_metadata-0", {0: batches})
    is_swapped = [compare(*pair).start.is_swapped for pair in ((older, newer), (newer, older))]
    assert is_swapped == [True, False]


def test_an_index_that_was_trimmed_and_got_an_entry(tmp_path):
    """A clean stop leaves a time index neither only appended to nor only trimmed."""
    name, entry = f"{0:020d}.timeindex", (1007).to_bytes(8, "big") + (7).to_bytes(4, "big")
    a = broker(tmp_path / "a", {0: DATA}, is_clean=False, files={name: bytes(120)})
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True, files={name: entry})
    start = compare(a, b).start
    kinds = {change.file: change.kind for change in start.changes}
    assert kinds[f"t-0/{name}"] is ChangeKind.TRIMMED_AND_APPENDED


def test_epochs_of_one_directory_are_not_those_of_replicas(tmp_path):
    a = broker(tmp_path / "a", {0: DATA}, is_clean=True)
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True)
    (b / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n3 8\n")
    (b / "t-0" / f"{0:020d}.index").write_bytes(b"")
    partition = compare(a, b).partitions[0]
    assert [note.key for note in partition.notes] == ["comparison.epochs_changed"]


def test_what_happened_without_a_start(tmp_path):
    stem = f"{2:020d}"
    a = broker(tmp_path / "a", {0: DATA[:1], 2: DATA[1:2]}, is_clean=False)
    b = broker(tmp_path / "b", {2: DATA[1:3], 6: DATA[3:]}, is_clean=False)
    start = compare(a, b).start
    changes = {change.file: change.kind for change in start.changes}
    assert changes == {
        f"t-0/{0:020d}.log": ChangeKind.DELETED,
        f"t-0/{stem}.log": ChangeKind.APPENDED,
        f"t-0/{6:020d}.log": ChangeKind.ROLL,
    }
    assert not start.is_started and start.steps == ()


@pytest.mark.parametrize("is_partition_gone", [True, False])
def test_a_copy_that_lacks_something_shows_no_start(is_partition_gone, tmp_path):
    """A start would have deleted the file in u-0 and also cut the tail in t-0."""
    a = broker(tmp_path / "a", {0: [*DATA, DATA[0][:30]]}, is_clean=False)
    write_partition(a / "u-0", {0: DATA}, "0\n1\n0 0\n")
    (a / "u-0" / f"{0:020d}.log.cleaned").write_bytes(b"")
    b = tmp_path / "b"
    shutil.copytree(a, b, copy_function=shutil.copy)  # the copies are newer
    if is_partition_gone:
        shutil.rmtree(b / "u-0")
    else:
        (b / "u-0" / f"{0:020d}.log.cleaned").unlink()
    start = compare(a, b).start
    assert not start.is_started and start.steps == ()
    assert start.changes and not any(change.is_predicted for change in start.changes)


def test_a_cleaned_log_has_other_batches(tmp_path):
    kept_values = {offset: VALUES[offset] for offset in (1, 2, 3)}
    cleaned = [batch_bytes(kept_values, first=0, last=3)]
    a = broker(tmp_path / "a", {0: DATA[:2], 4: DATA[2:]}, is_clean=True)
    b = broker(tmp_path / "b", {0: cleaned, 4: DATA[2:]}, is_clean=True)
    start = compare(a, b).start
    assert [change.kind for change in start.changes] == [ChangeKind.CLEANED]


def test_another_broker_is_no_other_moment(tmp_path, cache):
    a = broker(tmp_path / "a", {0: DATA}, is_clean=True)
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True)
    (b / "meta.properties").write_text("version=1\nnode.id=2\ncluster.id=c\n")
    assert open_broker(a).node_id != open_broker(b).node_id
    assert compare(a, b).start is None


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    name = f"{0:020d}.snapshot"
    a = broker(tmp_path / "a", {0: DATA}, is_clean=True, files={name: b"\0\1"})
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True)
    (b / "t-0" / name).symlink_to(name)
    comparison = compare(a, b)
    assert comparison.start is None
    assert [problem.path for problem in comparison.problems]
