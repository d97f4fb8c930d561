"""kafkaviz ingest: reads broker directories on Spark into a catalog of Parquet tables."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from kafkaviz import extras
from kafkaviz.cli import INTERRUPTED
from kafkaviz.cli.common import add_json_option, add_tiered_option, join_tiered, output
from kafkaviz.cli.common.output import LINE_EVERY_S, PLAIN_EVERY_S, ProgressLine
from kafkaviz.messages import message, say

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
    from kafkaviz.pipeline.ingest.job import Ingest, IngestResult, Progress

SETTLED_WITHIN_S = 10.0
LEVELS = ("headers", "crc", "records")  # as in format.deep_scan.CheckLevel, which is slow to import
EPILOG = """\
--json prints one object; [] marks a list of objects:
  catalog              the folder
  broker[]             name, path, node_id, cluster_id
    log_directories[]  path, directory_id, has_metadata_log
  read                 segments, bytes (of .log)
  kept                 segments, which are unchanged since the last run
  rows                 {table: number}
  check                level (headers, crc or records), unchecked_codes: the findings that it cannot
                       make; null with --no-findings
  findings             their numbers: error, warning, info; null with --no-findings
  problems[]           path, what
  seconds              the time that the run took

On a cluster, every worker needs kafkaviz, and the directories and OUT at the same paths.

Example: kafkaviz ingest /var/lib/kafka/data --catalog catalog"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "ingest",
        help="read broker directories into a catalog",
        description="Reads every segment of the directories on Spark and writes OUT, a catalog of "
        "Parquet tables. It holds these directories and no others, with the findings of `check`. A "
        "second run reads only changed files. The directories are never changed.",
        epilog=EPILOG,
    )
    help_text = (
        "a log directory of a broker, a folder with all of them, or a .tar, .tar.gz or .zip "
        "of either; directories with the same node.id and cluster.id are one broker"
    )
    parser.add_argument("directories", metavar="DIR", nargs="+", type=Path, help=help_text)
    help_text = "the folder of the catalog; created if it does not exist"
    parser.add_argument("--catalog", metavar="OUT", required=True, type=Path, help=help_text)
    help_text = "the Spark master to run on (default: that of spark-submit, else local[*])"
    parser.add_argument("--master", metavar="M", help=help_text)
    parser.add_argument(
        "--full", action="store_true", help="read everything again, also unchanged segments"
    )
    checks = parser.add_mutually_exclusive_group()
    checks.add_argument(
        "--check",
        metavar="LEVEL",
        choices=LEVELS,
        default=LEVELS[-1],
        help="how much of each batch to check: headers (neither checksums nor records), crc "
        "(headers and checksums, without decompressing) or records (everything; the default)",
    )
    help_text = "check nothing: read only the batches and indexes"
    checks.add_argument("--no-findings", dest="findings", action="store_false", help=help_text)
    add_tiered_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the ingest. Ctrl-C and SIGTERM cancel the ingest and leave the catalog unchanged."""
    extras.require("spark")
    from kafkaviz.format.deep_scan import CheckLevel
    from kafkaviz.pipeline.ingest.job import start_ingest

    directories = [join_tiered(directory, args.tiered) for directory in args.directories]
    ingest = start_ingest(
        directories,
        args.catalog,
        args.master,
        full=args.full,
        findings=args.findings,
        level=CheckLevel(args.check),
    )
    try:
        info = _watch(ingest)
    except KeyboardInterrupt as interrupt:
        ingest.cancel()
        # SIGTERM and SIGHUP arrive as a KeyboardInterrupt with an exit status, see __main__
        _leave(ingest, getattr(interrupt, "status", INTERRUPTED))
    _say_newer(info)
    result = _result(args.catalog, info, ingest, findings=args.findings)
    if args.json:
        output.say_json("ingest", result)
    else:
        output.say(_render(result))
    return 0


def _say_newer(info: "CatalogInfo") -> None:
    from contextlib import suppress

    from kafkaviz.analysis.inferred_release import assume_release
    from kafkaviz.errors import KafkavizError
    from kafkaviz.log.broker import open_broker

    for source in info.sources:
        if source.checked:
            output.say_newer(source.checked.assumed_release.newer_than_known, source.broker)
        else:
            with suppress(KafkavizError):  # the catalog may have been deleted by now
                output.say_newer(
                    assume_release(open_broker(*source.paths)).newer_than_known, source.broker
                )


def _leave(ingest: "Ingest", status: int) -> NoReturn:
    """Exits after the ingest has cleaned up, without waiting for Spark to shut down.

    The JVM ends together with this process.
    """
    ingest.settle(SETTLED_WITHIN_S)
    output.note(f"kafkaviz: {say('cli.stopped')}")
    os._exit(status)


def _watch(ingest: "Ingest") -> "CatalogInfo":
    progress = ProgressLine()
    interval_s = LINE_EVERY_S if progress.is_terminal else PLAIN_EVERY_S
    try:
        while (info := ingest.wait(interval_s)) is None:
            text = _render_progress(ingest.progress())
            progress.show(text, text)
        return info
    finally:
        progress.clear()


def _render_progress(progress: "Progress") -> str:
    from kafkaviz import units

    if progress.state == "starting":
        return say("progress.starting")
    if progress.state == "writing":
        return say("cli_ingest.writing")
    if progress.state != "reading":
        return progress.state
    key = "reading_speed" if progress.bytes_per_s else "reading"
    return say(
        f"cli_ingest.{key}",
        done=progress.done_bytes,
        total=progress.total_bytes,
        task=progress.done_tasks,
        tasks=progress.total_tasks,
        speed=units.rate(progress.bytes_per_s),
    )


def _result(catalog: Path, info: "CatalogInfo", ingest: "Ingest", *, findings: bool) -> dict:
    from kafkaviz.log.remote import address
    from kafkaviz.pipeline.catalog.catalog import Catalog

    result = cast("IngestResult", ingest.done)
    return {
        "catalog": str(catalog),
        "broker": [
            {
                "name": source.broker,
                "path": address.display(source.path),
                "node_id": source.node_id,
                "cluster_id": source.cluster_id,
                "log_directories": [
                    {
                        "path": address.display(directory.path),
                        "directory_id": directory.directory_id,
                        "has_metadata_log": directory.has_metadata_log,
                    }
                    for directory in source.log_directories
                ],
            }
            for source in info.sources
        ],
        "read": {"segments": result.read_segments, "bytes": result.read_bytes},
        "kept": {"segments": result.kept_segments},
        "rows": info.rows,
        "check": _check(info),
        "findings": Catalog(catalog, info).severities() if findings else None,
        "problems": [
            {"path": address.display(problem.path), "what": problem.what}
            for problem in info.problems
        ],
        "seconds": round(result.seconds, 3),
    }


def _check(info: "CatalogInfo") -> dict | None:
    from kafkaviz.analysis.findings import UNCHECKED_CODES

    levels = [source.checked.level for source in info.sources if source.checked]
    if levels:
        return {"level": levels[0].value, "unchecked_codes": list(UNCHECKED_CODES[levels[0]])}
    return None


def _render(result: dict) -> Iterator[str]:
    names = message("common.names", names=tuple(broker["name"] for broker in result["broker"]))
    yield say("common.labelled", where=result["catalog"], text=names)
    for table, rows in result["rows"].items():
        yield f"  {table:<15}{rows:>12}"
    if result["findings"]:
        counts = tuple(
            message(f"finding_count.{severity}s", n=count)
            for severity, count in result["findings"].items()
        )
        yield say("cli_ingest.found", counts=counts)
    check = result["check"]
    if check and check["unchecked_codes"]:
        codes = tuple(check["unchecked_codes"])
        yield say("finding.checks_partial", level=check["level"], codes=codes)
    yield say(
        "cli_ingest.read",
        segments=message("common.n_segments", n=result["read"]["segments"]),
        size=result["read"]["bytes"],
        unchanged=result["kept"]["segments"],
    )
    for problem in result["problems"]:
        yield say("cli_ingest.not_read", path=problem["path"], problem=problem["what"])
    yield say("cli_ingest.took", ms=1000 * result["seconds"])
