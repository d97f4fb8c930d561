"""A workload as a source of tuning: the log that its batches become with its settings."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.inference.version import CALLER_DECIDES, WORKLOAD_DECIDES, AssumedRelease
from kafkaviz.analysis.tuning.log_measurement import SETTING, CurrentConfig
from kafkaviz.analysis.tuning.measurement_builder import MeasurementBuilder
from kafkaviz.analysis.tuning.tuning_case import WORKLOAD, ChunkFactory, TuningCase, TuningSource
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.append_batches import AppendChunk
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.directory.simulation import SimulationPlan
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog


def open_workload(target: str, version: str | None, overrides: dict[str, str]) -> TuningSource:
    workload = simulation.open_workload(target, version, overrides)
    plan = simulation.plan_workload(workload, overrides, None, version)
    text = version or workload.kafka_version
    is_typed = any(config_def.setting(name).name == SETTING for name in overrides)
    is_own = SETTING in dict(workload.settings)
    if is_typed:
        source = message("setting_source.typed", name=SETTING)
    elif is_own:
        source = message("setting_source.of_workload", name=SETTING)
    else:
        source = message(
            "setting_source.named",
            name=SETTING,
            source=message("setting_source.default", release=text),
        )
    by_base_offset = versions.search_profile(text).by_base_offset
    per_append = plan.behaviour.per_append
    builder = MeasurementBuilder(
        extra_intervals={plan.config.index_interval_bytes},
        by_base_offset=by_base_offset,
        per_append=per_append,
        by_append=per_append,
    )
    for segment in simulate_segments(plan):
        builder.add(segment)
    is_coarse = plan.behaviour.per_append and not plan.is_leader
    today = CurrentConfig(
        interval_bytes=plan.config.index_interval_bytes,
        interval_source=source,
        config=plan.config,
        topic=workload.topic,
        is_coarse=is_coarse,
    )
    reason = CALLER_DECIDES if version else WORKLOAD_DECIDES
    assumed_release = AssumedRelease(versions.parse(text), (reason,))
    logs = ((_chunks_without_payload(plan), plan.start_offset),)
    case = TuningCase(
        name=workload.directory,
        today=today,
        measurement=builder.result(),
        logs=logs,
        is_leader=plan.is_leader,
    )
    return TuningSource(
        name=target, kind=WORKLOAD, version=text, assumed_release=assumed_release, cases=(case,)
    )


def _chunks_without_payload(plan: SimulationPlan) -> ChunkFactory:
    # nothing is written to disk: the payload is produced and dropped
    return lambda: (AppendChunk(chunk.rows) for chunk in plan.chunks())


def simulate_segments(plan: SimulationPlan) -> Iterator[Iterable[np.ndarray]]:
    """Yields the batches of each segment of a plan in chunks (append_batches.INCOMING).

    The chunks of a segment must be read before the next segment.

    Raises:
        KafkavizError: Kafka answers an append with an exception, which is in the message.
    """
    yield from (
        (rows for _, rows in pieces)
        for _, pieces in groupby(_segment_rows(plan), key=itemgetter(0))
    )


def _segment_rows(plan: SimulationPlan) -> Iterator[tuple[int, np.ndarray]]:
    """Yields the batches of a plan in pieces, each with the number of its segment."""
    try:
        log = UnifiedLog(
            plan.config,
            plan.behaviour,
            now_ms=plan.start_ms,
            start_offset=plan.start_offset,
            seed=plan.seed,
            is_leader=plan.is_leader,
        )
    except CannotLoad as load_fault:
        raise KafkavizError(
            message(
                "errors.of_path", path=plan.directory, problem=verbatim(str(load_fault.exception))
            )
        ) from None
    number = 0
    for chunk in plan.chunks():
        rows = chunk.rows.copy()
        try:
            log.append(rows)
        except AppendFailed as append_fault:
            raise KafkavizError(
                message(
                    "errors.append_fails",
                    directory=plan.directory,
                    number=append_fault.append,
                    exception=str(append_fault.exception),
                )
            ) from None
        first, *others = np.split(rows, np.flatnonzero(rows["position"] == 0))
        if len(first):
            yield number, first
        for piece in others:
            number += 1
            yield number, piece
