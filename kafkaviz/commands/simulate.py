"""kafkaviz simulate: real segments without a broker, of a workload or of a log that was there
before.
"""

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.commands.printing import output
from kafkaviz.commands.printing.options import folder, release, setting

if TYPE_CHECKING:
    from kafkaviz.analyse.replayed import Replayed
    from kafkaviz.config_def import Release
    from kafkaviz.simulate.whole.simulation import Plan, Simulated

EPILOG = """\
Writes a broker directory with one topic-partition into OUT, byte for byte as the release does it,
and stops the broker in the end; with --crash it ends as a kill ends it. Where Kafka takes an append
with an exception nothing is written, and the status is 2; what --live wrote before it stays.
Nothing is written into a directory of Kafka's, and no file is replaced.

WORKLOAD is a TOML file, or the name of one that comes along; --list tells of those. Its settings
are judged by the release that writes. --replay TP_DIR instead appends the batches of a copied
partition once more, with the settings that its directory tells; limits that it does not tell are
inferred from its rolls. Each batch is an append of its own: where that was not so, or where a
restart or a truncation fell in between, the indexes differ.

--set takes a topic's name or the broker's, such as index.interval.bytes or
log.index.interval.bytes. The settings are kept as server.properties in OUT, where other commands
find them; its first line, a comment, says that OUT is simulated, and so does the page Broker.

--live appends as time passes, from now on, and tells each roll; Ctrl-C stops the broker, status 0.
OUT can be opened meanwhile.

--json prints one object: segments, a list of {base_offset, log_bytes, offset_entries, time_entries,
roll_reason, files: {NAME: sha256}}; events, a list of {event, segment, now_ms, offset, cause,
found, limit, incoming_bytes}: "roll", of a segment that was full, with the offset of the next one,
the rule that held, and its numbers; "close" at the end. log_bytes is without what is preallocated.
Of a replay also differing, a list of {file, from_position}: the copied indexes that came out
otherwise, and from which byte on; and unread, a list of {file, from_position, bytes, why}: what of
a .log is left out, as no whole batch is there.

Example: kafkaviz simulate orders --out simulated --set index.interval.bytes=1024"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `simulate` to the command line."""
    parser = subparsers.add_parser(
        "simulate",
        help="write real segments without a broker",
        description=(
            "Writes the segments that Kafka would write of a workload, or of the batches of a "
            "copied partition once more."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "workload",
        metavar="WORKLOAD",
        nargs="?",
        help="a TOML file, or the name of a workload that comes along",
    )
    what.add_argument(
        "--replay",
        metavar="TP_DIR",
        type=Path,
        help="append the batches of this partition directory, or archive of one",
    )
    what.add_argument("--list", action="store_true", help="tell of the workloads that come along")
    parser.add_argument(
        "--out",
        metavar="OUT",
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
        "--seed",
        metavar="N",
        type=int,
        help="of all that comes by chance (default: the workload's own)",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="V",
        help="the release that writes (default: the workload's, or by TP_DIR's traces)",
    )
    parser.add_argument(
        "--crash",
        action="store_true",
        help="end as a kill does: no clean stop, indexes as long as they may grow",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="append as time passes, until the workload or Ctrl-C ends it",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes, and says what was written."""
    if args.list:
        _say_presets(args.json)
        return 0
    from kafkaviz.analyse import paths
    from kafkaviz.commands.simulating import words
    from kafkaviz.errors import KafkavizError
    from kafkaviz.log import file
    from kafkaviz.simulate.whole.folder import elsewhere

    if args.out is None:
        raise KafkavizError("name the folder to write into with --out")
    out = file.absolute(args.out)
    if args.replay:
        args.kafka_version = release(args.kafka_version, args.replay, paths.WHOLE_LOG)
    source = _source(args) if args.replay else None
    plan = _replay(args, source) if source else _workload(args)
    inputs = source.inputs if source else ()
    elsewhere(out, inputs)
    if not args.json:
        print(
            output.plain(
                f"writing as Kafka {_version(plan)} does it, with {_settings(plan, source)}"
            ),
            file=sys.stderr,
        )
    # its files are read where they were written
    with (_live if args.live else _written)(plan, out, inputs, not args.crash) as simulated:
        told = words.as_object(simulated, source) if args.json else None
        lines = (
            []
            if args.json
            else [*words.words(simulated, out), *words.compared_words(source, simulated)]
        )
    if told is None:
        output.say(lines)
    else:
        output.say_json(told)
    return 0


def _workload(args: argparse.Namespace) -> "Plan":
    """The plan of a workload; in --live it starts now."""
    import time
    from dataclasses import replace

    from kafkaviz.simulate.whole import simulation

    typed = dict(args.typed)
    workload = simulation.opened(args.workload, args.kafka_version, typed)
    if args.live:
        workload = replace(workload, start_ms=int(time.time() * 1000))
    return simulation.of_workload(workload, typed, args.seed, args.kafka_version)


def _source(args: argparse.Namespace) -> "Replayed":
    """The partition that is to be written once more."""
    from kafkaviz.analyse.replayed import open_replayed

    return open_replayed(args.replay, _release(args))


def _replay(args: argparse.Namespace, source: "Replayed") -> "Plan":
    """The plan for it."""
    from kafkaviz.simulate.whole import simulation

    return simulation.of_log(
        source.log,
        source.settings,
        dict(args.typed),
        1 if args.seed is None else args.seed,
        _release(args),
    )


def _release(args: argparse.Namespace) -> "Release":
    from kafkaviz import versions

    return versions.parse(args.kafka_version)


@contextmanager
def _written(
    plan: "Plan", out: Path, inputs: tuple[Path, ...], clean: bool
) -> "Generator[Simulated]":
    """Carries out a plan; the files appear in OUT when the block that looks at the result is
    through.
    """
    from kafkaviz.simulate.whole.folder import OnDisk, new_files, write
    from kafkaviz.simulate.whole.simulation import Run

    with new_files(out, inputs) as aside:
        logs = OnDisk(aside.path / plan.directory)
        try:
            simulated = Run(plan, logs).carry_out(clean)
        finally:
            logs.close()
        write(simulated.files, aside.path, {f"{plan.directory}/{name}" for name in logs.names()})
        yield simulated


@contextmanager
def _live(plan: "Plan", out: Path, inputs: tuple[Path, ...], clean: bool) -> "Generator[Simulated]":
    """The same at the speed of the clock."""
    from kafkaviz.commands.simulating.live import live

    yield live(plan, out, inputs, clean)


def _say_presets(as_json: bool) -> None:
    """Name, title and story of each."""
    import textwrap

    from kafkaviz.simulate.sending.workload import presets

    found = presets()
    if as_json:
        output.say_json(
            {
                "workloads": [
                    {"name": name, "title": one.title, "story": one.story}
                    for name, one in found.items()
                ]
            }
        )
        return
    for name, one in found.items():
        story = textwrap.wrap(one.story, 118, initial_indent=" " * 20, subsequent_indent=" " * 20)
        output.say([f"{name:<20}{one.title}", *story])


def _version(plan: "Plan") -> str:
    return ".".join(map(str, plan.of.release))


def _settings(plan: "Plan", source: "Replayed | None") -> str:
    """The settings that are not the release's defaults, and which of them nobody told."""
    inferred = source.inferred if source else {}
    told = {
        name: " (inferred from its rolls)" if inferred.get(name) == value else ""
        for name, value in plan.settings.items()
    }
    return (
        ", ".join(f"{name} = {value}{told[name]}" for name, value in plan.settings.items())
        or "Kafka's default settings"
    )
