"""A dump as text: what DumpLogSegments of Kafka 4.3.1 prints, on both streams, and the status it
ends with.
"""

from kafkaviz.commands.dumping import java, logs
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.death import STATUS, Death
from kafkaviz.commands.dumping.options import Options
from kafkaviz.commands.dumping.report import Report


def dump(options: Options, console: Console) -> int:
    """Prints the files in order, then what was found wrong; 0, or 1 where Kafka's tool dies."""
    report = Report()
    try:
        for path in map(java.path, options.files):
            console.line(f"Dumping {path}")
            _dump_file(path, options, console, report)
    except Death as fault:
        console.complain(fault.text())
        return STATUS
    console.complain(report.text())
    return 0


def _dump_file(path: str, options: Options, console: Console, report: Report) -> None:
    """Prints one file by its suffix; a Death where the tool dies.

    Each kind imports what it needs: codecs and the bodies of records take a while that a .log
    without its records can do without.
    """
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    match dot + suffix:
        case ".log" | ".checkpoint":
            logs.dump(path, options, console, report)
        case ".index":
            from kafkaviz.commands.dumping import offset_entries

            offset_entries.dump(path, options, console, report)
        case ".timeindex":
            from kafkaviz.commands.dumping import time_entries

            time_entries.dump(path, options, console, report)
        case ".snapshot":
            from kafkaviz.commands.dumping import state_files

            state_files.dump_snapshot(path, console)
        case ".txnindex":
            from kafkaviz.commands.dumping import state_files

            state_files.dump_txn_index(path, console)
        case _:
            console.complain(f"Ignoring unknown file {path}\n")
