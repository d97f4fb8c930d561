"""The figures of the tabs Batches and Codec, value by value, and the sentences of their reasons."""

from dataclasses import replace

import pytest

from kafkaviz import messages
from kafkaviz.analysis.batching.advice import BatchingAnswer, SampleExtent
from kafkaviz.analysis.batching.batch_facts import BatchFacts, ProducerFacts
from kafkaviz.analysis.batching.merging import Merge, MergedBatches, Merging
from kafkaviz.analysis.batching.packing import PackedCodec
from kafkaviz.analysis.batching.producer_advice import (
    KEEP,
    NO_SAVING,
    REASON_VALUES,
    AdviceReason,
    BatchAdvice,
    CodecAdvice,
    Saving,
)
from kafkaviz.figures import theme
from kafkaviz.figures.tuning import batching_view, setting_rows

T = "\u202f"
PRODUCER = ProducerFacts(
    producer_id=7,
    batches=1000,
    records=1200,
    stored_bytes=200_000,
    header_bytes=61_000,
    records_per_batch_mean=1.2,
    records_per_batch_p50=1,
    records_per_batch_p90=2,
    records_per_batch_max=4,
    batch_bytes_mean=200.0,
    batch_bytes_p50=190,
    batch_bytes_max=400,
    codecs=(("lz4", 0.75), ("none", 0.25)),
)
FACTS = BatchFacts(
    total=replace(PRODUCER, producer_id=None),
    by_producer=(PRODUCER, replace(PRODUCER, producer_id=-1)),
    others=None,
    other_producers=0,
    control_batches=0,
    legacy_batches=0,
    append_time_batches=0,
)


def merged(batches: int, log_bytes: int, headers: float) -> MergedBatches:
    return MergedBatches(
        batches=batches,
        records=1200,
        plain_bytes=139_000,
        log_bytes=log_bytes,
        header_bytes=61 * batches,
        index_entries=10,
        headers_mean=headers,
    )


MERGING = Merging(
    today=merged(1000, 200_000, 20.0),
    merges=tuple(
        Merge(
            linger_ms=linger_ms,
            batch_bytes=16_384,
            low=merged(2 * batches, 160_000, 8.0),
            high=merged(batches, 150_000, 4.0),
        )
        for linger_ms, batches in ((5, 300), (20, 100))
    ),
    windows=4,
    stored_bytes=200_000,
)
BATCH_ADVICE = BatchAdvice(
    verdict="change",
    settings=(("linger.ms", "20"), ("batch.size", "16384")),
    saving=Saving(low_bytes=40_000, high_bytes=50_000, low_share=0.2, high_share=0.25),
    is_up_to=False,
    batches_before=1000,
    batches_low=200,
    batches_high=100,
    index_entries_before=40,
    index_entries_after=30,
    headers_before=20.0,
    headers_after=8.0,
    latency_ms=20,
    producer_memory_bytes=16_384,
    reasons=(AdviceReason(code="fewer-headers", values={"before": 20.0, "after": 8.0}),),
)


def packed(
    codec: str, packed_bytes: int, pack_us: float, level: int | None = None, margin: float = 0.02
) -> PackedCodec:
    ratio = packed_bytes / 100_000
    return PackedCodec(
        codec=codec,
        level=level,
        batch_bytes=None,
        batches=0,
        blocks=4,
        plain_bytes=100_000,
        packed_bytes=packed_bytes,
        ratio=ratio,
        ratio_low=ratio - margin,
        ratio_high=ratio + margin,
        pack_us_per_mib=pack_us,
        unpack_us_per_mib=400.0,
    )


PACKED = (
    packed("none", 100_000, 0.2),
    packed("lz4", 60_000, 1700.0),
    packed("zstd", 40_000, 5200.0),
)
CODEC_ADVICE = CodecAdvice(
    verdict="change",
    settings=(("compression.type", "zstd"),),
    saving=Saving(low_bytes=60_000, high_bytes=70_000, low_share=0.3, high_share=0.35),
    codec_before="lz4",
    codec_after="zstd",
    batch_bytes=None,
    ratio_before=0.6,
    ratio_after=0.4,
    pack_us_per_mib_before=1700.0,
    pack_us_per_mib_after=5200.0,
    unpack_us_per_mib_before=400.0,
    unpack_us_per_mib_after=None,
    reasons=(),
    certainty="sampled",
)
ANSWER = BatchingAnswer(
    name="orders",
    sample=SampleExtent(
        log_bytes=400_000,
        window_bytes=400_000,
        stored_bytes=200_000,
        plain_bytes=139_000,
        batches=1000,
        records=1200,
        windows=4,
        is_whole=False,
        skipped={},
    ),
    facts=FACTS,
    merging=MERGING,
    packed=PACKED,
    batches=BATCH_ADVICE,
    codec=CODEC_ADVICE,
)


def test_batches_have_a_row_per_setting():
    """Today's batches come first; a range goes from the least to the most, whatever was merged."""
    view = batching_view.batch_rows(ANSWER, MERGING)
    assert view.title == "Wait 20 ms. With linger.ms = 20 the log would be 20 % to 25 % smaller"
    assert view.names == ("today", "5 ms, 16 KiB", "20 ms, 16 KiB")
    assert (view.today, view.advised) == (0, 2)
    records, headers, log, lookup = view.quantities
    assert records.ranges == ((1.2, 1.2), (2.0, 4.0), (6.0, 12.0))
    assert headers.ranges[0] == (0.305, 0.305)
    assert log.ranges[2] == (0.75, 0.8) and lookup.ranges[2] == (4.0, 8.0)
    row = setting_rows.table_rows(view)[2]
    assert row == ("20 ms, 16 KiB", "6.0 – 12", "4 % – 8 %", "75 % – 80 %", "4.0 – 8.0")


def test_the_verdict_on_batches_begins_with_today():
    verdict = batching_view.batch_verdict(ANSWER)
    assert (verdict.mark, verdict.headline) == ("warning", "Wait 20 ms")
    assert verdict.text == (
        "Today a batch holds 1.2 records in 200 B, and headers take 30 % of the log. "
        "The log would be 20 % to 25 % smaller (39.1 KiB to 48.8 KiB)."
    )
    assert verdict.lines == ("linger.ms=20", "batch.size=16384")
    assert verdict.price[0] == ("Batches in the whole log", f"1{T}000", "100 – 200")
    assert verdict.known.startswith(
        f"1{T}200 records were sampled: 195 KiB of 391 KiB, from 4 places."
    )
    kept = replace(BATCH_ADVICE, verdict=KEEP, settings=(), saving=NO_SAVING)
    verdict = batching_view.batch_verdict(replace(ANSWER, batches=kept))
    assert (verdict.headline, verdict.lines) == ("Keep the batches as they are", ())
    assert verdict.price == ()
    only_high = replace(BATCH_ADVICE, is_up_to=True)
    text = batching_view.batch_verdict(replace(ANSWER, batches=only_high)).text
    assert text.endswith("The log would be up to 25 % smaller (48.8 KiB).")


def test_codecs_have_a_row_each():
    """Their bytes are an interval; a time below 1 µs is drawn at the end of the logarithmic axis."""
    view = batching_view.codec_rows(ANSWER, None)
    assert view.title == (
        "From lz4 to zstd. With zstd the batches take 40 % of the bytes of their records, with lz4 60 %"
    )
    assert view.names == ("none", "lz4", "zstd") and (view.today, view.advised) == (1, 2)
    stored, pack, _ = view.quantities
    assert stored.ranges[2] == pytest.approx((0.38, 0.42))
    assert [low for low, _ in pack.ranges] == [1.0, 1700.0, 5200.0]
    verdict = batching_view.codec_verdict(ANSWER)
    assert verdict.headline == "From lz4 to zstd" and verdict.lines == ("compression.type=zstd",)
    assert verdict.price[1:] == (
        ("Pack 1 MiB of records", "1.7 ms", "5.2 ms"),
        ("Unpack 1 MiB of records", "400 µs", "–"),
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_rows_as_they_are_drawn(mode):
    """Today is hollow with a line through all rows; the advised row is marked."""
    view = batching_view.batch_rows(ANSWER, MERGING)
    figure = setting_rows.figure(view, mode)
    colours = theme.colours(mode)
    assert len(figure.data) == len(view.names) * len(view.quantities)
    assert figure.data[0].marker.color == colours["raised"]
    assert figure.data[2].line.color == colours["ink"] and list(figure.data[2].x) == [6.0, 12.0]
    assert figure.data[2].customdata[0] == "<b>20 ms, 16 KiB</b><br>records per batch: 6.0 – 12"
    lines = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert [(line.xref, line.x0) for line in lines[:2]] == [("x", 1.2), ("x2", 0.305)]
    assert figure.layout.xaxis2.domain[0] == pytest.approx(figure.layout.xaxis.domain[1] + 0.07)
    times = setting_rows.figure(batching_view.codec_rows(ANSWER, None), mode)
    assert times.layout.xaxis2.type == "log"


def test_producers_as_rows():
    cells = [batching_view.producer_cells(facts) for facts in FACTS.by_producer]
    assert cells[0] == ("7", "195 KiB", f"1{T}000", "1.2", "1, 2", "200 B", "30 %", "lz4, none")
    assert cells[1][0] == "no producer id"
    values = batching_view.producer_values(PRODUCER)
    assert dict(zip(batching_view.PRODUCER_COLUMNS, values, strict=True))["producer_id"] == 7


@pytest.mark.parametrize("code", REASON_VALUES)
def test_every_reason_has_its_sentence(code):
    """It names no value that the reason does not have."""
    for language in messages.LANGUAGES:
        names = messages.places(messages.catalogue(language)[f"batching_reason.{code}"])
        reason = AdviceReason(code=code, values=dict.fromkeys(names, 0.25))
        with messages.speaking(language):
            sentence = batching_view.reason_text(reason)
        assert sentence[-1] in ".。" and "{" not in sentence
        assert [name for name in names if name not in REASON_VALUES[code]] == []
