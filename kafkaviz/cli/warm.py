"""kafkaviz warm: does slow work once, so that the first page does not wait for it.

`make` runs this command after the installation. No help text lists it.
"""

import argparse
from typing import TYPE_CHECKING

from kafkaviz import environment, extras

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from pathlib import Path

    from kafkaviz.log.broker import Broker

PARTITION = "nulls-0"  # in the first sample; small, with every kind of record
CLEANED_PARTITION = "refunds-0"  # also small, with a segment that the cleaner takes


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `warm` to the command line. Without a help text, argparse does not list a command."""
    subparsers.add_parser(
        "warm",
        formatter_class=argparse.HelpFormatter,
        description="Unpacks the first sample broker into the cache. Reads, checks, dumps, cleans, "
        "tunes, simulates and replays small inputs, which compiles the loops that pages and "
        "commands call first. Starts Spark once and stores the classes that it loads.",
        epilog="Example: kafkaviz warm",
    )


def run(_args: argparse.Namespace) -> int:
    """Runs the compiled loops on small input, so that numba caches the compiled code.

    Returns 1 if the system killed a process: later, pages and commands compile the rest.
    """
    from concurrent.futures import BrokenExecutor

    from kafkaviz.log.archives.archive import cache_folder
    from kafkaviz.log.broker import open_broker
    from kafkaviz.pipeline.spark import java

    # runs in a process of its own
    archive_process = java.start_making_archive(cache_folder()) if extras.has("spark") else None
    status = 0
    for sample in sorted(environment.SAMPLES.glob("*.tar.gz"))[:1]:
        unpacked = open_broker(sample).path
        try:
            with _pool() as pool:
                list(pool.map(_run_part, PARTS, [unpacked] * len(PARTS)))
        except BrokenExecutor:
            status = 1
    if archive_process:
        archive_process.wait()
    return status


def _pool() -> "Executor":
    """Returns a pool with a process per processor. Ctrl-C ends the processes without a traceback.

    If the system kills a process, the pool raises BrokenExecutor instead of waiting for it.
    """
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_DFL),
    )


def _run_part(part: "Callable[[Broker], None]", directory: "Path") -> None:
    from kafkaviz.log.broker import open_broker

    part(open_broker(directory))


def _read(broker: "Broker") -> None:
    from kafkaviz.analysis.broker_health import check

    for partition in broker.partitions:
        for segment in partition.live:
            for batch in segment.batches()[:1]:
                segment.records(int(batch["position"]))
    check(broker)


def _tune(broker: "Broker") -> None:
    from kafkaviz.analysis.batching.ranking import measure_batching
    from kafkaviz.analysis.cost import cost_model
    from kafkaviz.analysis.tuning.index_size import log_rounds, sweep_index_sizes
    from kafkaviz.analysis.tuning.interval_cost import Budgets
    from kafkaviz.analysis.tuning.recommendation import recommend_all
    from kafkaviz.analysis.tuning.source import open_source

    source = open_source(broker.path / PARTITION)
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    recommend_all(source.cases, source.total, Budgets(), costs)
    measure_batching(source, seconds=0)
    sweep_index_sizes(log_rounds(source), source.total.today.config)


def _dump(broker: "Broker") -> None:
    from io import BytesIO

    from kafkaviz.cli.dumping import Console, DumpOptions, json_lines, text

    log = broker.partition(PARTITION).live[0].log
    for dump in (text.dump, json_lines.dump):
        if log:
            dump(
                DumpOptions(files=(str(log.path),), prints=True, deep=True),
                Console(BytesIO(), BytesIO()),
            )


def _clean(broker: "Broker") -> None:
    """Computes how the cleaner would clean a log with cleanup.policy=compact. Writes nothing."""
    from kafkaviz.analysis.compaction.compaction import compaction
    from kafkaviz.log.broker import open_broker
    from kafkaviz.log.settings import open_settings

    lone = open_broker(broker.path / CLEANED_PARTITION)
    settings = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}
    compaction(lone, settings=open_settings(lone, overrides=settings))


def _simulate(_broker: "Broker") -> None:
    from kafkaviz.simulate.directory.simulation import simulate

    simulate("strimzi")


def _search(_broker: "Broker") -> None:
    """Compiles the functions for racing searches, for a growing index, and for decompression."""
    import numpy as np

    from kafkaviz.analysis.cost import page_replay
    from kafkaviz.analysis.lookup import search_race
    from kafkaviz.binary.decoders import runs

    search_race.choose_targets(np.arange(20), 0, 19, 8, warm_bytes=32, page_bytes=32)
    page_replay.grow(1)
    runs.compile_decompressors()


# run in parallel by processes of a pool; the longest come first
PARTS = (_tune, _clean, _read, _dump, _simulate, _search)
