"""A dump as text: the output of Kafka 4.3.1's DumpLogSegments on both streams, and its status."""

from kafkaviz.cli.dumping import java, logs
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.java_exception import STATUS, JavaException
from kafkaviz.cli.dumping.options import DumpOptions
from kafkaviz.cli.dumping.report import Report
from kafkaviz.log.archives import archive


def dump(options: DumpOptions, console: Console) -> int:
    """Prints the files in order, then the faults; returns 0, or 1 if Kafka's tool would die."""
    report = Report()
    try:
        for path in map(java.path, options.files):
            console.line(f"Dumping {archive.display_text(path)}")
            _dump_file(path, options, console, report)
    except JavaException as fault:
        console.complain(fault.text())
        return STATUS
    console.complain(report.text())
    return 0


def _dump_file(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    """Prints one file by its suffix.

    Each kind has its own imports, because codecs and record bodies are slow to import.

    Raises:
        JavaException: Kafka's tool would die.
    """
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    match dot + suffix:
        case ".log" | ".checkpoint":
            logs.dump(path, options, console, report)
        case ".index":
            from kafkaviz.cli.dumping import offset_entries

            offset_entries.dump(path, options, console, report)
        case ".timeindex":
            from kafkaviz.cli.dumping import time_entries

            time_entries.dump(path, options, console, report)
        case ".snapshot":
            from kafkaviz.cli.dumping import state_files

            state_files.dump_snapshot(path, console)
        case ".txnindex":
            from kafkaviz.cli.dumping import state_files

            state_files.dump_txn_index(path, console)
        case _:
            console.complain(f"Ignoring unknown file {archive.display_text(path)}\n")
