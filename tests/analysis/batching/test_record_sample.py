"""The sample of records: which are read, and what is left out."""

import numpy as np
import pytest

from kafkaviz.analysis.batching import record_sample
from kafkaviz.analysis.batching.record_sample import read_sample
from kafkaviz.analysis.tuning.log_windows import LogWindow
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, HEADER_BYTES, LOG_APPEND_TIME, TRANSACTIONAL
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from tests.analysis.batching import samples
from tests.analysis.batching.samples import Sent
from tests.support.batch_reading import all_records

MIXED = [
    Sent([5, 6, 9], codec_name="zstd"),
    Sent([1], 8, attributes=TRANSACTIONAL),
    Sent([2], 8, attributes=TRANSACTIONAL | CONTROL),
    Sent([7, 8], -1, codec_name="lz4"),
    Sent([3, 11], codec_name="gzip", attributes=LOG_APPEND_TIME),
    Sent([4], codec_name="snappy"),
]


def test_a_log_is_read_as_its_batches_say(tmp_path):
    found = read_sample(samples.log_windows(tmp_path, MIXED))
    expected = samples.sample(MIXED)
    assert found.records.tolist() == expected.records.tolist()
    assert found.data.tobytes() == expected.data.tobytes()
    assert found.stored_bytes == expected.stored_bytes
    assert found.skipped == {"control": 1}
    for name in set(record_sample.SAMPLED_BATCH.names) - {"crc", "leader_epoch", "base_sequence"}:
        assert found.batches[name].tolist() == expected.batches[name].tolist(), name


@pytest.mark.parametrize("most_bytes", [1, 100_000, 1 << 23])
def test_records_of_a_broker_are_those_of_its_batches(clean, most_bytes):
    broker = open_broker(clean)
    for topic in ("orders", "payments", "clicks-mixed", "append-time"):
        found = samples.read_topic(broker, topic, 1 << 20, most_bytes)
        windows = np.unique(found.batches["window"])
        assert windows.tolist() == list(range(len(found.windows)))
        assert found.stored_bytes == found.batches["size_bytes"].sum()
        assert found.stored_bytes <= most_bytes + len(windows) * found.batches["size_bytes"].max()
        for batch in found.batches[:: max(1, len(found.batches) // 40)]:
            window = found.windows[batch["window"]]
            position = int(batch["position"])
            with open(window.segment.log.path, "rb") as log:
                log.seek(position + HEADER_BYTES)
                body = log.read(int(batch["size_bytes"]) - HEADER_BYTES)
            rows = found.records[batch["first_record"] : batch["end_record"]]
            if batch["attributes"] & CONTROL:
                assert not len(rows)
                continue
            parts = all_records(body, int(batch["attributes"]) & 7, int(batch["record_count"]))
            assert len(rows) == len(parts)
            for row, part in zip(rows, parts, strict=True):
                assert found.data[row["start"] : row["end"]].tobytes() == record.build([part])
                assert row["offset"] == batch["base_offset"] + part.offset_delta


def test_a_large_window_is_sampled_in_many_places(tmp_path):
    sent = [Sent([number], value_bytes=900) for number in range(2000)]
    (window,) = samples.log_windows(tmp_path, sent)
    found = read_sample([window], 200_000)
    assert len(found.windows) == record_sample.MIN_WINDOWS
    starts = np.array([part.start for part in found.windows])
    assert np.ptp(starts) > 0.9 * window.stop
    assert 190_000 < found.stored_bytes <= 200_000
    assert np.diff(starts) == pytest.approx(window.stop / record_sample.MIN_WINDOWS, rel=0.02)


def test_many_windows_are_thinned_out(tmp_path):
    (window,) = samples.log_windows(tmp_path, [Sent([1])])
    found = read_sample([window] * 1000)
    assert len(found.windows) == len(found.batches) == record_sample.MAX_WINDOWS


@pytest.mark.parametrize("codec_name", ["none", "gzip", "zstd"])
def test_damage_is_counted(tmp_path, codec_name):
    sent = [Sent([number] * 5, codec_name=codec_name) for number in range(3)]
    (window,) = samples.log_windows(tmp_path, sent)
    log = window.segment.log.path
    data = bytearray(log.read_bytes())
    middle = len(sent[0].batch(0))
    data[middle + HEADER_BYTES : middle + HEADER_BYTES + 40] = b"\xff" * 40
    log.write_bytes(data)
    found = read_sample([window])
    assert found.skipped == {"damaged": 1}
    assert len(found.batches) == 3
    assert found.batches["end_record"].tolist() == [5, 5, 10]
    assert len(found.records) == 10


def test_what_is_not_read_has_a_reason(tmp_path):
    (window,) = samples.log_windows(tmp_path, [Sent([1]), Sent([1], attributes=7)])
    assert read_sample([window]).skipped == {"unknown-codec": 1}
    log = window.segment.log.path
    log.write_bytes(log.read_bytes()[:-3])
    torn = LogWindow(window.partition, window.segment, 0, window.stop - 3)
    assert read_sample([torn]).skipped == {"damaged": 1}
    assert len(read_sample([torn]).records) == 1
    for left_bytes in (10, 0):
        log.write_bytes(log.read_bytes()[:left_bytes])
        assert read_sample([window]).skipped == {"damaged": 1}
    log.unlink()
    assert read_sample([window]).skipped == {"unreadable-file": 1}
    assert read_sample([]).skipped == {}


def test_messages_of_old_formats_are_counted(shared):
    broker = open_broker(unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz"))
    counts = {}
    for name in ("v0.none", "mixed.one-segment", "v2.zstd", "v2.empty"):
        found = samples.read_topic(broker, name)
        counts[name] = found.skipped.get("legacy", 0), found.has_records
    assert counts == {
        "v0.none": (906, False),
        "mixed.one-segment": (458, True),
        "v2.zstd": (0, True),
        "v2.empty": (0, False),
    }


def test_memory_does_not_follow_what_a_batch_expands_to(tmp_path, monkeypatch):
    sent = [Sent([number], codec_name="zstd", value_bytes=3 << 20) for number in range(40)]
    (window,) = samples.log_windows(tmp_path, sent)
    found = read_sample([window] * 3, 1 << 20)
    assert 3 << 20 < len(found.data) <= record_sample.MAX_PLAIN_FACTOR << 20
    monkeypatch.setattr(record_sample, "MAX_PLAIN_FACTOR", 2)
    found = read_sample([window] * 3, 300_000)
    assert not found.has_records
    assert found.skipped == {"too-large": 3}


def test_memory_does_not_follow_the_number_of_records(tmp_path, monkeypatch):
    monkeypatch.setattr(record_sample, "MAX_RECORDS", 100)
    sent = [Sent([number] * 30) for number in range(10)]
    (window,) = samples.log_windows(tmp_path, sent)
    assert len(read_sample([window]).records) == 90
    monkeypatch.setattr(record_sample, "MAX_RECORDS", 29)
    assert read_sample([window]).skipped == {"too-large": 1}


def test_progress_can_cancel(tmp_path):
    windows = samples.log_windows(tmp_path, [Sent([1])])

    def cancel(share: float) -> None:
        raise JobCancelled("")

    with pytest.raises(JobCancelled):
        read_sample(windows, on_progress=cancel)
