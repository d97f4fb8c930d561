"""kafkaviz rebuild, compared with indexes of clean stops and of a start after a kill."""

import hashlib
import os
import shutil
import tarfile
from collections import ChainMap
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.format import offset_index
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.support.commands import json_of, refusal_of, text_of

BASE = "00000000000000000000"
METADATA = "__cluster_metadata-0"
INDEXES = (".index", ".timeindex", ".txnindex")


def rebuild_json(path: Path, out: Path, *options: str) -> dict:
    report = json_of("rebuild", path, "--out", out, *options)
    assert dict(ChainMap(*(segment["files"] for segment in report["segments"]))) == digests(out)
    return report


def digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.suffix in INDEXES
    }


def partitions(broker: Path) -> list[Path]:
    return [
        path
        for path in sorted(broker.iterdir())
        if any(path.glob("*.log")) and not path.name.endswith("-delete")
    ]


@pytest.fixture
def segment(data, tmp_path) -> Path:
    """Returns a copy of a small real partition directory: batches at 0, 109, 370 and so on."""
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "kafka" / "nulls-0")
    return tmp_path / "kafka" / "nulls-0"


@pytest.mark.slow
def test_the_indexes_of_a_clean_stop_are_built_to_the_byte(clean, tmp_path):
    """For every segment of every partition, the per-batch rule gives the bytes of a 4.3.1 broker."""
    count = 0
    for path in partitions(clean):
        rebuild_json(path, tmp_path / path.name)
        own = {
            name: digest
            for name, digest in digests(path).items()
            if (path / name).with_suffix(".log").exists()
        }
        assert digests(tmp_path / path.name) == own, path.name
        count += len(own)
    assert count > 180


def test_a_killed_directory_gets_the_indexes_of_the_start_that_followed(shared, tmp_path):
    """kafka-4.3.1-killed-restarted has them: the start recovered, and a clean stop closed them."""
    killed, after = (
        unpack_if_archive(shared / "data" / f"kafka-4.3.1-{name}.tar.gz")
        for name in ("killed", "killed-restarted")
    )
    compared, cut = 0, []
    for path in partitions(killed):
        report = rebuild_json(path, tmp_path / path.name)
        cut += [(path.name, event["segment"], event["bytes"]) for event in report["events"]]
        if path.name != METADATA:  # written to after that start
            own = digests(after / path.name)
            assert digests(tmp_path / path.name).items() >= own.items(), path.name
            assert {
                segment["base_offset"]: segment["log_bytes"] for segment in report["segments"]
            } == {int(log.stem): log.stat().st_size for log in (after / path.name).glob("*.log")}
            compared += len(own)
    assert compared > 80
    assert cut == [("append-time-0", 0, 45), ("clicks-zstd-0", 0, 464), ("weblogs-0", 12138, 512)]


@pytest.mark.slow
def test_a_killed_directory_of_4_4_gets_the_indexes_of_the_start_that_followed(shared, tmp_path):
    """The lost trims appear here too: that start left four indexes of closed segments preallocated."""
    killed, after = (
        unpack_if_archive(shared / "data" / f"kafka-4.4.0-{name}.tar.gz")
        for name in ("killed", "killed-restarted")
    )
    lost = {
        ("tickets-any-0", f"{0:020d}.index"),
        ("tickets-any-0", f"{590:020d}.timeindex"),
        ("parcels-0", f"{1026:020d}.index"),
        ("parcels-0", f"{1026:020d}.timeindex"),
    }
    different, compared, cut = set(), 0, []
    for path in partitions(killed):
        report = rebuild_json(path, tmp_path / path.name, "--set", "log.index.size.max.bytes=65536")
        cut += [(path.name, event["bytes"]) for event in report["events"]]
        if path.name != METADATA:
            own = digests(after / path.name)
            wrong = own.items() - digests(tmp_path / path.name).items()
            different |= {(path.name, name) for name, _ in wrong}
            compared += len(own)
    assert compared > 80 and different == lost
    assert [name for name, _ in cut] == ["arrived-at-0", "proxy-logs-0", "tickets-zstd-0"]


def test_what_no_start_gets_through_is_kafkas_exception(shared, tmp_path):
    """In the words of the broker that did not start; nothing is written."""
    broker = unpack_if_archive(shared / "data" / "kafka-4.3.1-unstartable.tar.gz")
    error = refusal_of("rebuild", broker / "meter-readings-0", "--out", tmp_path / "new" / "out")
    assert "IllegalArgumentException: Attempt to append to a full time index (size = 84)." in error
    assert "the broker does not start if it recovers the segment" in error
    assert "segment.index.bytes" in error
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_is_full_leaves_no_file(clean, tmp_path):
    (tmp_path / "note").write_text("kept")
    small = "--set=log.index.size.max.bytes=120"
    error = refusal_of("rebuild", clean / "heartbeat-0", "--out", tmp_path, small)
    assert "Attempt to append to a full time index (size = 9)." in error
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


@pytest.mark.parametrize(
    ("position", "offset", "exception", "then"),
    [
        (370, 0, "InvalidOffsetException: Attempt to append an", "the broker empties this segment"),
        (0, 2**40, "LogSegmentOffsetOverflowException: Detected offset", "and its start fails"),
    ],
)
def test_what_the_loader_does_next_is_reported(
    segment, tmp_path, position, offset, exception, then
):
    """No checksum covers a wrong base offset."""
    log = segment / f"{BASE}.log"
    data = bytearray(log.read_bytes())
    data[position : position + 8] = offset.to_bytes(8, "big")
    log.write_bytes(data)
    every = "--set=index.interval.bytes=0"
    error = refusal_of("rebuild", log, "--out", tmp_path / "out", every)
    assert exception in error and then in error
    assert not (tmp_path / "out").exists()


def test_a_torn_tail_is_named_and_cut_in_the_result(segment, tmp_path):
    log = segment / f"{BASE}.log"
    log.write_bytes(log.read_bytes()[:-10])
    before = log.stat().st_size
    report = rebuild_json(segment, tmp_path / "out")
    [event], [rebuilt_segment] = report["events"], report["segments"]
    names = "base_offset log_bytes offset_entries time_entries roll_reason files"
    assert " ".join(rebuilt_segment) == names
    assert (event["event"], event["segment"], event["file"]) == ("truncate", 0, f"{BASE}.log")
    assert event["from_position"] == rebuilt_segment["log_bytes"]
    assert event["from_position"] + event["bytes"] == before == log.stat().st_size
    assert (
        f"recovery cuts off {event['bytes']} bytes, from byte {event['from_position']} on"
        in text_of("rebuild", segment, "--out", tmp_path / "out")
    )


def test_a_log_by_itself_gets_what_it_gets_in_its_directory(clean, tmp_path):
    """Open transactions come from a producer snapshot, or from the logs before it."""
    rebuild_json(clean / "payments-0", tmp_path / "all")
    for log in (clean / "payments-0").glob("*.log"):
        report = rebuild_json(log, tmp_path / log.stem)
        assert digests(tmp_path / log.stem).items() <= digests(tmp_path / "all").items()
        assert len(report["segments"]) == 1
    copy, no_others = tmp_path / "payments-0", shutil.ignore_patterns("*.snapshot", "*index")
    shutil.copytree(clean / "payments-0", copy, ignore=no_others)
    rebuild_json(copy / f"{7975:020}.log", tmp_path / "bare")
    assert digests(tmp_path / "bare").items() <= digests(tmp_path / "all").items()
    assert len(digests(tmp_path / "bare")) == 3


def test_empty_indexes_are_written_too(segment, tmp_path):
    """For an empty .log, and for one with a needless .txnindex."""
    (segment / f"{BASE}.log").write_bytes(b"")
    (segment / f"{BASE}.txnindex").write_bytes(b"x")
    rebuild_json(segment, tmp_path / "out")
    assert {path.name: path.stat().st_size for path in (tmp_path / "out").iterdir()} == {
        f"{BASE}{suffix}": 0 for suffix in INDEXES
    }


def test_settings_and_the_release_decide(segment, tmp_path):
    """Before 2.0 a key is the first offset of its batch."""
    counts = [
        rebuild_json(segment, tmp_path / "a", "--set", f"{name}=0")["segments"][0]["offset_entries"]
        for name in ("index.interval.bytes", "log.index.interval.bytes")
    ]
    entries = offset_index.parse((tmp_path / "a" / f"{BASE}.index").read_bytes())
    assert counts[0] == counts[1] == len(entries) > 10
    rebuild_json(
        segment, tmp_path / "b", "--set", "index.interval.bytes=0", "--kafka-version", "1.1"
    )
    older = offset_index.parse((tmp_path / "b" / f"{BASE}.index").read_bytes())
    log = (segment / f"{BASE}.log").read_bytes()
    first_offsets = [int.from_bytes(log[at : at + 8]) for at in older["position"].tolist()]
    assert older["relative_offset"].tolist() == first_offsets != entries["relative_offset"].tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "index.interval.bytes=-1"], "Value must be at least 0"),
        (["--set", "segment.index.bytes=3"], "Value must be at least 4"),
        (["--set", "no.such=1"], "Unknown topic config name: no.such"),
        (["--set", "segment.bytes=9999999"], "only on index.interval.bytes and segment.index"),
        (["--kafka-version", "5.0"], "not a known release"),
    ],
)
def test_what_kafka_refuses_is_refused(segment, tmp_path, options, words):
    assert words in refusal_of("rebuild", segment, "--out", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


OWN = ["meta.properties", ".kafka_cleanshutdown", "recovery-point-offset-checkpoint", None]


@pytest.mark.parametrize(
    "where",
    ["nulls-0", "nulls-0/below/it", ".", "new-0", "sub/below", "orders-1", "link", "link/below"],
)
@pytest.mark.parametrize("own", OWN)
def test_nothing_is_written_in_place(segment, tmp_path, own, where):
    """Neither in the folder, nor below it, in its broker directory, in another partition, or
    through a link.

    `own`: the broker's single file left next to the partitions; without it the partitions alone
    identify a broker.
    """
    broker = segment.parent
    if own:
        (broker / own).write_text("version=1\n")
    (broker / "orders-1").mkdir()
    (tmp_path / "link").symlink_to(segment)
    out = tmp_path / where if where.startswith("link") else broker / where
    before = sorted((path, path.stat().st_mtime_ns) for path in broker.rglob("*"))
    assert "name another folder" in refusal_of(
        "rebuild", segment, "--out", out, "--kafka-version", "4.3"
    )
    assert sorted((path, path.stat().st_mtime_ns) for path in broker.rglob("*")) == before


@pytest.mark.parametrize("beside", [[], ["orders-1", "notes"]])
def test_a_copied_partition_makes_no_broker_directory(segment, beside):
    """The output may be next to it, by itself or under another name."""
    for name in beside:
        (segment.parent / name).mkdir()
    out = segment.parent / "rebuilt"
    rebuild_json(segment, out)
    assert {path.suffix for path in out.iterdir()} >= {".index", ".timeindex"}


def test_a_copied_partition_takes_no_folder(segment, tmp_path):
    copy = shutil.copytree(segment, tmp_path / "copy")
    error = refusal_of("rebuild", segment, "--out", copy / "in")
    assert f"is in {copy} together with {BASE}.log, and kafkaviz writes nothing next to" in error
    assert not (copy / "in").exists()


def test_nothing_is_written_next_to_a_lone_log(segment, tmp_path):
    for out in (segment, segment / "out"):
        assert main(["rebuild", str(segment / f"{BASE}.log"), "--out", str(out)]) == 2
    shutil.copytree(segment, tmp_path / "elsewhere")
    assert "is a Kafka directory" in refusal_of("rebuild", segment, "--out", tmp_path / "elsewhere")


def test_a_file_that_was_linked_is_not_written_through(segment, tmp_path):
    """An OUT with a link to the index in use is refused, unless the bytes are the same."""
    own, out = segment / f"{BASE}.index", tmp_path / "out"
    out.mkdir()
    (out / own.name).symlink_to(own)
    own.write_bytes(b"12345678")
    assert main(["rebuild", str(segment), "--out", str(out)]) == 2
    assert own.read_bytes() == b"12345678" and (out / own.name).is_symlink()
    assert main(["rebuild", str(segment), "--out", str(tmp_path / "new")]) == 0
    built = (tmp_path / "new" / own.name).read_bytes()
    own.write_bytes(built)
    assert main(["rebuild", str(segment), "--out", str(out)]) == 0
    assert own.read_bytes() == built and not (out / own.name).is_symlink()


@pytest.mark.parametrize(
    "name",
    [f"{BASE}.index", f"{7:020}.timeindex", f"{BASE}.log.deleted", "leader-epoch-checkpoint"],
)
def test_files_of_kafka_in_out_are_not_lost(segment, tmp_path, name):
    """A partition directory without its .log, or a copy of indexes, stays unchanged."""
    out = tmp_path / "out"
    rebuild_json(segment, out)
    rebuild_json(segment, out)
    (out / name).write_bytes(b"12345678")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    words = f"{name}: is a Kafka file, but not the one that would be written"
    assert words in refusal_of("rebuild", segment, "--out", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("is_directory", [True, False])
def test_a_log_that_no_start_opens_is_refused(segment, tmp_path, is_directory):
    """With the words of FileRecords (3.9.0, 4.3.1) for 2147483648 bytes."""
    log = segment / f"{BASE}.log"
    os.truncate(log, 2**31)
    error = refusal_of("rebuild", segment if is_directory else log, "--out", tmp_path / "out")
    what = f"The size of segment nulls-0/{BASE}.log (2147483648) is larger than the maximum"
    assert f"org.apache.kafka.common.KafkaException: {what}" in error
    assert "Restore the segment from another replica" in error
    assert not list(tmp_path.glob("out/*.index"))
    os.truncate(log, 2**31 - 1)
    assert main(["rebuild", str(log), "--out", str(tmp_path / "out")]) == 0


def test_a_folder_without_a_name_is_refused(segment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "the name of the folder is empty" in refusal_of("rebuild", segment, "--out", "")
    assert not list(tmp_path.glob("*index"))


def test_an_archive_does_as_well(segment, tmp_path):
    packed = tmp_path / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(segment, "nulls-0")
    assert rebuild_json(packed, tmp_path / "a") == rebuild_json(segment, tmp_path / "b")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere-0", "is not there"),
        ("nulls-0/00000000000000000000.index", "is not the .log of a segment in use"),
        ("empty-0", "holds no .log"),
    ],
)
def test_a_path_that_holds_no_log_is_one_line(segment, tmp_path, path, words):
    (segment.parent / "empty-0").mkdir()
    assert words in refusal_of("rebuild", segment.parent / path, "--out", tmp_path / "out")


@pytest.mark.parametrize("line", ["PATH", "PATH --out OUT --set index.interval.bytes"])
def test_wrong_usage_is_2(line):
    assert refusal_of("rebuild", *line.split()).endswith("; see kafkaviz rebuild --help\n")
