"""kafkaviz lookup: shows the steps in which Kafka finds an offset or a timestamp in real files."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kafkaviz.cli.common import (
    add_json_option,
    add_log_dirs_option,
    add_tiered_option,
    add_version_option,
    join_tiered,
    output,
    parse_number,
)
from kafkaviz.messages import message, render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.opened_path import OpenedPath
    from kafkaviz.search.log_view import SegmentView

EPILOG = """\
The files are read as a broker would serve them. In a broker directory that was not stopped cleanly,
segments that reach above the recovery point are read in their state after a recovery. All other
files are read in their current state, including wrong bytes. With --as-is this applies to all
files.

--json prints one object; [] marks a list of objects:
  target           {offset}, {timestamp_ms} or {timestamp: its name}
  kafka_version    the release
  partition        its directory
  segments[]       base_offset, chosen, why
  searches[]       the time index first: file, entries, warm_from_slot, section, slot, pages
    probes[]       slot, key, lo, hi, compare, page
    entry          offset, position; in a time index timestamp_ms, offset
  scan             from_position
    reads[]        position, size
    batch          base_offset, last_offset, position
  record           offset, timestamp_ms, segment, batch_position
  answer           offset, timestamp_ms
  wrong_entries[]  only if an entry leads past the batch with its offset: file, slot, base_offset
                   (of the batch where it leads), why
  error            only if Kafka answers with an exception
  start_error      only if the next start fails before it has opened this log
  unknown          a list of settings; only if indexes were recovered with Kafka's default because
                   the metadata log was not opened (--log-dirs)
  refused          the reason; only if kafkaviz refuses bytes that Kafka would read, because they
                   are too large. The object then has only target, kafka_version, partition and
                   refused, and the status is 2
  remote           only if a part of the log is only in tiered storage or in an object store:
                   requests, bytes, request_ms, measured_requests, modelled_ms, measured_ms
    reads[]        segment, file, requests, bytes, measured_ms

entry, scan, batch, record and answer are null if Kafka finds none. For a single index file there
are no segments, scan and record, and answer is an entry.

The reads of tiered storage are those of a broker with an empty cache, one request after the other.
Each takes request_ms: the mean of measured_requests measurements, or the given or default value if
that is 0. For an object store they are the measured requests for the file of each step. measured_ms
is null for files that were already here, and for modelled reads.

Example: kafkaviz lookup /var/lib/kafka/data/orders-0 --offset 50000"""

ATTEMPTS = 4  # most attempts to read a directory that changes while it is read


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "lookup",
        help="find an offset or a timestamp, step by step",
        description="Finds an offset or a timestamp as Kafka does, and prints each step: the "
        "segment, every index slot that is read, every batch header, the record. The directory is "
        "never changed.",
        epilog=EPILOG,
    )
    help_text = "a partition directory, a .log, an .index or a .timeindex"
    parser.add_argument("path", metavar="PATH", type=Path, help=help_text)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "--offset", metavar="N", type=_parse_offset, help="the offset to fetch from"
    )
    when = (
        "milliseconds since 1970, a time in UTC such as 2026-09-21T18:22:31.444, or earliest, "
        "latest or max"
    )
    target.add_argument("--timestamp", metavar="T", type=_parse_timestamp, help=when)
    add_version_option(parser, "the release that searches (default: inferred from the directory)")
    help_text = "how an index is searched (default: as in the release)"
    parser.add_argument("--search", choices=["warm", "plain"], help=help_text)
    parser.add_argument(
        "--isolation",
        choices=["read_uncommitted", "read_committed"],
        default="read_uncommitted",
        help="the consumer's isolation level",
    )
    help_text = "read the files in their current state, without a recovery"
    parser.add_argument("--as-is", action="store_true", help=help_text)
    add_log_dirs_option(parser)
    add_tiered_option(parser)
    help_text = (
        "the latency of a request to the store, for the cost of reads (default: the mean of "
        "the measured requests, or 50)"
    )
    parser.add_argument("--remote-request-ms", metavar="MS", type=_parse_latency, help=help_text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the steps of a lookup. Returns 0 even if nothing is found."""
    from kafkaviz.analysis.opened_path import open_path
    from kafkaviz.errors import CannotOpen
    from kafkaviz.log import file

    args.path = join_tiered(args.path, args.tiered)
    opened = open_path(args.path, args.kafka_version, args.log_dirs)
    output.say_newer(opened.assumed_release.newer_than_known)
    hint = _unit_hint(args.timestamp)
    if hint:
        output.note(f"kafkaviz: {hint}")
    for _ in range(ATTEMPTS - 1):
        try:
            return _search(args, opened)
        except CannotOpen as fault:
            # a running broker has deleted a segment since the directory was listed
            if fault.kind != "missing" or fault.path == args.path or not file.is_there(args.path):
                raise
        opened = open_path(args.path, args.kafka_version, args.log_dirs)
    return _search(args, opened)


def _search(args: argparse.Namespace, opened: "OpenedPath") -> int:
    if opened.file_name and opened.file_name.kind in ("index", "timeindex"):
        return _search_index(args, opened)
    return _search_log(args, opened)


def _search_log(args: argparse.Namespace, opened: "OpenedPath") -> int:
    from kafkaviz import versions
    from kafkaviz.analysis.cost import remote_reads
    from kafkaviz.analysis.lookup.served_log import open_log
    from kafkaviz.errors import CorruptFile
    from kafkaviz.log.tiered import tiered_view
    from kafkaviz.search.lookup import lookup_in_view

    search_profile = versions.search_profile(opened.version, args.search)
    log = open_log(opened, as_is=args.as_is)
    _say_recovery(log.recovered_files, log.segments)
    try:
        result = lookup_in_view(log, search_profile, args.offset, args.timestamp, args.isolation)
    except CorruptFile as fault:
        if args.json:
            from kafkaviz.analysis.lookup.json_object import refusal_object

            target = args.offset, args.timestamp
            refusal = refusal_object(log.name, search_profile.version, *target, fault)
            output.say_json("lookup", refusal)
        raise
    remote_files = tiered_view.remote_files(opened.partition.path)
    store = tiered_view.remote_store(opened.path)
    cost = remote_reads.remote_cost(
        result, log.segments, remote_files, args.remote_request_ms, store
    )
    if args.json:
        from kafkaviz.analysis.json_objects import to_json_object
        from kafkaviz.analysis.lookup.json_object import lookup_object

        remote = {"remote": to_json_object(cost)} if remote_files or cost.reads else {}
        unknown = _unknown_settings(log.segments)
        output.say_json("lookup", lookup_object(result, log.start_error) | remote | unknown)
    else:
        from kafkaviz.cli.text import lookup_text

        output.say(lookup_text.render(result, remote_files, cost))
    return 0


def _search_index(args: argparse.Namespace, opened: "OpenedPath") -> int:
    from kafkaviz import versions
    from kafkaviz.analysis.lookup.served_log import open_index
    from kafkaviz.errors import KafkavizError
    from kafkaviz.search import index_search

    is_time = opened.file_name is not None and opened.file_name.kind == "timeindex"
    target = args.timestamp if is_time else args.offset
    if not isinstance(target, int):
        key = "errors.searched_for_time" if is_time else "errors.searched_for_offset"
        raise KafkavizError(message(key, name=args.path.name))
    search_profile = versions.search_profile(opened.version, args.search)
    segment = open_index(opened, as_is=args.as_is)
    _say_recovery([name for name in segment.recovered_files if name == args.path.name], [segment])
    if is_time:
        search = index_search.find_time(segment, target, search_profile)
        answer = index_search.time_entry_of(search, segment)
    else:
        search = index_search.find_offset(segment, target, search_profile)
        answer = search.entry or (segment.base_offset, 0)
    if args.json:
        from kafkaviz.analysis.lookup.json_object import index_object

        version = search_profile.version
        directory = opened.partition.directory
        document = index_object(search, answer, version, directory, segment.start_error)
        output.say_json("lookup-index", document | _unknown_settings([segment]))
    else:
        from kafkaviz.cli.text import lookup_text

        output.say(lookup_text.render_index_search(search, answer, search_profile))
    return 0


def _say_recovery(names: Sequence[str], segments: "Sequence[SegmentView]") -> None:
    """Prints on stderr which files are shown in their state after recovery.

    Also says if start-up will fail, or if an index interval was assumed.
    """
    from kafkaviz.analysis.lookup.served_log import (
        describe_failed_start,
        describe_recovered,
        has_unopened_log,
    )

    if error := segments[0].start_error:
        failed_start = describe_failed_start(error, has_unopened=has_unopened_log(segments))
        output.note(f"kafkaviz: {render(failed_start)}")
    if names:
        what = describe_recovered(names, is_assumed=bool(_unknown_settings(segments)))
        output.note(f"kafkaviz: {say('cli_lookup.read_as_recovered', recovery=what)}")
    if names and _unknown_settings(segments):
        source = message("setting_source.metadata_log_elsewhere")
        why = message("tuning_answer.interval_assumed", source=source)
        output.note(f"kafkaviz: {say('cli_lookup.interval_unknown', why=why)}")


def _unknown_settings(segments: "Sequence[SegmentView]") -> dict[str, list[str]]:
    if any(segment.has_assumed_settings for segment in segments):
        return {"unknown": ["index.interval.bytes"]}
    return {}


def _parse_latency(text: str) -> float:
    problem = say("cli_lookup.no_latency", text=text)
    return parse_number(text, lambda latency_ms: 0 <= latency_ms < float("inf"), problem)


def _parse_offset(text: str) -> int:
    return _parse_long(text, "offset", say("cli_lookup.no_offset", text=text))


def _parse_long(text: str, what: str, refusal: str) -> int:
    import re

    if not re.fullmatch("[+-]?[0-9]+", text):
        raise argparse.ArgumentTypeError(refusal)
    number = int(text) if len(text) < 40 else 1 << 63  # Python refuses to parse thousands of digits
    if not -(1 << 63) <= number < 1 << 63:
        raise argparse.ArgumentTypeError(say(f"cli_lookup.large_{what}"))
    return number


def _parse_timestamp(text: str) -> int | str:
    from contextlib import suppress

    from kafkaviz import units

    if text in ("earliest", "latest", "max"):
        return text
    with suppress(ValueError):
        if not text.isdecimal():  # a number such as 20260921 is also a date in ISO 8601
            return units.timestamp_ms(text)
    return _parse_long(text, "timestamp", say("cli_lookup.no_timestamp", text=text))


def _unit_hint(timestamp: int | str | None) -> str | None:
    from kafkaviz import units

    unit_guess = units.other_unit(timestamp) if isinstance(timestamp, int) else None
    if not unit_guess:
        return None
    would_ms = unit_guess.timestamp_ms
    key = "unit_early" if would_ms > cast(int, timestamp) else "unit_future"
    unit = message(f"lookup.unit_{unit_guess.unit}")
    return say(f"cli_lookup.{key}", ms=timestamp, unit=unit, would=would_ms)
