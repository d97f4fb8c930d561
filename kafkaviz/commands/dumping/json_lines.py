"""A dump as JSON lines: everything a file holds, one object a line, on past what would end Kafka's
tool.
"""

from pathlib import Path

from kafkaviz.commands.dumping import java, json_indexes, json_logs
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.death import Death
from kafkaviz.commands.dumping.json_words import line, problem
from kafkaviz.commands.dumping.judged import Judge
from kafkaviz.commands.dumping.options import Options
from kafkaviz.errors import KafkavizError
from kafkaviz.log import file
from kafkaviz.units import encodable

FORMATS = ("log", "checkpoint", "index", "timeindex", "snapshot", "txnindex")


def dump(options: Options, console: Console) -> int:
    """Prints the files in order; 0.

    CannotOpen for a file that cannot be read, once what came before it is printed.
    """
    judge = Judge()
    try:
        for path in map(java.path, options.files):
            _print_file(path, options, console, judge)
    except Death as fault:
        raise fault.fault or KafkavizError(f"{path}: {fault.message}") from None
    finally:
        console.flush()
    return 0


def _print_file(path: str, options: Options, console: Console, judge: Judge) -> None:
    """The line of a file, and what it holds."""
    with file.reader(Path(path)):  # before anything is said of it
        info = file.info(Path(path))
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    console.write(
        line(
            "file",
            path=encodable(path),
            format=suffix if suffix in FORMATS else None,
            size_bytes=info.size_bytes,
        )
    )
    _dump_file(path, suffix, options, console, judge)


def _dump_file(path: str, suffix: str, options: Options, console: Console, judge: Judge) -> None:
    """The lines of one file, by its suffix."""
    match suffix:
        case "log" | "checkpoint":
            json_logs.dump(path, options, console, judge)
        case "index":
            json_indexes.dump_offset_index(path, options, console, judge)
        case "timeindex":
            json_indexes.dump_time_index(path, options, console, judge)
        case "snapshot":
            json_indexes.dump_snapshot(path, console, judge)
        case "txnindex":
            json_indexes.dump_txn_index(path, console, judge)
        case _:
            console.write(problem("unknown-file", None, None, f"Ignoring unknown file {path}"))
