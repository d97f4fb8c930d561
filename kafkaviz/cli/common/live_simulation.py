"""kafkaviz simulate --live: writes a plan in real time into a directory that others may read."""

import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kafkaviz.binary.file_view import FileView
from kafkaviz.cli.common import output
from kafkaviz.cli.text.simulation_text import render_segment
from kafkaviz.errors import KafkavizError, translate_os_errors
from kafkaviz.format import names
from kafkaviz.messages import message
from kafkaviz.simulate.append_batches import AppendChunk
from kafkaviz.simulate.directory.folder import DiskLogs, refuse_taken, resolve_output, write
from kafkaviz.simulate.directory.simulation import Run, Simulated, SimulationPlan

TICK_S = 0.25  # between two checks of the clock
MS = 1000


def live(plan: SimulationPlan, out: Path, inputs: tuple[Path, ...], *, clean: bool) -> Simulated:
    """Writes until the plan ends or Ctrl-C is pressed; reports each roll on stderr.

    Until then the directory looks like a running broker's.
    """
    out = resolve_output(out, inputs)
    refuse_taken(out, (plan.directory, *names.OWN_FILES, names.SERVER_PROPERTIES))
    appends = plan.chunks()
    # a codec that the release does not know is reported before anything is written
    appends = chain(list(islice(appends, 1)), appends)
    logs = DiskLogs(out / plan.directory)
    started_s = time.monotonic()
    run = Run(plan, logs)
    live_directory = _LiveDirectory(run, logs, out)
    with _stop_signal() as wait, translate_os_errors(out):
        try:
            live_directory.bring_up_to_date()
            for chunk in pace(
                appends, lambda: plan.start_ms + MS * (time.monotonic() - started_s), wait
            ):
                run.take(chunk)
                live_directory.bring_up_to_date()
        except KafkavizError as fault:
            raise KafkavizError(
                message("errors.written_before", error=fault.message, path=out)
            ) from None
        finally:
            logs.close()
    run.silence(plan.start_ms + int(MS * (time.monotonic() - started_s)))
    return live_directory.end(clean=clean)


def pace(
    chunks: Iterable[AppendChunk], now_ms: Callable[[], float], wait: Callable[[float], bool]
) -> Iterator[AppendChunk]:
    """Yields the appends when they are due; none is cut in two.

    Args:
        wait: called with seconds; returns True to stop.
    """
    for chunk in chunks:
        rows = chunk.rows
        position = 0
        ends = np.concatenate([[0], np.cumsum(rows["size_bytes"])])
        while position < len(rows):
            due = int(np.searchsorted(rows["now_ms"], now_ms(), "right"))
            if due > position:
                yield AppendChunk(
                    rows[position:due],
                    None
                    if chunk.data is None
                    else memoryview(chunk.data)[ends[position] : ends[due]],
                )
                position = due
            if wait(TICK_S):
                return


class _LiveDirectory:
    """A simulation run, and the directory that is kept up to date with it."""

    def __init__(self, run: Run, logs: DiskLogs, out: Path) -> None:
        self._run = run
        self._logs = logs
        self._out = out
        self._event_count = self._last_base_offset = 0

    def bring_up_to_date(self) -> None:
        simulated = self._run.result()
        self._write(file for file in simulated.files if self._is_new(file))
        segments = {segment.base_offset: segment for segment in simulated.segments}
        for event in simulated.events[self._event_count :]:
            if event.kind == "roll" and event.segment in segments:
                output.note(render_segment(segments[event.segment]))
        self._event_count = len(simulated.events)
        self._last_base_offset = simulated.segments[-1].base_offset

    def end(self, *, clean: bool) -> Simulated:
        simulated = self._run.end(clean=clean)
        self._write(simulated.files)
        if names.LOCK not in {file.name for file in simulated.files}:
            (self._out / names.LOCK).unlink(missing_ok=True)
        return simulated

    def _write(self, files: Iterable[FileView]) -> None:
        directory = self._run.plan.directory
        write(files, self._out, {f"{directory}/{name}" for name in self._logs.names()})

    def _is_new(self, file: FileView) -> bool:
        """Returns whether a file may have changed since the last write.

        Files of segments before the last one cannot change.
        """
        name = names.parse_file(file.name.rpartition("/")[2])
        return name is None or name.base_offset >= self._last_base_offset


@contextmanager
def _stop_signal() -> Generator[Callable[[float], bool]]:
    """Yields wait(seconds), which returns True after SIGINT or SIGTERM.

    The signals raise nothing, so that no append is left half written.
    """
    signals = []
    handlers = {}

    def wait(seconds: float) -> bool:
        time.sleep(0 if signals else seconds)
        return bool(signals)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            handlers[number] = signal.signal(
                number, lambda signal_number, _: signals.append(signal_number)
            )
        yield wait
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
