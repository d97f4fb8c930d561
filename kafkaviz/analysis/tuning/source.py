"""Opens and measures the source of a tuning: a partition, topic, broker, .log or workload."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.inferred_release import (
    CALLER_DECIDES,
    WORKLOAD_DECIDES,
    AssumedRelease,
    assume_release,
)
from kafkaviz.analysis.opened_path import open_log_path
from kafkaviz.analysis.overview import InactiveSegment, inactive_segments
from kafkaviz.analysis.tuning.case_measurement import MeasureProgress, MeasureSizes, measure_cases
from kafkaviz.analysis.tuning.log_windows import SAMPLE_BYTES
from kafkaviz.analysis.tuning.measurement import SETTING, CurrentConfig, MeasurementBuilder
from kafkaviz.analysis.tuning.tuning_case import (
    BROKER,
    BROKER_SETTINGS,
    LOG,
    PARTITION,
    TOPIC,
    WORKLOAD,
    TuningCase,
    TuningSource,
    field_name,
)
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.directory.simulation import SimulationPlan
from kafkaviz.simulate.producers.workload import PRESETS
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
    logs = ((partial(_chunks_without_payload, plan), plan.start_offset),)
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


def _chunks_without_payload(plan: SimulationPlan) -> Iterator[AppendChunk]:
    # nothing is written to disk: the payload is generated and dropped
    for chunk in plan.chunks():
        yield AppendChunk(chunk.rows)


def simulate_segments(plan: SimulationPlan) -> Iterator[Iterable[np.ndarray]]:
    """Yields the segments that a plan writes, each as chunks of batches (appends.INCOMING).

    Read all chunks of a segment before the next segment.

    Raises:
        KafkavizError: Kafka would throw at an append. The message has Kafka's exception.
    """
    yield from (
        (rows for _, rows in pieces)
        for _, pieces in groupby(_segment_rows(plan), key=itemgetter(0))
    )


def _segment_rows(plan: SimulationPlan) -> Iterator[tuple[int, np.ndarray]]:
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


def open_source(
    target: str | Path,
    version: str | None = None,
    overrides: Mapping[str, str] | None = None,
    on_progress: MeasureProgress = lambda _name, _share: None,
    on_sizes: MeasureSizes = lambda _sizes: None,
    *,
    broker: Broker | None = None,
    most_bytes: int | None = SAMPLE_BYTES,
) -> TuningSource:
    """Opens and measures a path, or a workload that is given by its name or a file.

    Args:
        version: the Kafka release, instead of the one that the directory or the workload suggests.
        overrides: values that replace settings of the source, by the setting's topic or broker
            name.
        on_progress: called with the name of a .log and the share of it that was read.
        on_sizes: called once before reading, with the number of bytes to read from each .log, by
            the names used in `on_progress`.
        broker: the broker of a partition, if it is already open with several log directories.
        most_bytes: how many bytes to read if the logs are larger; None to read them whole.

    Raises:
        CannotOpen: the path has nothing that can be tuned.
        RefusedSetting: Kafka refuses the value of an override.
        KafkavizError: the workload's file has a fault.
    """
    overrides = dict(overrides or {})
    if str(target) in PRESETS or str(target).endswith(".toml"):
        return open_workload(str(target), version, overrides)
    path, topic = _split_topic(Path(target))
    if topic is None and str(target) == path.name and not path.suffix and not path.exists():
        simulation.refuse_name(str(target))
    if (topic is None and names.parse_file(path.name)) or _is_partition(path):
        measure = partial(
            measure_cases, most_bytes=most_bytes, on_progress=on_progress, on_sizes=on_sizes
        )
        return _open_partition(path, version, overrides, measure, broker)
    return open_broker_source(
        open_broker(path),
        topic,
        version,
        overrides=overrides,
        on_progress=on_progress,
        on_sizes=on_sizes,
        most_bytes=most_bytes,
    )


def _split_topic(path: Path) -> tuple[Path, str | None]:
    """Splits a path such as BROKER/TOPIC, in which TOPIC is a topic and not a directory.

    Returns:
        The broker directory and the topic. For any other path, the path and None. If the path is in
        an archive, the result is in the unpacked directory.
    """
    path = file.absolute_path(path)
    try:
        archive.refresh(path)
    except CannotOpen as fault:
        if fault.kind != "missing":
            raise
        archive.refresh(path.parent)
    if path.exists() or not path.parent.exists() or archive.is_archive(path):
        return path, None
    root = (
        archive.unpack_if_archive(path.parent) if archive.is_archive(path.parent) else path.parent
    )
    partition_names = (
        [names.parse_directory(child.name) for child in root.iterdir()] if root.is_dir() else []
    )
    if any(
        partition_name and partition_name.topic == path.name for partition_name in partition_names
    ):
        return path.parent, path.name
    return root / path.name if (root / path.name).exists() else path, None


def _is_partition(path: Path) -> bool:
    """Returns whether a directory has a .log, or whether an archive has exactly one partition."""
    path = archive.locate(path)
    if not path.exists():
        return False
    root = archive.unpack_if_archive(path) if archive.is_archive(path) else path
    if root.is_dir() and any(child.suffix == ".log" for child in root.iterdir()):
        return True
    return archive.is_archive(path) and open_broker(path).is_lone


def _open_partition(
    path: Path,
    version: str | None,
    overrides: dict[str, str],
    measure: Callable[..., tuple[list[TuningCase], list[CannotOpen]]],
    broker: Broker | None,
) -> TuningSource:
    opened = open_log_path(path, version)
    if broker is not None:
        opened = replace(opened, broker=broker)
    partition = opened.partition
    base_offset = opened.base_offset
    segments = [segment for segment in partition.live if base_offset in (None, segment.base_offset)]
    if not segments:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    logs = {partition.directory: [(partition, segments)]}
    cases, faults = measure(logs, opened.open_settings(overrides), opened.version)
    if faults:
        raise faults[0]
    partition_source = TuningSource(
        name=path.name,
        kind=PARTITION,
        version=opened.version,
        assumed_release=opened.assumed_release,
        cases=(cases[0],),
        inactive_segments=_inactive_segments([partition], partition.topic),
        broker_segments=_count_segments(opened.broker),
    )
    if base_offset is None:
        return partition_source
    lone_log = replace(cases[0], logs=None)
    return replace(partition_source, kind=LOG, cases=(lone_log,), inactive_segments=())


def open_broker_source(
    broker: Broker,
    topic: str | None = None,
    version: str | None = None,
    on_progress: MeasureProgress = lambda _name, _share: None,
    *,
    overrides: Mapping[str, str] | None = None,
    on_sizes: MeasureSizes = lambda _sizes: None,
    most_bytes: int | None = SAMPLE_BYTES,
) -> TuningSource:
    """Opens and measures a broker or one of its topics; `open_source` explains the arguments."""
    assumed_release = assume_release(broker, version)
    settings = open_settings(broker, assumed_release.release, dict(overrides or {}))
    by_topic: dict[str, list] = {}
    for partition in broker.partitions:
        if partition.state == "current" and partition.live and topic in (None, partition.topic):
            by_topic.setdefault(partition.topic, []).append((partition, list(partition.live)))
    has_metadata = topic is None and by_topic.pop(names.METADATA_TOPIC, None) is not None
    if not by_topic:
        raise CannotOpen(broker.source, message("errors.holds_no_topic_log"), kind="missing")
    default_interval = settings.find("", SETTING) if topic is None else None
    if default_interval is not None:
        default_interval = default_interval.or_default(assumed_release.release)
    cases, faults = measure_cases(
        by_topic,
        settings,
        assumed_release.version,
        most_bytes=most_bytes,
        on_progress=on_progress,
        on_sizes=on_sizes,
        extra_intervals={int(default_interval.value)} if default_interval else set(),
    )
    problems = [*broker.problems, *(Problem.from_fault(fault.path, fault) for fault in faults)]
    if not cases:
        raise CannotOpen(problems[-1].path, problems[-1].what)
    name, kind = (broker.source.name, BROKER) if topic is None else (topic, TOPIC)
    own_settings: dict[str, Any] = {
        field_name(setting.name): setting.value
        for setting in (settings.find("", name) for name in BROKER_SETTINGS)
        if setting.is_given
    }
    excluded_segments = _inactive_segments(broker.partitions, topic)
    return TuningSource(
        name=name,
        kind=kind,
        version=assumed_release.version,
        assumed_release=assumed_release,
        cases=tuple(cases),
        problems=tuple(problems),
        metadata_left_out=has_metadata,
        inactive_segments=excluded_segments,
        broker_segments=_count_segments(broker),
        default_interval=default_interval,
        own_settings=own_settings,
    )


def _count_segments(broker: Broker | None) -> int | None:
    if broker is None or broker.is_lone:
        return None
    return sum(len(partition.live) for partition in broker.partitions)


def _inactive_segments(
    partitions: Sequence[Partition], topic: str | None
) -> tuple[InactiveSegment, ...]:
    return tuple(
        inactive_segments(partition for partition in partitions if topic in (None, partition.topic))
    )
