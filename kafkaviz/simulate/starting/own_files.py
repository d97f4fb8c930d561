"""The files of a broker directory that a start reads before its first log: meta.properties,
bootstrap.checkpoint and quorum-state.

As MetaPropertiesEnsemble, BootstrapDirectory, BatchFileReader and FileQuorumStateStore of Kafka
4.3.1. A directory without a meta.properties that can be read counts as not there; of
bootstrap.checkpoint every record is read, and no checksum is looked at: "x" holds no
metadata.version, so the start ends.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import batch, batch_records, checkpoint, metadata
from kafkaviz.format.names import BOOTSTRAP, META_PROPERTIES, METADATA_TOPIC, QUORUM_STATE
from kafkaviz.format.walk import walk
from kafkaviz.simulate.config import Profile
from kafkaviz.simulate.recovering.recovery import Raised
from kafkaviz.simulate.starting import small_files, way_outs
from kafkaviz.simulate.steps import Step
from kafkaviz.units import excerpt

RUNTIME = "java.lang.RuntimeException"
CORRUPT_RECORD = "org.apache.kafka.common.errors.CorruptRecordException"
NONE_READABLE = Raised(RUNTIME, "No readable meta.properties files found.")
NO_CLUSTER = Raised("java.util.NoSuchElementException", "No value present")
ONLY_ONE = "a broker that has no other log directory does not start"
# of bootstrap.checkpoint, and of its records: a directory is formatted with some of some dozen
# bytes
BOOTSTRAP_BYTES = 1 << 20
QUORUM_FILE = f"{METADATA_TOPIC}-0/{QUORUM_STATE}"
_NUMBER = re.compile("[+-]?[0-9]{1,10}")


@dataclass(frozen=True)
class OwnFiles:
    """Their bytes, None where there is no file; has_metadata_log: KRaft's own log lies in the
    directory.
    """

    meta_properties: bytes | None
    bootstrap: bytes | None = None
    has_metadata_log: bool = False
    quorum_state: bytes | None = None


def own_steps(files: OwnFiles, of: Profile) -> tuple[Step, ...]:
    """Where these files end a start; nothing where they do not."""
    is_kraft = versions.KRAFT_ALONE.of(of.release) or files.has_metadata_log
    steps = list(_properties(files.meta_properties, is_kraft))
    if is_kraft and versions.BOOTSTRAP_CHECKPOINT.of(of.release) and files.bootstrap is not None:
        steps += _bootstrap(files.bootstrap)
    if files.has_metadata_log and files.quorum_state is not None:
        steps += _quorum(files.quorum_state)
    return tuple(steps)


def properties_fault(data: bytes) -> str | None:
    """What MetaProperties does not take of a meta.properties, or None."""
    try:
        return _fault_in(checkpoint.parse_properties(data))
    except CorruptBytes as fault:
        return fault.what


def _fault_in(found: Mapping[str, str]) -> str | None:
    """The same of properties that were parsed."""
    version = found.get("version", "0")
    if version not in ("0", "1"):
        return f"version {excerpt(version)} is none that Kafka knows"
    name = "node.id" if version == "1" else "broker.id"
    lacking = [one for one in ("cluster.id", "node.id") if version == "1" and one not in found]
    if lacking:
        return f"it does not tell {' and '.join(lacking)}"
    if name in found and not (
        _NUMBER.fullmatch(found[name]) and -(1 << 31) <= int(found[name]) < 1 << 31
    ):
        return f"{name} {excerpt(found[name])!r} is no number"
    if "directory.id" in found and small_files.id_fault(found["directory.id"], META_PROPERTIES):
        return f"directory.id {excerpt(found['directory.id'])!r} is no id"
    return None


def bootstrap_fault(data: bytes) -> Raised | None:
    """What reading a bootstrap.checkpoint throws, or None; CannotOpen where its records are more
    than are looked at.
    """
    batches, end = walk(data)
    set_features, left_bytes = set(), BOOTSTRAP_BYTES
    for row in batches[~batch.is_control(batches)]:
        position, size_bytes = int(row["position"]), int(row["size_bytes"])
        try:
            for record in batch_records.iterate(data[position : position + size_bytes]):
                left_bytes -= record.size_bytes
                if left_bytes < 0:
                    raise CannotOpen(
                        BOOTSTRAP,
                        f"holds more than the {BOOTSTRAP_BYTES} bytes of records that are read",
                        kind="large",
                    )
                try:
                    found = metadata.decode(record.value)
                except CorruptBytes:
                    return Raised(
                        RUNTIME, f"unable to deserialize record at offset {record.offset}"
                    )
                if found.type.name == metadata.FEATURE_LEVEL:
                    set_features.add(found.values["name"])
        except CorruptBytes as fault:
            return Raised("org.apache.kafka.common.InvalidRecordException", fault.what)
    if end.reason == "bad-length":
        size = int.from_bytes(
            data[end.position + batch.LENGTH_END - 4 : end.position + batch.LENGTH_END],
            "big",
            signed=True,
        )
        return Raised(
            CORRUPT_RECORD,
            (
                f"Found record size {size} smaller than minimum record overhead (14) in file "
                f"{BOOTSTRAP}."
            ),
        )
    if "metadata.version" not in set_features:
        source = f"the binary bootstrap metadata file: {BOOTSTRAP}"
        return Raised(
            RUNTIME,
            (
                "No FeatureLevelRecord for metadata.version was found in the bootstrap metadata "
                f"from {source}"
            ),
        )
    return None


def _properties(data: bytes | None, is_kraft: bool) -> Iterator[Step]:
    if data is None:
        if is_kraft:
            yield _unknown_node(f"there is no {META_PROPERTIES}: {ONLY_ONE}", NONE_READABLE)
        return
    try:
        found = checkpoint.parse_properties(data)
        fault = _fault_in(found)
    except CorruptBytes as refused:
        found, fault = {}, refused.what
    if fault:
        yield _unknown_node(
            f"{META_PROPERTIES} says nothing to Kafka ({fault}): {ONLY_ONE}", NONE_READABLE
        )
    elif is_kraft and "cluster.id" not in found:
        yield _unknown_node(
            f"{META_PROPERTIES} does not tell cluster.id, which ends the start", NO_CLUSTER
        )


def _unknown_node(why: str, raised: Raised) -> Step:
    return _fail("meta-properties", META_PROPERTIES, why, raised, way_outs.PROPERTIES)


def _bootstrap(data: bytes) -> Iterator[Step]:
    raised = bootstrap_fault(data)
    if raised:
        yield _fail(
            "bootstrap",
            BOOTSTRAP,
            f"reading {BOOTSTRAP} ends with an exception, which ends the start",
            raised,
            way_outs.BOOTSTRAP,
        )


def quorum_fault(data: bytes) -> tuple[str, Raised | None] | None:
    """(what is wrong with a quorum-state, what reading it throws, None where its words are not
    known), or None.
    """
    try:
        checkpoint.parse_quorum_state(data)
    except CorruptBytes as fault:
        what = fault.what
    else:
        return None
    if what.startswith("data_version ("):
        return what, Raised("java.lang.IllegalStateException", what)
    if what.startswith("unable to locate"):
        return what, Raised(RUNTIME, f"QuorumStateData: {what}")
    if what.startswith(("the field", "a voter")):
        return what, None
    return what, Raised(
        "java.io.UncheckedIOException",
        f"Error while reading the Quorum status from the file {QUORUM_FILE}",
    )


def _quorum(data: bytes) -> Iterator[Step]:
    """QuorumState.initialize catches nothing that reading the file throws."""
    found = quorum_fault(data)
    if found:
        why = f"{QUORUM_FILE} cannot be read ({found[0]}), which ends the start"
        yield _fail("quorum-state-bad", QUORUM_FILE, why, found[1], way_outs.QUORUM_STATE)


def _fail(cause: str, name: str, why: str, raised: Raised | None, way_out: str) -> Step:
    error = str(raised) if raised else None
    return Step(None, None, "fail", cause, why, name, error=error, way_out=way_out)
