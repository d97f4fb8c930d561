"""Whether the batches and the codec of a topic should change, and what that would save.

`advise` measures topics and answers for each. A saving is scaled from the sample to the whole log.
The saving of larger batches is inferred from the gaps between batches; that of a codec is measured
on the sampled records.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafkaviz.analysis.batching.batch_facts import (
    DEFAULT_BATCH_BYTES,
    NO_PRODUCER_ID,
    BatchFacts,
    BatchFactsBuilder,
)
from kafkaviz.analysis.batching.merging import LINGERS_MS, MergedBatches, Merging, measure_merges
from kafkaviz.analysis.batching.packing import PackedCodec, pack
from kafkaviz.analysis.batching.record_sample import (
    CONTROL,
    RECORD_SAMPLE_BYTES,
    RecordSample,
    read_sample,
)
from kafkaviz.analysis.tuning.log_windows import LogWindow
from kafkaviz.binary import codec
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.walk import observe_scan

KEEP = "keep"
CHANGE = "change"
BATCHES = "batches"
CODEC = "codec"
INDEX = "index"
SECONDS = 4.0
MIN_SECONDS = 0.05  # for each topic
MIN_SAMPLE_BYTES = 256 << 10  # for each topic
WORTH_BATCHES = 0.05  # share of the log that larger batches must save
WORTH_CODEC = 0.10  # share of the log that a codec must save
ENOUGH_SAVING = 0.8  # of the largest saving: the smallest linger.ms that reaches it is advised
# gzip and zstd often differ by 5 to 8 %, and gzip takes three times as long
NEAR_BEST = 1.10  # of the codecs within 10 % of the fewest bytes, the fastest packer is advised
# added to a ratio that has no interval, because it comes from a single block
UNKNOWN_MARGIN = 1.1
# topics that brokers write, with the settings of brokers
INTERNAL_TOPICS = (
    "__cluster_metadata",
    "__consumer_offsets",
    "__remote_log_metadata",
    "__share_group_state",
    "__transaction_state",
)
# share of the batches from which on a reason says that they lack a producer id, or their own time
NOTABLE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class BatchingTopic:
    """A topic to advise on.

    Attributes:
        windows: the windows of its logs whose headers are read.
        log_bytes: the size of all its .log files.
        interval_bytes, by_base_offset: index.interval.bytes, and whether scans work as since 4.1.
        facts: the facts of the windows, if their batches were read before.
    """

    name: str
    windows: Sequence[LogWindow]
    log_bytes: int
    interval_bytes: int = 4096
    by_base_offset: bool = True
    facts: BatchFacts | None = None


@dataclass(frozen=True, kw_only=True)
class AdviceReason:
    """A reason as a code and values; the values of each code are in REASON_VALUES."""

    code: str
    values: Mapping[str, object]


REASON_VALUES = {
    # of both kinds of advice
    "no-records": "nothing could be sampled; the reasons after it say why, or the topic is empty",
    "unreadable-file": "windows: how many could not be read",
    "damaged": "batches: how many have records that cannot be read",
    "unknown-codec": "batches: how many have a codec that Kafka does not know",
    "too-large": "batches: how many are larger after decompression than may be read",
    "legacy": "batches: how many have magic 0 or 1; they are not part of the sample",
    "internal-topic": "brokers write it, so no producer can be changed",
    # of batches
    "header-share": "share: of the log that is headers; records_per_batch: mean",
    "large-batches": "batch_bytes: their mean size, 16 KiB or more",
    "merged": "linger_ms, batch_bytes, batches, low, high: the numbers of batches in the sample",
    "nothing-to-merge": "linger_ms: the largest that was tried; share: what it saves at least",
    "full-batches": "batch_bytes: batches would be full at 16 KiB, so this batch.size is advised",
    "no-producer-ids": "share: of the batches that have none, so only the most merged is known",
    "append-time": "share: of the batches whose times are those of the broker",
    "fewer-headers": "before, after: headers per lookup",
    # of the codec
    "ratio": "codec, before, after, low, high: bytes of the log per byte of records",
    "codec-is-best": "codec: today's; best: that with the fewest bytes; share: what it saves",
    "mixed-codecs": "codec, share: the share of records that have the advised codec already",
    "cheaper": "codec, best: the advised codec packs faster than that with the fewest bytes",
    "larger-batches-first": "batch_bytes: the codecs were compared in batches of this size",
    "single-block": "the ratio comes from a single block of records, so its interval is unknown",
}


@dataclass(frozen=True, kw_only=True)
class Saving:
    """The bytes of the whole log that a change saves, and their share in it, as a range."""

    low_bytes: int
    high_bytes: int
    low_share: float
    high_share: float


NO_SAVING = Saving(low_bytes=0, high_bytes=0, low_share=0.0, high_share=0.0)


@dataclass(frozen=True, kw_only=True)
class BatchAdvice:
    """Whether producers should build larger batches.

    Attributes:
        verdict: KEEP or CHANGE.
        settings: pairs of a producer's setting and its value; empty to keep.
        saving: the saving with these settings, or with the best ones if the verdict is KEEP.
        is_up_to: whether only the high end of the saving is known to be possible.
        batches_before, batches_low, batches_high: the batches of the whole log today, and with the
            fewest and the most merged.
        index_entries_before, index_entries_after: the entries of all .index files, with the fewest
            merged (with the most if is_up_to).
        headers_before, headers_after: the headers that a lookup reads, likewise; None without
            records.
        latency_ms: the time that a record waits at most, in addition.
        producer_memory_bytes: the memory of an open batch, for each partition that a producer
            writes to.
    """

    verdict: str
    settings: tuple[tuple[str, str], ...]
    saving: Saving
    is_up_to: bool
    batches_before: int
    batches_low: int
    batches_high: int
    index_entries_before: int
    index_entries_after: int
    headers_before: float | None
    headers_after: float | None
    latency_ms: int
    producer_memory_bytes: int
    reasons: tuple[AdviceReason, ...]
    certainty: str = "inferred"


@dataclass(frozen=True, kw_only=True)
class CodecAdvice:
    """Whether producers should use another codec.

    Attributes:
        verdict: KEEP or CHANGE.
        settings: pairs of a producer's setting and its value; empty to keep.
        saving: the bytes saved in addition to larger batches, if these are advised; with the best
            codec if the verdict is KEEP.
        codec_before: the codec that has most bytes of the log today; None if it is unknown.
        codec_after: the advised codec, or the best one if the verdict is KEEP.
        batch_bytes: the size of the batches in which codecs were compared; None for today's.
        ratio_before, ratio_after: bytes of the log per byte of records, at that size.
        pack_us_per_mib_before, pack_us_per_mib_after, unpack_us_per_mib_before,
            unpack_us_per_mib_after: processor time on this machine per MiB of records.
        certainty: "exact" if all records of the topic were packed, otherwise "sampled".
    """

    verdict: str
    settings: tuple[tuple[str, str], ...]
    saving: Saving
    codec_before: str | None
    codec_after: str | None
    batch_bytes: int | None
    ratio_before: float | None
    ratio_after: float | None
    pack_us_per_mib_before: float | None
    pack_us_per_mib_after: float | None
    unpack_us_per_mib_before: float | None
    unpack_us_per_mib_after: float | None
    reasons: tuple[AdviceReason, ...]
    certainty: str


@dataclass(frozen=True, kw_only=True)
class SampleExtent:
    """The part of a topic that was read.

    Attributes:
        log_bytes: the size of its .log files.
        window_bytes: the bytes of them whose headers were read.
        stored_bytes: the bytes of them whose records were decompressed.
        plain_bytes: the size of these records before compression.
        is_whole: whether these are all records of the topic.
        skipped: the same as in RecordSample.
    """

    log_bytes: int
    window_bytes: int
    stored_bytes: int
    plain_bytes: int
    batches: int
    records: int
    windows: int
    is_whole: bool
    skipped: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class BatchingAnswer:
    """The answer for one topic.

    Attributes:
        facts: how it is batched, from the headers of its windows.
        merging: its batches, and those that other settings would have made; None without records.
        packed: its records packed with each codec; empty without records.
    """

    name: str
    sample: SampleExtent
    facts: BatchFacts
    merging: Merging | None
    packed: tuple[PackedCodec, ...]
    batches: BatchAdvice
    codec: CodecAdvice

    @property
    def saved_bytes(self) -> int:
        """The bytes that the advised changes save at least; at most if only that is known."""
        return sum(saved for _, saved in order(self))


def advise(
    topics: Sequence[BatchingTopic],
    *,
    seconds: float = SECONDS,
    most_bytes: int = RECORD_SAMPLE_BYTES,
    on_progress: Callable[[str, float], None] = lambda _name, _share: None,
) -> tuple[BatchingAnswer, ...]:
    """Measures topics and returns an answer for each, in their order.

    Every topic gets an answer: what cannot be read is a reason in it. Memory is bounded by the
    sample of one topic.

    Args:
        seconds: the time for packing and merging of all topics, divided by their bytes. Reading
            headers and records comes in addition, and each topic gets MIN_SECONDS.
        most_bytes: the stored bytes to decompress of all topics, divided by their bytes; of each
            topic at least MIN_SAMPLE_BYTES.
        on_progress: called with the name of a topic and the share of its work that is done. An
            exception that it raises, such as JobCancelled, ends the work.
    """
    total_bytes = max(1, sum(topic.log_bytes for topic in topics))
    answers = []
    for topic in topics:
        share = topic.log_bytes / total_bytes
        answers.append(
            _answer(
                topic,
                seconds=max(MIN_SECONDS, seconds * share),
                most_bytes=max(MIN_SAMPLE_BYTES, int(most_bytes * share)),
                report_share=partial(on_progress, topic.name),
            )
        )
    return tuple(answers)


def order(answer: BatchingAnswer, index_saved_bytes: int = 0) -> tuple[tuple[str, int], ...]:
    """Returns the parts that should change with the bytes that each saves, the largest first.

    Args:
        index_saved_bytes: the bytes that the advised change of the index saves; 0 for none.
    """
    parts = []
    if answer.batches.verdict == CHANGE:
        saving = answer.batches.saving
        saved = saving.high_bytes if answer.batches.is_up_to else saving.low_bytes
        parts.append((BATCHES, saved))
    if answer.codec.verdict == CHANGE:
        parts.append((CODEC, answer.codec.saving.low_bytes))
    if index_saved_bytes:
        parts.append((INDEX, index_saved_bytes))
    return tuple(sorted(parts, key=lambda part: -part[1]))


def _answer(
    topic: BatchingTopic,
    *,
    seconds: float,
    most_bytes: int,
    report_share: Callable[[float], None],
) -> BatchingAnswer:
    facts = topic.facts or _read_facts(topic.windows)
    report_share(0.1)
    sample = read_sample(topic.windows, most_bytes, lambda share: report_share(0.1 + 0.1 * share))
    is_whole = sample.stored_bytes >= topic.log_bytes
    packed = pack(
        sample,
        seconds / 2,
        is_whole=is_whole,
        on_progress=lambda share: report_share(0.2 + 0.4 * share),
    )
    merging = measure_merges(
        sample,
        {row.codec: row.ratio for row in _default_rows(packed, DEFAULT_BATCH_BYTES).values()},
        seconds / 2,
        interval_bytes=topic.interval_bytes,
        by_base_offset=topic.by_base_offset,
        on_progress=lambda share: report_share(0.6 + 0.4 * share),
    )
    batch_advice = advise_batches(topic.log_bytes, sample, facts, merging)
    codec_advice = advise_codec(topic.log_bytes, sample, packed, merging, batch_advice)
    if topic.name in INTERNAL_TOPICS:
        reason = AdviceReason(code="internal-topic", values={})
        batch_advice = _no_batch_advice([reason])
        codec_advice = _no_codec_advice([reason])
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
        except KafkavizError:  # read_sample counts the file
            continue
    return builder.result()


def _sample_reasons(sample: RecordSample) -> list[AdviceReason]:
    """Returns a reason for each kind of records that is missing in a sample."""
    reasons = []
    if not sample.has_records:
        reasons.append(AdviceReason(code="no-records", values={}))
    for code, count in sample.skipped.items():
        if code != CONTROL:
            name = "windows" if code == "unreadable-file" else "batches"
            reasons.append(AdviceReason(code=code, values={name: count}))
    return reasons


# ---- batches


def advise_batches(
    log_bytes: int, sample: RecordSample, facts: BatchFacts, merging: Merging | None
) -> BatchAdvice:
    """Returns the advice on linger.ms and batch.size.

    The smallest linger.ms that reaches 80 % of the largest saving is advised, with 16 KiB batches,
    or with larger ones if they save another 5 %. It is worth it if it surely saves 5 % of the log,
    or if a lookup surely reads half as many headers. Batches of 16 KiB or more on average stay.
    """
    reasons = _sample_reasons(sample)
    total = facts.total
    if total.batches:
        values = {
            "share": total.header_share,
            "records_per_batch": total.records_per_batch_mean,
        }
        reasons.append(AdviceReason(code="header-share", values=values))
    if merging is None:
        return _no_batch_advice(reasons)
    measured = _MeasuredBatches(log_bytes, merging)
    anonymous_share = _batch_share(sample, sample.batches["producer_id"] == NO_PRODUCER_ID)
    append_time_share = _batch_share(sample, batch_format.is_log_append_time(sample.batches))
    if append_time_share >= NOTABLE_SHARE:
        reasons.append(AdviceReason(code="append-time", values={"share": append_time_share}))
    batch_bytes, linger_ms = measured.best_settings("low")
    is_large = total.batches > 0 and total.batch_bytes_mean >= DEFAULT_BATCH_BYTES
    is_change = not is_large and measured.is_worth(batch_bytes, linger_ms, "low")
    is_up_to = False
    if not is_change and anonymous_share >= NOTABLE_SHARE:
        reasons.append(AdviceReason(code="no-producer-ids", values={"share": anonymous_share}))
        high_settings = measured.best_settings("high")
        if not is_large and measured.is_worth(*high_settings, "high"):
            batch_bytes, linger_ms = high_settings
            is_change = True
            is_up_to = True
    merge = merging.at(linger_ms, batch_bytes)
    after = merge.high if is_up_to else merge.low
    saving = Saving(
        low_bytes=round(log_bytes * measured.saved_share(merge.low)),
        high_bytes=round(log_bytes * measured.saved_share(merge.high)),
        low_share=measured.saved_share(merge.low),
        high_share=measured.saved_share(merge.high),
    )
    if is_large:
        values = {"batch_bytes": total.batch_bytes_mean}
        reasons.append(AdviceReason(code="large-batches", values=values))
    elif is_change:
        reasons += _change_reasons(linger_ms, batch_bytes, merging, after)
    else:
        values = {"linger_ms": linger_ms, "share": saving.low_share}
        reasons.append(AdviceReason(code="nothing-to-merge", values=values))
    settings = (("linger.ms", str(linger_ms)), ("batch.size", str(batch_bytes)))
    return BatchAdvice(
        verdict=CHANGE if is_change else KEEP,
        settings=settings if is_change else (),
        saving=saving,
        is_up_to=is_up_to,
        batches_before=measured.scale(merging.today.batches),
        batches_low=measured.scale(merge.low.batches),
        batches_high=measured.scale(merge.high.batches),
        index_entries_before=measured.scale(merging.today.index_entries),
        index_entries_after=measured.scale(after.index_entries),
        headers_before=merging.today.headers_mean,
        headers_after=after.headers_mean,
        latency_ms=linger_ms if is_change else 0,
        producer_memory_bytes=batch_bytes if is_change else 0,
        reasons=tuple(reasons),
    )


def _change_reasons(
    linger_ms: int, batch_bytes: int, merging: Merging, after: MergedBatches
) -> list[AdviceReason]:
    merge = merging.at(linger_ms, batch_bytes)
    values = {
        "linger_ms": linger_ms,
        "batch_bytes": batch_bytes,
        "batches": merging.today.batches,
        "low": merge.low.batches,
        "high": merge.high.batches,
    }
    reasons = [AdviceReason(code="merged", values=values)]
    if batch_bytes > DEFAULT_BATCH_BYTES:
        reasons.append(AdviceReason(code="full-batches", values={"batch_bytes": batch_bytes}))
    before_headers = merging.today.headers_mean
    if after.headers_mean < before_headers:
        values = {"before": before_headers, "after": after.headers_mean}
        reasons.append(AdviceReason(code="fewer-headers", values=values))
    return reasons


def _no_batch_advice(reasons: Sequence[AdviceReason]) -> BatchAdvice:
    return BatchAdvice(
        verdict=KEEP,
        settings=(),
        saving=NO_SAVING,
        is_up_to=False,
        batches_before=0,
        batches_low=0,
        batches_high=0,
        index_entries_before=0,
        index_entries_after=0,
        headers_before=None,
        headers_after=None,
        latency_ms=0,
        producer_memory_bytes=0,
        reasons=tuple(reasons),
    )


def _batch_share(sample: RecordSample, is_counted: np.ndarray) -> float:
    """Returns the share of some batches in those with records."""
    has_records = sample.batches["end_record"] > sample.batches["first_record"]
    return float((is_counted & has_records).sum() / max(1, has_records.sum()))


class _MeasuredBatches:
    """Compares the merges of a sample with today's batches, for the whole log."""

    def __init__(self, log_bytes: int, merging: Merging) -> None:
        self._factor = log_bytes / max(1, merging.stored_bytes)
        self._merging = merging

    def scale(self, count: int) -> int:
        """Returns a number of the sample for the whole log."""
        return round(count * self._factor)

    def saved_share(self, merged: MergedBatches) -> float:
        today_bytes = max(1, self._merging.today.log_bytes)
        return max(0.0, (today_bytes - merged.log_bytes) / today_bytes)

    def best_settings(self, end: str) -> tuple[int, int]:
        """Returns batch.size and linger.ms.

        Args:
            end: "low" or "high", the end of the range that counts.
        """
        by_size: dict[int, dict[int, float]] = {}
        for merge in self._merging.merges:
            shares = by_size.setdefault(merge.batch_bytes, {})
            shares[merge.linger_ms] = self.saved_share(getattr(merge, end))
        sizes = sorted(by_size)
        batch_bytes = sizes[0]
        for size in sizes[1:]:
            gain = max(by_size[size].values()) - max(by_size[batch_bytes].values())
            if gain >= WORTH_BATCHES:
                batch_bytes = size
        shares = by_size[batch_bytes]
        enough = ENOUGH_SAVING * max(shares.values())
        lingers_ms = [linger_ms for linger_ms in LINGERS_MS if shares.get(linger_ms, -1) >= enough]
        return batch_bytes, min(lingers_ms, default=min(shares))

    def is_worth(self, batch_bytes: int, linger_ms: int, end: str) -> bool:
        merged = getattr(self._merging.at(linger_ms, batch_bytes), end)
        halves_headers = merged.headers_mean <= self._merging.today.headers_mean / 2
        return self.saved_share(merged) >= WORTH_BATCHES or halves_headers


# ---- codec


def advise_codec(
    log_bytes: int,
    sample: RecordSample,
    packed: Sequence[PackedCodec],
    merging: Merging | None,
    batch_advice: BatchAdvice,
) -> CodecAdvice:
    """Returns the advice on compression.type, among the default levels.

    If larger batches are advised, codecs are compared in batches of about their size. The codec
    with the fewest bytes is advised, or one within 10 % of it that packs faster. It is worth it if
    it saves 10 % of the log, even with the ratio at the worse end of its interval.
    """
    reasons = _sample_reasons(sample)
    shares = _plain_shares(sample)
    if merging is None or not packed or not shares:
        return _no_codec_advice(reasons)
    batch_bytes = None
    if batch_advice.verdict == CHANGE:
        batch_bytes = _reference_size(merging, batch_advice, packed)
    rows = _default_rows(packed, batch_bytes)
    # today's level may be a higher one than the default, which the same batches show
    level_factor = merging.stored_bytes / max(1, merging.today.log_bytes)
    ratio_today = level_factor * _mixed_ratio(_default_rows(packed, None), shares)
    ratio_before = level_factor * _mixed_ratio(rows, shares)
    best = min(rows.values(), key=lambda row: row.stored_ratio)
    near_best = [row for row in rows.values() if row.stored_ratio <= NEAR_BEST * best.stored_ratio]
    chosen = min(near_best, key=lambda row: row.pack_us_per_mib)
    codec_before = max(shares, key=lambda name: shares[name])
    header_ratio = chosen.stored_ratio - chosen.ratio
    margin_ratio = UNKNOWN_MARGIN * chosen.ratio
    worst = header_ratio + (margin_ratio if chosen.ratio_high is None else chosen.ratio_high)
    best_ratio = chosen.ratio if chosen.ratio_low is None else chosen.ratio_low
    low_share = max(0.0, (ratio_before - worst) / ratio_today)
    high_share = max(0.0, (ratio_before - header_ratio - best_ratio) / ratio_today)
    # even today's most frequent codec may be advised, for the batches that have another one
    is_change = low_share >= WORTH_CODEC and shares.get(chosen.codec, 0.0) < 1
    if batch_bytes is not None:
        reasons.append(
            AdviceReason(code="larger-batches-first", values={"batch_bytes": batch_bytes})
        )
    if is_change:
        values = {
            "codec": chosen.codec,
            "before": ratio_before,
            "after": chosen.stored_ratio,
            "low": header_ratio + best_ratio,
            "high": worst,
        }
        reasons.append(AdviceReason(code="ratio", values=values))
        if chosen.codec in shares:
            values = {"codec": chosen.codec, "share": shares[chosen.codec]}
            reasons.append(AdviceReason(code="mixed-codecs", values=values))
        if chosen is not best:
            values = {"codec": chosen.codec, "best": best.codec}
            reasons.append(AdviceReason(code="cheaper", values=values))
    else:
        values = {"codec": codec_before, "best": best.codec, "share": low_share}
        reasons.append(AdviceReason(code="codec-is-best", values=values))
    if chosen.ratio_high is None:
        reasons.append(AdviceReason(code="single-block", values={}))
    before = rows.get(codec_before)
    is_exact = chosen.ratio_low == chosen.ratio_high and chosen.ratio_low is not None
    return CodecAdvice(
        verdict=CHANGE if is_change else KEEP,
        settings=(("compression.type", chosen.codec),) if is_change else (),
        saving=Saving(
            low_bytes=round(log_bytes * low_share),
            high_bytes=round(log_bytes * high_share),
            low_share=low_share,
            high_share=high_share,
        ),
        codec_before=codec_before,
        codec_after=chosen.codec,
        batch_bytes=batch_bytes,
        ratio_before=ratio_before,
        ratio_after=chosen.stored_ratio,
        pack_us_per_mib_before=before.pack_us_per_mib if before else None,
        pack_us_per_mib_after=chosen.pack_us_per_mib,
        unpack_us_per_mib_before=before.unpack_us_per_mib if before else None,
        unpack_us_per_mib_after=chosen.unpack_us_per_mib,
        reasons=tuple(reasons),
        certainty="exact" if is_exact else "sampled",
    )


def _no_codec_advice(reasons: Sequence[AdviceReason]) -> CodecAdvice:
    return CodecAdvice(
        verdict=KEEP,
        settings=(),
        saving=NO_SAVING,
        codec_before=None,
        codec_after=None,
        batch_bytes=None,
        ratio_before=None,
        ratio_after=None,
        pack_us_per_mib_before=None,
        pack_us_per_mib_after=None,
        unpack_us_per_mib_before=None,
        unpack_us_per_mib_after=None,
        reasons=tuple(reasons),
        certainty="sampled",
    )


def _default_rows(packed: Sequence[PackedCodec], batch_bytes: int | None) -> dict[str, PackedCodec]:
    """Returns the rows of default levels at one batch size, by codec."""
    return {
        row.codec: row for row in packed if row.level is None and row.batch_bytes == batch_bytes
    }


def _plain_shares(sample: RecordSample) -> dict[str, float]:
    """Returns the share of each codec in the records' bytes before compression."""
    sums: Counter[str] = Counter()
    codec_ids = batch_format.codec(sample.batches)
    for codec_id, name in enumerate(codec.CODECS):
        sums[name] = int(sample.batches["plain_bytes"][codec_ids == codec_id].sum())
    total = sum(sums.values())
    return {name: size / total for name, size in sums.items() if size}


def _mixed_ratio(rows: Mapping[str, PackedCodec], shares: Mapping[str, float]) -> float:
    """Returns the bytes of the log per byte of records, if the codecs have these shares."""
    return math.fsum(share * rows[name].stored_ratio for name, share in shares.items())


def _reference_size(
    merging: Merging, batch_advice: BatchAdvice, packed: Sequence[PackedCodec]
) -> int | None:
    """Returns the packed size that is nearest to that of the merged batches."""
    settings = dict(batch_advice.settings)
    merge = merging.at(int(settings["linger.ms"]), int(settings["batch.size"]))
    merged = merge.high if batch_advice.is_up_to else merge.low
    mean_bytes = HEADER_BYTES + merged.plain_bytes / max(1, merged.batches)
    sizes = {row.batch_bytes for row in packed if row.batch_bytes is not None}
    return min(sizes, key=lambda size: abs(math.log(size / mean_bytes)), default=None)
