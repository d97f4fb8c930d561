"""kafkaviz rebuild: writes the indexes that Kafka's recovery would build from a .log."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.cli.common import (
    add_json_option,
    add_log_dirs_option,
    add_setting_option,
    add_version_option,
    output,
    parse_folder,
)
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.rebuild import RebuildSource
    from kafkaviz.simulate.startup.index_rebuild import RebuiltSegment

EPILOG = """\
Recovers and closes each .log as a broker does. Writes its .index and .timeindex into OUT, and its
.txnindex if there is or would be one, even if they are empty. The .log is not copied. If recovery
would cut its tail, the tail is reported, and the indexes cover only the remaining part. If
recovery ends in an exception, or OUT has a file of Kafka's with other content, nothing is written
and the status is 2.

--set takes index.interval.bytes and segment.index.bytes, or the broker's log.index.interval.bytes
and log.index.size.max.bytes. Other values come from the broker directory around PATH, else they are
Kafka's defaults.

--json prints one object; [] marks a list of objects:
  segments[]  base_offset, log_bytes, offset_entries, time_entries, roll_reason, files: {NAME:
              sha256}
  events[]    event, segment, file, from_position, bytes, why
  unknown     a list of settings; only if Kafka's defaults are used for them because the metadata
              log was not read (--log-dirs)

An event is "truncate" for bytes that recovery cuts off. log_bytes is the size of the .log after
that. roll_reason is inferred, and null if none can be seen.

Example: kafkaviz rebuild /var/lib/kafka/data/orders-0 --out rebuilt"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "rebuild",
        help="rebuild the indexes in another folder",
        description="Builds the indexes of a .log, or of each .log of a partition directory, as "
        "the recovery of a broker would. The directory is never changed.",
        epilog=EPILOG,
    )
    help_text = "a partition directory, a .tar, .tar.gz or .zip of one, or a .log"
    parser.add_argument("path", metavar="PATH", type=Path, help=help_text)
    help_text = "the folder to write into; created if it does not exist"
    parser.add_argument("--out", metavar="OUT", required=True, type=parse_folder, help=help_text)
    add_setting_option(parser)
    add_log_dirs_option(parser)
    add_version_option(parser, "the release that recovers (default: inferred from the directory)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.opened_path import open_log_path
    from kafkaviz.analysis.rebuild import open_rebuild_source
    from kafkaviz.log import file

    opened = open_log_path(args.path, args.kafka_version, args.log_dirs)
    output.say_newer(opened.assumed_release.newer_than_known)
    source = open_rebuild_source(opened, dict(args.overrides))
    out = file.output_path(args.out)
    rebuilt_segments, files = _write_indexes(source, out)
    if args.json:
        output.say_json("rebuild", _rebuild_object(source, rebuilt_segments, files))
    else:
        settings = tuple(
            message("cli_tune.setting_from", name=item.name, value=item.value, source=item.source)
            for item in source.settings
        )
        text = say("cli_rebuild.settings", settings=settings)
        output.note(say("cli_rebuild.recovered_as", version=opened.version, settings=text))
        output.say(_render(source, rebuilt_segments, out))
    return 0


def _write_indexes(
    source: "RebuildSource", out: Path
) -> "tuple[list[RebuiltSegment], list[dict[str, str]]]":
    """Builds all indexes, then moves them into the output folder.

    Returns:
        The segments, and per segment the checksum of each file.
    """
    from kafkaviz.simulate.directory.folder import new_files
    from kafkaviz.units import file_stem

    segments = []
    files = []
    progress = ByteProgress()
    sizes = {
        segment.name: segment.log.size_bytes
        for segment in source.partition.live
        if segment.base_offset in source.base_offsets
    }
    progress.expect(sizes)
    with new_files(out, (source.partition.path,), replacing_same=True) as staging:
        for segment in source.rebuild_segments():
            progress.show(file_stem(segment.base_offset), 1.0)
            files.append(_write_files(segment, staging.path))
            segments.append(segment)
    progress.clear()
    return segments, files


def _write_files(segment: "RebuiltSegment", folder: Path) -> dict[str, str]:
    import hashlib

    files = segment.files()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _rebuild_object(
    source: "RebuildSource",
    rebuilt_segments: "Sequence[RebuiltSegment]",
    files: list[dict[str, str]],
) -> dict:
    from kafkaviz.analysis.json_objects import to_json_object

    reasons = source.roll_reasons(rebuilt_segments)
    segments = [
        to_json_object(segment) | {"roll_reason": reason, "files": names}
        for segment, reason, names in zip(rebuilt_segments, reasons, files, strict=True)
    ]
    events = [event for segment in rebuilt_segments for event in _events(segment)]
    fields: dict = {"segments": segments, "events": events}
    if source.assumed_settings:
        fields["unknown"] = list(source.assumed_settings)
    return fields


def _events(segment: "RebuiltSegment") -> Iterator[dict]:
    """Yields a truncate event if recovery would truncate the .log."""
    from kafkaviz.simulate import steps
    from kafkaviz.units import file_stem

    result = segment.recovered_segment
    if result.truncated_bytes:
        yield {
            "event": "truncate",
            "segment": segment.base_offset,
            "file": f"{file_stem(segment.base_offset)}.log",
            "from_position": result.valid_bytes,
            "bytes": result.truncated_bytes,
            "why": steps.STOP_REASONS.get(result.stop_reason, result.stop_reason),
        }


def _render(
    source: "RebuildSource", segments: "Sequence[RebuiltSegment]", out: Path
) -> Iterator[str]:
    for segment in segments:
        result = segment.recovered_segment
        files = segment.files()
        counts = [
            message("common.n_offset_entries", n=len(result.offset_entries)),
            message("cli.time_entries", n=len(result.time_entries)),
        ]
        if len(files) > 2:
            counts.append(message("cli_rebuild.aborted", n=len(result.aborted)))
        name = next(iter(files)).removesuffix(".index")
        entries = tuple(counts)
        yield say("cli.segment_line", name=name, bytes=result.valid_bytes, entries=entries)
        for event in _events(segment):
            byte = event["from_position"]
            yield "  " + say("cli_rebuild.cut", bytes=event["bytes"], byte=byte, why=event["why"])
    count = sum(len(item.files()) for item in segments)
    yield say("cli_rebuild.files_written", n=count, directory=source.partition.directory, out=out)
