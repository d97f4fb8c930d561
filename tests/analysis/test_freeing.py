"""What may be deleted by hand: the order, the files, and the start afterwards."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check, health_object
from kafkaviz.analysis.disk import Use, disk_shares, total_uses
from kafkaviz.analysis.freeing import FreeingKind, freeing_steps
from kafkaviz.format import checkpoint
from kafkaviz.format.names import HIGH_WATERMARK_CHECKPOINT, LOG_START_CHECKPOINT
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import message
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import DAY_MS
from tests.analysis.lab import Lab

SUFFIX = "0" * 32
KINDS = FreeingKind
NOW_MS = 1_798_761_600_000  # 2027-01-01, later than all files of the samples
QUIET = Restart(clean=True, starts=True, steps=())


@pytest.fixture
def lab(clean, tmp_path) -> Lab:
    """Returns a broker with its metadata log and one partition."""
    return Lab(clean, tmp_path / "kafka", ["__cluster_metadata-0", "orders-0"])


@pytest.fixture
def lone(clean, tmp_path) -> Lab:
    """Returns a broker with one partition and no metadata log."""
    return Lab(clean, tmp_path / "lone", ["orders-0"])


def bases_of(lab: Lab) -> list[int]:
    return [int(path.stem) for path in lab.files("orders-0", ".log")]


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)


def found(root: Path, restart: Restart | None = QUIET) -> dict[FreeingKind, list[str]]:
    """Returns the paths of each kind, relative to the log directory."""
    broker = open_broker(root)
    steps = freeing_steps(broker, disk_shares(broker), restart=restart)
    return {step.kind: sorted(str(path.relative_to(root)) for path in step.paths) for step in steps}


def test_the_safe_order_and_what_is_deleted_as_a_whole(lab):
    assert found(lab.path) == {}
    write(lab.path, "server.properties", "lost+found/a")
    expected = {
        KINDS.WAITING: [f"old-0.{SUFFIX}-delete", f"orders-0/{0:020d}.index.deleted"],
        KINDS.LEFTOVER: [f"orders-0/{0:020d}.log.cleaned", f"orders-0/{999999:020d}.index"],
        KINDS.REMOTE_INDEX_CACHE: ["remote-log-index-cache"],
        KINDS.FUTURE: [f"orders-0.{SUFFIX}-future"],
        KINDS.FOREIGN: ["backup.tar", "heap", "orders-0/.DS_Store"],
        KINDS.STRAY: [f"gone-0.{SUFFIX}-stray"],
    }
    for names in expected.values():
        for name in names:
            is_folder = "." not in name or SUFFIX in name
            write(lab.path, f"{name}/{0:020d}.log" if is_folder else name)
    assert found(lab.path) == expected
    assert list(found(lab.path)) == list(expected)


def test_a_swap_file_keeps_the_leftovers(lone):
    write(lone.path, f"orders-0/{7:020d}.log.swap", f"orders-0/{9:020d}.log.cleaned")
    write(lone.path, f"orders-0/{0:020d}.log.deleted")
    assert found(lone.path) == {KINDS.WAITING: [f"orders-0/{0:020d}.log.deleted"]}


@pytest.mark.parametrize("cause", ["becomes-current", "becomes-stray", "replaced-by-future", ""])
def test_a_moving_replica_stays_if_the_other_one_may_not_last(lab, cause):
    """Nor is it listed if the replica in use is missing, or the start is not predicted."""
    write(lab.path, f"other-0.{SUFFIX}-future/{0:020d}.log")
    assert found(lab.path) == {}
    replica = f"orders-0.{SUFFIX}-future"
    write(lab.path, f"{replica}/{0:020d}.log")
    assert found(lab.path) == {KINDS.FUTURE: [replica]}
    assert found(lab.path, None) == {}
    step = StartupStep(
        partition=replica if cause == "becomes-current" else "orders-0",
        action="keep" if cause else "truncate",
        cause=cause or "unclean",
        why=message("start.becomes_stray"),
        log_directory=str(lab.path),
    )
    assert found(lab.path, Restart(clean=True, starts=True, steps=(step,))) == {}


LIMIT = "log.retention.ms=604800000"


def due_segments(root: Path, clock_ms: int | None = None, **options: object) -> list[int]:
    """Returns the base offsets of the segments that are listed because of retention."""
    health = check(root, now_ms=NOW_MS, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time", lambda: (clock_ms or NOW_MS) / 1000)
        steps = health.freeing_steps()
    return [
        int(path.name[:20])
        for step in steps
        if step.kind == KINDS.RETENTION
        for path in step.paths
        if path.suffix == ".log"
    ]


def test_a_segment_is_listed_only_under_a_limit_that_a_file_has(lab):
    bases = bases_of(lab)
    assert due_segments(lab.path) == []  # Kafka's default is 7 days
    properties = lab.path / "server.properties"
    for lines, expected in (
        (f"{LIMIT}\n", bases[:-1]),
        (f"{LIMIT}\nlog.cleanup.policy=compact\n", []),
        ("log.cleanup.policy=delete\n", []),
        ("log.retention.ms=-1\n", []),
        ("log.retention.bytes=0\nlog.retention.ms=-1\n", bases[:-1]),
    ):
        properties.write_text(lines)
        assert due_segments(lab.path) == expected, lines


def test_a_typed_limit_lists_no_segment(lab):
    """It is for trying."""
    broker = open_broker(lab.path)
    typed = open_settings(broker, overrides={"log.retention.ms": "86400000"})
    assert due_segments(lab.path, settings=typed) == []
    (lab.path / "server.properties").write_text(f"{LIMIT}\n")
    assert due_segments(lab.path)
    broker = open_broker(lab.path)
    for name, value in (("log.retention.ms", "86400000"), ("remote.storage.enable", "false")):
        typed = open_settings(broker, overrides={name: value})
        assert due_segments(lab.path, settings=typed) == []


def test_topics_whose_own_settings_are_unknown_keep_their_segments(lone):
    lines = (LIMIT, "log.cleanup.policy=delete", "log.retention.bytes=-1", "")
    (lone.path / "server.properties").write_text("\n".join(lines))
    health = check(lone.path, now_ms=NOW_MS)
    assert health.retention[0].due_bytes
    assert due_segments(lone.path) == []


def test_a_clock_in_the_future_lists_no_segment(lab):
    (lab.path / "server.properties").write_text(f"{LIMIT}\n")
    newest_ms = max(
        segment.until_ms
        for log in check(lab.path, now_ms=NOW_MS).retention
        for segment in log.segments
    )
    assert newest_ms < NOW_MS
    assert due_segments(lab.path, newest_ms + 1)
    assert due_segments(lab.path, newest_ms - 30 * DAY_MS) == []


def test_a_log_without_a_high_watermark_keeps_its_segments(lab):
    (lab.path / "server.properties").write_text(f"{LIMIT}\n")
    assert due_segments(lab.path)
    (lab.path / HIGH_WATERMARK_CHECKPOINT).unlink()
    assert due_segments(lab.path) == []


def test_what_is_before_the_log_start_is_listed_under_any_settings(lab):
    bases = bases_of(lab)
    path = lab.path / LOG_START_CHECKPOINT
    lab.write(path, checkpoint.build_offsets({("orders", 0): bases[1]}))
    assert due_segments(lab.path) == bases[:1]


def test_a_partition_that_was_created_after_the_listing_stays(lone):
    broker = open_broker(lone.path)
    write(lone.path, f"new-topic-0/{0:020d}.log", "notes/todo.txt")
    shares = list(disk_shares(broker))
    [step] = freeing_steps(broker, shares)
    assert step.paths == (lone.path / "notes",)
    assert total_uses(shares[-1:])[Use.UNREAD] == 100


def test_the_metadata_log_stays(lab):
    write(lab.path, f"__cluster_metadata-0/{0:020d}-{1:010d}.checkpoint.deleted")
    assert found(lab.path) == {}


def test_after_all_of_it_was_deleted_a_start_is_predicted(clean, tmp_path, monkeypatch):
    """No error appears, and nothing is left that the next pass of retention would delete.

    The starts of real brokers are in tests/kafka/freed_starts.py.
    """
    partitions = ("__cluster_metadata-0", "orders-0", "weblogs-0")  # weblogs has a .deleted segment
    root = Lab(clean, tmp_path / "kafka", partitions).path
    (root / "server.properties").write_text(f"{LIMIT}\n")
    monkeypatch.setattr("time.time", lambda: NOW_MS / 1000)
    before = check(root)
    steps = before.freeing_steps()
    assert [step.kind for step in steps] == [KINDS.WAITING, KINDS.RETENTION]
    size_before = sum(share.length_bytes for share in before.all_shares())
    for step in steps:
        for path in step.paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    after = check(root, now_ms=before.now_ms)
    assert after.restart.starts and after.counts["error"] == before.counts["error"] == 0
    assert [step.kind for step in after.freeing_steps()] == []
    freed_bytes = sum(step.length_bytes for step in steps)
    size_after = sum(share.length_bytes for share in after.all_shares())
    assert size_before - size_after == freed_bytes


@pytest.mark.parametrize("directory", ["some_partitions", "killed"])
def test_the_price_of_all_index_files_is_what_the_start_then_reads(directory, request, tmp_path):
    root = tmp_path / "kafka"
    shutil.copytree(request.getfixturevalue(directory), root)
    [price] = check(root).index_prices()
    files = [
        path
        for path in root.glob("*/*.index")
        if path.parent.name != "__cluster_metadata-0" and not path.parent.name.endswith("-delete")
    ]
    assert price.files == len(files)
    assert price.length_bytes == sum(path.stat().st_size for path in files)
    assert price.allocated_bytes == sum(path.stat().st_blocks * 512 for path in files)
    for path in files:
        path.unlink()
    assert check(root).recovery_reads() == (price.reads,)


def test_the_order_as_json(damaged):
    health = check(damaged)
    freeing = health_object(health)["freeing"]
    [step] = freeing["steps"]
    assert step["kind"] == "leftover" and len(step["paths"]) == 2
    assert step["cost"].startswith("Nothing. Kafka deletes")
    assert ".swap" in step["check"]
    [price] = freeing["indexes"]
    assert price["reads"]["segments"] == health.index_prices()[0].reads.segments
