"""The text of a tuning: the change that saves most, three recommendations, and tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from kafkaviz import units
from kafkaviz.analysis.batching import ranking
from kafkaviz.analysis.batching.advice import BATCHES, CODEC, INDEX, BatchingAnswer
from kafkaviz.analysis.batching.producer_advice import CHANGE, BatchAdvice, CodecAdvice
from kafkaviz.analysis.batching.ranking import RankedTopic
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning import tuning_text as sentences
from kafkaviz.analysis.tuning.interval_cost import IntervalCost, compute_costs
from kafkaviz.analysis.tuning.measurement import BROKER_SETTING, SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.segment_size import SEGMENT_SETTING, advise_segment_sizes, limits_at
from kafkaviz.analysis.tuning.tuning_case import BROKER, TuningCase, TuningSource
from kafkaviz.cli.common import output
from kafkaviz.log.archives import archive
from kafkaviz.messages import Message, message, say
from kafkaviz.render.segment_text import left_out_text


def render(
    source: TuningSource,
    topics: Sequence[RankedTopic],
    recommendation: Recommendation | None,
    costs: LookupCosts,
) -> Iterator[str | Message]:
    """Yields the change that saves most, then the recommendations on batches, codec and index.

    The topic with the largest saving comes first. Without batches, `recommendation` is None.
    """
    case = source.total
    parts = case.measurement.parts
    measured = say(
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
    if recommendation is not None:
        main_sentence = ranking.main_sentence(topics, parts.log_bytes)
        yield from output.wrap(main_sentence, "", breaks_words=True)
    yield measured
    if left_out:
        yield left_out
    if recommendation is None:
        yield say("tuning_answer.no_batch")
        return
    if len(topics) > 1:
        yield from _render_broker_parts(topics)
    elif topics[0].batching:
        yield from _render_batches(topics[0].batching)
        yield from _render_codec(topics[0].batching)
    yield from _render_index(source, recommendation, costs)
    yield from _render_table(case, recommendation, costs)
    if source.kind == BROKER:
        yield from _render_topics(source, topics)
    yield from (
        say("cli_tune.left_out", path=archive.display_path(problem.path), problem=problem.what)
        for problem in source.problems
    )


def _render_batches(answer: BatchingAnswer) -> Iterator[str]:
    advice = answer.batches
    yield from _wrap_part(say("cli_tune.label_batches"), ranking.batches_headline(answer))
    if advice.verdict == CHANGE:
        yield from (f"  {line}" for line in ranking.setting_lines(advice))
        yield from _wrap(say("cli_tune.label_saves"), ranking.describe_effects(answer))
        yield from _wrap(say("cli_tune.label_price"), ranking.describe_batches_price(advice))
    yield from _render_advice_reasons(advice)
    sample = ranking.describe_sample(answer)
    text = message("batching_answer.known_batches", sample=sample)
    yield from _wrap(say("cli_tune.label_known"), text)


def _render_codec(answer: BatchingAnswer) -> Iterator[str]:
    advice = answer.codec
    yield from _wrap_part(say("cli_tune.label_codec"), ranking.codec_headline(advice))
    if advice.verdict == CHANGE:
        yield from (f"  {line}" for line in ranking.setting_lines(advice))
        saving = ranking.describe_saving(advice, answer.sample.log_bytes)
        yield from _wrap(say("cli_tune.label_saves"), saving)
        yield from _wrap(say("cli_tune.label_price"), ranking.describe_codec_price(advice))
    yield from _render_advice_reasons(advice)
    text = message("batching_answer.known_codec", sample=ranking.describe_sample(answer))
    yield from _wrap(say("cli_tune.label_known"), text)


def _render_advice_reasons(advice: BatchAdvice | CodecAdvice) -> Iterator[str]:
    for reason in ranking.main_reasons(advice):
        yield from _wrap(say("cli_tune.label_because"), ranking.describe_advice_reason(reason))


def _render_broker_parts(topics: Sequence[RankedTopic]) -> Iterator[str]:
    for part in (BATCHES, CODEC):
        savings = [
            (topic.case.name, saved_bytes)
            for topic in topics
            for changed, saved_bytes in topic.savings
            if changed == part
        ]
        text = message("batching_answer.broker_stays")
        if savings:
            text = message(
                "batching_answer.broker_part",
                n=len(savings),
                saved=sum(saved_bytes for _, saved_bytes in savings),
                names=sentences.describe_names([name for name, _ in savings]),
            )
        yield from _wrap_part(say(f"cli_tune.label_{part}"), text)


def render_what_if(comparison: tuple[WhatIf, WhatIf]) -> Iterator[str]:
    """Yields the results of rewriting a log: with today's settings, then with changed ones."""
    yield from ("", say("cli_tune.once_more"))
    for name, outcome in zip(
        (say("cli_tune.as_set"), say("common.what_if")), comparison, strict=True
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


def _render_index(
    source: TuningSource, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[str]:
    case = source.total
    is_broker = source.kind == BROKER
    topic = None if is_broker else case.today.topic
    text = sentences.headline(recommendation, BROKER_SETTING if is_broker else SETTING)
    if recommendation.verdict == TuningVerdict.KEEP:
        text = message("cli_tune.with_source", text=text, source=case.today.interval_source)
    yield from _wrap_part(say("cli_tune.head_index"), text)
    if recommendation.verdict == TuningVerdict.CHANGE:
        yield f"  {sentences.alter_line(SETTING, recommendation.value, topic)}"
        yield from _wrap("", sentences.describe_reach(SETTING))
    for reason in sentences.main_reasons(recommendation):
        yield from _wrap(say("cli_tune.label_because"), sentences.describe_reason(reason))
    price = sentences.describe_price(recommendation.current_cost)
    yield from _wrap(say("cli_tune.label_price"), price)
    limits = limits_at(case.measurement, case.today.config, recommendation.value)
    yield from _wrap(say("cli_tune.label_limits"), sentences.describe_limits(limits))
    yield from _render_segment_size(source, topic)
    yield from _render_unset(case)
    yield from _wrap(say("cli_tune.label_known"), sentences.describe_known(case, costs))
    if is_broker:
        yield from _wrap("", say("tuning_answer.weighted"))


def _render_segment_size(source: TuningSource, topic: str | None) -> Iterator[str]:
    _, advice = advise_segment_sizes(source)
    is_known = SEGMENT_SETTING not in source.total.today.unknown_settings
    line = sentences.setting_headline(
        SEGMENT_SETTING, advice.today.segment_bytes, advice.value, is_known=is_known
    )
    parts = (line, sentences.describe_segment_reason(advice))
    yield from _wrap(say("cli_tune.label_segments"), message("common.clauses", parts=parts))
    if advice.considered:
        yield f"  {sentences.alter_line(SEGMENT_SETTING, advice.value, topic)}"
        price = sentences.describe_segment_numbers(advice.considered)
        yield from _wrap(say("cli_tune.label_price"), price)
    yield from _wrap("", sentences.describe_segment_numbers(advice.today))


def _render_unset(case: TuningCase) -> Iterator[str]:
    """Yields the settings inferred from rolls, then the settings assumed to be Kafka's defaults."""
    if settings := _setting_texts(case, case.today.inferred_settings):
        text = say("cli_tune.from_the_rolls", settings=settings)
        yield from _wrap(say("tuning_answer.known_inferred"), text)
    if settings := _setting_texts(case, case.today.assumed_settings):
        source = message("setting_source.metadata_log_elsewhere")
        why = message("tuning_answer.interval_assumed", source=source)
        text = say("cli_tune.assumed", settings=settings, why=why)
        yield from _wrap(say("cli_tune.label_assumed"), text)


def _setting_texts(case: TuningCase, names: Iterable[str]) -> tuple[str, ...]:
    config = case.today.config
    return tuple(f"{name} = {getattr(config, name.replace('.', '_'))}" for name in names)


def _render_table(
    case: TuningCase, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[str]:
    """Yields a table of lookup costs with one row per index interval.

    The rows are 1, 4, 16, 64 and 256 KiB, 1 MiB, today's interval and the best interval.
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
        index = f"{index_bytes:>12}{sentences.format_share(interval.index_share):>9}"
        headers = f"{row['headers_mean']:>10.1f}{row['headers_p99']:>7}{row['headers_max']:>8}"
        range_text = output.to_one_line(sentences.format_us_range(interval.p99_us))
        words = f"   {range_text}{'  ' if mark else ''}{mark}"
        yield f"{interval.interval_bytes:>12}{row['entries']:>12}{index}{headers}{words}"


def _rows(
    case: TuningCase, recommendation: Recommendation, costs: LookupCosts
) -> Iterator[tuple[IntervalCost, str]]:
    """Yields a table row per index interval: (cost, mark). The mark is a word such as "today".

    The cost of today's interval is measured on the index on disk. If a replay with today's
    interval gives another cost, a second row has the cost of the replay.
    """
    today = recommendation.current_cost
    intervals = {1 << power for power in range(10, 21, 2)} | {recommendation.considered_bytes}
    for interval in compute_costs(case.measurement, costs):
        if interval.interval_bytes == today.interval_bytes:
            yield today, say("cli_tune.today")
            if interval.row != today.row:
                yield interval, say("cli_tune.mark_replayed")
        elif interval.interval_bytes in intervals:
            is_considered = interval.interval_bytes == recommendation.considered_bytes
            yield interval, say("common.considered") if is_considered else ""


def _render_topics(source: TuningSource, topics: Sequence[RankedTopic]) -> Iterator[str]:
    yield from ("", say("cli_tune.topics"))
    for topic in topics:
        lines = []
        # the index last
        for part, _ in sorted(topic.savings, key=lambda saving: saving[0] == INDEX):
            if part == INDEX:
                lines.append(f"{SETTING}={cast(Recommendation, topic.recommendation).value}")
            elif topic.batching:
                advice = topic.batching.batches if part == BATCHES else topic.batching.codec
                lines += ranking.setting_lines(advice)
        text = ", ".join(lines)
        if not lines:
            text = say("tuning.no_batch" if topic.recommendation is None else "curves.keep")
        size = units.format_bytes(topic.case.measurement.log_bytes)
        saved = units.format_bytes(topic.saved_bytes) if topic.saved_bytes else units.MISSING
        yield f"  {output.pad(topic.case.name, 28)}{size:>10}{saved:>12}   {text}"
    if source.metadata_left_out:
        yield f"  {say('cli_tune.metadata_left')}"


def _wrap_part(label: str, text: str | Message) -> Iterator[str]:
    yield from ("", *_wrap(label, text))


def _wrap(label: str, text: str | Message) -> Iterator[str]:
    return output.wrap(text, f"  {output.pad(label, 11)}", breaks_words=True)
