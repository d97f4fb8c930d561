"""The predicted start, compared with real starts on killed and damaged directories."""

import hashlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.restart.next_start import (
    NEWEST,
    all_logs,
    config_lookup,
    predict_restart,
    restart_log,
    restart_steps,
)
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.java import CORRUPT_RECORD
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.metadata_log import read_image
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.recovery import RecoveredSegment
from kafkaviz.simulate.startup.restart import Restart, join_steps
from kafkaviz.simulate.steps import StartupStep
from tests.kafka.starts import BASES, unpack
from tests.support.findings import codes

METADATA = "__cluster_metadata-0"
OTHER_BROKERS = (
    *("kafka-3.9.0-follower", "kafka-4.3.1-clean", "kafka-4.3.1-killed-restarted"),
    *("kafka-4.3.1-damaged", "kafka-4.4.0-clean", "kafka-4.4.0-killed"),
    *("kafka-4.4.0-replica-1", "kafka-4.4.0-replica-2"),
)
# topic: (index.interval.bytes, segment.index.bytes) where they differ from that broker's values for
# all
KILLED_CONFIGS = {
    "orders": (4096, 10 << 20), "clicks-mixed": (4096, 10 << 20), "empty-room": (4096, 10 << 20),
    "dense-index": (0, 65_536), "tiny-index": (150, 300),
}  # fmt: skip


def killed_settings(partition) -> IndexConfig:
    return IndexConfig(*KILLED_CONFIGS.get(partition.topic, (4096, 65_536)))


class Prediction:
    """A restart, and the indexes that it builds."""

    def __init__(self, broker: Broker, settings=lambda _: IndexConfig()) -> None:
        self.broker, self.recovered_segments = broker, {}
        self.restart: Restart = predict_restart(broker, settings, on_recovered=self._on_recovered)

    def _on_recovered(self, directory: str, base: int, recovered_segment: RecoveredSegment) -> None:
        self.recovered_segments[directory, base] = recovered_segment

    def sizes(self) -> dict[str, int | None]:
        """Returns every file of a topic's partitions after the steps with its size, or None where
        the steps do not say it.
        """
        return {
            name: size for name, size in self.all_sizes().items() if not name.startswith(METADATA)
        }

    def all_sizes(self) -> dict[str, int | None]:
        sizes = {
            f"{partition.directory}/{file.name}": file.size_bytes
            for partition in self.broker.partitions
            for file in [
                *(file for segment in partition.segments for file in segment.files),
                *partition.other_files,
            ]
        }
        for step in self.restart.steps:
            if step.action == "delete":
                sizes = {
                    name: size
                    for name, size in sizes.items()
                    if name != step.file and (step.file or step.partition not in name)
                }
            elif step.action == "truncate":
                assert sizes[step.file] == step.from_position + step.size_bytes
                sizes[step.file] = step.from_position
            elif step.action == "rebuild":
                sizes[step.file] = step.size_bytes
        return sizes

    def built_indexes(self) -> dict[str, bytes]:
        """Returns the indexes of a topic's segments that recovery builds, by their files."""
        return {
            f"{directory}/{base:020d}.{kind}": getattr(segment, kind)()
            for (directory, base), segment in self.recovered_segments.items()
            if directory != METADATA
            for kind in ("index", "timeindex", "txnindex")
        }

    def assert_files_are(self, after: dict[str, tuple[int, str]]) -> int:
        """Compares all files with those after the real start: their sizes, and the indexes byte for
        byte. Returns how many indexes were compared.
        """
        assert (self.restart.clean, self.restart.starts) == (False, True)
        sizes = self.sizes()
        assert sizes.keys() == after.keys()
        unsized = ("leader-epoch-checkpoint", ".snapshot")
        assert {name: size for name, size in sizes.items() if not name.endswith(unsized)} == {
            name: size for name, (size, _) in after.items() if not name.endswith(unsized)
        }
        built = {name: data for name, data in self.built_indexes().items() if name in after}
        for name, data in built.items():
            assert (len(data), hashlib.sha256(data).hexdigest()) == after[name], name
        return len(built)

    def assert_lines_are(self, log: Path) -> int:
        """Compares recovered segments and cuts with what the broker logged. Returns how many
        segments were recovered.
        """
        recovered = {
            (directory, str(base)): segment
            for (directory, base), segment in self.recovered_segments.items()
            if directory != METADATA
        }
        assert lines_with(log, r"Recovering unflushed segment (\d+)\.") == recovered.keys()
        cut = {
            (step.partition, str(step.segment))
            for step in self.restart.steps
            if step.action == "truncate"
        }
        ends = {(*key, str(recovered[key].next_offset)) for key in cut}
        pattern = r"Corruption found in segment (\d+), truncating to offset (\d+)"
        assert lines_with(log, pattern) == ends and len(ends) == 3
        return len(recovered)


def parse_listing(text: Path) -> dict[str, tuple[int, str]]:
    rows = [line.split(maxsplit=3) for line in text.read_text().splitlines()]
    return {
        name: (int(size), digest)
        for size, _, digest, name in rows
        if "/" in name and not name.startswith(METADATA)
    }


def lines_with(log: Path, pattern: str) -> set[tuple[str, ...]]:
    causes = set()
    for line in log.read_text().splitlines():
        match = re.search(pattern, line)
        if match and METADATA not in line:
            partition = re.search(r"partition=([^,\]]+)|@DIR@/([^/]+)/", line)
            causes.add((partition[1] or partition[2], *match.groups()))
    return causes


@pytest.fixture(scope="module")
def killed_archive(shared) -> Prediction:
    """Returns the whole killed directory with the settings its broker had."""
    return Prediction(open_broker(shared / "data" / "kafka-4.3.1-killed.tar.gz"), killed_settings)


@pytest.fixture(scope="module")
def killed_4_4(shared) -> Prediction:
    """Returns the killed directory of 4.4.0. Its metadata log has the topics' settings; the
    broker's were passed when it was started.
    """
    broker = open_broker(shared / "data" / "kafka-4.4.0-killed.tar.gz")
    settings = open_settings(broker, (4, 4, 0), {"log.index.size.max.bytes": "65536"})
    return Prediction(broker, config_lookup(settings))


def expected(shared: Path, name: str) -> Path:
    """Returns the recording next to a directory of the shared folder."""
    folder = unpack_if_archive(shared / "data" / f"{name}.expected.tar.gz")
    return next(folder.glob("**/topics.json")).parent


def test_a_killed_directory_becomes_what_the_next_start_made_of_it(shared, killed_archive):
    """Every file after the real start, each .log and index at its size after a clean stop."""
    recorded = expected(shared, "kafka-4.3.1-killed-restarted")
    assert killed_archive.assert_files_are(parse_listing(recorded / "sha256.txt")) == 50


@pytest.mark.slow
def test_a_killed_directory_of_4_4_becomes_what_its_start_made_of_it(shared, killed_4_4):
    """Sizes, and the indexes byte for byte. The four lost trims in closed segments stay lost."""
    recorded = expected(shared, "kafka-4.4.0-killed-restarted")
    after = parse_listing(recorded / "sha256.txt")
    assert killed_4_4.assert_files_are(after) > 40
    built = killed_4_4.built_indexes()
    untouched = {size for name, (size, _) in after.items() if name not in built}
    assert {65_536, 65_532, 10_485_760, 10_485_756} <= untouched
    killed_4_4.assert_lines_are(recorded / "recovery.log")


def test_the_metadata_log_of_a_clean_stop_of_4_4_is_trimmed_by_the_next_start(restarted_4_4):
    """Only the metadata log is recovered, and its preallocated index is trimmed."""
    predicted = Prediction(open_broker(restarted_4_4))
    assert predicted.restart.starts
    assert {directory for directory, _ in predicted.recovered_segments} == {METADATA}
    sizes = predicted.all_sizes()
    (segment,) = predicted.recovered_segments.values()
    assert sizes[f"{METADATA}/{0:020d}.index"] == len(segment.index()) < 1000
    assert sizes[f"{METADATA}/{0:020d}.timeindex"] < 1000
    assert sizes[f"tickets-any-0/{0:020d}.index"] == 65_536
    assert sizes[f"tickets-any-0/{590:020d}.timeindex"] == 65_532


def test_the_lines_that_the_broker_wrote_while_it_recovered(shared, killed_archive):
    log = expected(shared, "kafka-4.3.1-killed-restarted") / "recovery.log"
    assert killed_archive.assert_lines_are(log) == 24
    steps = [
        step
        for step in killed_archive.restart.steps
        if step.cause == "producer-state" and step.partition != METADATA
    ]
    written = {(step.partition, str(int(Path(step.file).stem))) for step in steps}
    assert {step.action for step in steps} == {"rebuild"}
    assert lines_with(log, r"Wrote producer snapshot at offset (\d+)") == written


def assert_time_index_is_full(restart: Restart, lines: list[str]) -> None:
    """Checks that the start ends at the segment of which Kafka wrote these lines."""
    (failure,) = restart.failures
    assert not restart.starts and failure.error in lines
    file = "meter-readings-0/00000000000000000000.timeindex"
    assert (failure.file, failure.cause) == (file, "index-full")
    assert (failure.from_position, failure.size_bytes) == (84 * 12, 12)
    because = failure.why["because"]
    assert because.key == "start.index_has_no_room"
    assert [because[name] for name in ("byte", "size", "offset")] == [27_340, 807_086, 254]
    assert failure.way_out == message("way_out.larger_index_bytes", topic="meter-readings")


def test_a_partition_that_no_broker_loads(unstartable, data):
    """The exception is Kafka's. The directory's own metadata log has the setting that causes it."""
    lines = (data / "kafka-4.3.1-unstartable.start-error.txt").read_text().splitlines()
    assert_time_index_is_full(predict_restart(open_broker(unstartable)), lines)
    assert any(
        "Error while loading logs" in line and "/meter-readings-0 " in line for line in lines
    )


@pytest.mark.parametrize(
    ("setting", "starts"),
    [
        ("segment.index.bytes", True),
        ("log.index.size.max.bytes", False),
        ("log.index.interval.bytes", False),
    ],
)
def test_which_settings_get_past_the_exception(unstartable, setting, starts):
    """A broker default ended four starts of 4.3.1 so, a value of the topic did not."""
    broker = open_broker(unstartable)
    settings = open_settings(broker, NEWEST, {setting: "10485760"})
    assert predict_restart(broker, config_lookup(settings)).starts is starts


def test_a_directory_that_no_broker_starts_on(shared):
    """The exception comes from the segment that Kafka named; the other partitions load."""

    def settings(partition) -> IndexConfig:
        return IndexConfig(150, 1024) if partition.topic == "meter-readings" else IndexConfig()

    broker = open_broker(shared / "data" / "kafka-4.3.1-unstartable.tar.gz")
    restart = Prediction(broker, settings).restart
    # its own metadata log tells the setting
    assert predict_restart(broker).failures == restart.failures
    errors = expected(shared, "kafka-4.3.1-unstartable") / "start-error.txt"
    assert_time_index_is_full(restart, errors.read_text().splitlines())


def test_a_damaged_directory_becomes_what_the_start_made_of_it(damaged, shared):
    """Only what the real start changed; a clean stop then cut half a slot off an index."""
    recorded = expected(shared, "kafka-4.3.1-damaged")
    before = parse_listing(recorded / "sha256.txt")
    after = parse_listing(recorded / "sha256-after.txt")
    predicted = Prediction(open_broker(damaged))
    assert predicted.sizes().keys() == after.keys()
    changed = {
        name
        for name in after
        if before.get(name) != after[name] and not name.endswith("leader-epoch-checkpoint")
    }
    steps = {
        step.file
        for step in predicted.restart.steps
        if step.action == "rebuild" and step.partition != METADATA
    }
    assert changed - {"metrics-0/00000000000000000000.index"} <= steps
    state = (".snapshot", "leader-epoch-checkpoint")
    assert all(name.endswith(state) for name in steps - changed)


def test_what_a_damaged_directory_loses_and_gets_back(damaged):
    """A start handles each damage that it sees; it does not see indexes that are merely wrong."""
    predicted = Prediction(open_broker(damaged))
    steps = {
        (step.action, step.cause): step
        for step in predicted.restart.steps
        if step.partition in ("rides-0", "transfers-0")
    }
    files = {key: Path(step.file).name for key, step in steps.items() if key[1] != "producer-state"}
    assert (predicted.restart.clean, predicted.restart.starts) == (True, True)
    assert files == {
        ("delete", "leftover-cleaned"): "00000000000000002418.log.cleaned",
        ("rebuild", "timeindex-missing"): "00000000000000000607.timeindex",
        ("rebuild", "index-missing"): "00000000000000001811.index",
        ("delete", "orphan-index"): "00000000000000999999.index",
        ("rebuild", "index-corrupt"): "00000000000000000320.txnindex",
    }
    for name in ("bookings-0", "metrics-0"):
        assert not predicted.restart.steps_of_partition(name)
    for file, digest in {  # as 4.3.1 wrote them
        f"rides-0/{1811:020}.index": "5308a30c903ce5f8f20b2556626d65b986a1719437d94da22462c235eae0c4ea",
        f"transfers-0/{320:020}.txnindex": "acde4c4f5480cfd11f5199d2f0cac0f6a9f80d335bfcfae5fed0b41fa90f931c",
    }.items():
        assert hashlib.sha256(predicted.built_indexes()[file]).hexdigest() == digest, file


def test_a_clean_directory_is_left_as_it_is(clean):
    """Only the metadata log is recovered, as at every start, and pending deletions are done."""
    predicted = Prediction(open_broker(clean))
    assert predicted.restart.starts
    assert {directory for directory, _ in predicted.recovered_segments} == {METADATA}
    assert {step.cause for step in predicted.restart.steps} <= {
        *("leader-epochs", "metadata-log", "producer-state"),
        *("leftover-deleted", "directory-deleted"),
    }
    assert not [step for step in predicted.restart.steps if step.action == "truncate"]


def test_some_partitions_of_a_killed_directory(killed):
    restart = predict_restart(open_broker(killed), killed_settings)
    cut = {
        (step.partition, step.from_position, step.size_bytes)
        for step in restart.steps
        if step.action == "truncate"
    }
    known = {
        ("clicks-zstd-0", 263_795, 464),
        ("weblogs-0", 406_105, 512),
        ("append-time-0", 561_373, 45),
    }
    assert cut and cut <= known and restart.starts and not restart.clean


def test_one_partition_speaks_for_itself(damaged):
    """The steps of a single partition equal its steps among all."""
    broker = open_broker(damaged)
    log = restart_log(broker, broker.partition("rides-0"), IndexConfig())
    alone = join_steps(
        [(log.path, restart_steps(log, clean=broker.is_clean))], clean=broker.is_clean
    )
    assert alone.steps == predict_restart(broker).steps_of_partition("rides-0") and alone.starts


@pytest.fixture
def copied(clean, tmp_path) -> Path:
    for name in ("meta.properties", ".kafka_cleanshutdown"):
        shutil.copy(clean / name, tmp_path / name)
    partition = min(
        (partition for partition in open_broker(clean).partitions if len(partition.live) > 1),
        key=lambda partition: partition.live[-1].log.size_bytes,
    )
    shutil.copytree(partition.path, tmp_path / "orders-0")
    return tmp_path


@pytest.fixture
def metadata(copied, clean) -> Path:
    """Returns the directory of the metadata log, which is put next to the partition."""
    shutil.copytree(clean / METADATA, copied / METADATA)
    for path in (copied / METADATA).iterdir():
        path.chmod(0o600)
    return copied / METADATA


def newest_snapshot(metadata: Path) -> Path:
    return max(metadata.glob("*.checkpoint"))


def only_failure(directory: Path) -> StartupStep:
    (failure,) = predict_restart(open_broker(directory)).failures
    return failure


@pytest.mark.parametrize("name", ["lost+found", "orders-x", "orders-0.1234-delete-copy", "backup"])
def test_a_directory_with_another_name_stops_the_start(copied, name):
    (copied / name).mkdir()
    (copied / "remote-log-index-cache").mkdir()
    restart = predict_restart(open_broker(copied))
    (step,) = restart.steps
    assert not restart.starts and (step.partition, step.cause) == (name, "directory-name")
    assert step.error.startswith("org.apache.kafka.common.KafkaException: Found directory ")


def test_two_directories_of_one_partition_stop_the_start(copied):
    """Kafka parses the number, so orders-00 is orders-0 again."""
    shutil.copytree(copied / "orders-0", copied / "orders-00")
    failure = only_failure(copied)
    assert failure.cause == "directory-twice"
    assert "Duplicate log directories for orders-0" in failure.error


def test_the_files_stay_as_they_are(copied, fingerprint):
    """A prediction writes, creates and removes nothing in the directory."""
    (copied / ".kafka_cleanshutdown").unlink()
    before = fingerprint(copied)
    assert predict_restart(open_broker(copied)).steps
    assert fingerprint(copied) == before


@pytest.fixture
def some(clean, tmp_path) -> Path:
    """Returns three partitions of the clean broker, which the metadata log assigns to it."""
    for name in ("meta.properties", ".kafka_cleanshutdown"):
        shutil.copy(clean / name, tmp_path / name)
    for name in (METADATA, "nulls-0", "epoch-zero-0", "bulk-import-0"):
        shutil.copytree(clean / name, tmp_path / name)
    return tmp_path


def give_other_topic_id(partition: Path) -> None:
    metadata = "version: 0\ntopic_id: AkXzOiiERbadGF_c6qNvhw"
    (partition / "partition.metadata").write_text(metadata)


def strays(directory: Path, release: tuple[int, ...] = (4, 3, 1)) -> dict[str, Message]:
    """Returns why each directory becomes stray, by its name."""
    restart = predict_restart(open_broker(directory), release=release)
    assert restart.starts
    return {
        step.partition: step.why["because"]
        for step in restart.steps
        if step.cause == "becomes-stray"
    }


def test_a_directory_that_the_cluster_does_not_know_becomes_stray(clean, some):
    """Without partition.metadata, or with the id of another topic. The cluster's own topics do not."""
    (some / "nulls-0" / "partition.metadata").unlink()
    give_other_topic_id(some / "epoch-zero-0")
    known = read_image(open_broker(some)).topic_ids["epoch-zero"]
    assert strays(some) == {
        "nulls-0": message("stray.no_topic_id", file="partition.metadata"),
        "epoch-zero-0": message(
            "stray.other_topic_id", id="AkXzOiiERbadGF_c6qNvhw", topic="epoch-zero", other=known
        ),
    }
    for release in ((3, 7, 1), (4, 4, 0)):
        assert strays(some, release).keys() == {"nulls-0", "epoch-zero-0"}
    assert strays(some, (3, 6, 2)) == {} and strays(clean) == {}


def test_a_partition_that_its_topic_has_not_becomes_stray(some):
    """A directory with another number: the topic is the cluster's, the partition is not."""
    (some / "bulk-import-0").rename(some / "bulk-import-7")
    assert strays(some) == {"bulk-import-7": message("stray.unknown_partition", partition=7)}


def test_a_replica_of_another_broker_becomes_stray(some):
    """The metadata log assigns all of them to broker 1, and they are opened as broker 2's."""
    properties = some / "meta.properties"
    properties.write_text(properties.read_text().replace("node.id=1", "node.id=2"))
    reason = message("stray.of_other_brokers", replicas=(1,), node="2")
    assert list(strays(some).values()) == [reason] * 3


def test_a_lone_partition_is_compared_with_the_metadata_log_next_to_it(some):
    """Opened by itself, it is still in its broker directory."""
    give_other_topic_id(some / "nulls-0")
    assert codes(check(some / "nulls-0"), "error") == {"becomes-stray"}
    assert codes(check(some / "epoch-zero-0"), "error") == set()


def name_voters(broker, *node_ids):
    """Writes a quorum-state with these controllers."""
    state = dict(clusterId="", leaderId=node_ids[0], leaderEpoch=1, votedId=-1, appliedOffset=0)
    state |= {"currentVoters": [{"voterId": node_id} for node_id in node_ids], "data_version": 0}
    (broker / METADATA / "quorum-state").write_text(json.dumps(state))


def test_what_the_only_controller_lost_becomes_stray(some):
    """No other node knows the topics: brokers of 4.3.1 and 4.4.0 renamed every partition."""
    for snapshot in (some / METADATA).glob("*.checkpoint"):
        snapshot.unlink()
    next((some / METADATA).glob("*.log")).write_bytes(b"")
    name_voters(some, 1, 2, 3)
    assert strays(some) == {}
    name_voters(some, 1)
    assert len(strays(some)) == 3


def test_nothing_is_stray_where_the_cluster_is_not_known(some):
    """The cluster is not known without the metadata log. If the log is damaged and names this node
    as the only controller, what precedes the damage is known.
    """
    give_other_topic_id(some / "nulls-0")
    log = next((some / METADATA).glob("*.log"))
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    for snapshot in (some / METADATA).glob("*.checkpoint"):
        snapshot.unlink()
    assert set(strays(some)) == {"nulls-0"}
    shutil.rmtree(some / METADATA)
    assert strays(some) == {}  # no checkpoint says that these are all partitions
    checkpoint = some / "recovery-point-offset-checkpoint"
    checkpoint.write_text("0\n1\nnulls 0 0\n")
    assert len(strays(some)) > 1
    assert set(strays(some).values()) == {message("stray.no_cluster_metadata")}
    (some / "nulls-0").rename(some / "nulls-1")  # nulls-0 is elsewhere, and so may be the log
    assert strays(some) == {}


@pytest.mark.parametrize(
    "name",
    [
        *("kafka-3.9.0-leader", "kafka-4.3.1-killed", "kafka-4.4.0-killed-restarted"),
        *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHER_BROKERS),
    ],
)
def test_what_real_brokers_held_is_not_stray(shared, name):
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    settings = open_settings(broker, (4, 4, 0))
    logs = all_logs(broker, config_lookup(settings), (4, 4, 0), settings.image)
    assert [log.partition.directory for log in logs if log.stray] == []


NONE_READABLE = "java.lang.RuntimeException: No readable meta.properties files found."
NO_NODE_ID = "java.lang.RuntimeException: Error: node ID not found"
RESERVED_ID = "java.lang.RuntimeException: Invalid reserved directory ID %s found"
SOUND = b"version=1\nnode.id=1\ncluster.id=made\ndirectory.id=ekArurFKRISu0Oyjh8h0sg\n"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (SOUND, None),
        (None, NONE_READABLE),
        (b"junk", NO_NODE_ID),
        (b"\\u00x", NONE_READABLE),
        (SOUND.replace(b"version=1", b"version=2"), NONE_READABLE),
        (SOUND.replace(b"node.id=1", b"node.id=one"), NONE_READABLE),
        (SOUND.replace(b"cluster.id", b"cluster"), NONE_READABLE),
        (SOUND.replace(b"ekArurFKRISu0Oyjh8h0sg", b"ekAr"), NONE_READABLE),
        (b"broker.id=1\ncluster.id=made\n", None),  # of ZooKeeper's times: version 0
        (SOUND.replace(b"version=1", b"version= +01 "), None),
        (SOUND.replace(b"version=1", b"version=0"), NO_NODE_ID),
        (SOUND.replace(b"version=1\n", b""), NO_NODE_ID),
        (b"\xef\xbb\xbf" + SOUND, NO_NODE_ID),  # a key with a byte order mark is another key
        (b"broker.id=1\n", "java.lang.RuntimeException: Error: cluster ID not found"),
        (SOUND.replace(b"ekArurFKRISu0Oyjh8h0sg", b"A" * 22), RESERVED_ID % ("A" * 22)),
        (SOUND.replace(b"ekArurFKRISu0Oyjh8h0sg", b"A" * 21 + b"Q"), RESERVED_ID % f"{'A' * 21}Q"),
    ],
)
def test_meta_properties_that_kafka_does_not_take_end_the_start(copied, data, error):
    # which replicas belong to the node is known with its id alone
    causes = ("becomes-stray", "replica-created")
    steps = predict_restart(open_broker(copied)).steps
    logs = tuple(step for step in steps if step.cause not in causes)
    (copied / "meta.properties").unlink()
    if data is not None:
        (copied / "meta.properties").write_bytes(data)
    restart = predict_restart(open_broker(copied))
    assert [failure.error for failure in restart.failures] == ([error] if error else [])
    assert restart.starts == (error is None)
    steps = tuple(step for step in restart.steps if step.cause not in causes)
    assert tuple(step for step in steps if step.action != "fail") == logs
    places = {
        (failure.partition, failure.file, failure.cause, bool(failure.way_out))
        for failure in restart.failures
    }
    assert places <= {(None, "meta.properties", "meta-properties", True)}


def test_a_zookeeper_broker_writes_its_meta_properties_again(copied):
    """Before 4.0 the file may be missing, unless KRaft's own log is there."""
    (copied / "meta.properties").unlink()
    assert predict_restart(open_broker(copied), release=(3, 6)).starts
    (copied / METADATA).mkdir()
    assert not predict_restart(open_broker(copied), release=(3, 6)).starts


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"x",
        lambda data: b"",
        lambda data: data[:100],
        lambda data: bytes(8) + b"\0\0\0\1" + bytes(9),
    ],
)
def test_a_bootstrap_checkpoint_that_kafka_cannot_read_ends_the_start(copied, clean, change):
    """BootstrapDirectory reads its records before the logs, whatever their checksums."""
    sound = (clean / "bootstrap.checkpoint").read_bytes()
    (copied / "bootstrap.checkpoint").write_bytes(sound)
    assert predict_restart(open_broker(copied)).starts
    (copied / "bootstrap.checkpoint").write_bytes(change(sound))
    failure = only_failure(copied)
    assert (failure.partition, failure.cause) == (None, "bootstrap") and failure.error
    assert failure.file == "bootstrap.checkpoint"
    (copied / "bootstrap.checkpoint").write_bytes(sound[:17] + bytes([sound[17] ^ 1]) + sound[18:])
    assert predict_restart(open_broker(copied)).starts  # its checksum is wrong


def test_a_damaged_snapshot_of_the_cluster_ends_the_start(copied, metadata):
    """Only the newest is read, and its checksums are verified."""
    newest = newest_snapshot(metadata)
    sound = newest.read_bytes()
    older = metadata / "00000000000000000000-0000000000.checkpoint"
    older.write_bytes(b"older, and not read")
    assert predict_restart(open_broker(copied)).starts
    newest.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    failure = only_failure(copied)
    assert failure.cause == "snapshot-corrupt"
    assert "Record is corrupt (stored crc = " in failure.error
    newest.write_bytes(sound + bytes(12))
    assert only_failure(copied).error == (
        f"{CORRUPT_RECORD}: Record size 0 is less than the minimum record overhead (14)"
    )


@pytest.mark.parametrize("change", [lambda data: data + b"more", lambda data: data[:-20]])
def test_a_snapshot_that_ends_within_a_batch_is_read_up_to_there(copied, metadata, change):
    """Brokers of 4.3.1 and 4.4.0 start on it: a rest too short for a batch counts as the end."""
    newest = newest_snapshot(metadata)
    newest.write_bytes(change(newest.read_bytes()))
    assert predict_restart(open_broker(copied)).starts


@pytest.mark.parametrize("size_bytes", [0, 40])
def test_a_snapshot_without_its_header_ends_the_start(copied, metadata, size_bytes):
    """MetadataLoader of 4.3.1 and 4.4.0 asks for the header's timestamp. The log holds all records,
    so the start succeeds without the snapshot.
    """
    newest = newest_snapshot(metadata)
    newest.write_bytes(newest.read_bytes()[:size_bytes])
    failure = only_failure(copied)
    assert failure.error == "java.util.NoSuchElementException: No value present"
    assert failure.way_out.key == "way_out.move_cluster_snapshot_away"
    newest.unlink()
    assert predict_restart(open_broker(copied)).starts


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("latest.checkpoint", "StringIndexOutOfBoundsException: begin 0, end 20, length 17"),
        ("0000000000000000000x-0000000001.checkpoint", 'For input string: "0000000000000000000x"'),
        ("x.checkpoint.part", "StringIndexOutOfBoundsException: begin 0, end 20, length 17"),
    ],
)
def test_a_name_that_ends_as_a_snapshots_does_is_read_as_one(copied, metadata, name, error):
    (metadata / name).touch()
    assert error in only_failure(copied).error


def test_a_metadata_log_that_ends_before_its_snapshot_is_dropped(copied, metadata):
    """KafkaRaftLog.truncateToLatestSnapshot restarts the log, and older snapshots are deleted."""
    log = next(metadata.glob("*.log"))
    log.write_bytes(b"")
    *older, newest = sorted(path.name for path in metadata.glob("*.checkpoint"))
    restart = predict_restart(open_broker(copied))
    deleted = {
        (Path(step.file).name, step.cause) for step in restart.steps if step.action == "delete"
    }
    assert {(log.name, "behind-snapshot"), *((name, "old-snapshot") for name in older)} <= deleted
    assert (newest, "old-snapshot") not in deleted
    assert restart.starts


def test_a_log_that_changes_what_a_cut_snapshot_lost_ends_the_start(tmp_path):
    """Brokers of 4.3.1 and 4.4.0 threw this; where nothing is changed, they start without topics."""
    (disk,) = unpack(BASES / "one-clean.tar.xz", tmp_path)
    newest = newest_snapshot(disk / METADATA)
    newest.chmod(0o600)
    data = newest.read_bytes()
    header_bytes = 12 + int.from_bytes(data[8:12], "big")
    newest.write_bytes(data[: header_bytes + 100])
    failure = only_failure(disk)
    assert failure.error.startswith("java.lang.IllegalStateException: Tried to change broker 1, ")
    assert failure.way_out.key == "way_out.move_cluster_snapshot_away"
    newest.unlink()
    restart = predict_restart(open_broker(disk))
    assert restart.starts
    assert not any(step.cause == "becomes-stray" for step in restart.steps)


def test_a_metadata_log_without_its_beginning_needs_a_snapshot(copied, metadata):
    """KafkaRaftLog.recoverSnapshots, 4.3.1."""
    for path in (*metadata.glob("*.checkpoint"), *metadata.glob("00000000000000000000.*")):
        path.unlink()
    (metadata / f"{5:020}.log").touch()
    words = "there must be a snapshot at an offset larger then the current log start"
    assert words in only_failure(copied).error


def test_a_metadata_log_of_another_topic_id_ends_the_start(copied, metadata):
    """UnifiedLog is given the id of the metadata topic, 4.3.1 and 4.4.0."""
    give_other_topic_id(metadata)
    failure = only_failure(copied)
    assert failure.error.startswith("org.apache.kafka.common.errors.InconsistentTopicIdException")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param("kafka-4.3.1-killed", marks=pytest.mark.nightly), "kafka-4.4.0-killed"]
)
def test_the_reading_of_a_recovery_is_what_the_broker_read(shared, name):
    log = expected(shared, f"{name}-restarted") / "recovery.log"
    recovered = lines_with(log, r"Recovering unflushed segment (\d+)\.")
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    [reads] = check(broker, level=CheckLevel.HEADERS).recovery_reads()
    log_bytes = {
        (partition.directory, str(segment.base_offset)): segment.log.size_bytes
        for partition in broker.partitions
        for segment in partition.live
    }
    by_log = Counter()
    for partition, base in recovered:
        by_log[partition] += log_bytes[partition, base]
    assert (reads.segments, reads.logs) == (len(recovered), len(by_log))
    assert (reads.log_bytes, reads.largest_log_bytes) == (by_log.total(), max(by_log.values()))
    assert reads.threads == 2


@pytest.mark.slow
def test_the_reading_of_a_recovery_by_log_directory(shared):
    """Two -delete directories were loaded too, but their segments were not recovered."""
    recording = shared / "data" / "kafka-4.4.0-jbod-restarted.expected.tar.gz"
    [log] = unpack_if_archive(recording).glob("**/start-log.txt")
    lines = re.findall(
        r"partition=(\S+), dir=(\S+)\] Recovering unflushed segment (\d+)\.", log.read_text()
    )
    recovered = {line for line in lines if line[0] != METADATA}
    broker = open_broker(shared / "data" / "kafka-4.4.0-jbod-killed.tar.gz")
    log_bytes = Counter()
    for partition in broker.partitions:
        directory = broker.directory_of(partition).path.name
        for segment in partition.live:
            if (partition.directory, directory, str(segment.base_offset)) in recovered:
                log_bytes[directory] += segment.log.size_bytes
    reads = check(broker, level=CheckLevel.HEADERS).recovery_reads()
    assert {Path(item.log_directory).name: item.log_bytes for item in reads} == log_bytes
    assert Counter(directory for _, directory, _ in recovered) == {
        Path(item.log_directory).name: item.segments for item in reads
    }
    assert sum(partition.state == "delete" for partition in broker.partitions) == 2
