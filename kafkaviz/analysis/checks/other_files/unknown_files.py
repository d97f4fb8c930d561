"""The checks for leftovers, indexes without a .log, and files of other programs."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.other_files import kraft_files
from kafkaviz.analysis.findings.finding import ERROR, Evidence, Finding, finding
from kafkaviz.format import names
from kafkaviz.format.names import LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import Message, message
from kafkaviz.units import replace_surrogates
from kafkaviz.versions import Release

PARTITION_FILES = (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE)
WHITE_SPACE = " \t\n\x0b\f\r"  # of java.util.regex
DELETED = message("consequence.deleted_at_start")
LEFTOVERS = {"deleted": "leftover-deleted", "cleaned": "leftover-cleaned", "swap": "leftover-swap"}


def leftovers(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    file_names = [file_info.name for file_info in segment.files]
    length = sum(file_info.size_bytes for file_info in segment.files)
    text = message("finding.files_of_bytes", names=tuple(file_names), n=length)
    code = LEFTOVERS[segment.state]
    yield facts.make_finding(
        code,
        file_names[0],
        text,
        Evidence(
            message("evidence.suffix", suffix=segment.state), message("evidence.no_such_file")
        ),
        (0, segment.files[0].size_bytes),
    )


def orphans(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings about indexes without a .log.

    At start-up, a broker deletes such an index, unless a folder has the name of the .log
    (LogLoader, 4.3.1 and 4.4.0).
    """
    has_folder = (segment.files[0].path.parent / f"{segment.name}.log").is_dir()
    consequence = message("consequence.kept_beside_folder") if has_folder else None
    for file_info in segment.files:
        evidence = Evidence(
            message("evidence.no_file"), message("evidence.name", name=f"{segment.name}.log")
        )
        yield facts.make_finding(
            "orphan-index",
            file_info.name,
            message("finding.no_log_beside", file=file_info.name),
            evidence,
            (0, file_info.size_bytes),
            consequence=consequence,
        )


def check_folders(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    live_bases = {segment.base_offset for segment in partition.live}
    for name in file.list_folders(partition.path):
        shown_name = replace_surrogates(name)
        stranger = stranger_finding(facts.partition, name, None, facts.release)
        yield replace(
            stranger,
            message=message("finding.folder", name=shown_name),
            consequence=_folder_consequence(name, live_bases),
        )


def _folder_consequence(name: str, live_bases: Collection[int]) -> Message:
    parsed = names.parse_file(name)
    if parsed is None or parsed.suffix:
        return message("consequence.folder")
    if parsed.kind == "log":
        return message("consequence.folder_as_log", offset=parsed.base_offset)
    if parsed.kind in ("index", "timeindex") and parsed.base_offset in live_bases:
        return message("consequence.folder_as_index")
    return message("consequence.folder")


def check_partition(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings about metadata snapshots, quorum-state, leftovers and unknown files."""
    yield from _check_white_space(partition, facts)
    for file_info in partition.other_files:
        name = names.parse_file(file_info.name)
        if name and name.kind == "checkpoint" and not name.suffix:
            yield from kraft_files.check_snapshot(file_info, partition, facts)
        elif file_info.name == QUORUM_STATE and facts.metadata_log:
            yield from kraft_files.check_quorum_state(file_info, facts)
        elif name and name.suffix in LEFTOVERS:
            evidence = Evidence(
                message("evidence.suffix", suffix=name.suffix), message("evidence.no_such_file")
            )
            text = message(
                "finding.files_of_bytes", names=(file_info.name,), n=file_info.size_bytes
            )
            yield facts.make_finding(
                LEFTOVERS[name.suffix], file_info.name, text, evidence, (0, file_info.size_bytes)
            )
        elif not name and file_info.name.removesuffix(".tmp") not in PARTITION_FILES:
            yield _name_finding(file_info, partition, facts)


def _check_white_space(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields a finding about a directory with white space in its name.

    A broker can start only once with such a directory. 4.4.0 wrote the name into its checkpoints or
    renamed the directory to -stray, and failed at every later start-up.
    """
    is_in_use = partition.state in ("current", "future")
    if not is_in_use or not any(character in WHITE_SPACE for character in partition.directory):
        return
    name = replace_surrogates(partition.directory)
    yield facts.make_finding(
        "directory-name-bad",
        None,
        message("finding.name_with_space", name=name),
        Evidence(message("evidence.name", name=name), message("evidence.topic_number")),
        consequence=message("consequence.name_with_space"),
    )


def _name_finding(file_info: FileInfo, partition: Partition, facts: PartitionFacts) -> Finding:
    stranger = stranger_finding(
        facts.partition, file_info.name, file_info.size_bytes, facts.release
    )
    consequence = _name_consequence(
        file_info.name, {segment.base_offset for segment in partition.live}
    )
    if consequence is None:
        return stranger
    is_segment = consequence.key == "consequence.name_makes_segment"
    return replace(
        stranger, consequence=consequence, severity=ERROR if is_segment else stranger.severity
    )


def _name_consequence(name: str, bases: Collection[int]) -> Message | None:
    """Returns what a file with this name does to broker start-up; None: nothing.

    The rules are from LogLoader (4.3.1, 4.4.0).

    Args:
        bases: the base offsets of the .log files in use.
    """
    if name.endswith(".deleted"):
        return DELETED
    if not name.endswith(names.OFFSET_ENDINGS):
        return None
    try:
        offset = names.parse_offset(name)
    except ValueError:
        return message("consequence.name_ends_start")
    if name.endswith(".cleaned"):
        return DELETED
    if name.endswith(".swap"):
        return message("consequence.name_of_swap")
    if name.endswith(".snapshot"):
        return message("consequence.name_of_snapshot", offset=offset)
    if offset in bases:
        return None
    if name.endswith(".log"):
        return message("consequence.name_makes_segment", offset=offset)
    return DELETED


def directory_finding(name: str, release: Release) -> Finding:
    return finding(
        "directory-name-bad",
        message("finding.no_partition_name", name=name),
        Evidence(message("evidence.name", name=name), message("evidence.topic_number")),
        file=name,
        release=release,
    )


def stranger_finding(
    partition: str | None, name: str, size_bytes: int | None, release: Release
) -> Finding:
    shown_name = replace_surrogates(name)
    path = f"{partition}/{shown_name}" if partition else shown_name
    byte_range: dict[str, Any] = (
        {"position": 0, "length": size_bytes} if size_bytes is not None else {}
    )
    text = message("finding.stranger", file=shown_name)
    return finding(
        "unknown-file",
        text,
        Evidence(message("evidence.name", name=shown_name)),
        partition=partition,
        file=path,
        release=release,
        **byte_range,
    )
