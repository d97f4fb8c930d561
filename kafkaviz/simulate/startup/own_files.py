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
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.startup import small_files, way_outs
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import excerpt

RUNTIME = "java.lang.RuntimeException"
CORRUPT_RECORD = "org.apache.kafka.common.errors.CorruptRecordException"
NONE_READABLE = BrokerException(RUNTIME, "No readable meta.properties files found.")
NO_CLUSTER = BrokerException("java.util.NoSuchElementException", "No value present")
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


def own_steps(files: OwnFiles, behaviour: ReleaseBehaviour) -> tuple[StartupStep, ...]:
    """Where these files end a start; nothing where they do not."""
    is_kraft = versions.KRAFT_ONLY.applies_to(behaviour.release) or files.has_metadata_log
    steps = list(_properties(files.meta_properties, is_kraft=is_kraft))
    if (
        is_kraft
        and versions.BOOTSTRAP_CHECKPOINT.applies_to(behaviour.release)
        and files.bootstrap is not None
    ):
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


def _fault_in(properties: Mapping[str, str]) -> str | None:
    """The same of properties that were parsed."""
    version = properties.get("version", "0")
    if version not in ("0", "1"):
        return f"version {excerpt(version)} is none that Kafka knows"
    name = "node.id" if version == "1" else "broker.id"
    missing_keys = [
        key for key in ("cluster.id", "node.id") if version == "1" and key not in properties
    ]
    if missing_keys:
        return f"it does not tell {' and '.join(missing_keys)}"
    if name in properties and not (
        _NUMBER.fullmatch(properties[name]) and -(1 << 31) <= int(properties[name]) < 1 << 31
    ):
        return f"{name} {excerpt(properties[name])!r} is no number"
    if "directory.id" in properties and small_files.id_fault(
        properties["directory.id"], META_PROPERTIES
    ):
        return f"directory.id {excerpt(properties['directory.id'])!r} is no id"
    return None


def bootstrap_fault(data: bytes) -> BrokerException | None:
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
                    decoded = metadata.decode(record.value)
                except CorruptBytes:
                    return BrokerException(
                        RUNTIME, f"unable to deserialize record at offset {record.offset}"
                    )
                if decoded.type.name == metadata.FEATURE_LEVEL:
                    set_features.add(decoded.values["name"])
        except CorruptBytes as fault:
            return BrokerException("org.apache.kafka.common.InvalidRecordException", fault.what)
    if end.reason == "bad-length":
        size = int.from_bytes(
            data[end.position + batch.LENGTH_END - 4 : end.position + batch.LENGTH_END],
            "big",
            signed=True,
        )
        return BrokerException(
            CORRUPT_RECORD,
            (
                f"Found record size {size} smaller than minimum record overhead (14) in file "
                f"{BOOTSTRAP}."
            ),
        )
    if "metadata.version" not in set_features:
        source = f"the binary bootstrap metadata file: {BOOTSTRAP}"
        return BrokerException(
            RUNTIME,
            (
                "No FeatureLevelRecord for metadata.version was found in the bootstrap metadata "
                f"from {source}"
            ),
        )
    return None


def _properties(data: bytes | None, *, is_kraft: bool) -> Iterator[StartupStep]:
    if data is None:
        if is_kraft:
            yield _unknown_node(f"there is no {META_PROPERTIES}: {ONLY_ONE}", NONE_READABLE)
        return
    try:
        properties = checkpoint.parse_properties(data)
        fault = _fault_in(properties)
    except CorruptBytes as corruption:
        properties, fault = {}, corruption.what
    if fault:
        yield _unknown_node(
            f"{META_PROPERTIES} says nothing to Kafka ({fault}): {ONLY_ONE}", NONE_READABLE
        )
    elif is_kraft and "cluster.id" not in properties:
        yield _unknown_node(
            f"{META_PROPERTIES} does not tell cluster.id, which ends the start", NO_CLUSTER
        )


def _unknown_node(why: str, exception: BrokerException) -> StartupStep:
    return _fail("meta-properties", META_PROPERTIES, why, exception, way_outs.PROPERTIES)


def _bootstrap(data: bytes) -> Iterator[StartupStep]:
    exception = bootstrap_fault(data)
    if exception:
        yield _fail(
            "bootstrap",
            BOOTSTRAP,
            f"reading {BOOTSTRAP} ends with an exception, which ends the start",
            exception,
            way_outs.BOOTSTRAP,
        )


def quorum_fault(data: bytes) -> tuple[str, BrokerException | None] | None:
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
        return what, BrokerException("java.lang.IllegalStateException", what)
    if what.startswith("unable to locate"):
        return what, BrokerException(RUNTIME, f"QuorumStateData: {what}")
    if what.startswith(("the field", "a voter")):
        return what, None
    return what, BrokerException(
        "java.io.UncheckedIOException",
        f"Error while reading the Quorum status from the file {QUORUM_FILE}",
    )


def _quorum(data: bytes) -> Iterator[StartupStep]:
    """QuorumState.initialize catches nothing that reading the file throws."""
    fault = quorum_fault(data)
    if fault:
        why = f"{QUORUM_FILE} cannot be read ({fault[0]}), which ends the start"
        yield _fail("quorum-state-bad", QUORUM_FILE, why, fault[1], way_outs.QUORUM_STATE)


def _fail(
    cause: str, name: str, why: str, exception: BrokerException | None, way_out: str
) -> StartupStep:
    error = str(exception) if exception else None
    return StartupStep(None, None, "fail", cause, why, name, error=error, way_out=way_out)
