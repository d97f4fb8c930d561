"""The windows of large logs: they begin and end at batches, and are spread over the bytes."""

from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis.tuning import log_windows
from kafkaviz.analysis.tuning.log_windows import LogWindow, TunedSegments, choose_windows
from kafkaviz.format import offset_index
from kafkaviz.log.broker import open_broker
from tests.pipeline import whole_logs

WINDOW_BYTES = 4000


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_windows, "WINDOW_BYTES", WINDOW_BYTES)


def logs_of(path: Path) -> list[TunedSegments]:
    return [(partition, partition.live) for partition in open_broker(path).partitions]


def write_segments(broker: Path, count: int = 6, batches: int = 40) -> list[TunedSegments]:
    """Writes a topic-partition with segments of batches of 1.2 kB and an entry per 4.8 kB."""
    whole_logs.broker(broker)
    for number in range(count):
        first = number * batches * 10
        whole_logs.write(
            broker / "orders-0",
            [whole_logs.batch(first + 10 * row, [row] * 10) for row in range(batches)],
            first,
        )
    return logs_of(broker)


def ranges_of(windows: list[LogWindow]) -> list[tuple[int, int, int]]:
    return [(window.segment.base_offset, window.start, window.stop) for window in windows]


def assert_whole_batches(windows: list[LogWindow]) -> None:
    """Checks starts, stops and rows against all batches of each .log."""
    path = None
    for window in windows:
        if window.segment.log.path != path:
            path = window.segment.log.path
            batches = window.segment.batches()
            ends = batches["position"] + batches["size_bytes"]
        assert window.start in batches["position"] and window.stop in ends
        first, last = np.searchsorted(batches["position"], [window.start, window.stop])
        assert np.array_equal(np.concatenate([*window.batches()]), batches[first:last])


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_windows_of_a_broker_are_whole_batches(clean: Path, share: float):
    logs = logs_of(clean)
    log_bytes = sum(segment.log.size_bytes for _, segments in logs for segment in segments)
    windows = choose_windows(logs, int(share * log_bytes))
    assert_whole_batches(windows)
    topics = {
        partition.topic for partition, segments in logs if any(s.log.size_bytes for s in segments)
    }
    assert {window.partition.topic for window in windows} == topics
    assert sum(window.stop - window.start for window in windows) < (share + 0.1) * log_bytes


@pytest.mark.parametrize("name", ["kafka-2.8.2-legacy", "kafka-3.9.0-follower"])
def test_windows_of_older_formats_are_whole_batches(shared: Path, name: str):
    logs = logs_of(shared / "data" / f"{name}.tar.gz")
    windows = choose_windows(logs, 200_000)
    assert_whole_batches(windows)
    assert any(window.start for window in windows)


@pytest.mark.parametrize("most_bytes", [None, 1 << 40])
def test_everything_is_one_window_per_segment(clean: Path, most_bytes: int | None):
    logs = logs_of(clean)
    windows = choose_windows(logs, most_bytes)
    whole = [(segment, 0, segment.log.size_bytes) for _, segments in logs for segment in segments]
    assert [(window.segment, window.start, window.stop) for window in windows] == whole
    for window in windows:
        pieces = [*window.batches()]
        assert sum(map(len, pieces)) == len(window.segment.batches())


def test_windows_are_spread_evenly(tmp_path: Path):
    logs = write_segments(tmp_path)
    log_bytes = logs[0][0].log_bytes
    windows = choose_windows(logs, log_bytes // 4)
    assert_whole_batches(windows)
    bytes_before = np.cumsum([0, *(segment.log.size_bytes for segment in logs[0][1])])
    number = {segment.base_offset: place for place, segment in enumerate(logs[0][1])}
    starts = [bytes_before[number[window.segment.base_offset]] + window.start for window in windows]
    assert len(windows) >= 12 and set(number) == {window.segment.base_offset for window in windows}
    gaps = np.diff(starts)
    assert gaps.max() < 2 * log_bytes / len(windows)
    assert sum(window.stop - window.start for window in windows) <= log_bytes // 4


def test_each_topic_has_a_window(tmp_path: Path):
    write_segments(tmp_path)
    whole_logs.write(tmp_path / "tiny-0", [whole_logs.batch(0, [1])])
    (tmp_path / "none-0").mkdir()
    (tmp_path / "none-0" / "00000000000000000000.log").touch()
    windows = choose_windows(logs_of(tmp_path), 10_000)
    assert_whole_batches(windows)
    topics = [window.partition.topic for window in windows]
    assert topics.count("tiny") == 1 and topics.count("orders") > 1 and "none" not in topics


def test_a_log_without_index_has_its_windows_at_the_start(tmp_path: Path):
    write_segments(tmp_path, count=1)
    (tmp_path / "orders-0" / "00000000000000000000.index").unlink()
    logs = logs_of(tmp_path)
    most_bytes = logs[0][0].log_bytes // 2
    windows = choose_windows(logs, most_bytes)
    assert_whole_batches(windows)
    [(_, start, stop)] = ranges_of(windows)
    assert start == 0 and most_bytes - 6000 < stop <= most_bytes


@pytest.mark.parametrize("field", ["position", "relative_offset"])
def test_entries_that_name_no_batch_are_not_followed(tmp_path: Path, field: str):
    """Each position is five bytes too large, or each offset is of the entry after the next."""
    write_segments(tmp_path, count=1)
    path = tmp_path / "orders-0" / "00000000000000000000.index"
    entries = offset_index.parse(path.read_bytes()).copy()
    if field == "position":
        entries["position"] += 5
    else:
        entries["relative_offset"][:-2] = entries["relative_offset"][2:]
    path.write_bytes(offset_index.build(entries))
    windows = choose_windows(logs_of(tmp_path), 10_000)
    assert_whole_batches(windows)
    assert [window.start for window in windows] == [0]


def test_a_log_that_is_shorter_than_its_index_says(tmp_path: Path):
    write_segments(tmp_path, count=1)
    path = tmp_path / "orders-0" / "00000000000000000000.log"
    path.write_bytes(path.read_bytes()[:20_000])
    windows = choose_windows(logs_of(tmp_path), 8000)
    assert_whole_batches(windows)
    assert windows and all(window.stop <= 20_000 for window in windows)


def test_a_damaged_batch_ends_a_window(tmp_path: Path):
    """The batch at the third entry has a length of 0; windows before and after it remain."""
    logs = write_segments(tmp_path, count=1)
    [(_, [segment])] = logs
    damage = int(segment.offset_index["position"][3])
    data = bytearray(segment.log.path.read_bytes())
    data[damage + 8 : damage + 12] = bytes(4)
    segment.log.path.write_bytes(data)
    windows = choose_windows(logs_of(tmp_path), segment.log.size_bytes * 3 // 4)
    assert all(window.stop <= damage or window.start > damage for window in windows)
    assert any(window.stop == damage for window in windows)
    assert any(window.start > damage for window in windows)
    for window in windows:
        batches = np.concatenate([*window.batches()])
        assert batches["position"][0] == window.start
        assert (batches["position"] + batches["size_bytes"])[-1] == window.stop


def test_a_batch_larger_than_a_window_is_taken_whole(tmp_path: Path):
    whole_logs.broker(tmp_path)
    batches = [whole_logs.batch(row, [row], value_bytes=9000) for row in range(20)]
    whole_logs.write(tmp_path / "large-0", batches)
    windows = choose_windows(logs_of(tmp_path), 40_000)
    assert_whole_batches(windows)
    assert len(windows) == 10 and {len(next(window.batches())) for window in windows} == {1}
