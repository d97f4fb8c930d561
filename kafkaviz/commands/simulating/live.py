"""kafkaviz simulate --live: a plan at the speed of the clock on the wall, into a directory that can
be looked at meanwhile.
"""

import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kafkaviz.commands.printing import output
from kafkaviz.commands.simulating.words import segment_words
from kafkaviz.errors import KafkavizError, failing_kindly
from kafkaviz.format import names
from kafkaviz.simulate.incoming import Chunk
from kafkaviz.simulate.stored import StoredFile
from kafkaviz.simulate.whole.folder import OnDisk, elsewhere, refuse_taken, write
from kafkaviz.simulate.whole.simulation import Plan, Run, Simulated

TICK_S = 0.25  # between two looks at the clock
MS = 1000


def live(plan: Plan, out: Path, inputs: tuple[Path, ...], clean: bool) -> Simulated:
    """Writes until the plan or Ctrl-C ends it; each roll is told on stderr.

    The directory is a running broker's until then.
    """
    out = elsewhere(out, inputs)
    refuse_taken(out, (plan.directory, *names.OWN_FILES, names.SERVER_PROPERTIES))
    appends = plan.chunks()
    # a codec that the release does not know is told before anything is written
    appends = chain(list(islice(appends, 1)), appends)
    logs, started_s = OnDisk(out / plan.directory), time.monotonic()
    run = Run(plan, logs)
    shown = _Shown(run, logs, out)
    with _stoppable() as wait, failing_kindly(out):
        try:
            shown.bring_up_to_date()
            for chunk in paced(
                appends, lambda: plan.start_ms + MS * (time.monotonic() - started_s), wait
            ):
                run.take(chunk)
                shown.bring_up_to_date()
        except KafkavizError as fault:
            raise KafkavizError(f"{fault}; {out} holds what was written before") from None
        finally:
            logs.close()
    run.silence(plan.start_ms + int(MS * (time.monotonic() - started_s)))
    return shown.end(clean)


def paced(
    chunks: Iterable[Chunk], now_ms: Callable[[], float], wait: Callable[[float], bool]
) -> Iterator[Chunk]:
    """The same appends, each when its time has come; none is cut in two. wait(seconds): True where
    it is to end.
    """
    for chunk in chunks:
        rows, at, ends = chunk.rows, 0, np.concatenate([[0], np.cumsum(chunk.rows["size_bytes"])])
        while at < len(rows):
            due = int(np.searchsorted(rows["now_ms"], now_ms(), "right"))
            if due > at:
                yield Chunk(
                    rows[at:due],
                    None if chunk.data is None else memoryview(chunk.data)[ends[at] : ends[due]],
                )
                at = due
            if wait(TICK_S):
                return


class _Shown:
    """A run whose directory is kept up to date beside it."""

    def __init__(self, run: Run, logs: OnDisk, out: Path) -> None:
        self._run, self._logs, self._out, self._told, self._since = run, logs, out, 0, 0

    def bring_up_to_date(self) -> None:
        """Writes what has changed, and tells of new rolls."""
        now = self._run.result()
        self._write(one for one in now.files if self._is_new(one))
        segments = {one.base_offset: one for one in now.segments}
        for event in now.events[self._told :]:
            if event.kind == "roll" and event.segment in segments:
                print(
                    output.plain(segment_words(segments[event.segment])),
                    file=sys.stderr,
                    flush=True,
                )
        self._told, self._since = len(now.events), now.segments[-1].base_offset

    def end(self, clean: bool) -> Simulated:
        """What the broker leaves."""
        left = self._run.end(clean)
        self._write(left.files)
        if names.LOCK not in {one.name for one in left.files}:
            (self._out / names.LOCK).unlink(missing_ok=True)
        return left

    def _write(self, files: Iterable[StoredFile]) -> None:
        directory = self._run.plan.directory
        write(files, self._out, {f"{directory}/{name}" for name in self._logs.names()})

    def _is_new(self, one: StoredFile) -> bool:
        """Whether a file may differ from what was written before: a segment's before the last one
        then does not.
        """
        name = names.parse_file(one.name.rpartition("/")[2])
        return name is None or name.base_offset >= self._since


@contextmanager
def _stoppable() -> Generator[Callable[[float], bool]]:
    """wait(seconds), which tells whether Ctrl-C was pressed or somebody asked to end: an append is
    never left half done.
    """
    asked, before = [], {}

    def wait(seconds: float) -> bool:
        time.sleep(0 if asked else seconds)
        return bool(asked)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda got, _: asked.append(got))
        yield wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
