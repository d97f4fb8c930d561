"""The example scripts on a real broker, compared with the plain reader's answers."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from fnmatch import fnmatchcase
from operator import add
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kafkaviz.format.batch import is_control
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log.broker import open_broker
from tests.conftest import REPLICAS
from tests.pipeline import whole_logs
from tests.support.brokers import copy_partitions
from tests.support.ingest import MASTER, ingest_in_process

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def printed(spark, capsys) -> Callable[..., list[list[str]]]:
    """Returns the cells of the table that a script prints, the header first."""

    def run(script: str, *arguments: str) -> list[list[str]]:
        runpy.run_path(str(EXAMPLES / script))["main"]([*arguments, "--master", MASTER])
        return cells(capsys.readouterr().out)

    return run


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.slow
def test_densest_topics(some_partitions, printed):
    header, *rows = printed("densest_topics.py", str(some_partitions))
    assert header == [
        "topic",
        "partitions",
        "log_bytes",
        "index_bytes",
        "batches",
        "entries",
        "bytes_an_entry",
        "batches_an_entry",
    ]
    expected: dict[str, list[int]] = {}
    for partition in open_broker(some_partitions).partitions:
        for segment in partition.segments:
            if partition.state == "current" and segment.log and segment.index:
                counts = segment.log.size_bytes, len(segment.batches()), len(segment.offset_index)
                sums = expected.get(partition.topic, [0, 0, 0])
                expected[partition.topic] = list(map(add, sums, counts))
    sizes = {
        topic: (int(sums[0] / sums[2] + 0.5), topic) for topic, sums in expected.items() if sums[2]
    }
    assert [row[0] for row in rows] == [topic for _, topic in sorted(sizes.values())][:20]
    assert [int(row[6]) for row in rows] == [density for density, _ in sorted(sizes.values())][:20]
    assert all([int(row[2]), int(row[4]), int(row[5])] == expected[row[0]] for row in rows)


@pytest.mark.slow
def test_densest_topics_of_segments_without_their_indexes(tmp_path, printed):
    """A segment without an .index has no bytes per entry; without a .timeindex the .index counts."""
    directory = whole_logs.broker(tmp_path / "made")
    for first in (0, 200, 400):
        batches = [whole_logs.batch(first + n, [whole_logs.START_MS]) for n in range(200)]
        whole_logs.write(directory / "a-0", batches, first)
    (directory / "a-0" / f"{0:020d}.index").unlink()
    (directory / "a-0" / f"{200:020d}.timeindex").unlink()
    segments = open_broker(directory).partitions[0].segments[1:]
    entries = sum(len(segment.offset_index) for segment in segments)
    log_bytes = sum(segment.log.size_bytes for segment in segments)
    index_bytes = 8 * entries + 12 * len(segments[1].time_index)
    _, row = printed("densest_topics.py", str(directory))
    density = round(log_bytes / entries)
    assert list(map(int, row[1:7])) == [1, log_bytes, index_bytes, 400, entries, density]


@pytest.mark.nightly
def test_densest_topics_of_a_broker_that_was_killed(killed, printed):
    """Its active indexes are preallocated; only the written part counts."""
    _, *rows = printed("densest_topics.py", str(killed))
    written: dict[str, int] = {}
    for partition in open_broker(killed).partitions:
        for segment in partition.segments:
            if segment.log and segment.index and segment.timeindex:
                entries = 8 * len(segment.offset_index) + 12 * len(segment.time_index)
                written[partition.topic] = written.get(partition.topic, 0) + entries
    assert len(rows) > 2 and all(int(row[3]) == written[row[0]] for row in rows)
    assert max(int(row[3]) for row in rows) < 1 << 20


@pytest.mark.slow
@pytest.mark.parametrize(("topics", "late_s"), [("sensors-*", 60), ("*", 1)])
def test_late_records(clean, tmp_path, printed, topics, late_s):
    """A transaction marker does not count as a record."""
    names = ("orders-1", "refunds-0", "sensors-late-0", "sensors-seconds-0")
    directory = copy_partitions(clean, tmp_path / "broker", names)
    options = ["--late-s", str(late_s), "--topics", topics]
    header, *rows = printed("late_records.py", str(directory), *options)
    assert header == ["topic", "partition", "late_records", "latest_s", "first_offset"]
    expected = []
    for partition in open_broker(directory).partitions:
        if not (partition.state == "current" and fnmatchcase(partition.topic, topics)):
            continue
        newest_ms, late = 0, []
        for segment in partition.live:
            batches = segment.batches()
            for position in batches["position"][~is_control(batches)].tolist():
                for record in segment.records(position):
                    if newest_ms - record.timestamp_ms > late_s * 1000:
                        late.append((newest_ms - record.timestamp_ms, record.offset))
                    newest_ms = max(record.timestamp_ms, newest_ms)
        if late:
            latest_s = round(max(late)[0] / 1000, 1)
            first_offset = min(offset for _, offset in late)
            expected.append(
                [partition.topic, partition.partition, len(late), latest_s, first_offset]
            )
    expected.sort(key=lambda row: (-row[2], row[0], row[1]))
    assert len(expected) >= 1
    kinds = (str, int, int, float, int)
    found = [[kind(cell) for kind, cell in zip(kinds, row, strict=True)] for row in rows]
    assert found == expected[:20]


@pytest.mark.slow
def test_backfill(some_partitions, printed, spark):
    since_ms = 1_700_000_000_000
    options = ["--subscribe", "orders,nulls", "--since", str(since_ms)]
    header, *rows = printed("backfill.py", str(some_partitions), *options)
    assert header == ["topic", "hour", "records", "value_bytes", "keys"]
    zone = ZoneInfo(spark.conf.get("spark.sql.session.timeZone"))
    hours: dict[tuple[str, str], list[BatchRecord]] = {}
    for partition in open_broker(some_partitions).partitions:
        if partition.topic not in ("orders", "nulls") or partition.state != "current":
            continue
        for segment in partition.live:
            for position in segment.batches()["position"].tolist():
                for record in segment.records(position):
                    time = datetime.fromtimestamp(record.timestamp_ms // 1000, zone)
                    hour = time.strftime("%Y-%m-%d %H:00:00")
                    hours.setdefault((partition.topic, hour), []).append(record)
    values = {
        key: [record.value for record in records if record.value is not None]
        for key, records in hours.items()
    }
    assert {topic for topic, _ in hours} == {"orders", "nulls"}
    assert [row[:2] for row in rows] == [list(key) for key in sorted(hours)]
    assert [[int(cell) for cell in row[2:]] for row in rows] == [
        [
            len(hours[key]),
            sum(map(len, values[key])),
            len({record.key for record in hours[key]} - {None}),
        ]
        for key in sorted(hours)
    ]


def test_a_backfill_reads_files_or_a_cluster(capsys):
    """The refusal is one line before Spark is started."""
    main = runpy.run_path(str(EXAMPLES / "backfill.py"))["main"]
    for arguments in (["--servers", "kafka:9092", "somewhere"], []):
        with pytest.raises(SystemExit):
            main([*arguments, "--subscribe", "orders"])
        assert "give directories or --servers" in capsys.readouterr().err


@pytest.mark.slow
def test_two_replicas_by_their_catalogs(cache, tmp_path, spark, capsys):
    """The differences of an unclean election, without reading a .log."""
    catalogs = [tmp_path / side for side in "ab"]
    for catalog, source in zip(catalogs, REPLICAS, strict=True):
        ingest_in_process(source, catalog=catalog)
    runpy.run_path(str(EXAMPLES / "compare_replicas.py"))["main"](
        [*map(str, catalogs), "--master", MASTER]
    )
    rows = cells(capsys.readouterr().out)
    assert ["diverged", "1"] in rows
    header = next(row for row in rows if "first_different_offset" in row)
    differing = [dict(zip(header, row, strict=True)) for row in rows[rows.index(header) + 1 :]]
    (bids,) = [row for row in differing if row["topic"] == "bids"]
    names = ("relation", "first_different_offset", "epoch_a", "epoch_b")
    assert [bids[name] for name in names] == ["diverged", "180", "3", "5"]


@pytest.mark.nightly
@pytest.mark.parametrize("script", ["densest_topics.py", "late_records.py"])
def test_a_script_runs_by_itself(clean, script):
    """In a process of its own, with a Spark of its own."""
    command = [sys.executable, str(EXAMPLES / script), str(clean), "--master", MASTER]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert len(cells(done.stdout)) > 2
