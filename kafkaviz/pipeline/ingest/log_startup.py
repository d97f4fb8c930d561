"""Predicts what the next broker start-up does to each log."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kafkaviz.analysis.restart import next_start
from kafkaviz.analysis.restart.next_start import RestartLog
from kafkaviz.analysis.serialization import encode
from kafkaviz.config_def import Release
from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.ingest import stored_checks


@dataclass(frozen=True)
class LogStartup:
    """A log that the next broker start-up loads, and everything that decides how loading ends."""

    number: int  # number of the log, among all logs that a run loads
    broker: str
    log: RestartLog
    clean: bool
    release: Release

    @cached_property
    def digest(self) -> str:
        """A digest of everything that decides what broker start-up does to this log."""
        log = self.log
        inputs = (log.config, log.recovery_point, log.log_start_offset, log.stray)
        files = [
            (file.name, file.size_bytes, file.mtime_ns)
            for file in next_start.log_files(log.partition)
        ]
        return stored_checks.digest_of(
            str(log.partition.path), *inputs, self.clean, self.release, *files
        )


class DirectoryStartup(NamedTuple):
    """A log that the next broker start-up loads. Takes less memory than a `LogStartup`."""

    number: int  # the number of the log, among all logs that this run loads
    digest: str  # the value of `LogStartup.digest`
    is_known: bool  # whether an earlier run has stored what start-up does to the log


@dataclass(frozen=True)
class StartupResult:
    """The predicted effect of broker start-up on a log."""

    number: int
    text: str | None  # the start-up steps as JSON; None: a file of the log cannot be read


def predict_startup(startup: LogStartup) -> StartupResult:
    """Predicts what broker start-up does to a log, without changing any file."""
    try:
        steps = next_start.restart_steps(startup.log, clean=startup.clean, release=startup.release)
    except KafkavizError:
        return StartupResult(startup.number, None)
    return StartupResult(startup.number, encode(steps))
