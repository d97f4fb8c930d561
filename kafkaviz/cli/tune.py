"""kafkaviz tune: advises on settings of batches, codec and index, and estimates the savings."""

import argparse
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kafkaviz.cli.common import (
    add_json_option,
    add_setting_option,
    add_version_option,
    output,
    parse_number,
    parse_setting,
)
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.rebuild import WhatIf
    from kafkaviz.analysis.tuning.tuning_case import TuningSource

# the fields of `Budgets`, each with an example of an amount
BUDGETS = {"p99": ("p99_us", "50us"), "index": ("index_share", "1%")}
UNITS_US = {"us": 1.0, "µs": 1.0, "ms": 1000.0, "s": 1e6}
SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
MAX_SECONDS = 3600
STORAGES = ("memory", "nvme", "ssd", "hdd", "cloud-volume", "object-store")
EPILOG = """\
The answer has three parts, the change that matters most first: batches (the producers' linger.ms
and batch.size), codec (their compression.type) and index (index.interval.bytes, segment.index.bytes
and segment.bytes). Each says keep or change, with the setting, its savings and price, and how the
numbers are known. A broker's topics are ranked by the bytes that their changes save. PATH is a
partition directory, a broker directory, BROKER/TOPIC, an archive of one, or a .log. WORKLOAD is a
TOML file, or the name of an included one, such as heartbeat. The entries and headers of today's
interval come from the indexes on disk; other intervals are replayed from the batches. These numbers
are exact if all .log files fit in the sample (--sample). Otherwise parts of them are read, and the
counts of the whole log are estimated. Microseconds are modelled, as ranges, from presets or from
the measurements of kafkaviz calibrate on this machine.

For batches and codec, records from the whole log are decompressed and packed again with each codec,
and written in the batches that other settings would have made. Which batches could be one is
inferred from the gaps between a producer's batches, so its effect is a range. This takes --seconds,
and no record is shown or leaves this machine. A workload has no records, so only its index is
advised on.

--budget sets a limit: p99=50us (the default), the time that one in a hundred lookups exceeds if the
page cache holds all data; index=1%, the index size as a share of the log. p99=none sets no limit. A
budget is met if the high end of a range meets it. The largest interval that meets all budgets is
considered; if only the index size is limited, the smallest. The answer says which budgets no
interval meets. A change is proposed if the low end of its gain is above 10 % and worth it: 50 µs at
p99, or the budget if that is smaller; or 1 % of the log. Otherwise the answer is keep.

--set takes the names of topic settings, or the broker's log... names, that the log is run with.
--what-if appends the batches again, without their payload, with other settings, and shows segments,
rolls by cause, indexes and maps.

--json prints one object; [] marks a list of objects:
  answer               sentence, part (batches, codec, index or null), topic, saved_bytes
  batches              the advice on linger.ms and batch.size: verdict, because, certainty,
                       is_up_to, batches_before, batches_low, batches_high, index_entries_before,
                       index_entries_after, headers_before, headers_after, latency_ms,
                       producer_memory_bytes; null for a workload, and for a broker, whose topics
                       have it
    settings           linger.ms, batch.size
    saving             low_bytes, high_bytes, low_share, high_share
    reasons[]          code, and the values named below
    today              all producers together, with the keys of producers
    producers[]        producer_id, batches, records, stored_bytes, header_bytes,
                       records_per_batch_mean, records_per_batch_p50, records_per_batch_p90,
                       records_per_batch_max, batch_bytes_mean, batch_bytes_p50, batch_bytes_max
      codecs[]         codec, share
    merges[]           for the sampled batches: linger_ms, batch_bytes
      low, high        batches, records, plain_bytes, log_bytes, header_bytes, index_entries,
                       headers_mean
  codec                the advice on compression.type: verdict, because, certainty, codec_before,
                       codec_after, batch_bytes, ratio_before, ratio_after, pack_us_per_mib_before,
                       pack_us_per_mib_after, unpack_us_per_mib_before, unpack_us_per_mib_after;
                       saving, reasons and null as in batches
    settings           compression.type
    records            the extent of the sample: log_bytes, window_bytes, stored_bytes, plain_bytes,
                       batches, records, windows, is_whole, skipped
    packed[]           codec, level, batch_bytes, batches, blocks, plain_bytes, packed_bytes, ratio,
                       ratio_low, ratio_high, pack_us_per_mib, unpack_us_per_mib
  source               kind, name, log_bytes, batches, segments, partitions, batch_bytes_mean,
                       batch_bytes_least, single_record_share, bytes_per_s
  kafka_version        assumed, because
  sample               sampled_bytes, log_bytes, windows, segments (those with a window), is_whole;
                       null for a workload
  current              index.interval.bytes, interval_source, segment.bytes, segment.index.bytes,
                       segment.ms, tiered, per_append, inferred, unknown; and at that interval the
                       keys of sweep and the prices
    replayed, on_disk  offset_entries, time_entries
  sweep[]              interval_bytes, entries, index_bytes, headers_mean, headers_p50, headers_p90,
                       headers_p99, headers_max, skipped_bytes_mean
  index_size_sweep[]   each segment.index.bytes at today's interval, with the log's batches appended
                       repeatedly until segments close: segment_index_bytes, offset_slots,
                       usable_time_slots, segments, rolls, segment_log_bytes, rolls_per_gib,
                       rolls_per_day, offset_entries, time_entries, headers_mean, cold_index_reads,
                       mean_us, cold_mean_us; for searches in such an index warm_tail_probes,
                       warm_tail_pages, warm_mean_probes, warm_mean_pages; and up to Kafka 2.0
                       plain_tail_probes, plain_tail_pages, plain_mean_probes, plain_mean_pages.
                       Null for a broker or a single .log
  recommendation       verdict, today_known, setting, value, because, considered, meets_budgets,
                       not_fixed, command, reaches
    reasons[]          code, and the values named below
    gain               p99_us, mean_us, index_share, blocks
    proposed           the keys of sweep and the prices
  budgets              p99_us, index_share
  costs                header_us, first_us, storage, read_us, modelled, calibrated
  limits               binding, least_index_bytes, safe_index_bytes; and the .log at which each
                       limit ends a segment: segment_bytes, segment_ms_bytes, offset_full_bytes,
                       time_full_bytes
  footprint            segments, files, maps, stale_maps, maps_left, index_bytes,
                       preallocated_bytes, apparent_bytes, allocated_bytes, resident_bytes
  tiered               cached_segments_now, cached_segments_other, carried_share_now,
                       carried_share_other; or null
  segment_size         the advice on segment.bytes: verdict, setting, value, because, code,
                       changing, command
    today, considered  segment_bytes and ended_bytes; and each as {value, basis} overshoot_bytes,
                       active_bytes, recovered_bytes, maps
  topics[]             of a broker, the one that saves most first: topic, saved_bytes, changes,
                       batches, codec, verdict, value, because, unknown, ...
  metadata_left_out    of a broker: true if the metadata log was left out
  unused_left_out      paths of segments
  problems[]           path, message
  what_if              with --what-if
    today, changed     segments, rolls, log_bytes, offset_entries, time_entries, index_bytes, maps,
                       files

Some of these values:
  basis      exact, inferred or modelled
  certainty  exact, sampled or inferred
  is_whole   if it is false, the counts of the whole log are estimated
  kind       partition, topic, broker, log or workload
  mean_us    a range, {low, typical, high}; so are cold_mean_us, header_us, first_us, read_us,
             p99_us except in budgets, and index_share in gain
  prices     mean_us, p99_us, cold_mean_us, cold_reads_mean, cold_index_reads, index_share,
             by_target, price_us. by_target has base_offset, every_offset and timestamp, each with
             headers_mean, headers_p50, headers_p90, headers_p99, headers_max, skipped_bytes_mean.
             price_us is the µs that a mean lookup gains per MB of index per GiB of log at that
             interval
  unknown    the settings that are only in the metadata log, which was not opened; their values here
             are inferred or Kafka's defaults
  verdict    keep or change

Values in reasons: interval, entries, of, is_default, least_batch_bytes, most_bytes, missed, from,
to, least_us, append_bytes, changing, topics, linger_ms, share, records_per_batch, windows, low,
high, before, after, best; entries and headers_p99 of the index on disk, with entries_replayed and
headers_p99_replayed if the replay differs from it.

Example: kafkaviz tune /var/lib/kafka/data/orders-0 --budget p99=25us"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "tune",
        help="advise on batches, codec and index",
        description="Says whether to change the batches or the codec of a topic's producers, or "
        "its index, with the reasons, the savings in bytes and headers per lookup, and the price.",
        epilog=EPILOG,
    )
    help_text = (
        "a directory, an archive, a .log, a TOML file or a workload's name; for a broker with "
        "several log directories, all of them or the folder that holds them"
    )
    parser.add_argument("sources", metavar="PATH_OR_WORKLOAD", nargs="+", help=help_text)
    parser.add_argument(
        "--budget",
        metavar="NAME=VALUE",
        dest="budgets",
        action="append",
        default=[],
        type=_parse_budget,
        help="the most a lookup may cost: p99=50us, index=1%%; may be repeated",
    )
    help_text = "the storage that cold reads go to (default: as calibrated, else nvme)"
    parser.add_argument("--storage", choices=STORAGES, help=help_text)
    parser.add_argument(
        "--sample",
        metavar="SIZE|all",
        type=_parse_sample,
        default="128MiB",
        help="the most bytes of .log to read, in parts spread over all topics; all reads "
        "everything (default: 128MiB)",
    )
    help_text = "how long to pack records again and to write merged batches (default 4)"
    parser.add_argument("--seconds", metavar="S", type=_parse_seconds, default=4.0, help=help_text)
    parser.add_argument(
        "--master",
        metavar="M",
        help="pack and merge a broker's topics on this Spark master, a task for each topic and "
        "--seconds on each core (default: in this process)",
    )
    add_setting_option(parser)
    parser.add_argument(
        "--what-if",
        metavar="NAME=VALUE",
        dest="changed",
        action="append",
        default=[],
        type=parse_setting,
        help="rewrite the log with this setting and compare; may be repeated",
    )
    add_version_option(
        parser, "the release (default: the workload's, or inferred from the directory)"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.batching.advice import advise
    from kafkaviz.analysis.batching.ranking import batching_topics, measure_batching, rank_topics
    from kafkaviz.analysis.cost import calibration, cost_model
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.analysis.tuning.interval_cost import Budgets
    from kafkaviz.analysis.tuning.json_object import tuning_object
    from kafkaviz.analysis.tuning.recommendation import recommend_all
    from kafkaviz.analysis.tuning.source import open_broker_source, open_source
    from kafkaviz.log.broker import open_broker

    budgets = Budgets(**dict(args.budgets))
    progress = ByteProgress()
    if len(args.sources) > 1:
        open_sources = partial(open_broker_source, open_broker(*args.sources))
    else:
        open_sources = partial(open_source, args.sources[0])
    source = open_sources(
        version=args.kafka_version,
        overrides=dict(args.overrides),
        on_progress=progress.show,
        on_sizes=progress.expect,
        most_bytes=args.sample,
    )
    progress.clear()
    output.say_newer(source.assumed_release.newer_than_known)
    costs = cost_model.lookup_costs(
        by_base_offset=source.by_base_offset,
        storage=args.storage,
        calibration=calibration.load_calibration(),
    )
    answers, recommendation = recommend_all(source.cases, source.total, budgets, costs)
    progress = ByteProgress()
    topics = batching_topics(source).values()
    progress.expect({topic.name: topic.log_bytes for topic in topics})
    advise_all = advise
    if args.master:
        from kafkaviz.pipeline.topic_advice import advise_on_spark

        advise_all = partial(advise_on_spark, master=args.master)
    batching = measure_batching(source, args.seconds, progress.show, advise_all)
    progress.clear()
    comparison = _what_if(source, dict(args.changed)) if args.changed else None
    if args.json:
        document = tuning_object(source, answers, recommendation, budgets, costs, batching=batching)
        if comparison:
            today, changed = comparison
            document["what_if"] = to_json_object({"today": today, "changed": changed})
        output.say_json("tune", document)
    else:
        from kafkaviz.cli.text import tuning_text

        ranked = rank_topics(source, answers, batching)
        output.say(tuning_text.render(source, ranked, recommendation, costs))
        output.say(tuning_text.render_what_if(comparison) if comparison else ())
    return 0


def _parse_budget(text: str) -> tuple[str, float | None]:
    """Parses a budget: "p99=50us" becomes ("p99_us", 50.0). "50us" means the same."""
    name, value = text.split("=", 1) if "=" in text else ("p99", text)
    if name not in BUDGETS:
        raise argparse.ArgumentTypeError(say("cli_tune.no_budget", name=name, names=tuple(BUDGETS)))
    return BUDGETS[name][0], None if value == "none" else _parse_amount(name, value)


def _parse_seconds(text: str) -> float:
    problem = say("cli_tune.no_seconds", text=text, most=MAX_SECONDS)
    return parse_number(text, lambda seconds: 0 <= seconds <= MAX_SECONDS, problem)


def _parse_amount(name: str, text: str) -> float:
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(us|µs|ms|s|%)?", text)
    if match and name == "p99" and match[2] in UNITS_US:
        return float(match[1]) * UNITS_US[match[2]]
    if match and name == "index" and match[2] == "%":
        return float(match[1]) / 100
    problem = say("cli_tune.no_amount", text=text, name=name, example=BUDGETS[name][1])
    raise argparse.ArgumentTypeError(problem)


def _parse_sample(text: str) -> int | None:
    """Parses the size of a sample in bytes; None for "all"."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([KMGT]?i?B)?", text)
    size = float(match[1]) * SIZE_UNITS.get(match[2] or "B", 0) if match else 0
    if text != "all" and size < 1:
        raise argparse.ArgumentTypeError(say("cli_tune.no_sample", text=text))
    return None if text == "all" else int(size)


def _what_if(source: "TuningSource", changed: Mapping[str, str]) -> "tuple[WhatIf, WhatIf]":
    """Simulates rewriting the log twice: with today's settings and with changed settings.

    For a topic, the results are sums over its partitions.
    """
    from kafkaviz import config_def, versions
    from kafkaviz.analysis import rebuild
    from kafkaviz.errors import KafkavizError, RefusedSetting

    case = source.total
    if case.logs is None:
        raise KafkavizError(message("errors.what_if_needs_log"))
    release = versions.parse(source.version)
    fields = {}
    for setting_name, text in changed.items():
        name, value = config_def.parse(setting_name, text, release)
        field = name.replace(".", "_")
        if field not in type(case.today.config).__dataclass_fields__:
            raise RefusedSetting(setting_name, text, message("errors.setting_has_no_effect"))
        fields[field] = value
    return rebuild.compare(
        case.logs, case.today.config, fields, source.behaviour, is_leader=case.is_leader
    )
