"""The advice of Spark's tasks is that of one process."""

import threading

import pytest

from kafkaviz.analysis.batching import advice
from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.ranking import batching_topics
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.pipeline import topic_advice
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
    assert sorted(seen) == sorted((topic.name, 1.0) for topic in topics)


def test_an_interrupt_cancels_the_tasks(monkeypatch):
    class SlowRunner:
        cores = 2
        cancelled = threading.Event()

        def run(self, tasks, staging):
            self.cancelled.wait(60)
            return []

        def count_ended(self) -> int:
            return 1

        def cancel(self) -> None:
            self.cancelled.set()

    def interrupt(_name: str, _share: float) -> None:
        raise KeyboardInterrupt

    runner = SlowRunner()
    monkeypatch.setattr(topic_advice, "task_runner", lambda _master, _group: runner)
    topics = [advice.BatchingTopic(name=name, windows=(), log_bytes=1) for name in "ab"]
    with pytest.raises(KeyboardInterrupt):
        advise_on_spark(topics, master="local[2]", on_progress=interrupt)
    assert runner.cancelled.is_set()


def test_no_topic_needs_no_task(monkeypatch):
    monkeypatch.setattr(topic_advice, "task_runner", lambda _master, _group: None)
    assert advise_on_spark([], master="local[2]") == ()


def test_each_topic_gets_its_share_and_a_least():
    topics = [
        advice.BatchingTopic(name="large", windows=(), log_bytes=900 << 20),
        advice.BatchingTopic(name="small", windows=(), log_bytes=1 << 10),
    ]
    large, small = advice.quotas(topics, 10.0, 64 << 20)
    assert large.seconds == pytest.approx(10.0, rel=1e-4)
    assert large.most_bytes == pytest.approx(64 << 20, rel=1e-4)
    assert (small.seconds, small.most_bytes) == (advice.MIN_SECONDS, advice.MIN_SAMPLE_BYTES)
