"""The readers that take bytes, each fed with damaged ones: their errors, their output, and whether
their spans tile.

A target draws a seed, damages it and reads it. An undeclared exception is an escape, and so is a
Hidden: whole data before the damage that was not returned.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from kafkaviz.binary import codec, layouts, varint
from kafkaviz.binary.file_view import in_memory
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import (
    batch_records,
    checkpoint,
    control,
    coordinator_records,
    legacy_messages,
    metadata,
    names,
    offset_index,
    producer_snapshot,
    record,
    remote_metadata,
    remote_segment,
    spans_batch,
    spans_table,
    time_index,
    txn_index,
)
from kafkaviz.format.batch import BATCH, HEADER_BYTES, MAGIC_2
from kafkaviz.format.deep_scan import CHECKED_BATCH, BatchFault, DeepScan
from kafkaviz.format.walk import Walk, tail_kind, walk
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.recovery import recover
from kafkaviz.simulate.startup.restart import join_steps, steps_of
from kafkaviz.simulate.steps import StoredLog
from tests.fuzz import seeds
from tests.fuzz.mutators import mutated, mutated_log, mutated_snapshot, mutated_text, mutated_tree
from tests.fuzz.seeds import Tree
from tests.support.batch_reading import records_until_fault
from tests.support.bytes_reader import reader
from tests.support.spans import check as check_spans

LIMIT_BYTES = 1 << 20  # of decompressed records
CHUNKS_BYTES = (61, 100, 4096, 1 << 20)
RELEASES = ((1, 1), (2, 0), (2, 8), (3, 9), (4, 3, 1))
BASES = (0, 1000, 1 << 62)  # offsets of segments


class Hidden(AssertionError):
    """A reader did not return whole data before the damage."""


@dataclass(frozen=True)
class Target:
    """A group of readers. `draw` gives a seed and its damaged copy, which `read` must accept;
    `share` is how often it is drawn.
    """

    name: str
    share: int
    draw: Callable[[Random], tuple[Any, Any]]
    read: Callable[[Any, Any, Random], None]


def first_difference(left: bytes, other: bytes) -> int:
    """Returns the first byte that differs, or the end of the shorter one."""
    least = min(len(left), len(other))
    differs = np.frombuffer(left, np.uint8, least) != np.frombuffer(other, np.uint8, least)
    return int(np.argmax(differs)) if differs.any() else least


def expect(holds: Any, what: str) -> None:
    """Raises Hidden unless the condition holds."""
    if not holds:
        raise Hidden(what)


def ends_before(batches: np.ndarray, position: int) -> int:
    """Returns how many batches end before a byte; the least length is that of a header."""
    ends = batches["position"] + np.maximum(batches["size_bytes"], HEADER_BYTES)
    return len(ends) if (ends <= position).all() else int(np.argmax(ends > position))


def of_bytes(
    decode: Callable[[], tuple[bytes, ...]], how: Callable[..., bytes]
) -> Callable[[Random], tuple[bytes, bytes]]:
    """Draws one of the seeds and damages it."""

    def draw_one(draw: Random) -> tuple[bytes, bytes]:
        every = decode()
        seed = draw.choice(every)
        return seed, how(seed, draw, every)

    return draw_one


# ---- batches and logs


def read_batch(seed: bytes, data: bytes, draw: Random) -> None:
    records, fault = records_until_fault(data, LIMIT_BYTES)
    if fault is None:
        is_same = batch_records.read_batch(data, LIMIT_BYTES) == records
        expect(is_same, "read_batch gives other records")
    else:
        _refused(fault, lambda: batch_records.read_batch(data, LIMIT_BYTES))
    _records_before(seed, data, records, fault)
    if batch_records.is_crc_valid(data):
        batch_records.ensure_valid(data)
    legacy_messages.are_crcs_valid(legacy_messages.read(data, LIMIT_BYTES))
    _tiled(spans_batch.batch(data, 1000), 1000, 1000 + len(data))
    cut = draw.randint(0, len(data))
    _tiled(spans_batch.batch(data[:cut], 0, len(data)), 0, len(data))
    start, stop = sorted((draw.randint(0, len(data)), draw.randint(0, len(data))))
    part = spans_batch.batch(data, 0, None, start, stop)
    expect(_covers(part, start, stop), "spans of a part do not cover it")
    with suppress(CorruptBytes):
        inside = spans_batch.decompress(data, LIMIT_BYTES)
        if inside is not None:
            _tiled(inside.spans, 0, len(inside.data))


def _refused(fault: CorruptBytes, call: Callable[[], Any]) -> None:
    try:
        call()
    except CorruptBytes as raised:
        is_same = (raised.what, raised.position) == (fault.what, fault.position)
        expect(is_same, "another fault is raised than told")
    else:
        raise Hidden(f"not raised: {fault}")


def _records_before(seed: bytes, data: bytes, records: list, fault: CorruptBytes | None) -> None:
    """Checks that the records of an uncompressed batch before the damage are returned."""
    at = first_difference(seed, data) - HEADER_BYTES
    if not _readable_plain(seed) or at < 0 or len(data) < len(seed):
        return
    expected = [one for one in _seed_records(seed) if one.position + one.size_bytes <= at]
    is_leftover = fault is not None and str(fault.what) == record.LEFTOVER_TEXT
    if is_leftover and len(records) == len(expected) - 1:
        expected = expected[:-1]
    expect(
        records[: len(expected)] == expected,
        f"{len(expected)} records lie before the damage, given were {len(records)}",
    )


def _readable_plain(seed: bytes) -> bool:
    return len(seed) >= HEADER_BYTES and seed[16] == MAGIC_2 and not seed[22] & 7


@lru_cache(2000)
def _seed_records(seed: bytes) -> list:
    return records_until_fault(seed)[0]


def _tiled(tiles: list[layouts.Span], start: int, stop: int) -> None:
    check_spans(tiles, start, stop)
    for span in tiles:
        f"{span.name}{span.value}{span.note}".encode()


def _covers(spans: list[layouts.Span], start: int, stop: int) -> bool:
    if start == stop:
        return True
    return (
        bool(spans)
        and spans[0].start <= start
        and spans[-1].end >= stop
        and all(a.end == b.start for a, b in pairwise(spans))
    )


@lru_cache(4000)
def _walked(seed: bytes) -> np.ndarray:
    return walk(seed)[0]


def expect_batches(seed: bytes, data: bytes, batches: np.ndarray) -> None:
    """Raises Hidden unless all batches that end before the damage were found."""
    before = ends_before(_walked(seed), first_difference(seed, data))
    matches = len(batches) >= before and (batches[:before] == _walked(seed)[:before]).all()
    expect(matches, f"{before} batches lie before the damage, given were {len(batches)}")


def read_walk(seed: bytes, data: bytes, draw: Random) -> None:
    """Runs the header walk: every batch before the damage, the same for every chunk size."""
    batches, end = walk(data)
    expect_batches(seed, data, batches)
    steps = Walk(reader(data), 0, len(data), draw.choice(CHUNKS_BYTES))
    parts = list(steps)
    again = np.concatenate(parts) if parts else np.empty(0, BATCH)
    is_same = steps.end == end and np.array_equal(again, batches)
    expect(is_same, "another chunk gives other batches")
    at = int(end.position)
    is_end = 0 <= at <= len(data) and (end.reason == "end") == (at == len(data))
    expect(is_end, f"the walk ends at {at} of {len(data)}: {end.reason}")
    if at < len(data):
        last_offset = int(batches["last_offset"][-1]) if len(batches) else None
        tail_kind(data[at:], last_offset, len(data) - at)


def _deep(data: bytes, chunk_bytes: int) -> tuple[np.ndarray, list[BatchFault], Any]:
    faults: list[BatchFault] = []
    limits = {"chunk_bytes": chunk_bytes, "limit_bytes": LIMIT_BYTES}
    scan = DeepScan(reader(data), 0, len(data), faults.extend, **limits)
    return np.concatenate([np.empty(0, CHECKED_BATCH), *scan]), faults, scan.end


@lru_cache(4000)
def _deep_batches(seed: bytes) -> np.ndarray:
    return _deep(seed, 1 << 20)[0]


def read_deep(seed: bytes, data: bytes, draw: Random) -> None:
    """Runs the deep scan: every batch, and what it says of each before the damage."""
    batches, faults, end = _deep(data, draw.choice(CHUNKS_BYTES[1:]))
    rows, stop = walk(data)
    expect(end == stop and len(batches) == len(rows), "the scan gives other batches than the walk")
    before = ends_before(_walked(seed), first_difference(seed, data))
    if before:
        is_same = (batches[:before] == _deep_batches(seed)[:before]).all()
        expect(is_same, f"{before} batches lie before the damage")
    for fault in faults:
        is_inside = 0 <= fault.batch_position <= fault.position <= len(data)
        expect(is_inside, f"a fault outside the log: {fault}")


def _config(draw: Random) -> IndexConfig:
    return IndexConfig(draw.choice((0, 100, 4096)), draw.choice((24, 96, 1024)))


def read_recovery(seed: bytes, data: bytes, draw: Random) -> None:
    """Checks that a recovery keeps at least the part of the seed before the damage."""
    base_offset = int(draw.choice((0, 0, *_walked(seed)["last_offset"][:1])))
    config = _config(draw)
    behaviour = release_behaviour(draw.choice(RELEASES))
    recovery = recover(reader(data), len(data), base_offset, config, behaviour)
    valid_bytes = recovery.valid_bytes
    expect(0 <= valid_bytes <= len(data), f"{valid_bytes} valid bytes of {len(data)}")
    most_bytes = len(data) + 2 * config.segment_index_bytes + 64
    for part in (
        *(recovery.index(), recovery.timeindex(), recovery.txnindex()),
        *(recovery.closed_index(), recovery.closed_timeindex()),
    ):
        expect(len(part) <= most_bytes, "an index is larger than its log makes it")
    before = ends_before(_walked(seed), first_difference(seed, data))
    if before:
        of_seed = recover(reader(seed), len(seed), base_offset, config, behaviour)
        last = _walked(seed)[before - 1]
        kept_bytes = min(of_seed.valid_bytes, int(last["position"] + last["size_bytes"]))
        expect(valid_bytes >= kept_bytes, "it cuts what lies before the damage")


def read_restart(seed: Tree, tree: Tree, draw: Random) -> None:
    grouped: dict[str, list] = {}
    for path, data in sorted(tree.items()):
        directory, _, name = path.partition("/")
        if name:
            grouped.setdefault(directory, []).append(in_memory(name, data))
    recovery_point, log_start = draw.choice((0, 0, 10, 1 << 40)), draw.choice((0, 0, 5, 1 << 62))
    offsets = {"recovery_point": recovery_point, "log_start_offset": log_start}
    logs = [
        StoredLog(directory=directory, files=tuple(files), config=_config(draw), **offsets)
        for directory, files in grouped.items()
    ]
    clean, behaviour = draw.random() < 0.3, release_behaviour(draw.choice(RELEASES))
    steps = [(log.directory, steps_of(log, clean=clean, behaviour=behaviour)) for log in logs]
    forecast = join_steps(steps, clean=clean)
    for step in forecast.steps:
        f"{step.why}{step.error}{step.way_out}".encode()


# ---- the other files


def read_offset_index(seed: bytes, data: bytes, draw: Random) -> None:
    """Reads an .index: its entries, and its spans."""
    table = spans_table.offset_entries(draw.choice(BASES))
    _read_index(offset_index, table, seed, data)


def read_time_index(seed: bytes, data: bytes, draw: Random) -> None:
    """Reads a .timeindex in the same way."""
    table = spans_table.time_entries(draw.choice(BASES))
    _read_index(time_index, table, seed, data)


def _read_index(layout: Any, table: spans_table.RowFormat, seed: bytes, data: bytes) -> None:
    entries = layout.parse(data)
    written = layout.count_entries(entries)
    is_same = layout.build(entries) == data[: len(entries) * layout.ENTRY.itemsize]
    expect(is_same, "the entries are others than the bytes")
    before = first_difference(seed, data) // layout.ENTRY.itemsize
    is_same = entries[:before].tobytes() == layout.parse(seed)[:before].tobytes()
    expect(is_same, "entries before the damage are missing")
    _rows_tiled(table, data, written * layout.ENTRY.itemsize)


def _rows_tiled(table: spans_table.RowFormat, data: bytes, written_bytes: int) -> None:
    size = len(data)
    rows = spans_table.rows(table, data, 0, size, written_bytes=written_bytes, size_bytes=size)
    _tiled(rows, 0, size)


def read_txn_index(seed: bytes, data: bytes, draw: Random) -> None:
    entries = txn_index.parse(data)
    for entry in entries:
        txn_index.entry_text(entry)
    size_bytes = txn_index.ENTRY.itemsize
    before = first_difference(seed, data) // size_bytes
    is_same = entries[:before].tobytes() == seed[: before * size_bytes]
    expect(is_same, "entries before the damage are missing")
    _rows_tiled(spans_table.txn_entries(), data, len(data))
    offset = int(draw.choice(entries)["last_offset"]) if len(entries) else 0
    for call in (
        txn_index.ensure_readable,
        lambda e: txn_index.check(e, offset),
        lambda e: txn_index.collect(e, offset, offset + 100),
        lambda e: txn_index.count_after_truncation(e, offset),
    ):
        with suppress(CorruptBytes):
            call(entries)


def read_snapshot(seed: bytes, data: bytes, draw: Random) -> None:
    _tiled(spans_table.snapshot(data), 0, len(data))
    with suppress(CorruptBytes):
        snapshot = producer_snapshot.parse(data)
        producer_snapshot.first_sequence(snapshot.producers)
        producer_snapshot.build(snapshot.producers)


def draw_body(draw: Random) -> tuple[seeds.Body, seeds.Body]:
    """Returns a record's body with a damaged key or value."""
    every = seeds.bodies()
    seed, other = draw.choice(every), draw.choice(every)
    key, value = seed.key, seed.value
    if value is None or (key and draw.random() < 0.3):
        key = mutated(key or b"", draw, [other.key or b""])
    else:
        value = mutated(value, draw, [other.value or b""])
    return seed, seeds.Body(seed.decoder if draw.random() < 0.95 else other.decoder, key, value)


def read_body(seed: seeds.Body, body: seeds.Body, draw: Random) -> None:
    """Prints a record's key and value as the dump does."""
    with suppress(CorruptBytes):
        if body.decoder == "control":
            text = control.dump_text(body.key, body.value)
        elif body.decoder == "metadata":
            text = metadata.dump_text(body.value, 7)
            metadata.feature_level(body.value or b"")
        elif body.decoder == "remote":
            text = remote_metadata.dump_text(body.value, 7)
        else:
            text = coordinator_records.dump_text(body.key, body.value, 7, body.decoder)
        text.encode()


def draw_text(draw: Random) -> tuple[seeds.Text, seeds.Text]:
    every = seeds.texts()
    seed = draw.choice(every)
    return seed, seeds.Text(seed.name, mutated_text(seed.data, draw, [draw.choice(every).data]))


PARSE = {
    "meta.properties": checkpoint.parse_properties,
    "server.properties": checkpoint.parse_properties,
    "partition.metadata": checkpoint.parse_partition_metadata,
    "quorum-state": checkpoint.parse_quorum_state,
    ".kafka_cleanshutdown": checkpoint.parse_clean_shutdown,
    "leader-epoch-checkpoint": checkpoint.parse_leader_epochs,
    "recovery-point-offset-checkpoint": checkpoint.parse_offsets,
    "0.rsm-manifest": remote_segment.parse_manifest,
}


def read_text(seed: seeds.Text, text: seeds.Text, draw: Random) -> None:
    """Reads a checkpoint or properties, as bytes and as text, and as a name of a file or directory."""
    _tiled(spans_table.lines(text.data, text.name), 0, len(text.data))
    for form in (text.data, text.data.decode("utf-8", "replace")):
        with suppress(CorruptBytes):
            PARSE[text.name](form)


def draw_name(draw: Random) -> tuple[bytes, bytes]:
    every = _paths()
    seed = draw.choice(every)
    return seed, mutated_text(seed, draw, every)


@lru_cache(1)
def _paths() -> tuple[bytes, ...]:
    names = {part for tree in seeds.brokers() for name in tree for part in name.split("/")}
    names |= {"orders-0.d9e2420e43c24fe7bcf8a819bf93d888-delete", "a.b-1.0-future"}
    names |= {"x-2.1f-stray", "bootstrap.checkpoint"}
    return tuple(name.encode() for name in sorted(names))


def read_name(seed: bytes, data: bytes, draw: Random) -> None:
    name = os.fsdecode(data)
    names.parse_file(name)
    names.parse_directory(name)


def draw_packed(draw: Random) -> tuple[seeds.Packed, seeds.Packed]:
    every = seeds.packed()
    seed, other = draw.choice(every), draw.choice(every)
    name = seed.codec if draw.random() < 0.97 else other.codec
    return seed, seeds.Packed(name, mutated(seed.data, draw, [other.data]))


def read_packed(seed: seeds.Packed, packed: seeds.Packed, draw: Random) -> None:
    limit = draw.choice((100, 10_000, LIMIT_BYTES))
    checked = draw.random() < 0.5
    with suppress(CorruptBytes):
        data = codec.decompress(packed.codec, packed.data, limit, lz4_header_checked=checked)
        expect(len(data) <= limit, "more than the limit")


def read_varints(seed: bytes, data: bytes, draw: Random) -> None:
    """Reads numbers of variable size at any place."""
    at = draw.randint(0, len(data))
    for read in (varint.read_varint, varint.read_varlong, varint.read_unsigned):
        with suppress(CorruptBytes):
            _, end = read(data, at)
            expect(at < end <= len(data), f"a number at {at} ends at {end} of {len(data)}")


def draw_partition(draw: Random) -> tuple[Tree, Tree]:
    seed = draw.choice(seeds.partitions())
    return seed, mutated_tree(seed, draw)


def draw_broker(draw: Random) -> tuple[Tree, Tree]:
    seed = draw.choice(seeds.brokers())
    return seed, mutated_tree(seed, draw)


IN_MEMORY = (
    Target("batch", 80, of_bytes(seeds.batches, mutated_log), read_batch),
    Target("walk", 40, of_bytes(seeds.logs, mutated_log), read_walk),
    Target("deep-scan", 30, of_bytes(seeds.logs, mutated_log), read_deep),
    Target("recovery", 30, of_bytes(seeds.logs, mutated_log), read_recovery),
    Target("restart", 20, draw_partition, read_restart),
    Target("index", 25, of_bytes(seeds.offset_indexes, mutated), read_offset_index),
    Target("timeindex", 25, of_bytes(seeds.time_indexes, mutated), read_time_index),
    Target("txnindex", 15, of_bytes(seeds.txn_indexes, mutated), read_txn_index),
    Target("snapshot", 15, of_bytes(seeds.snapshots, mutated_snapshot), read_snapshot),
    Target("body", 90, draw_body, read_body),
    Target("text", 40, draw_text, read_text),
    Target("name", 10, draw_name, read_name),
    Target("codec", 40, draw_packed, read_packed),
    Target("varint", 10, of_bytes(seeds.batches, mutated), read_varints),
)
