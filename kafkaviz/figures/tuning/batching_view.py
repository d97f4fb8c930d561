"""The savings from larger batches and from another codec: a verdict and a figure for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.batch_facts import NO_PRODUCER_ID, ProducerFacts
from kafkaviz.analysis.batching.merging import MergedBatches, Merging
from kafkaviz.analysis.batching.packing import PackedCodec
from kafkaviz.analysis.batching.producer_advice import CHANGE, AdviceReason, CodecAdvice, Saving
from kafkaviz.analysis.batching.ranking import describe_advice_reason, describe_sample
from kafkaviz.figures.tuning.setting_rows import RowQuantity, SettingRowsView
from kafkaviz.messages import language, say
from kafkaviz.render.sentences import end_sentence, join_comma, join_sentences, to_sentence
from kafkaviz.units import MISSING, format_bytes, format_count, format_percent, format_us

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class PartVerdict:
    """A verdict on the batches or the codec, in words."""

    mark: str  # the severity that the page shows next to the verdict
    headline: str
    text: str
    lines: tuple[str, ...]  # advised producer settings for a properties file; () for no change
    price_heads: tuple[str, ...]
    price: tuple[tuple[str, ...], ...]  # name, value today, and value with the advised settings
    reasons: tuple[str, ...]  # one sentence each
    known: str  # says which part of the log was read, and whether numbers are counted or modelled


def batch_verdict(answer: BatchingAnswer) -> PartVerdict:
    advice = answer.batches
    is_change = advice.verdict == CHANGE
    total = answer.facts.total
    today = say(
        "batching.today",
        records=f"{total.records_per_batch_mean:.1f}",
        size=round(total.batch_bytes_mean),
        share=format_percent(total.header_share, 1),
    )
    texts = [today]
    if is_change:
        texts.append(_saving_text(advice.saving, is_up_to=advice.is_up_to))
    return PartVerdict(
        mark="warning" if is_change else "ok",
        headline=batches_headline(answer),
        text=join_sentences(texts),
        lines=tuple(f"{name}={value}" for name, value in advice.settings),
        price_heads=(say("batching.head_today"), say("batching.head_merged")),
        price=_batch_price(answer) if is_change else (),
        reasons=tuple(map(reason_text, advice.reasons)),
        known=join_sentences([_sample_text(answer), say("batching.inferred")]),
    )


def batches_headline(answer: BatchingAnswer) -> str:
    advice = answer.batches
    if advice.verdict == CHANGE:
        return say("batching.change_batches", linger_ms=dict(advice.settings)["linger.ms"])
    return say("batching.keep_batches")


def _batch_price(answer: BatchingAnswer) -> tuple[tuple[str, ...], ...]:
    advice = answer.batches
    merged = sorted({advice.batches_high, advice.batches_low})
    batches = " – ".join(map(format_count, merged))
    cells = {
        "batches": (format_count(advice.batches_before), batches),
        "headers": (_number(advice.headers_before), _number(advice.headers_after)),
        "entries": (
            format_count(advice.index_entries_before),
            format_count(advice.index_entries_after),
        ),
        "latency": ("", f"≤ {advice.latency_ms} ms"),
        "memory": ("", format_bytes(advice.producer_memory_bytes)),
    }
    return tuple((say(f"batching.price_{name}"), *values) for name, values in cells.items())


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _saving_text(saving: Saving, *, is_up_to: bool = False) -> str:
    low = format_percent(saving.low_share, 1)
    high = format_percent(saving.high_share, 1)
    high_bytes = format_bytes(saving.high_bytes)
    if is_up_to:
        return say("batching.saves_up_to", high=high, bytes=high_bytes)
    if low == high:
        return say("batching.saves_one", share=high, bytes=high_bytes)
    low_bytes = format_bytes(saving.low_bytes)
    return say("batching.saves", low=low, high=high, low_bytes=low_bytes, high_bytes=high_bytes)


def batch_rows(answer: BatchingAnswer, merging: Merging) -> SettingRowsView:
    """Returns a row of today's batches, then a row per combination of linger.ms and batch.size."""
    pairs = [(merging.today, merging.today), *((each.low, each.high) for each in merging.merges)]
    tried = [(merge.linger_ms, merge.batch_bytes) for merge in merging.merges]
    names = [f"{linger_ms} ms, {format_bytes(batch_bytes)}" for linger_ms, batch_bytes in tried]
    quantities = (
        _quantity("records", pairs, lambda each: each.records / max(1, each.batches), _short),
        _quantity(
            "share", pairs, lambda each: each.header_bytes / max(1, each.log_bytes), _percent
        ),
        _quantity(
            "log", pairs, lambda each: each.log_bytes / max(1, merging.today.log_bytes), _percent
        ),
        _quantity("lookup", pairs, lambda each: each.headers_mean, _short),
    )
    advice = answer.batches
    settings = dict(advice.settings)
    advised = None
    if settings:
        advised = 1 + tried.index((int(settings["linger.ms"]), int(settings["batch.size"])))
    longest_ms = max(linger_ms for linger_ms, _ in tried)
    title_key = "title_up_to" if advice.is_up_to else "title_batches"
    if not settings:
        is_merging = any(merge.high.batches < merging.today.batches for merge in merging.merges)
        title_key = "title_keep" if is_merging else "title_none"
    title = say(
        f"batching.{title_key}",
        ms=settings.get("linger.ms", longest_ms),
        low=_percent(advice.saving.low_share),
        high=_percent(advice.saving.high_share),
    )
    return SettingRowsView(
        title=join_sentences([end_sentence(batches_headline(answer)), title]),
        caption=say("batching.below_batches"),
        names=(say("curves.word_today"), *names),
        quantities=quantities,
        today=0,
        advised=advised,
    )


def _quantity(
    name: str,
    pairs: Sequence[tuple[MergedBatches, MergedBatches]],
    measure: Callable[[MergedBatches], float],
    format_value: Callable[[float], str],
) -> RowQuantity:
    ranges = tuple(
        (min(measure(low), measure(high)), max(measure(low), measure(high))) for low, high in pairs
    )
    return RowQuantity(name=say(f"batching.row_{name}"), ranges=ranges, format_value=format_value)


def _short(value: float) -> str:
    return f"{value:.1f}" if 0 < value < 10 else format_count(round(value))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


PRODUCER_COLUMNS = (
    "producer_id", "batches", "records", "stored_bytes", "header_bytes", "records_per_batch_mean",
    "records_per_batch_p50", "records_per_batch_p90", "batch_bytes_mean", "batch_bytes_max",
)  # fmt: skip


def producer_cells(facts: ProducerFacts) -> tuple[str, ...]:
    """Returns a producer's id, bytes, batches, records per batch, mean batch, headers, codecs."""
    name = say("batching.no_producer_id") if facts.producer_id == NO_PRODUCER_ID else None
    return (
        name or str(facts.producer_id),
        format_bytes(facts.stored_bytes),
        format_count(facts.batches),
        f"{facts.records_per_batch_mean:.1f}",
        f"{facts.records_per_batch_p50}, {facts.records_per_batch_p90}",
        format_bytes(round(facts.batch_bytes_mean)),
        format_percent(facts.header_share, 1),
        join_comma(codec_name for codec_name, _ in facts.codecs),
    )


def producer_values(facts: ProducerFacts) -> tuple[object, ...]:
    values = [getattr(facts, column) for column in PRODUCER_COLUMNS]
    return tuple(round(value, 3) if isinstance(value, float) else value for value in values)


def codec_verdict(answer: BatchingAnswer) -> PartVerdict:
    advice = answer.codec
    is_change = advice.verdict == CHANGE
    texts = [_codec_text(advice)]
    if is_change:
        texts.append(_saving_text(advice.saving))
    return PartVerdict(
        mark="warning" if is_change else "ok",
        headline=codec_headline(advice),
        text=join_sentences(texts),
        lines=tuple(f"{name}={value}" for name, value in advice.settings),
        price_heads=(
            say("tuning.is_today", value=advice.codec_before or MISSING),
            advice.codec_after or MISSING,
        ),
        price=_codec_price(advice) if advice.codec_before != advice.codec_after else (),
        reasons=tuple(map(reason_text, advice.reasons)),
        known=join_sentences([_sample_text(answer), say("batching.measured")]),
    )


def codec_headline(advice: CodecAdvice) -> str:
    key = "change_codec" if advice.verdict == CHANGE else "keep_codec"
    if advice.codec_before is None:
        key = "unknown_codec"
    elif advice.verdict == CHANGE and advice.codec_before == advice.codec_after:
        key = "all_codec"
    return say(
        f"batching.{key}",
        before=advice.codec_before or MISSING,
        after=advice.codec_after or MISSING,
    )


def _codec_text(advice: CodecAdvice) -> str:
    if advice.ratio_before is None:
        return ""
    return say(
        "batching.today_codec", codec=advice.codec_before, ratio=_percent(advice.ratio_before)
    )


def _codec_price(advice: CodecAdvice) -> tuple[tuple[str, ...], ...]:
    cells = {
        "ratio": (advice.ratio_before, advice.ratio_after, _percent),
        "pack": (advice.pack_us_per_mib_before, advice.pack_us_per_mib_after, format_us),
        "unpack": (advice.unpack_us_per_mib_before, advice.unpack_us_per_mib_after, format_us),
    }
    return tuple(
        (
            say(f"batching.price_{name}"),
            *(MISSING if value is None else format_value(value) for value in (before, after)),
        )
        for name, (before, after, format_value) in cells.items()
    )


def batch_sizes(answer: BatchingAnswer) -> tuple[int | None, ...]:
    """Returns the batch sizes with which the codecs were tried; None stands for today's batches."""
    return tuple(dict.fromkeys(row.batch_bytes for row in answer.packed))


def codec_rows(answer: BatchingAnswer, batch_bytes: int | None) -> SettingRowsView:
    """Returns a row per codec and level that was tried in batches of `batch_bytes`."""
    packed = [row for row in answer.packed if row.batch_bytes == batch_bytes]
    advice = answer.codec
    names = [row.name for row in packed]
    today = names.index(advice.codec_before) if advice.codec_before in names else None
    is_change = advice.verdict == CHANGE
    best = min(packed, key=lambda row: row.stored_ratio)
    compared = next(row for row in packed if row.name == advice.codec_after) if is_change else best
    values = {"after": compared.name, "share": _percent(compared.stored_ratio)}
    if today is None:
        title = say("batching.title_codec", **values)
    else:
        before = packed[today]
        title = say(
            "batching.title_codecs",
            before=before.name,
            before_share=_percent(before.stored_ratio),
            **values,
        )
    return SettingRowsView(
        title=join_sentences([end_sentence(codec_headline(advice)), title]),
        caption=say("batching.below_codecs"),
        names=tuple(names),
        quantities=(
            RowQuantity(
                name=say("batching.row_stored"),
                ranges=tuple(map(_stored_range, packed)),
                format_value=_percent,
            ),
            _times("row_pack", [row.pack_us_per_mib for row in packed]),
            _times("row_unpack", [row.unpack_us_per_mib for row in packed]),
        ),
        today=today,
        advised=packed.index(compared) if is_change else None,
    )


def _stored_range(row: PackedCodec) -> Range:
    """Returns the lowest and highest ratio of stored bytes (with headers) to plain bytes."""
    headers = row.stored_ratio - row.ratio
    low = row.ratio if row.ratio_low is None else row.ratio_low
    high = row.ratio if row.ratio_high is None else row.ratio_high
    return low + headers, high + headers


def _times(name: str, values: Sequence[float]) -> RowQuantity:
    ranges = tuple((max(value, 1.0), max(value, 1.0)) for value in values)
    return RowQuantity(
        name=say(f"batching.{name}"), ranges=ranges, format_value=format_us, is_log=True
    )


CODEC_COLUMNS = (
    "codec", "level", "batch_bytes", "plain_bytes", "packed_bytes", "ratio", "ratio_low",
    "ratio_high", "pack_us_per_mib", "unpack_us_per_mib",
)  # fmt: skip


def codec_values(row: PackedCodec) -> tuple[object, ...]:
    values = [getattr(row, name) for name in CODEC_COLUMNS]
    return tuple(round(value, 6) if isinstance(value, float) else value for value in values)


def _sample_text(answer: BatchingAnswer) -> str:
    return to_sentence(describe_sample(answer).render(language()))


def reason_text(reason: AdviceReason) -> str:
    return to_sentence(describe_advice_reason(reason).render(language()))
