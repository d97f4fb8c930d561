"""The readers that open files: a damaged directory is written, read by one of them, and removed.

Its names are the seed's or damaged ones. CannotOpen at the opening is no escape; after that each
reader must accept whatever the files hold.
"""

import io
import json
import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from random import Random

from kafkaviz import versions
from kafkaviz.analysis import overview
from kafkaviz.analysis.broker_health import check, health_object
from kafkaviz.analysis.lookup.served_log import open_log_view
from kafkaviz.analysis.segment import anatomy
from kafkaviz.cli import dumping
from kafkaviz.cli.dumping import Console, json_lines, text
from kafkaviz.cli.text import check_text
from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.format.walk import walk
from kafkaviz.log import byte_ranges
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.metadata_log import read_image
from kafkaviz.log.partition import log_end_offset
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import open_settings
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.ingest.segment_splits import IngestTask, SegmentSplit
from kafkaviz.pipeline.ingest.split_scan import scan
from kafkaviz.pipeline.read.tasks import SegmentTask
from kafkaviz.search.by_time import EARLIEST, LATEST, MAX_TIMESTAMP
from kafkaviz.search.fetch import READ_COMMITTED, READ_UNCOMMITTED
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.versions import PLAIN, WARM
from tests.fuzz import seeds
from tests.fuzz.mutators import mutated, mutated_log
from tests.fuzz.seeds import Tree
from tests.fuzz.targets import (
    Target,
    draw_broker,
    draw_partition,
    ends_before,
    expect,
    first_difference,
)
from tests.log import hostile_archives

LOG = "00000000000000000000.log"
VERSIONS = (None, None, "4.3.1", "3.9", "2.8", "2.2", "1.1")
MTIME_NS = 1_700_000_000_000_000_000


@contextmanager
def written(tree: Tree) -> Iterator[Path]:
    """Yields a directory with these files: one per process, below that of TMPDIR."""
    root = Path(os.environ["KAFKAVIZ_FUZZ"]) / "broker"
    try:
        for name, data in tree.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, ns=(MTIME_NS, MTIME_NS))
        root.mkdir(exist_ok=True)
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _opened(root: Path) -> Broker | None:
    """Returns the broker, or None if opening it is refused."""
    try:
        return open_broker(root)
    except CannotOpen:
        return None


def read_segments(seed: Tree, tree: Tree, draw: Random) -> None:
    """Reads the batches, both indexes, the records and the other files of every segment."""
    with written(tree) as root:
        broker = _opened(root)
        if broker is None:
            return
        overview.with_entries(overview.inventory(broker))
        for partition in broker.partitions:
            assert partition.active is None or log_end_offset(partition.active) >= -(1 << 63)
            for offset in partition.snapshots:
                _standing(lambda: partition.snapshot(offset))  # noqa: B023  called at once
            for segment in partition.segments:
                assert len(segment.offset_index) <= segment.offset_slots.slots
                assert len(segment.time_index) <= segment.time_slots.slots
                assert segment.txn_index is not None
                if not isinstance(segment, LogSegment):
                    continue
                segment_anatomy = anatomy.read(segment)
                assert segment_anatomy.density is not None
                for slot in range(len(segment_anatomy.index.entries)):
                    segment_anatomy.missed_offsets(slot)
                _batches_before(seed, tree, segment, segment_anatomy.batches.all_rows())
                for position in segment_anatomy.batches.window(0, 20)["position"].tolist():
                    _standing(lambda: segment.records(position))  # noqa: B023


def _standing(call) -> None:
    """Runs a reader that may report corrupt bytes."""
    with suppress(CorruptFile):
        call()


def _batches_before(seed: Tree, tree: Tree, segment: LogSegment, batches) -> None:
    name = f"{segment.log.directory.name}/{segment.log.name}"
    if name in seed and name in tree:
        first = walk(seed[name])[0]
        before = ends_before(first, first_difference(seed[name], tree[name]))
        is_same = (batches["position"][:before] == first["position"][:before]).all()
        expect(is_same, f"{before} batches of {name} lie before the damage")


def read_stretches(seed: Tree, tree: Tree, draw: Random) -> None:
    """Reads every file of a directory as spans, and the content of compressed batches."""
    with written(tree) as root:
        broker = _opened(root)
        if broker is None:
            return
        for partition in broker.partitions:
            of_segments = [file for segment in partition.segments for file in segment.files]
            for file in (*of_segments, *partition.other_files):
                size = file.size_bytes
                _covering(byte_ranges.read(file).spans, 0, size)
                start, stop = sorted((draw.randint(0, size), draw.randint(0, size)))
                _covering(byte_ranges.read(file, start, stop).spans, start, stop)
            for segment in partition.live:
                for position in segment.batches()["position"][:5].tolist():
                    try:
                        inside = byte_ranges.read_decompressed(segment.log, position)
                    except CorruptFile:
                        continue
                    if inside is not None:
                        _covering(inside.spans, 0, inside.size_bytes)


def _covering(ranges: list, start: int, stop: int) -> None:
    if start < stop:
        reaches = ranges and ranges[0].start <= start and ranges[-1].end >= stop
        expect(reaches, f"spans do not reach from {start} to {stop}")
        is_tiled = all(left.end == right.start for left, right in pairwise(ranges))
        expect(is_tiled, "spans leave a gap, or overlap")


def read_checked(seed: Tree, tree: Tree, draw: Random) -> None:
    with written(tree) as root:
        broker = _opened(root)
        if broker is not None:
            health = check(broker, draw.choice(VERSIONS))
            json.dumps(health_object(health), ensure_ascii=False).encode()
            "\n".join(check_text.render(health)).encode()


def read_settings(seed: Tree, tree: Tree, draw: Random) -> None:
    with written(tree) as root:
        broker = _opened(root)
        if broker is not None:
            read_image(broker)
            settings = open_settings(broker)
            for partition in broker.partitions:
                settings.topic_settings(partition.topic)


def read_lookups(seed: Tree, tree: Tree, draw: Random) -> None:
    """Looks up offsets and timestamps, in the current state or after the next start."""
    with written(tree) as root:
        broker = _opened(root)
        for partition in broker.partitions if broker else ():
            if not partition.live:
                continue
            version = draw.choice(("4.3.1", "3.9", "2.0", "1.1"))
            log = open_log_view(partition, version, as_is=draw.random() < 0.3)
            search_profile = versions.search_profile(version, draw.choice((None, PLAIN, WARM)))
            isolation = draw.choice((READ_UNCOMMITTED, READ_COMMITTED))
            for _ in range(3):
                late = partition.live[-1].base_offset + draw.randrange(20)
                offset = draw.choice((0, -1, draw.randrange(200), late, 1 << 62))
                _standing(lambda: by_offset(log, offset, search_profile, isolation))  # noqa: B023  called at once
            for timestamp_ms in (
                draw.choice((0, 1_790_000_000_000, 1 << 62)),
                draw.choice((EARLIEST, LATEST, MAX_TIMESTAMP)),
            ):
                if timestamp_ms != MAX_TIMESTAMP or search_profile.release >= (3, 0):
                    _standing(lambda: by_timestamp(log, timestamp_ms, search_profile, isolation))  # noqa: B023


def read_rows(seed: Tree, tree: Tree, draw: Random) -> None:
    """Writes the rows of each segment into Parquet files, as an ingest does."""
    with written(tree) as root:
        broker = _opened(root)
        if broker is None:
            return
        staging = root / ".staging"
        for name in TASK_TABLES:
            (staging / name).mkdir(parents=True)
        splits = []
        for partition in broker.partitions:
            place = {"broker": "b", "topic": partition.topic, "partition": partition.partition}
            for segment in partition.segments:
                task = SegmentTask(number=len(splits), segment=segment, **place)
                splits.append(SegmentSplit(task, 0, task.log_bytes))
        scanned = scan(IngestTask(tuple(splits)), staging)
        expect(len(scanned) == len(splits), "a segment has no summary")


# ---- the dump


def draw_file(draw: Random) -> tuple[Tree, Tree]:
    if draw.random() < 0.6:
        log = draw.choice(seeds.logs())
        return {f"a-0/{LOG}": log}, {f"a-0/{LOG}": mutated_log(log, draw, seeds.logs())}
    return draw_partition(draw)


def _options(draw: Random, path: str) -> dumping.DumpOptions:
    chosen = draw.random()
    if chosen < 0.4:
        return dumping.DumpOptions(files=(path,), prints=True, deep=True)
    if chosen < 0.5:
        return dumping.DumpOptions(files=(path,))
    decoder = draw.choice((None, None, *dumping.DECODERS))
    return dumping.DumpOptions(
        files=(path,),
        prints=draw.random() < 0.7,
        deep=True,
        decoder=decoder,
        max_bytes=draw.choice((dumping.MAX_INT, dumping.MAX_INT, 100, 1000)),
        max_message_bytes=draw.choice((dumping.MAX_MESSAGE_BYTES, 17, 300)),
        verify_index_only=draw.random() < 0.3,
        index_sanity_check=draw.random() < 0.2,
        skip_record_metadata=draw.random() < 0.2,
    )


def read_dump(seed: Tree, tree: Tree, draw: Random, form=text) -> None:
    """Runs kafkaviz dump, which prints every line of a log before the damage."""
    if not tree:
        return
    with written(tree) as root:
        name = draw.choice(sorted(tree))
        dump_options = _options(draw, f"{root}/{name}")
        output = _dumped(form, dump_options)
        if form is json_lines:
            for line in output.splitlines():
                json.loads(line)
    if len(seed) == 1 and name in seed and dump_options.max_bytes == dumping.MAX_INT:
        before = ends_before(walk(seed[name])[0], first_difference(seed[name], tree[name]))
        if before:
            with written(seed):
                expected = _before(_dumped(form, dump_options), form, before)
            is_sound = b'"crc_valid":false' not in expected  # what follows tells how far others go
            is_printed = not is_sound or _without_size(output, form).startswith(expected)
            expect(is_printed, f"{before} batches lie before the damage, not all are printed")


def _dumped(form, dump_options: dumping.DumpOptions) -> bytes:
    """Returns the stdout of a dump; Kafka's tool has no status other than 0 and 1."""
    out, err = io.BytesIO(), io.BytesIO()
    console = Console(out, err)
    status = form.dump(dump_options, console)
    console.flush()
    expect(status in (0, 1), f"status {status}")
    return out.getvalue()


def _without_size(output: bytes, form) -> bytes:
    """Returns a dump without the size of the file in its first line of JSON."""
    return output.partition(b"\n")[2] if form is json_lines else output


def _before(output: bytes, form, batches: int) -> bytes:
    """Returns the part of a dump up to the last of this many batches."""
    output = _without_size(output, form)
    line = rb'^\{"kind":"batch".*$' if form is json_lines else rb"^(baseOffset|offset): .*$"
    starts = [match.end() for match in re.finditer(line, output, re.MULTILINE)]
    return output[: starts[batches - 1]] if len(starts) >= batches else b""


# ---- archives


@lru_cache(1)
def _archives() -> tuple[tuple[str, bytes], ...]:
    """Yields small directories packed in every way, and as many hostile archives."""
    problems = []
    for tree in seeds.partitions()[1:3] + seeds.brokers()[:1]:
        for suffix, mode in ((".tar", "w"), (".tar.gz", "w:gz"), (".tgz", "w:gz")):
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode=mode) as out:
                for name, data in tree.items():
                    member = tarfile.TarInfo(f"b/{name}")
                    member.size, member.mtime = len(data), 1_700_000_000
                    out.addfile(member, io.BytesIO(data))
            problems.append((suffix, packed.getvalue()))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
            for name, data in tree.items():
                out.writestr(zipfile.ZipInfo(f"b/{name}"), data)
        problems.append((".zip", packed.getvalue()))
    hostile = [(".tar", content) for content, _ in hostile_archives.tars().values()]
    hostile += [
        (".zip", hostile_archives.overlapping_zip(3, 5000)),
        (".zip", hostile_archives.bzip2_in_zip()),
        (".zip", hostile_archives.directory_of(9)),
    ]
    return (*problems * 3, *hostile)


def draw_archive(draw: Random) -> tuple[Tree, Tree]:
    """Returns a damaged archive."""
    suffix, data = draw.choice(_archives())
    start = data[:16_000]
    changed = mutated(start, draw, [draw.choice(_archives())[1][:16_000]])
    return {f"b{suffix}": data}, {f"b{suffix}": changed + data[16_000:]}


def read_archive(seed: Tree, tree: Tree, draw: Random) -> None:
    """Reads an archive: it is unpacked or refused in one line, and never writes outside its folder."""
    with written(tree) as root:
        cache = Path(os.environ["KAFKAVIZ_CACHE"])
        try:
            with suppress(CannotOpen):
                path = archive.unpack_if_archive(root / next(iter(tree)))
                expect(path.resolve().is_relative_to(cache.resolve()), f"unpacked into {path}")
        finally:
            shutil.rmtree(cache, ignore_errors=True)


ON_DISK = (
    Target("segments", 2, draw_partition, read_segments),
    Target("spans", 2, draw_partition, read_stretches),
    Target("check-partition", 1, draw_partition, read_checked),
    Target("check-broker", 1, draw_broker, read_checked),
    Target("settings", 1, draw_broker, read_settings),
    Target("lookup", 2, draw_partition, read_lookups),
    Target("lookup-broker", 1, draw_broker, read_lookups),
    Target("ingest", 1, draw_partition, read_rows),
    Target("dump", 4, draw_file, read_dump),
    Target("dump-json", 3, draw_file, partial(read_dump, form=json_lines)),
    Target("archive", 1, draw_archive, read_archive),
)
