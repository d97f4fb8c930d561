"""The soak: every reader of the product reads damaged inputs by the million, and escapes are counted.

The seed of the run and the number of a case decide its target, bytes and damage, so SEED=...
CASE=... repeats an escape. Workers take every n-th case each. An escape is

    raised    an exception that the reader does not declare, a Hidden of the target, or numpy's
              overflow warning
    slow      more than SLOW_S seconds of processor time for an input of a few kilobytes
    memory    the peak of the process rises by MAX_BYTES, or ROOM_BYTES more are refused
    stuck     no end after STUCK_S seconds: another worker continues after the case
    died      the worker is gone, as by a memory fault in compiled code
"""

import faulthandler
import importlib
import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random

from tests.fuzz.targets import Hidden, Target

TARGETS = "tests.fuzz.commanded:TARGETS"
SLOW_S, STUCK_S = 3.0, 60.0
MAX_BYTES, ROOM_BYTES = 256 << 20, 1 << 30
REPORT_S = 0.5
KEPT_EACH = 3  # escapes of one target at one place that are printed with their case


@dataclass(frozen=True)
class Escape:
    """An escape in a case. `place` is the line it came from, if known."""

    case: int
    target: str
    kind: str
    what: str
    place: str = ""

    def __str__(self) -> str:
        place = f" ({self.place})" if self.place else ""
        return f"{self.kind} in {self.target}: {self.what}{place}"


@dataclass
class Soak:
    """Inputs and seconds by target, escapes by (target, kind, place), the first cases of each."""

    seed: int
    inputs: Counter = field(default_factory=Counter)
    seconds: Counter = field(default_factory=Counter)
    escapes: Counter = field(default_factory=Counter)
    first: dict[tuple[str, str, str], list[Escape]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.inputs.total()

    def add(self, escape: Escape) -> None:
        key = escape.target, escape.kind, escape.place
        self.escapes[key] += 1
        escapes = self.first.setdefault(key, [])
        if len(escapes) < KEPT_EACH:
            escapes.append(escape)

    def text(self) -> str:
        """Returns the run as a table, and each kind of escape with the command that repeats it."""
        lines = [f"{'target':<16} {'inputs':>10} {'seconds':>9}"]
        lines += [
            f"{name:<16} {count:>10} {self.seconds[name]:>9.1f}"
            for name, count in sorted(self.inputs.items())
        ]
        lines += [f"{self.total} damaged inputs, {self.escapes.total()} escapes, seed {self.seed}"]
        for key, count in self.escapes.most_common():
            lines += [f"{count} times {self.first[key][0]}"]
            cases = [escape.case for escape in self.first[key]]
            lines += [f"    make fuzz SEED={self.seed} CASE={case}" for case in cases]
        return "\n".join(lines)


def loaded(targets: str) -> Sequence[Target]:
    """Returns the targets that "module:name" names."""
    module, _, name = targets.partition(":")
    return getattr(importlib.import_module(module), name)


def drawn(targets: Sequence[Target], seed: int, case: int) -> tuple[Target, object, object, Random]:
    """Returns (target, seed input, damaged input, random generator) of a case."""
    draw = Random((seed << 48) + case)
    target = draw.choices(targets, [target.share for target in targets])[0]
    return target, *target.draw(draw), draw


def run_case(targets: Sequence[Target], seed: int, case: int) -> tuple[str, Escape | None]:
    """Runs a case and returns its target and its escape or None."""
    name, escape = _run_case(targets, seed, case)
    return _run_case(targets, seed, case) if escape and escape.kind == "slow" else (name, escape)


def _run_case(targets: Sequence[Target], seed: int, case: int) -> tuple[str, Escape | None]:
    name, started = "draw", time.thread_time()
    try:
        target, original, data, draw = drawn(targets, seed, case)
        name = target.name
        target.read(original, data, draw)
    except Exception as fault:
        what = f"{type(fault).__name__}: {fault}"[:300]
        return name, Escape(case, name, "raised", what, _place(fault))
    if time.thread_time() - started > SLOW_S:
        return name, Escape(case, name, "slow", f"{time.thread_time() - started:.1f} s")
    grown_bytes = PEAK.grown_bytes()
    if grown_bytes > MAX_BYTES:
        return name, Escape(case, name, "memory", f"{grown_bytes >> 20} MiB")
    return name, None


class Peak:
    """The peak of this process's memory."""

    def __init__(self) -> None:
        self._bytes = self._now_bytes()

    def grown_bytes(self) -> int:
        """Returns how much the peak has grown since the last call."""
        before, self._bytes = self._bytes, self._now_bytes()
        return self._bytes - before

    def _now_bytes(self) -> int:
        """Reads Linux's value, because getrusage may return the peak of the parent process."""
        with suppress(OSError):
            return int(_STATUS.read_text().partition("VmHWM:")[2].split(maxsplit=1)[0]) << 10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


_STATUS = Path("/proc/self/status")
PEAK = Peak()


def _place(fault: BaseException) -> str:
    """Returns the innermost line of ours; for a Hidden, the target's."""
    frames = traceback.extract_tb(fault.__traceback__)
    frames = [one for one in frames if "kafkaviz" in one.filename or "fuzz" in one.filename]
    if isinstance(fault, Hidden):
        frames = [frame for frame in frames if frame.name != "expect"]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def warm_up(targets: Sequence[Target], seed: int) -> None:
    """Runs every target on undamaged seeds, because imports and compilations take seconds."""
    for target in targets:
        draw = Random(seed)
        for _ in range(12):
            with suppress(Exception):  # a case will tell it
                original, _ = target.draw(draw)
                target.read(original, original, draw)


# ---- a worker


def _work(
    targets_name: str,
    seed: int,
    first: int,
    step: int,
    at: object,
    channel: Connection,
    folder: str,
) -> None:
    """Runs every step-th case until it is stopped; `at.value` is negative before the first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1)
    os.environ["KAFKAVIZ_FUZZ"] = os.environ["TMPDIR"] = folder
    os.environ["KAFKAVIZ_CACHE"] = f"{folder}/cache"
    targets = loaded(targets_name)
    warm_up(targets, seed)
    warnings.simplefilter("error", RuntimeWarning)
    _limit_memory()
    PEAK.grown_bytes()
    case = first
    escapes, inputs, seconds, last_report_s = [], Counter(), Counter(), time.monotonic()
    while True:
        at.value, started = case, time.perf_counter()
        name, escape = run_case(targets, seed, case)
        inputs[name] += 1
        seconds[name] += time.perf_counter() - started
        escapes += [escape] if escape else []
        case += step
        if time.monotonic() - last_report_s > REPORT_S:
            channel.send((inputs, seconds, escapes))
            if channel.poll():
                return
            escapes, inputs, seconds, last_report_s = [], Counter(), Counter(), time.monotonic()


def _limit_memory() -> None:
    """Limits memory to ROOM_BYTES beyond the current use, where the system reports that."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM_BYTES, hard))


@dataclass
class _Worker:
    """A process, and what the parent knows of it."""

    process: multiprocessing.Process
    channel: Connection
    at: object
    last_case: int = -1
    since: float = field(default_factory=time.monotonic)


# ---- the run


def soak(
    seed: int,
    seconds: float,
    inputs: int | None = None,
    workers: int = 2,
    targets: str = TARGETS,
    stuck_s: float = STUCK_S,
    watch: Callable[[Soak], None] | None = None,
) -> Soak:
    """Runs for this many seconds after the first worker is ready, or until this many inputs were
    read, and reports progress to `watch`.
    """
    context = multiprocessing.get_context("spawn")
    run = Soak(seed)
    with tempfile.TemporaryDirectory(prefix="kafkaviz-fuzz-") as folder:

        def start(number: int, first: int) -> _Worker:
            ours, theirs = context.Pipe()
            at, home = context.Value("q", -1, lock=False), Path(folder) / str(number)
            home.mkdir(exist_ok=True)
            args = (targets, seed, first, workers, at, theirs, str(home))
            process = context.Process(target=_work, args=args, daemon=True)
            process.start()
            theirs.close()
            return _Worker(process, ours, at)

        crew = [start(number, number) for number in range(workers)]
        stop_at: float | None = None
        while (stop_at is None or time.monotonic() < stop_at) and (
            inputs is None or run.total < inputs
        ):
            channels = [worker.channel for worker in crew]
            ends = [worker.process.sentinel for worker in crew]
            ready = wait([*channels, *ends], timeout=REPORT_S)
            for number, worker in enumerate(crew):
                if worker.channel in ready:
                    _take(run, worker)
                if stop_at is None and worker.at.value >= 0:
                    stop_at = time.monotonic() + seconds
                lost = _lost(worker, stuck_s)
                if lost:
                    run.add(lost)
                    crew[number] = start(number, lost.case + workers)
            if watch:
                watch(run)
        for worker in crew:
            _finish(run, worker)
    return run


def _take(run: Soak, worker: _Worker) -> bool:
    try:
        inputs, seconds, escapes = worker.channel.recv()
    except (EOFError, OSError):
        return False
    run.inputs.update(inputs)
    run.seconds.update(seconds)
    for escape in escapes:
        run.add(escape)
    return True


def _lost(worker: _Worker, stuck_s: float) -> Escape | None:
    """Returns the escape of a worker that is gone, or does not return from a case."""
    case = worker.at.value
    if not worker.process.is_alive():
        if case < 0:
            raise RuntimeError("a worker of the soak did not start")
        return Escape(case, "any", "died", f"exit code {worker.process.exitcode}")
    if case != worker.last_case:
        worker.last_case, worker.since = case, time.monotonic()
    if case < 0 or time.monotonic() - worker.since < stuck_s:
        return None
    os.kill(worker.process.pid, signal.SIGUSR1)  # it says where it is
    worker.process.join(1)
    worker.process.kill()
    worker.process.join()
    return Escape(case, "any", "stuck", f"no end after {stuck_s:.0f} s")


def _finish(run: Soak, worker: _Worker) -> None:
    """Stops a worker and takes its last messages, with a time limit."""
    with suppress(OSError):
        worker.channel.send("stop")
    until = time.monotonic() + 10
    while worker.process.is_alive() and time.monotonic() < until:
        if worker.channel.poll(0.1):
            _take(run, worker)
    while worker.channel.poll() and _take(run, worker):
        pass
    worker.process.kill()
    worker.process.join()
