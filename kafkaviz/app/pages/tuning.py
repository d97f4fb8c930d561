"""The Tuning page: the savings and the costs of other settings for a topic."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis.batching.ranking import batching_topics, main_sentence, rank_topics
from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.measurement import BROKER_SETTING, SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages import tuning_scopes
from kafkaviz.app.pages.tuning_batching import render_batches, render_codec
from kafkaviz.app.pages.tuning_context import TuningContext, build_context
from kafkaviz.app.pages.tuning_index import render_index
from kafkaviz.app.pages.tuning_scopes import Scope, go_to
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import measure_jobs
from kafkaviz.app.state.measure_jobs import BatchingJob, MeasureJob
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import choice, elements, faults
from kafkaviz.app.widgets.tables import download, report_name, table, to_csv
from kafkaviz.figures.tuning import tuning_verdict
from kafkaviz.html import tag
from kafkaviz.log.broker import Broker
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.segment_text import left_out_text
from kafkaviz.render.sentences import end_sentence, join_semicolon, join_sentences, to_sentence

INDEX, BATCHES, CODEC = PAGES["Tuning"].tabs
# names of tabs in earlier releases; their content is now in the tab Index
EARLIER_TABS = ("Answer", "Comparison", "Intervals", "IndexSize", "Settings", "Writers", "Experts")
BUDGETS = (  # links to other scopes keep these parameters
    page_state.P99,
    page_state.SHARE,
    page_state.STORAGE,
    page_state.READ_RELEASE,
    page_state.TIERED,
)
CONTROLS = {
    CODEC: (page_state.PACKED_SIZE,),
    INDEX: (page_state.CONSIDERED_INTERVAL, *BUDGETS, *page_state.REPLAY_SETTINGS.values()),
}
# time until the page shows the progress of measuring a source, and of measuring its records
PATIENCE_S = 2.5
RECORDS_PATIENCE_S = 0.1
IS_PAGE_RUN = "kv_tuning_page_run"  # session key: whether the page runs, not only its body

REPORTED_BYTES = 1 << 30  # the largest .log total for a report from this page
MAX_TOPICS = 400
TOPIC_COLUMNS = (
    "topic",
    "log_bytes",
    "batch_bytes_mean",
    "interval_bytes",
    "index_bytes",
    "headers_mean",
    "headers_p99",
    "answer",
    "value",
)


def render_headline(context: TuningContext, job: BatchingJob | None) -> None:
    with st.container(width="stretch"):
        elements.title(say("common.page_tuning"), answer_text(context, job), gap=0)
    if context.scope.location.snapshot and context.scope.kind != "workload":
        _render_report_button(context.scope.location.snapshot)


def answer_text(context: TuningContext, job: BatchingJob | None) -> str:
    """Returns a text with the most important change of settings.

    Until `job` has measured the records, the text considers only the index. `job` is None for a
    source without records.
    """
    if job is None or job.result:
        answers = job.result if job else None
        topics = rank_topics(context.source, context.answer.recommendations, answers or {})
        text = render(main_sentence(topics, context.case.measurement.log_bytes))
        return to_sentence(text if topics[0].savings else _with_missed_budget(context, text))
    key = "answer_failed" if job.is_over else "answer_pending"
    name = BROKER_SETTING if context.scope.kind == "broker" else SETTING
    index_text = render(tuning_text.headline(context.recommendation, name))
    index_text = to_sentence(_with_missed_budget(context, index_text))
    return join_sentences([index_text, say(f"tuning.{key}")])


def _with_missed_budget(context: TuningContext, text: str) -> str:
    if tuning_verdict.misses_p99(context.recommendation):
        return say("tuning.budget_missed", text=text)
    return text


def _facts(context: TuningContext) -> str:
    left_out_note = left_out_text(
        context.source.inactive_segments, is_metadata_left_out=context.source.metadata_left_out
    )
    return join_sentences([_lead(context), _unknown_interval_text(context), left_out_note])


def _unknown_interval_text(context: TuningContext) -> str:
    """Returns a sentence that says where the value of index.interval.bytes comes from.

    Returns "" unless a broker was opened without its metadata log.
    """
    broker = context.scope.location.broker
    if broker is None or context.scope.kind == "workload" or not broker.lacks_metadata_log:
        return ""
    source = render(context.case.today.interval_source)
    return end_sentence(say("tuning.interval_from", source=source))


def _lead(context: TuningContext) -> str:
    """Returns a summary such as "2 167 batches of 78 to 2 903 B, 2.38 MiB of log in 3 segments"."""
    measurement = context.case.measurement
    sums = measurement.parts
    subject = tuning_scopes.subject_text(context.scope)
    sizes = [
        segment_sizes["size_bytes"] for segment_sizes in measurement.sizes if len(segment_sizes)
    ]
    smallest = min(int(segment_sizes.min()) for segment_sizes in sizes)
    largest = max(int(segment_sizes.max()) for segment_sizes in sizes)
    low = units.format_count(smallest)
    high = f"{units.format_count(largest)} B"
    bytes_text = high if smallest == largest else say("curves.between", low=low, high=high)
    return say(
        "tuning.lead",
        subject=subject,
        batches=say_count("common.n_batches", sums.batches),
        bytes=bytes_text,
        log=sums.log_bytes,
        segments=say_count("common.n_segments", measurement.segments),
    )


def _render_report_button(snapshot: BrokerSnapshot) -> None:
    key = "kv_tuning_report"
    size_bytes = sum(partition.live_log_bytes for partition in snapshot.broker.partitions)
    if size_bytes > REPORTED_BYTES:
        text = say("tuning.report_large", size=size_bytes)
        icon = ":material/download:"
        st.download_button(say("common.report"), "", key=key, help=text, icon=icon, disabled=True)
        return
    download(
        say("common.report"),
        lambda: report(snapshot),
        report_name(snapshot.broker),
        key,
        "text/html",
        kind="secondary",
        help_text=say("tuning.report_help"),
    )


def report(snapshot: BrokerSnapshot) -> str:
    """Returns the directory's report, dated today. Uses the findings of an up-to-date catalog."""
    from kafkaviz.report import page  # imported late: it loads Plotly's JavaScript
    from kafkaviz.report.subject import gather

    subject = gather(snapshot.broker, known_health=broker_cache.catalog_health(snapshot))
    return page(subject, int(1000 * time.time()))


def render_topics(context: TuningContext) -> None:
    """Draws the recommendation for each topic, the densest index first.

    Draws nothing for a single topic-partition or workload.
    """
    if context.scope.kind not in ("broker", "topic") or len(context.source.cases) < 2:
        return
    recommendations = context.answer.recommendations
    cases = sorted(context.source.cases, key=lambda case: -case.index_share)
    changing = sum(
        recommendation is not None and recommendation.verdict == TuningVerdict.CHANGE
        for recommendation in recommendations.values()
    )
    elements.heading(say("tuning.topics"), _gain_text(changing, len(cases)), gap=10)
    heads = [say(f"tuning.head_{head}") for head in tuning_verdict.TOPIC_HEADS]
    rows = [
        tuning_verdict.topic_cells(case, recommendations.get(case.name))
        for case in cases[:MAX_TOPICS]
    ]
    with st.container(key="kv_topics"):
        table(heads, rows, "lrrrrrrl")
    if len(cases) > MAX_TOPICS:
        elements.paragraph(say_count("common.more_in_csv", len(cases) - MAX_TOPICS), is_faint=True)
    st.space(12)
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_topics_foot"):
        broker = context.scope.location.broker
        names = {_first_partition(broker, case.name): case.name for case in cases if broker}
        names.pop("", None)
        text = say("tuning.open_topic")
        directory = st.selectbox(
            text,
            list(names),
            format_func=lambda name: units.escape_controls(names.get(name, name)),
            label_visibility="collapsed",
            index=None,
            placeholder=text,
            width=260,
            key="kv_topic_open",
        )
        if directory:
            go_to(context.scope.location, directory)
        download(
            say("tuning.topics_csv"),
            lambda: to_csv(TOPIC_COLUMNS, topic_values(cases, recommendations)),
            "topics.csv",
            "kv_topics_csv",
        )
        if context.source.metadata_left_out:
            st.html(tag("span", say("tuning.metadata_left"), class_="kv-sm kv-fnt"))
    _render_left_out(context)
    st.space(32)


def _gain_text(gaining_count: int, count: int) -> str:
    if not gaining_count:
        return say("tuning.none_gains")
    if count == 1:
        return say("tuning.one_gains")
    return say("tuning.some_gain", n=gaining_count, count=count)


def topic_values(
    cases: Sequence[TuningCase], recommendations: Mapping[str, Recommendation | None]
) -> list[tuple]:
    """Returns one row of TOPIC_COLUMNS per topic. Without batches, most cells are empty texts."""
    return [_topic_cells(case, recommendations.get(case.name)) for case in cases]


def _topic_cells(case: TuningCase, recommendation: Recommendation | None) -> tuple:
    if recommendation is None:
        return case.name, case.measurement.log_bytes, *[""] * (len(TOPIC_COLUMNS) - 2)
    cost = recommendation.current_cost
    return (
        case.name,
        case.measurement.log_bytes,
        round(case.measurement.batch_bytes, 1),
        cost.interval_bytes,
        int(cost.row["index_bytes"]),
        round(float(cost.row["headers_mean"]), 3),
        int(cost.row["headers_p99"]),
        str(recommendation.verdict),
        recommendation.value,
    )


def _first_partition(broker: Broker, topic: str) -> str:
    partitions = [
        partition
        for partition in broker.partitions
        if partition.topic == topic and partition.state == "current"
    ]
    if not partitions:
        return ""
    return broker.partition_name(max(partitions, key=lambda partition: partition.log_bytes))


def _render_left_out(context: TuningContext) -> None:
    problems = context.source.problems
    if problems:
        reason = join_semicolon(
            say("errors.of_path", path=problem.path.name, problem=render(problem.what))
            for problem in problems[:3]
        )
        finding = say_count("tuning.left_out", len(problems), n=len(problems))
        elements.state("left_out", "warning", finding, end_sentence(reason))


@in_turn
def render_page() -> None:
    location = frame("Tuning")
    elements.apply_print_style()
    st.session_state[IS_PAGE_RUN] = True
    job = _render_body(location)
    if job:
        tuning_scopes.render_progress(job)


@st.fragment
def _render_body(location: Location) -> MeasureJob | BatchingJob | None:
    """Draws the page inside the frame. A slider reruns only this part.

    Returns the running measurement, whose progress is drawn outside this fragment, or None.
    """
    is_page_run = st.session_state.pop(IS_PAGE_RUN, False)
    if st.query_params.get(page_state.TAB) in EARLIER_TABS:
        st.query_params[page_state.TAB] = INDEX
    choice.open_by_address(CONTROLS)
    choice.carry_over((*BUDGETS, page_state.WORKLOAD), location.address)
    with st.container(gap=None, key="kv_tuning"):
        job = _render_source(location)
    if job and not is_page_run:
        st.rerun()
    return job


def _render_source(location: Location) -> MeasureJob | BatchingJob | None:
    """Draws the advice, or why there is none. Returns the measurement if it is still running."""
    tuning_scope = tuning_scopes.current_scope(location)
    if tuning_scope.kind != "workload" and location.fault:
        faults.require_partition(location)
    head = st.container(key="kv_head", horizontal=True, vertical_alignment="bottom")
    controls = st.container(key="kv_tune_set")
    if tuning_scope.kind == "workload":
        tuning_scope = replace(tuning_scope, name=tuning_scopes.choose_workload())
    measure_request = tuning_scopes.measure_request(tuning_scope)
    job = measure_jobs.get_or_start(measure_request) if measure_request else None
    is_over = job is not None and job.wait_until_over(PATIENCE_S)
    if job and is_over and job.result and not job.is_empty:
        return _render_measured(tuning_scope, job.request.key, job.result, head, controls)
    with head:
        elements.title(say("common.page_tuning"), gap=0)
    with controls:
        subject = tuning_scopes.subject_text(tuning_scope)
        tuning_scopes.render_choice(tuning_scope, say("tuning.lead_short", subject=subject))
    if job and is_over:
        tuning_scopes.render_unmeasured(job, tuning_scope)
    return None if is_over else job


def _render_measured(
    tuning_scope: Scope,
    key: str,
    source: TuningSource,
    head: DeltaGenerator,
    controls: DeltaGenerator,
) -> BatchingJob | None:
    context = build_context(tuning_scope, key, source)
    job = measure_jobs.get_or_start_batching(key, source) if batching_topics(source) else None
    is_over = job is None or job.wait_until_over(RECORDS_PATIENCE_S)
    with head:
        render_headline(context, job)
    tuning_scopes.reset_for_source(key)
    with controls:
        tuning_scopes.render_choice(tuning_scope, _facts(context))
    part, container = choice.render_tabs(PAGES["Tuning"].tab_labels, CONTROLS)
    with container, st.container(gap=None):
        if part == BATCHES:
            render_batches(context, job)
        elif part == CODEC:
            render_codec(context, job)
        else:
            render_index(context, render_topics)
    return None if is_over else job
