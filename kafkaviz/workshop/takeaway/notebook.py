"""A Jupyter notebook that repeats three lessons with numpy, then with kafkaviz.

The text is in the reader's language; the code is the same in all languages. The notebook needs
kafkaviz, but no network.
"""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from kafkaviz.messages import say

FILE_NAME = "kafkaviz-three-lessons.ipynb"

OPEN = """\
import numpy as np

import kafkaviz as kv

broker = kv.open_broker(kv.SAMPLES / "kafka-4.3.1-clean.tar.gz")
partition = broker.partition("heartbeat-0")
for segment in partition.segments:
    print(segment.name, {file.path.suffix: file.size_bytes for file in segment.files})"""

DECODE = """\
segment = partition.segment(10905)
index_bytes = segment.index.path.read_bytes()
print(index_bytes[:8].hex(" "))

relative_offset = int.from_bytes(index_bytes[0:4], "big", signed=True)
position = int.from_bytes(index_bytes[4:8], "big", signed=True)
print("offset", segment.base_offset + relative_offset, "position", position)"""

DECODE_ALL = """\
ENTRY = np.dtype([("relative_offset", ">i4"), ("position", ">i4")])
entries = np.frombuffer(index_bytes, ENTRY)
offsets = segment.base_offset + entries["relative_offset"].astype(np.int64)

assert np.array_equal(offsets, segment.offset_index["offset"])
assert np.array_equal(entries["position"], segment.offset_index["position"])
print(len(entries), "entries;", "bytes between two:", set(np.diff(entries["position"]).tolist()))"""

HEADER = """\
HEADER = np.dtype(
    [
        ("base_offset", ">i8"),
        ("batch_length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
    ]
)
log_bytes = segment.log.path.read_bytes()
header = np.frombuffer(log_bytes, HEADER, count=1, offset=position)[0]
last_offset = int(header["base_offset"]) + int(header["last_offset_delta"])
print("magic", header["magic"], "last offset", last_offset)

assert last_offset == offsets[0]"""

SEARCHES = """\
WARM_BYTES, ENTRY_BYTES, PAGE_BYTES = 8192, 8, 4096


def binary_search(keys, target, low, high, probes):
    while low < high:
        middle = (low + high + 1) // 2
        probes.append(middle)
        if keys[middle] > target:
            high = middle - 1
        elif keys[middle] < target:
            low = middle
        else:
            return middle
    return low


def plain_search(keys, target):
    probes = [0]
    if keys[0] > target:
        return -1, probes
    return binary_search(keys, target, 0, len(keys) - 1, probes), probes


def warm_section_first(keys, target):
    first_warm = max(0, len(keys) - 1 - WARM_BYTES // ENTRY_BYTES)
    probes = [first_warm]
    if keys[first_warm] < target:
        return binary_search(keys, target, first_warm, len(keys) - 1, probes), probes
    probes.append(0)
    if keys[0] > target:
        return -1, probes
    return binary_search(keys, target, 0, first_warm, probes), probes


for target in (10905, 10948, 20000, 21695):
    for version, search in (("2.0", plain_search), ("4.3", warm_section_first)):
        slot, probes = search(offsets, target)
        kafkaviz_search = kv.lookup(partition, offset=target, version=version).searches[0]
        assert slot == kafkaviz_search.slot_search.slot
        assert probes == [probe.slot for probe in kafkaviz_search.slot_search.probes]
        print(f"offset {target}, Kafka {version}: slot {slot} after {len(probes)} probes")"""

PAGES = """\
keys = np.arange(10 * 1024 * 1024 // ENTRY_BYTES)
newest = len(keys) - 1


def pages(probes):
    return sorted({slot * ENTRY_BYTES // PAGE_BYTES for slot in probes})


for name, search, target in (
    ("plain, newest entry", plain_search, newest),
    ("warm section first, newest entry", warm_section_first, newest),
    ("warm section first, an old entry", warm_section_first, 12345),
):
    _, probes = search(keys, target)
    print(f"{name}: {len(probes)} probes on {len(pages(probes))} pages")"""

GROW = """\
for page_count in (13, 14):
    keys = np.arange(page_count * PAGE_BYTES // ENTRY_BYTES)
    for name, search in (("plain", plain_search), ("warm section first", warm_section_first)):
        _, probes = search(keys, len(keys) - 1)
        print(page_count, "pages,", name, pages(probes))"""

TIME = """\
target_ms = int(partition.segment(10905).batches()["max_timestamp_ms"][100])

# 1. the first segment whose largest timestamp is not below the target
segment = next(
    segment
    for segment in partition.segments
    if segment.batches()["max_timestamp_ms"].max() >= target_ms
)

# 2. the time index: the last entry that is not above the target
TIME_ENTRY = np.dtype([("timestamp_ms", ">i8"), ("relative_offset", ">i4")])
time_entries = np.frombuffer(segment.timeindex.path.read_bytes(), TIME_ENTRY)
time_slot = np.searchsorted(time_entries["timestamp_ms"], target_ms, side="right") - 1
start_offset = segment.base_offset
if time_slot >= 0:
    start_offset += int(time_entries["relative_offset"][time_slot])

# 3. the offset index: the byte of the log to start from
slot, _ = warm_section_first(segment.offset_index["offset"], start_offset)
position = int(segment.offset_index["position"][slot]) if slot >= 0 else 0

# 4. the log: the first batch, and in it the first record, that is not below the target
batches = segment.batches()
late_enough = (batches["position"] >= position) & (batches["max_timestamp_ms"] >= target_ms)
batch = batches[late_enough][0]
record = next(
    record
    for record in segment.records(int(batch["position"]))
    if record.timestamp_ms >= target_ms
)
print("segment", segment.name, "time slot", time_slot, "byte", position, "offset", record.offset)

assert record.offset == kv.lookup(partition, timestamp_ms=target_ms).answer.offset"""

TINY = """\
tiny = broker.partition("tiny-index-0")
LIMIT = 300  # its segment.index.bytes
print("slots:", LIMIT // 8, "of 8 bytes,", LIMIT // 12, "of 12 bytes")
for segment in tiny.segments[:3]:
    print(segment.name, len(segment.offset_index), "and", len(segment.time_index), "entries")"""

SIMULATE = """\
from collections import Counter

for index_bytes in (10485760, 1200):
    run = kv.simulate("orders", {"segment.index.bytes": index_bytes})
    rolled = [segment for segment in run.segments if segment.roll_reason]
    causes = Counter(segment.roll_reason.cause.name for segment in rolled)
    entries = [(len(segment.offset_index), len(segment.time_index)) for segment in rolled[:2]]
    print(f"segment.index.bytes = {index_bytes}: {dict(causes)}, entries {entries}")"""

# the message key of each text, and the code below the text; "" if there is none
CELLS = {
    "intro": "",
    "files": OPEN,
    "entry": DECODE,
    "entries": DECODE_ALL,
    "batch": HEADER,
    "files_exercise": "",
    "search": SEARCHES,
    "pages": PAGES,
    "grow": GROW,
    "search_exercise": "",
    "time": TIME,
    "tiny": TINY,
    "rolls": SIMULATE,
    "rolls_exercise": "",
}


def notebook() -> str:
    """Returns the notebook as JSON, without outputs."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": list(_cells()),
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _cells() -> Iterator[dict[str, Any]]:
    code_fields = {"cell_type": "code", "execution_count": None, "outputs": []}
    numbers = count()
    for name, code in CELLS.items():
        yield {"cell_type": "markdown"} | _cell(next(numbers), say(f"notebook.{name}"))
        if code:
            yield code_fields | _cell(next(numbers), code)


def _cell(number: int, source: str) -> dict[str, Any]:
    return {"id": f"cell-{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
