"""A few bytes must not cost gigabytes of memory, minutes, or an endless wait."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from tests.cli import hostile_files
from tests.cli.hostile_files import NAME, batch, broker, findings, run, sparse, tiny_batch, wrapper

SMALL_FILES = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    ".kafka_cleanshutdown",
    "bootstrap.checkpoint",
)


@pytest.mark.nightly
def test_millions_of_records_in_one_batch_are_no_objects(tmp_path):
    """In bootstrap.checkpoint, the metadata log, its snapshot and a control batch."""
    begins = batch(attributes=0x10, producer_id=5, producer_epoch=0, base_sequence=0)
    root = broker(
        tmp_path / "b",
        begins + tiny_batch(base_offset=1, attributes=0x34, producer_id=5, producer_epoch=0),
    )
    (root / "bootstrap.checkpoint").write_bytes(tiny_batch())
    metadata = root / "__cluster_metadata-0"
    metadata.mkdir()
    (metadata / f"{NAME}.log").write_bytes(tiny_batch())
    (metadata / f"{0:020d}-{0:010d}.checkpoint").write_bytes(tiny_batch())
    by_file = findings(root)
    assert (
        "unable to deserialize record at offset 0"
        in by_file["checkpoint-unreadable", "bootstrap.checkpoint"]["message"]
    )
    assert "hanging-transaction" in {code for code, _ in by_file}


@pytest.mark.slow
def test_a_wrapper_of_millions_of_old_messages(tmp_path):
    """All its time index entries are looked up without building its records."""
    entry = hostile_files.struct.pack(">qi", hostile_files.TIME_MS, 1)
    root = broker(tmp_path / "b", wrapper(3_000_000), timeindex=entry)
    assert ("unclean-shutdown", ".kafka_cleanshutdown") in findings(root)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--print-data-log",), marks=pytest.mark.nightly),
        ("--json", "--print-data-log"),
        pytest.param(("--skip-record-metadata",), marks=pytest.mark.nightly),
    ],
)
def test_a_dump_prints_the_records_of_a_batch_while_it_reads_them(tmp_path, arguments):
    count = 3_000_000 if arguments == ("--print-data-log",) else 300_000
    (tmp_path / f"{NAME}.log").write_bytes(tiny_batch(count))
    with (tmp_path / "out").open("wb") as out:
        memory_bytes = 1_100_000_000 if count < 1_000_000 else 1_300_000_000
        done = run(
            "dump",
            tmp_path / f"{NAME}.log",
            "--deep-iteration",
            *arguments,
            memory_bytes=memory_bytes,
            out=out.fileno(),
        )
    assert done.returncode == 0
    lines = subprocess.run(
        ["wc", "-l", tmp_path / "out"], capture_output=True, check=True
    ).stdout.split()[0]
    assert int(lines) == count + (2 if "--json" in arguments else 3)


def test_large_files_that_take_no_room_on_disk(tmp_path):
    """Each is a finding with its size, and none is read."""
    root = broker(tmp_path / "b")
    sparse(root / "t-0" / f"{NAME}.index", 1 << 34, b"\0\0\0\1\0\0\0\1")
    sparse(root / "t-0" / f"{NAME}.timeindex", 1 << 31, b"\1" * 12)
    sparse(root / "t-0" / f"{NAME}.txnindex", 9 << 30)
    sparse(root / "t-0" / f"{1:020d}.snapshot", 3 << 30)
    for name in (
        "t-0/partition.metadata",
        "t-0/leader-epoch-checkpoint",
        "recovery-point-offset-checkpoint",
        "bootstrap.checkpoint",
    ):
        sparse(root / name, 6 << 30)
    sparse(root / "meta.properties", 1 << 30)
    evidence = {
        name: finding["evidence"]["found"]
        for (code, name), finding in findings(root).items()
        if code == "unreadable-file"
    }
    assert evidence == {
        "meta.properties": "holds 1073741824 bytes, more than the 1048576 that are read",
        "recovery-point-offset-checkpoint": "holds 6442450944 bytes, more than the 16777216 that are read",
        "bootstrap.checkpoint": "holds 6442450944 bytes, more than the 1048576 that are read",
        f"t-0/{NAME}.index": "holds 17179869184 bytes, more than the 2147483647 that are read",
        f"t-0/{NAME}.timeindex": "holds 2147483648 bytes, more than the 2147483647 that are read",
        f"t-0/{NAME}.txnindex": "holds 9663676416 bytes, more than the 268435456 that are read",
        f"t-0/{1:020d}.snapshot": "holds 3221225472 bytes, more than the 67108864 that are read",
        "t-0/partition.metadata": "holds 6442450944 bytes, more than the 16777216 that are read",
        "t-0/leader-epoch-checkpoint": "holds 6442450944 bytes, more than the 16777216 that are read",
    }


@pytest.mark.parametrize("make_file", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, make_file):
    """No reader opens them."""
    path = tmp_path / "meta.properties"
    make_file(path)
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it was waited for"))
    signal.alarm(30)
    try:
        for read in (
            file.read,
            file.read_text,
            file.read_data,
            lambda path: file.read(path, 0, 5),
        ):
            with pytest.raises(CannotOpen, match="is not a regular file"):
                read(path)
        with pytest.raises(CannotOpen, match="is not a regular file"), file.reader(path):
            pass
        with pytest.raises(CannotOpen, match="is a directory"):
            file.read(Path(tmp_path))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_pipes_among_a_brokers_files_are_findings(tmp_path):
    """One for each, and the rest of the directory is checked."""
    root = broker(tmp_path / "b")
    (root / "meta.properties").unlink()
    for name in ("meta.properties", *SMALL_FILES):
        os.mkfifo(root / name)
    by_file = findings(root)
    assert {name for code, name in by_file if code == "unreadable-file"} == {
        "meta.properties",
        *SMALL_FILES,
    }
    assert (
        by_file["unreadable-file", "meta.properties"]["next_step"]
        == "Move it away: a broker has only regular files"
    )
    assert ("timeindex-empty", f"t-0/{NAME}.timeindex") in by_file


@pytest.mark.parametrize(
    ("suffix", "make_file"),
    [
        ("log", os.mkfifo),
        ("index", lambda path: os.symlink("/dev/zero", path)),
        pytest.param("txnindex", os.mkfifo, marks=pytest.mark.nightly),
    ],
    ids=["pipe-log", "device-index", "pipe-txnindex"],
)
def test_a_pipe_or_device_in_a_segment_is_not_taken_for_absent(tmp_path, suffix, make_file):
    """Neither orphans nor a missing file are reported, and the rest is not compared."""
    root, other = broker(tmp_path / "a"), broker(tmp_path / "b")
    path = root / "t-0" / f"{NAME}.{suffix}"
    path.unlink(missing_ok=True)
    make_file(path)
    by_file = findings(root)
    assert {code for code, name in by_file if name == f"t-0/{path.name}"} == {"unreadable-file"}
    assert not {code for code, _ in by_file} & {"orphan-index", "index-missing"}
    later_ns = path.lstat().st_mtime_ns + 10**10  # of two moments this directory is the later one
    for later in filter(Path.is_file, other.rglob("*")):
        os.utime(later, ns=(later_ns, later_ns))
    done = run("compare", root, other, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"] == [
        {"path": str(place), "message": "is not a regular file"} for place in (root / "t-0", path)
    ]


def test_links_that_cannot_be_followed_hide_nothing_but_themselves(tmp_path):
    """Next to the partitions, in place of one, and among a partition's files."""
    root = broker(tmp_path / "b")
    names = (
        "x.txt",
        "orders-1",
        "recovery-point-offset-checkpoint",
        f"t-0/{1:020d}.log",
        "t-0/notes",
    )
    for name in names:
        (root / name).symlink_to(root / name)
    by_file = findings(root)
    assert {name: code for code, name in by_file if name in names} == {
        "x.txt": "unknown-file",
        "orders-1": "unknown-file",
        "recovery-point-offset-checkpoint": "unreadable-file",
        f"t-0/{1:020d}.log": "unreadable-file",
        "t-0/notes": "unknown-file",
    }
    assert (
        by_file["unreadable-file", f"t-0/{1:020d}.log"]["evidence"]["found"]
        == "too many levels of symbolic links"
    )
    assert (
        "offset-gap-explained" in {code for code, _ in by_file},
        ("timeindex-empty", f"t-0/{NAME}.timeindex") in by_file,
    ) == (False, True)


def test_a_link_to_where_nobody_may_look_is_there(tmp_path, monkeypatch):
    """Reading it reports the error; a link to nothing does not count as a file."""
    (tmp_path / "nothing").symlink_to("not there")
    assert not file.is_there(tmp_path / "nothing")
    monkeypatch.setattr(
        os, "stat", lambda path: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
    )
    assert file.is_there(tmp_path / "shut")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "fault"),
    [
        (
            batch(attributes=0x10, producer_id=5, producer_epoch=0, base_sequence=0)
            + batch(base_offset=1, attributes=0x30, producer_id=5),
            (
                "t-0, append 1: org.apache.kafka.common.InvalidRecordException: Invalid value size "
                "found for control record key"
            ),
        ),
        (
            batch(base_offset=2**63 - 1),
            "t-0: its last offset is 9223372036854775807, and no offset is left after it",
        ),
    ],
)
def test_a_replay_that_kafka_would_end_is_one_line(tmp_path, log, fault):
    done = run(
        "simulate", "--replay", broker(tmp_path / "b", log) / "t-0", "--out", tmp_path / "out"
    )
    assert (
        done.returncode,
        fault in done.stderr.decode(),
        "Traceback" in done.stderr.decode(),
    ) == (
        2,
        True,
        False,
    )
    assert not (tmp_path / "out").exists()


def test_a_clock_in_microseconds_is_written_as_java_dates_it(tmp_path):
    """In the year 58692, in the comment of meta.properties."""
    log = batch(time_ms=hostile_files.TIME_MS * 1000)
    done = run(
        "simulate", "--replay", broker(tmp_path / "b", log) / "t-0", "--out", tmp_path / "out"
    )
    assert (
        done.returncode,
        (tmp_path / "out" / "meta.properties").read_text().splitlines()[1],
    ) == (0, "#Thu Nov 03 14:13:20 UTC 58692")
