"""The examples with DuckDB, pandas and Polars, compared with the plain reader's answers."""

import runpy
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log.broker import open_broker
from tests.pipeline import whole_logs

EXAMPLES = Path(__file__).parents[2] / "examples"
MINUTE_MS = 60_000


@pytest.fixture
def directory(tmp_path) -> Path:
    """Returns a broker directory of two topics, with records over two hours."""
    directory = whole_logs.broker(tmp_path / "made")
    for number, name in enumerate(("orders-0", "orders-1", "clicks-0")):
        batches = [
            whole_logs.batch(
                part * 20, [whole_logs.START_MS + (part * 20 + n) * MINUTE_MS for n in range(20)], 9
            )
            for part in range(4 + number)
        ]
        whole_logs.write(directory / name, batches)
    return directory


def records(directory: Path, topic: str) -> Iterator[tuple[int, BatchRecord]]:
    for partition in open_broker(directory).partitions:
        if partition.topic == topic:
            for segment in partition.live:
                for position in segment.batches()["position"].tolist():
                    for record in segment.records(position):
                        yield partition.partition, record


@pytest.fixture
def script(capsys) -> Callable[[str, list[str]], tuple[dict, str]]:
    """Runs an example; returns its names and what it printed."""

    def run(name: str, arguments: list[str]) -> tuple[dict, str]:
        names = runpy.run_path(str(EXAMPLES / name))
        names["main"](arguments)
        return names, capsys.readouterr().out

    return run


def test_hours_in_duckdb(directory, script):
    names, printed = script("records_duckdb.py", [str(directory)])
    expected = Counter()
    value_bytes = Counter()
    for topic in ("clicks", "orders"):
        for _, record in records(directory, topic):
            hour = datetime.fromtimestamp(record.timestamp_ms // 3_600_000 * 3600, UTC)
            key = topic, hour.replace(tzinfo=None)
            expected[key] += 1
            value_bytes[key] += len(record.value)
    rows = names["hours"]([str(directory)])
    assert rows == [(*key, expected[key], value_bytes[key]) for key in sorted(expected)]
    assert len(rows) >= 4 and len(printed.splitlines()) == len(rows)


def test_partitions_in_pandas(directory, script):
    names, printed = script("records_pandas.py", [str(directory), "--topic", "orders"])
    table = names["partitions"]([str(directory)], "orders")
    counts = Counter(partition for partition, _ in records(directory, "orders"))
    assert table["records"].to_dict() == counts == {0: 80, 1: 100}
    assert table["records_per_minute"].to_dict() == {0: round(80 / 79, 1), 1: round(100 / 99, 1)}
    assert table["largest_value"].to_dict() == {0: 9, 1: 9}
    assert "records_per_minute" in printed


def test_keys_in_polars(directory, script):
    """The first key of each batch is null, the others are unique within a partition."""
    pytest.importorskip("polars", reason="needs Polars (180 MB): pip install polars")
    names, printed = script("records_polars.py", [str(directory), "--topic", "orders"])
    counts = Counter(
        record.key and record.key.decode() for _, record in records(directory, "orders")
    )
    table = names["keys"]([str(directory)], "orders", len(counts))
    assert dict(zip(table["key"], table["records"], strict=True)) == counts
    assert table["records"].is_sorted(descending=True) and table["records"][0] == counts[None]
    assert "last_value" in printed
