"""What a start will do to a directory, counted once: the page and the command say it in the same words.

    outlook.of(restart, logs=30)    Outlook(logs=30, cut_logs=3, cut_bytes=1021, rebuilt_segments=24, ...)
    .doings                         ("cut 1 021 bytes off three logs", "rebuild indexes of 24 segments")
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kafkaviz import units
from kafkaviz.simulate.starting.restart import Restart
from kafkaviz.simulate.steps import RECOVERED

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Outlook:
    """A start in numbers. A log is that of one topic-partition directory.

    logs: all of the broker; cut_logs: that lose cut_bytes at their ends. deleted_files: but for what every start may delete;
    deleted_directories: of topics that were deleted. read_logs: read again from their recovery points, since the broker was not
    stopped cleanly; rebuilt_segments: whose indexes are written anew from their batches, for whatever reason.
    waiting_files: that were to be deleted anyway; snapshots: of producers, that it writes or removes, as any start may.
    """

    clean: bool
    starts: bool
    logs: int
    cut_logs: int = 0
    cut_bytes: int = 0
    deleted_files: int = 0
    deleted_directories: int = 0
    read_logs: int = 0
    rebuilt_segments: int = 0
    waiting_files: int = 0
    snapshots: int = 0

    @property
    def doings(self) -> tuple[str, ...]:
        """What it changes, each in some words that follow "will"; empty where it changes nothing but what every start may."""
        told = (
            (self.cut_logs, f"cut {units.group(self.cut_bytes)} byte{_s(self.cut_bytes)} off {counted(self.cut_logs, 'log')}"),
            (self.deleted_files, f"delete {counted(self.deleted_files, 'file')}"),
            (self.deleted_directories, f"delete {counted(self.deleted_directories, 'directory', 'directories')} of deleted topics"),
            (self.rebuilt_segments, f"rebuild indexes of {counted(self.rebuilt_segments, 'segment')}"),
        )
        return tuple(words for count, words in told if count)

    @property
    def words(self) -> str:
        """All of that in one; where it is but what every start does, that is said, and of how much."""
        if self.cut_logs or self.deleted_files or self.rebuilt_segments:
            return ", and ".join(self.doings)
        usual = ", ".join(self._usual)
        return f"change nothing but what every start does: {usual}" if usual else "change nothing"

    @property
    def _usual(self) -> Iterator[str]:
        """What every start removes or writes, of a healthy directory too."""
        if self.deleted_directories:
            yield counted(self.deleted_directories, "directory of deleted topics", "directories of deleted topics")
        if self.waiting_files:
            yield counted(self.waiting_files, "file that waited for deletion", "files that waited for deletion")
        if self.snapshots:
            yield counted(self.snapshots, "snapshot")


def of(restart: Restart, logs: int) -> Outlook:
    """The numbers of a start; logs: how many topic-partition directories the broker has."""
    cuts = [one for one in restart.steps if one.action == "truncate"]
    deleted = [one for one in restart.steps if one.action == "delete"]
    return Outlook(
        clean=restart.clean,
        starts=restart.starts,
        logs=logs,
        cut_logs=len({one.partition for one in cuts}),
        cut_bytes=sum(one.size_bytes or 0 for one in cuts),
        deleted_files=len({one.file for one in deleted if one.file and not one.expected}),
        deleted_directories=len({one.partition for one in deleted if not one.file}),
        read_logs=len({one.partition for one in restart.steps if one.cause == "unflushed"}),
        waiting_files=len({one.file for one in deleted if one.file and one.cause == "leftover-deleted"}),
        snapshots=len({one.file for one in restart.steps if one.file and one.cause == "producer-state"}),
        rebuilt_segments=len({(one.partition, one.segment) for one in restart.steps if one.action == "rebuild" and one.cause in RECOVERED}),
    )


def counted(count: int, noun: str, plural: str = "") -> str:
    """one log, three logs, 24 logs."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def number(count: int) -> str:
    """A small number as a word."""
    return NUMBERS[count] if count < len(NUMBERS) else units.group(count)


def _s(count: int) -> str:
    return "" if count == 1 else "s"
