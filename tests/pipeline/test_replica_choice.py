"""The replica that the others would follow is read: two brokers of a 4.4.0 cluster, and what that
release did when both were started again (kafka-4.4.0-replica.json.gz).
"""

import gzip
import json
import os
from pathlib import Path

import pytest

from kafkaviz.format import names
from kafkaviz.log import metadata_log
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource.replica_choice import ReplicaReason
from tests.conftest import DATA, REPLICAS
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import read_together
from tests.support.cases import all_cases

with gzip.open(DATA / "kafka-4.4.0-replica.json.gz", "rt") as file:
    STORY = json.load(file)["partitions"]
BOTH = [name for name, story in STORY.items() if len(story["replicas"]) == 2]
LEADERS = {name: str(STORY[name]["when_started_together"]["leader"]) for name in BOTH}
# the epochs and the ends alone do not show which of these leads
EQUAL = {
    name
    for name in BOTH
    for one, other in [STORY[name]["replicas"].values()]
    if one["log_end"] == other["log_end"]
    and one["leader_epochs"][-1:] == other["leader_epochs"][-1:]
}


def link_tree(source: Path, target: Path, *leave_out: str) -> Path:
    for folder, _, files in os.walk(source):
        if Path(folder).name not in leave_out:
            (target / Path(folder).relative_to(source)).mkdir(parents=True, exist_ok=True)
            for name in set(files).difference(leave_out):
                path = Path(folder, name)
                (target / path.relative_to(source)).symlink_to(path)
    return target


def replicas(tmp_path, *leave_out: str, brokers: dict[str, str]) -> list[str]:
    """Returns both directories under other names, in the order of the given brokers."""
    return [
        str(link_tree(unpack_if_archive(REPLICAS[int(node) - 1]), tmp_path / name, *leave_out))
        for name, node in brokers.items()
    ]


def choices(paths: list[str]) -> dict[str, tuple[str, str]]:
    columns = "broker,topic,partition,replica_reason"
    rows = read_together("kafka_segments", paths, replicas="one", columns=columns)
    return {
        f"{row['topic']}-{row['partition']}": (row["broker"], row["replica_reason"])
        for row in rows.to_pylist()
    }


@pytest.fixture(scope="module", params=[{"a": "1", "b": "2"}, {"a": "2", "b": "1"}], ids=str)
def brokers(request) -> dict[str, str]:
    """Returns the nodes by the names of their directories, whichever comes first."""
    return request.param


def test_the_leader_is_read(tmp_path, brokers):
    """For every partition on both brokers: the leader that 4.4.0 elected, and the reason."""
    chosen = choices(replicas(tmp_path, brokers=brokers))
    assert {name: brokers[chosen[name][0]] for name in BOTH} == LEADERS
    reasons = {name: chosen[name][1] for name in BOTH}
    assert {name for name in BOTH if reasons[name] == ReplicaReason.LEADER} == EQUAL
    assert reasons["bids-0"] == reasons["offers-0"] == ReplicaReason.LATEST_EPOCH
    assert reasons["sightings-0"] == ReplicaReason.LAST_END
    assert chosen["crew-one-0"][1] == ReplicaReason.ONLY


def test_the_epochs_show_it_without_a_metadata_log(tmp_path, brokers):
    """If logs are equal, the one that deleteRecords reached first is read."""
    chosen = choices(replicas(tmp_path, names.METADATA_DIRECTORY, brokers=brokers))
    assert {brokers[chosen["footprints-0"][0]]: chosen["footprints-0"][1]} == {
        "1": ReplicaReason.LAST_START
    }
    told = set(BOTH) - EQUAL
    assert {name: brokers[chosen[name][0]] for name in told} == {
        name: LEADERS[name] for name in told
    }
    others = EQUAL - {"footprints-0"}
    assert {chosen[name] for name in others} == {("a", ReplicaReason.FIRST_BROKER)}


def test_the_metadata_log_shows_it_without_the_epochs(tmp_path, brokers):
    chosen = choices(replicas(tmp_path, names.LEADER_EPOCHS, brokers=brokers))
    assert {name: brokers[chosen[name][0]] for name in BOTH} == LEADERS


@all_cases("name", ["bids-0", "offers-0", "footprints-0"])
def test_no_record_is_read_that_the_cluster_drops(tmp_path, name):
    """The records of the leader's files, and none of those that 4.4.0 truncated."""
    other = "12".replace(LEADERS[name], "")
    paths = replicas(tmp_path / name, brokers={"a": LEADERS[name], "b": other})
    rows = read_together("kafka_files", paths[::-1], subscribe=name[:-2])
    story = STORY[name]["replicas"][LEADERS[name]]
    assert rows["offset"].to_pylist() == list(range(story["log_start"], story["log_end"]))


def test_a_metadata_log_that_is_older_than_an_election_says_nothing(tmp_path, brokers):
    """Broker 1's metadata log ends before broker 2 was elected: only 2's files have epoch 5."""
    paths = replicas(tmp_path, brokers=brokers)
    name = {node: name for name, node in brokers.items()}
    newer = tmp_path / name["2"] / names.METADATA_DIRECTORY
    for path in newer.iterdir():
        path.unlink()
    newer.rmdir()
    image = metadata_log.read_image(open_broker(tmp_path / name["1"]), has_leaders=True)
    leader = image.leaders[image.topic_ids["bids"]][0]
    assert (leader.leader, leader.epoch) == (1, 4)  # 4 since it stopped; it led in 3
    assert choices(paths)["bids-0"] == (name["2"], ReplicaReason.LATEST_EPOCH)


def test_a_killed_brokers_last_batches_show_their_epoch(tmp_path):
    """The checkpoint was not written any more; a clean stop wrote it."""
    paths = []
    for name, epoch, count in (("a", 0, 5), ("b", 4, 3)):
        directory = whole_logs.broker(tmp_path / name)
        batches = [whole_logs.batch(0, [whole_logs.START_MS])]
        for offset in range(1, count):
            batches.append(whole_logs.batch(offset, [whole_logs.START_MS], leader_epoch=epoch))
        whole_logs.write(directory / "t-0", batches)
        (directory / "t-0" / names.LEADER_EPOCHS).write_text("0\n1\n0 0\n")
        paths.append(str(directory))
    assert choices(paths) == {"t-0": ("b", ReplicaReason.LATEST_EPOCH)}
    for path in paths:
        (Path(path) / names.CLEAN_SHUTDOWN).touch()
    assert choices(paths) == {"t-0": ("a", ReplicaReason.LAST_END)}
