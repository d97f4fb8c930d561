"""The checks of the broker directory's own files: meta.properties, the offset checkpoints, and what
lies beside them.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafkaviz.analyse.checks.other_files import cluster, strangers, unreadable
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.analyse.restart import NEWEST, before
from kafkaviz.errors import CannotOpen, CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    META_PROPERTIES,
    SERVER_PROPERTIES,
)
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, OWN_FILES, Broker, Problem
from kafkaviz.simulate.starting import own_files
from kafkaviz.simulate.steps import Step
from kafkaviz.units import encodable


def of_broker(
    broker: Broker, version: Version, strange_names: Sequence[str] = ()
) -> Iterator[Finding]:
    """The files and directories of the broker directory itself; strange_names: directories that no
    start accepts.
    """
    for name in (*CHECKPOINTS.values(), CLEANER_CHECKPOINT):
        yield from _checkpoint(broker.path / name, version)
    ends = _ends(broker, version)
    yield from _properties(broker, "meta-properties" in ends, version)
    yield from cluster.bootstrap(broker.path / BOOTSTRAP, ends.get("bootstrap"), version)
    yield from (strangers.directory(encodable(name), version) for name in strange_names)
    for problem in broker.problems:
        name = problem.path.name
        # these are read once more
        if problem.is_unread and name not in (*CHECKPOINTS.values(), META_PROPERTIES):
            consequence, partition = (
                (unreadable.ONLY_THERE, None)
                if name == CLEAN_SHUTDOWN
                else (unreadable.OFFLINE, name)
            )
            yield unreadable.of_path(name, partition, problem, version, consequence)
    with file.failing_kindly(broker.path), os.scandir(broker.path) as entries:
        found = sorted(entry.name for entry in entries if not file.is_directory(entry))
    # the latter is what somebody put there to tell its settings
    known = (*OWN_FILES, SERVER_PROPERTIES)
    yield from (
        strangers.stranger(None, name, None, version)
        for name in found
        if name.removesuffix(".tmp") not in known
    )


def _ends(broker: Broker, version: Version) -> dict[str, Step]:
    """Where the directory's own files end a start, by cause; nothing where they may not be read."""
    try:
        return {step.cause: step for step in before(broker, version or NEWEST)}
    except KafkavizError:
        return {}


def _checkpoint(path: Path, version: Version) -> Iterator[Finding]:
    if not file.is_there(path):
        return
    try:
        checkpoint.parse_offsets(file.read_text(path))
    except CorruptBytes as fault:
        message = f"{path.name}: {fault.what}"
        yield finding(
            "checkpoint-unreadable",
            message,
            Evidence(fault.what),
            file=path.name,
            position=fault.position,
            version=version,
        )
    except CannotOpen as fault:
        yield unreadable.of_path(
            path.name, None, Problem.of(path, fault), version, unreadable.COUNTS_AS_EMPTY
        )


def _properties(broker: Broker, ends_start: bool, version: Version) -> Iterator[Finding]:
    """meta.properties, as a start takes it; without broker.id a broker of ZooKeeper's times goes by
    its settings.
    """
    path = broker.path / META_PROPERTIES
    problem = next((one for one in broker.problems if one.path == path), None)
    if problem and problem.is_unread:
        yield unreadable.of_path(META_PROPERTIES, None, problem, version, unreadable.NO_START)
        return
    kind, lacking = (
        broker.properties.get("version", "0"),
        [one for one in ("broker.id", "cluster.id") if one not in broker.properties],
    )
    fault = problem.what if problem else "there is no meta.properties"
    if not problem and file.is_there(path):
        fault = own_files.properties_fault(file.read_whole(path, file.PROPERTIES_BYTES))
    if not fault and kind == "0" and lacking:
        fault = f"it does not tell {' and '.join(lacking)}"
    if fault:
        consequence = (
            ""
            if ends_start
            else (
                "A broker of ZooKeeper's times takes what is missing from its settings, and writes "
                "it down"
            )
        )
        keys = (
            "version=0, broker.id"
            if kind == "0" and not ends_start
            else "version=1, cluster.id, node.id"
        )
        found = "no file" if not file.is_there(path) else fault
        yield finding(
            "meta-properties-bad",
            fault,
            Evidence(found, keys),
            file=META_PROPERTIES,
            version=version,
            consequence=consequence,
        )
