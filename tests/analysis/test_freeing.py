"""What may be deleted by hand: the order, the files, and the start afterwards."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check, health_object
from kafkaviz.analysis.disk import Use, disk_shares, total_uses
from kafkaviz.analysis.freeing import FreeingKind, freeing_steps
from kafkaviz.log.broker import open_broker
from tests.analysis.lab import Lab

SUFFIX = "0" * 32
KINDS = FreeingKind


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)


def found(root: Path) -> dict[FreeingKind, list[str]]:
    """Returns the paths of each kind, relative to the log directory."""
    broker = open_broker(root)
    steps = freeing_steps(broker, disk_shares(broker))
    return {step.kind: sorted(str(path.relative_to(root)) for path in step.paths) for step in steps}


def test_the_safe_order_and_what_is_deleted_as_a_whole(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    assert found(lab.path) == {}
    expected = {
        KINDS.WAITING: [f"old-0.{SUFFIX}-delete", f"orders-0/{0:020d}.index.deleted"],
        KINDS.LEFTOVER: [f"orders-0/{0:020d}.log.cleaned", f"orders-0/{999999:020d}.index"],
        KINDS.FOREIGN: ["backup.tar", "heap", "orders-0/.DS_Store"],
        KINDS.REMOTE_INDEX_CACHE: ["remote-log-index-cache"],
        KINDS.FUTURE: [f"orders-0.{SUFFIX}-future"],
        KINDS.STRAY: [f"gone-0.{SUFFIX}-stray"],
    }
    for names in expected.values():
        for name in names:
            is_folder = "." not in name or SUFFIX in name
            write(lab.path, f"{name}/{0:020d}.log" if is_folder else name)
    assert found(lab.path) == expected
    assert list(found(lab.path)) == list(expected)


def test_a_swap_file_keeps_the_leftovers(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    write(lab.path, f"orders-0/{7:020d}.log.swap", f"orders-0/{9:020d}.log.cleaned")
    write(lab.path, f"orders-0/{0:020d}.log.deleted")
    assert found(lab.path) == {KINDS.WAITING: [f"orders-0/{0:020d}.log.deleted"]}


def test_the_only_copy_of_a_moving_replica_stays(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    write(lab.path, f"other-0.{SUFFIX}-future/{0:020d}.log")
    assert found(lab.path) == {}


def test_a_partition_that_was_created_after_the_listing_stays(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    broker = open_broker(lab.path)
    write(lab.path, f"new-topic-0/{0:020d}.log", "notes/todo.txt")
    shares = list(disk_shares(broker))
    [step] = freeing_steps(broker, shares)
    assert step.paths == (lab.path / "notes",)
    assert total_uses(shares[-1:])[Use.UNREAD] == 100


def test_the_metadata_log_stays(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["__cluster_metadata-0", "orders-0"])
    write(lab.path, f"__cluster_metadata-0/{0:020d}-{1:010d}.checkpoint.deleted")
    assert found(lab.path) == {}


def test_after_all_of_it_was_deleted_the_broker_still_starts(clean, tmp_path):
    """No error appears, and nothing is left that the next pass of retention would delete."""
    root = tmp_path / "kafka"
    shutil.copytree(clean, root)
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


@pytest.mark.parametrize("directory", ["clean", "killed"])
def test_the_price_of_all_index_files_is_what_the_start_then_reads(directory, request, tmp_path):
    root = tmp_path / "kafka"
    shutil.copytree(request.getfixturevalue(directory), root)
    [price] = check(root).index_prices()
    files = [path for path in root.glob("*/*.index") if path.parent.name != "__cluster_metadata-0"]
    assert price.files == len(files)
    assert price.length_bytes == sum(path.stat().st_size for path in files)
    assert price.allocated_bytes == sum(path.stat().st_blocks * 512 for path in files)
    for path in files:
        path.unlink()
    assert check(root).recovery_reads() == (price.reads,)


def test_the_order_as_json(damaged):
    health = check(damaged)
    freeing = health_object(health)["freeing"]
    assert [step["kind"] for step in freeing["steps"]] == ["leftover", "retention"]
    assert len(freeing["steps"][0]["paths"]) == 2
    [price] = freeing["indexes"]
    assert price["reads"]["segments"] == health.index_prices()[0].reads.segments
