"""kafkaviz check: what is wrong in a broker directory or a partition, and what the next start will
do to it.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kafkaviz.commands.printing import output
from kafkaviz.commands.printing.options import setting

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Finding, Health
    from kafkaviz.analyse.outlook import Outlook
    from kafkaviz.log.partition import Partition

FOUND = 1
FAIL_ON = {"error": ("error",), "warning": ("error", "warning")}
BROKER = "the broker directory"
ALIKE = 5  # more findings of one code are told together
PLACES = 20  # of information that is alike
EPILOG = """\
Exit status: 0 nothing at or above --fail-on, 1 something, 2 wrong usage or a directory that cannot
be read.

--json prints one object: directory; kafka_version, {assumed, because}; findings, a list of {code,
severity, partition, file, position, length, message, evidence: {found, expected, found_hex,
expected_hex}, consequence, next_step, reference}, the worst first; restart, {clean, starts, steps:
[{partition, segment, file, action: truncate|rebuild|delete|keep|fail, from_position, bytes, why,
error, way_out}]}, null where a file that a start reads may not be read; counts, {error, warning,
info}; retention, a list of {partition, now_ms, deletes, retention_ms, retention_bytes, tiered,
log_bytes, over_bytes, segments: [{segment, bytes, timestamp_ms, counted_by:
record|entry|unwritten|mtime|unknown, offset, state, until_ms, gone_ms, blocked_by, more_bytes}]},
the three settings as {value, source}. file is relative to the broker directory; error, what Kafka
throws, and way_out are null but for "fail". state says what a pass of retention at now_ms does:
log-start, size and time delete the segment; until, behind (an older segment), bytes, unlimited,
compacted, high-watermark, empty and unknown keep it.

--set takes names of topic settings, which then count for every topic; or the broker's log... names,
which count as in a server.properties: for topics that have no value of their own.

Example: kafkaviz check /var/lib/kafka/data --fail-on warning"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `check` to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="find what is wrong, and foretell the next start",
        description="Reads every batch, record and index entry of a broker directory or of one "
        "partition, and says what is wrong, what Kafka does with it, what to do, and what the next "
        "start of the broker will change. Nothing in the directory is changed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = (
        "a broker or partition directory, a .tar, .tar.gz or .zip of one, or the path of a "
        "partition in one"
    )
    parser.add_argument("path", metavar="PATH", type=Path, help=what)
    parser.add_argument(
        "--kafka-version",
        metavar="V",
        help="the release that reads the directory, such as 4.3.1 (default: by its traces)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="typed",
        action="append",
        default=[],
        type=setting,
        help=(
            "a setting that the directory does not tell, such as log.retention.ms=-1; may be "
            "repeated"
        ),
    )
    parser.add_argument(
        "--fail-on",
        choices=list(FAIL_ON),
        default="error",
        help="the least severity of exit status 1 (default: error)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Checks the directory and prints what was found."""
    from kafkaviz.analyse.health import assumed_version, check
    from kafkaviz.analyse.health_object import as_object
    from kafkaviz.analyse.paths import open_directory
    from kafkaviz.log.settings import open_settings

    progress, broker = _Progress(), open_directory(args.path)
    typed = (
        open_settings(broker, assumed_version(broker, args.kafka_version).version, dict(args.typed))
        if args.typed
        else None
    )
    health = check(broker, args.kafka_version, settings=typed, watch=progress.show)
    progress.clear()
    if args.json:
        output.say_json(as_object(health))
    else:
        output.say(_words(health))
    return FOUND if any(health.counts[severity] for severity in FAIL_ON[args.fail_on]) else 0


class _Progress:
    """The partition that is being read, on a terminal's last line."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, partition: "Partition") -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\rreading {output.plain(partition.directory)}\x1b[K")
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


# ---- as text


def _words(health: "Health") -> Iterator[str]:
    from kafkaviz.units import many

    counts = health.counts
    yield (
        f"{health.broker.source}: {many(counts['error'], 'error')}, "
        f"{many(counts['warning'], 'warning')}, {counts['info']} to know"
    )
    yield f"read as Kafka {health.version.text} reads it ({health.version.because})"
    yield from _start(health)
    of_kind = _grouped(health.findings, lambda one: (one.severity, one.code))
    often = [found for found in of_kind.values() if len(found) > ALIKE]
    told = {id(one) for found in often for one in found}
    single = [one for one in health.findings if id(one) not in told]
    for partition in dict.fromkeys(one.partition for one in single):
        yield from ("", partition or BROKER)
        for one in single:
            if one.partition == partition:
                yield from _note(one) if one.severity == "info" else _item(one, _place(one))
    for found in often:
        yield from _notes(found) if found[0].severity == "info" else _items(found)
    yield from _retention(health)


def _retention(health: "Health") -> Iterator[str]:
    """What keeps the segments: how many go, by which settings, and those that go first or wait."""
    from kafkaviz.analyse.retention import worst_first
    from kafkaviz.figures import checkup_tables, retention_words

    logs = [log for log in health.retention if log.segments]
    if not any(one.gone_ms is not None or one.is_due for log in logs for one in log.segments):
        return
    yield from ("", "retention")
    yield from _wrapped("", retention_words.headline(logs), "  ")
    for note in checkup_tables.bases(logs):
        yield from _wrapped("", note, "  ")
    rows = worst_first(logs)
    for log, one in rows[:ALIKE]:
        what = f"{retention_words.newest(one.aged)}: {retention_words.reason(log, one)}"
        yield from _wrapped("", f"{log.partition} segment {one.aged.base_offset}: {what}", "  ")
    if len(rows) > ALIKE:
        yield f"  and {len(rows) - ALIKE} more: --json lists all"


def _start(health: "Health") -> Iterator[str]:
    from kafkaviz.figures import outlook_words

    restart = health.restart
    if restart is None:
        yield "the next start cannot be foretold: a file that it reads may not be read"
        return
    left = {
        "clean": "stopped cleanly",
        "unclean": "not stopped cleanly",
        "unknown": "taken as after a clean stop",
    }
    how, source = left[health.broker.left], outlook_words.by_source(health.version.version)
    if restart.starts:
        outlook = cast("Outlook", health.outlook)
        if without := outlook_words.not_served(outlook):
            rest = outlook_words.sentence(outlook)
            yield (
                f"the next start ({how}) WILL {without.replace('not', 'NOT', 1)}; otherwise it "
                f"will {rest}"
            )
        else:
            yield f"the next start ({how}) will succeed, and {outlook_words.sentence(outlook)}"
        yield from _wrapped("", outlook_words.read_again(outlook), "  ")
        yield from _wrapped("", source, "  ")
        return
    yield f"the next start ({how}) WILL FAIL:"
    for step in restart.failures:
        yield from _wrapped("", f"{step.partition or BROKER}: {step.error or step.why}", "  ")
        yield from _wrapped("", step.way_out or "", "    ")
    yield from _wrapped("", source, "  ")


def _items(found: "list[Finding]") -> Iterator[str]:
    """Many findings of one code: the first in full, of the others where and what; once of those
    that differ by the partition alone.
    """
    first = found[0]
    yield from ("", f"{first.code}, {len(found)} times; the first:")
    yield from _item(first, _where(first))
    for same in _grouped(found, _but_for_partition).values():
        others = same if same[0] is not first else same[1:]
        if same[0] is not first:
            one, *others = others
            yield from _wrapped("also", f"{_where(one)}: {one.message}")
        names = list(dict.fromkeys(one.partition or BROKER for one in others))
        if names:
            yield from _wrapped("the same", f"in {', '.join(names)}")


def _notes(found: "list[Finding]") -> Iterator[str]:
    """Much information of one code: the first, and what else it is about."""
    yield from ("", f"{found[0].code}, {len(found)} times; the first:")
    yield from _note(found[0])
    names = list(dict.fromkeys(one.partition or BROKER for one in found[1:]))
    more = f" and {len(names) - PLACES} more" if len(names) > PLACES else ""
    yield from _wrapped("also", ", ".join(names[:PLACES]) + more, "  ")


def _but_for_partition(one: "Finding") -> tuple:
    """What is told of a finding, its partition's name left out."""
    told = (
        one.message,
        one.evidence.found,
        one.evidence.expected,
        one.consequence,
        one.next_step,
        _place(one),
    )
    return tuple(text.replace(one.partition, "") for text in told) if one.partition else told


def _grouped(
    found: "Iterable[Finding]", key: "Callable[[Finding], tuple]"
) -> "dict[tuple, list[Finding]]":
    """Those of the same key together, all in their order."""
    groups: dict[tuple, list[Finding]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return groups


def _item(one: "Finding", place: str) -> Iterator[str]:
    """A finding in full."""
    yield f"  {one.severity.upper():<7}  {one.code}  {place}".rstrip()
    yield from _wrapped("", one.message)
    yield from _wrapped("found", _with_bytes(one.evidence.found, one.evidence.found_hex))
    yield from _wrapped("expected", _with_bytes(one.evidence.expected, one.evidence.expected_hex))
    yield from _wrapped("Kafka", one.consequence)
    yield from _wrapped("do", one.next_step)
    yield from _wrapped("see", one.reference or "")


def _note(one: "Finding") -> Iterator[str]:
    """What is merely true, in short."""
    yield from _wrapped(
        "info", f"{one.code}: {one.message}{f' ({_file(one)})' if _file(one) else ''}", "  "
    )


def _where(one: "Finding") -> str:
    """The partition, and the place in it."""
    return f"{one.partition or BROKER}  {_place(one)}".rstrip()


def _place(one: "Finding") -> str:
    """The file, and which of its bytes."""
    if one.position is None:
        return _file(one)
    if not one.length:
        return f"{_file(one)}, byte {one.position}"
    return f"{_file(one)}, bytes {one.position} to {one.position + one.length - 1}"


def _file(one: "Finding") -> str:
    """The file without its partition, under whose name it is listed."""
    name = one.file or ""
    return "" if name == one.partition else name.removeprefix(f"{one.partition}/")


def _with_bytes(words: str, digits: str) -> str:
    return f"{words}  [{digits}]" if digits else words


def _wrapped(label: str, words: str, indent: str = " " * 11, width: int = 118) -> Iterator[str]:
    """Words in lines, the label in front of the first."""
    import textwrap

    if not words:
        return
    start = f"{indent}{label:<10}" if label else indent
    # names and codes stay whole
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    yield from textwrap.wrap(
        output.plain(words), width, initial_indent=start, subsequent_indent=" " * len(start), **how
    )
