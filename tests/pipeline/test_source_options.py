"""Options that skip: no row outside of them is given, and no file is read in vain."""

from math import inf

import pytest

from kafkaviz import units
from kafkaviz.pipeline.datasource.pushdown import NumberRange
from kafkaviz.pipeline.datasource.source_schema import BadOption, parse_options
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import counted, read

START_MS = whole_logs.START_MS


@pytest.fixture(scope="module")
def broker_directory(tmp_path_factory):
    """Returns three partitions with three segments of 100 batches, one second per batch."""
    directory = whole_logs.broker(tmp_path_factory.mktemp("options") / "made")
    for partition in range(3):
        for first in range(0, 300, 100):
            numbers = range(first, first + 100)
            batches = [
                whole_logs.batch(number * 10, range(at, at + 1000, 100), 1000)
                for number in numbers
                for at in [START_MS + number * 1000]
            ]
            whole_logs.write(directory / f"orders-{partition}", batches, first * 10)
    return directory


@pytest.fixture(scope="module")
def every_row(broker_directory) -> dict[str, list[dict]]:
    names = ("kafka_records", "kafka_batches", "kafka_offset_index", "kafka_time_index")
    return {name: read(name, broker_directory).to_pylist() for name in names}


def within(rows: list[dict], column: str, least: float, most: float) -> list[dict]:
    return [row for row in rows if least <= row[column] <= most]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("1234-1766", 1234, 1766),
        ("2500-", 2500, inf),
        ("-345", -inf, 345),
        ("1000", 1000, 1000),
        ("5000-", 5000, inf),
    ],
)
@pytest.mark.parametrize("task_bytes", ["1000000000", "200000"])
def test_a_range_of_offsets_has_its_rows_and_no_other(
    broker_directory, every_row, text, least, most, task_bytes
):
    """The ends are included, for batches that hold one, and for segments by their names."""
    options = {"task_bytes": task_bytes, "offsets": text}
    for name in ("kafka_records", "kafka_offset_index", "kafka_time_index"):
        table = read(name, broker_directory, **options)
        assert table.to_pylist() == within(every_row[name], "offset", least, most)
    rows = every_row["kafka_batches"]
    expected = [row for row in rows if row["last_offset"] >= least and row["base_offset"] <= most]
    assert read("kafka_batches", broker_directory, **options).to_pylist() == expected
    segments = read("kafka_segments", broker_directory, **options, partitions="0")
    ends = {0: 999, 1000: 1999, 2000: inf}
    expected = [base for base, end in ends.items() if base <= most and end >= least]
    assert segments["base_offset"].to_pylist() == expected


@pytest.mark.parametrize("late_ms", [None, "0"])
def test_a_range_of_times_has_its_rows_and_no_other(broker_directory, every_row, late_ms):
    """In milliseconds and as ISO 8601, with and without a zone; both ends are included."""
    options = {} if late_ms is None else {"late_ms": late_ms}
    least, most = START_MS + 123_400, START_MS + 170_100
    start, stop = units.moment(least), units.moment(most)
    for text in (
        f"{least}-{most}",
        f"{least}/{most}",
        f"{start}/{stop}",
        f"{start}+00:00 / {most}",
    ):
        for name in ("kafka_records", "kafka_time_index", "kafka_batches"):
            column = "max_timestamp_ms" if name == "kafka_batches" else "timestamp_ms"
            expected = within(every_row[name], column, least, most)
            table = read(name, broker_directory, **options, timestamps=text)
            assert expected and table.to_pylist() == expected, (name, text)
    options |= {"timestamps": f"{most}/", "partitions": "1"}
    rows = [row for row in every_row["kafka_records"] if row["partition"] == 1]
    table = read("kafka_records", broker_directory, **options)
    assert table.to_pylist() == within(rows, "timestamp_ms", most, inf)


def test_partitions_are_numbers_and_ranges(broker_directory):
    for text, numbers in (
        ("1", {1}),
        ("0,2", {0, 2}),
        ("1-", {1, 2}),
        ("7,-1", {0, 1}),
        ("9", set()),
    ):
        table = read("kafka_segments", broker_directory, partitions=text)
        assert set(table["partition"].to_pylist()) == numbers


def test_options_skip_what_filters_skip(broker_directory, monkeypatch):
    """Less than a fiftieth of the bytes, by offsets and by times, without any filter."""
    size_bytes = sum(path.stat().st_size for path in broker_directory.rglob("*.log"))
    for options in (
        {"offsets": "1500-1549"},
        {"timestamps": f"{START_MS + 150_000}-{START_MS + 154_999}", "late_ms": "1000"},
    ):
        with counted(monkeypatch) as reads:
            assert read("kafka_records", broker_directory, partitions="1", **options).num_rows == 50
        assert reads.bytes < 0.02 * size_bytes, options
        assert {path for path in reads.names if path.endswith(".log")} <= {
            f"{first:020d}.log" for first in (0, 1000, 2000)
        }


def test_times_are_for_rows_that_have_one(broker_directory):
    """A segment and a slot of an .index have none, so nothing is left out silently."""
    for name in ("kafka_segments", "kafka_offset_index"):
        with pytest.raises(BadOption, match=f"option timestamps applies to .*, not to {name}"):
            read(name, broker_directory, timestamps="1-2")


def test_ranges_are_read_as_they_are_written():
    """ISO 8601 is UTC if it has no zone."""
    options = parse_options(
        {
            "timestamps": "2026-09-21T18:22:31.444/2026-09-21T20:22:31.500+02:00",
            "offsets": " 5-7 ",
            "partitions": "0, 3-4",
        }
    )
    assert options.timestamps == NumberRange(1790014951444, 1790014951500)
    assert (options.offsets, options.partitions) == (
        NumberRange(5, 7),
        (NumberRange(0, 0), NumberRange(3, 4)),
    )
