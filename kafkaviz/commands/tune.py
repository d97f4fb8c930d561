"""kafkaviz tune: what another index interval would have cost a log, and whether to change it."""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkaviz.commands.printing import output
from kafkaviz.commands.printing.options import setting

if TYPE_CHECKING:
    from kafkaviz.analyse.cost_model import Costs
    from kafkaviz.analyse.tuning import At, Budgets, Recommendation
    from kafkaviz.analyse.tuning.source import Case, Source
    from kafkaviz.analyse.what_if import WhatIf

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
        type=_budget,
        help="what is allowed: p99=50us, cold-p99=5ms, cores=0.5, index=1%%; may be repeated",
    )
    parser.add_argument(
        "--fetches",
        metavar="N",
        type=_rate,
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
        type=setting,
        help="a setting; may be repeated",
    )
    parser.add_argument(
        "--what-if",
        metavar="NAME=VALUE",
        dest="changed",
        action="append",
        default=[],
        type=setting,
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
    from kafkaviz.analyse import calibration, cost_model, tuning
    from kafkaviz.analyse.tuning.as_object import as_object, what_if_object
    from kafkaviz.analyse.tuning.source import open_source

    budgets = _budgets(args)
    source = open_source(args.source, args.kafka_version, dict(args.typed), watch=_show)
    _clear()
    output.say_newer(source.because)
    costs = cost_model.costs(source.by_base_offset, args.storage, measured=calibration.kept())
    answers, whole = tuning.answers(source.cases, source.whole, budgets, costs)
    replayed = _what_if(source, dict(args.changed)) if args.changed else None
    if args.json:
        found = as_object(source, answers, whole, budgets, costs)
        if replayed:
            found["what_if"] = {
                name: what_if_object(one)
                for name, one in zip(("today", "changed"), replayed, strict=True)
            }
        output.say_json(found)
    else:
        output.say(_words(source, answers, whole, costs))
        output.say(_what_if_words(replayed) if replayed else ())
    return 0


def _show(name: str, share: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\rreading {output.plain(name)}\x1b[K")


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def _budget(text: str) -> tuple[str, float | None]:
    """p99=50us as ("p99_us", 50.0); 50us alone is that of p99."""
    name, equals, value = text.partition("=")
    name, value = (name, value) if equals else ("p99", text)
    if name not in BUDGETS:
        raise argparse.ArgumentTypeError(f"{name!r} is no budget; there are {', '.join(BUDGETS)}")
    return BUDGETS[name], None if value == "none" else _amount(name, value)


def _amount(name: str, text: str) -> float:
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(us|µs|ms|s|%)?", text)
    unit = found[2] if found else None
    number = float(found[1]) if found else math.nan
    if found and name.endswith("p99") and unit in UNITS_US:
        return number * UNITS_US[unit]
    if found and name == "index" and unit == "%":
        return number / 100
    if found and name == "cores" and unit is None:
        return number
    example = {"p99": "50us", "cold-p99": "5ms", "cores": "0.5", "index": "1%"}[name]
    raise argparse.ArgumentTypeError(
        f"{text!r} is no amount of {name}; give one such as {example}, or none"
    )


def _rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of fetches a second")
    return number


def _budgets(args: argparse.Namespace) -> "Budgets":
    from kafkaviz.analyse.tuning import Budgets
    from kafkaviz.errors import KafkavizError

    found = Budgets(**(dict(args.budgets) | {"fetches_per_s": args.fetches}))
    if found.cores is not None and found.fetches_per_s is None:
        raise KafkavizError(
            "a budget of cores needs --fetches, how many a second look something up"
        )
    return found


# ---- what if


def _what_if(source: "Source", changed: Mapping[str, str]) -> "tuple[WhatIf, WhatIf]":
    """The log once more, with its settings and with others; the sum over a topic's partitions."""
    from kafkaviz import config_def, versions
    from kafkaviz.analyse import what_if
    from kafkaviz.errors import KafkavizError, RefusedSetting

    case = source.whole
    if case.logs is None:
        raise KafkavizError(
            "--what-if needs a whole log: give a partition directory, a topic or a workload"
        )
    release, fields = versions.parse(source.version), {}
    for given, text in changed.items():
        name, value = config_def.parse(given, text, release)
        field = name.replace(".", "_")
        if field not in type(case.today.config).__dataclass_fields__:
            raise RefusedSetting(given, text, "has no effect on what is written")
        fields[field] = value
    return what_if.compare(case.logs, case.today.config, fields, source.of, case.is_leader)


def _what_if_words(replayed: "tuple[WhatIf, WhatIf]") -> Iterator[str]:
    from kafkaviz import units

    yield from ("", "written once more, as it is set and as asked")
    for name, one in zip(("as set", "what if"), replayed, strict=True):
        rolls = ", ".join(f"{count} by {cause}" for cause, count in one.rolls.items()) or "none"
        entries = (
            f"{one.offset_entries} offset and {one.time_entries} time entries, "
            f"{units.size(one.index_bytes)}"
        )
        yield (
            f"  {name:<8}{units.many(one.segments, 'segment')}, rolls: {rolls}; {entries}; "
            f"{one.maps} maps, {one.files} files"
        )


# ---- as text


def _words(
    source: "Source",
    answers: "Mapping[str, Recommendation | None]",
    whole: "Recommendation | None",
    costs: "Costs",
) -> Iterator[str]:
    from kafkaviz import units
    from kafkaviz.analyse import tuning
    from kafkaviz.analyse.tuning import words as tuning_words
    from kafkaviz.analyse.tuning.source import BROKER
    from kafkaviz.log import archive

    case = source.whole
    parts = case.measured.parts
    batches, segments = (
        units.many(parts.batches, "batch", "batches"),
        units.many(case.measured.segments, "segment"),
    )
    log = f"{batches}, {units.size(parts.log_bytes)} of .log in {segments}"
    yield f"{source.kind} {source.name}: {log}, as Kafka {source.version} reads it"
    yield from filter(None, [tuning_words.left_out_words(source.unused, source.metadata_left_out)])
    if whole is None:
        yield "there is no batch: nothing can be said of a log that is empty"
        return
    name = tuning.BROKER_SETTING if source.kind == BROKER else tuning.SETTING
    yield from ("", tuning_words.headline(whole, name))
    yield from (
        line for why in whole.because for line in _wrapped("because", tuning_words.words(why))
    )
    yield from (
        line for why in whole.not_fixed for line in _wrapped("not fixed", tuning_words.words(why))
    )
    if whole.verdict == "change":
        topic = None if source.kind == BROKER else case.today.topic
        yield from ("", f"  {tuning_words.alter_line(tuning.SETTING, whole.value, topic)}")
        yield from _wrapped("reaches", tuning_words.reach_words(tuning.SETTING))
    yield from ("", *_known(case, whole, costs))
    yield from _table(case, whole, costs)
    yield from _by_target(whole)
    if source.kind == BROKER:
        yield from _topics(source, answers)
    yield from (f"left out: {archive.given(one.path)}: {one.what}" for one in source.problems)


def _known(case: "Case", whole: "Recommendation", costs: "Costs") -> Iterator[str]:
    """What is sure, what is modelled, and what else the setting touches."""
    from kafkaviz import units
    from kafkaviz.analyse import tuning
    from kafkaviz.analyse.tuning import words as tuning_words

    yield from _wrapped(
        "today", f"{tuning.SETTING} = {case.today.interval_bytes} ({case.today.interval_source})"
    )
    if case.today.inferred:
        known = (
            f"{name} = {getattr(case.today.config, name.replace('.', '_'))}"
            for name in case.today.inferred
        )
        yield from _wrapped("inferred", f"{', '.join(known)}, from the rolls: no file tells")
    held = "" if case.held is None else f"; on disk there are {case.held[0]} and {case.held[1]}"
    other = ", and today's numbers are theirs" if case.held not in (None, case.replayed) else ""
    yield from _wrapped(
        "sure",
        f"the replay of it has {case.replayed[0]} offset and {case.replayed[1]} time entries{held}"
        f"{other}",
    )
    how = f"calibrated {costs.calibrated}" if costs.calibrated else "presets"
    each = costs.of(case.measured.one_read_share).each_us
    half = ", half of what two reads a header take up to 4.0"
    half = ", of which half of what Java adds to two reads up to 4.0" if costs.calibrated else half
    old = (
        f", those of magic 0 and 1 with one read, {units.share(case.measured.one_read_share, 1)} "
        "of them"
    )
    why = half if costs.is_modelled else old if case.measured.one_read_share else ""
    yield from _wrapped(
        "modelled",
        f"{each.typical:.2g} µs a header ({each.low:.2g} to {each.high:.2g}){why}; {how}",
    )
    yield from _wrapped("price", tuning_words.price_words(whole.today))
    yield from _wrapped(
        "limits",
        tuning_words.limit_words(tuning.limits_at(case.measured, case.today.config, whole.value)),
    )
    takes = tuning.footprint_at(case.measured, case.today, whole.value)
    yield from _wrapped("takes", tuning_words.footprint_words(takes, case.index_files))


def _table(case: "Case", whole: "Recommendation", costs: "Costs") -> Iterator[str]:
    """Today, what is considered, and round intervals around them."""
    from kafkaviz import units
    from kafkaviz.analyse.tuning import words as tuning_words

    yield from (
        "",
        (
            f"{'interval':>12}{'entries':>12}{'index':>12}{'of log':>9}{'headers':>10}{'p99':>7}"
            f"{'max':>8}   "
            "p99 warm"
        ),
    )
    for one, mark in _rows(case, whole, costs):
        row = one.row
        index = f"{units.size(int(row['index_bytes'])):>12}{tuning_words.share(one.index_share):>9}"
        headers = f"{row['headers_mean']:>10.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
        words = f"   {tuning_words.us_range(one.p99_us)}{'  ' if mark else ''}{mark}"
        yield f"{one.interval_bytes:>12}{row['entries']:>12}{index}{headers}{words}"


def _rows(case: "Case", whole: "Recommendation", costs: "Costs") -> "Iterator[tuple[At, str]]":
    """(an interval with its prices, a word that marks it): today's as its index is on disk, and
    where the replay is another, that too.
    """
    from kafkaviz.analyse import tuning

    now = whole.today
    shown = {1 << power for power in range(10, 21, 2)} | {whole.considered}
    for one in tuning.every(case.measured, costs):
        if one.interval_bytes == now.interval_bytes:
            yield now, "today"
            if one.row != now.row:
                yield one, "replayed"
        elif one.interval_bytes in shown:
            yield one, "considered" if one.interval_bytes == whole.considered else ""


def _by_target(whole: "Recommendation") -> Iterator[str]:
    """What lookups read by what they look for, today and with what is considered."""
    from kafkaviz.analyse import tuning

    shown = [
        whole.today,
        *([whole.proposed] if whole.considered != whole.today.interval_bytes else []),
    ]
    yield from (
        "",
        f"{'headers by target':<24}"
        + "".join(f"{one.interval_bytes:>16}{'p99':>7}{'max':>8}" for one in shown),
    )
    for name, words in TARGETS.items():
        rows = [tuning.by_target(one)[name] for one in shown]
        if not math.isnan(rows[0]["headers_mean"]):
            told = (
                f"{row['headers_mean']:>16.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
                for row in rows
            )
            yield f"  {words:<22}{''.join(told)}"


def _topics(source: "Source", answers: "Mapping[str, Recommendation | None]") -> Iterator[str]:
    """A line a topic, those to change first."""
    from kafkaviz import units
    from kafkaviz.analyse.tuning import words as tuning_words

    yield from ("", "topics")
    ordered = sorted(source.cases, key=lambda case: (_keeps(answers.get(case.name)), case.name))
    for case in ordered:
        one = answers.get(case.name)
        told = "no batch" if one is None else tuning_words.headline(one)
        size = units.size(case.measured.log_bytes)
        batch = "" if one is None else f"{case.measured.batch_bytes:.0f} B a batch"
        yield f"  {case.name:<28}{size:>10}{batch:>19}   {told}"
    if source.metadata_left_out:
        yield "  __cluster_metadata is left as it is: its small batches need their index"


def _keeps(one: "Recommendation | None") -> bool:
    return one is None or one.verdict == "keep"


def _wrapped(label: str, words: str, width: int = 118) -> Iterator[str]:
    import textwrap

    start = f"  {label:<11}"
    yield from textwrap.wrap(
        output.plain(words),
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
    )
