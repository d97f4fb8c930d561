"""The text of a tuning: the verdict, its reasons, and the table of intervals."""

import math
from collections.abc import Iterator, Mapping

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning import IntervalCost, Recommendation, index_size
from kafkaviz.analysis.tuning.tuning_case import BROKER, TuningCase, TuningSource
from kafkaviz.analysis.tuning.tuning_text import (
    alter_line,
    describe_footprint,
    describe_limits,
    describe_price,
    describe_reach,
    describe_reason,
    format_share,
    format_us_range,
    headline,
)
from kafkaviz.cli.common import output
from kafkaviz.figures.text.segment_text import left_out_text
from kafkaviz.log.archives import archive
from kafkaviz.messages import Message, message, say

SHOWN_INDEX_SIZES = tuple(1 << power for power in range(8, 25, 4))  # 256 B to 16 MiB
TARGETS = {
    "base_offset": "cli_tune.target_base_offset",
    "every_offset": "cli_tune.target_every_offset",
    "timestamp": "cli_tune.target_timestamp",
}


def render(
    source: TuningSource,
    answers: Mapping[str, Recommendation | None],
    recommendation: Recommendation | None,
    costs: LookupCosts,
) -> Iterator[str | Message]:
    """Yields the answer for a measured source, its basis, and a broker's topics.

    Args:
        answers: the answer for each case of the source, by name.
        recommendation: the answer for the complete source; None if it has no batches.
    """
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
    left_out = left_out_text(
        source.inactive_segments, is_metadata_left_out=source.metadata_left_out
    )
    if left_out:
        yield left_out
    if recommendation is None:
        yield say("tuning_answer.no_batch")
        return
    name = tuning.BROKER_SETTING if source.kind == BROKER else tuning.SETTING
    yield from ("", headline(recommendation, name))
    yield from (
        line
        for reason in recommendation.reasons
        for line in _wrap(say("cli_tune.label_because"), describe_reason(reason))
    )
    yield from (
        line
        for reason in recommendation.not_fixed
        for line in _wrap(say("cli_tune.label_not_fixed"), describe_reason(reason))
    )
    if recommendation.verdict == "change":
        topic = None if source.kind == BROKER else case.today.topic
        yield from ("", f"  {alter_line(tuning.SETTING, recommendation.value, topic)}")
        yield from _wrap(say("cli_tune.label_reaches"), describe_reach(tuning.SETTING))
    yield from ("", *_render_basis(case, recommendation, costs))
    yield from _render_table(case, recommendation, costs)
    yield from _render_targets(recommendation)
    yield from _render_index_sizes(source, costs)
    if source.kind == BROKER:
        yield from _render_topics(source, answers)
    yield from (
        say("cli_tune.left_out", path=archive.display_path(problem.path), problem=problem.what)
        for problem in source.problems
    )


def render_what_if(comparison: tuple[WhatIf, WhatIf]) -> Iterator[str]:
    """Yields the results of rewriting a log with its own and with other settings."""
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


def _render_basis(
    case: TuningCase, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[str]:
    """Yields the exact values, the modelled ones, and the other effects of the setting."""
    yield from _render_current(case)
    yield from _render_entries(case)
    yield from _render_header_cost(case, costs)
    yield from _wrap(say("cli_tune.label_price"), describe_price(recommendation.current_cost))
    yield from _wrap(
        say("cli_tune.label_limits"),
        describe_limits(
            tuning.limits_at(case.measurement, case.today.config, recommendation.value)
        ),
    )
    footprint = tuning.footprint_at(case.measurement, case.today, recommendation.value)
    yield from _wrap(say("cli_tune.label_takes"), describe_footprint(footprint, case.index_files))


def _render_current(case: TuningCase) -> Iterator[str]:
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
    if case.today.assumed_settings:
        assumed_settings = (
            f"{name} = {getattr(case.today.config, name.replace('.', '_'))}"
            for name in case.today.assumed_settings
        )
        source = message("setting_source.metadata_log_elsewhere")
        yield from _wrap(
            say("cli_tune.label_assumed"),
            say(
                "cli_tune.assumed",
                settings=tuple(assumed_settings),
                why=message("tuning_answer.interval_assumed", source=source),
            ),
        )


def _render_entries(case: TuningCase) -> Iterator[str]:
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


def _render_header_cost(case: TuningCase, costs: LookupCosts) -> Iterator[str]:
    how = (
        message("cli_tune.calibrated", day=costs.calibrated)
        if costs.calibrated
        else message("cli_tune.presets")
    )
    each = costs.with_one_read_share(case.measurement.one_read_share).each_us
    header_cost = "header_cost"
    if costs.reads_once:
        header_cost = "header_cost_java" if costs.calibrated else "header_cost_half"
    elif case.measurement.one_read_share:
        header_cost = "header_cost_old"
    yield from _wrap(
        say("cli_tune.label_modelled"),
        say(
            f"cli_tune.{header_cost}",
            typical=each.typical,
            low=each.low,
            high=each.high,
            share=case.measurement.one_read_share,
            how=how,
        ),
    )


def _render_table(
    case: TuningCase, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[str]:
    """Yields the lines of the table of costs.

    The rows are today's interval, the considered one, and 1 KiB, 4 KiB, 16 KiB and so on up to 1
    MiB.
    """
    heads = (
        ("interval", 12), ("entries", 12), ("index", 12), ("of_log", 9), ("headers", 10),
        ("p99", 7), ("max", 8),
    )  # fmt: skip
    cells = (output.pad(say(f"cli_tune.head_{name}"), width, ">") for name, width in heads)
    yield from ("", f"{''.join(cells)}   {say('cli_tune.head_p99_warm')}")
    for interval, mark in _rows(case, recommendation, costs):
        row = interval.row
        index_bytes = units.format_bytes(int(row["index_bytes"]))
        index = f"{index_bytes:>12}{format_share(interval.index_share):>9}"
        headers = f"{row['headers_mean']:>10.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
        range_text = output.to_one_line(format_us_range(interval.p99_us))
        words = f"   {range_text}{'  ' if mark else ''}{mark}"
        yield f"{interval.interval_bytes:>12}{row['entries']:>12}{index}{headers}{words}"


def _rows(
    case: TuningCase, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[tuple[IntervalCost, str]]:
    """Yields the rows of the table: an interval with its prices, and a word that marks it.

    Today's interval is measured on the index on disk. If the replay differs, it has another row.
    """
    today = recommendation.current_cost
    intervals = {1 << power for power in range(10, 21, 2)} | {recommendation.considered_bytes}
    for interval in tuning.compute_costs(case.measurement, costs):
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


def _render_targets(recommendation: Recommendation) -> Iterator[str]:
    intervals = [
        recommendation.current_cost,
        *(
            [recommendation.proposed_cost]
            if recommendation.considered_bytes != recommendation.current_cost.interval_bytes
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


def _render_index_sizes(source: TuningSource, costs: LookupCosts) -> Iterator[str]:
    """Yields the effect of several index sizes; nothing for a broker or a single .log."""
    case = source.total
    today_bytes = case.today.config.segment_index_bytes
    outcomes = [
        outcome
        for outcome in index_size.sweep_source(source)
        if outcome.index_bytes in {*SHOWN_INDEX_SIZES, today_bytes}
    ]
    if not outcomes:
        return
    costs = costs.with_one_read_share(case.measurement.one_read_share)
    heads = {
        "cli_tune.head_index_size": 12,
        "index_size.line_log": 14,
        "cli_tune.head_rolls_a_gib": 13,
        "index_size.line_probes": 9,
        "index_size.line_pages": 8,
        "index_size.line_cold_reads": 12,
    }
    cells = (output.pad(say(name), width, ">") for name, width in heads.items())
    yield from ("", f"{''.join(cells)}   {say('cli_tune.head_mean_cold')}")
    for outcome in outcomes:
        search = outcome.search()
        range_text = output.to_one_line(format_us_range(outcome.cold_us(costs)))
        ends = say("cli_tune.ended_by", cause=message(f"roll_cause.{outcome.cause}"))
        mark = f", {say('cli_tune.today')}" if outcome.index_bytes == today_bytes else ""
        yield (
            f"{outcome.index_bytes:>12}{units.format_bytes(outcome.log_bytes):>14}"
            f"{outcome.rolls_per_gib:>13.1f}{search.mean_probes:>9.1f}{search.mean_pages:>8.1f}"
            f"{outcome.cold_index_reads:>12.1f}   {range_text}  {ends}{mark}"
        )


def _render_topics(
    source: TuningSource, answers: Mapping[str, Recommendation | None]
) -> Iterator[str]:
    yield from ("", say("cli_tune.topics"))
    cases = sorted(source.cases, key=lambda case: (_is_keep(answers.get(case.name)), case.name))
    for case in cases:
        recommendation = answers.get(case.name)
        text = output.to_one_line(
            message("tuning.no_batch") if recommendation is None else headline(recommendation)
        )
        size = units.format_bytes(case.measurement.log_bytes)
        batch = (
            ""
            if recommendation is None
            else say("cli_tune.bytes_a_batch", batch=case.measurement.batch_bytes)
        )
        yield f"  {output.pad(case.name, 28)}{size:>10}{output.pad(batch, 19, '>')}   {text}"
    if source.metadata_left_out:
        yield f"  {say('cli_tune.metadata_left')}"


def _is_keep(recommendation: Recommendation | None) -> bool:
    return recommendation is None or recommendation.verdict == "keep"


def _wrap(label: str, text: str | Message) -> Iterator[str]:
    return output.wrap(text, f"  {output.pad(label, 11)}", breaks_words=True)
