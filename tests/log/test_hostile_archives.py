"""A hostile archive cannot take a core forever, the memory or the disk. Each refusal is one line."""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import sys
import tarfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log.archives import archive, members, tar_reader
from tests.log import hostile_archives as hostile
from tests.log.hostile_archives import BROKER, END, LOG, META, file, header, note, pax, sparse

CPU_S = 20  # to start takes one or two
MEMORY_BYTES = 1500 << 20  # of addresses; to start takes 700 MiB
OPEN_EACH = """
import json, sys
from pathlib import Path
from kafkaviz.errors import CannotOpen
from kafkaviz.log.archives import archive
for path in json.load(sys.stdin):
    try:
        print(json.dumps(str(archive.unpack_if_archive(Path(path)))))
    except CannotOpen as fault:
        print(json.dumps(str(fault)))
"""
CHECK = """
import json, sys
from kafkaviz import __main__
from kafkaviz.log.archives import members
path, limits = json.load(sys.stdin)
for name, value in limits.items():
    setattr(members, name, value)
sys.exit(__main__.main(["check", path]))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(script: str, argument: object) -> subprocess.CompletedProcess:
    """Runs a script under limits of processor time and memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(argument),
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env=environment,
    )


def nothing_left(cache: Path) -> bool:
    return not list((cache / "unpacked").iterdir())


def test_no_header_is_believed(tmp_path, cache):
    """Each is refused in one line with the reason, all within the time of one."""
    archives = hostile.tars()
    paths = [str(tmp_path / f"{number}.tar") for number in range(len(archives))]
    for path, (content, _) in zip(paths, archives.values(), strict=True):
        Path(path).write_bytes(content)
    done = run(OPEN_EACH, paths)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(lines) == len(paths), done.stderr[-500:]
    for (name, (_, error_text)), path, line in zip(archives.items(), paths, lines, strict=True):
        assert line.startswith(f"{path}: ") and error_text in line, (name, line)
        assert "\n" not in line, name
    assert nothing_left(cache)


def writing(build: Callable[..., bytes], *arguments: object) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(build(*arguments))


ONE_SECOND = {"BASE_S": 1, "BYTES_PER_S": 1 << 40}
NEGATIVE = BROKER + header("x", -512, b"Z") + END
EXPONENT = hostile.tars()["time b'1e999990' of 8"][0]
BY_COMMAND = {
    "x.tar": (writing(bytes, NEGATIVE), {}, "gives a size of -512 bytes"),
    "time.tar": (writing(bytes, EXPONENT), {}, "a number for its time"),
    "tail.tar.bz2": (
        partial(hostile.write_tail, streams=2000),
        {},
        "16777216 bytes follow its end",
    ),
    "zeros.tar.gz": (partial(hostile.write_zeros, size=40 << 30), ONE_SECOND, "longer than 1 s"),
    "x.zip": (writing(hostile.directory_of, 1_000_000), {}, "central directory takes 46000000"),
}
EMPTY_STREAMS = partial(hostile.write_empty_tail, streams=1_500_000)
OVERLAPPING = writing(hostile.overlapping_zip, 2000, 10_000_000)
IN_PROCESS = {
    "empty-streams.tar.gz": (EMPTY_STREAMS, ONE_SECOND, "takes longer than 1 s"),
    "overlapping.zip": (OVERLAPPING, {}, "overlaps another member"),
    "bzip2.zip": (writing(hostile.bzip2_in_zip), {}, "with method 12; only stored and deflated"),
    "links.tar.gz": (
        partial(hostile.write_links, count=3000),
        {"LIMIT_HEADERS": 2000},
        "holds more than 2000 headers",
    ),
    "files.tar.gz": (
        partial(hostile.write_files, count=200),
        {"LIMIT_FILES": 100},
        "holds more than 100 files and folders",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_COMMAND)
def test_the_command_ends_with_one_line(tmp_path, cache, name):
    """`kafkaviz check` ends with status 2, long before a system limit ends it, and leaves nothing."""
    build, limits, error_text = BY_COMMAND[name]
    path = tmp_path / name
    build(path)
    done = run(CHECK, [str(path), limits])
    assert done.returncode == 2 and done.stdout == "", done.stderr[-500:]
    assert done.stderr.startswith(f"kafkaviz: {path}: ") and done.stderr.count("\n") == 1
    assert error_text in done.stderr
    assert nothing_left(cache)


@pytest.mark.parametrize("name", IN_PROCESS)
def test_what_is_used_up_is_reported(tmp_path, cache, monkeypatch, name):
    build, limits, error_text = IN_PROCESS[name]
    path = tmp_path / name
    build(path)
    for limit, value in limits.items():
        monkeypatch.setattr(members, limit, value)
    with pytest.raises(CannotOpen, match=error_text):
        archive.unpack_if_archive(path)
    assert nothing_left(cache)


@pytest.mark.parametrize(
    ("build", "count"),
    [(hostile.write_links, 10_000), (hostile.write_pax, 300), (hostile.write_globals, 100)],
)
def test_what_was_passed_takes_no_memory(tmp_path, build, count):
    """Links and pax headers, of single files and global, are freed after they are read."""
    path = tmp_path / "b.tar.gz"
    build(path, count)
    tracemalloc.start()
    try:
        archive.unpack_if_archive(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_a_hole_costs_nothing_to_unpack(tmp_path):
    """900 GiB of it, which the reader's limit counts; stored bytes are at their mapped places."""
    path = tmp_path / "b.tar"
    log = sparse(LOG, 900 << 30, ((1 << 30, 512), (899 << 30, 3)), b"x" * 512 + b"end")
    path.write_bytes(file(META, b"node.id=1\n") + log + END)
    log = archive.unpack_if_archive(path) / "orders-0/00000000000000000000.log"
    assert log.stat().st_size == 900 << 30 and log.stat().st_blocks * 512 < 1 << 20
    with open(log, "rb") as read:
        read.seek((1 << 30) - 4)
        assert read.read(8) == bytes(4) + b"xxxx"
        read.seek(899 << 30)
        assert read.read(4) == b"end\0"


def test_holes_count_at_their_length(tmp_path, monkeypatch):
    path = tmp_path / "b.tar"
    log = sparse(LOG, 900 << 30, (), b"")
    path.write_bytes(file(META, b"node.id=1\n") + log + log + END)
    with pytest.raises(CannotOpen, match=f"{hostile.TOO_LARGE}; unpack it yourself"):
        archive.unpack_if_archive(path)


def sparse_files() -> dict[str, bytes]:
    """Returns one file with holes in each of GNU's formats: blocks at 512 and 3072."""
    first_block, other = b"1" * 512, b"2" * 300
    chunks, name = ((512, 512), (3072, 300), (5000, 0)), b"GNU.sparse.name"
    pairs = b"".join(
        note(b"GNU.sparse.offset", b"%d" % at) + note(b"GNU.sparse.numbytes", b"%d" % size)
        for at, size in chunks
    )
    sparse_map = b",".join(b"%d,%d" % chunk for chunk in chunks)
    many = tuple((1024 * number, 1) for number in range(40))
    rows = (
        b"".join(b"%011o\0%011o\0" % chunk for chunk in many[4:25]),
        b"".join(b"%011o\0%011o\0" % chunk for chunk in many[25:]),
    )
    extended = rows[0].ljust(504, b"\0") + b"\1" + bytes(7) + rows[1].ljust(512, b"\0")
    in_front = b"%d\n" % len(chunks) + b"".join(b"%d\n%d\n" % chunk for chunk in chunks)
    long_map = b"300\n" + b"".join(b"%d\n1\n" % (number * 1000) for number in range(300))
    first = note(b"GNU.sparse.major", b"1") + note(b"GNU.sparse.minor", b"0")
    size = note(b"GNU.sparse.size", b"5000")
    begun = sparse(LOG, 40_000, many[:4], b"x" * 40, end=b"\1")
    return {
        "old": sparse(LOG, 5000, chunks, first_block + other),
        "old, extended": begun[:512] + extended + begun[512:],
        "0.0": pax(size + note(b"GNU.sparse.numblocks", b"3") + pairs)
        + file(LOG, first_block + other),
        "0.1": pax(size + note(b"GNU.sparse.map", sparse_map) + note(name, LOG.encode()))
        + file("s/x", first_block + other),
        "1.0": pax(first + note(name, LOG.encode()) + note(b"GNU.sparse.realsize", b"5000"))
        + file("s/x", hostile.padded(in_front) + first_block + other),
        "1.0, a long map": pax(
            first + note(name, LOG.encode()) + note(b"GNU.sparse.realsize", b"300000")
        )
        + file("s/x", hostile.padded(long_map) + b"y" * 300),
    }


def contents(root: Path) -> dict[str, bytes]:
    """Returns the unpacked files by their names in the archive."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {f"b/{path.relative_to(root)}": path.read_bytes() for path in files}


@pytest.mark.parametrize("name", sparse_files())
def test_sparse_files_are_those_of_tarfile(tmp_path, name):
    """Every format of GNU's: the names, lengths and bytes of the standard library."""
    path = tmp_path / "b.tar"
    path.write_bytes(sparse_files()[name] + file(META, b"node.id=1\n") + END)
    root = archive.unpack_if_archive(path)
    with tarfile.open(path) as packed:
        expected = {member.name: packed.extractfile(member).read() for member in packed}
    assert expected == contents(root)
    assert len(expected) == 2 and len(expected[LOG]) >= 5000


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_what_tarfile_writes_is_read(tmp_path, form):
    """Names beyond 100 bytes and beyond ASCII, folders, links, times before 1970."""
    is_old = form == tarfile.USTAR_FORMAT
    names = [META, LOG, f"b/{'a' * 60}-0/{'c' * 60}.log"]
    names += [] if is_old else [f"b/{'d' * 120}/日志.log", f"b/{'e' * 200}/f"]
    path = tmp_path / "b.tar.gz"
    with tarfile.open(path, "w:gz", format=form) as out:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(name.encode()), 0 if is_old else -86_400
            out.addfile(member, io.BytesIO(name.encode()))
            link = tarfile.TarInfo(f"{name}.link")
            link.type, link.linkname = tarfile.SYMTYPE, "x" * (90 if is_old else 300)
            out.addfile(link)
        folder = tarfile.TarInfo("b/empty-0")
        folder.type, folder.mtime = tarfile.DIRTYPE, 1_000_000_000
        out.addfile(folder)
    root = archive.unpack_if_archive(path)
    assert contents(root) == {name: name.encode() for name in names}
    assert (root / "empty-0").stat().st_mtime == 1_000_000_000
    assert (root / "meta.properties").stat().st_mtime <= 0


def test_folders_of_an_incremental_archive(tmp_path):
    """GNU's type D, followed by the names that the folder held; the label of a volume is skipped."""
    path = tmp_path / "b.tar"
    folder = header("b/", 20, b"D") + hostile.padded(b"Ymeta.properties\0\0\0\0")
    path.write_bytes(header("volume", 0, b"V") + folder + BROKER + END)
    assert (archive.unpack_if_archive(path) / "meta.properties").read_bytes() == b"node.id=1\n"


def test_an_extended_sparse_map_is_bounded(tmp_path, monkeypatch):
    """An extended map of blocks that never ends, each a header."""
    path = tmp_path / "b.tar.gz"
    more = bytes(504) + b"\1" + bytes(7)
    begun = BROKER + sparse(LOG, 4096, ((0, 512),), b"", end=b"\1")
    path.write_bytes(gzip.compress(begun + more * 5000, 1))
    monkeypatch.setattr(members, "LIMIT_HEADERS", 1000)
    with pytest.raises(CannotOpen, match="more than 1000 headers"):
        archive.unpack_if_archive(path)
    row = b"%011o\0%011o\0" % (1, 1)
    path.write_bytes(gzip.compress(begun + (row * 21 + b"\1" + bytes(7)) * 60, 1))
    monkeypatch.setattr(tar_reader, "SPARSE_CHUNKS", 1000)
    with pytest.raises(CannotOpen, match="in more than 1000 pieces"):
        archive.unpack_if_archive(path)


def test_folders_of_a_path_count(tmp_path, monkeypatch):
    """A single name can ask for thousands of folders, nested deeper than can be traversed."""
    path = tmp_path / "b.tar"
    files = [file(f"b/{number}/a/b/c/d/e/f/g/x", b"x") for number in range(20)]
    path.write_bytes(BROKER + b"".join(files) + END)
    monkeypatch.setattr(members, "LIMIT_FILES", 100)
    with pytest.raises(CannotOpen, match="more than 100 files and folders"):
        archive.unpack_if_archive(path)
    path.write_bytes(BROKER + pax(note(b"path", b"b/" + b"a/" * 1500 + b"x")) + header("x") + END)
    with pytest.raises(CannotOpen, match="more than 64 nested folders"):
        archive.unpack_if_archive(path)


def test_half_of_the_files_that_a_disk_may_hold_are_spared(tmp_path, cache, monkeypatch):
    """Empty files take no bytes but one inode each; the archive is given up and removed."""
    path = tmp_path / "b.tar.gz"
    hostile.write_files(path, 100)
    monkeypatch.setattr(archive, "_free_files", lambda folder: 100 - len([*folder.rglob("*")]))
    with pytest.raises(CannotOpen, match=r"only 50 more files would fit there.*make room there"):
        archive.unpack_if_archive(path)
    assert nothing_left(cache)


def test_a_zip_that_reaches_beyond_its_end(tmp_path):
    path = tmp_path / "b.zip"
    content = hostile.local(b"b/x", b"", 0, 0, 0)
    path.write_bytes(hostile.zip_of([(b"b/x", 0, bytes(500), 0, 500, 0)], content))
    with pytest.raises(CannotOpen, match="beyond the file"):
        archive.unpack_if_archive(path)


def test_a_long_extra_field_is_read_once(tmp_path):
    """64 KiB of fields of no length, one after the other."""
    path = tmp_path / "b.zip"
    with members.zipfile.ZipFile(path, "w") as out:
        member = members.zipfile.ZipInfo("meta.properties")
        member.extra = b"\1\2\0\0" * 16_000 + b"UT\5\0\1" + (1_790_000_000).to_bytes(4, "little")
        out.writestr(member, b"")
    assert (archive.unpack_if_archive(path) / "meta.properties").stat().st_mtime == 1_790_000_000


def test_who_waits_can_end_it(tmp_path, cache):
    path = tmp_path / "b.tar.gz"
    hostile.write_zeros(path, 1 << 30)
    chunks = []

    class Stopped(BaseException):
        pass

    def watch(bytes_read: int) -> None:
        chunks.append(bytes_read)
        if len(chunks) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        archive.unpack_if_archive(path, watch)
    assert chunks[0] < chunks[1] < 1 << 30 and nothing_left(cache)


def test_what_a_killed_process_was_unpacking_is_swept(tmp_path, cache):
    slow, other = tmp_path / "slow.tar.gz", tmp_path / "other.tar"
    hostile.write_zeros(slow, 40 << 30)
    other.write_bytes(BROKER + END)
    with subprocess.Popen(
        [sys.executable, "-c", OPEN_EACH], stdin=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write(json.dumps([str(slow)]))
        process.stdin.close()
        while not list(cache.glob("unpacked/.unpacking-*/**/orders-0")):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    assert len(list((cache / "unpacked").iterdir())) == 1
    archive.unpack_if_archive(other)
    assert list((cache / "unpacked").iterdir()) == [archive.unpack_target(other)]


def test_an_xz_that_wants_more_memory_than_it_may(tmp_path, monkeypatch):
    """Its header announces a dictionary of up to 4 GiB."""
    path = tmp_path / "b.tar.xz"
    path.write_bytes(lzma.compress(BROKER + END, preset=9))
    assert archive.unpack_if_archive(path)
    monkeypatch.setattr(archive, "XZ_BYTES", 64 << 20)
    os.utime(path, ns=(1, 1))
    with pytest.raises(CannotOpen, match="Memory usage limit exceeded"):
        archive.unpack_if_archive(path)


@pytest.mark.parametrize("compress", [lzma.compress, gzip.compress, bz2.compress])
def test_consecutive_streams_are_one(tmp_path, compress):
    """Parallel packers write them; a truncated one is refused."""
    path, name = tmp_path / "b.tar.gz", "orders-0/00000000000000000000.index"
    content = BROKER + file(f"b/{name}", os.urandom(300_000)) + END
    packed = compress(content[:1000]) + compress(b"") + compress(content[1000:])
    path.write_bytes(packed)
    assert (archive.unpack_if_archive(path) / name).stat().st_size == 300_000
    for broken in (packed[:-5], packed[:-200_000]):
        path.write_bytes(broken)
        with pytest.raises(CannotOpen, match="not an archive that can be read"):
            archive.unpack_if_archive(path)


def test_a_pipe_is_no_archive(tmp_path):
    os.mkfifo(tmp_path / "b.tar")
    with pytest.raises(CannotOpen, match="is not a file"):
        archive.unpack_if_archive(tmp_path / "b.tar")


@pytest.mark.parametrize("place", ["name", "comment", "padding"])
def test_what_gzip_reads_byte_by_byte_is_bounded(tmp_path, monkeypatch, place):
    monkeypatch.setattr(archive, "GZIP_NAME_BYTES", 1000)
    packed = gzip.compress(BROKER + END, 1)
    flags = {"name": b"\x08", "comment": b"\x10", "padding": b"\0"}[place]
    path = tmp_path / "b.tar.gz"

    def write(count: int) -> None:
        text = b"" if place == "padding" else b"a" * count + b"\0"
        zeros = bytes(count) if place == "padding" else b""
        path.write_bytes(packed[:3] + flags + packed[4:10] + text + packed[10:] + zeros)

    write(500_000)
    with pytest.raises(CannotOpen, match="more than 1000 bytes of its"):
        archive.unpack_if_archive(path)
    write(500)
    assert (archive.unpack_if_archive(path) / "meta.properties").read_bytes() == b"node.id=1\n"
