"""kafkaviz report: writes one HTML file with the inventory, findings and tuning of a broker."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz import extras
from kafkaviz.cli.common import (
    add_paths_argument,
    add_setting_option,
    add_version_option,
    check_destination,
    complete_file,
    output,
)
from kafkaviz.cli.common.output import ProgressLine
from kafkaviz.messages import Message, message, say

if TYPE_CHECKING:
    from kafkaviz.log.broker import Broker
    from kafkaviz.report.subject import Subject

EPILOG = """\
The file is self-contained: inventory, findings with their evidence, the predicted start, retention,
the tuning with its curves. It opens without a network, can be printed, and follows the reader's
light or dark theme. FILE must end in .html and must not be in a directory of Kafka's. An existing
report is replaced.

The content of records is left out: no byte of a .log is shown, but topic names are. --payload shows
the last records of each topic.

--json prints one object after the file is written:
  file            its path
  bytes           its size
  sha256          of the report
  directory       the path of the broker
  kafka_version   assumed, because
  counts          the number of findings: error, warning, info
  restart         clean, starts, partial, metadata_log_missing, offline_directories; null if the
                  start cannot be predicted
  recommendation  verdict (keep or change), setting, value; null without batches
  inputs          with --sha256 a list of {file, bytes, sha256}, else null

Several log directories: kafkaviz report /data/a /data/b /data/c -o broker.html
Example: kafkaviz report /var/lib/kafka/data -o broker.html"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "report",
        help="write a report as one HTML file",
        description="Reads a broker directory or one partition and writes one HTML file: the "
        "inventory, the faults, the predicted next start, and the cost of other index intervals. "
        "The directory is never changed.",
        epilog=EPILOG,
    )
    help_text = "a broker or partition directory, or a .tar, .tar.gz or .zip of one"
    add_paths_argument(parser, help_text, "DIR")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE.html",
        required=True,
        type=_parse_page,
        help="the file to write",
    )
    parser.add_argument(
        "--sha256", action="store_true", help="list every file of the directory with its SHA-256"
    )
    parser.add_argument("--payload", action="store_true", help="show a few records of each topic")
    add_version_option(parser, "the release that reads the directory (default: inferred)")
    add_setting_option(
        parser,
        "a setting that is not in the directory, such as log.retention.ms=-1; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print a summary as one JSON object")


def run(args: argparse.Namespace) -> int:
    extras.require("app", "plotly")
    import time

    from kafkaviz import report
    from kafkaviz.log.broker import open_broker
    from kafkaviz.report.subject import gather

    broker = open_broker(*args.paths)
    out = check_destination(args.out, _inspected_folders(broker))
    progress = ProgressLine()
    subject = gather(
        broker,
        args.kafka_version,
        dict(args.overrides),
        with_payload=args.payload,
        with_sha256=args.sha256,
        on_progress=lambda what: _show(progress, what),
    )
    _show(progress, message("report_progress.writing"))
    text = report.page(subject, int(time.time() * 1000)).encode()
    with complete_file(out) as file:
        file.write(text)
    progress.clear()
    output.say_newer(subject.health.assumed_release.newer_than_known)
    if args.json:
        output.say_json("report", _report_object(subject, out, text))
    else:
        output.say(_render(subject, out, len(text)))
    return 0


def _show(progress: ProgressLine, what: Message) -> None:
    """Shows the current step on stderr. Without a terminal, leaves out names and numbers."""
    kind = what.key.removeprefix("report_progress.")
    progress.show(what, f"kafkaviz: {say(f'report_progress.{kind}_alone')}")


def _parse_page(text: str) -> Path:
    """Parses the name of an HTML file. Refuses other names, so that a typo overwrites nothing."""
    if not text.lower().endswith((".html", ".htm")) or Path(text).name.lower() in (".html", ".htm"):
        raise argparse.ArgumentTypeError(say("cli_report.no_html_name", text=text))
    return Path(text)


def _inspected_folders(broker: "Broker") -> Iterator[Path]:
    from kafkaviz.analysis.checks.plan import is_lone

    yield from broker.sources
    if not is_lone(broker):
        yield from (directory.path for directory in broker.log_directories)


def _report_object(subject: "Subject", out: Path, data: bytes) -> dict:
    import hashlib

    health = subject.health
    recommendation = subject.tuning.overall if subject.tuning else None
    inputs = None
    if subject.digests is not None:
        inputs = [
            {"file": digest.name, "bytes": digest.size_bytes, "sha256": digest.sha256}
            for digest in subject.digests
        ]
    return {
        "file": str(out),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "directory": subject.broker.sources_text,
        "kafka_version": {
            "assumed": health.assumed_release.version,
            "because": str(health.assumed_release.reason),
        },
        "counts": health.counts,
        "restart": health.restart
        and {
            "clean": health.restart.clean,
            "starts": health.restart.starts,
            "partial": health.is_partial,
            "metadata_log_missing": health.misses_metadata_log,
            "offline_directories": list(health.restart.offline_directories),
        },
        "recommendation": recommendation
        and {
            "verdict": str(recommendation.verdict),
            "setting": "index.interval.bytes",
            "value": recommendation.value,
        },
        "inputs": inputs,
    }


def _render(subject: "Subject", out: Path, size_bytes: int) -> Iterator[str]:
    from kafkaviz import units
    from kafkaviz.report import health, tuning

    health_view = health.view(subject)
    yield say("common.labelled", where=out, text=units.format_bytes(size_bytes))
    yield f"  {health_view.verdict.title}"
    yield f"  {health.describe_counts(health_view)}"
    if subject.tuning:
        headline = tuning.verdict_view(subject.tuning).headline
        own = tuning.describe_own_intervals(subject.tuning)
        yield "  " + say("cli_report.interval", headline=headline, own=own)
    else:
        yield "  " + say("cli_report.not_tuned", why=subject.untuned_reason)
