"""Two sides of a comparison, each of several log directories."""

import gzip
import json
import re
import shutil
import struct
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.analysis.comparison.index_differences import IndexReason
from kafkaviz.analysis.comparison.start_changes import StepOutcome
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.analysis.comparison.logs import batch_bytes, write_partition
from tests.conftest import DATA

NAMES = ("disk-a", "disk-b", "disk-c")
BROKER_ANSWERS = json.loads(
    gzip.decompress((DATA / "kafka-4.4.0-jbod-killed-excerpt.json.gz").read_bytes())
)
INTERVAL = "index.interval.bytes"


def topic_of(directory: str) -> str:
    return re.sub(r"-\d+(\.[0-9a-f]{32}-delete)?$", "", directory.rpartition("/")[2])


def of_partition(comparison, name):
    return next(item for item in comparison.partitions if item.partition == name)


def copy_file(source: str, target: str) -> None:
    data = Path(source).read_bytes()
    with open(target, "wb") as copied:
        copied.write(data.rstrip(b"\0"))
        copied.truncate(len(data))
    shutil.copystat(source, target)


def copied(disks: Path, target: Path, *partitions: str) -> Path:
    """Returns the three log directories with the metadata log and these partitions."""
    for name in NAMES:
        (target / name).mkdir(parents=True)
        for path in (disks / name).iterdir():
            if path.is_file():
                shutil.copy2(path, target / name)
    for partition in ("disk-a/__cluster_metadata-0", *partitions):
        shutil.copytree(disks / partition, target / partition, copy_function=copy_file)
    return target


@pytest.fixture
def moved(disks, tmp_path) -> tuple[Path, Path]:
    """Returns two copies in which orders-2 and the metadata log are in different directories."""
    pair = []
    for name in ("before", "after"):
        folder = copied(disks, tmp_path / name, "disk-a/orders-2")
        (folder / "disk-a" / "orders-2").rename(folder / "disk-b" / "orders-2")
        pair.append(folder)
    return pair[0], pair[1]


def test_each_side_knows_the_interval_of_its_topics(disks):
    """kafka-configs reports the same intervals, with all three directories given as paths."""
    side = [disks / name for name in NAMES]
    comparison = compare(side, disks)
    intervals = {
        item["partition"]: item["index_interval_bytes"]
        for item in to_json_object(comparison)["partitions"]
    }
    assert len({topic_of(name) for name in intervals} & BROKER_ANSWERS["configs"].keys()) > 3
    for name, both in intervals.items():
        interval = BROKER_ANSWERS["configs"].get(topic_of(name), {INTERVAL: "4096"})[INTERVAL]
        assert {both[which]["value"] for which in "ab"} == {int(interval)}
    assert "ConfigRecord" in intervals["orders-2"]["a"]["source"]
    assert comparison.sources == (", ".join(map(str, side)), str(disks))


@pytest.mark.slow
def test_a_killed_broker_and_the_same_restarted(shared):
    """The start went as predicted, except for directories whose minute before deletion was not
    over. The interval is that of topic-configs.txt.
    """
    configured_intervals: dict[str, int] = {}
    expected = unpack_if_archive(shared / "data" / "kafka-4.4.0-jbod-killed.expected.tar.gz")
    (configs,) = expected.rglob("topic-configs.txt")
    text = configs.read_text()
    for part in text.split("All configs for topic ")[1:]:
        configured_intervals[part.split(" ")[0]] = int(re.search(rf"{INTERVAL}=(\d+)", part)[1])
    archives = [
        shared / "data" / f"kafka-4.4.0-jbod-{name}.tar.gz" for name in ("killed", "restarted")
    ]
    folders = [unpack_if_archive(archive) for archive in archives]
    paths = [[folder / name for name in NAMES] for folder in folders]
    for pair in (archives, folders, paths):
        comparison = compare(*pair)
        for partition in comparison.partitions:
            expected_interval = configured_intervals.get(topic_of(partition.partition), 4096)
            found = {setting.value for setting in partition.interval_settings}
            for index in partition.indexes:
                for bounds in index.intervals or ():
                    found |= {bounds.low_bytes, bounds.high_bytes}
            assert found == {expected_interval}
        steps = comparison.start.steps
        otherwise = [step.step for step in steps if step.outcome is StepOutcome.OTHERWISE]
        assert len(steps) == 72
        assert {step.partition.rpartition("-")[2] for step in otherwise} == {"delete"}


def test_without_the_metadata_log_the_entries_tell(moved):
    """The settings are unknown, so no index is reported as wrong by an assumed interval."""
    index = moved[1] / "disk-b" / "orders-2" / f"{0:020d}.index"
    index.write_bytes(index.read_bytes().rstrip(b"\0")[:-8])
    comparison = compare(moved[0] / "disk-b", moved[1] / "disk-b")
    orders = of_partition(comparison, "orders-2")
    assert [setting.value for setting in orders.interval_settings] == [None, None]
    bounds = orders.indexes[0].intervals[0]
    assert bounds.low_bytes < 1024 < bounds.high_bytes
    assert "unknown: the metadata log" in str(orders.interval_settings[0].source)


def test_an_index_of_an_unknown_interval_cannot_be_judged(moved):
    """Without the metadata log an assumed interval must not make a step count as "otherwise"."""
    partition = moved[0] / "disk-b" / "orders-2"
    with (partition / f"{0:020d}.log").open("ab") as log:
        log.write(bytes(range(40)))
    for name in ("index", "timeindex"):
        index = moved[1] / "disk-b" / "orders-2" / f"{0:020d}.{name}"
        index.write_bytes(index.read_bytes().rstrip(b"\0"))
    alone = compare(moved[0] / "disk-b", moved[1] / "disk-b").start
    outcomes = {Path(step.step.file).suffix: step.outcome for step in alone.steps}
    assert alone.is_started and outcomes[".log"] is StepOutcome.AS_PREDICTED
    assert {outcomes[".index"], outcomes[".timeindex"]} == {StepOutcome.UNSEEN}


@pytest.mark.parametrize(
    ("every", "reason", "reason_by_entries"),
    [
        # counted from another place, as after a restart
        (1.7, IndexReason.RESTART, IndexReason.INTERVAL),
        # an interval that the topic had before
        (4.2, IndexReason.INTERVAL, IndexReason.INTERVAL),
        (0.5, IndexReason.INTERVAL, IndexReason.INTERVAL),
    ],
)
def test_the_setting_distinguishes_a_restart_from_another_interval(
    tmp_path, every, reason, reason_by_entries
):
    """A server.properties in the directory gives the setting.

    Args:
        every: how many intervals apart the entries of one side are.
    """
    values = {offset: b"value" for offset in range(200)}
    batches = [batch_bytes(values, first=offset, last=offset) for offset in range(200)]
    interval = 10 * len(batches[0]) - 1
    reasons = []
    for settings in (f"index.interval.bytes={interval}\n", None):
        pair = []
        for side, factor in (("a", 1.0), ("b", every)):
            folder = tmp_path / f"{side}-{settings is None}"
            folder.mkdir()
            (folder / "meta.properties").write_text("version=1\nnode.id=1\n")
            if settings:
                (folder / "server.properties").write_text(f"log.{settings}")
            write_partition(folder / "t-0", {0: batches})
            index, last = bytearray(), 0
            for offset, position in enumerate(range(0, 200 * len(batches[0]), len(batches[0]))):
                if position - last > factor * interval:
                    index += struct.pack(">ii", offset, position)
                    last = position
            (folder / "t-0" / f"{0:020d}.index").write_bytes(index)
            pair.append(folder)
        reasons.append(compare(*pair).partitions[0].indexes[0].reason)
    assert reasons == [reason, reason_by_entries]


def test_other_settings_are_a_note(disks, tmp_path, capsys):
    copy = copied(disks, tmp_path / "copy", "disk-b/audit-1")
    (copy / "disk-a" / "server.properties").write_text("log.index.interval.bytes=8192\n")
    index = copy / "disk-b" / "audit-1" / f"{0:020d}.index"
    index.write_bytes(index.read_bytes().rstrip(b"\0"))
    main(["compare", str(disks), ",".join(str(copy / name) for name in NAMES)])
    text = " ".join(capsys.readouterr().out.split())
    assert "index.interval.bytes: a 4096 (default of Kafka 4.4), b 8192 (log.index" in text


def test_a_directory_less_is_no_other_moment(disks):
    assert compare(disks, disks / "disk-a").start is None
    assert compare(disks / "disk-b", disks / "disk-b").start is not None


def test_a_partition_in_two_directories_meets_its_own(disks, tmp_path):
    copy = copied(disks, tmp_path / "copy", "disk-b/audit-1")
    once = copied(disks, tmp_path / "once", "disk-b/audit-1")
    shutil.copytree(copy / "disk-b" / "audit-1", copy / "disk-a" / "audit-1")
    log = copy / "disk-a" / "audit-1" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-1])
    comparison = compare(copy, once)
    assert of_partition(comparison, "disk-b/audit-1").relation is Relation.IDENTICAL
    assert of_partition(comparison, "disk-a/audit-1").relation is Relation.ONLY_IN_A
    twice = compare(copy, copy)
    assert set(twice.counts) == {Relation.IDENTICAL} and not twice.start.changes


def test_the_settings_around_a_single_log(moved):
    """The release and settings of its directory count, whichever file is given."""
    for name, expected in (("disk-a/__cluster_metadata-0", 4096), ("disk-b/orders-2", None)):
        log = next((moved[0] / name).glob("*.log"))
        (partition,) = compare(log, log).partitions
        assert [setting.value for setting in partition.interval_settings] == [expected] * 2
