"""Archives: unpacked once, with exact times and holes, and never outside their folder."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log.archives import archive, members

SAMPLE = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-damaged.tar.gz"
META, LOG = "meta.properties", "orders-0/00000000000000000000.log"
INDEX = "orders-0/00000000000000000000.index"
SMALL = {LOG: b"x", META: b""}
FOUR = {f"orders-{number}/00000000000000000000.log": b"x" * 100 for number in range(4)}
MTIME_NS = 1_790_000_000_123_456_789


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def packed(path: Path, members: dict[str, bytes], **fields: object) -> Path:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as out:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.pax_headers = {"mtime": f"{MTIME_NS // 10**9}.{MTIME_NS % 10**9:09d}"}
            for field, value in fields.items():
                setattr(member, field, value)
            out.addfile(member, io.BytesIO(content))
    return path


def test_a_directory_is_opened_as_it_is(tmp_path):
    assert archive.unpack_if_archive(tmp_path) == tmp_path


def test_times_are_kept_to_the_nanosecond(tmp_path):
    """Kafka uses the .log's time for a segment whose time index is empty."""
    root = archive.unpack_if_archive(packed(tmp_path / "b.tar", SMALL))
    assert os.stat(root / LOG).st_mtime_ns == MTIME_NS


def test_holes_stay_holes(tmp_path):
    """A preallocated index of 10 MiB takes a few KiB, as on the broker."""
    content = b"\1" * 8 + bytes((10 << 20) - 8)
    root = archive.unpack_if_archive(packed(tmp_path / "b.tar", {INDEX: content, META: b""}))
    index = root / INDEX
    assert index.read_bytes() == content and os.stat(index).st_blocks * 512 <= 64 << 10


def test_the_wrapping_folders_are_passed(tmp_path):
    """backup/kafka/orders-0 opens at backup/kafka, even if it is the only partition."""
    root = archive.unpack_if_archive(packed(tmp_path / "b.tar", {f"backup/kafka/{LOG}": b"x"}))
    assert root.name == "kafka" and (root / "orders-0").is_dir()


def test_a_second_time_nothing_is_unpacked(tmp_path):
    """A changed archive is another one."""
    path = packed(tmp_path / "b.tar", SMALL)
    first = archive.unpack_if_archive(path)
    inode = os.stat(first).st_ino
    assert archive.unpack_if_archive(path) == first and os.stat(first).st_ino == inode
    os.utime(path, ns=(1, 1))
    assert archive.unpack_if_archive(path) != first


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil"])
def test_no_member_leaves_the_folder(tmp_path, name):
    with pytest.raises(CannotOpen, match="would leave the folder"):
        archive.unpack_if_archive(packed(tmp_path / "b.tar", {name: b"x"}))
    assert not list((tmp_path / "cache" / "unpacked").iterdir())


def test_links_and_devices_are_passed_over(tmp_path):
    path = tmp_path / "b.tar"
    with tarfile.open(path, "w") as out:
        links = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "fifo": tarfile.FIFOTYPE}
        for name, kind in (links | {"orders-0": tarfile.DIRTYPE}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            out.addfile(member)
        out.addfile(tarfile.TarInfo("meta.properties"))
    created = {child.name for child in archive.unpack_if_archive(path).iterdir()}
    assert created == {"orders-0", "meta.properties"}


def test_a_zip_keeps_its_times(tmp_path):
    """The UTC time of the extra field if present, else the date."""
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(zipfile.ZipInfo(LOG, (2026, 11, 21, 9, 30, 0)), b"x")
        member = zipfile.ZipInfo("meta.properties")
        member.extra = b"UT\x05\x00\x01" + (1_790_000_000).to_bytes(4, "little")
        out.writestr(member, b"")
    root = archive.unpack_if_archive(path)
    assert os.stat(root / "meta.properties").st_mtime == 1_790_000_000
    assert os.stat(root / LOG).st_mtime == 1_795_253_400


@pytest.mark.parametrize("cut", [0, 1, 100, 5000, 300_000])
def test_a_cut_archive_is_one_clear_line(tmp_path, cut):
    path = tmp_path / "cut.tar.gz"
    path.write_bytes(SAMPLE.read_bytes()[:cut])
    with pytest.raises(CannotOpen) as raised:
        archive.unpack_if_archive(path)
    assert raised.value.kind == "archive" and "\n" not in str(raised.value)
    assert not list((tmp_path / "cache" / "unpacked").iterdir())


def test_a_lying_zip_does_not_grow(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "LIMIT_BYTES", 1000)
    with pytest.raises(CannotOpen, match="more than"):
        archive.unpack_if_archive(packed(tmp_path / "b.tar", {LOG: bytes(2000)}))


def test_an_archive_does_not_fill_the_disk(tmp_path, monkeypatch):
    """It is refused while there is still room for others, and removed; holes take no room."""

    def usage(path: Path) -> SimpleNamespace:
        root = next(folder for folder in (path, *path.parents) if folder.name == "unpacked")
        written = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        return SimpleNamespace(free=(8 << 20) - written)

    monkeypatch.setattr(archive.shutil, "disk_usage", usage)
    noise = os.urandom(6 << 20)
    # half is spared
    with pytest.raises(CannotOpen, match=r"only 4194304 bytes would be left there.*make room"):
        archive.unpack_if_archive(packed(tmp_path / "b.tar", {LOG: noise}))
    assert not list((tmp_path / "cache" / "unpacked").iterdir())
    assert archive.unpack_if_archive(packed(tmp_path / "c.tar", {LOG: noise[: 3 << 20]}))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_says_it_is_huge_takes_no_memory(tmp_path, kind):
    """A .gz of zeros can announce a name of a gigabyte, which tarfile would read."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, 1 << 30
    path = tmp_path / "b.tar.gz"
    with gzip.open(path, "wb") as out:
        out.write(member.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    with pytest.raises(CannotOpen, match="names and notes"):
        archive.unpack_if_archive(path)


def test_another_file_is_no_archive(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"x")
    with pytest.raises(CannotOpen, match="is a file"):
        archive.unpack_if_archive(path)


@pytest.mark.slow
def test_a_flipped_byte_never_opens_as_a_smaller_broker(tmp_path):
    """Half a broker would look healthy, so any wrong bit refuses the whole archive."""
    data = SAMPLE.read_bytes()
    for at in range(20, len(data), len(data) // 15):
        path = tmp_path / f"{at}.tar.gz"
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(CannotOpen):
            archive.unpack_if_archive(path)


@pytest.mark.parametrize("at", [512 * 4 + 100, 512 * 10 + 100])
def test_a_damaged_header_is_not_the_end(tmp_path, at):
    """A plain .tar has no checksum: an unreadable header must be followed by zeros."""
    path = packed(tmp_path / "b.tar", FOUR)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(CannotOpen):
        archive.unpack_if_archive(path)


def test_a_tar_cut_between_two_files_is_noticed(tmp_path):
    """Its last block is whole, but the zeros that end an archive are missing."""
    path = packed(tmp_path / "b.tar", FOUR)
    with tarfile.open(path) as tar:
        second = tar.getmembers()[2]
    path.write_bytes(path.read_bytes()[: second.offset])
    with pytest.raises(CannotOpen, match="damaged or truncated"):
        archive.unpack_if_archive(path)


def test_of_a_file_packed_twice_the_later_one_counts(tmp_path):
    path = tmp_path / "b.tar"
    with tarfile.open(path, "w") as out:
        for content in (b"node.id=1", b"node.id=2"):
            member = tarfile.TarInfo("meta.properties")
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))
    assert (archive.unpack_if_archive(path) / "meta.properties").read_bytes() == b"node.id=2"


def test_an_encrypted_zip_and_a_time_without_end_are_one_line(tmp_path):
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("meta.properties", b"node.id=1")
    secret = bytearray(path.read_bytes())
    for at in (6, secret.index(b"PK\x01\x02") + 8):
        secret[at] |= 1  # the flag that says a member is encrypted
    path.write_bytes(secret)
    with pytest.raises(CannotOpen, match="encrypted"):
        archive.unpack_if_archive(path)
    endless = packed(tmp_path / "b.tar", {META: b""}, pax_headers={"mtime": "inf"})
    with pytest.raises(CannotOpen, match="is not an archive"):
        archive.unpack_if_archive(endless)


def test_a_cache_that_cannot_be_written_is_reported(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "file"))
    with pytest.raises(CannotOpen, match="set KAFKAVIZ_CACHE"):
        archive.unpack_if_archive(packed(tmp_path / "b.tar", {"meta.properties": b""}))


@pytest.mark.parametrize("path", ["~nobody-of-this-name/kafka", "kafka\0"])
def test_what_is_no_path_is_one_line(path):
    with pytest.raises(CannotOpen):
        archive.unpack_if_archive(Path(path))


def test_a_member_without_a_name_is_one_line(tmp_path):
    """A name of no bytes, before a byte that belongs to nothing."""
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(zipfile.ZipInfo("x"), b"content")
    data = bytearray(path.read_bytes())
    for lengths in (26, data.index(b"PK\x01\x02") + 28):
        data[lengths : lengths + 4] = b"\0\0\1\0"  # of the name, of the extra field
    path.write_bytes(data)
    with pytest.raises(CannotOpen, match="is not an archive"):
        archive.unpack_if_archive(path)


def test_a_path_in_an_archive_is_opened_by_its_name(tmp_path):
    """The archive's own path and the path in it; nothing outside it is found."""
    path = packed(tmp_path / "b.tar", {f"b/{name}": content for name, content in FOUR.items()})
    inner, root = path / "orders-0", archive.unpack_if_archive(path)
    assert archive.unpack_if_archive(inner) == root / "orders-0" == archive.locate(inner)
    assert archive.enclosing_archive(inner) == path
    assert archive.enclosing_archive(path) is None
    for inner in ("orders-4", "..", "../b.tar", "orders-0/../../../x"):
        with pytest.raises(CannotOpen, match="is not there"):
            archive.unpack_if_archive(path / inner)


@pytest.mark.parametrize(
    ("name", "error_text"),
    [
        ("b/orders-0", "holds b/orders-0 both as a file and as a folder"),
        ("b/orders-0/meta/x", "holds b/orders-0/meta/x both as a file and as a folder"),
        ("b/" + "a" * 300, f"holds b/{'a' * 38}…{'a' * 40}, a name that is too long"),
        ("", "holds . both as a file and as a folder"),
    ],
)
def test_a_path_that_cannot_be_written_is_the_archives_fault(tmp_path, name, error_text):
    """Room in the cache would not help."""
    path = packed(tmp_path / "b.tar", {"b/orders-0/meta": b"", name: b"x"})
    with pytest.raises(CannotOpen) as raised:
        archive.unpack_if_archive(path)
    assert str(raised.value) == f"{path}: {error_text}; pack the directory again, with tar or zip"
    assert not list((tmp_path / "cache" / "unpacked").iterdir())


def test_a_path_in_an_archive_is_named_by_it(tmp_path):
    path = tmp_path / "kafka.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("kafka/orders-0/00000000000000000000.log", b"")
    root = archive.unpack_if_archive(path)
    assert archive.display_path(root) == archive.display_path(archive.unpack_target(path)) == path
    assert archive.display_path(root / "orders-0") == path / "orders-0"
    assert archive.display_path(tmp_path / "other") == tmp_path / "other"
