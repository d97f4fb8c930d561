"""A few bytes must not cost gigabytes of memory, minutes, or an endless wait."""

import io
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from tests.cli.hostile_files import NAME, TIME_MS, batch, broker, tiny_batch, wrapper
from tests.support.commands import json_of, refusal_of, text_of

MORE_BYTES, MOST_S = 1_500_000_000, 500  # address space above what this process has, and time
SMALL_FILES = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    ".kafka_cleanshutdown",
    "bootstrap.checkpoint",
)


def sparse(path: Path, size_bytes: int, end: bytes = b"") -> None:
    """Creates a sparse file of that size, which takes a few KB on disk."""
    with path.open("wb") as file:
        file.truncate(size_bytes)
        file.seek(size_bytes - len(end))
        file.write(end)


@contextmanager
def limits() -> Iterator[None]:
    """Limits the memory and the time that this process may take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE_BYTES, hard))
    handler = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it takes too long"))
    signal.alarm(MOST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def dump_into(out: Path, *arguments: str | Path, memory_bytes: int) -> int:
    """Runs a dump in a process that may have this much memory, and returns its status."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    # the libraries map a third of it
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = dict.fromkeys(names, "1") | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-m", "kafkaviz", "dump", *map(str, arguments)]
    with out.open("wb") as file:
        return subprocess.run(
            command,
            stdout=file,
            preexec_fn=limit,
            timeout=500,
            env=os.environ | environment,
            check=False,
        ).returncode


def findings(root: Path, status: int = 1) -> dict[tuple[str, str | None], dict]:
    with limits(), redirect_stderr(io.StringIO()) as err:
        found = json_of("check", root, status=status)["findings"]
    # a check of some seconds says how far it is
    assert [line for line in err.getvalue().splitlines() if not line.startswith("reading ")] == []
    return {(finding["code"], finding["file"]): finding for finding in found}


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
    unreadable = by_file["checkpoint-unreadable", "bootstrap.checkpoint"]
    assert "unable to deserialize record at offset 0" in unreadable["message"]
    assert "hanging-transaction" in {code for code, _ in by_file}


@pytest.mark.slow
@pytest.mark.parametrize("count", [300_000, pytest.param(3_000_000, marks=pytest.mark.nightly)])
def test_a_wrapper_of_many_old_messages(tmp_path, count):
    """All its time index entries are looked up without building its records."""
    entry = struct.pack(">qi", TIME_MS, 1)
    root = broker(tmp_path / "b", wrapper(count), timeindex=entry)
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
    count, memory_bytes = 300_000, 1_100_000_000
    if arguments == ("--print-data-log",):
        count, memory_bytes = 3_000_000, 1_300_000_000
    log, out = tmp_path / f"{NAME}.log", tmp_path / "out"
    log.write_bytes(tiny_batch(count))
    assert dump_into(out, log, "--deep-iteration", *arguments, memory_bytes=memory_bytes) == 0
    with out.open("rb") as lines:
        assert sum(1 for _ in lines) == count + (2 if "--json" in arguments else 3)


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
    sizes = {
        "meta.properties": (1 << 30, 1 << 20),
        "recovery-point-offset-checkpoint": (6 << 30, 1 << 24),
        "bootstrap.checkpoint": (6 << 30, 1 << 20),
        f"t-0/{NAME}.index": (1 << 34, (1 << 31) - 1),
        f"t-0/{NAME}.timeindex": (1 << 31, (1 << 31) - 1),
        f"t-0/{NAME}.txnindex": (9 << 30, 1 << 28),
        f"t-0/{1:020d}.snapshot": (3 << 30, 1 << 26),
        "t-0/partition.metadata": (6 << 30, 1 << 24),
        "t-0/leader-epoch-checkpoint": (6 << 30, 1 << 24),
    }
    assert evidence == {
        name: f"has {size} bytes, and kafkaviz reads at most {limit}"
        for name, (size, limit) in sizes.items()
    }


@pytest.mark.parametrize("make_file", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, make_file):
    """No reader opens them."""
    path = tmp_path / "meta.properties"
    make_file(path)
    with limits():
        for read in (file.read, file.read_text, file.read_data, partial(file.read, length=5)):
            with pytest.raises(CannotOpen, match="is not a regular file"):
                read(path)
        with pytest.raises(CannotOpen, match="is not a regular file"), file.reader(path):
            pass
        with pytest.raises(CannotOpen, match="is a directory"):
            file.read(tmp_path)


def test_pipes_among_a_brokers_files_are_findings(tmp_path):
    """One for each, and the rest of the directory is checked."""
    root = broker(tmp_path / "b")
    (root / "meta.properties").unlink()
    for name in ("meta.properties", *SMALL_FILES):
        os.mkfifo(root / name)
    by_file = findings(root)
    unreadable = {name for code, name in by_file if code == "unreadable-file"}
    assert unreadable == {"meta.properties", *SMALL_FILES}
    next_step = by_file["unreadable-file", "meta.properties"]["next_step"]
    assert next_step == "Move it away: a broker has only regular files"
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
    with limits():
        problems = json_of("compare", root, other, status=1)["problems"]
    assert problems == [
        {"path": str(place), "message": "is not a regular file"} for place in (root / "t-0", path)
    ]


def test_links_that_cannot_be_followed_hide_nothing_but_themselves(tmp_path):
    """Next to the partitions, in place of one, and among a partition's files."""
    root, log = broker(tmp_path / "b"), f"t-0/{1:020d}.log"
    expected = {
        "x.txt": "unknown-file",
        "orders-1": "unknown-file",
        "recovery-point-offset-checkpoint": "unreadable-file",
        log: "unreadable-file",
        "t-0/notes": "unknown-file",
    }
    for name in expected:
        (root / name).symlink_to(root / name)
    by_file = findings(root)
    assert {name: code for code, name in by_file if name in expected} == expected
    found = by_file["unreadable-file", log]["evidence"]["found"]
    assert found == "too many levels of symbolic links"
    assert "offset-gap-explained" not in {code for code, _ in by_file}
    assert ("timeindex-empty", f"t-0/{NAME}.timeindex") in by_file


def test_a_link_to_where_nobody_may_look_is_there(tmp_path, monkeypatch):
    """Reading it reports the error; a link to nothing does not count as a file."""
    (tmp_path / "nothing").symlink_to("not there")
    assert not file.is_there(tmp_path / "nothing")
    monkeypatch.setattr(os, "stat", Mock(side_effect=PermissionError(13, "Permission denied")))
    assert file.is_there(tmp_path / "shut")


@pytest.mark.parametrize(
    ("log", "fault"),
    [
        (
            batch(attributes=0x10, producer_id=5, producer_epoch=0, base_sequence=0)
            + batch(base_offset=1, attributes=0x30, producer_id=5),
            "InvalidRecordException: Invalid value size found for control record key",
        ),
        (
            batch(base_offset=2**63 - 1),
            "t-0: its last offset is 9223372036854775807, and no offset is left after it",
        ),
    ],
)
def test_a_replay_that_kafka_would_end_is_one_line(tmp_path, log, fault):
    replay = ("simulate", "--replay", broker(tmp_path / "b", log) / "t-0")
    with limits():
        assert fault in refusal_of(*replay, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_clock_in_microseconds_is_written_as_java_dates_it(tmp_path):
    """In the year 58692, in the comment of meta.properties."""
    partition = broker(tmp_path / "b", batch(time_ms=TIME_MS * 1000)) / "t-0"
    text_of("simulate", "--replay", partition, "--out", tmp_path / "out")
    comment = (tmp_path / "out" / "meta.properties").read_text().splitlines()[1]
    assert comment == "#Thu Nov 03 14:13:20 UTC 58692"
