"""The advice of Spark's tasks is that of one process."""

import pytest

from kafkaviz.analysis.batching import advice
from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.ranking import batching_topics
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.pipeline.topic_advice import advise_on_spark

SECONDS = 3600.0  # no codec is left out for lack of time


def packed(answer: BatchingAnswer) -> list[tuple]:
    return [
        (row.codec, row.level, row.batch_bytes, row.plain_bytes, row.packed_bytes)
        for row in answer.packed
    ]


def test_spark_advises_as_one_process_does(spark, clean):
    names = ("empty-room", "nulls", "epoch-zero", "rolls-by-time", "tiny-index")
    source = open_source(str(clean))
    topics = [topic for topic in batching_topics(source).values() if topic.name in names]
    seen = []
    answers = advise_on_spark(
        topics,
        master=None,
        seconds=SECONDS,
        on_progress=lambda name, share: seen.append((name, share)),
    )
    alone = advice.advise(topics, seconds=SECONDS)
    assert [answer.name for answer in answers] == [topic.name for topic in topics]
    assert len(topics) >= 4
    for ours, theirs in zip(answers, alone, strict=True):
        assert packed(ours) == packed(theirs)
        assert ours.merging == theirs.merging
        assert (ours.batches.verdict, ours.batches.settings) == (
            theirs.batches.verdict,
            theirs.batches.settings,
        )
        assert ours.batches.saving == theirs.batches.saving
        assert ours.sample == theirs.sample
    assert {share for _, share in seen} <= {1.0}


def test_each_topic_gets_its_share_and_a_least():
    topics = [
        advice.BatchingTopic(name="large", windows=(), log_bytes=900 << 20),
        advice.BatchingTopic(name="small", windows=(), log_bytes=1 << 10),
    ]
    large, small = advice.quotas(topics, 10.0, 64 << 20)
    assert large.seconds == pytest.approx(10.0, rel=1e-4)
    assert large.most_bytes == pytest.approx(64 << 20, rel=1e-4)
    assert (small.seconds, small.most_bytes) == (advice.MIN_SECONDS, advice.MIN_SAMPLE_BYTES)
