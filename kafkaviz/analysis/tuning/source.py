"""Opens and measures a partition, topic, broker, .log or workload for tuning."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Unpack

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.inferred_release import (
    CALLER_DECIDES,
    WORKLOAD_DECIDES,
    AssumedRelease,
    assume_release,
)
from kafkaviz.analysis.opened_path import open_log_path
from kafkaviz.analysis.overview import inactive_segments
from kafkaviz.analysis.tuning.case_measurement import MeasureOptions, measure_cases
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
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, open_broker
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import message
from kafkaviz.simulate.appends import AppendChunk, DiscardedLogs
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.directory.simulation import SimulationPlan
from kafkaviz.simulate.producers.workload import PRESETS


def open_workload(target: str, version: str | None, overrides: dict[str, str]) -> TuningSource:
    workload = simulation.open_workload(target, version, overrides)
    plan = simulation.plan_workload(workload, overrides, None, version)
    text = version or workload.kafka_version
    if any(config_def.setting(name).name == SETTING for name in overrides):
        source = message("setting_source.typed", name=SETTING)
    elif SETTING in dict(workload.settings):
        source = message("setting_source.of_workload", name=SETTING)
    else:
        default = message("setting_source.default", release=text)
        source = message("setting_source.named", name=SETTING, source=default)
    per_append = plan.behaviour.per_append
    interval_bytes = plan.config.index_interval_bytes
    builder = MeasurementBuilder(
        extra_intervals={interval_bytes},
        by_base_offset=versions.search_profile(text).by_base_offset,
        per_append=per_append,
        by_append=per_append,
    )
    for _, pieces in groupby(_segment_rows(plan), key=itemgetter(0)):
        builder.add(rows for _, rows in pieces)
    today = CurrentConfig(
        interval_bytes=interval_bytes,
        interval_source=source,
        config=plan.config,
        topic=workload.topic,
        is_coarse=per_append and not plan.is_leader,
    )
    case = TuningCase(
        name=workload.directory,
        today=today,
        measurement=builder.result(),
        # the payload is generated and dropped
        logs=((lambda: (AppendChunk(chunk.rows) for chunk in plan.chunks()), plan.start_offset),),
        is_leader=plan.is_leader,
    )
    reason = CALLER_DECIDES if version else WORKLOAD_DECIDES
    assumed_release = AssumedRelease(versions.parse(text), (reason,))
    return TuningSource(
        name=target, kind=WORKLOAD, version=text, assumed_release=assumed_release, cases=(case,)
    )


def _segment_rows(plan: SimulationPlan) -> Iterator[tuple[int, np.ndarray]]:
    """Yields (segment number, batches) for all batches that a plan writes, in order.

    The batches are an array of appends.INCOMING. One segment may be yielded in several parts.

    Raises:
        KafkavizError: Kafka would throw at an append. The message has Kafka's exception.
    """
    run = simulation.Run(plan, DiscardedLogs())
    number = 0
    for chunk in plan.chunks():
        run.take(chunk)
        first, *others = np.split(chunk.rows, np.flatnonzero(chunk.rows["position"] == 0))
        if len(first):
            yield number, first
        for piece in others:
            number += 1
            yield number, piece


def open_source(
    target: str | Path,
    version: str | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    broker: Broker | None = None,
    **options: Unpack[MeasureOptions],
) -> TuningSource:
    """Opens and measures a path, or a workload that is given by its name or a file.

    Args:
        version: the Kafka release, instead of the one that the source suggests.
        overrides: values that replace settings of the source, by Kafka's name of the setting.
        broker: the broker that has the partition, if it is already open.

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
        return _open_partition(path, version, overrides, broker, options)
    return open_broker_source(open_broker(path), topic, version, overrides=overrides, **options)


def _split_topic(path: Path) -> tuple[Path, str | None]:
    """Splits a path such as BROKER/TOPIC: returns the broker directory and the topic.

    For any other path, returns (path, None). A path inside an archive is replaced by the path of
    the unpacked file.
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
    root = path.parent
    if archive.is_archive(root):
        root = archive.unpack_if_archive(root)
    children = root.iterdir() if root.is_dir() else ()
    directories = (names.parse_directory(child.name) for child in children)
    if any(directory and directory.topic == path.name for directory in directories):
        return path.parent, path.name
    return root / path.name if (root / path.name).exists() else path, None


def _is_partition(path: Path) -> bool:
    """Returns whether `path` is a directory with a .log, or an archive of one partition."""
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
    broker: Broker | None,
    options: MeasureOptions,
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
    settings = opened.open_settings(overrides)
    cases, faults = measure_cases(logs, settings, opened.version, **options)
    if faults:
        raise faults[0]
    is_whole = base_offset is None
    return TuningSource(
        name=path.name,
        kind=PARTITION if is_whole else LOG,
        version=opened.version,
        assumed_release=opened.assumed_release,
        cases=(cases[0] if is_whole else replace(cases[0], logs=None),),
        inactive_segments=tuple(inactive_segments([partition])) if is_whole else (),
        broker_segments=_count_segments(opened.broker),
    )


def open_broker_source(
    broker: Broker,
    topic: str | None = None,
    version: str | None = None,
    *,
    overrides: Mapping[str, str] | None = None,
    **options: Unpack[MeasureOptions],
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
    default_interval = None
    if topic is None:
        default_interval = settings.find("", SETTING).or_default(assumed_release.release)
    cases, faults = measure_cases(
        by_topic,
        settings,
        assumed_release.version,
        {int(default_interval.value)} if default_interval else (),
        **options,
    )
    problems = [*broker.problems, *(Problem.from_fault(fault.path, fault) for fault in faults)]
    if not cases:
        raise CannotOpen(problems[-1].path, problems[-1].what)
    own_settings = (settings.find("", name) for name in BROKER_SETTINGS)
    partitions = [each for each in broker.partitions if topic in (None, each.topic)]
    return TuningSource(
        name=topic or broker.source.name,
        kind=BROKER if topic is None else TOPIC,
        version=assumed_release.version,
        assumed_release=assumed_release,
        cases=tuple(cases),
        problems=tuple(problems),
        metadata_left_out=has_metadata,
        inactive_segments=tuple(inactive_segments(partitions)),
        broker_segments=_count_segments(broker),
        default_interval=default_interval,
        own_settings={
            field_name(setting.name): setting.value for setting in own_settings if setting.is_given
        },
    )


def _count_segments(broker: Broker | None) -> int | None:
    if broker is None or broker.is_lone:
        return None
    return sum(len(partition.live) for partition in broker.partitions)
