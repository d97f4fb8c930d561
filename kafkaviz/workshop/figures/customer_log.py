"""The example log of the lesson on the log cleaner, in its state on a given day.

A batch is written on every second day of a week, from Monday. Each Monday, the segment is closed
(by default), and then the cleaner checks the log. Decisions and cleanings are computed by the same
code as for a broker directory.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from kafkaviz import config_def, versions
from kafkaviz.analysis.compaction.compaction import BUFFERS_PER_THREAD, DecidedLog, cleaning_range
from kafkaviz.analysis.compaction.decision import CompactionRules, decide, open_log_state
from kafkaviz.analysis.compaction.record_fates import LogRecord, log_records
from kafkaviz.binary.file_view import in_memory
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.settings import Origin, SettingValue
from kafkaviz.messages import verbatim
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, Cleaning, clean
from kafkaviz.simulate.cleaner.offset_map import BYTES_PER_KEY
from kafkaviz.simulate.config import LogConfig
from kafkaviz.units import DAY_MS

PROFILES = "profiles"
TRANSACTIONS = "transactions"


def _broker_default(name: str) -> float:
    return config_def.BROKER_SETTINGS[name].default(versions.NEWEST_RELEASE)


MAP_BYTES = int(_broker_default("log.cleaner.dedupe.buffer.size"))
MAX_KEYS = int(MAP_BYTES // BYTES_PER_KEY * _broker_default("log.cleaner.io.buffer.load.factor"))
BUFFER_BYTES = int(_broker_default("log.cleaner.io.buffer.size")) // BUFFERS_PER_THREAD
EXPIRATION_MS = int(_broker_default("producer.id.expiration.ms"))


@dataclass(frozen=True, kw_only=True)
class TopicSettings:
    """The settings of the example topic and of its log cleaner."""

    rules: CompactionRules = field(default_factory=CompactionRules)
    delete_retention_ms: int = DAY_MS
    segment_ms: int = lesson_logs.WEEKLY.segment_ms
    most_keys: int = MAX_KEYS
    # the week, counted from 0, whose first batch begins a transaction that never ends; -1: none
    open_week: int = -1
    # the base offset of a segment with an unreadable first batch; -1: none
    broken_segment: int = -1

    @property
    def log(self) -> LogConfig:
        longest_lag_ms = self.rules.max_compaction_lag_ms
        return replace(
            lesson_logs.WEEKLY, segment_ms=self.segment_ms, max_compaction_lag_ms=longest_lag_ms
        )


@dataclass(frozen=True, kw_only=True)
class CleanerCheck:
    """One check of the log by the cleaner, and the cleaning that may follow."""

    now_ms: int
    log: DecidedLog
    cleaning: Cleaning | None  # None if the cleaner does not take the log, or if the cleaning fails
    error: str | None  # Kafka's exception if the cleaning fails
    segments: tuple[SegmentView, ...]  # the segments after the check

    @property
    def first_dirty_offset(self) -> int:
        """The first dirty offset in the cleaner's checkpoint after the check."""
        if self.cleaning:
            return self.cleaning.next_first_dirty_offset
        return self.log.decision.first_dirty_offset

    @cached_property
    def records(self) -> tuple[LogRecord, ...]:
        """All records of the log before this cleaner check; empty if a segment cannot be read."""
        return log_records(self.log, self.cleaning, self.now_ms) or ()

    def records_of(self, key: str) -> tuple[LogRecord, ...]:
        return tuple(record for record in self.records if record.key == key.encode())


STANDARD = TopicSettings()


@cache
def check(story: str, day: int, settings: TopicSettings = STANDARD) -> CleanerCheck:
    """Returns the cleaner's check of the log on `day`, after one check on each earlier Monday.

    Day 0 is a Monday. The first check is on day 7, or on `day` if that is earlier. The cleaner
    checks the log at 8 o'clock, after that day's batch. `story` is PROFILES or TRANSACTIONS.
    """
    mondays = range(7, day, 7)
    last = check(story, mondays[-1], settings) if mondays else None
    now_ms = lesson_logs.day(day)
    if story == PROFILES:
        written = lesson_logs.profiles(now_ms, settings.log, open_week=settings.open_week)
    else:
        written = lesson_logs.transactions(now_ms)
    checkpoint = last.first_dirty_offset if last else None
    start = checkpoint or 0
    cleaned_views = last.segments if last else ()
    views = [view for view in cleaned_views if view.base_offset < start]
    views += [view for view in written.segments if view.base_offset >= start]
    views = [
        _corrupt_record(view) if view.base_offset == settings.broken_segment else view
        for view in views
    ]
    state = open_log_state(
        views,
        written.producers,
        log_start_offset=0,
        log_end_offset=written.log_end_offset,
        now_ms=now_ms,
        producer_expiration_ms=EXPIRATION_MS,
    )
    decision = decide(state.facts, checkpoint, settings.rules, now_ms)
    ratio = SettingValue(
        name=DIRTY_RATIO,
        value=settings.rules.min_cleanable_dirty_ratio,
        origin=Origin.TYPED,
        source_name=DIRTY_RATIO,
        source=verbatim(""),
    )
    log = DecidedLog(
        partition=lesson_logs.PARTITION,
        log_directory=None,
        settings={DIRTY_RATIO: ratio},
        state=state,
        decision=decision,
    )
    cleaning = None
    error = None
    segments = tuple(views)
    if decision.is_eligible:
        logs: dict[int, bytes] = defaultdict(bytes)

        def write(base_offset: int, data: bytes) -> None:
            logs[base_offset] += data

        config = CleanerConfig(
            log=settings.log,
            delete_retention_ms=settings.delete_retention_ms,
            most_keys=settings.most_keys,
            io_buffer_bytes=BUFFER_BYTES,
        )
        try:
            cleaning = clean(
                cleaning_range(state, decision),
                config,
                versions.NEWEST_RELEASE,
                now_ms,
                write=write,
            )
            segments = lesson_logs.cleaned_segments(views, cleaning, logs)
        except CleaningFailed as failure:
            error = str(failure.exception)
    return CleanerCheck(now_ms=now_ms, log=log, cleaning=cleaning, error=error, segments=segments)


def _corrupt_record(view: SegmentView) -> SegmentView:
    data = bytearray(view.log.content())
    data[HEADER_BYTES] ^= 0x10
    return replace(view, log=in_memory(view.log.name, bytes(data)))
