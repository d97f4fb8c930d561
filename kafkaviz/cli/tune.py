"""kafkaviz tune: what another index interval would have cost a log, and whether to change it."""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkaviz.cli.common import output
from kafkaviz.cli.common.options import parse_setting
from kafkaviz.messages import Message, message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.cost.cost_model import LookupPrices
    from kafkaviz.analysis.rebuild.what_if import WhatIf
    from kafkaviz.analysis.tuning import Budgets, IntervalPrice, Recommendation
    from kafkaviz.analysis.tuning.source import TuningCase, TuningSource

BUDGETS = {"p99": "p99_us", "cold-p99": "cold_p99_us", "cores": "cores", "index": "index_share"}
UNITS_US = {"us": 1.0, "µs": 1.0, "ms": 1000.0, "s": 1e6}
TARGETS = {
    "base_offset": "cli_tune.target_base_offset",
    "every_offset": "cli_tune.target_every_offset",
    "timestamp": "cli_tune.target_timestamp",
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
    from kafkaviz.analysis import tuning
    from kafkaviz.analysis.cost import calibration, cost_model
    from kafkaviz.analysis.tuning.json_object import tuning_object, what_if_object
    from kafkaviz.analysis.tuning.source import open_source

    budgets = _budgets(args)
    source = open_source(args.source, args.kafka_version, dict(args.typed), on_progress=_show)
    _clear()
    output.say_newer(source.assumed_release.newer_than_known)
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
        sys.stderr.write(f"\r{output.to_one_line(say('cli.reading', what=name))}\x1b[K")


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def _parse_budget(text: str) -> tuple[str, float | None]:
    """p99=50us as ("p99_us", 50.0); 50us alone is that of p99."""
    name, equals, value = text.partition("=")
    name, value = (name, value) if equals else ("p99", text)
    if name not in BUDGETS:
        raise argparse.ArgumentTypeError(say("cli_tune.no_budget", name=name, names=tuple(BUDGETS)))
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
        say("cli_tune.no_amount", text=text, name=name, example=example)
    )


def _parse_rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e12:
        raise argparse.ArgumentTypeError(say("cli_tune.no_rate", text=text))
    return number


def _budgets(args: argparse.Namespace) -> "Budgets":
    from kafkaviz.analysis.tuning import Budgets
    from kafkaviz.errors import KafkavizError

    budgets = Budgets(**(dict(args.budgets) | {"fetches_per_s": args.fetches}))
    if budgets.cores is not None and budgets.fetches_per_s is None:
        raise KafkavizError(message("errors.cores_need_fetches"))
    return budgets


# ---- what if


def _what_if(source: "TuningSource", changed: Mapping[str, str]) -> "tuple[WhatIf, WhatIf]":
    """The log once more, with its settings and with others; the sum over a topic's partitions."""
    from kafkaviz import config_def, versions
    from kafkaviz.analysis.rebuild import what_if
    from kafkaviz.errors import KafkavizError, RefusedSetting

    case = source.total
    if case.logs is None:
        raise KafkavizError(message("errors.what_if_needs_log"))
    release, fields = versions.parse(source.version), {}
    for setting_name, text in changed.items():
        name, value = config_def.parse(setting_name, text, release)
        field = name.replace(".", "_")
        if field not in type(case.today.config).__dataclass_fields__:
            raise RefusedSetting(setting_name, text, message("errors.setting_has_no_effect"))
        fields[field] = value
    return what_if.compare(
        case.logs, case.today.config, fields, source.behaviour, is_leader=case.is_leader
    )


def _render_what_if(comparison: "tuple[WhatIf, WhatIf]") -> Iterator[str]:

    yield from ("", say("cli_tune.once_more"))
    for name, outcome in zip(
        (say("cli_tune.as_set"), say("cli_tune.what_if")), comparison, strict=True
    ):
        rolls = tuple(
            message("rolls.by_cause", n=count, cause=message(f"roll_cause.{cause}"))
            for cause, count in outcome.rolls.items()
        ) or (message("common.none"),)
        entries = message(
            "cli_tune.index_entries",
            offsets=outcome.offset_entries,
            times=outcome.time_entries,
            size=outcome.index_bytes,
        )
        yield "  " + say(
            "cli_tune.outcome",
            name=output.pad(name, 8),
            segments=message("common.n_segments", n=outcome.segments),
            rolls=rolls,
            entries=entries,
            maps=outcome.maps,
            files=outcome.files,
        )


# ---- as text


def _render(
    source: "TuningSource",
    answers: "Mapping[str, Recommendation | None]",
    recommendation: "Recommendation | None",
    costs: "LookupPrices",
) -> Iterator[str | Message]:
    from kafkaviz.analysis import tuning
    from kafkaviz.analysis.tuning import tuning_text as tuning_text
    from kafkaviz.analysis.tuning.source import BROKER
    from kafkaviz.log.archives import archive

    case = source.total
    parts = case.measurement.parts
    yield say(
        f"cli_tune.measured_{source.kind}",
        name=source.name,
        batches=message("common.n_batches", n=parts.batches),
        log=parts.log_bytes,
        segments=message("common.n_segments", n=case.measurement.segments),
        version=source.version,
    )
    yield from filter(
        None,
        [
            tuning_text.describe_left_out(
                source.inactive_segments, metadata_left_out=source.metadata_left_out
            )
        ],
    )
    if recommendation is None:
        yield say("tuning_answer.no_batch")
        return
    name = tuning.BROKER_SETTING if source.kind == BROKER else tuning.SETTING
    yield from ("", tuning_text.headline(recommendation, name))
    yield from (
        line
        for reason in recommendation.reasons
        for line in _wrap(say("cli_tune.label_because"), tuning_text.describe_reason(reason))
    )
    yield from (
        line
        for reason in recommendation.not_fixed
        for line in _wrap(say("cli_tune.label_not_fixed"), tuning_text.describe_reason(reason))
    )
    if recommendation.verdict == "change":
        topic = None if source.kind == BROKER else case.today.topic
        yield from ("", f"  {tuning_text.alter_line(tuning.SETTING, recommendation.value, topic)}")
        yield from _wrap(say("cli_tune.label_reaches"), tuning_text.describe_reach(tuning.SETTING))
    yield from ("", *_render_basis(case, recommendation, costs))
    yield from _render_table(case, recommendation, costs)
    yield from _render_targets(recommendation)
    if source.kind == BROKER:
        yield from _render_topics(source, answers)
    yield from (
        say("cli_tune.left_out", path=archive.display_path(problem.path), what=problem.what)
        for problem in source.problems
    )


def _render_basis(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> Iterator[str]:
    """What is sure, what is modelled, and what else the setting touches."""
    from kafkaviz.analysis import tuning
    from kafkaviz.analysis.tuning import tuning_text as tuning_text

    yield from _wrap(
        say("cli_tune.today"),
        say(
            "cli_tune.setting_from",
            name=tuning.SETTING,
            value=case.today.interval_bytes,
            source=case.today.interval_source,
        ),
    )
    if case.today.inferred_settings:
        inferred_settings = (
            f"{name} = {getattr(case.today.config, name.replace('.', '_'))}"
            for name in case.today.inferred_settings
        )
        yield from _wrap(
            say("cli_tune.label_inferred"),
            say("cli_tune.from_the_rolls", settings=tuple(inferred_settings)),
        )
    sure = "sure_as_replayed"
    if case.disk_entries is not None:
        sure = "sure_same" if case.disk_entries == case.replayed_entries else "sure_other"

    yield from _wrap(
        say("cli_tune.label_sure"),
        say(
            f"cli_tune.{sure}",
            offsets=case.replayed_entries[0],
            times=case.replayed_entries[1],
            there_offsets=case.disk_entries[0] if case.disk_entries else None,
            there_times=case.disk_entries[1] if case.disk_entries else None,
        ),
    )
    how = (
        message("cli_tune.calibrated", day=costs.calibrated)
        if costs.calibrated
        else message("cli_tune.presets")
    )
    each = costs.with_one_read_share(case.measurement.one_read_share).each_us
    header_price = "header_price"
    if costs.is_modelled:
        header_price = "header_price_java" if costs.calibrated else "header_price_half"
    elif case.measurement.one_read_share:
        header_price = "header_price_old"

    yield from _wrap(
        say("cli_tune.label_modelled"),
        say(
            f"cli_tune.{header_price}",
            typical=each.typical,
            low=each.low,
            high=each.high,
            share=case.measurement.one_read_share,
            how=how,
        ),
    )
    yield from _wrap(
        say("cli_tune.label_price"), tuning_text.describe_price(recommendation.current_price)
    )
    yield from _wrap(
        say("cli_tune.label_limits"),
        tuning_text.describe_limits(
            tuning.limits_at(case.measurement, case.today.config, recommendation.value)
        ),
    )
    footprint = tuning.footprint_at(case.measurement, case.today, recommendation.value)
    yield from _wrap(
        say("cli_tune.label_takes"), tuning_text.describe_footprint(footprint, case.index_files)
    )


def _render_table(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> Iterator[str]:
    """Today, what is considered, and round intervals around them."""
    from kafkaviz import units
    from kafkaviz.analysis.tuning import tuning_text as tuning_text

    heads = (
        ("interval", 12), ("entries", 12), ("index", 12), ("of_log", 9), ("headers", 10),
        ("p99", 7), ("max", 8),
    )  # fmt: skip
    cells = (output.pad(say(f"cli_tune.head_{name}"), width, ">") for name, width in heads)
    yield from ("", f"{''.join(cells)}   {say('cli_tune.head_p99_warm')}")
    for interval, mark in _rows(case, recommendation, costs):
        row = interval.row
        index = (
            f"{units.size(int(row['index_bytes'])):>12}"
            f"{tuning_text.format_share(interval.index_share):>9}"
        )
        headers = f"{row['headers_mean']:>10.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
        range_text = output.to_one_line(tuning_text.format_us_range(interval.p99_us))
        words = f"   {range_text}{'  ' if mark else ''}{mark}"
        yield f"{interval.interval_bytes:>12}{row['entries']:>12}{index}{headers}{words}"


def _rows(
    case: "TuningCase", recommendation: "Recommendation", costs: "LookupPrices"
) -> "Iterator[tuple[IntervalPrice, str]]":
    """The rows of the table.

    Today's interval as its index is on disk, and where the replay is another, that too.

    Yields:
        An interval with its prices, and a word that marks it.
    """
    from kafkaviz.analysis import tuning

    today = recommendation.current_price
    intervals = {1 << power for power in range(10, 21, 2)} | {recommendation.considered_bytes}
    for interval in tuning.price_all(case.measurement, costs):
        if interval.interval_bytes == today.interval_bytes:
            yield today, say("cli_tune.today")
            if interval.row != today.row:
                yield interval, say("cli_tune.mark_replayed")
        elif interval.interval_bytes in intervals:
            yield (
                interval,
                say("common.considered")
                if interval.interval_bytes == recommendation.considered_bytes
                else "",
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
        output.pad(say("cli_tune.headers_by_target"), 24)
        + "".join(
            f"{interval.interval_bytes:>16}{'p99':>7}{output.pad(say('cli_tune.head_max'), 8, '>')}"
            for interval in intervals
        ),
    )
    for name, words in TARGETS.items():
        rows = [tuning.by_target(interval)[name] for interval in intervals]
        if not math.isnan(rows[0]["headers_mean"]):
            cells = (
                f"{row['headers_mean']:>16.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
                for row in rows
            )
            yield f"  {output.pad(say(words), 22)}{''.join(cells)}"


def _render_topics(
    source: "TuningSource", answers: "Mapping[str, Recommendation | None]"
) -> Iterator[str]:
    """A line a topic, those to change first."""
    from kafkaviz import units
    from kafkaviz.analysis.tuning import tuning_text as tuning_text

    yield from ("", say("cli_tune.topics"))
    cases = sorted(source.cases, key=lambda case: (_is_keep(answers.get(case.name)), case.name))
    for case in cases:
        recommendation = answers.get(case.name)
        text = output.to_one_line(
            message("tuning.no_batch")
            if recommendation is None
            else tuning_text.headline(recommendation)
        )
        size = units.size(case.measurement.log_bytes)
        batch = (
            ""
            if recommendation is None
            else say("cli_tune.bytes_a_batch", batch=case.measurement.batch_bytes)
        )
        yield f"  {output.pad(case.name, 28)}{size:>10}{output.pad(batch, 19, '>')}   {text}"
    if source.metadata_left_out:
        yield f"  {say('cli_tune.metadata_left')}"


def _is_keep(recommendation: "Recommendation | None") -> bool:
    return recommendation is None or recommendation.verdict == "keep"


def _wrap(label: str, text: str | Message) -> Iterator[str]:
    return output.wrap(text, f"  {output.pad(label, 11)}", breaks_words=True)
