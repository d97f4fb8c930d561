"""Every byte of every file of a broker directory has one span, whichever way it is reached."""

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary.layouts import find_overlapping
from kafkaviz.format.walk import Walk
from kafkaviz.log import byte_ranges, file
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.byte_ranges import read, read_decompressed
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import message
from tests.conftest import DATA
from tests.support.recorded_archives import RECORDED_ARCHIVES
from tests.support.spans import check

TINY = DATA / "kafka-4.3.1" / "tiny-index-0" / "00000000000000000049"
LARGE_BYTES = 256 << 10  # of a larger file, stretches alone are held to each other


def files(root: Path) -> list[FileInfo]:
    return [file.info(path) for path in sorted(root.rglob("*")) if path.is_file()]


def tiled(file_info: FileInfo) -> set[str]:
    """Checks a file, a large one in parts; returns the names of spans that name no field."""
    stretches = list(random_stretches(file_info))
    names = {span.name for stretch in stretches for span in stretch.spans}
    for stretch in stretches:
        length = stretch.stop - stretch.start
        assert stretch.data == file.read(file_info.path, stretch.start, length)
        if stretch.start == stretch.stop:
            continue
        check(stretch.spans, stretch.spans[0].start, stretch.spans[-1].end)
        assert stretch.spans[0].start <= stretch.start < stretch.spans[0].end
        assert stretch.spans[-1].start < stretch.stop <= stretch.spans[-1].end
    if file_info.size_bytes <= LARGE_BYTES:
        ranges = read(file_info)
        check(ranges.spans, 0, file_info.size_bytes)
        for stretch in stretches:
            part = find_overlapping(ranges.spans, stretch.start, stretch.stop)
            assert stretch.spans == part, (file_info.path, stretch.start)
        names |= {span.name for span in ranges.spans}
    return names


def random_stretches(file_info: FileInfo):
    """Yields the first bytes, the last ones, and some in between."""
    draw = random.Random(file_info.name)
    starts = [0, max(0, file_info.size_bytes - 100)]
    starts += [draw.randrange(file_info.size_bytes) for _ in range(2) if file_info.size_bytes]
    return (read(file_info, start, start + draw.choice((1, 16, 700))) for start in starts)


@pytest.mark.parametrize("file", files(DATA), ids=lambda file: f"{file.directory.name}/{file.name}")
def test_files_kept_with_the_tests(file):
    """A file that is not Kafka's is one span."""
    names = tiled(file)
    if file.name.endswith((".dump", ".gz", ".json", ".py", ".md")):
        assert names == {message("span.unknown_file")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "met"),
    [
        ("some_partitions", {"baseOffset", message("span.entry", n=0), "topic_id"}),
        ("killed", {message("span.unwritten_slots"), message("span.cut_records")}),
        ("damaged", {message("span.torn_slot")}),
    ],
)
def test_every_file_of_the_samples(sample, met, request):
    """None is unknown, and each kind of tail occurs."""
    names = set().union(*map(tiled, files(request.getfixturevalue(sample))))
    assert message("span.unknown_file") not in names and names >= met


@pytest.mark.nightly
@pytest.mark.parametrize("archive", RECORDED_ARCHIVES)
def test_every_file_of_every_directory(archive, shared):
    """Eight brokers, 1.1.1 to 4.3.1, clean, killed and damaged."""
    file_infos = files(unpack_if_archive(shared / "data" / f"{archive}.tar.gz"))
    assert len(file_infos) > 50
    assert message("span.unknown_file") not in set().union(*map(tiled, file_infos))


CHANGES = st.lists(
    st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(CHANGES, st.binary(max_size=40), st.data())
def test_any_damage_is_tiled_and_described_the_same_from_everywhere(
    tmp_path_factory, changes, behind, data
):
    """After any damage a stretch has the spans that a reader from the start gives."""
    log = bytearray(TINY.with_suffix(".log").read_bytes())
    for at, new in changes:
        at %= len(log)
        log[at : at + len(new)] = new
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / TINY.with_suffix(".log").name
    path.write_bytes(bytes(log) + behind)
    if data.draw(st.booleans()):
        shutil.copy(TINY.with_suffix(".index"), folder)
    file_info = file.info(path)
    all_spans = read(file_info).spans
    check(all_spans, 0, file_info.size_bytes)
    start = data.draw(st.integers(0, file_info.size_bytes - 1))
    part = find_overlapping(all_spans, start, start + 40)
    assert read(file_info, start, start + 40).spans == part


def test_damage_hides_nothing_after_it(tmp_path):
    """After a broken length the log continues at the next index entry, as for a broker."""
    for kind in ("log", "index"):
        shutil.copy(TINY.with_suffix(f".{kind}"), tmp_path)
    path = tmp_path / TINY.with_suffix(".log").name
    log = bytearray(path.read_bytes())
    entries = byte_ranges.offset_index.parse(TINY.with_suffix(".index").read_bytes())
    second, third = entries["position"][:2].tolist()
    for length, key in ((-1, "span.no_batch"), (0x130, "span.cut_records")):
        log[second + 8 : second + 12] = length.to_bytes(4, "big", signed=True)
        path.write_bytes(log)
        spans = read(file.info(path), second, third + 1).spans
        assert message(key) in [span.name for span in spans]
        assert (spans[-1].start, spans[-1].name) == (third, "baseOffset")


def test_a_stretch_far_into_a_large_log_is_reached_by_the_index(tmp_path, monkeypatch):
    """A log of 1 GiB, a hole except for its last batches: only these are read."""
    entries = byte_ranges.offset_index.parse(TINY.with_suffix(".index").read_bytes()).copy()
    far, log = 1 << 30, TINY.with_suffix(".log").read_bytes()
    path = tmp_path / TINY.with_suffix(".log").name
    with open(path, "wb") as grown:
        grown.seek(far)
        grown.write(log)
    entries["position"] += far
    path.with_suffix(".index").write_bytes(entries.tobytes())
    counted = []
    monkeypatch.setattr(
        "kafkaviz.log.scans.Walk",
        lambda read, start, *rest: counted.append(start) or Walk(read, start, *rest),
    )
    last = int(entries["position"][-1])
    assert read(file.info(path), last + 10, last + 20).spans[0].start == last + 8
    assert counted == [last]


def test_what_a_compressed_batch_holds(clean):
    """Its records, decompressed, and a stretch of them."""
    log = file.info(clean / "clicks-gzip-0" / "00000000000000000000.log")
    full_range, part = (read_decompressed(log, 0, *range) for range in ((), (20, 60)))
    check(full_range.spans, 0, full_range.size_bytes)
    assert part.data == full_range.data[20:60]
    assert part.spans == find_overlapping(full_range.spans, 20, 60)
    assert read_decompressed(file.info(TINY.with_suffix(".log")), 0) is None
