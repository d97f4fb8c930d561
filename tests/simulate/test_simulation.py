"""kv.simulate and its output, a broker directory like any other."""

import hashlib
import os
import subprocess
import sys
import tarfile
from dataclasses import FrozenInstanceError
from io import BytesIO
from itertools import product
from pathlib import Path

import pytest

import kafkaviz as kv
from kafkaviz.format import checkpoint, names, offset_index, time_index
from kafkaviz.log.archives import archive
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.directory.replay_stream import chunks
from kafkaviz.simulate.directory.simulation import Run, open_workload, plan_workload
from kafkaviz.simulate.producers.workload import PRESETS, load
from kafkaviz.simulate.writer.writer import UnifiedLog

SHORT = """
topic = "short"
[settings]
"segment.bytes" = 1048576
"index.interval.bytes" = 200
"segment.index.bytes" = 500
[[phase]]
batches = 300
batches_per_s = 10
value_bytes = 100
"""
# (preset, clean): the rest is nightly; test_streams.py has the rolls of the long ones
QUICK = {(name, True) for name in set(PRESETS) - {"day", "steady"}}
QUICK |= {(name, False) for name in ("orders", "late-phones", "no-timestamps", "heartbeat")}


@pytest.fixture(scope="module")
def short() -> kv.Simulated:
    return kv.simulate(load(SHORT))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "clean"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.nightly)
        for case in product(PRESETS, (True, False))
    ],
)
def test_every_preset_is_a_directory_like_any_other(name, clean, tmp_path):
    simulated = kv.simulate(name, clean=clean)
    broker = kv.open_broker(simulated.write(tmp_path / "kafka"))
    [partition] = broker.partitions
    bases = [segment.base_offset for segment in simulated.segments]
    assert [segment.base_offset for segment in partition.live] == bases
    health = kv.check(broker)
    assert errors(health) == []
    assert health.restart.clean == clean and health.restart.starts
    if clean:
        assert not health.restart.steps
        unexpected = {"unknown-file", "meta-properties-bad", "snapshot-missing", "snapshot-stray"}
        assert unexpected.isdisjoint(finding.code for finding in health.findings)
    first = kv.lookup(partition, offset=simulated.log_start_offset)
    assert first.answer.offset == simulated.log_start_offset
    assert kv.lookup(partition, offset=bases[-1]).answer.offset >= bases[-1]


def errors(health: kv.Health) -> list[kv.Finding]:
    return [finding for finding in health.findings if finding.severity == "error"]


def causes(simulated: kv.Simulated) -> set[str]:
    """Returns why its closed segments were rolled."""
    return {str(segment.roll_reason.cause) for segment in simulated.segments[:-1]}


def test_the_value_has_the_numbers_of_the_files(short, tmp_path):
    folder = short.write(tmp_path / "kafka") / "short-0"
    assert len(short.segments) > 2 and causes(short) == {"time-index-full"}
    for segment in short.segments:
        for name, digest in short.digests(segment.base_offset).items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        stem = f"{segment.base_offset:020}"
        offsets = offset_index.parse((folder / f"{stem}.index").read_bytes())
        times = time_index.parse((folder / f"{stem}.timeindex").read_bytes())
        assert offsets.tolist() == segment.offset_index.tolist()
        assert times.tolist() == segment.time_index.tolist()
        assert (folder / f"{stem}.log").stat().st_size == segment.log_bytes
    rolls = ["roll"] * (len(short.segments) - 1)
    assert [event.kind for event in short.events] == [*rolls, "close"]
    with pytest.raises(FrozenInstanceError):
        short.log_end_offset = 0


def test_the_same_seed_gives_the_same_directory(short, tmp_path):
    again, other = kv.simulate(load(SHORT)), kv.simulate(load(SHORT), seed=7)
    first, same, different = (
        contents(simulated.write(tmp_path / str(place)))
        for place, simulated in enumerate((short, again, other))
    )
    assert first == same and first["meta.properties"] != different["meta.properties"]
    assert short.archive() == again.archive()


def test_files_have_the_times_of_their_last_write(short, tmp_path):
    """Retention needs them: an append's for the .log, the roll's for the indexes."""
    folder = short.write(tmp_path / "kafka") / "short-0"
    for before, after in zip(short.segments, short.segments[1:], strict=False):
        roll = next(event for event in short.events if event.segment == before.base_offset)
        stem = f"{before.base_offset:020}"
        assert os.stat(folder / f"{stem}.index").st_mtime_ns == roll.now_ms * 1_000_000
        written = os.stat(folder / f"{stem}.log").st_mtime_ns // 1_000_000
        assert written == roll.now_ms - 100 and roll.offset == after.base_offset


def test_the_archive_holds_the_same(short, tmp_path):
    (tmp_path / "simulated.tar.gz").write_bytes(short.archive())
    unpacked = archive.unpack_if_archive(tmp_path / "simulated.tar.gz")
    written = short.write(tmp_path / "kafka")
    assert contents(unpacked) == contents(written)
    for name in contents(written):
        assert os.stat(unpacked / name).st_mtime_ns == os.stat(written / name).st_mtime_ns, name
    with tarfile.open(fileobj=BytesIO(short.archive())) as packed:
        assert {member.name.partition("/")[0] for member in packed} == {"short"}


def test_an_unclean_end_leaves_what_a_kill_leaves(tmp_path):
    """Untrimmed indexes with holes, no marker, a lock; and the predicted restart is the writer's."""
    plan = plan_workload(open_workload("heartbeat"), {}, None, None)
    run = Run(plan, logs := MemoryLogs())
    for chunk in plan.chunks():
        run.take(chunk)
    simulated = run.end(clean=False)
    broker = kv.open_broker(simulated.write(tmp_path / "kafka"))
    [partition] = broker.partitions
    index = partition.path / f"{simulated.segments[-1].base_offset:020}.index"
    assert index.stat().st_size == plan.config.segment_index_bytes
    assert index.stat().st_blocks * 512 < 65536
    assert not broker.is_clean and (broker.path / names.LOCK).exists()
    recovery_point, restart = partition.recovery_point, kv.check(broker).restart
    assert 0 < recovery_point <= simulated.segments[-1].base_offset
    run.log.restart(run.now_ms, recovery_point=recovery_point)
    rebuilt_sizes = {
        Path(step.file).name: step.size_bytes for step in restart.steps if step.action == "rebuild"
    }
    active = run.log.active
    stem = f"{active.base_offset:020}"
    assert restart.starts
    assert rebuilt_sizes[f"{stem}.index"] == 8 * active.index.count
    assert rebuilt_sizes[f"{stem}.timeindex"] == 12 * active.timeindex.count
    assert f"{run.log.log_end_offset:020}.snapshot" in rebuilt_sizes
    assert run.log.log_end_offset in run.log.snapshots
    after = kv.simulate("heartbeat")
    for segment, closed in zip(run.log.segments, after.segments, strict=True):
        assert segment.index.entries.tolist() == closed.offset_index.tolist()
        log = partition.path / f"{segment.base_offset:020}.log"
        assert logs.content(segment.base_offset) == log.read_bytes()


def test_the_checkpoints_of_a_crash_are_those_that_were_written_last(short):
    """The high watermark every 5 seconds, the recovery point every minute."""
    last_base = short.segments[-1].base_offset
    for silence, high_watermark, recovery_point in (
        ("", 251, 0),
        ('[[phase]]\nsilence = "2min"\n', 300, last_base),
    ):
        simulated = kv.simulate(load(SHORT + silence), clean=False)
        files = {file.name: file.content() for file in simulated.files}
        for name, offset in (
            (names.HIGH_WATERMARK_CHECKPOINT, high_watermark),
            (names.RECOVERY_POINT_CHECKPOINT, recovery_point),
        ):
            assert files[name] == checkpoint.build_offsets({("short", 0): offset})


def test_a_preallocated_log_is_as_long_as_it_may_grow_until_it_is_closed(tmp_path):
    """log.preallocate: a start cuts the zeros at its end off."""
    for clean in (True, False):
        settings = {"preallocate": True, "segment.bytes": 1 << 20}
        simulated = kv.simulate("strimzi", settings, clean=clean)
        folder = simulated.write(tmp_path / str(clean)) / simulated.directory
        first, *_, last = simulated.segments
        size_bytes = (folder / f"{last.base_offset:020}.log").stat().st_size
        assert size_bytes == (last.log_bytes if clean else 1 << 20)
        assert (folder / f"{0:020}.log").stat().st_size == first.log_bytes
    restart = kv.check(kv.open_broker(tmp_path / "False")).restart
    assert any(step.action == "truncate" for step in restart.steps)


@pytest.mark.parametrize(
    ("version", "files"),
    [
        ("4.4.0", {"partition.metadata"}),
        ("4.3.1", {"bootstrap.checkpoint", "partition.metadata"}),
        ("3.6", {"bootstrap.checkpoint", ".lock", "partition.metadata"}),
        ("2.8.2", {".lock", "partition.metadata"}),
        ("1.1", {".lock"}),
    ],
)
def test_a_release_leaves_its_own_traces(version, files, tmp_path):
    broker = kv.open_broker(kv.simulate(load(SHORT), version=version).write(tmp_path / "kafka"))
    written = {path.name for path in broker.path.rglob("*")}
    assert written & {"bootstrap.checkpoint", ".lock", "partition.metadata"} == files
    is_4 = version.startswith("4")
    assert ("directory.id" in broker.properties) == is_4
    assert ("brokerEpoch" in (broker.clean_body or {})) == is_4
    assert broker.is_clean and errors(kv.check(broker, version)) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"segment.bytes": 1000}, "Invalid value 1000 for configuration segment.bytes: Value must"),
        ({"no.such": 1}, "Unknown topic config name: no.such"),
        ({"log.cleaner.threads": 1}, "is not a setting of a topic"),
        (
            {"max.message.bytes": 100},
            "RecordTooLargeException: The record batch size in the append",
        ),
        ({"segment.index.bytes": 7}, "IllegalArgumentException: Invalid max index size: 7"),
    ],
)
def test_what_kafka_refuses_is_refused_in_its_words(settings, words):
    with pytest.raises(kv.KafkavizError) as raised:
        kv.simulate(load(SHORT), settings)
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_a_typed_segment_size_counts_over_that_of_a_preset():
    """The preset's internal.segment.bytes would have priority."""
    workload = load(SHORT.replace('"segment.bytes" = 1048576', '"internal.segment.bytes" = 4000'))
    assert causes(kv.simulate(workload)) == {"size"}
    assert causes(kv.simulate(workload, {"segment.bytes": 1 << 20})) == {"time-index-full"}


def test_nothing_is_written_over_files(short, tmp_path):
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "note").write_text("kept")
    short.write(tmp_path / "kafka")
    for folder in ("kafka", "kafka/below", "kafka/short-0"):
        with pytest.raises(kv.CannotOpen, match="name another folder"):
            short.write(tmp_path / folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "meta.txt").write_text("kept")
    (tmp_path / "other" / "short-0").mkdir()
    with pytest.raises(kv.CannotOpen, match="is there already"):
        short.write(tmp_path / "other")
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == ["meta.txt", "short-0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["import kafkaviz.simulate.writer.roll_reason", "from kafkaviz import simulate"]
)
def test_the_library_has_it_by_the_name_of_its_package(first):
    code = f"import kafkaviz as kv; {first}; print(callable(kv.simulate))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_what_was_written_is_replayed_to_the_byte(short):
    logs = MemoryLogs()
    plan = plan_workload(load(SHORT), {}, None, None)
    run = Run(plan, logs)
    for chunk in plan.chunks():
        run.take(chunk)
    run.log.close(run.now_ms)
    again = UnifiedLog(plan.config, plan.behaviour, now_ms=plan.start_ms, partition="short-0")
    for chunk in chunks(run.log.stored_log(), plan.behaviour, payload=False):
        again.append(chunk.rows)
    again.close(run.now_ms)
    written, replayed = (
        [segment.timeindex.content() for segment in log.segments] for log in (run.log, again)
    )
    assert replayed == written
