"""The checks of files directly in a log directory: meta.properties, checkpoints, unknown files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kafkaviz.analysis.checks import kraft_files, other_files, unreadable_files
from kafkaviz.analysis.findings import ERROR, Evidence, Finding, finding
from kafkaviz.analysis.restart.next_start import has_replicas, is_file
from kafkaviz.errors import CannotOpen
from kafkaviz.format import checkpoint
from kafkaviz.format.java import int_or_none
from kafkaviz.format.names import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    HIGH_WATERMARK_CHECKPOINT,
    META_PROPERTIES,
    RECOVERY_POINT_CHECKPOINT,
    SERVER_PROPERTIES,
)
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, OWN_FILES, Broker, Problem
from kafkaviz.log.metadata_log import DIRECTORY
from kafkaviz.messages import message
from kafkaviz.simulate.startup import small_files
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import replace_surrogates
from kafkaviz.versions import Release

# the consequence if one of these checkpoints is empty; other checkpoints may well be empty
EMPTY_CONSEQUENCES = {
    RECOVERY_POINT_CHECKPOINT: message("consequence.recovery_points_lost"),
    HIGH_WATERMARK_CHECKPOINT: message("consequence.checkpoint_without_high_watermarks"),
}


def check_broker(
    broker: Broker,
    release: Release,
    fatal_steps: Mapping[str, StartupStep],
    strange_names: Sequence[str] = (),
) -> Iterator[Finding]:
    """Yields the findings about files directly in one log directory.

    Args:
        broker: a broker with only this log directory.
        fatal_steps: the start-up steps that fail because of these files, by `StartupStep.cause`.
        strange_names: directories whose names make every broker start-up fail.
    """
    for name in small_files.CHECKPOINT_WAY_OUTS:
        yield from _check_checkpoint(broker, name, release)
    yield from _check_properties(broker, is_fatal="meta-properties" in fatal_steps, release=release)
    bootstrap = broker.path / BOOTSTRAP
    yield from kraft_files.check_bootstrap(bootstrap, fatal_steps.get("bootstrap"), release)
    for name in strange_names:
        yield other_files.directory_finding(replace_surrogates(name), release)
    for problem in broker.problems:
        name = problem.path.name
        # the checks above read these files again and report them
        if problem.is_unread and name not in (*CHECKPOINTS.values(), META_PROPERTIES):
            partition = name
            consequence = unreadable_files.OFFLINE
            if name == CLEAN_SHUTDOWN:
                partition = None
                consequence = unreadable_files.ONLY_THERE
            yield unreadable_files.path_finding(name, partition, problem, release, consequence)
    with file.translate_os_errors(broker.path), os.scandir(broker.path) as entries:
        file_names = sorted(entry.name for entry in entries if not file.is_directory(entry))
    # the user may have put a server.properties into the directory to provide the settings
    known_names = (*OWN_FILES, SERVER_PROPERTIES)
    for name in file_names:
        if name.removesuffix(".tmp") not in known_names:
            yield other_files.stranger_finding(None, name, None, release)


def _check_checkpoint(broker: Broker, name: str, release: Release) -> Iterator[Finding]:
    path = broker.path / name
    if not is_file(path):
        return
    try:
        data = file.read(path, limit_bytes=file.TEXT_BYTES)
        fault = small_files.checkpoint_fault(data)
    except CannotOpen as refusal:
        problem = Problem.from_fault(path, refusal)
        yield unreadable_files.path_finding(name, None, problem, release)
        return
    if fault is None:
        if name in EMPTY_CONSEQUENCES and not checkpoint.parse_offsets(data):
            yield from _check_empty(broker, name, release)
        return
    consequence = small_files.checkpoint_consequence(name, fault, has_replicas=has_replicas(broker))
    checkpoint_finding = finding(
        "checkpoint-unreadable",
        message("finding.in_file", file=name, problem=fault.what),
        Evidence(fault.what),
        file=name,
        position=fault.position,
        release=release,
        consequence=consequence,
        next_step=small_files.CHECKPOINT_WAY_OUTS[name],
    )
    is_error = consequence == small_files.NO_REPLICAS
    yield replace(checkpoint_finding, severity=ERROR) if is_error else checkpoint_finding


def _check_empty(broker: Broker, name: str, release: Release) -> Iterator[Finding]:
    """Yields a finding if a checkpoint is empty although the broker has records."""
    count = sum(
        partition.state == "current"
        and partition.directory != DIRECTORY
        and partition.log_bytes > 0
        for partition in broker.partitions
    )
    if not count:
        return
    yield finding(
        "checkpoint-empty",
        message("finding.checkpoint_empty", file=name, n=count),
        Evidence(message("evidence.no_entry"), message("evidence.line_per_partition")),
        file=name,
        release=release,
        consequence=EMPTY_CONSEQUENCES[name],
    )


def _check_properties(broker: Broker, *, is_fatal: bool, release: Release) -> Iterator[Finding]:
    path = broker.path / META_PROPERTIES
    problem = next((candidate for candidate in broker.problems if candidate.path == path), None)
    if problem and problem.is_unread:
        yield unreadable_files.path_finding(
            META_PROPERTIES, None, problem, release, unreadable_files.NO_START
        )
        return
    version = int_or_none(broker.properties.get("version", "0").strip())
    missing_keys = [key for key in ("broker.id", "cluster.id") if key not in broker.properties]
    fault = problem.what if problem else message("finding.no_file", file=META_PROPERTIES)
    if not problem and file.is_there(path):
        fault = small_files.properties_fault(file.read(path, limit_bytes=file.PROPERTIES_BYTES))
    if not fault and version == 0 and missing_keys:
        fault = message("meta_properties.keys_missing", keys=tuple(missing_keys))
    if fault:
        keys = "version=1, cluster.id, node.id"
        if version == 0 and not is_fatal:
            keys = "version=0, broker.id"
        found_text = fault if file.is_there(path) else message("evidence.no_file")
        yield finding(
            "meta-properties-bad",
            fault,
            Evidence(found_text, message("evidence.name", name=keys)),
            file=META_PROPERTIES,
            release=release,
            consequence=None if is_fatal else message("consequence.properties_from_settings"),
        )
