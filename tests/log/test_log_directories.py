"""Several log directories of one broker, compared with the output of a 4.4.0 broker with three."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

import kafkaviz as kv
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.config_def import TOPIC_SETTINGS
from kafkaviz.log.settings import Origin, open_settings
from kafkaviz.messages import message
from tests.conftest import DATA, REPLICAS

ARCHIVE = DATA / "kafka-4.4.0-jbod-killed-excerpt.tar.xz"
BROKER_ANSWERS = json.loads(
    gzip.decompress((DATA / "kafka-4.4.0-jbod-killed-excerpt.json.gz").read_bytes())
)
NAMES = ("disk-a", "disk-b", "disk-c")
UNKNOWN = message("setting_source.metadata_log_elsewhere")


def copied(disks: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(disks, tmp_path / "copy"))


def contents(broker: kv.Broker) -> list[tuple[str, str, int]]:
    """Returns, per partition, its log directory, its name, and the bytes of its logs."""
    return [
        (partition.path.parent.name, partition.directory, partition.log_bytes)
        for partition in broker.partitions
    ]


def test_one_broker_by_its_folder_its_archive_and_its_directories(disks):
    """In any order; the metadata log says which is the main one."""
    by_folder = kv.open_broker(disks)
    by_archive = kv.open_broker(ARCHIVE)
    by_paths = kv.open_broker(*(disks / name for name in ("disk-c", "disk-a", "disk-b")))
    assert contents(by_folder) == contents(by_archive)
    assert sorted(contents(by_paths)) == sorted(contents(by_folder)) and by_folder.partitions
    for broker in (by_folder, by_archive, by_paths):
        assert broker.path.name == "disk-a" and not broker.is_lone and not broker.is_clean
        assert sorted(directory.path.name for directory in broker.log_directories) == list(NAMES)
        assert [directory.has_metadata_log for directory in broker.log_directories].count(True) == 1
        assert not broker.lacks_metadata_log
    assert by_folder.name == "kafka-4.4.0-jbod-killed" and by_paths.name == "disk-a"


def test_directories_and_sizes_are_those_that_kafka_says(disks):
    """kafka-log-dirs counts .log files: UnifiedLog.size, without those of a -delete directory."""
    broker = kv.open_broker(disks)
    sizes: dict[str, dict[str, int]] = {}
    for partition in broker.partitions:
        if partition.state == "current" and partition.topic != "__cluster_metadata":
            directory = broker.directory_of(partition).path.name
            sizes.setdefault(directory, {})[partition.directory] = partition.live_log_bytes
    assert sizes.keys() == BROKER_ANSWERS["log_dirs"].keys()
    untouched = ("payments-0", "payments-1", "payments-2", "profiles-0", "profiles-1")
    for directory, partitions in sizes.items():
        for name, size_bytes in partitions.items():
            asked_bytes = BROKER_ANSWERS["log_dirs"][directory][name]
            # asked before the kill: more was written to the others since
            assert size_bytes == asked_bytes if name in untouched else size_bytes >= asked_bytes


def test_settings_are_those_that_kafka_says(disks):
    reference = kv.open_broker(*(disks / name for name in ("disk-b", "disk-c", "disk-a")))
    settings = open_settings(reference, assume_release(reference).release)
    assert assume_release(reference).release == (4, 4, 0)
    compared = 0
    for topic, texts in BROKER_ANSWERS["configs"].items():
        for name, setting in settings.topic_settings(topic).items():
            if name in texts:
                expected = TOPIC_SETTINGS[name].parse(texts[name], (4, 4, 0), within_limits=False)
                assert setting.value == expected, (topic, name)
                compared += 1
    assert compared > 150


@pytest.mark.parametrize("name", ["disk-b", "disk-c"])
def test_a_directory_alone_claims_no_default(disks, name):
    """A ConfigRecord elsewhere may be stronger than the server.properties next to it."""
    broker = kv.open_broker(disks / name)
    assert broker.lacks_metadata_log
    release = assume_release(broker)
    assert not release.is_known and not release.is_decided
    settings = open_settings(broker, release.release)
    for setting in settings.topic_settings("orders").values():
        assert (setting.value, setting.origin, setting.source) == (None, Origin.UNKNOWN, UNKNOWN)
    typed = open_settings(broker, release.release, {"log.retention.ms": "7"})
    assert typed.find("orders", "retention.ms").value == 7


def test_a_partition_alone_claims_no_default(disks):
    """Its log directory is the one around it."""
    broker = kv.open_broker(disks / "disk-b" / "audit-1")
    assert broker.is_lone and broker.lacks_metadata_log
    assert open_settings(broker).find("audit", "index.interval.bytes").value is None
    assert not kv.open_broker(disks / "disk-a" / "orders-2").lacks_metadata_log


def test_a_partition_in_two_directories_is_named_by_both(disks, tmp_path):
    folder = copied(disks, tmp_path)
    shutil.copytree(folder / "disk-b" / "audit-1", folder / "disk-c" / "audit-1")
    broker = kv.open_broker(folder)
    words = r"several directories named audit-1; another is .*disk-b/audit-1; name its"
    with pytest.raises(kv.CannotOpen, match=words):
        broker.partition("audit-1")
    for name in ("disk-b", "disk-c"):
        partition = broker.partition(f"{name}/audit-1")
        assert partition.path == folder / name / "audit-1"
        assert broker.partition_name(partition) == f"{name}/audit-1"
        assert broker.partition(str(partition.path)) is partition
    assert broker.partition_name(broker.partition("audit-0")) == "audit-0"


def test_two_brokers_are_refused_in_one_line(tmp_path):
    words = "belongs to broker 2 of cluster .*, but .* to broker 1 of cluster .*; give the log"
    with pytest.raises(kv.CannotOpen, match=words) as refusal:
        kv.open_broker(*REPLICAS)
    assert "\n" not in str(refusal.value)
    for replica in REPLICAS:
        name = replica.name.removesuffix(".tar.gz")
        shutil.copytree(kv.open_broker(replica).path, tmp_path / name)
    with pytest.raises(kv.CannotOpen, match=words):
        kv.open_broker(tmp_path)


def test_what_is_no_log_directory_is_refused(disks, tmp_path):
    (tmp_path / "disk-d" / "lost+found").mkdir(parents=True)
    broker = kv.open_broker(disks / "disk-a", tmp_path / "disk-d")
    assert len(broker.log_directories) == 2
    (tmp_path / "disk-d" / "notes.txt").write_text("")
    with pytest.raises(kv.CannotOpen, match=r"neither a meta\.properties"):
        kv.open_broker(disks / "disk-a", tmp_path / "disk-d")
    with pytest.raises(kv.CannotOpen, match="is a partition directory; if several paths are given"):
        kv.open_broker(disks / "disk-a", disks / "disk-b" / "audit-1")


def test_a_folder_with_one_log_directory_names_it(disks, tmp_path):
    shutil.copytree(disks / "disk-b", tmp_path / "disk-b")
    with pytest.raises(kv.CannotOpen, match="disk-b looks like a broker directory"):
        kv.open_broker(tmp_path)


def test_assignments_are_those_that_the_controller_replayed(disks):
    """The log line of the next start has them, "directories=[...]": two replicas were moved."""
    broker = kv.open_broker(disks)
    image = open_settings(broker).image
    ids = {directory.path.name: directory.directory_id for directory in broker.log_directories}
    assert ids["disk-b"] == "24qKyEclmQSMSvllyEGXcQ"
    assert list(image.log_directories) == [1]
    assert set(image.log_directories[1]) == set(ids.values())
    for topic, number, directory in (("audit", 1, "disk-b"), ("orders", 2, "disk-a")):
        assigned = image.assigned_directory(image.topic_ids[topic], number, 1)
        assert assigned == ids[directory]
    for partition in broker.partitions:
        if partition.state == "current" and partition.topic in image.topic_ids:
            topic_id = image.topic_ids[partition.topic]
            assigned = image.assigned_directory(topic_id, partition.partition, 1)
            assert assigned == broker.directory_of(partition).directory_id
    assert image.assigned_directory(image.topic_ids["audit"], 1, 2) is None


def test_a_directory_that_is_given_twice_is_opened_once(disks, tmp_path):
    """By a link, a trailing slash, or the folder around it."""
    folder = copied(disks, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(folder / "disk-a")
    first = kv.open_broker(folder / "disk-a")
    for other in (link, f"{folder / 'disk-a'}/", folder / "disk-b" / ".." / "disk-a"):
        broker = kv.open_broker(folder / "disk-a", other)
        assert contents(broker) == contents(first) and contents(first)
        assert broker.sources == (folder / "disk-a",)
        assert len(broker.log_directories) == 1
    for paths in ((folder, link), (folder, folder / "disk-b", folder)):
        broker = kv.open_broker(*paths)
        assert contents(broker) == contents(kv.open_broker(folder))
        assert broker.sources == (folder,) and len(broker.log_directories) == 3
    broker = kv.open_broker(link, folder / "disk-b", folder / "disk-a")
    assert broker.sources == (link, folder / "disk-b") and len(broker.log_directories) == 2


def test_a_link_to_a_directory_next_to_it_is_not_another_one(disks, tmp_path):
    """One folder holds the log directories and a link to one of them."""
    folder = copied(disks, tmp_path)
    expected = contents(kv.open_broker(folder))
    (folder / "disk-z").symlink_to(folder / "disk-a")
    broker = kv.open_broker(folder)
    assert contents(broker) == expected and len(broker.log_directories) == 3


@pytest.mark.parametrize("node", ["01", "+1", "0" * 5000 + "1"])
def test_settings_of_a_node_are_found_by_its_number(disks, tmp_path, node):
    """The metadata log names a broker's settings by its number."""
    folder = copied(disks, tmp_path)
    path = folder / "disk-a" / "meta.properties"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("node.id=1", f"node.id={node}"))
    broker = kv.open_broker(folder)
    assert (broker.node_number, broker.main_directory.node_number) == (1, 1)
    assert open_settings(broker).node_id == "1"


def test_the_partitions_of_one_of_the_directories(disks):
    broker = kv.open_broker(disks)
    for directory in broker.log_directories:
        expected = [each for each in broker.partitions if each.path.parent == directory.path]
        partitions = broker.partitions_in(directory)
        assert list(partitions) == expected
        assert (partitions[-1], list(partitions[1:])) == (expected[-1], expected[1:])
