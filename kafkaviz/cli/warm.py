"""kafkaviz warm: does once what would make the first page slow.

`make` calls it after installing, and no help lists it.
"""

import argparse
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_data"


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `warm` to the command line. Without `help` argparse leaves it out of the list."""
    parser = subparsers.add_parser(
        "warm",
        description="Unpacks the first sample broker into the cache, reads and checks it, and "
        "simulates a small log, which compiles the loops that read and write bytes.",
        epilog="Example: kafkaviz warm",
    )
    parser.set_defaults(run=run)


def run(_args: argparse.Namespace) -> int:
    """Reads one batch of every topic-partition of the first sample, and checks it.

    Numba keeps what it compiles beside the modules.
    """
    from kafkaviz.analysis.health.broker_health import check
    from kafkaviz.log.broker import open_broker
    from kafkaviz.simulate.directory.simulation import simulate

    for archive in sorted(SAMPLES.glob("*.tar.gz"))[:1]:
        broker = open_broker(archive)
        for partition in broker.partitions:
            for segment in partition.live:
                for batch in segment.batches()[:1]:
                    segment.records(int(batch["position"]))
        check(broker)
    simulate("strimzi")
    return 0
