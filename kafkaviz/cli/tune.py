"""kafkaviz tune: what another index interval would have cost a log, and whether to change it."""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkaviz.cli.common import output
from kafkaviz.cli.common.options import parse_setting

if TYPE_CHECKING:
    from kafkaviz.analysis.cost_model import LookupPrices
    from kafkaviz.analysis.tuning import Budgets, IntervalPrice, Recommendation
    from kafkaviz.analysis.tuning.source import TuningCase, TuningSource
    from kafkaviz.analysis.what_if import WhatIf

BUDGETS = {"p99": "p99_us", "cold-p99": "cold_p99_us", "cores": "cores", "index": "index_share"}
UNITS_US = {"us": 1.0, "µs": 1.0, "ms": 1000.0, "s": 1e6}
TARGETS = {
    "base_offset": "a batch's first offset",
    "every_offset": "any offset",
    "timestamp": "a timestamp",
}
STORAGES = ("memory", "nvme", "ssd", "hdd", "cloud-volume", "object-store")
EPILOG = """\
PATH is a partition directory, a broker directory, BROKER/TOPIC, an archive of one, or a .log;
WORKLOAD is a TOML file, or the name of one that comes along, such as heartbeat. Today's entries and
headers are those of the indexes on disk, other intervals are replayed from the batches, and both
are exact; microseconds are a model with ranges, of presets or of what kafkaviz calibrate measured
here.

--budget says what is allowed: p99=50us, the lookup that one in a hundred exceeds, in the page cache
(the default); cold-p99=5ms, the same with nothing of the .log in memory; cores=0.5, of processors,
with --fetches; index=1%, of the log. p99=none allows any. A budget counts as met where the high end
of a range meets it. Of the intervals that meet all, the largest is considered, and where only the
index is bounded the smallest; what no interval meets is said. A change is proposed where the low
end of its gain is above 10 % and worth it: 50 µs at p99 or the whole budget where that is less, 1 %
of the log or 0.05 cores. Otherwise the answer is keep.

--set takes names of topic settings, or the broker's log... names, as the log is run with. --what-if
appends the batches once more, without their payload, with other settings, and tells segments, rolls
by cause, indexes and maps.

--json prints one object: current, {index.interval.bytes, interval_source, segment.bytes,
segment.index.bytes, segment.ms, tiered, per_append, inferred, replayed and on_disk:
{offset_entries, time_entries}, and the columns of sweep and the prices at that interval}; sweep, a
list of {interval_bytes, entries, index_bytes, headers_mean, headers_p50, headers_p90, headers_p99,
headers_max, skipped_bytes_mean}; recommendation, {verdict: keep|change, setting, value, because,
reasons: [{code, ...}], considered, meets_budgets, gain: {p99_us, mean_us, index_share, cores,
blocks}, not_fixed, proposed, command, reaches}; source, {kind: partition|topic|broker|log|workload,
name, log_bytes, batches, segments, partitions, batch_bytes_mean, batch_bytes_least,
single_record_share, bytes_per_s}; kafka_version, {assumed, because}; budgets, {p99_us, cold_p99_us,
cores, index_share, fetches_per_s}; costs, {header_us, first_us, storage, read_us, modelled,
calibrated}; tornado, a list of {name, unit, low, typical, high, p99_us_low, p99_us_high,
verdict_low, verdict_high}; limits, {binding, and the .log at which each ends a segment,
segment_bytes, segment_ms_bytes, offset_full_bytes, time_full_bytes; least_index_bytes,
safe_index_bytes}; footprint, {segments, files, maps, stale_maps, maps_left, index_bytes,
preallocated_bytes, apparent_bytes, allocated_bytes, resident_bytes}; tiered, {cached_segments_now,
cached_segments_other, carried_share_now, carried_share_other} or null; of a broker topics, a list
of {topic, verdict, value, because, ...}, and metadata_left_out; unused_left_out, paths of segments;
problems, a list of {path, message}; with --what-if what_if, {today, changed: {segments, rolls,
log_bytes, offset_entries, time_entries, index_bytes, maps, files}}. A range is {low, typical,
high}; prices are mean_us, p99_us, cold_mean_us, cold_p99_us, cold_reads_mean, cold_reads_p99,
cold_index_reads, index_share, by_target, {base_offset, every_offset, timestamp: {headers_mean,
headers_p50, headers_p90, headers_p99, headers_max, skipped_bytes_mean}}, cores and price_us, the µs
of a mean lookup that 1 MB of index a GiB of log buys at that interval. Values in reasons: interval,
entries, of, is_default, least_batch_bytes, most_bytes, missed, from, to, least_us, append_bytes,
changing, topics; entries and headers_p99 of the index on disk, with entries_replayed and
headers_p99_replayed, where it is another than the replay of its interval.

Example: kafkaviz tune /var/lib/kafka/data/orders-0 --budget p99=25us"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `tune` to the command line."""
    parser = subparsers.add_parser(
        "tune",
        help="price another index interval, and mostly keep this one",
        description=(
            "Sweeps index.interval.bytes over the batches of a log, prices lookups, and says "
            "whether to change it and why."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source",
        metavar="PATH_OR_WORKLOAD",
        help="a directory, an archive, a .log, a TOML file or a workload's name",
    )
    parser.add_argument(
        "--budget",
        metavar="NAME=VALUE",
        dest="budgets",
        action="append",
        default=[],
        type=_parse_budget,
        help="what is allowed: p99=50us, cold-p99=5ms, cores=0.5, index=1%%; may be repeated",
    )
    parser.add_argument(
        "--fetches",
        metavar="N",
        type=_parse_rate,
        help="fetches a second that return data, for the processor's share",
    )
    parser.add_argument(
        "--storage",
        choices=STORAGES,
        help="where cold reads go (default: as calibrated, else nvme)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="typed",
        action="append",
        default=[],
        type=parse_setting,
        help="a setting; may be repeated",
    )
    parser.add_argument(
        "--what-if",
        metavar="NAME=VALUE",
        dest="changed",
        action="append",
        default=[],
        type=parse_setting,
        help="write the log once more with this setting; may be repeated",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="V",
        help="the release (default: by the directory's traces, or the workload's)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measures, prices, and prints the answer."""
    from kafkaviz.analysis import calibration, cost_model, tuning
    from kafkaviz.analysis.tuning.json_object import tuning_object, what_if_object
    from kafkaviz.analysis.tuning.source import open_source

    budgets = _budgets(args)
    source = open_source(args.source, args.kafka_version, dict(args.typed), on_progress=_show)
    _clear()
    output.say_newer(source.version_reason)
    costs = cost_model.lookup_prices(
        by_base_offset=source.by_base_offset,
        storage=args.storage,
        calibration=calibration.load_calibration(),
    )
    answers, recommendation = tuning.recommend_all(source.cases, source.total, budgets, costs)
    comparison = _what_if(source, dict(args.changed)) if args.changed else None
    if args.json:
        document = tuning_object(source, answers, recommendation, budgets, costs)
        if comparison:
            document["what_if"] = {
                name: what_if_object(outcome)
                for name, outcome in zip(("today", "changed"), comparison, strict=True)
            }
        output.say_json(document)
    else:
        output.say(_render(source, answers, recommendation, costs))
        output.say(_render_what_if(comparison) if comparison else ())
    return 0


def _show(name: str, _share: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\rreading {output.to_one_line(name)}\x1b[K")


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def _parse_budget(text: str) -> tuple[str, float | None]:
    """p99=50us as ("p99_us", 50.0); 50us alone is that of p99."""
    name, equals, value = text.partition("=")
    name, value = (name, value) if equals else ("p99", text)
    if name not in BUDGETS:
        raise argparse.ArgumentTypeError(f"{name!r} is no budget; there are {', '.join(BUDGETS)}")
    return BUDGETS[name], None if value == "none" else _parse_amount(name, value)


def _parse_amount(name: str, text: str) -> float:
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(us|µs|ms|s|%)?", text)
    unit = match[2] if match else None
    number = float(match[1]) if match else math.nan
    if match and name.endswith("p99") and unit in UNITS_US:
        return number * UNITS_US[unit]
    if match and name == "index" and unit == "%":
        return number / 100
    if match and name == "cores" and unit is None:
        return number
    example = {"p99": "50us", "cold-p99": "5ms", "cores": "0.5", "index": "1%"}[name]
    raise argparse.ArgumentTypeError(
        f"{text!r} is no amount of {name}; give one such as {example}, or none"
    )


def _parse_rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of fetches a second")
    return number


def _budgets(args: argparse.Namespace) -> "Budgets":
    from kafkaviz.analysis.tuning import Budgets
    from kafkaviz.errors import KafkavizError

    budgets = Budgets(**(dict(args.budgets) | {"fetches_per_s": args.fetches}))
    if budgets.cores is not None and budgets.fetches_per_s is None:
        raise KafkavizError(
            "a budget of cores needs --fetches, how many a second look something up"
        )
    return budgets


# ---- what if


def _what_if(source: "TuningSource", changed: Mapping[str, str]) -> "tuple[WhatIf, WhatIf]":
    """The log once more, with its settings and with others; the sum over a topic's partitions."""
    from kafkaviz import config_def, versions
    from kafkaviz.analysis import what_if
    from kafkaviz.errors import KafkavizError, RefusedSetting

    case = source.total
    if case.logs is None:
        raise KafkavizError(
            "--what-if needs a whole log: give a partition directory, a topic or a workload"
        )
    release, fields = versions.parse(source.version), {}
    for setting_name, text in changed.items():
        name, value = config_def.parse(setting_name, text, release)
        field = name.replace(".", "_")
        if field not in type(case.today.config).__dataclass_fields__:
            raise RefusedSetting(setting_name, text, "has no effect on what is written")
        fields[field] = value
    return what_if.compare(
        case.logs, case.today.config, fields, source.behaviour, is_leader=case.is_leader
    )


def _render_what_if(comparison: "tuple[WhatIf, WhatIf]") -> Iterator[str]:
    from kafkaviz import units

    yield from ("", "written once more, as it is set and as asked")
    for name, outcome in zip(("as set", "what if"), comparison, strict=True):
        rolls = ", ".join(f"{count} by {cause}" for cause, count in outcome.rolls.items()) or "none"
        entries = (
            f"{outcome.offset_entries} offset and {outcome.time_entries} time entries, "
            f"{units.size(outcome.index_bytes)}"
        )
        yield (
            f"  {name:<8}{units.pluralize(outcome.segments, 'segment')}, rolls: {rolls}; "
            f"{entries}; "
            f"{outcome.maps} maps, {outcome.files} files"
        )


# ---- as text


def _render(
    source: "TuningSource",
    answers: "Mapping[str, Recommendation | None]",
    recommendation: "Recommendation | None",
    costs: "LookupPrices",
) -> Iterator[str]:
    from kafkaviz import units
    from kafkaviz.analysis import tuning
    from kafkaviz.analysis.tuning import reason_text as tuning_text
    from kafkaviz.analysis.tuning.source import BROKER
    from kafkaviz.log import archive

    case = source.total
    parts = case.measurement.parts
    batches, segments = (
        units.pluralize(parts.batches, "batch", "batches"),
        units.pluralize(case.measurement.segments, "segment"),
    )
    log = f"{batches}, {units.size(parts.log_bytes)} of .log in {segments}"
    yield f"{source.kind} {source.name}: {log}, as Kafka {source.version} reads it"
    yield from filter(
        None,
        [
            tuning_text.describe_left_out(
                source.inactive_segments, metadata_left_out=source.metadata_left_out
            )
        ],
    )
    if recommendation is None:
        yield "there is no batch: nothing can be said of a log that is empty"
        return
    name = tuning.BROKER_SETTING if source.kind == BROKER else tuning.SETTING
    yield from ("", tuning_text.headline(recommendation, name))
    yield from (
        line
        for reason in recommendation.reasons
        for line in _wrap("because", tuning_text.describe_reason(reason))
    )
    yield from (
        line
        for reason in recommendation.not_fixed
        for line in _wrap("not fixed", tuning_text.describe_reason(reason))
    )
    if recommendation.verdict == "change":
        topic = None if source.kind == BROKER else case.today.topic
        yield from ("", f"  {tuning_text.alter_line(tuning.SETTING, recommendation.value, topic)}")
        yield from _wrap("reaches", tuning_text.describe_reach(tuning.SETTING))
    yield from ("", *_render_basis(case, recommendation, costs))
    yield from _render_table(case, recommendation, costs)
    yield from _render_targets(recommendation)
    if source.kind == BROKER:
        yield from _render_topics(source, answers)
    yield from (
        f"left out: {archive.display_path(problem.path)}: {problem.what}"
        for problem in source.problems
    )


def _render_basis(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> Iterator[str]:
    """What is sure, what is modelled, and what else the setting touches."""
    from kafkaviz import units
    from kafkaviz.analysis import tuning
    from kafkaviz.analysis.tuning import reason_text as tuning_text

    yield from _wrap(
        "today", f"{tuning.SETTING} = {case.today.interval_bytes} ({case.today.interval_source})"
    )
    if case.today.inferred_settings:
        inferred_settings = (
            f"{name} = {getattr(case.today.config, name.replace('.', '_'))}"
            for name in case.today.inferred_settings
        )
        yield from _wrap(
            "inferred", f"{', '.join(inferred_settings)}, from the rolls: no file tells"
        )
    existing = (
        ""
        if case.disk_entries is None
        else f"; on disk there are {case.disk_entries[0]} and {case.disk_entries[1]}"
    )
    other = (
        ", and today's numbers are theirs"
        if case.disk_entries not in (None, case.replayed_entries)
        else ""
    )
    yield from _wrap(
        "sure",
        f"the replay of it has {case.replayed_entries[0]} offset and {case.replayed_entries[1]} "
        f"time entries{existing}{other}",
    )
    how = f"calibrated {costs.calibrated}" if costs.calibrated else "presets"
    each = costs.with_one_read_share(case.measurement.one_read_share).each_us
    half = ", half of what two reads a header take up to 4.0"
    half = ", of which half of what Java adds to two reads up to 4.0" if costs.calibrated else half
    legacy_note = (
        ", those of magic 0 and 1 with one read, "
        f"{units.share(case.measurement.one_read_share, 1)} of them"
    )
    note = half if costs.is_modelled else legacy_note if case.measurement.one_read_share else ""
    yield from _wrap(
        "modelled",
        f"{each.typical:.2g} µs a header ({each.low:.2g} to {each.high:.2g}){note}; {how}",
    )
    yield from _wrap("price", tuning_text.describe_price(recommendation.current_price))
    yield from _wrap(
        "limits",
        tuning_text.describe_limits(
            tuning.limits_at(case.measurement, case.today.config, recommendation.value)
        ),
    )
    footprint = tuning.footprint_at(case.measurement, case.today, recommendation.value)
    yield from _wrap("takes", tuning_text.describe_footprint(footprint, case.index_files))


def _render_table(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> Iterator[str]:
    """Today, what is considered, and round intervals around them."""
    from kafkaviz import units
    from kafkaviz.analysis.tuning import reason_text as tuning_text

    yield from (
        "",
        (
            f"{'interval':>12}{'entries':>12}{'index':>12}{'of log':>9}{'headers':>10}{'p99':>7}"
            f"{'max':>8}   "
            "p99 warm"
        ),
    )
    for interval, mark in _rows(case, recommendation, costs):
        row = interval.row
        index = (
            f"{units.size(int(row['index_bytes'])):>12}"
            f"{tuning_text.format_share(interval.index_share):>9}"
        )
        headers = f"{row['headers_mean']:>10.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
        words = f"   {tuning_text.format_us_range(interval.p99_us)}{'  ' if mark else ''}{mark}"
        yield f"{interval.interval_bytes:>12}{row['entries']:>12}{index}{headers}{words}"


def _rows(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> "Iterator[tuple[IntervalPrice, str]]":
    """(an interval with its prices, a word that marks it): today's as its index is on disk, and
    where the replay is another, that too.
    """
    from kafkaviz.analysis import tuning

    today = recommendation.current_price
    intervals = {1 << power for power in range(10, 21, 2)} | {recommendation.considered_bytes}
    for interval in tuning.price_all(case.measurement, costs):
        if interval.interval_bytes == today.interval_bytes:
            yield today, "today"
            if interval.row != today.row:
                yield interval, "replayed"
        elif interval.interval_bytes in intervals:
            yield (
                interval,
                "considered" if interval.interval_bytes == recommendation.considered_bytes else "",
            )


def _render_targets(recommendation: "Recommendation") -> Iterator[str]:
    """What lookups read by what they look for, today and with what is considered."""
    from kafkaviz.analysis import tuning

    intervals = [
        recommendation.current_price,
        *(
            [recommendation.proposed_price]
            if recommendation.considered_bytes != recommendation.current_price.interval_bytes
            else []
        ),
    ]
    yield from (
        "",
        f"{'headers by target':<24}"
        + "".join(f"{interval.interval_bytes:>16}{'p99':>7}{'max':>8}" for interval in intervals),
    )
    for name, words in TARGETS.items():
        rows = [tuning.by_target(interval)[name] for interval in intervals]
        if not math.isnan(rows[0]["headers_mean"]):
            cells = (
                f"{row['headers_mean']:>16.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
                for row in rows
            )
            yield f"  {words:<22}{''.join(cells)}"


def _render_topics(
    source: "TuningSource", answers: "Mapping[str, Recommendation | None]"
) -> Iterator[str]:
    """A line a topic, those to change first."""
    from kafkaviz import units
    from kafkaviz.analysis.tuning import reason_text as tuning_text

    yield from ("", "topics")
    cases = sorted(source.cases, key=lambda case: (_is_keep(answers.get(case.name)), case.name))
    for case in cases:
        recommendation = answers.get(case.name)
        text = "no batch" if recommendation is None else tuning_text.headline(recommendation)
        size = units.size(case.measurement.log_bytes)
        batch = "" if recommendation is None else f"{case.measurement.batch_bytes:.0f} B a batch"
        yield f"  {case.name:<28}{size:>10}{batch:>19}   {text}"
    if source.metadata_left_out:
        yield "  __cluster_metadata is left as it is: its small batches need their index"


def _is_keep(recommendation: "Recommendation | None") -> bool:
    return recommendation is None or recommendation.verdict == "keep"


def _wrap(label: str, words: str, width: int = 118) -> Iterator[str]:
    import textwrap

    start = f"  {label:<11}"
    yield from textwrap.wrap(
        output.to_one_line(words),
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
    )
