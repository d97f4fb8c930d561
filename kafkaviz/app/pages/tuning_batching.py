"""The tabs Batches and Codec: what producers could change, measured on the topic's own records."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.batching.advice import BatchingAnswer, rank_changes
from kafkaviz.app import page_state
from kafkaviz.app.pages import tuning_scopes
from kafkaviz.app.pages.tuning_context import TuningContext, render_answer
from kafkaviz.app.state import measure_jobs
from kafkaviz.app.state.measure_jobs import BatchingJob
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.tuning import batching_view, setting_rows
from kafkaviz.figures.tuning.batching_view import PartVerdict
from kafkaviz.html import tag
from kafkaviz.messages import say
from kafkaviz.render.sentences import join_comma

WIDTHS = (0.4594, 1)  # relative widths of the verdict and the figure
MAX_PRODUCERS = 8
MAX_TOPICS = 40
TODAY = "today"  # value in the address: codecs are compared at today's batch sizes
PRODUCER_HEADS = (
    "producer",
    "bytes",
    "batches",
    "records",
    "quantiles",
    "size",
    "headers",
    "codecs",
)


def render_batches(context: TuningContext, job: BatchingJob | None) -> None:
    _render_measured(context, job, _render_batch_answer)


def render_codec(context: TuningContext, job: BatchingJob | None) -> None:
    _render_measured(context, job, _render_codec_answer)


def _render_measured(
    context: TuningContext,
    job: BatchingJob | None,
    render: Callable[[TuningContext, BatchingAnswer], None],
) -> None:
    """Draws the answer for the topic that can save the most bytes.

    If there are several topics, first draws a table of all topics. `job` is None for a workload,
    which has no records.
    """
    if job is None:
        elements.empty("batching", say("batching.workload"), say("batching.workload_below"))
    elif job.result:
        answers = sorted(job.result.values(), key=lambda answer: -answer.saved_bytes)
        if len(answers) > 1:
            _render_topics(answers)
            st.space(24)
            name = units.escape_controls(answers[0].name)
            elements.heading(say("batching.shown", name=name), gap=10)
        render(context, answers[0])
    elif job.error:
        finding = say("batching.cannot")
        restart = partial(measure_jobs.restart_batching, context.key, context.source)
        tuning_scopes.render_fault(job.error, context.scope.location, finding, restart)


def _render_topics(answers: Sequence[BatchingAnswer]) -> None:
    elements.heading(say("batching.ranked"), say("batching.ranked_how"), gap=10)
    heads = ("topic", "log", "records", "change", "saves")
    rows = []
    for answer in answers[:MAX_TOPICS]:
        lines = [
            f"{name}={value}"
            for part, _ in rank_changes(answer)
            for name, value in getattr(answer, part).settings
        ]
        rows.append(
            (
                answer.name,
                units.format_bytes(answer.sample.log_bytes),
                f"{answer.facts.total.records_per_batch_mean:.1f}",
                join_comma(lines) or say("curves.keep"),
                units.format_bytes(answer.saved_bytes) if lines else units.MISSING,
            )
        )
    keys = {"topic": "tuning.head_topic", "log": "tuning.head_log"}
    with st.container(key="kv_ranked"):
        table([say(keys.get(head, f"batching.head_{head}")) for head in heads], rows, "crrwr")
    elements.hidden_count("common.more_in_csv", len(answers) - MAX_TOPICS)


def _render_verdict(verdict: PartVerdict, name: str) -> None:
    with st.container(key="kv_verdict_side", gap=16):
        render_answer(verdict.mark, verdict.headline, verdict.text)
        if verdict.lines:
            with st.container(key=f"kv_tune_cmd_{name}", gap=8):
                elements.paragraph(say("batching.command"))
                st.code("\n".join(verdict.lines), language=None)
        if verdict.price:
            with st.container(key="kv_price"):
                table(["", *verdict.price_heads], verdict.price, "wrr")


def _render_reasons(verdict: PartVerdict) -> None:
    st.space(24)
    elements.heading(say("batching.why"))
    elements.draw_list(verdict.reasons)
    elements.paragraph(verdict.known, is_faint=True)


def _render_batch_answer(context: TuningContext, answer: BatchingAnswer) -> None:
    verdict = batching_view.batch_verdict(answer)
    side, figure = st.columns(WIDTHS, gap=20)
    with side:
        _render_verdict(verdict, "batches")
    with figure:
        merging = answer.merging
        if merging is None:
            elements.empty("records", say("batching.nothing"), verdict.known)
        else:
            key = ("batches", context.key, answer.name)
            view = charts.view(key, lambda: batching_view.batch_rows(answer, merging))
            with st.container(key="kv_fig_batches"):
                charts.render_titled(key, setting_rows.figure, view, "kv_batch_rows")
    _render_reasons(verdict)
    st.space(24)
    elements.heading(say("batching.producers"), gap=10)
    producers = answer.facts.by_producer
    with st.container(key="kv_producers"):
        heads = [say(f"batching.head_{head}") for head in PRODUCER_HEADS]
        table(heads, map(batching_view.producer_cells, producers[:MAX_PRODUCERS]), "lrrrrrrl")
    elements.hidden_count("common.more_in_csv", len(producers) - MAX_PRODUCERS)
    download(
        say("batching.producers_csv"),
        lambda: to_csv(
            batching_view.PRODUCER_COLUMNS, map(batching_view.producer_values, producers)
        ),
        "producers.csv",
        "kv_producers_csv",
    )


def _render_codec_answer(context: TuningContext, answer: BatchingAnswer) -> None:
    verdict = batching_view.codec_verdict(answer)
    side, figure = st.columns(WIDTHS, gap=20)
    with side:
        _render_verdict(verdict, "codec")
    with figure:
        if not answer.packed:
            elements.empty("records", say("batching.nothing"), verdict.known)
        else:
            _render_codecs(context, answer)
    _render_reasons(verdict)


def _render_codecs(context: TuningContext, answer: BatchingAnswer) -> None:
    sizes = {
        TODAY if size is None else str(size): size for size in batching_view.batch_sizes(answer)
    }
    default = str(answer.codec.batch_bytes or TODAY)
    with st.container(key="kv_codec_size", gap=4):
        st.html(tag("div", say("batching.of_size"), class_="kv-lab"))
        word = choice.buttons(
            say("batching.of_size"), sizes, default, page_state.PACKED_SIZE, _size_text
        )
    size = sizes[word]
    key = ("codec", context.key, answer.name, word)
    view = charts.view(key, lambda: batching_view.codec_rows(answer, size))
    with st.container(key="kv_fig_codecs"):
        charts.render_titled(key, setting_rows.figure, view, "kv_codec_rows")
    with st.expander(say("batching.codecs_table")):
        heads = [say("broker.column_codec"), *setting_rows.heads(view)]
        table(heads, setting_rows.table_rows(view), "lrrr", view.today)
        download(
            say("batching.codecs_csv"),
            lambda: to_csv(
                batching_view.CODEC_COLUMNS, map(batching_view.codec_values, answer.packed)
            ),
            "codecs.csv",
            "kv_codecs_csv",
        )


def _size_text(word: str) -> str:
    if word == TODAY:
        return say("batching.size_today")
    return units.format_bytes(int(word))
