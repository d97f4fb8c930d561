"""Advises whether producers should use another codec (compression.type).

The saving is measured on sampled records and scaled to the whole log.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkaviz.analysis.batching.batch_advice import (
    CHANGE,
    KEEP,
    NO_SAVING,
    AdviceReason,
    BatchAdvice,
    Saving,
    sample_reasons,
)
from kafkaviz.analysis.batching.merging import Merging
from kafkaviz.analysis.batching.packing import PackedCodec
from kafkaviz.analysis.batching.record_sample import RecordSample
from kafkaviz.binary import codec
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import HEADER_BYTES

WORTH_CODEC = 0.10  # share of the log that a codec must save
# The fastest of the codecs with at most this many times the fewest bytes is advised. For example,
# gzip and zstd often differ by 5 to 8 %, but gzip takes three times as long.
NEAR_BEST = 1.10
# factor for the worse end of a ratio that comes from a single block, and so has no interval
UNKNOWN_MARGIN = 1.1


@dataclass(frozen=True, kw_only=True)
class CodecAdvice:
    """Whether producers should use another codec.

    A ratio is the size of the log divided by the size of the uncompressed records. Times are
    processor time on this machine to compress (`pack`) or decompress (`unpack`) a MiB of records.

    Attributes:
        settings: pairs of a producer setting and its advised value. Empty: no change.
        saving: the saving with `codec_after`, in addition to that of advised larger batches.
        codec_before: the codec of most records today. None: unknown.
        codec_after: the advised codec. If the verdict is KEEP, the best codec.
        batch_bytes: the batch size in which codecs were compared. None: today's batches.
        certainty: "exact" if all records of the topic were compressed, otherwise "sampled".
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
    - A change must save 10 % of the log, at the worse end of the ratio's interval.
    """
    reasons = sample_reasons(sample)
    shares = _plain_shares(sample)
    if merging is None or not packed or not shares:
        return no_codec_advice(reasons)
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
    worst = header_ratio + (margin_ratio if chosen.ratio_high is None else chosen.ratio_high)
    best_ratio = chosen.ratio if chosen.ratio_low is None else chosen.ratio_low
    low_share = max(0.0, (ratio_before - worst) / ratio_today)
    high_share = max(0.0, (ratio_before - header_ratio - best_ratio) / ratio_today)
    # today's most frequent codec may be advised too, if some batches have another codec
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


def no_codec_advice(reasons: Sequence[AdviceReason]) -> CodecAdvice:
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


def default_rows(packed: Sequence[PackedCodec], batch_bytes: int | None) -> dict[str, PackedCodec]:
    """Returns the result per codec, at its default level and at one batch size."""
    return {
        row.codec: row for row in packed if row.level is None and row.batch_bytes == batch_bytes
    }


def _plain_shares(sample: RecordSample) -> dict[str, float]:
    """Returns each codec's share of the uncompressed record bytes."""
    sums: Counter[str] = Counter()
    codec_ids = batch_format.codec(sample.batches)
    for codec_id, name in enumerate(codec.CODECS):
        sums[name] = int(sample.batches["plain_bytes"][codec_ids == codec_id].sum())
    total = sum(sums.values())
    return {name: size / total for name, size in sums.items() if size}


def _mixed_ratio(rows: Mapping[str, PackedCodec], shares: Mapping[str, float]) -> float:
    """Returns the ratio when each codec compresses its share of the records."""
    return math.fsum(share * rows[name].stored_ratio for name, share in shares.items())


def _reference_size(
    merging: Merging, batch_advice: BatchAdvice, packed: Sequence[PackedCodec]
) -> int | None:
    """Returns the tried batch size that is nearest to the mean size of the merged batches."""
    settings = dict(batch_advice.settings)
    merge = merging.at(int(settings["linger.ms"]), int(settings["batch.size"]))
    merged = merge.high if batch_advice.is_up_to else merge.low
    mean_bytes = HEADER_BYTES + merged.plain_bytes / max(1, merged.batches)
    sizes = {row.batch_bytes for row in packed if row.batch_bytes is not None}
    return min(sizes, key=lambda size: abs(math.log(size / mean_bytes)), default=None)
