"""What a start will do to a directory, counted once, for the page and the command alike.

outlook.of(restart, logs=30)    Outlook(logs=30, cut_logs=3, cut_bytes=1021,
rebuilt_segments=24, ...)
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kafkaviz.simulate.starting.restart import Restart, Step
from kafkaviz.simulate.steps import RECOVERED


@dataclass(frozen=True)
class Outlook:
    """A start in numbers. A log is that of one topic-partition directory.

    logs: all of the broker; cut_logs: that lose cut_bytes at their ends. deleted_files: but for
    what every start may delete; deleted_directories: of topics that were deleted. read_logs: read
    again from their recovery points, since the broker was not stopped cleanly; rebuilt_segments:
    whose indexes are written anew from their batches, for whatever reason. stray_directories: that
    it takes for stray, and does not serve. as_before: whether all that is read again ends in the
    same bytes as before. waiting_files: that were to be deleted anyway; snapshots: of producers,
    that it writes or removes, as any start may; epochs: files of leader epochs that it writes anew
    from the batches.
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
    epochs: int = 0
    stray_directories: int = 0
    as_before: bool = False


def of(restart: Restart, logs: int) -> Outlook:
    """The numbers of a start; logs: how many topic-partition directories the broker has."""
    cuts = [one for one in restart.steps if one.action == "truncate"]
    deleted = [one for one in restart.steps if one.action == "delete"]
    again = [one for one in restart.steps if one.cause == "unflushed"]
    return Outlook(
        clean=restart.clean,
        starts=restart.starts,
        logs=logs,
        cut_logs=len({one.partition for one in cuts}),
        cut_bytes=sum(one.size_bytes or 0 for one in cuts),
        deleted_files=len({one.file for one in deleted if one.file and not one.expected}),
        deleted_directories=len({one.partition for one in deleted if not one.file}),
        read_logs=len({one.partition for one in restart.steps if one.cause == "unflushed"}),
        waiting_files=len(
            {one.file for one in deleted if one.file and one.cause == "leftover-deleted"}
        ),
        snapshots=len(
            {one.file for one in restart.steps if one.file and one.cause == "producer-state"}
        ),
        epochs=len({one.file for one in restart.steps if one.cause == "leader-epochs"}),
        stray_directories=len(
            {one.partition for one in restart.steps if one.cause == "becomes-stray"}
        ),
        as_before=not cuts and bool(again) and is_as_before(again),
        rebuilt_segments=len(
            {
                (one.partition, one.segment)
                for one in restart.steps
                if one.action == "rebuild" and one.cause in RECOVERED
            }
        ),
    )


def is_as_before(steps: Iterable[Step]) -> bool:
    """Whether what these steps of a start recover comes out as it was."""
    return all(one.action == "keep" for one in steps if one.cause in RECOVERED)
