"""kafkaviz simulate: writes real segments without a broker, from a workload or a copied log."""

import argparse
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
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
from kafkaviz.messages import message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.rebuild import ReplaySource
    from kafkaviz.binary.file_view import FileView
    from kafkaviz.simulate.appends import AppendChunk
    from kafkaviz.simulate.directory.folder import DiskLogs
    from kafkaviz.simulate.directory.simulation import Run, Simulated, SimulationPlan

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

--json prints one object; [] marks a list of objects:
  segments[]   base_offset, log_bytes (without preallocated bytes), offset_entries, time_entries,
               roll_reason, files: {NAME: sha256}
  events[]     event, segment, now_ms, offset, cause, found, limit, incoming_bytes
  differing[]  of a replay, the indexes that differ from the copied ones: file, from_position (the
               first byte that differs)
  unread[]     of a replay, the parts of a .log that are left out because they hold no complete
               batch: file, from_position, bytes, why

An event is "roll" for a full segment, with the offset of the next one, the rule that applied, and
its numbers, or "close" at the end.

Example: kafkaviz simulate orders --out simulated --set index.interval.bytes=1024"""

TICK_S = 0.25  # time between two checks of the clock
MS = 1000


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "simulate",
        help="write real segments without a broker",
        description="Writes the segments that Kafka would write for a workload, or for the batches "
        "of a copied partition.",
        epilog=EPILOG,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    help_text = "a TOML file, or the name of an included workload"
    what.add_argument("workload", metavar="WORKLOAD", nargs="?", help=help_text)
    help_text = "append the batches of this partition directory or archive"
    what.add_argument("--replay", metavar="TP_DIR", type=Path, help=help_text)
    what.add_argument("--list", action="store_true", help="list the included workloads")
    help_text = "the folder to write into; created if it does not exist"
    parser.add_argument("--out", metavar="OUT", type=parse_folder, help=help_text)
    add_setting_option(parser)
    add_log_dirs_option(parser)
    help_text = "the seed of the random numbers (default: the workload's own)"
    parser.add_argument("--seed", metavar="N", type=int, help=help_text)
    add_version_option(
        parser, "the release that writes (default: the workload's, or inferred from TP_DIR)"
    )
    help_text = "end like a kill: no clean stop, indexes at their preallocated size"
    parser.add_argument("--crash", action="store_true", help=help_text)
    help_text = "append in real time, until the workload ends or Ctrl-C is pressed"
    parser.add_argument("--live", action="store_true", help=help_text)
    add_json_option(parser)


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
        release = ".".join(map(str, plan.behaviour.release))
        settings = _describe_settings(plan, source)
        output.note(say("cli_simulate.writing_as", version=release, settings=settings))
    write = _live if args.live else _write_files
    # until the with block ends, the files are only in the staging folder
    with write(plan, out, inputs, clean=not args.crash) as simulated:
        if args.json:
            result = simulation_text.simulation_object(simulated, source)
        else:
            lines = list(simulation_text.render(simulated, out))
            lines += simulation_text.render_comparison(source, simulated)
    if args.json:
        output.say_json("simulate", result)
    else:
        output.say(lines)
    return 0


def _plan_workload(args: argparse.Namespace) -> "SimulationPlan":
    """Returns the plan for a workload. With --live, the plan starts at the current time."""
    from dataclasses import replace

    from kafkaviz.simulate.directory import simulation

    settings = dict(args.overrides)
    workload = simulation.open_workload(args.workload, args.kafka_version, settings)
    if args.live:
        workload = replace(workload, start_ms=int(time.time() * 1000))
    return simulation.plan_workload(workload, settings, args.seed, args.kafka_version)


def _plan_replay(args: argparse.Namespace) -> "tuple[SimulationPlan, ReplaySource]":
    from kafkaviz.analysis.opened_path import ADVICE_PARTITION, open_log_path
    from kafkaviz.analysis.rebuild import open_replay_source
    from kafkaviz.simulate.directory import simulation

    opened = open_log_path(args.replay, args.kafka_version, args.log_dirs, advice=ADVICE_PARTITION)
    output.say_newer(opened.assumed_release.newer_than_known)
    source = open_replay_source(opened)
    seed = 1 if args.seed is None else args.seed
    plan = simulation.plan_log(
        source.log, source.settings, dict(args.overrides), seed, opened.release
    )
    return plan, source


@contextmanager
def _write_files(
    plan: "SimulationPlan", out: Path, inputs: tuple[Path, ...], *, clean: bool
) -> "Generator[Simulated]":
    """Writes the files of a plan and yields the result.

    The files are moved to the output folder after the caller's with block.
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
    """Writes the files in real time until the plan or Ctrl-C ends it, then yields the result.

    Meanwhile the directory looks like that of a running broker. Each roll is reported on stderr.
    """
    from itertools import chain, islice

    from kafkaviz.errors import KafkavizError, translate_os_errors
    from kafkaviz.format import names
    from kafkaviz.simulate.directory.folder import DiskLogs, refuse_taken, resolve_output
    from kafkaviz.simulate.directory.simulation import Run

    out = resolve_output(out, inputs)
    refuse_taken(out, (plan.directory, *names.OWN_FILES, names.SERVER_PROPERTIES))
    appends = plan.chunks()
    # the first chunk is made now, so that an unknown codec is reported before anything is written
    appends = chain(list(islice(appends, 1)), appends)
    logs = DiskLogs(out / plan.directory)
    started_s = time.monotonic()
    run = Run(plan, logs)
    live_directory = _LiveDirectory(run, logs, out)

    def now_ms() -> float:
        return plan.start_ms + MS * (time.monotonic() - started_s)

    with _stop_signal() as wait, translate_os_errors(out):
        try:
            live_directory.bring_up_to_date()
            for chunk in pace(appends, now_ms, wait):
                run.take(chunk)
                live_directory.bring_up_to_date()
        except KafkavizError as fault:
            problem = message("errors.written_before", error=fault.message, path=out)
            raise KafkavizError(problem) from None
        finally:
            logs.close()
    run.silence(int(now_ms()))
    yield live_directory.end(clean=clean)


def pace(
    chunks: "Iterable[AppendChunk]", now_ms: Callable[[], float], wait: Callable[[float], bool]
) -> "Iterator[AppendChunk]":
    """Yields whole appends when they are due. Stops when `wait` returns True."""
    import numpy as np

    from kafkaviz.simulate.appends import AppendChunk

    for chunk in chunks:
        rows = chunk.rows
        position = 0
        ends = np.concatenate([[0], np.cumsum(rows["size_bytes"])])
        while position < len(rows):
            due = int(np.searchsorted(rows["now_ms"], now_ms(), "right"))
            if due > position:
                data = None
                if chunk.data is not None:
                    data = memoryview(chunk.data)[ends[position] : ends[due]]
                yield AppendChunk(rows[position:due], data)
                position = due
            if wait(TICK_S):
                return


class _LiveDirectory:
    """Keeps a directory up to date with a running simulation."""

    def __init__(self, run: "Run", logs: "DiskLogs", out: Path) -> None:
        self._run = run
        self._logs = logs
        self._out = out
        self._event_count = self._last_base_offset = 0

    def bring_up_to_date(self) -> None:
        from kafkaviz.cli.text.simulation_text import render_segment

        simulated = self._run.result()
        self._write(file for file in simulated.files if self._is_new(file))
        segments = {segment.base_offset: segment for segment in simulated.segments}
        for event in simulated.events[self._event_count :]:
            if event.kind == "roll" and event.segment in segments:
                output.note(render_segment(segments[event.segment]))
        self._event_count = len(simulated.events)
        self._last_base_offset = simulated.segments[-1].base_offset

    def end(self, *, clean: bool) -> "Simulated":
        from kafkaviz.format import names

        simulated = self._run.end(clean=clean)
        self._write(simulated.files)
        if names.LOCK not in {file.name for file in simulated.files}:
            (self._out / names.LOCK).unlink(missing_ok=True)
        return simulated

    def _write(self, files: "Iterable[FileView]") -> None:
        from kafkaviz.simulate.directory.folder import write

        directory = self._run.plan.directory
        write(files, self._out, {f"{directory}/{name}" for name in self._logs.names()})

    def _is_new(self, file: "FileView") -> bool:
        """Returns whether a file may have changed since the last write.

        Files of segments before the last segment no longer change.
        """
        from kafkaviz.format import names

        name = names.parse_file(file.name.rpartition("/")[2])
        return name is None or name.base_offset >= self._last_base_offset


@contextmanager
def _stop_signal() -> Generator[Callable[[float], bool]]:
    """Yields `wait(seconds)`, which returns True after SIGINT or SIGTERM.

    The signals do not raise an exception, so no append is half written.
    """
    import signal

    signals = []
    handlers = {}

    def wait(seconds: float) -> bool:
        time.sleep(0 if signals else seconds)
        return bool(signals)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            handlers[number] = signal.signal(number, lambda received, _: signals.append(received))
        yield wait
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _say_presets(*, as_json: bool) -> None:
    from kafkaviz.simulate.producers.workload import presets

    workloads = presets()
    if as_json:
        rows = [
            {"name": name, "title": workload.title, "story": workload.story}
            for name, workload in workloads.items()
        ]
        output.say_json("simulate-list", {"workloads": rows})
        return
    for name in workloads:
        story = output.wrap(say(f"workloads.{name}_story"), " " * 20, breaks_words=True)
        output.say([f"{name:<20}{say(f'workloads.{name}_title')}", *story])


def _describe_settings(plan: "SimulationPlan", source: "ReplaySource | None") -> str:
    inferred = source.inferred_settings if source else {}
    settings = []
    for name, value in plan.settings.items():
        is_inferred = inferred.get(name) == value
        key = "cli_simulate.setting_inferred" if is_inferred else "cli_simulate.setting"
        settings.append(message(key, name=name, value=value))
    if not settings:
        return say("cli_simulate.default_settings")
    return say("common.names", names=tuple(settings))
