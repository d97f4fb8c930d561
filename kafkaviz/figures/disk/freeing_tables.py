"""Two tables: the files that may be deleted by hand, and the cost of deleting all indexes."""

from collections.abc import Iterable, Mapping, Sequence

from kafkaviz import units
from kafkaviz.analysis.freeing import SAFE_KINDS, FreeingStep, IndexPrice
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.figures.disk.disk_map import DiskTable
from kafkaviz.figures.text import disk_text
from kafkaviz.figures.text.disk_text import ASSUMED_RATE
from kafkaviz.figures.text.sentences import capitalize
from kafkaviz.log.archives import archive
from kafkaviz.messages import render, say, say_count
from kafkaviz.units import MISSING, format_bytes, format_count


def freeing_title(steps: Sequence[FreeingStep]) -> str:
    """Says how much space can be freed at once, and how much only after a check."""
    safe = [step.allocated_bytes for step in steps if step.kind in SAFE_KINDS]
    other = [step.allocated_bytes for step in steps if step.kind not in SAFE_KINDS]
    if safe and other:
        key = "disk.freeing_title_both"
    elif safe:
        key = "disk.freeing_title"
    elif other:
        key = "disk.freeing_title_check"
    else:
        key = "disk.freeing_none"
    return say(key, size=format_bytes(sum(safe)), other=format_bytes(sum(other)))


def freeing_table(steps: Iterable[FreeingStep], names: Mapping[str, str]) -> DiskTable:
    """Returns one row per kind of file and log directory.

    `names` has the short names of the log directories by path. A single name is not shown.
    """
    rows = []
    for step in steps:
        directory = (names[step.log_directory],) if len(names) > 1 else ()
        rows.append(
            (
                capitalize(disk_text.freeing_text(step.kind)),
                *directory,
                format_bytes(step.allocated_bytes),
                format_count(step.files),
                render(step.kind.check),
                render(step.kind.cost),
            )
        )
    directory_head = (say("broker.column_log_directory"),) if len(names) > 1 else ()
    heads = (
        say("health.column_what"),
        *directory_head,
        say("disk.column_frees"),
        say("replay_table.files"),
        say("disk.column_check"),
        say("disk.column_cost"),
    )
    return DiskTable(heads=heads, rows=tuple(rows))


PATH_COLUMNS = ("kind", "log_directory", "path")


def path_rows(steps: Iterable[FreeingStep]) -> list[tuple[str, str, str]]:
    """Returns (kind, log directory, path) of each file or folder that may be deleted."""
    return [
        (str(step.kind), step.log_directory, archive.display_text(path))
        for step in steps
        for path in step.paths
    ]


def price_title(prices: Sequence[IndexPrice]) -> str:
    """Says what deleting all .index files frees, and what broker start-up then reads."""
    return say(
        "disk.price_title",
        size=format_bytes(sum(price.allocated_bytes for price in prices)),
        read=format_bytes(sum(price.reads.log_bytes for price in prices)),
    )


def price_caption(prices: Sequence[IndexPrice]) -> str:
    """Says for which read rate and how many threads the times are computed."""
    threads = prices[0].reads.threads
    threads_text = disk_text.threads_text(threads)
    return say("disk.price_below", rate=units.rate(ASSUMED_RATE), threads=threads_text)


def price_table(
    prices: Sequence[IndexPrice],
    recovery: Sequence[RecoveryReads] | None,
    names: Mapping[str, str],
) -> DiskTable:
    """Returns the reads of the next broker start-up, with the .index files and without them.

    `recovery` has the reads with the .index files; None: unknown. `names` has the short names of
    the log directories by path.
    """
    reads_now = {reads.log_directory: reads for reads in recovery or ()}
    no_reads = MISSING if recovery is None else say("common.none")
    rows = [
        (
            names[price.log_directory],
            *_reads_cells(reads_now.get(price.log_directory), no_reads),
            *_reads_cells(price.reads, no_reads),
            format_bytes(price.allocated_bytes),
        )
        for price in prices
    ]
    columns = ("reads", "takes", "reads_without", "takes", "frees_until")
    heads = (say("broker.column_log_directory"), *(say(f"disk.column_{name}") for name in columns))
    return DiskTable(heads=heads, rows=tuple(rows))


def _reads_cells(reads: RecoveryReads | None, no_reads: str) -> tuple[str, str]:
    if reads is None:
        return no_reads, MISSING
    segments = say_count("common.n_segments", reads.segments)
    size = say("disk.reads", size=format_bytes(reads.log_bytes), segments=segments)
    return size, disk_text.reading_time(reads, ASSUMED_RATE)
