"""The segments that a start reads again, by its predicted steps and by retention."""

import os
import shutil

import numpy as np
import pytest

from kafkaviz.analysis import broker_health
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.lookup.served_log import needs_recovery
from kafkaviz.analysis.restart.recovery_scope import recovered_bases
from kafkaviz.format import txn_index
from kafkaviz.format.names import METADATA_DIRECTORY, METADATA_TOPIC
from kafkaviz.log.broker import open_broker
from kafkaviz.simulate.steps import RECOVERY_CAUSES
from tests.support.brokers import copy_partitions
from tests.support.findings import codes

IN_2035_S = 2_051_222_400


@pytest.mark.parametrize("sample", ["clean", "damaged", "killed"])
def test_they_are_those_that_the_steps_name(request, sample):
    """Every partition of the samples; segments deleted after a cut were to be read as well."""
    planned = plan_check(open_broker(request.getfixturevalue(sample)))
    how = {"clean": planned.is_clean, "release": planned.assumed_release.release}
    causes = (*RECOVERY_CAUSES, "after-truncation")
    count = 0
    for log in planned.logs():
        partition = log.partition
        steps = broker_health.restart_steps(log, **how)
        is_skipped = partition.state == "delete" or partition.topic == METADATA_TOPIC
        if is_skipped or any(step.action == "fail" for step in steps):
            continue
        bases = recovered_bases(partition.live, recovery_point=partition.recovery_point, **how)
        named_segments = {step.segment for step in steps if step.cause in causes}
        assert bases == named_segments, partition.directory
        count += len(bases)
    assert count >= (0 if sample == "clean" else 1)


def test_a_segment_without_indexes_is_kept_by_its_records(clean, tmp_path):
    """The predicted start rebuilds its time index, so the .log's modification time is ignored."""
    directory = copy_partitions(clean, tmp_path / "kafka", [METADATA_DIRECTORY, "orders-0"])
    (healthy,) = broker_health.check(directory).retention
    log = directory / "orders-0" / f"{0:020}.log"
    for kind in (".index", ".timeindex"):
        log.with_suffix(kind).unlink()
    os.utime(log, (IN_2035_S, IN_2035_S))
    health = broker_health.check(directory)
    assert any(
        step.segment == 0 and step.cause == "index-missing" and step.file.endswith("timeindex")
        for step in health.restart.steps
    )
    assert "retention-by-mtime" not in codes(health)
    (retention,) = health.retention
    ages = [segment.age for segment in retention.segments]
    assert ages == [segment.age for segment in healthy.segments]
    assert ages[0].counted_by == "record"
    assert not any(segment.state == "behind" for segment in retention.segments)


def test_up_to_2_2_so_is_one_whose_index_fails_its_check(clean, tmp_path):
    """A torn .index. Nothing is unflushed in a log whose end is unknown."""
    shutil.copytree(clean / "orders-0", tmp_path / "orders-0")
    index = tmp_path / "orders-0" / f"{0:020}.index"
    index.write_bytes(index.read_bytes()[:13])
    live = open_broker(tmp_path / "orders-0").partitions[0].live
    for clean, release, bases in (
        (None, (2, 2), {0}),
        (None, (), frozenset()),
        (False, (), {segment.base_offset for segment in live}),
    ):
        assert recovered_bases(live, clean=clean, recovery_point=0, release=release) == bases


def test_an_index_at_which_the_start_fails_is_not_recovered_but_a_lookup_says_so(clean, tmp_path):
    directory = copy_partitions(clean, tmp_path / "kafka", ["orders-0"])
    segment = open_broker(directory).partition("orders-0").live[0]
    entry = np.zeros(1, txn_index.ENTRY)
    entry["version"] = (txn_index.VERSION + 1) << 8  # one byte up to 4.3
    entry["last_offset"] = segment.base_offset
    segment.log.path.with_suffix(".txnindex").write_bytes(entry.tobytes())
    partition = open_broker(directory).partition("orders-0")
    assert needs_recovery(partition)
    assert not recovered_bases(partition.live, clean=True, recovery_point=0)
