"""kafkaviz simulate: writes real segments without a broker, from a workload or a copied log."""

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.cli.common import output
from kafkaviz.cli.common.options import (
    add_json_option,
    add_log_dirs_option,
    add_setting_option,
    open_log_dirs,
    parse_folder,
    resolve_release,
)
from kafkaviz.messages import message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.rebuild import ReplaySource
    from kafkaviz.simulate.directory.simulation import Simulated, SimulationPlan

EPILOG = """\
Writes a broker directory with one topic-partition into OUT, byte for byte as the release does, and
stops the broker at the end; with --crash it ends like a killed one. Where Kafka takes an append
with an exception nothing is written, and the status is 2; what --live wrote before it stays. Never
writes into a directory of Kafka's and never replaces a file.

WORKLOAD is a TOML file, or the name of an included one; --list shows those. Its settings must be
valid in the release that writes. --replay TP_DIR instead appends the batches of a copied partition
again, with the settings of its directory; unknown limits are inferred from its rolls. Each batch is
one append. If that was not so, or if a restart or truncation happened in between, the indexes
differ.

--set takes a topic's or a broker's name, such as index.interval.bytes or log.index.interval.bytes.
The settings are stored as server.properties in OUT, where other commands find them. Its first line,
a comment, marks OUT as simulated, and the page Broker shows that.

--live appends in real time from now on, and reports each roll. Ctrl-C stops the broker with status
0. OUT can be opened meanwhile.

--json prints one object: segments, a list of {base_offset, log_bytes, offset_entries, time_entries,
roll_reason, files: {NAME: sha256}}; events, a list of {event, segment, now_ms, offset, cause,
found, limit, incoming_bytes}: "roll" for a full segment, with the offset of the next one, the rule
that applied, and its numbers; "close" at the end. log_bytes does not count preallocated bytes. A
replay also has differing, a list of {file, from_position}: the indexes that differ from the copied
ones, and the first byte that does; and unread, a list of {file, from_position, bytes, why}: the
parts of a .log that are left out because they hold no complete batch.

Example: kafkaviz simulate orders --out simulated --set index.interval.bytes=1024"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "simulate",
        help="write real segments without a broker",
        description=(
            "Writes the segments that Kafka would write for a workload, or for the batches of a "
            "copied partition."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "workload",
        metavar="WORKLOAD",
        nargs="?",
        help="a TOML file, or the name of an included workload",
    )
    what.add_argument(
        "--replay",
        metavar="TP_DIR",
        type=Path,
        help="append the batches of this partition directory or archive",
    )
    what.add_argument("--list", action="store_true", help="list the included workloads")
    parser.add_argument(
        "--out",
        metavar="OUT",
        type=parse_folder,
        help="the folder to write into; created if it does not exist",
    )
    add_setting_option(parser)
    add_log_dirs_option(parser)
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help="the seed of the random numbers (default: the workload's own)",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="V",
        help="the release that writes (default: the workload's, or inferred from TP_DIR)",
    )
    parser.add_argument(
        "--crash",
        action="store_true",
        help="end like a kill: no clean stop, indexes at their preallocated size",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="append in real time, until the workload ends or Ctrl-C is pressed",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.list:
        _say_presets(as_json=args.json)
        return 0
    from kafkaviz.cli.text import simulation_text
    from kafkaviz.errors import KafkavizError
    from kafkaviz.log import file
    from kafkaviz.simulate.directory.folder import resolve_output

    if args.out is None:
        raise KafkavizError(message("errors.name_out_folder"))
    out = file.output_path(args.out)
    plan, source = _plan_replay(args) if args.replay else (_plan_workload(args), None)
    inputs = source.inputs if source else ()
    resolve_output(out, inputs)
    if not args.json:
        output.note(
            say(
                "cli_simulate.writing_as",
                version=_version(plan),
                settings=_describe_settings(plan, source),
            )
        )
    # the files are only in the staging folder until the block ends
    with (_live if args.live else _write_files)(
        plan, out, inputs, clean=not args.crash
    ) as simulated:
        result = simulation_text.as_object(simulated, source) if args.json else None
        lines = (
            []
            if args.json
            else [
                *simulation_text.render(simulated, out),
                *simulation_text.render_comparison(source, simulated),
            ]
        )
    if result is None:
        output.say(lines)
    else:
        output.say_json("simulate", result)
    return 0


def _plan_workload(args: argparse.Namespace) -> "SimulationPlan":
    """Returns the plan of a workload; with --live it starts now."""
    import time
    from dataclasses import replace

    from kafkaviz.simulate.directory import simulation

    settings = dict(args.overrides)
    workload = simulation.open_workload(args.workload, args.kafka_version, settings)
    if args.live:
        workload = replace(workload, start_ms=int(time.time() * 1000))
    return simulation.plan_workload(workload, settings, args.seed, args.kafka_version)


def _plan_replay(args: argparse.Namespace) -> "tuple[SimulationPlan, ReplaySource]":
    from kafkaviz import versions
    from kafkaviz.analysis.lookup import paths
    from kafkaviz.analysis.rebuild import open_replay_source
    from kafkaviz.simulate.directory import simulation

    broker = open_log_dirs(args.log_dirs, args.replay)
    version = resolve_release(args.kafka_version, args.replay, paths.ADVICE_PARTITION, broker)
    release = versions.parse(version)
    source = open_replay_source(args.replay, release, broker)
    seed = 1 if args.seed is None else args.seed
    plan = simulation.plan_log(source.log, source.settings, dict(args.overrides), seed, release)
    return plan, source


@contextmanager
def _write_files(
    plan: "SimulationPlan", out: Path, inputs: tuple[Path, ...], *, clean: bool
) -> "Generator[Simulated]":
    """Carries out a plan and yields the result.

    The files appear in OUT after the with block.
    """
    from kafkaviz.simulate.directory.folder import DiskLogs, new_files, write
    from kafkaviz.simulate.directory.simulation import Run

    with new_files(out, inputs) as staging:
        logs = DiskLogs(staging.path / plan.directory)
        try:
            simulated = Run(plan, logs).carry_out(clean=clean)
        finally:
            logs.close()
        write(simulated.files, staging.path, {f"{plan.directory}/{name}" for name in logs.names()})
        yield simulated


@contextmanager
def _live(
    plan: "SimulationPlan", out: Path, inputs: tuple[Path, ...], *, clean: bool
) -> "Generator[Simulated]":
    from kafkaviz.cli.common.live_simulation import live

    yield live(plan, out, inputs, clean=clean)


def _say_presets(*, as_json: bool) -> None:
    from kafkaviz.simulate.producers.workload import presets

    workloads = presets()
    if as_json:
        output.say_json(
            "simulate-list",
            {
                "workloads": [
                    {"name": name, "title": item.title, "story": item.story}
                    for name, item in workloads.items()
                ]
            },
        )
        return
    for name in workloads:
        story = output.wrap(say(f"workloads.{name}_story"), " " * 20, breaks_words=True)
        output.say([f"{name:<20}{say(f'workloads.{name}_title')}", *story])


def _version(plan: "SimulationPlan") -> str:
    return ".".join(map(str, plan.behaviour.release))


def _describe_settings(plan: "SimulationPlan", source: "ReplaySource | None") -> str:
    """Returns the settings that differ from the release's defaults, with inferred ones marked."""
    inferred = source.inferred_settings if source else {}
    settings = tuple(
        message(
            "cli_simulate.setting_inferred"
            if inferred.get(name) == value
            else "cli_simulate.setting",
            name=name,
            value=value,
        )
        for name, value in plan.settings.items()
    )
    if not settings:
        return say("cli_simulate.default_settings")
    return say("common.names", names=settings)
