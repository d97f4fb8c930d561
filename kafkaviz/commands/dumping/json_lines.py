"""A dump as JSON lines: everything a file holds, one object a line, on past what would end Kafka's tool."""

from pathlib import Path

from kafkaviz.commands.dumping import java, json_indexes, json_logs
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.json_words import line, problem
from kafkaviz.commands.dumping.options import Options
from kafkaviz.log import file

FORMATS = ("log", "checkpoint", "index", "timeindex", "snapshot", "txnindex")


def dump(options: Options, console: Console) -> int:
    """Prints the files in order; 0. CannotOpen for a file that cannot be read."""
    for path in map(java.path, options.files):
        info = file.info(Path(path))
        suffix = path.rpartition("/")[2].rpartition(".")[2]
        known = suffix in FORMATS
        console.write(line("file", path=path, format=suffix if known else None, size_bytes=info.size_bytes))
        _dump_file(path, suffix, options, console)
    return 0


def _dump_file(path: str, suffix: str, options: Options, console: Console) -> None:
    """The lines of one file, by its suffix."""
    match suffix:
        case "log" | "checkpoint":
            json_logs.dump(path, options, console)
        case "index":
            json_indexes.dump_offset_index(path, options, console)
        case "timeindex":
            json_indexes.dump_time_index(path, options, console)
        case "snapshot":
            json_indexes.dump_snapshot(path, console)
        case "txnindex":
            json_indexes.dump_txn_index(path, console)
        case _:
            console.write(problem("unknown-file", None, None, f"Ignoring unknown file {path}"))
