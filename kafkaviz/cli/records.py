"""kafkaviz records: writes records as Parquet, Arrow or JSON Lines."""

import argparse
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz import extras
from kafkaviz.cli.common import check_destination, complete_file, output
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import message, say, say_count

if TYPE_CHECKING:
    from kafkaviz.messages import Message
    from kafkaviz.pipeline.datasource.arrow_rows import ArrowRows, RecordBatch

STDOUT = "-"
SHOWN_TOPICS = 50
SUFFIXES = (".parquet", ".arrow", ".jsonl")
# the options of kafka_records, with placeholder and help text
OPTIONS = {
    "columns": ("NAMES", "columns, separated by commas, in this order (default: all)"),
    "topics": ("NAMES", "topics, or patterns with * and ?, separated by commas (default: all)"),
    "partitions": ("NUMBERS", "partitions: 0,4-7,20- (default: all)"),
    "offsets": ("RANGE", "offsets, both ends included: 5000-5999, 5000-, -5999 or 5000"),
    "timestamps": ("RANGE",
        "times in milliseconds or ISO 8601, UTC if they have no zone, both ends included: "
        "2026-09-21T18:22/2026-09-21T18:23, either end left out"),
    "isolation": ("LEVEL",
        "read_committed (the default), or read_uncommitted: also the records of aborted and open "
        "transactions, with the column aborted"),
    "mode": ("MODE",
        "what cannot be read: FAILFAST (the default) ends with status 2, PERMISSIVE writes a row "
        "with the column problem, DROPMALFORMED leaves it out and names it on stderr"),
    "replicas": ("WHICH",
        "of the directories of several brokers, one replica of each partition (one, the default) "
        "or every one (all)"),
    "late-ms": ("N",
        "with --timestamps: no record is more than N ms older than one before it, so the log "
        "is not read to its end (default: any order, and it is read to its end)"),
    "tiered": ("STORE", "the store of the remote segments, which are read before the local ones"),
}  # fmt: skip
EPILOG = """\
These are the rows, columns and options of the Spark format kafka_records (docs/data-source.md),
without Spark: broker, topic, partition, segment_base_offset, batch_position, offset, timestamp_ms,
is_control, key_size_bytes, value_size_bytes, header_count; with --payload key, value, headers; with
read_uncommitted aborted; with PERMISSIVE problem; then timestamp, leader_epoch, producer_id,
producer_epoch, is_transactional, replica_reason. Control records are rows with is_control. Rows are
ordered by directory, and within a partition by offset.

The name of FILE decides the format: .parquet; .arrow, a file of Arrow's IPC format; .jsonl, one
JSON object per line, where bytes are base64, headers are [[name, value]], and timestamp is ISO 8601
in UTC. Without -o, or with -o -, JSON Lines go to stdout. An existing FILE is replaced after
everything has been written. FILE must not be in a directory of Kafka's.

--payload text decodes UTF-8. Bytes that are not UTF-8 become base64: followed by their base64; so
does a text that itself begins with base64:. --payload bytes leaves bytes.

--json prints one object after the file is written: file; bytes; rows; problems: how many of the
rows say what could not be read; columns, a list of {name, type}: the type as Arrow names it.

Example: kafkaviz records /var/lib/kafka/data --topics orders --payload text -o orders.parquet"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "records",
        help="write records as Parquet, Arrow or JSON Lines",
        description="Reads the records that consumers of a partition or a broker get, and writes "
        "them as a table. Keys and values are written only with --payload. The directory is never "
        "changed.",
        epilog=EPILOG,
    )
    help_text = (
        "a partition directory, a broker directory, an archive of one, or a pattern of them; "
        "several directories with the same node.id and cluster.id are one broker"
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help=help_text)
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        default=STDOUT,
        type=_parse_file,
        help="the file to write: FILE.parquet, FILE.arrow or FILE.jsonl; - for stdout (default)",
    )
    help_text = "also write keys, values and headers, as text or as bytes"
    parser.add_argument("--payload", choices=("text", "bytes"), help=help_text)
    for name, (placeholder, help_text) in OPTIONS.items():
        parser.add_argument(f"--{name}", metavar=placeholder, help=help_text)
    help_text = "also read the directories that Kafka has renamed: -delete, -stray and -future"
    parser.add_argument("--renamed", action="store_true", help=help_text)
    parser.add_argument("--json", action="store_true", help="print a summary as one JSON object")


def run(args: argparse.Namespace) -> int:
    extras.require("arrow", "pyarrow")
    from kafkaviz.errors import KafkavizError
    from kafkaviz.pipeline.datasource.source_reader import Malformed

    try:
        return _write(args)
    except Malformed as fault:
        raise KafkavizError(_advise(fault.message)) from fault


def _write(args: argparse.Namespace) -> int:
    from kafkaviz.errors import KafkavizError
    from kafkaviz.pipeline import records
    from kafkaviz.pipeline.datasource.arrow_rows import WRITERS, RowCount

    if args.json and args.out == STDOUT:
        raise KafkavizError(message("cli_records.json_needs_file"))
    names = ["payload", "renamed", *(name.replace("-", "_") for name in OPTIONS)]
    options = {name: value for name in names if (value := getattr(args, name))}
    rows = records(args.paths, **options)
    _check_topics(args.topics, rows)
    count = RowCount()
    if args.out == STDOUT:
        WRITERS[".jsonl"](sys.stdout.buffer, rows.schema, count.add(_read(rows)))
        return 0
    out = check_destination(args.out, _inspected_folders(rows))
    with complete_file(out) as file:
        WRITERS[args.out.suffix.lower()](file, rows.schema, count.add(_read(rows)))
    size_bytes = out.stat().st_size
    if args.json:
        summary = {
            "file": str(out),
            "bytes": size_bytes,
            "rows": count.rows,
            "problems": count.problems,
            "columns": [{"name": field.name, "type": str(field.type)} for field in rows.schema],
        }
        output.say_json("records", summary)
    else:
        output.say([say_count("cli_records.written", count.rows, file=out, size=size_bytes)])
        if count.problems:
            output.say([say_count("cli_records.problems", count.problems)])
    return 0


def _check_topics(topics: str | None, rows: "ArrowRows") -> None:
    from kafkaviz.errors import KafkavizError

    known_topics = sorted({partition.topic for _, partition in rows.inventory.partitions})
    for name in filter(None, map(str.strip, (topics or "").split(","))):
        if not any(fnmatchcase(topic, name) for topic in known_topics):
            names = known_topics[:SHOWN_TOPICS] + ["…"] * (len(known_topics) > SHOWN_TOPICS)
            problem = message("cli_records.no_such_topic", name=name, topics=tuple(names))
            raise KafkavizError(problem)


def _read(rows: "ArrowRows") -> "Iterator[RecordBatch]":
    sizes: dict[str, int] = {}
    labels = []
    for task in rows.tasks:
        segment_task = task.splits[0].segment_task if task.splits else None
        label = f"{segment_task.topic}-{segment_task.partition}" if segment_task else ""
        labels.append(label)
        size_bytes = sum(split.log_bytes for split in task.splits)
        sizes[label] = sizes.get(label, 0) + size_bytes
    progress = ByteProgress()
    progress.expect(sizes)
    read: dict[str, int] = {}
    _release_code()
    import numba  # noqa: F401  now, so that its code is not resident together with that of PyArrow

    _release_code()
    is_first = True
    for label, task in zip(labels, rows.tasks, strict=True):
        for batch in rows.read(task):
            if is_first:
                _release_code()  # the compiled functions are loaded
                is_first = False
            progress.show(label, read.get(label, 0) / max(1, sizes[label]))
            yield batch
        read[label] = read.get(label, 0) + sum(split.log_bytes for split in task.splits)
    progress.clear()


def _release_code() -> None:
    """Releases about 100 MB of memory that holds the code of libraries. Only on Linux.

    Much of this code belongs to LLVM and runs only once, when numba loads compiled functions. If
    code is needed again, the kernel maps it from the page cache.
    """
    import ctypes
    import mmap

    try:
        maps = Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return
    release = ctypes.CDLL(None).madvise
    for line in maps.splitlines():
        # a library's other mappings hold relocated addresses, which madvise would discard
        if " r-xp " in line and ".so" in line:
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            release(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


def _advise(fault: "Message") -> "Message":
    """Returns a Spark error, with advice that names this command's options."""
    is_permissive = fault["advice"].key == "option.permissive"
    advice = message(f"cli_records.{'permissive' if is_permissive else 'permissive_or_drop'}")
    return message(fault.key, problem=fault["problem"], advice=advice)


def _parse_file(text: str) -> Path | str:
    path = Path(text)
    if text == STDOUT:
        return text
    if path.suffix.lower() in SUFFIXES and path.stem:
        return path
    raise argparse.ArgumentTypeError(say("cli_records.no_format", text=text, suffixes=SUFFIXES))


def _inspected_folders(rows: "ArrowRows") -> Iterator[Path]:
    for _, broker in rows.inventory.brokers:
        yield from broker.sources
        yield from (partition.path for partition in broker.partitions)
        if not broker.is_lone:
            yield from (directory.path for directory in broker.log_directories)
