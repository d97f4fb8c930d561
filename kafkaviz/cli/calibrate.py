"""kafkaviz calibrate: measures how long each step of a lookup takes on this machine."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from kafkaviz.cli.common import add_json_option, output
from kafkaviz.messages import say

EPILOG = """\
Writes a file of 64 MiB into DIR, reads it and removes it. DIR is a folder on the disk to measure,
outside of Kafka's directories; the default is kafkaviz's cache. The result is stored in that cache
as calibration.json, where kafkaviz tune finds it. KAFKAVIZ_CACHE names another cache folder.

Not measured: Java's overhead per header, and the time before the first header of a lookup. tune
adds both as shares of the reads, as timed with LogSegment of Kafka 3.9.1, 4.3.1 and 4.4.0.

--json prints one object; each time in µs is {min, median, p90, samples}:
  measured_at     the time of the measurement
  folder          DIR
  machine         processors, architecture, system
  pread_17_us     a read of 17 bytes from the page cache
  pread_61_us     a read of 61 bytes from the page cache
  minor_fault_us  the first access to a page that is in the page cache
  random_read_us  a read of 4 KiB from the disk, or null
  file_bytes      the size of the file
  notes           a list of sentences
  kept            the path of calibration.json

Example: kafkaviz calibrate /var/lib/kafka-scratch"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "calibrate",
        help="measure this machine for tune",
        description="Measures how long each step of a lookup takes on this machine. The "
        "measurement takes some seconds.",
        epilog=EPILOG,
    )
    help_text = "a folder on the disk to measure (default: the cache)"
    parser.add_argument("directory", metavar="DIR", nargs="?", type=Path, help=help_text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.cost import calibration

    measurement = calibration.measure(args.directory)
    path = calibration.save_calibration(measurement)
    if args.json:
        output.say_json("calibrate", measurement | {"kept": str(path)})
    else:
        output.say(_render(measurement, path))
    return 0


def _render(measurement: dict, path: Path) -> Iterator[str]:
    yield say("cli_calibrate.machine", folder=measurement["folder"], **measurement["machine"])
    labels = {
        "pread_17_us": say("cli_calibrate.page_cache_17"),
        "pread_61_us": say("cli_calibrate.page_cache_61"),
        "minor_fault_us": say("cli_calibrate.first_touch"),
        "random_read_us": say("cli_calibrate.disk_read"),
    }
    for name, words in labels.items():
        timing = measurement[name]
        text = say("cli_calibrate.not_measured")
        if timing is not None:
            median = f"{timing['median']:8.2f}"
            least = timing["min"]
            text = say("cli_calibrate.timing", median=median, least=least, p90=timing["p90"])
        yield f"  {output.pad(words, 32)}{text}"
    yield from ("  " + say("cli_calibrate.note", note=note) for note in measurement["notes"])
    yield say("cli_calibrate.kept", path=path)
