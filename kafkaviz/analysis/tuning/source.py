"""Opening and measuring a source: a partition, a topic, a broker directory, a .log, or a workload.

A broker directory is divided by topic, because settings are. Each topic is a case, and their sum is
the broker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafkaviz import config_def
from kafkaviz.analysis.broker.inactive_segments import InactiveSegment, inactive_segments
from kafkaviz.analysis.inference.version import assume_release
from kafkaviz.analysis.lookup import paths
from kafkaviz.analysis.tuning.case_measurement import (
    MeasureProgress,
    MeasureSizes,
    measure_cases,
)
from kafkaviz.analysis.tuning.log_measurement import SETTING
from kafkaviz.analysis.tuning.tuning_case import (
    BROKER,
    BROKER_SETTINGS,
    LOG,
    PARTITION,
    TOPIC,
    TuningSource,
    field_name,
)
from kafkaviz.analysis.tuning.workload_source import open_workload
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, open_broker
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import message
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.producers.workload import PRESETS
from kafkaviz.versions import Release


def open_source(
    target: str | Path,
    version: str | None = None,
    overrides: Mapping[str, str] | None = None,
    on_progress: MeasureProgress = lambda _name, _share: None,
    on_sizes: MeasureSizes = lambda _sizes: None,
    *,
    broker: Broker | None = None,
) -> TuningSource:
    """Opens and measures a path, or a workload given by name or file.

    Args:
        version: the Kafka release, instead of the one that the directory or the workload suggests.
        overrides: settings by topic or broker name, which replace those of the source.
        on_progress: called with each .log before it is read, and again with the share that is done.
        on_sizes: called once at the start with the bytes of each .log, by its name in
            `on_progress`.
        broker: the broker of a partition, if it has several log directories and they are open.

    Raises:
        CannotOpen: the path leads to nothing that can be tuned.
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
        return _open_partition(path, version, overrides, on_progress, on_sizes, broker=broker)
    return _open_broker(
        open_broker(path),
        topic,
        version,
        overrides=overrides,
        on_progress=on_progress,
        on_sizes=on_sizes,
    )


def open_broker_source(
    broker: Broker,
    topic: str | None = None,
    version: str | None = None,
    on_progress: MeasureProgress = lambda _name, _share: None,
    *,
    overrides: Mapping[str, str] | None = None,
    on_sizes: MeasureSizes = lambda _sizes: None,
) -> TuningSource:
    return _open_broker(
        broker,
        topic,
        version,
        overrides=dict(overrides or {}),
        on_progress=on_progress,
        on_sizes=on_sizes,
    )


def _split_topic(path: Path) -> tuple[Path, str | None]:
    """Splits BROKER/TOPIC, which is not a directory itself.

    Returns:
        The broker directory and the topic. For any other path, the path itself, unpacked if it is
        in an archive, and None.
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
    """Returns whether a directory has a .log, or an archive holds exactly one partition."""
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
    on_progress: MeasureProgress,
    on_sizes: MeasureSizes,
    *,
    broker: Broker | None,
) -> TuningSource:
    partition, base_offset = paths.open_segments(path)
    around = broker or paths.broker_around(path)
    assumed_release = assume_release(None if version else around, version)
    kafka_version = version or assumed_release.version
    release = assumed_release.release
    segments = [segment for segment in partition.live if base_offset in (None, segment.base_offset)]
    if not segments:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    logs = {partition.directory: [(partition, segments)]}
    cases, faults = measure_cases(
        logs,
        _open_settings(partition, release, overrides, broker),
        kafka_version,
        on_progress=on_progress,
        on_sizes=on_sizes,
    )
    if faults:
        raise faults[0]
    case = cases[0]
    if base_offset is not None:
        case = replace(case, logs=None)
        return TuningSource(
            name=path.name,
            kind=LOG,
            version=kafka_version,
            assumed_release=assumed_release,
            cases=(case,),
        )
    return TuningSource(
        name=path.name,
        kind=PARTITION,
        version=kafka_version,
        assumed_release=assumed_release,
        cases=(case,),
        inactive_segments=_inactive_segments([partition], partition.topic),
    )


def _open_broker(
    broker: Broker,
    topic: str | None,
    version: str | None,
    *,
    overrides: dict[str, str],
    on_progress: MeasureProgress,
    on_sizes: MeasureSizes,
) -> TuningSource:
    assumed_release = assume_release(broker, version)
    settings = open_settings(broker, assumed_release.release, overrides)
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
        default_interval=default_interval,
        own_settings=own_settings,
    )


def _inactive_segments(
    partitions: Sequence[Partition], topic: str | None
) -> tuple[InactiveSegment, ...]:
    return tuple(
        inactive_segments(partition for partition in partitions if topic in (None, partition.topic))
    )


def _open_settings(
    partition: Partition, release: Release, overrides: dict[str, str], broker: Broker | None
) -> Settings:
    """Returns the settings of the broker, or of the broker directory that contains the partition.

    Without either they are the overrides and Kafka's defaults.
    """
    if broker is not None:
        return open_settings(broker, release, overrides)
    if not names.parse_directory(partition.directory):
        for name, text in overrides.items():
            config_def.parse(name, text, release)
        return Settings(release=release, image=MetadataImage(), overrides=overrides)
    return open_settings(open_broker(partition.path), release, overrides)
