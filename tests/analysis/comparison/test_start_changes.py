"""One directory before and after: what a start was foretold to do is what was done."""

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
def test_every_step_came_as_foretold(release, shared):
    """A killed directory, and the same after that release recovered it and was stopped."""
    before, after = (
        shared / "data" / f"kafka-{release}-{state}.tar.gz"
        for state in ("killed", "killed-restarted")
    )
    start = compare(before, after).start
    assert start is not None and start.is_started
    assert {foretold.outcome for foretold in start.steps} == {StepOutcome.AS_FORETOLD}
    kinds = Counter(change.kind for change in start.changes if change.is_foretold)
    assert kinds[ChangeKind.CUT] == 3 and kinds[ChangeKind.TRIMMED] >= 29
    unforetold_logs = {
        change.file
        for change in start.changes
        if not change.is_foretold and change.file.endswith((".log", "index"))
    }
    assert unforetold_logs == {"__cluster_metadata-0/00000000000000000000.log"}


def test_a_step_that_came_otherwise_is_named(tmp_path):
    """Half a batch was to be cut; a byte of the batch before it is gone too."""
    log = f"{0:020d}.log"
    a = broker(tmp_path / "a", {0: [*DATA, DATA[0][:30]]}, is_clean=False)
    indexes = {f"{0:020d}.index": b""}
    b = broker(tmp_path / "b", {0: [b"".join(DATA)[:-1]]}, is_clean=True, files=indexes)
    start = compare(a, b).start
    assert start is not None and start.is_started
    outcomes = {
        (foretold.step.action, foretold.step.file): foretold.outcome for foretold in start.steps
    }
    assert outcomes["truncate", f"t-0/{log}"] is StepOutcome.OTHERWISE
    assert outcomes["rebuild", f"t-0/{0:020d}.index"] is StepOutcome.AS_FORETOLD
    assert f"t-0/{log}" in {foretold.step.file for foretold in start.unexpected_steps}


def test_what_happened_without_a_start(tmp_path):
    """A running broker appended, rolled and deleted: changes, and no start."""
    stem = f"{2:020d}"
    a = broker(tmp_path / "a", {0: DATA[:1], 2: DATA[1:2]}, is_clean=False)
    b = broker(tmp_path / "b", {2: DATA[1:3], 6: DATA[3:]}, is_clean=False)
    start = compare(a, b).start
    assert start is not None
    changes = {change.file: change.kind for change in start.changes}
    assert changes == {
        f"t-0/{0:020d}.log": ChangeKind.DELETED,
        f"t-0/{stem}.log": ChangeKind.APPENDED,
        f"t-0/{6:020d}.log": ChangeKind.ROLL,
    }
    assert not start.is_started and start.steps == ()


def test_a_cleaned_log_has_other_batches(tmp_path):
    """No longer a prefix of what it was."""
    kept_values = {offset: VALUES[offset] for offset in (1, 2, 3)}
    cleaned = [batch_bytes(kept_values, first=0, last=3)]
    a = broker(tmp_path / "a", {0: DATA[:2], 4: DATA[2:]}, is_clean=True)
    b = broker(tmp_path / "b", {0: cleaned, 4: DATA[2:]}, is_clean=True)
    start = compare(a, b).start
    assert start is not None
    assert [change.kind for change in start.changes] == [ChangeKind.CLEANED]


def test_another_broker_is_no_other_moment(tmp_path, cache):
    """Other ids: two replicas, and nothing is foretold of one by the other."""
    a = broker(tmp_path / "a", {0: DATA}, is_clean=True)
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True)
    (b / "meta.properties").write_text("version=1\nnode.id=2\ncluster.id=c\n")
    assert open_broker(a).node_id != open_broker(b).node_id
    assert compare(a, b).start is None


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    """Nothing can be said of the start then, and that is no silence."""
    name = f"{0:020d}.snapshot"
    a = broker(tmp_path / "a", {0: DATA}, is_clean=True, files={name: b"\0\1"})
    b = broker(tmp_path / "b", {0: DATA}, is_clean=True)
    (b / "t-0" / name).symlink_to(name)
    comparison = compare(a, b)
    assert comparison.start is None
    assert [problem.path for problem in comparison.problems]
