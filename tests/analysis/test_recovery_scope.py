"""The segments that a start reads again, by its predicted steps and by retention."""

import os
import shutil

import numpy as np
import pytest

from kafkaviz.analysis import broker_health
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.lookup.lookups import needs_recovery
from kafkaviz.analysis.restart.recovery_scope import recovered_bases
from kafkaviz.format import txn_index
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.log.broker import open_broker
from kafkaviz.simulate.steps import RECOVERY_CAUSES

IN_2035_S = 2_051_222_400


@pytest.mark.parametrize("sample", ["clean", "damaged", "killed"])
def test_they_are_those_that_the_steps_name(request, sample):
    """Every partition of the samples; segments deleted after a cut were to be read as well."""
    planned = plan_check(open_broker(request.getfixturevalue(sample)))
    steps = {
        log.partition.directory: broker_health.restart_steps(
            log, clean=planned.is_clean, release=planned.assumed_release.release
        )
        for log in planned.logs()
    }
    count = 0
    for partition in planned.partitions:
        restart_steps = steps[partition.directory]
        if (
            partition.state == "delete"
            or partition.topic == METADATA_TOPIC
            or any(step.action == "fail" for step in restart_steps)
        ):
            continue
        named_segments = {
            step.segment
            for step in restart_steps
            if step.cause in (*RECOVERY_CAUSES, "after-truncation")
        }
        assert (
            recovered_bases(
                partition.live,
                clean=planned.is_clean,
                recovery_point=partition.recovery_point,
                release=planned.assumed_release.release,
            )
            == named_segments
        ), partition.directory
        count += len(named_segments)
    assert count >= (0 if sample == "clean" else 1)


def test_a_segment_without_indexes_is_kept_by_its_records(clean, tmp_path):
    """The predicted start rebuilds its time index, so the .log's modification time is ignored."""
    shutil.copytree(clean, tmp_path / "kafka")
    log = tmp_path / "kafka" / "orders-0" / f"{0:020}.log"
    for kind in (".index", ".timeindex"):
        log.with_suffix(kind).unlink()
    os.utime(log, (IN_2035_S, IN_2035_S))
    checked = broker_health.check(tmp_path / "kafka")
    assert any(
        step.segment == 0 and step.cause == "index-missing" and step.file.endswith("timeindex")
        for step in checked.restart.steps
    )
    codes = {finding.code for finding in checked.findings if finding.partition == "orders-0"}
    assert "retention-by-mtime" not in codes
    segments = next(log for log in checked.retention if log.partition == "orders-0").segments
    healthy_segments = next(
        log for log in broker_health.check(clean).retention if log.partition == "orders-0"
    ).segments
    assert [segment.age for segment in segments] == [
        segment.age for segment in healthy_segments
    ] and segments[0].age.counted_by == "record"
    assert not any(segment.state == "behind" for segment in segments)


def test_up_to_2_2_so_is_one_whose_index_fails_its_check(clean, tmp_path):
    """A torn .index. Nothing is unflushed in a log whose end is unknown."""
    shutil.copytree(clean / "orders-0", tmp_path / "orders-0")
    index = tmp_path / "orders-0" / f"{0:020}.index"
    index.write_bytes(index.read_bytes()[:13])
    live = open_broker(tmp_path / "orders-0").partitions[0].live
    assert [
        recovered_bases(live, clean=clean, recovery_point=0, release=release)
        for clean, release in ((None, (2, 2)), (None, ()), (False, ()))
    ] == [
        {0},
        frozenset(),
        {segment.base_offset for segment in live},
    ]


def test_an_index_at_which_the_start_fails_is_not_recovered_but_a_lookup_says_so(clean, tmp_path):
    directory = shutil.copytree(clean, tmp_path / "kafka")
    segment = open_broker(directory).partition("orders-0").live[0]
    entry = np.zeros(1, txn_index.ENTRY)
    entry["version"] = (txn_index.VERSION + 1) << 8  # one byte up to 4.3
    entry["last_offset"] = segment.base_offset
    segment.log.path.with_suffix(".txnindex").write_bytes(entry.tobytes())
    partition = open_broker(directory).partition("orders-0")
    assert needs_recovery(partition)
    assert not recovered_bases(partition.live, clean=True, recovery_point=0)
