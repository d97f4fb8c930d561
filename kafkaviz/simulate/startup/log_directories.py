"""Checks the log directories of a KRaft broker at start-up, before the first log is loaded.

Follows MetaPropertiesEnsemble.verify and KafkaRaftServer.initializeLogDirs of Kafka 4.3.1 and
4.4.0:

- Every directory has a meta.properties with the same cluster and node.
- No directory.id occurs twice.
- The metadata log is only in the metadata log directory.

An unreadable meta.properties only takes its directory offline, except in the metadata log directory
or if none is readable. With any other violation the broker does not start.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java import KAFKA, int_or_none
from kafkaviz.format.names import META_PROPERTIES
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.startup import small_files
from kafkaviz.simulate.startup.small_files import RUNTIME, OwnFiles
from kafkaviz.simulate.steps import StartupStep, fail_step


@dataclass(frozen=True, kw_only=True)
class StartDirectory:
    """A log directory before broker start-up."""

    path: str  # as given on the command line
    files: OwnFiles
    is_metadata_directory: bool = False  # the settings say so, or it holds the metadata log


def directory_steps(
    directories: Sequence[StartDirectory], behaviour: ReleaseBehaviour
) -> tuple[StartupStep, ...]:
    own_steps = {
        directory.path: tuple(
            replace(step, log_directory=directory.path)
            for step in small_files.own_steps(directory.files, behaviour)
        )
        for directory in directories
    }
    is_kraft = versions.KRAFT_ONLY.applies_to(behaviour.release) or any(
        directory.files.has_metadata_log for directory in directories
    )
    if len(directories) == 1 or not is_kraft:
        return tuple(step for steps in own_steps.values() for step in steps)
    ordered = sorted(directories, key=lambda directory: directory.path)
    other_steps = [
        step
        for directory in ordered
        for step in own_steps[directory.path]
        if step.cause != "meta-properties"  # _ensemble_steps replaces these
        and (step.cause != "bootstrap" or directory.is_metadata_directory)
    ]
    return (*_ensemble_steps(ordered), *other_steps)


def _ensemble_steps(directories: Sequence[StartDirectory]) -> Iterator[StartupStep]:
    properties, faults, empty = _read_properties(directories)
    if not properties:
        why = message("start.no_readable_meta_properties")
        words = small_files.NONE_READABLE.message
        yield _fail(directories[0].path, why, words, message("way_out.write_meta_properties"))
        return
    yield from _disagreements(properties)
    for directory in directories:
        if directory.path in faults:
            yield _faulty_properties(directory, faults[directory.path])
    yield from _misplaced_metadata_logs(directories)
    for path in empty:
        words = (
            f"No `meta.properties` found in {path} (have you run `kafka-storage.sh` to format the "
            "directory?)"
        )
        why = message("start.directory_without_properties", path=path)
        yield _fail(path, why, words, message("way_out.format_directory"))
    for path, values in properties.items():
        for key, name in (("node", small_files.node_key(values)), ("cluster", "cluster.id")):
            if name not in values:
                words = f"Error: {key} ID not found in {path}"
                why = message("start.directory_without_key", path=path, key=name)
                yield _fail(path, why, words, message("way_out.write_meta_properties"))


def _read_properties(
    directories: Sequence[StartDirectory],
) -> tuple[dict[str, Mapping[str, str]], dict[str, Message], list[str]]:
    properties: dict[str, Mapping[str, str]] = {}
    faults: dict[str, Message] = {}
    empty: list[str] = []
    for directory in directories:
        data = directory.files.meta_properties
        if data is None:
            empty.append(directory.path)
            continue
        fault = small_files.properties_fault(data)
        if fault is not None:
            faults[directory.path] = fault
        else:
            properties[directory.path] = checkpoint.parse_properties(data)
    return properties, faults, empty


def _disagreements(properties: Mapping[str, Mapping[str, str]]) -> Iterator[StartupStep]:
    first_cluster: tuple[str, str] | None = None
    first_node: tuple[str, int] | None = None
    directory_by_id: dict[str, str] = {}
    for path, values in properties.items():
        file = f"{path}/{META_PROPERTIES}"
        cluster = values.get("cluster.id")
        if cluster is not None and first_cluster is None:
            first_cluster = path, cluster
        elif cluster is not None and first_cluster and cluster != first_cluster[1]:
            words = (
                f"Invalid cluster.id in: {file}. Expected {first_cluster[1]}, but read {cluster}"
            )
            yield _disagreement(path, "cluster.id", cluster, first_cluster, words)
        node_key = small_files.node_key(values)
        # an unreadable id was refused before
        node = int_or_none(values.get(node_key, ""))
        if node is not None and first_node is None:
            first_node = path, node
        elif node is not None and first_node and node != first_node[1]:
            words = (
                f"Stored node id {node} doesn't match previous node id {first_node[1]} "
                f"in {file}. If you moved your data, make sure your configured node id matches. If "
                "you intend to create a new node, you should remove all data in your data "
                "directories."
            )
            first = first_node[0], str(first_node[1])
            yield _disagreement(path, node_key, str(node), first, words)
        directory_id = values.get("directory.id")
        if directory_id is None:
            continue
        if small_files.is_reserved(directory_id):
            words = f"Invalid reserved directory ID {directory_id} found in {path}"
            why = message("start.reserved_directory_id", file=file, id=directory_id)
            yield _fail(path, why, words, message("way_out.give_own_directory_id"))
        elif directory_id in directory_by_id:
            first = directory_by_id[directory_id]
            words = (
                f"Duplicate directory ID Optional[{directory_id}] found. It was the ID of {first}, "
                f"but also of {path}"
            )
            why = message("start.directory_id_twice", path=path, other=first, id=directory_id)
            yield _fail(path, why, words, message("way_out.give_own_directory_id"))
        directory_by_id.setdefault(directory_id, path)


def _disagreement(
    path: str, key: str, value: str, first: tuple[str, str], words: str
) -> StartupStep:
    why = message(
        "start.directories_disagree",
        path=path,
        key=key,
        value=value,
        other=first[0],
        other_value=first[1],
    )
    return _fail(path, why, words, message("way_out.take_out_other_brokers_directory"))


def _faulty_properties(directory: StartDirectory, fault: Message) -> StartupStep:
    path = directory.path
    why = message("start.meta_properties_unusable", file=META_PROPERTIES, problem=fault)
    words = f"Encountered I/O error in metadata log directory {path}. Cannot continue."
    step = _fail(path, why, words, message("way_out.write_meta_properties"))
    if directory.is_metadata_directory:
        return step
    error = BrokerException("java.io.IOException", f"Failed to load {path} during broker startup")
    return replace(step, error=str(error), takes_directory_offline=True)


def _misplaced_metadata_logs(directories: Sequence[StartDirectory]) -> Iterator[StartupStep]:
    main = next((directory for directory in directories if directory.is_metadata_directory), None)
    if main is None:
        return
    for directory in directories:
        if directory is main or not directory.files.has_metadata_log:
            continue
        log_path = f"{directory.path}/{names.METADATA_DIRECTORY}"
        words = (
            f"Found unexpected metadata location in data directory `{log_path}` (the configured "
            f"metadata directory is {main.path})."
        )
        yield fail_step(
            "metadata-log-elsewhere",
            message("start.metadata_log_elsewhere", path=directory.path, main=main.path),
            BrokerException(KAFKA, words),
            message("way_out.name_metadata_directory", path=directory.path),
            partition=names.METADATA_DIRECTORY,
            log_directory=directory.path,
        )


def _fail(path: str, why: Message, words: str, way_out: Message) -> StartupStep:
    """Returns a "fail" step. `words` is the message of Kafka's RuntimeException."""
    exception = BrokerException(RUNTIME, words)
    file = META_PROPERTIES
    return fail_step("meta-properties", why, exception, way_out, file=file, log_directory=path)
