"""The advice on batches and codec, from logs on disk."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz.analysis.batching import advice
from kafkaviz.analysis.batching.advice import BatchingAnswer, BatchingTopic, advise, rank_changes
from kafkaviz.analysis.batching.producer_advice import CHANGE, KEEP, REASON_VALUES
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.tuning.log_windows import choose_windows
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import LogSegment
from tests.analysis.batching import samples
from tests.analysis.batching.samples import Sent


def answer_of(broker: Path, sent: list[Sent]) -> BatchingAnswer:
    windows = samples.log_windows(broker, sent)
    log_bytes = sum(window.stop - window.start for window in windows)
    topic = BatchingTopic(name="orders", windows=windows, log_bytes=log_bytes)
    return advise([topic], seconds=60.0)[0]


def codes(reasons) -> list[str]:
    assert {reason.code for reason in reasons} <= set(REASON_VALUES)
    return [reason.code for reason in reasons]


# ---- what an expert would say of three topics


def test_single_records_should_be_batched_first(tmp_path):
    """2000 records a second, each in its own uncompressed batch."""
    sent = [Sent([number // 2], is_json=True) for number in range(1200)]
    answer = answer_of(tmp_path, sent)
    assert answer.batches.verdict == CHANGE
    # ten records in 5 ms save nine headers of ten, more than 80 % of all
    assert answer.batches.settings == (("linger.ms", "5"), ("batch.size", "16384"))
    assert not answer.batches.is_up_to
    assert answer.batches.batches_before == 1200
    assert (answer.batches.batches_low, answer.batches.batches_high) == (120, 100)
    assert 0.2 < answer.batches.saving.low_share <= answer.batches.saving.high_share < 0.4
    assert answer.batches.headers_after < answer.batches.headers_before / 2
    assert answer.batches.latency_ms == 5
    assert codes(answer.batches.reasons) == ["header-share", "merged", "fewer-headers"]
    # and ten records compress well together, which a single one does not
    assert answer.codec.settings == (("compression.type", "zstd"),)
    assert answer.codec.batch_bytes == 1024
    assert "larger-batches-first" in codes(answer.codec.reasons)
    # its saving builds on the larger batches, so they come first even if it saves more
    codec_saving = replace(answer.codec.saving, low_bytes=answer.sample.log_bytes)
    codec_first = replace(answer, codec=replace(answer.codec, saving=codec_saving))
    assert [part for part, _ in rank_changes(codec_first)] == ["batches", "codec"]
    assert answer.saved_bytes == sum(saved for _, saved in rank_changes(answer))


def test_compressed_batches_of_16_kib_stay(tmp_path):
    sent = [
        Sent([1000 * number + place for place in range(150)], codec_name="zstd", is_json=True)
        for number in range(40)
    ]
    answer = answer_of(tmp_path, sent)
    assert (answer.batches.verdict, answer.codec.verdict) == (KEEP, KEEP)
    assert codes(answer.batches.reasons) == ["header-share", "none-merged"]
    assert answer.batches.reasons[-1].values == {"linger_ms": 100}
    assert codes(answer.codec.reasons) == ["codec-is-best"]
    assert (answer.codec.codec_before, answer.codec.certainty) == ("zstd", "exact")
    assert rank_changes(answer) == ()
    assert rank_changes(answer, 5) == (("index", 5),)


def test_large_batches_without_a_codec_should_be_compressed(tmp_path):
    sent = [Sent([number] * 9000, is_json=True) for number in range(3)]
    answer = answer_of(tmp_path, sent)
    assert answer.facts.total.batch_bytes_mean > 900_000
    assert answer.batches.verdict == KEEP
    assert "large-batches" in codes(answer.batches.reasons)
    assert answer.codec.settings == (("compression.type", "zstd"),)
    assert answer.codec.saving.low_share > 0.5
    assert answer.codec.ratio_before == pytest.approx(1, abs=0.001)
    assert answer.codec.pack_us_per_mib_after > answer.codec.pack_us_per_mib_before
    assert [part for part, _ in rank_changes(answer)] == ["codec"]


# ---- what cannot be known


def test_without_producer_ids_only_the_most_is_known(tmp_path):
    sent = [Sent([number // 2], producer_id=-1, is_json=True) for number in range(2000)]
    answer = answer_of(tmp_path, sent)
    assert answer.batches.verdict == CHANGE
    assert answer.batches.is_up_to
    assert answer.batches.saving.low_bytes == 0 < answer.batches.saving.high_bytes
    assert "no-producer-ids" in codes(answer.batches.reasons)
    assert dict(rank_changes(answer))["batches"] == answer.batches.saving.high_bytes


def test_times_of_the_broker_are_a_reason(tmp_path):
    sent = [Sent([number], attributes=LOG_APPEND_TIME) for number in range(200)]
    answer = answer_of(tmp_path, sent)
    assert answer.batches.verdict == CHANGE
    assert "append-time" in codes(answer.batches.reasons)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([], ["no-records"]),
        ([Sent([1], attributes=TRANSACTIONAL | CONTROL)], ["no-records"]),
        ([Sent([1], attributes=6)], ["no-records", "unknown-codec", "header-share"]),
    ],
)
def test_a_log_without_records_is_kept(tmp_path, sent, expected):
    answer = answer_of(tmp_path, sent)
    assert (answer.batches.verdict, answer.codec.verdict) == (KEEP, KEEP)
    assert codes(answer.batches.reasons) == expected
    assert (answer.packed, answer.merging) == ((), None)
    json.dumps(to_json_object(answer), allow_nan=False)


def test_files_that_are_gone_are_a_reason(tmp_path):
    (window,) = samples.log_windows(tmp_path, [Sent([1])])
    window.segment.log.path.unlink()
    topic = BatchingTopic(name="orders", windows=[window], log_bytes=window.stop)
    (answer,) = advise([topic])
    assert codes(answer.codec.reasons) == ["no-records", "unreadable-file"]
    (answer,) = advise([BatchingTopic(name="none", windows=[], log_bytes=0)])
    assert codes(answer.batches.reasons) == ["no-records"]


def test_mixed_codecs_name_those_that_have_it_already(tmp_path):
    sent = [
        Sent(range(100), codec_name="zstd" if number % 3 else "none", is_json=True)
        for number in range(30)
    ]
    answer = answer_of(tmp_path, sent)
    assert (answer.codec.codec_before, answer.codec.codec_after) == ("zstd", "zstd")
    assert answer.codec.verdict == CHANGE
    assert "mixed-codecs" in codes(answer.codec.reasons)


# ---- whole brokers


def broker_topics(path: Path, most_bytes: int | None = None) -> list[BatchingTopic]:
    by_topic: dict[str, list] = {}
    for partition in open_broker(path).partitions:
        by_topic.setdefault(partition.topic, []).append((partition, partition.live))
    return [
        BatchingTopic(
            name=topic,
            windows=choose_windows(logs, most_bytes),
            log_bytes=sum(partition.live_log_bytes for partition, _ in logs),
        )
        for topic, logs in by_topic.items()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kafka-4.3.1-clean", "kafka-2.8.2-legacy", "kafka-4.3.1-damaged"])
def test_every_topic_of_a_broker_has_an_answer(shared, name):
    topics = broker_topics(unpack_if_archive(shared / "data" / f"{name}.tar.gz"))
    answers = advise(topics, seconds=0.1)
    assert [answer.name for answer in answers] == [topic.name for topic in topics]
    for topic, answer in zip(topics, answers, strict=True):
        text = json.dumps(to_json_object(answer), allow_nan=False)
        assert len(text) < 100_000
        codes(answer.batches.reasons + answer.codec.reasons)
        for advised in (answer.batches, answer.codec):
            assert 0 <= advised.saving.low_bytes <= advised.saving.high_bytes <= topic.log_bytes
            assert (advised.verdict == CHANGE) == bool(advised.settings)
            assert advised.verdict == KEEP or topic.name not in advice.INTERNAL_TOPICS


def test_no_key_or_value_is_in_an_answer(tmp_path):
    secret = Sent(range(50), codec_name="none", value_bytes=0)
    sent = [
        Sent(range(50 * number, 50 * number + 50), is_json=True, codec_name="gzip")
        for number in range(20)
    ]
    text = json.dumps(to_json_object(answer_of(tmp_path, [*sent, secret])))
    for word in ("key-", "customer", "shipped", "trace"):
        assert word not in text
        assert word not in repr(answer_of(tmp_path / word, [*sent, secret]))


def test_progress_rises_and_can_cancel(tmp_path):
    windows = samples.log_windows(tmp_path, [Sent([number]) for number in range(100)])
    topics = [BatchingTopic(name=name, windows=windows, log_bytes=100) for name in ("a", "b")]
    seen: list[tuple[str, float]] = []
    advise(topics, on_progress=lambda name, share: seen.append((name, share)))
    assert seen == sorted(seen)
    assert {share for _, share in seen} >= {0.1, 1.0}

    def cancel(name: str, share: float) -> None:
        if name == "b":
            raise JobCancelled("")

    with pytest.raises(JobCancelled):
        advise(topics, on_progress=cancel)


def test_a_header_that_cannot_be_read_ends_the_facts(tmp_path, monkeypatch):
    windows = samples.log_windows(tmp_path, [Sent([1])])

    def refuse(self, *_, **__):
        raise KafkavizError("")

    monkeypatch.setattr(LogSegment, "scan", refuse)
    (answer,) = advise([BatchingTopic(name="orders", windows=windows, log_bytes=100)])
    assert answer.facts.total.batches == 0
    assert codes(answer.batches.reasons) == ["no-records", "unreadable-file"]
