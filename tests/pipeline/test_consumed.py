"""Consumers of the broker got the same records: the first from each offset on, for both isolation
levels and both formats of records. test_arrow_rows.py compares the rows without Spark.
"""

from bisect import bisect_left
from functools import cache
from pathlib import Path

import pytest

from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.pipeline.datasource.consumer_options import is_internal
from kafkaviz.search.fetch import ISOLATIONS, READ_COMMITTED, READ_UNCOMMITTED
from tests.pipeline.source_reading import read
from tests.support.recorded_archives import RECORDED_ARCHIVES, expected_lines

# the broker wrote more after the questions, or no longer starts
ASKED_EARLIER = ("killed", "unstartable")
# by a wrong .index, which only the lookup of a fetch goes by
MISLED = {("kafka-4.3.1-damaged", "bookings", 0)}


@cache
def fetched(shared: Path, name: str, isolation: str) -> list[dict]:
    """Returns the records that a consumer of that isolation level got from each offset on."""
    return [
        answer
        for answer in expected_lines(shared, name, "fetch.jsonl")
        if answer.get("isolation", READ_UNCOMMITTED) == isolation and "error" not in answer
    ]


def consumed(name: str, directory: Path, isolation: str) -> dict[tuple, list[tuple[int, int]]]:
    """Returns the offsets and times that a format gives for each topic-partition, in order."""
    if name == "kafka_records":
        options = {
            "isolation": isolation,
            "mode": "DROPMALFORMED",
            "columns": "topic,partition,offset,timestamp_ms,is_control",
        }
        table = read(name, directory, **options)
        table = table.filter([not control for control in table["is_control"].to_pylist()])
        times_ms = table["timestamp_ms"].to_pylist()
    else:
        options = {"kafka.isolation.level": isolation, "subscribePattern": "."}
        table = read(name, directory, mode="DROPMALFORMED", **options)
        times_ms = [round(time.timestamp() * 1000) for time in table["timestamp"].to_pylist()]
    rows: dict[tuple, list[tuple[int, int]]] = {}
    keys = zip(table["topic"].to_pylist(), table["partition"].to_pylist(), strict=True)
    for key, offset, time_ms in zip(keys, table["offset"].to_pylist(), times_ms, strict=True):
        rows.setdefault(key, []).append((offset, time_ms))
    return rows


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("name", ["kafka_records", "kafka_files"])
@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(
            archive,
            marks=pytest.mark.slow if archive == "kafka-4.4.0-clean" else pytest.mark.nightly,
        )
        for archive in RECORDED_ARCHIVES
    ],
)
def test_records_are_those_that_consumers_got(shared, archive, name, isolation):
    directory = unpack_if_archive(shared / "data" / f"{archive}.tar.gz")
    rows = consumed(name, directory, isolation)
    offsets = {key: [offset for offset, _ in records] for key, records in rows.items()}
    assert all(numbers == sorted(set(numbers)) for numbers in offsets.values())
    checked, wrong = 0, []
    for answer in fetched(shared, archive, isolation):
        key = answer["topic"], answer["partition"]
        expected = answer["firstRecordOffset"], answer["firstRecordTimestamp"]
        is_of_spark = name != "kafka_files" or not is_internal(key[0])
        if not is_of_spark or (archive, *key) in MISLED:
            continue
        if expected[0] is None and any(word in archive for word in ASKED_EARLIER):
            continue
        place = bisect_left(offsets.get(key, []), answer["offset"])
        following = rows.get(key, [])[place : place + 1]
        if (following[0] if following else (None, None)) != expected:
            wrong.append((key, answer["offset"], following, expected))
        checked += 1
    assert not wrong, (len(wrong), wrong[:5])
    # 2.8.2 and 3.9.0 were not asked with read_committed
    assert checked or (isolation == READ_COMMITTED and archive.startswith(("kafka-2", "kafka-3")))
