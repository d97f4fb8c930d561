"""The bytes of a .log as a search reads them."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import FileView, in_memory, reader
from kafkaviz.errors import CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.log.tiered.tiered_view import TieredOffsets
from kafkaviz.messages import message
from kafkaviz.search import by_time
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import LookupOutcome, by_offset, by_timestamp
from kafkaviz.search.scan import LogReader, run_search
from kafkaviz.search.segment_reasons import SegmentMiss, SegmentReason
from kafkaviz.simulate import lesson_logs
from tests.pipeline import whole_logs
from tests.support.legacy_messages import build_message

PROFILE = versions.search_profile()


def log_reader(data: bytes, size_bytes: int | None = None) -> LogReader:
    return LogReader(reader(data), len(data) if size_bytes is None else size_bytes)


def header(size_bytes: int) -> bytes:
    fields = np.zeros(1, HEADER)
    fields["batch_length_bytes"], fields["magic"] = size_bytes - LENGTH_END, 2
    return fields.tobytes()


def whole_batch() -> bytes:
    return whole_logs.batch(0, [whole_logs.START_MS] * 3)


def test_no_batch_is_before_a_file():
    """In the words of Utils.readFully."""
    with pytest.raises(CorruptBytes, match="position cannot be negative, but it is -7") as fault:
        next(log_reader(whole_batch()).batches(-7))
    assert fault.value.position == -7


def test_a_file_that_became_shorter_ends_where_its_bytes_do():
    """A missing header is the end; a batch that lacks bytes is damage."""
    data = whole_batch()
    assert list(log_reader(b"", len(data)).batches(0)) == []
    (batch,) = log_reader(data[:-5], len(data)).batches(0)
    with pytest.raises(CorruptBytes) as fault:
        _ = batch.content
    assert fault.value.what.key == "corrupt.batch_cut"
    assert dict(fault.value.what.values) == {"size": len(data), "available": len(data) - 5}


def test_a_batch_beyond_what_is_read_at_once_is_refused():
    size_bytes = LIMIT_BYTES + HEADER_BYTES
    (batch,) = log_reader(header(size_bytes), size_bytes).batches(0)
    with pytest.raises(CorruptBytes) as fault:
        list(batch.heads())
    assert (fault.value.position, fault.value.what.key) == (0, "corrupt.batch_too_large")


def test_a_fault_in_a_batch_is_at_a_byte_of_the_file():
    first = whole_batch()
    torn = bytearray(first)
    torn[HEADER_BYTES] = 0xFF
    _, batch = log_reader(first + torn).batches(0)
    with pytest.raises(CorruptBytes) as fault:
        list(batch.heads())
    assert fault.value.position > len(first)
    wrapper = build_message(1, 9, None, b"no messages", timestamp_ms=5, attributes=1)
    _, batch = log_reader(first + wrapper).batches(0)
    with pytest.raises(CorruptBytes) as fault:
        list(batch.heads())
    assert fault.value.position >= len(first)
    assert batch.to_batch().base_offset == 9  # a scan by last offsets never looks inside


@pytest.mark.parametrize(("path", "name"), [(None, "0.log"), ("a-0/0.log", "a-0/0.log")])
def test_a_fault_names_the_file_of_its_segment(path, name):
    def search(log: LogReader) -> None:
        raise CorruptBytes(7, message("corrupt.batch_gone"))

    view = replace(in_memory("0.log", b""), path=path)
    with pytest.raises(CorruptFile) as fault:
        run_search(SegmentView(base_offset=0, log=view), search)
    assert (str(fault.value.path), fault.value.position) == (name, 7)


@pytest.fixture(scope="module")
def emptied_log() -> LogView:
    """Returns offsets 0 to 2 and an active segment from 10 on without a batch."""
    return LogView(
        "t-0",
        (
            SegmentView(base_offset=0, log=in_memory(f"{0:020}.log", whole_batch())),
            SegmentView(base_offset=10, log=in_memory(f"{10:020}.log", b"")),
        ),
    )


def test_an_offset_that_no_segment_holds_any_more_is_no_batch(emptied_log):
    lookup = by_offset(emptied_log, 5, PROFILE)
    assert lookup.outcome is LookupOutcome.NO_BATCH
    (fetch,) = lookup.fetches
    assert [scan.base_offset for scan in fetch.scans] == [0, 10]
    assert (fetch.batch, fetch.segment_base_offset) == (None, 10)
    assert lookup.answer is None


def test_a_file_that_is_cut_in_the_middle_of_a_lookup_is_one_error():
    """However often it was opened before: the end is nearer, or the found batch is gone."""
    data = whole_batch()

    class CutFile:
        def __init__(self, whole_count: int) -> None:
            self.counts = [data] * whole_count

        def open(self) -> nullcontext:
            return nullcontext(reader(self.counts.pop() if self.counts else b""))

    keys = []
    for whole_count in range(6):
        view = FileView(name="0.log", size_bytes=len(data), open_reader=CutFile(whole_count).open)
        try:
            lookup = by_offset(LogView("t-0", (SegmentView(base_offset=0, log=view),)), 1, PROFILE)
            keys.append(lookup.outcome)
        except KafkavizError as fault:
            keys.append(fault.what.key if isinstance(fault, CorruptFile) else type(fault))
    assert "corrupt.batch_gone" in keys
    assert keys[-1] is LookupOutcome.SKIPS


def test_an_invalid_time_is_refused():
    with pytest.raises(KafkavizError) as refusal:
        by_timestamp(lesson_logs.five().log, by_time.EARLIEST_PENDING_UPLOAD - 1, PROFILE)
    assert refusal.value.message.key == "lookup_request.no_timestamp"


def test_the_largest_time_was_once_what_the_segment_remembers():
    """Older releases return the last record of the batch with that time."""
    log = lesson_logs.five().log
    old, new = (
        by_timestamp(log, by_time.MAX_TIMESTAMP, versions.search_profile(version))
        for version in ("3.2", "4.3.1")
    )
    assert old.scan is None and new.scan is not None
    assert old.answer.timestamp_ms == new.answer.timestamp_ms
    assert old.answer.offset >= new.answer.offset


def test_an_answer_after_the_limit_is_hidden():
    log = lesson_logs.five().log
    timestamp_ms = lesson_logs.START_MS + 3000
    seen = by_timestamp(log, timestamp_ms, PROFILE)
    bounds = replace(seen.bounds, limit_offset=seen.answer.offset)
    hidden = by_timestamp(log, timestamp_ms, PROFILE, bounds=bounds)
    assert hidden.answer is None
    assert hidden.start_choice.reason is SegmentReason.FIRST_REACHING
    assert hidden.start_choice.miss is SegmentMiss.HIDDEN


@pytest.mark.parametrize(("latest_tiered", "offset"), [(12, 13), (None, 0)])
def test_the_first_local_offset_without_a_directory_is_the_first_that_was_not_copied(
    latest_tiered, offset
):
    log = replace(lesson_logs.five().log, tiered=TieredOffsets(None, latest_tiered))
    lookup = by_timestamp(log, by_time.EARLIEST_LOCAL, PROFILE)
    assert lookup.answer.offset == offset
