"""Uses Spark to compute batching and codec advice for topics, in one task per topic."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from kafkaviz.analysis.batching.advice import SECONDS, BatchingAnswer, BatchingTopic, quotas
from kafkaviz.analysis.batching.record_sample import RECORD_SAMPLE_BYTES
from kafkaviz.jobs import Job, ReadProgress
from kafkaviz.pipeline.ingest.plan import AdviceTask, pack
from kafkaviz.pipeline.ingest.task_runner import task_runner

POLL_S = 0.3


def advise_on_spark(
    topics: Sequence[BatchingTopic],
    *,
    master: str | None,
    seconds: float = SECONDS,
    on_progress: Callable[[str, float], None] = lambda _name, _share: None,
) -> tuple[BatchingAnswer, ...]:
    """Returns advice for each topic, in order, as analysis.batching.advice.advise does.

    The workers must see the same paths as this process. Ctrl-C cancels the tasks.

    Args:
        master: the Spark master. None: the master given to spark-submit, or local[*] without one.
        seconds: the time limit for packing and merging the batches of all topics, per core.
        on_progress: called with a topic's name and 1.0 when the topic's task has ended.

    Raises the errors of pipeline.spark.session.context.
    """
    if not topics:
        return ()
    largest_first = sorted(range(len(topics)), key=lambda number: -topics[number].log_bytes)
    runner = task_runner(master, f"kafkaviz-advice-{uuid.uuid4().hex}")
    cores = runner.cores
    by_number = quotas(topics, seconds * cores, RECORD_SAMPLE_BYTES * cores)
    tasks = [pack(AdviceTask(topics[number], by_number[number])) for number in largest_first]
    job = Job(lambda _report: runner.run(tasks, Path()), ReadProgress())
    reported = 0
    try:
        while reported < len(tasks):
            is_over = job.wait_until_over(POLL_S)
            ended = len(tasks) if is_over else runner.count_ended()
            for number in largest_first[reported:ended]:
                on_progress(topics[number].name, 1.0)
            reported = max(reported, ended)
        answers = cast(list[BatchingAnswer], job.wait())
    except BaseException:
        runner.cancel()
        raise
    in_order = dict(zip(largest_first, answers, strict=True))
    return tuple(in_order[number] for number in range(len(topics)))
