"""Advises whether producers should use larger batches (linger.ms, batch.size) or another codec.

The saving of larger batches is inferred from the gaps between batches, as a range. The saving of
another codec (compression.type) is measured on sampled records. Savings are scaled to the whole
log.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.batching.batch_facts import DEFAULT_BATCH_BYTES, NO_PRODUCER_ID, BatchFacts
from kafkaviz.analysis.batching.merging import MergedBatches, Merging
from kafkaviz.analysis.batching.packing import PackedCodec
from kafkaviz.analysis.batching.record_sample import CONTROL, RecordSample
from kafkaviz.binary import codec
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import HEADER_BYTES

KEEP = "keep"
CHANGE = "change"
WORTH_BATCHES = 0.05  # larger batches must save this share of the log
# the smallest linger.ms that saves this share of the largest saving is advised
ENOUGH_SAVING = 0.8
# share of batches without a producer id, or with LogAppendTime, from which on a reason says so
NOTABLE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class AdviceReason:
    """One reason for the advice. REASON_VALUES describes the codes and their values."""

    code: str
    values: Mapping[str, object]


def advice_reason(code: str, **values: object) -> AdviceReason:
    return AdviceReason(code=code, values=values)


REASON_VALUES = {
    # reasons in both kinds of advice
    "no-records": "nothing could be sampled; the reasons after it say why, or the topic is empty",
    "unreadable-file": "windows: how many could not be read",
    "damaged": "batches: how many have records that cannot be read",
    "unknown-codec": "batches: how many have a codec that Kafka does not know",
    "too-large": "batches: how many are larger after decompression than may be read",
    "legacy": "batches: how many have magic 0 or 1; they are not part of the sample",
    "internal-topic": "brokers write it, so no producer can be changed",
    # reasons in the advice on batches
    "header-share": "share: of the log that is headers; records_per_batch: mean",
    "large-batches": "batch_bytes: their mean size, 16 KiB or more",
    "merged": "linger_ms, batch_bytes, batches, low, high: the numbers of batches in the sample",
    "nothing-to-merge": "linger_ms: the largest that was tried; share: what it saves at least",
    "none-merged": "linger_ms: the largest that was tried; it would have merged no batches",
    "full-batches": "batch_bytes: batches would be full at 16 KiB, so this batch.size is advised",
    "no-producer-ids": "share: of the batches that have none, so only the most merged is known",
    "append-time": "share: of the batches whose times are those of the broker",
    "fewer-headers": "before, after: headers per lookup",
    # reasons in the advice on the codec
    "ratio": "codec, before, after, low, high: bytes of the log per byte of records",
    "codec-is-best": "codec: today's; best: that with the fewest bytes; share: what it saves",
    "mixed-codecs": "codec, share: the share of records that have the advised codec already",
    "cheaper": "codec, best: the advised codec packs faster than that with the fewest bytes",
    "larger-batches-first": "batch_bytes: the codecs were compared in batches of this size",
    "single-block": "the ratio comes from a single block of records, so its interval is unknown",
}


@dataclass(frozen=True, kw_only=True)
class Saving:
    """A low and a high estimate of the saving by a change: in bytes, and as a share of the log."""

    low_bytes: int
    high_bytes: int
    low_share: float
    high_share: float


NO_SAVING = Saving(low_bytes=0, high_bytes=0, low_share=0.0, high_share=0.0)


def _saving(log_bytes: int, low_share: float, high_share: float) -> Saving:
    return Saving(
        low_bytes=round(log_bytes * low_share),
        high_bytes=round(log_bytes * high_share),
        low_share=low_share,
        high_share=high_share,
    )


@dataclass(frozen=True, kw_only=True)
class BatchAdvice:
    """Whether producers should build larger batches. By default: no change, nothing measured.

    `batches_low` assumes that the fewest batches are merged, `batches_high` that the most are.

    Attributes:
        settings: pairs of a producer setting and its advised value. Empty: no change.
        saving: the saving with `settings`. For KEEP: with the tried settings that merge the most
            batches.
        is_up_to: whether only the high end of the saving is worth a change. If so, fields that end
            in `_after` assume that the most batches are merged, otherwise the fewest.
        headers_before: the mean number of headers that a lookup reads today. None: no records.
        latency_ms: how much longer a record may wait in the producer.
        producer_memory_bytes: the memory for one open batch. A producer has one per partition.
    """

    verdict: str = KEEP
    settings: tuple[tuple[str, str], ...] = ()
    saving: Saving = NO_SAVING
    is_up_to: bool = False
    batches_before: int = 0
    batches_low: int = 0
    batches_high: int = 0
    index_entries_before: int = 0
    index_entries_after: int = 0
    headers_before: float | None = None
    headers_after: float | None = None
    latency_ms: int = 0
    producer_memory_bytes: int = 0
    reasons: tuple[AdviceReason, ...]
    certainty: str = "inferred"


def sample_reasons(sample: RecordSample) -> list[AdviceReason]:
    """Returns a reason for each kind of batch whose records are not in the sample."""
    reasons = []
    if not sample.has_records:
        reasons.append(advice_reason("no-records"))
    for code, count in sample.skipped.items():
        if code == "unreadable-file":
            reasons.append(advice_reason(code, windows=count))
        elif code != CONTROL:
            reasons.append(advice_reason(code, batches=count))
    return reasons


def advise_batches(
    log_bytes: int, sample: RecordSample, facts: BatchFacts, merging: Merging | None
) -> BatchAdvice:
    """Returns the advice on linger.ms and batch.size.

    - A change is advised if it saves 5 % of the log, or halves the batch headers that a lookup
      reads. The low estimate must show this. If at least half of the batches have no producer id,
      the high estimate is enough.
    - linger.ms: the smallest that reaches 80 % of the largest saving.
    - batch.size: 16 KiB, or a larger size if that saves another 5 % of the log.
    - Batches with a mean size of 16 KiB or more are kept.
    """
    reasons = sample_reasons(sample)
    total = facts.total
    if total.batches:
        mean = total.records_per_batch_mean
        reasons.append(
            advice_reason("header-share", share=total.header_share, records_per_batch=mean)
        )
    if merging is None:
        return BatchAdvice(reasons=tuple(reasons))
    measured = _MeasuredBatches(log_bytes, merging)
    anonymous_share = _batch_share(sample, sample.batches["producer_id"] == NO_PRODUCER_ID)
    append_time_share = _batch_share(sample, batch_format.is_log_append_time(sample.batches))
    if append_time_share >= NOTABLE_SHARE:
        reasons.append(advice_reason("append-time", share=append_time_share))
    batch_bytes, linger_ms = measured.best_settings("low")
    is_large = total.batches > 0 and total.batch_bytes_mean >= DEFAULT_BATCH_BYTES
    is_change = not is_large and measured.is_worth(batch_bytes, linger_ms, "low")
    is_up_to = False
    if not is_change and anonymous_share >= NOTABLE_SHARE:
        reasons.append(advice_reason("no-producer-ids", share=anonymous_share))
        high_settings = measured.best_settings("high")
        if not is_large and measured.is_worth(*high_settings, "high"):
            batch_bytes, linger_ms = high_settings
            is_change = True
            is_up_to = True
    merge = merging.at(linger_ms, batch_bytes)
    if not is_change:
        merge = max(merging.merges, key=lambda tried: (-tried.high.batches, tried.linger_ms))
    after = merge.high if is_up_to else merge.low
    # merging more batches may save less, because a codec may pack their records a little worse
    low_share, high_share = sorted(
        (measured.saved_share(merge.low), measured.saved_share(merge.high))
    )
    longest_ms = max(tried.linger_ms for tried in merging.merges)
    if is_large:
        reasons.append(advice_reason("large-batches", batch_bytes=total.batch_bytes_mean))
    elif is_change:
        reasons += _change_reasons(linger_ms, batch_bytes, merging, after)
    elif merge.high.batches < merging.today.batches:
        reasons.append(advice_reason("nothing-to-merge", linger_ms=longest_ms, share=low_share))
    else:
        reasons.append(advice_reason("none-merged", linger_ms=longest_ms))
    settings = (("linger.ms", str(linger_ms)), ("batch.size", str(batch_bytes)))
    return BatchAdvice(
        verdict=CHANGE if is_change else KEEP,
        settings=settings if is_change else (),
        saving=_saving(log_bytes, low_share, high_share),
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
    reasons = [
        advice_reason(
            "merged",
            linger_ms=linger_ms,
            batch_bytes=batch_bytes,
            batches=merging.today.batches,
            low=merge.low.batches,
            high=merge.high.batches,
        )
    ]
    if batch_bytes > DEFAULT_BATCH_BYTES:
        reasons.append(advice_reason("full-batches", batch_bytes=batch_bytes))
    before = merging.today.headers_mean
    if after.headers_mean < before:
        reasons.append(advice_reason("fewer-headers", before=before, after=after.headers_mean))
    return reasons


def _batch_share(sample: RecordSample, is_counted: np.ndarray) -> float:
    has_records = sample.batches["end_record"] > sample.batches["first_record"]
    return float((is_counted & has_records).sum() / max(1, has_records.sum()))


class _MeasuredBatches:
    def __init__(self, log_bytes: int, merging: Merging) -> None:
        self._factor = log_bytes / max(1, merging.stored_bytes)
        self._merging = merging

    def scale(self, count: int) -> int:
        return round(count * self._factor)

    def saved_share(self, merged: MergedBatches) -> float:
        today_bytes = max(1, self._merging.today.log_bytes)
        return max(0.0, (today_bytes - merged.log_bytes) / today_bytes)

    def best_settings(self, end: str) -> tuple[int, int]:
        """Returns the best (batch.size, linger.ms) by the estimate `end`, "low" or "high"."""
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
        return batch_bytes, min(linger_ms for linger_ms, share in shares.items() if share >= enough)

    def is_worth(self, batch_bytes: int, linger_ms: int, end: str) -> bool:
        merged = getattr(self._merging.at(linger_ms, batch_bytes), end)
        halves_headers = merged.headers_mean <= self._merging.today.headers_mean / 2
        return self.saved_share(merged) >= WORTH_BATCHES or halves_headers


WORTH_CODEC = 0.10  # share of the log that a codec must save
# The fastest of the codecs with at most this many times the fewest bytes is advised. For example,
# gzip and zstd often differ by 5 to 8 %, but gzip takes three times as long.
NEAR_BEST = 1.10
# factor for the worse end of a ratio that comes from a single block, and so has no interval
UNKNOWN_MARGIN = 1.1


@dataclass(frozen=True, kw_only=True)
class CodecAdvice:
    """Whether producers should use another codec. By default: no change, nothing measured.

    A ratio is the size of the log divided by the size of the uncompressed records. Times are
    processor time on this machine to compress (`pack`) or decompress (`unpack`) a MiB of records.

    Attributes:
        settings: pairs of a producer setting and its advised value. Empty: no change.
        saving: the saving with `codec_after`. It does not include the saving of larger batches.
        codec_before: the codec of most record bytes today. None: unknown.
        codec_after: the advised codec. If the verdict is KEEP, a change to it saves too little.
        batch_bytes: the batch size in which codecs were compared. None: today's batches.
        certainty: "exact" if all records of the topic were compressed, otherwise "sampled".
    """

    verdict: str = KEEP
    settings: tuple[tuple[str, str], ...] = ()
    saving: Saving = NO_SAVING
    codec_before: str | None = None
    codec_after: str | None = None
    batch_bytes: int | None = None
    ratio_before: float | None = None
    ratio_after: float | None = None
    pack_us_per_mib_before: float | None = None
    pack_us_per_mib_after: float | None = None
    unpack_us_per_mib_before: float | None = None
    unpack_us_per_mib_after: float | None = None
    reasons: tuple[AdviceReason, ...]
    certainty: str = "sampled"


def advise_codec(
    log_bytes: int,
    sample: RecordSample,
    packed: Sequence[PackedCodec],
    merging: Merging | None,
    batch_advice: BatchAdvice,
) -> CodecAdvice:
    """Returns the advice on compression.type. Considers only default compression levels.

    - If larger batches are advised, codecs are compared in batches of about that size.
    - The codec with the fewest bytes is advised, or a faster one with at most 10 % more bytes.
    - A change must save 10 % of the log, even at the low end of the saving.
    """
    reasons = sample_reasons(sample)
    shares = _plain_shares(sample)
    if merging is None or not packed or not shares:
        return CodecAdvice(reasons=tuple(reasons))
    batch_bytes = None
    if batch_advice.verdict == CHANGE:
        batch_bytes = _reference_size(merging, batch_advice, packed)
    rows = default_rows(packed, batch_bytes)
    # today's level may not be the default: compare stored batches with the same batches rewritten
    level_factor = merging.stored_bytes / max(1, merging.today.log_bytes)
    ratio_today = level_factor * _mixed_ratio(default_rows(packed, None), shares)
    ratio_before = level_factor * _mixed_ratio(rows, shares)
    best = min(rows.values(), key=lambda row: row.stored_ratio)
    near_best = [row for row in rows.values() if row.stored_ratio <= NEAR_BEST * best.stored_ratio]
    chosen = min(near_best, key=lambda row: row.pack_us_per_mib)
    codec_before = max(shares, key=lambda name: shares[name])
    header_ratio = chosen.stored_ratio - chosen.ratio
    margin_ratio = UNKNOWN_MARGIN * chosen.ratio
    highest = header_ratio + (margin_ratio if chosen.ratio_high is None else chosen.ratio_high)
    best_ratio = chosen.ratio if chosen.ratio_low is None else chosen.ratio_low
    lowest = header_ratio + best_ratio
    low_share = max(0.0, (ratio_before - highest) / ratio_today)
    high_share = max(0.0, (ratio_before - header_ratio - best_ratio) / ratio_today)
    # today's most frequent codec may be advised too, if some batches have another codec
    is_change = low_share >= WORTH_CODEC and shares.get(chosen.codec, 0.0) < 1
    if batch_bytes is not None:
        reasons.append(advice_reason("larger-batches-first", batch_bytes=batch_bytes))
    if is_change:
        reasons.append(
            advice_reason(
                "ratio",
                codec=chosen.codec,
                before=ratio_before,
                after=chosen.stored_ratio,
                low=lowest,
                high=highest,
            )
        )
        if chosen.codec in shares:
            share = shares[chosen.codec]
            reasons.append(advice_reason("mixed-codecs", codec=chosen.codec, share=share))
        if chosen is not best:
            reasons.append(advice_reason("cheaper", codec=chosen.codec, best=best.codec))
    else:
        reasons.append(
            advice_reason("codec-is-best", codec=codec_before, best=best.codec, share=low_share)
        )
    if chosen.ratio_high is None:
        reasons.append(advice_reason("single-block"))
    before = rows.get(codec_before)
    is_exact = chosen.ratio_low == chosen.ratio_high and chosen.ratio_low is not None
    return CodecAdvice(
        verdict=CHANGE if is_change else KEEP,
        settings=(("compression.type", chosen.codec),) if is_change else (),
        saving=_saving(log_bytes, low_share, high_share),
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


def default_rows(packed: Sequence[PackedCodec], batch_bytes: int | None) -> dict[str, PackedCodec]:
    """Returns the results for one batch size and default compression levels, by codec."""
    return {
        row.codec: row for row in packed if row.level is None and row.batch_bytes == batch_bytes
    }


def _plain_shares(sample: RecordSample) -> dict[str, float]:
    """Returns each codec's share of the uncompressed record bytes."""
    codec_ids = batch_format.codec(sample.batches)
    sums = {
        name: int(sample.batches["plain_bytes"][codec_ids == codec_id].sum())
        for codec_id, name in enumerate(codec.CODECS)
    }
    total = sum(sums.values())
    return {name: size / total for name, size in sums.items() if size}


def _mixed_ratio(rows: Mapping[str, PackedCodec], shares: Mapping[str, float]) -> float:
    return math.fsum(share * rows[name].stored_ratio for name, share in shares.items())


def _reference_size(
    merging: Merging, batch_advice: BatchAdvice, packed: Sequence[PackedCodec]
) -> int | None:
    """Returns the batch size in `packed` nearest to the mean size of the advised batches."""
    settings = dict(batch_advice.settings)
    merge = merging.at(int(settings["linger.ms"]), int(settings["batch.size"]))
    merged = merge.high if batch_advice.is_up_to else merge.low
    mean_bytes = HEADER_BYTES + merged.plain_bytes / max(1, merged.batches)
    sizes = {row.batch_bytes for row in packed if row.batch_bytes is not None}
    return min(sizes, key=lambda size: abs(math.log(size / mean_bytes)), default=None)
