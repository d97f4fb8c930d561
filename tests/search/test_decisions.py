"""The decisions of a lookup and their reasons, as values."""

import pytest

from kafkaviz import versions
from kafkaviz.binary.file_view import in_memory
from kafkaviz.search.binary_search import Branch, floor
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import LookupOutcome, by_offset, by_timestamp, lookup_in_view
from kafkaviz.search.scan import HeaderOutcome, ReadPart
from kafkaviz.search.segment_reasons import SegmentMiss, SegmentReason
from kafkaviz.simulate import lesson_logs
from tests.support.legacy_messages import build_message

START_MS = lesson_logs.START_MS
BELOW, ABOVE = HeaderOutcome.BASE_BELOW, HeaderOutcome.BASE_ABOVE_BACK
ARTICLE = [6, 14, 22, 26, 31]


@pytest.mark.parametrize(
    ("target", "warm", "branches"),
    [
        (23, True, [Branch.INTO_WARM, Branch.RIGHT, Branch.LEFT]),
        (22, True, [Branch.INTO_WARM, Branch.EXACT]),
        (6, True, [Branch.BEFORE_WARM, Branch.FROM_FIRST]),
        (5, True, [Branch.BEFORE_WARM, Branch.NO_ENTRY]),
        (5, False, [Branch.NO_ENTRY]),
        (31, False, [Branch.FROM_FIRST, Branch.RIGHT, Branch.RIGHT, Branch.EXACT]),
    ],
)
def test_each_probe_has_its_branch(target, warm, branches):
    """AbstractIndex.indexSlotRangeFor takes the same branch."""
    search = floor(ARTICLE, target, 8, warm=warm)
    assert [probe.branch for probe in search.probes] == branches


@pytest.mark.parametrize("warm_bytes", [None, 8, 16, 32, 8192])
def test_what_remains_is_what_the_next_probe_is_of(warm_bytes):
    keys = list(range(3, 120, 7))
    for target in range(125):
        search = floor(keys, target, 8, warm=warm_bytes is not None, warm_bytes=warm_bytes or 8192)
        for probe, following in zip(search.probes, search.probes[1:], strict=False):
            if probe.branch is not Branch.BEFORE_WARM:
                assert probe.remaining == (following.lo, following.hi)
        remaining = search.probes[-1].remaining
        assert (remaining is None) == (search.slot < 0)
        assert remaining is None or remaining == (search.slot, search.slot)


@pytest.mark.parametrize(
    ("version", "target", "headers"),
    [
        ("4.3.1", 23, [(656, BELOW, 17), (838, HeaderOutcome.BASE_EQUAL, 23)]),
        (
            "4.3.1",
            25,
            [
                (656, BELOW, 17),
                (838, BELOW, 23),
                (1050, ABOVE, 27),
                (838, HeaderOutcome.REACHES, 26),
            ],
        ),
        ("3.9", 23, [(656, HeaderOutcome.LAST_BELOW, 22), (838, HeaderOutcome.LAST_FOUND, 26)]),
    ],
)
def test_each_header_has_its_outcome(version, target, headers):
    scan = by_offset(lesson_logs.five().log, target, versions.search_profile(version)).scan
    assert [(header.position, header.outcome, header.value) for header in scan.headers] == headers
    assert scan.headers[-1].reads == len(scan.reads) and scan.target == target


def test_headers_of_a_time():
    timestamp_ms = lesson_logs.START_MS + 3000
    scan = by_timestamp(lesson_logs.five().log, timestamp_ms, versions.search_profile()).scan
    outcomes = [header.outcome for header in scan.headers]
    assert outcomes == [HeaderOutcome.TIME_EARLY, HeaderOutcome.TIME_FOUND]
    assert scan.reads[-1].part is ReadPart.BATCH


def old_log(torn_bytes: int = 0) -> LogView:
    """Returns three messages of magic 1 at offsets 0 to 2, and the beginning of a fourth."""
    messages = [build_message(1, offset, b"k", b"value") for offset in range(4)]
    data = b"".join(messages[:3]) + messages[3][:torn_bytes]
    return LogView("old-0", (SegmentView(base_offset=0, log=in_memory(f"{0:020}.log", data)),))


def test_a_message_that_is_read_whole_is_one_header():
    """Its base offset takes all of its bytes, which does not count as reading the batch before."""
    scan = by_offset(old_log(), 2, versions.search_profile("4.3.1")).scan
    outcomes = [header.outcome for header in scan.headers]
    assert outcomes == [BELOW, BELOW, HeaderOutcome.BASE_EQUAL]
    assert [read.part for read in scan.reads] == [ReadPart.START, ReadPart.BATCH] * 3


@pytest.mark.parametrize("version", ["4.3.1", "3.9"])
def test_a_header_that_is_cut_off_decides_nothing(version):
    log = old_log(torn_bytes=20)
    scan = by_timestamp(log, 0, versions.search_profile(version)).scan
    assert scan.batch is None and len(scan.headers) == 3
    assert scan.reads[-1].position > scan.headers[-1].position


@pytest.mark.parametrize(
    ("target", "reason", "outcome"),
    [
        ({"offset": -1}, SegmentReason.OUT_OF_RANGE, None),
        ({"offset": 32}, SegmentReason.BEYOND_END, None),
        ({"offset": 23}, SegmentReason.GREATEST_BASE, LookupOutcome.FIRST),
        ({"offset": 25}, SegmentReason.GREATEST_BASE, LookupOutcome.SKIPS),
        ({"timestamp_ms": -1}, SegmentReason.LOG_END, None),
        ({"timestamp_ms": -2}, SegmentReason.LOG_START, None),
        ({"timestamp_ms": -3}, SegmentReason.LARGEST, LookupOutcome.RECORD_LARGEST),
        ({"timestamp_ms": START_MS}, SegmentReason.FIRST_REACHING, LookupOutcome.RECORD_TIME),
        ({"timestamp_ms": START_MS + 9000}, SegmentReason.TOO_OLD, None),
    ],
)
def test_where_a_lookup_begins_and_what_comes_of_it(target, reason, outcome):
    result = lookup_in_view(lesson_logs.five().log, versions.search_profile(), **target)
    assert (result.start_choice.reason, result.start_choice.miss) == (reason, None)
    assert result.outcome is outcome


def test_a_segment_without_a_late_record_is_a_miss():
    """The largest timestamp of the file promised one."""
    result = by_timestamp(old_log(), 0, versions.search_profile())
    start = result.start_choice
    assert (start.reason, start.miss) == (SegmentReason.FIRST_REACHING, SegmentMiss.NO_RECORD)
    assert start.is_file_time
    assert result.outcome is LookupOutcome.TOO_EARLY
