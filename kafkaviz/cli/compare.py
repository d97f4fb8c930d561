"""kafkaviz compare: shows how two replicas differ, and what each would lose as a follower."""

import argparse
from pathlib import Path

from kafkaviz.cli.common import add_json_option, output
from kafkaviz.cli.common.output import ProgressLine
from kafkaviz.format.names import CATALOG_FILE
from kafkaviz.messages import say

DIFFERENT_STATUS = 1
EPILOG = """\
Partitions are matched by topic id if both sides have one, else by name. Two single partitions or
two single logs are compared whatever their names are. The relation of a pair is the worst that
applies: identical; index-files-differ; segments-differ (the same records in other segments or
batches); start-differs; behind (one is a prefix of the other); doomed-tail (the longer one ends in
an epoch that a later election has ended); diverged (one offset with two leader epochs); altered
(one epoch with two contents); damaged (a batch that has a wrong checksum or cannot be read);
cleaned-differently; only-in-a; only-in-b.

Two directories of one broker, by the ids in meta.properties, count as before and after: the change
of each file is compared with the predicted next start of the first one (kafkaviz check).

index.interval.bytes of a topic comes from the metadata log of each side. Without one it is inferred
from the entries.

Two catalogs of kafkaviz ingest, each of one broker directory, are compared by their checksums,
without reading a .log. The relation of each topic-partition is same-batches (identical,
index-files-differ or segments-differ), start-differs, behind (or doomed-tail, because epochs
without records are in no batch), other-batches (altered, or the same records in other batches:
compare the directories), diverged, cleaned-differently (another number of records), damaged,
only-in-a or only-in-b. damaged means that the ingest found damage in any batch of either log. In a
catalog that was made with --no-findings or --check headers, checksums are not verified.

Exit status: 0 all records are the same (identical, index-files-differ, segments-differ; for
catalogs same-batches), 1 they are not, 2 wrong usage or unreadable input.

--json prints one object; [] marks a list of objects:
  a, b              the paths
  partitions[]      partition, relation, relations (all that hold), compared_from, compared_to
                    (excluded), first_divergent_offset, segment_bases_equal, difference_count,
                    rewritten_batches, notes, other_generation, other_directory; and each as {a, b}
                    leader_epochs_there, damaged_batches, index_interval_bytes, replicas
    only_in_a       records, ranges, more_ranges (how many are left out); so have only_in_b,
                    different and unreadable
    if_leader       {a, b}, each: follower_keeps_below, follower_loses (ranges), follower_log_start,
                    leader_epoch
      steps[]       epoch, fetch_offset, answer: {epoch, end_offset}, rule, truncates_to
    behind          side, offsets, bytes, time_ms
    differences[]   the first 20 of difference_count: file, position, size_bytes, what, a, b,
                    offset, crc_valid, locations
    indexes[]       segment, kind, reason, common, lookup; only_in_a and only_in_b, each {entries,
                    slots}; and each as {a, b} entries, unwritten_slots, contradicted_slots,
                    interval_bytes
  counts            {relation: partitions}
  before_and_after  started, swapped; or null
    steps[]         those of kafkaviz check, with outcome and size_after
    changes[]       partition, file, change, size_before, size_after, same_bytes, foretold
  problems[]        path, message

Some of these values:
  change                cut, appended, rebuilt, trimmed, trimmed-and-appended, rolled, cleaned,
                        created, rewritten or deleted
  index_interval_bytes  of each side {value, source}, by its settings; value is null where they are
                        unknown
  interval_bytes        the interval that the entries of each side were written with: {low, high,
                        per_append}
  outcome               as-foretold, otherwise or unseen
  ranges                a list of [first, last]
  reason                missing, unwritten, damage, first-offset-keys, per-append, interval,
                        other-batches, length, zeroed, cut, segment-end or restart
  rule                  keep, end-of-epoch, ask-again, leader-end, high-watermark or start-anew
  swapped               true if b is the earlier one

For two catalogs --json prints:
  a, b                the paths
  checksums_verified  {a, b}
  partitions[]        topic, partition, relation, first_different_offset, epoch_a, epoch_b,
                      different_batches, start_a, start_b, end_a, end_b, batches_a, batches_b,
                      damaged_a, damaged_b, other_generation, other_directory; null for a log that
                      does not exist
  counts, problems    as above

Where the logs diverge, first_different_offset is the first offset with two epochs. epoch_a and
epoch_b are null if that side has no batch there. damaged_a and damaged_b are numbers of findings.

Example: kafkaviz compare broker-1.tar.gz broker-2.tar.gz"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "compare",
        help="show where two replicas differ, and what each would lose",
        description="Compares the logs of two directories record by record: whether they are the "
        "same, the offset from which they differ, the records that only one has, and the records "
        "that a follower would drop by its leader epochs, for each of the two as leader. The "
        "directories are never changed.",
        epilog=EPILOG,
    )
    what = (
        "a broker or partition directory, an archive of one, a .log; of a broker with several log "
        "directories all of them with commas between, as in log.dirs, or the folder that holds "
        "them; or a catalog"
    )
    parser.add_argument("a", metavar="A", type=Path, help=what)
    help_text = "the other directory, or the same one later; for a catalog another catalog"
    parser.add_argument("b", metavar="B", type=Path, help=help_text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    if all((path / CATALOG_FILE).is_file() for path in (args.a, args.b)):
        return _compare_catalogs(args)
    from kafkaviz.analysis.comparison.comparator import compare
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.log.broker import typed_directories

    progress = ProgressLine()
    comparison = compare(
        typed_directories(args.a),
        typed_directories(args.b),
        lambda name: progress.show(say("cli.reading", source=name)),
    )
    progress.clear()
    if args.json:
        output.say_json("compare", to_json_object(comparison))
    else:
        from kafkaviz.cli.text.compare_text import render

        output.say(render(comparison))
    return 0 if comparison.has_equal_records else DIFFERENT_STATUS


def _compare_catalogs(args: argparse.Namespace) -> int:
    from collections import Counter

    from kafkaviz.log.remote import address
    from kafkaviz.pipeline.sql.catalog_comparison import (
        SIDES,
        CatalogRelation,
        compare_catalogs,
        open_pair,
    )

    pair = open_pair(args.a, args.b)
    rows = compare_catalogs(pair)
    counts = Counter(row["relation"] for row in rows)
    if args.json:
        problems = [
            {"path": address.display(problem.path), "message": str(problem.what)}
            for problem in pair.problems
        ]
        document = {
            "a": str(args.a),
            "b": str(args.b),
            "checksums_verified": {side: side not in pair.unverified_sides for side in SIDES},
            "partitions": rows,
            "counts": dict(counts),
            "problems": problems,
        }
        output.say_json("compare-catalogs", document)
    else:
        from kafkaviz.cli.text.compare_text import render_catalogs

        output.say(render_catalogs(pair, rows))
    is_same = set(counts) <= {CatalogRelation.SAME_BATCHES} and not pair.problems
    return 0 if is_same else DIFFERENT_STATUS
