"""A dump as JSON lines: one object per line, continuing past damage that would end Kafka's tool."""

from pathlib import Path

from kafkaviz.cli.common import output
from kafkaviz.cli.dumping import java, json_indexes, json_logs
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.file_findings import FileChecker
from kafkaviz.cli.dumping.java_exception import JavaException
from kafkaviz.cli.dumping.json_parts import line, problem
from kafkaviz.cli.dumping.options import DumpOptions
from kafkaviz.errors import KafkavizError
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.messages import message
from kafkaviz.units import replace_surrogates

FORMATS = ("log", "checkpoint", "index", "timeindex", "snapshot", "txnindex")


def dump(options: DumpOptions, console: Console) -> int:
    """Prints the files in order and returns 0.

    Raises:
        CannotOpen: a file cannot be read; the output before it is printed.
    """
    checker = FileChecker()
    try:
        for path in map(java.path, options.files):
            _print_file(path, options, console, checker)
    except JavaException as fault:
        raise fault.fault or KafkavizError(
            message("errors.of_path", path=path, problem=fault.message)
        ) from None
    finally:
        console.flush()
    return 0


def _print_file(path: str, options: DumpOptions, console: Console, checker: FileChecker) -> None:
    with file.reader(Path(path)):  # a file that cannot be read must not be announced
        info = file.info(Path(path))
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    console.write(
        line(
            "file",
            schema=output.schema("dump"),
            path=replace_surrogates(archive.display_text(path)),
            format=suffix if suffix in FORMATS else None,
            size_bytes=info.size_bytes,
        )
    )
    _dump_file(path, suffix, options, console, checker)


def _dump_file(
    path: str, suffix: str, options: DumpOptions, console: Console, checker: FileChecker
) -> None:
    match suffix:
        case "log" | "checkpoint":
            json_logs.dump(path, options, console, checker)
        case "index":
            json_indexes.dump_offset_index(path, options, console, checker)
        case "timeindex":
            json_indexes.dump_time_index(path, options, console, checker)
        case "snapshot":
            json_indexes.dump_snapshot(path, console, checker)
        case "txnindex":
            json_indexes.dump_txn_index(path, console, checker)
        case _:
            text = f"Ignoring unknown file {archive.display_text(path)}"
            console.write(problem("unknown-file", None, None, text))
