"""Findings across the log directories of a broker, and how its next start ends.

Each case was started on a broker of 4.4.0, on the whole directories that the excerpt is of. The
expected outcomes are those.
"""

import gzip
import json
import shutil
from pathlib import Path

import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import Health, check, health_object
from kafkaviz.analysis.findings import CODES
from kafkaviz.analysis.restart.next_start import is_sole_voter, predict_restart
from kafkaviz.figures import health_view
from kafkaviz.log.metadata_log import NO_METADATA_VERSION, read_image
from kafkaviz.messages import message
from tests.conftest import DATA
from tests.kafka.starts import BASES, FIELD_CASES, unpack
from tests.support.brokers import copy_partitions
from tests.support.findings import only

BROKER_ANSWERS = json.loads(
    gzip.decompress((DATA / "kafka-4.4.0-jbod-killed-excerpt.json.gz").read_bytes())
)
META = "meta.properties"
IDS = {"disk-a": "iD0FVc_pQYqLQWgvqd5A0A", "disk-b": "24qKyEclmQSMSvllyEGXcQ"}
PROPERTIES = "server.properties"
NO_CONTROLLER = "This broker will not start: it finds no controller without its metadata log"
RESTORE_FIRST = "__cluster_metadata-0 is missing: restore it before this broker starts"


@pytest.fixture
def folder(disks: Path, tmp_path: Path) -> Path:
    """Copies a small part: without the segments of topics that no case is about."""
    kept = ("__cluster_metadata-0", "__transaction_state-1", "audit-0", "profiles-0")
    root = copy_partitions(disks, tmp_path / "broker", ())
    for disk in disks.iterdir():
        if disk.is_dir():
            copy_partitions(disk, root / disk.name, kept)
    return root


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.chmod(0o644)
    path.write_text(text.replace(old, new))


def found(health: Health) -> list[tuple[str, str | None, str | None]]:
    """Returns code, log directory and partition of the findings across directories."""
    return [
        (
            finding.code,
            Path(finding.log_directory).name if finding.log_directory else None,
            finding.partition,
        )
        for finding in health.findings
        if CODES[finding.code].family == "log-directories"
    ]


def errors(health: Health) -> list[str]:
    """Returns the codes of errors, except for the partitions left out of the excerpt."""
    return [
        finding.code
        for finding in health.findings
        if finding.severity == "error" and finding.code != "partition-missing"
    ]


def failure(health: Health) -> str:
    (step,) = health.restart.failures
    return step.error


def test_a_healthy_broker_has_none_of_these(disks):
    """The start succeeds, and names the directory of each step, finding and log."""
    health = check(disks)
    assert found(health) == [] and health.restart.starts
    assert errors(health) == [] and health.restart.offline_directories == ()
    report = health_object(health)
    by_name = {Path(one["path"]).name: one for one in report["log_directories"]}
    assert [by_name[name]["has_metadata_log"] for name in sorted(by_name)] == [True, False, False]
    assert {name: by_name[name]["directory_id"] for name in IDS} == IDS
    assert sum(one["partitions"] for one in by_name.values()) == len(health.broker.partitions)
    paths = {one["path"] for one in report["log_directories"]}
    for rows in (report["findings"], report["restart"]["steps"], report["retention"]):
        assert {row["log_directory"] for row in rows} <= paths and rows
    assert report["restart"]["offline_directories"] == []
    assert report["restart"]["partial"] is False


def test_the_start_leaves_what_the_broker_left(disks):
    """Each predicted index has the size after the real start and a clean stop."""
    restart = predict_restart(kv.open_broker(disks))
    sizes = {
        f"{Path(step.log_directory).name}/{step.file}": step.size_bytes
        for step in restart.steps
        if step.action == "rebuild" and step.file and step.file.endswith(".index")
        if step.partition != "__cluster_metadata-0"
    }
    assert len(sizes) >= 10
    assert sizes == {path: BROKER_ANSWERS["restarted"][path][0] for path in sizes}
    assert not any(step.action == "truncate" for step in restart.steps)
    deleted = {step.partition for step in restart.steps if step.cause == "directory-deleted"}
    assert deleted == {"audit-1.6cc06efbdb714520b4200e29fa6d338b-delete"}


def test_a_directory_alone_says_that_it_is_not_all(disks):
    """Its settings are unknown, so retention and the sizes of rebuilt indexes are unknown too."""
    health = check(disks / "disk-b")
    assert found(health) == [("other-log-directories", "disk-b", None)]
    report = health_object(health)
    source = "unknown: the metadata log is not in an opened log directory"
    unknown = {"value": None, "source": source}
    assert report["kafka_version"].items() >= unknown.items()
    assert report["retention"]
    for log in report["retention"]:
        assert log["deletes"] == log["retention_ms"] == log["retention_bytes"] == unknown
        assert {segment["state"] for segment in log["segments"]} == {"unknown"}
    assert report["restart"]["partial"] is True
    rebuilt = [step for step in report["restart"]["steps"] if step["action"] == "rebuild"]
    assert rebuilt and {step["bytes"] for step in rebuilt} == {None}


def test_a_metadata_log_that_is_in_no_log_directory(folder, capsys):
    """It is an error if server.properties names these directories and no others.

    Kafka's own path of each directory differs, as in a copy.
    """
    shutil.rmtree(folder / "disk-a" / "__cluster_metadata-0")
    assert found(check(folder / "disk-b")) == [("other-log-directories", "disk-b", None)]
    health = check(folder)
    assert [code for code, _, _ in found(health)] == ["metadata-log-missing"]
    assert not health.is_partial
    unknown = {"value": None, "source": "unknown: the metadata log is missing"}
    report = health_object(health)
    assert report["retention"][0]["retention_ms"] == unknown
    assert report["kafka_version"].items() >= unknown.items()
    assert main(["check", str(folder)]) == 1
    text = capsys.readouterr().out
    assert "WILL FAIL" in text and "restore __cluster_metadata-0 from a backup" in text
    assert "is in another log directory" not in text


@pytest.mark.parametrize(
    ("line", "headline", "strays"),
    [
        ("controller.quorum.voters=1@127.0.0.1:29293", RESTORE_FIRST, 3),
        ("controller.quorum.voters=1@127.0.0.1:29293,2@10.0.0.2:9093", RESTORE_FIRST, 0),
        ("controller.quorum.bootstrap.servers=10.0.0.2:9093", RESTORE_FIRST, 0),
        ("controller.quorum.bootstrap.servers=127.0.0.1:29293", NO_CONTROLLER, 0),
    ],
)
def test_what_a_start_without_the_metadata_log_does(line, headline, strays, folder, capsys):
    """Brokers of 4.4.0: the only voter's became stray, and one that finds voters by bootstrap
    servers alone ended. Others may fetch the metadata.
    """
    shutil.rmtree(folder / "disk-a" / "__cluster_metadata-0")
    voters = "controller.quorum.bootstrap.servers=127.0.0.1:29293"
    edit(folder / PROPERTIES, voters, line)
    health = check(folder)
    starts = headline == RESTORE_FIRST
    restart = health_object(health)["restart"]
    assert (restart["starts"], restart["metadata_log_missing"]) == (starts, True)
    assert health_view.view(health).verdict.title == headline
    assert health.forecast.stray_directories == strays
    main(["check", str(folder)])
    text = capsys.readouterr().out
    assert ("__cluster_metadata-0 IS MISSING" in text) == starts
    assert ("WILL FAIL" in text) == (not starts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/var/lib/disk-c", "/var/lib/disk-c,/var/lib/disk-d"),
        ("metadata.log.dir=/var/lib/disk-a", "metadata.log.dir=/var/lib/raft"),
        ("process.roles=broker,controller", "process.roles=broker"),
        ("node.id=1", "node.id=2"),
        ("log.dirs=", "unknown.dirs="),
    ],
)
def test_a_metadata_log_that_may_be_elsewhere(folder, old, new):
    """server.properties names a directory that was not opened, or a node that fetches the log."""
    shutil.rmtree(folder / "disk-a" / "__cluster_metadata-0")
    edit(folder / PROPERTIES, old, new)
    health = check(folder)
    assert [code for code, _, _ in found(health)] == ["other-log-directories"]
    assert health.is_partial


def test_a_registered_directory_that_was_not_opened(disks):
    health = check(disks / "disk-a")
    assert found(health) == [("log-directory-missing", None, None)] * 2
    counts = {
        finding.message["id"]: finding.message["n"]
        for finding in health.findings
        if finding.code == "log-directory-missing"
    }
    assert counts[IDS["disk-b"]] == len(BROKER_ANSWERS["log_dirs"]["disk-b"])


def test_a_partition_in_two_directories(folder):
    """The larger one is kept; a start of 4.4.0 ended in these words."""
    shutil.copytree(folder / "disk-b" / "profiles-0", folder / "disk-c" / "profiles-0")
    for log in (folder / "disk-c" / "profiles-0").glob("*.log"):
        log.write_bytes(b"")
    health = check(folder)
    assert found(health) == [("partition-in-two-directories", "disk-c", "profiles-0")]
    finding = only(health, "partition-in-two-directories")
    assert finding.next_step.key == "next_step.move_empty_replica_away"
    assert not health.restart.starts
    error = failure(health)
    words = "Duplicate log directories for profiles-0 are found in both "
    assert words in error and "disk-b/profiles-0" in error and "disk-c/profiles-0" in error


def copy_as_future(folder: Path) -> str:
    name = f"profiles-0.{'0a' * 16}-future"
    shutil.copytree(folder / "disk-b" / "profiles-0", folder / "disk-c" / name)
    return name


def test_a_replica_that_is_moved(folder):
    """With and without the replica in use next to it: without it, 4.4.0 emptied the other one."""
    name = copy_as_future(folder)
    health = check(folder)
    assert found(health) == [("future-replica", "disk-c", name)] and health.restart.starts
    shutil.rmtree(folder / "disk-b" / "profiles-0")
    assert ("future-replica-alone", "disk-c", name) in found(check(folder))


@pytest.mark.parametrize(
    ("version", "key"), [("4.1.1", "finding.with_cause"), ("4.1.2", "finding.future_replica")]
)
def test_a_move_may_take_a_directory_offline(folder, version, key):
    """KAFKA-19571: the finding names the fault for the releases that have it."""
    copy_as_future(folder)
    assert only(check(folder, version), "future-replica").message.key == key


def test_a_replica_elsewhere_than_it_is_assigned(folder):
    """4.4.0 serves it where it is."""
    shutil.move(folder / "disk-b" / "profiles-0", folder / "disk-c" / "profiles-0")
    health = check(folder)
    assert found(health) == [("replica-elsewhere", "disk-c", "profiles-0")]
    assert health.restart.starts


def test_a_directory_that_lost_its_partitions(folder):
    """On a new disk with a meta.properties, 4.4.0 created the partitions again, empty."""
    for path in (folder / "disk-c").iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    health = check(folder)
    assert ("log-directory-lost", "disk-c", None) in found(health)
    assert errors(health) == ["log-directory-lost"]


def test_an_empty_directory_ends_the_start(folder):
    """Without meta.properties it was never formatted."""
    shutil.rmtree(folder / "disk-c")
    (folder / "disk-c").mkdir()
    health = check(kv.open_broker(*(folder / name for name in ("disk-a", "disk-b", "disk-c"))))
    assert not health.restart.starts
    words = "java.lang.RuntimeException: No `meta.properties` found in "
    assert failure(health).startswith(words)


DIRECTORY_ID = f"directory.id={IDS['disk-b']}\n"
OTHER_PROPERTIES = [  # of disk-b
    ("cluster.id=amJ", "cluster.id=bmJ", "Invalid cluster.id in: {0}/disk-b/meta.properties"),
    ("node.id=1", "node.id=2", "Stored node id 2 doesn't match previous node id 1 in {0}/disk-b/"),
    (IDS["disk-b"], IDS["disk-a"], "Duplicate directory ID Optional[iD0FVc_pQYqLQWgvqd5A0A]"),
    (IDS["disk-b"], "A" * 21 + "g", "Invalid reserved directory ID {1} found in {0}/disk-b"),
    (IDS["disk-b"], "A" * 22, "Invalid reserved directory ID {1} found in {0}/disk-b"),
    ("version=1", "version=0", "Error: node ID not found in {0}/disk-b"),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        *((f"disk-b/{META}", *row) for row in OTHER_PROPERTIES),
        (
            f"disk-a/{META}",
            "version=1",
            "version=7",
            "Encountered I/O error in metadata log directory {0}/disk-a",
        ),
        (
            PROPERTIES,
            "disk-a,/var/lib/disk-b,/var/lib/disk-c\nmetadata.log.dir=/var/lib/disk-a\n",
            "disk-b,/var/lib/disk-a,/var/lib/disk-c\n",
            "Found unexpected metadata location in data directory `{0}/",
        ),
    ],
)
def test_directories_that_disagree_end_the_start(folder, file, old, new, words):
    edit(folder / file, old, new)
    health = check(folder)
    assert not health.restart.starts and health.restart.offline_directories == ()
    assert words.format(folder, new) in failure(health)
    assert errors(health) == ["recovery-will-fail"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"node.id=1\n{DIRECTORY_ID}version=1", f"broker.id=1\n{DIRECTORY_ID}version=0"),
        (DIRECTORY_ID, ""),
    ],
)
def test_what_kafka_mends_or_takes(folder, old, new):
    edit(folder / "disk-b" / META, old, new)
    assert check(folder).restart.starts


@pytest.mark.parametrize(
    ("old", "new"), [("version=1", "version=7"), (IDS["disk-b"], "hello")], ids=["version", "id"]
)
def test_one_directory_goes_offline_and_the_others_start(folder, old, new):
    """A meta.properties that is refused, in a directory without the metadata log, as on 4.4.0."""
    edit(folder / "disk-b" / META, old, new)
    health = check(folder)
    assert health.restart.starts
    assert health.restart.offline_directories == (str(folder / "disk-b"),)
    assert health_object(health)["restart"]["offline_directories"] == [str(folder / "disk-b")]
    loaded = {step.log_directory for step in health.restart.steps if step.action != "fail"}
    assert str(folder / "disk-b") not in loaded
    consequence = only(health, "recovery-will-fail").consequence
    assert consequence.key == "consequence.starts_without_directory"


def test_a_failed_partition_takes_its_directory_offline(folder):
    """The start ends if all directories fail, or the one with the metadata log."""
    epochs = "0\nx\n"
    (folder / "disk-b" / "profiles-0" / "leader-epoch-checkpoint").write_text(epochs)
    restart = check(folder).restart
    assert restart.starts and restart.offline_directories == (str(folder / "disk-b"),)
    alone = check(folder / "disk-b").restart
    assert not alone.starts and alone.offline_directories == ()
    (folder / "disk-c" / "audit-0" / "leader-epoch-checkpoint").write_text(epochs)
    pair = kv.open_broker(folder / "disk-b", folder / "disk-c")
    assert not check(pair).restart.starts


NO_COUNT = "0\n2\norders 0 1\n"  # two lines are announced, and one is there
EPOCHS_OF_TEXT = "junk\n"


def _close_transaction(partition: Path) -> None:
    """Removes the batches and producer snapshots, and with them the open transaction."""
    for path in partition.glob(f"{'[0-9]' * 20}.*"):
        path.unlink()


@pytest.mark.parametrize(
    ("base", "file", "starts"),
    [
        ("three-clean", "disk-1/recovery-point-offset-checkpoint", False),
        ("three-clean", "disk-2/log-start-offset-checkpoint", False),
        ("three-killed", "disk-2/recovery-point-offset-checkpoint", False),
        ("three-clean", "disk-1/cleaner-offset-checkpoint", True),
        ("three-clean", "disk-1/replication-offset-checkpoint", True),
        ("three-clean", "disk-0/replication-offset-checkpoint", False),
        ("three-clean", "disk-0/cleaner-offset-checkpoint", False),
    ],
)
def test_a_checkpoint_of_a_directory_with_an_open_transaction(tmp_path, base, file, starts):
    """payments-0 on disk-1 and payments-1 on disk-2 have one. Brokers of 4.3.1 and 4.4.0 ended at
    what LogManager reads before the logs, and at any failure next to the metadata log.
    """
    disks = unpack(BASES / f"{base}.tar.xz", tmp_path)
    folder = disks[0].parent
    (folder / file).write_text(NO_COUNT)
    restart = check(folder).restart
    assert restart.starts is starts
    assert bool(restart.offline_directories) is starts
    assert "unstable-offset" not in {step.cause for step in restart.steps}
    ends = [step for step in restart.failures if step.cause == "directory-offline"]
    disk = folder / file.split("/")[0]
    if starts or disk.name == "disk-0":
        assert ends == []
        return
    (end,) = ends
    assert (end, end.partition) == (restart.main_failure, f"payments-{int(disk.name[-1]) - 1}")
    assert end.why.key == "start.offline_log_is_read"
    words = f"The log dir {disk} is already offline due to a previous IO exception."
    assert end.error == f"org.apache.kafka.common.errors.KafkaStorageException: {words}"
    _close_transaction(disk / end.partition)
    restart = check(folder).restart
    assert restart.starts and restart.offline_directories == (str(disk),)


def test_a_partition_file_next_to_an_open_transaction(tmp_path):
    """Brokers of 4.4.0 ended each time, though the order of the recovery threads decides it. They
    started where the file belongs to the log with the transaction.
    """
    disks = unpack(BASES / "three-killed.tar.xz", tmp_path)
    broken = disks[1] / "orders-1" / "leader-epoch-checkpoint"
    kept = broken.read_text()
    broken.write_text(EPOCHS_OF_TEXT)
    restart = check(disks[0].parent).restart
    assert not restart.starts
    assert restart.main_failure.why.key == "start.ends_if_loaded_later"
    broken.write_text(kept)
    (disks[1] / "payments-0" / "leader-epoch-checkpoint").write_text(EPOCHS_OF_TEXT)
    restart = check(disks[0].parent).restart
    assert restart.starts and restart.offline_directories == (str(disks[1]),)


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Returns the three log directories of a broker that was stopped cleanly."""
    return unpack(BASES / "three-clean.tar.xz", tmp_path)


def test_a_transaction_that_ended_in_replayed_batches(three):
    """The log ends before offset 27, where the open one begins, and only the snapshot of offset 8
    is left. 4.3.1 replayed the ends of the others, and ended as at an open one.
    """
    partition = three[2] / "payments-1"
    log = partition / f"{8:020d}.log"
    log.write_bytes(log.read_bytes()[:4554])
    (partition / f"{35:020d}.snapshot").unlink()
    (three[2] / "log-start-offset-checkpoint").write_text(NO_COUNT)
    restart = check(three[0].parent).restart
    assert (restart.main_failure.partition, restart.starts) == ("payments-1", False)


def test_a_stray_log_in_an_offline_directory(three):
    """4.3.1 ended where it would have renamed the log, and started without that log."""
    _close_transaction(three[2] / "payments-1")
    (three[2] / "log-start-offset-checkpoint").write_text(NO_COUNT)
    assert check(three[0].parent).restart.starts
    topic_id = "version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw"
    (three[2] / "unused-0" / "partition.metadata").write_text(topic_id)
    restart = check(three[0].parent).restart
    assert (restart.main_failure.partition, restart.starts) == ("unused-0", False)
    assert restart.main_failure.why.key == "start.offline_log_is_renamed"


def test_a_folder_does_not_end_the_start(three):
    """LogManager collects such an IOException until all logs are loaded. 4.3.1 started."""
    index = max((three[1] / "orders-1").glob("*.index"))
    index.unlink()
    index.mkdir()
    restart = check(three[0].parent).restart
    assert restart.starts and restart.offline_directories == (str(three[1]),)


@pytest.mark.parametrize("number", ["+1", "0" * 5000 + "1"])
def test_a_node_id_is_the_number_that_java_reads(folder, number):
    """Integer.parseInt accepts a sign and leading zeros, so the broker is still node 1."""
    expected = found(check(folder / "disk-a"))
    assert [code for code, *_ in expected] == ["log-directory-missing"] * 2
    shutil.move(folder / "disk-b" / "profiles-0", folder / "disk-c" / "profiles-0")
    all_expected = found(check(folder))
    assert ("replica-elsewhere", "disk-c", "profiles-0") in all_expected
    for name in ("disk-a", "disk-b"):
        edit(folder / name / META, "node.id=1", f"node.id={number}")
    assert found(check(folder / "disk-a")) == expected
    health = check(folder)
    assert found(health) == all_expected
    assert health.restart.starts and health.restart.offline_directories == ()


def test_a_version_is_the_number_that_java_reads(folder):
    """MetaPropertiesVersion.fromNumberString trims and parses it."""
    edit(folder / "disk-b" / META, "version=1", "version=+01 ")
    health = check(folder)
    assert found(health) == [] and health.restart.offline_directories == ()
    assert health.restart.starts
    assert kv.open_broker(folder / "disk-b").lacks_metadata_log


def test_a_sole_voter_is_found_by_its_number(folder):
    """The cluster knows nothing else, so replicas that its metadata log does not name are stray."""
    broker = kv.open_broker(folder)
    image = read_image(broker)
    assert is_sole_voter(broker, image)
    edit(folder / "disk-a" / META, "node.id=1", "node.id=+01")
    assert is_sole_voter(kv.open_broker(folder), image)


def later_steps(folder: Path) -> set[tuple[str | None, str, str]]:
    causes = ("replica-created", "becomes-current", "replaced-by-future")
    return {
        (step.partition, step.action, step.cause)
        for step in predict_restart(kv.open_broker(folder)).steps
        if step.cause in causes
    }


def test_a_start_makes_the_replicas_that_are_missing(three):
    """A broker of 4.4.0 did so (tests.kafka.starts, partition_removed)."""
    folder = three[0].parent
    assert later_steps(folder) == set()
    shutil.rmtree(three[1] / "orders-1")
    assert later_steps(folder) == {("orders-1", "create", "replica-created")}


def test_a_future_replica_replaces_the_one_in_use(three):
    """Only in the directory that the cluster assigns."""
    folder = three[0].parent
    future = f"orders-1.{'0123456789abcdef' * 2}-future"
    (three[1] / "orders-1").rename(three[1] / future)
    assert later_steps(folder) == {(future, "keep", "becomes-current")}
    (future_replica,) = [one for one in check(folder).findings if one.partition == future]
    assert future_replica.consequence == message("consequence.future_takes_over")
    shutil.copytree(three[1] / future, three[2] / "orders-1")
    assert later_steps(folder) == {
        (future, "keep", "becomes-current"),
        ("orders-1", "delete", "replaced-by-future"),
    }
    (three[1] / future).rename(three[0] / future)
    assert later_steps(folder) == set()


def test_a_lost_metadata_log_makes_every_partition_stray(three):
    """Holds if all log directories are given, or none of those given knows of others.

    Brokers of 4.3.1 and 4.4.0 did so (tests.kafka.starts, metadata_directory_removed).
    """
    folder = three[0].parent
    shutil.rmtree(three[0] / "__cluster_metadata-0")
    health = check(folder)
    partitions = {partition.directory for partition in health.broker.partitions}
    strays = [found for found in health.findings if found.code == "becomes-stray"]
    assert {found.partition for found in strays} == partitions
    assert {found.severity for found in strays} == {"error"}
    assert health.forecast.possible_strays == 0
    assert health.forecast.stray_directories == len(partitions)
    alone = check(three[1])
    assert alone.forecast.possible_strays == 0
    assert {code for code, *_ in found(alone)} == {"other-log-directories"}


def test_an_older_release_refuses_the_metadata_version(tmp_path):
    """A broker of 4.3.1 ended so on this directory of 4.4.0."""
    (disk,) = unpack(FIELD_CASES / "recovery-point-checkpoint-bad-count.tar.gz", tmp_path)
    (disk / "recovery-point-offset-checkpoint").unlink()
    broker = kv.open_broker(disk)
    older, newer = (predict_restart(broker, release=release) for release in ((4, 3, 1), (4, 4, 0)))
    assert newer.starts and not older.starts
    (step,) = older.failures
    assert step.cause == "metadata-version"
    assert step.error.endswith("this controller only supports versions 7-30")
    assert step.way_out == message("way_out.start_newer_release", release="4.4")


def test_a_snapshot_that_lost_the_metadata_version_ends_the_start(tmp_path):
    """Brokers of 4.3.1 and 4.4.0 ended so; without records after the snapshot they start."""
    (disk,) = unpack(BASES / "one-killed.tar.xz", tmp_path)
    metadata = disk / "__cluster_metadata-0"
    snapshot = max(metadata.glob("*.checkpoint"))
    snapshot.chmod(0o644)
    snapshot.write_bytes(snapshot.read_bytes()[:150])
    (step,) = predict_restart(kv.open_broker(disk)).failures
    assert step.error == NO_METADATA_VERSION
    assert step.why.key == "start.cluster_snapshot_lacks_records"


def test_the_voters_are_those_of_the_last_election(tmp_path):
    """Without quorum-state, the LeaderChangeMessage of the log names them."""
    (disk,) = unpack(BASES / "one-clean.tar.xz", tmp_path)
    (disk / "__cluster_metadata-0" / "quorum-state").unlink()
    for snapshot in (disk / "__cluster_metadata-0").glob("*.checkpoint"):
        snapshot.unlink()
    broker = kv.open_broker(disk)
    assert is_sole_voter(broker, read_image(broker))
