"""Advises on the batches and the codec of a topic, with the bytes that a change would save.

The saving of larger batches is inferred from the gaps between batches. The saving of another codec
is measured on sampled records. The two savings are scaled from the sample to the whole log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kafkaviz.analysis.batching.batch_facts import (
    DEFAULT_BATCH_BYTES,
    BatchFacts,
    BatchFactsBuilder,
)
from kafkaviz.analysis.batching.merging import Merging, measure_merges
from kafkaviz.analysis.batching.packing import PackedCodec, pack
from kafkaviz.analysis.batching.producer_advice import (
    CHANGE,
    BatchAdvice,
    CodecAdvice,
    advice_reason,
    advise_batches,
    advise_codec,
    default_rows,
)
from kafkaviz.analysis.batching.record_sample import RECORD_SAMPLE_BYTES, read_sample
from kafkaviz.analysis.tuning.log_windows import LogWindow
from kafkaviz.errors import KafkavizError
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.format.walk import observe_scan

BATCHES = "batches"
CODEC = "codec"
INDEX = "index"
SECONDS = 4.0
MIN_SECONDS = 0.05  # each topic gets at least this time
MIN_SAMPLE_BYTES = 256 << 10  # each topic may have at least this many bytes sampled
# topics that brokers write; producer settings do not apply
INTERNAL_TOPICS = (
    METADATA_TOPIC,
    "__consumer_offsets",
    "__remote_log_metadata",
    "__share_group_state",
    "__transaction_state",
)


@dataclass(frozen=True, kw_only=True)
class BatchingTopic:
    """A topic for which `advise` recommends batches and a codec."""

    name: str
    windows: Sequence[LogWindow]  # the parts of the logs whose batch headers are read
    log_bytes: int
    interval_bytes: int = 4096
    by_base_offset: bool = True  # a lookup reads only 17 of a header's 61 bytes (since Kafka 4.1)


@dataclass(frozen=True, kw_only=True)
class TopicQuota:
    """Limits for one topic: how long to measure its sample, and how many log bytes to sample."""

    seconds: float
    most_bytes: int


@dataclass(frozen=True, kw_only=True)
class SampleExtent:
    """How much of a topic was read."""

    log_bytes: int
    window_bytes: int  # of the batches whose headers were read
    stored_bytes: int  # of the batches whose records were decompressed
    plain_bytes: int  # of these records after decompression
    batches: int
    records: int
    windows: int
    is_whole: bool
    skipped: Mapping[str, int]  # batches whose records were not read, by reason as in RecordSample


@dataclass(frozen=True, kw_only=True)
class BatchingAnswer:
    """The advice for one topic, and the measurements that led to the advice."""

    name: str
    sample: SampleExtent
    facts: BatchFacts
    merging: Merging | None  # sizes with other linger.ms and batch.size; None: no records
    packed: tuple[PackedCodec, ...]  # sizes with each codec; empty: no records
    batches: BatchAdvice
    codec: CodecAdvice

    @property
    def saved_bytes(self) -> int:
        return sum(saved for _, saved in rank_changes(self))


def advise(
    topics: Sequence[BatchingTopic],
    *,
    seconds: float = SECONDS,
    on_progress: Callable[[str, float], None] = lambda _name, _share: None,
) -> tuple[BatchingAnswer, ...]:
    """Measures topics and returns an answer for each, in the same order.

    If a topic cannot be read, its answer contains the reason. Only one topic's sample is in memory
    at a time.

    Args:
        seconds: the time to measure the samples, after they were read. Each topic gets a part in
            proportion to its size, but at least MIN_SECONDS.
        on_progress: called with a topic's name and the share of its work that is done, 0 to 1. May
            raise an exception such as JobCancelled to end the work.
    """
    return tuple(
        answer_topic(topic, quota, partial(on_progress, topic.name))
        for topic, quota in zip(topics, quotas(topics, seconds, RECORD_SAMPLE_BYTES), strict=True)
    )


def quotas(topics: Sequence[BatchingTopic], seconds: float, most_bytes: int) -> list[TopicQuota]:
    """Divides the time and the bytes to sample among topics, in proportion to their sizes."""
    total_bytes = max(1, sum(topic.log_bytes for topic in topics))
    shares = [topic.log_bytes / total_bytes for topic in topics]
    return [
        TopicQuota(
            seconds=max(MIN_SECONDS, seconds * share),
            most_bytes=max(MIN_SAMPLE_BYTES, int(most_bytes * share)),
        )
        for share in shares
    ]


def rank_changes(answer: BatchingAnswer, index_saved_bytes: int = 0) -> tuple[tuple[str, int], ...]:
    """Returns the advised changes and the bytes that each saves, the largest saving first.

    For example, `(("batches", 9_000_000), ("index", 4_000))`. The names are "batches", "codec" and
    "index". If the codec was measured in larger batches, "batches" comes first, even if another
    change saves more.
    `index_saved_bytes` is the saving of the advised index.interval.bytes; 0 if none is advised.
    """
    saved_bytes = {}
    if answer.batches.verdict == CHANGE:
        saving = answer.batches.saving
        saved_bytes[BATCHES] = saving.high_bytes if answer.batches.is_up_to else saving.low_bytes
    if answer.codec.verdict == CHANGE:
        saved_bytes[CODEC] = answer.codec.saving.low_bytes
    if index_saved_bytes:
        saved_bytes[INDEX] = index_saved_bytes
    weights = dict(saved_bytes)
    if BATCHES in weights and answer.codec.batch_bytes is not None:
        weights[BATCHES] = max(weights.values())
    # equal savings keep the order batches, codec, index
    parts = sorted(saved_bytes, key=lambda part: -weights[part])
    return tuple((part, saved_bytes[part]) for part in parts)


def answer_topic(
    topic: BatchingTopic,
    quota: TopicQuota,
    report_share: Callable[[float], None] = lambda _share: None,
) -> BatchingAnswer:
    """Measures one topic. Calls `report_share` with the share of the work done, 0 to 1."""
    facts = _read_facts(topic.windows)
    report_share(0.1)
    sample = read_sample(
        topic.windows, quota.most_bytes, lambda share: report_share(0.1 + 0.1 * share)
    )
    is_whole = sample.stored_bytes >= topic.log_bytes
    packed = pack(
        sample,
        quota.seconds / 2,
        is_whole=is_whole,
        on_progress=lambda share: report_share(0.2 + 0.4 * share),
    )
    merging = measure_merges(
        sample,
        {row.codec: row.ratio for row in default_rows(packed, DEFAULT_BATCH_BYTES).values()},
        quota.seconds / 2,
        interval_bytes=topic.interval_bytes,
        by_base_offset=topic.by_base_offset,
        on_progress=lambda share: report_share(0.6 + 0.4 * share),
    )
    batch_advice = advise_batches(topic.log_bytes, sample, facts, merging)
    codec_advice = advise_codec(topic.log_bytes, sample, packed, merging, batch_advice)
    if topic.name in INTERNAL_TOPICS:
        reasons = (advice_reason("internal-topic"),)
        batch_advice = BatchAdvice(reasons=reasons)
        codec_advice = CodecAdvice(reasons=reasons)
    report_share(1.0)
    return BatchingAnswer(
        name=topic.name,
        sample=SampleExtent(
            log_bytes=topic.log_bytes,
            window_bytes=sum(window.stop - window.start for window in topic.windows),
            stored_bytes=sample.stored_bytes,
            plain_bytes=len(sample.data),
            batches=len(sample.batches),
            records=len(sample.records),
            windows=len(sample.windows),
            is_whole=is_whole,
            skipped=sample.skipped,
        ),
        facts=facts,
        merging=merging,
        packed=packed,
        batches=batch_advice,
        codec=codec_advice,
    )


def _read_facts(windows: Sequence[LogWindow]) -> BatchFacts:
    builder = BatchFactsBuilder()
    for window in windows:
        try:
            observe_scan(window.batches(), builder)
        except KafkavizError:  # read_sample counts such files
            continue
    return builder.result()
