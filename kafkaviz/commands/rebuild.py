"""kafkaviz rebuild: the indexes that Kafka's recovery would build from a .log alone, written
somewhere else.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.commands.printing import output
from kafkaviz.commands.printing.options import folder, release, setting

if TYPE_CHECKING:
    from kafkaviz.analyse.rebuilt import Source
    from kafkaviz.simulate.starting.rebuilding import Rebuilt

EPILOG = """\
Recovers and closes each .log as a broker does, and writes its .index, its .timeindex, and its
.txnindex if there is or would be one, into OUT: also those that are empty. The .log is not copied;
a tail that recovery would cut is named, and the indexes are those of what is left. Where recovery
ends in an exception no file is written, and the status is 2; nor is one where OUT holds a file of
Kafka's that is another.

--set takes index.interval.bytes and segment.index.bytes, or the broker's log.index.interval.bytes
and log.index.size.max.bytes. What is not set is as the broker directory around PATH tells, else
Kafka's default.

--json prints one object: segments, a list of {base_offset, log_bytes, offset_entries, time_entries,
roll_reason, files: {NAME: sha256}}; events, a list of {event, segment, file, from_position, bytes,
why}: "truncate", bytes that recovery cuts off. log_bytes is what is left of the .log; roll_reason
is inferred, null where none is seen.

Example: kafkaviz rebuild /var/lib/kafka/data/orders-0 --out rebuilt"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `rebuild` to the command line."""
    parser = subparsers.add_parser(
        "rebuild",
        help="build the indexes anew, somewhere else",
        description="Builds the indexes of a .log, or of each .log of a partition directory, as "
        "the recovery of a broker would. Nothing in the directory is changed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        type=Path,
        help="a partition directory, a .tar, .tar.gz or .zip of one, or a .log",
    )
    parser.add_argument(
        "--out",
        metavar="OUT",
        required=True,
        type=folder,
        help="the folder to write into; made if it is not there",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="typed",
        action="append",
        default=[],
        type=setting,
        help="a setting; may be repeated",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="V",
        help="the release that recovers (default: by the directory's traces)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Builds, writes, and says what was built."""
    from kafkaviz import versions
    from kafkaviz.analyse import paths
    from kafkaviz.analyse.rebuilt import open_source
    from kafkaviz.log import file

    version = release(args.kafka_version, args.path, paths.LOGS)
    parsed = versions.parse(version)
    source = open_source(args.path, parsed, dict(args.typed))
    out = file.absolute(args.out)
    built, files = _written(source, parsed, out)
    if args.json:
        output.say_json(_as_object(source, built, files))
    else:
        print(
            output.plain(f"recovered as Kafka {version} does it, with {_settings(source)}"),
            file=sys.stderr,
        )
        output.say(_words(source, built, out))
    return 0


def _written(
    source: "Source", release: tuple[int, ...], out: Path
) -> "tuple[list[Rebuilt], list[dict[str, str]]]":
    """The segments, and of each the names and checksums of its files, which are put into OUT once
    all are built.
    """
    from kafkaviz.simulate.whole.folder import new_files

    built, files = [], []
    with new_files(out, (source.partition.path,), replacing_same=True) as aside:
        for one in source.rebuilt(release):
            files.append(_put(one, aside.path))
            built.append(one)
    return built, files


def _put(one: "Rebuilt", folder: Path) -> dict[str, str]:
    """Writes the files of a segment; their names and checksums."""
    import hashlib

    files = one.files()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _as_object(source: "Source", built: "Sequence[Rebuilt]", files: list[dict[str, str]]) -> dict:
    from kafkaviz.analyse.segment_object import segment_object

    segments = [
        segment_object(
            one.base_offset,
            one.found.valid_bytes,
            one.found.offset_entries,
            one.found.time_entries,
            reason,
            names,
        )
        for one, reason, names in zip(built, source.roll_reasons(built), files, strict=True)
    ]
    return {"segments": segments, "events": [event for one in built for event in _events(one)]}


def _events(one: "Rebuilt") -> Iterator[dict]:
    """What recovery does to the .log."""
    from kafkaviz.simulate.starting import way_outs
    from kafkaviz.units import file_stem

    if one.found.truncated_bytes:
        why = way_outs.STOPPED.get(one.found.stopped, one.found.stopped)
        place = {"from_position": one.found.valid_bytes, "bytes": one.found.truncated_bytes}
        yield {
            "event": "truncate",
            "segment": one.base_offset,
            "file": f"{file_stem(one.base_offset)}.log",
            **place,
            "why": why,
        }


def _words(source: "Source", built: "Sequence[Rebuilt]", out: Path) -> Iterator[str]:
    from kafkaviz import units

    for one in built:
        found, files = one.found, one.files()
        both = ("offset", found.offset_entries), ("time", found.time_entries)
        entries = ", ".join(
            units.many(len(one), f"{kind} entry", f"{kind} entries") for kind, one in both
        )
        aborted = (
            f", {units.many(len(found.aborted), 'aborted transaction')}" if len(files) > 2 else ""
        )
        yield (
            f"{next(iter(files)).removesuffix('.index')}  {found.valid_bytes} bytes of .log: "
            f"{entries}{aborted}"
        )
        for event in _events(one):
            yield (
                f"  recovery cuts {event['bytes']} bytes from byte {event['from_position']} on: "
                f"{event['why']}"
            )
    count = sum(len(one.files()) for one in built)
    yield f"{count} files of {source.partition.directory} written into {out}"


def _settings(source: "Source") -> str:
    """The settings, and where each came from."""
    return " and ".join(f"{one.name} = {one.value} ({one.source})" for one in source.settings)
