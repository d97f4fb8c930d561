"""The scope of tuning: the control for it, the request to measure it, and the progress."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.app import page_state, workloads
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import measure_jobs
from kafkaviz.app.state.measure_jobs import BatchingJob, MeasureJob, MeasureRequest
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import choice, elements, faults, progress_strip
from kafkaviz.errors import KafkavizError
from kafkaviz.html import tag
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.messages import say
from kafkaviz.render.sentences import describe_error_sentence

# values of page_state.TUNING_SUBJECT
BROKER = page_state.WHOLE_BROKER
WORKLOAD = "Workload"
ALL_OF = "all of "
AS_FOUND = "as the directory tells"
# Releases that differ in how they search, scan or answer, unlike versions.SELECTABLE_RELEASES,
# which differ at broker start-up.
RELEASES = (AS_FOUND, versions.NEWEST, "4.3.1", "4.1.0", "4.0.2", "3.9.0", "2.8.2")
RIVALS = 2  # number of other topic-partitions to choose from
NAME_CHARACTERS = 20
# the parameters of settings that the reader tries
TRIED = (page_state.CONSIDERED_INTERVAL, *page_state.REPLAY_SETTINGS.values())


@dataclass(frozen=True)
class Scope:
    """The scope of tuning: a topic-partition, topic, broker or workload."""

    location: Location
    choices: dict[str, tuple[str, str]]  # kind and name of each scope to choose from, by label
    label: str
    kind: str  # "partition", "topic", "broker" or "workload"
    name: str  # the topic-partition, the topic or the workload's title; "" for a broker


def current_scope(location: Location) -> Scope:
    """Returns the scope that the address names, else the open topic-partition."""
    choices = _scope_choices(location.broker, location.partition)
    own_directory = units.escape_controls(location.partition_name)
    address_label = st.query_params.get(page_state.TUNING_SUBJECT, "")
    label = next(name for name in (address_label, own_directory, *choices) if name in choices)
    return Scope(location, choices, label, *choices[label])


def _scope_choices(
    broker: Broker | None, own_partition: Partition | None
) -> dict[str, tuple[str, str]]:
    choices = {}
    if broker and own_partition:
        by_size = attrgetter("live_log_bytes")
        rivals = sorted(_rivals(broker, own_partition), key=by_size, reverse=True)[:RIVALS]
        topic = own_partition.topic
        of_topic = sum(
            partition.topic == topic and partition.state == "current"
            for partition in broker.partitions
        )
        has_several = of_topic > 1
        partitions = [own_partition, *rivals[: RIVALS - has_several]]
        names = map(broker.partition_name, sorted(partitions, key=by_size, reverse=True))
        choices |= {units.escape_controls(name): ("partition", name) for name in names}
        if has_several:
            choices[f"{ALL_OF}{units.escape_controls(topic)}"] = ("topic", topic)
    if broker and broker.partitions:
        choices[BROKER] = ("broker", "")
    return choices | {WORKLOAD: ("workload", "")}


def _rivals(broker: Broker, own_partition: Partition) -> list[Partition]:
    return [
        partition
        for partition in broker.partitions
        if partition.state == "current"
        and partition.topic != own_partition.topic
        and not partition.topic.startswith("__")
    ]


def option_text(option: str) -> str:
    if option == BROKER:
        return say("tuning.option_broker")
    if option == WORKLOAD:
        return say("tuning.option_workload")
    if option.startswith(ALL_OF):
        return say("tuning.option_all_of", topic=option.removeprefix(ALL_OF))
    return option


def subject_text(tuning_scope: Scope) -> str:
    """Returns the name of a scope for use in a sentence."""
    if tuning_scope.kind == "workload":
        return say("tuning.the_workload", name=workloads.display_title(tuning_scope.name))
    if tuning_scope.kind == "broker":
        return say("tuning.whole_broker")
    return option_text(units.escape_controls(tuning_scope.label))


def render_choice(tuning_scope: Scope, facts: str) -> None:
    """Draws the control for the scope of tuning, with the text `facts` above it."""
    labels = {
        elements.cut_middle(option, NAME_CHARACTERS): option for option in tuning_scope.choices
    }
    middle = next(name for name, option in labels.items() if option == tuning_scope.label)
    with st.container(gap=4):
        st.html(tag("div", facts, class_="kv-lab"))
        option = st.segmented_control(
            say("tuning.tuned"),
            list(labels),
            format_func=lambda option: elements.escape_markdown(option_text(option)),
            default=middle,
            required=True,
            label_visibility="collapsed",
            key=f"kv_tune_of_{tuning_scope.label}",
        )
        label = labels.get(option or middle, tuning_scope.label)
    if label != tuning_scope.label:
        kind, name = tuning_scope.choices[label]
        own_directory = tuning_scope.location.address.get(page_state.TOPIC_PARTITION, "")
        go_to(
            tuning_scope.location,
            name if kind == "partition" else own_directory,
            "" if kind == "partition" else label,
        )


def go_to(location: Location, topic_partition: str, label: str = "") -> None:
    """Opens another scope of tuning. Keeps the budgets, but not the settings tried so far."""
    excluded = (page_state.TUNING_SUBJECT, page_state.TOPIC_PARTITION, *TRIED)
    parameters = {name: value for name, value in st.query_params.items() if name not in excluded}
    for key in TRIED:
        st.session_state.pop(key, None)
    address = parameters | page_state.address(location.directory, topic_partition)
    if label:
        address[page_state.TUNING_SUBJECT] = label
    elements.open_page("Tuning", address)


def choose_workload() -> str:
    names = [*workloads.by_title(), workloads.OWN_TITLE]
    with st.container(key="kv_tune_workload", gap=8):
        with st.container(horizontal=True, vertical_alignment="center", gap=16):
            name = choice.draw_bound(
                st.selectbox,
                say("workloads.workload"),
                names,
                names[0],
                page_state.WORKLOAD,
                format_func=workloads.display_title,
                on_change=_forget_considered,
                label_visibility="collapsed",
                width=320,
            )
            is_own = name == workloads.OWN_TITLE
            story = say("workloads.own_below") if is_own else workloads.story_text(name)
            st.html(tag("span", elements.escape(story), class_="kv-sm kv-fnt"))
        if is_own:
            label = say("workloads.own_toml")
            workloads.edit_own(label, page_state.TUNING_WORKLOAD_TEXT, 220, _forget_considered)
    return name


def _forget_considered() -> None:
    st.session_state.pop(page_state.CONSIDERED_INTERVAL, None)
    st.query_params.pop(page_state.CONSIDERED_INTERVAL, None)


def reset_for_source(key: str) -> None:
    """If the source has changed, forgets the tried settings. Keeps those in the address."""
    if st.session_state.get(page_state.LAST_TUNING) not in (None, key):
        for parameter in TRIED:
            if parameter not in st.query_params:
                st.session_state.pop(parameter, None)
    st.session_state[page_state.LAST_TUNING] = key


def measure_request(tuning_scope: Scope) -> MeasureRequest | None:
    """Returns the request to measure the scope.

    If the custom workload is not valid, draws the error and returns None.
    """
    if tuning_scope.kind != "workload":
        snapshot = faults.require_snapshot(tuning_scope.location)
        return directory_request(snapshot, tuning_scope.kind, tuning_scope.name, _release())
    text = st.session_state.get(page_state.TUNING_WORKLOAD_TEXT, "")
    try:
        if tuning_scope.name == workloads.OWN_TITLE:
            workloads.parse_own(text)
    except KafkavizError as fault:
        elements.state("own", "error", say("workloads.no_workload"), describe_error_sentence(fault))
        return None
    return _workload_request(tuning_scope.name, text, _release())


def _release() -> str | None:
    version = choice.take_from_address(page_state.READ_RELEASE, RELEASES, AS_FOUND)
    return None if version == AS_FOUND else version


def directory_request(
    snapshot: BrokerSnapshot, kind: str, name: str, version: str | None
) -> MeasureRequest:
    broker = snapshot.broker
    partitions = [
        partition
        for partition in broker.partitions
        if partition.state == "current" and _is_in_scope(broker, partition, kind, name)
    ]
    directories = tuple(directory.path for directory in broker.log_directories)
    sizes = tuple(
        (f"{partition.directory}/{segment.name}.log", segment.log.size_bytes)
        for partition in partitions
        for segment in partition.live
    )
    # the name is "" for the whole broker
    path = broker.partition(name).path if kind == "partition" else broker.path / name
    return MeasureRequest(
        key=f"{snapshot.key}|{kind}|{name!a}|{version}",
        path_or_text=str(path),
        kind=kind,
        sizes=sizes,
        version=version,
        log_directories=directories if len(directories) > 1 else (),
        topic=name,
    )


def _is_in_scope(broker: Broker, partition: Partition, kind: str, name: str) -> bool:
    if kind == "partition":
        return name == broker.partition_name(partition)
    return kind == "broker" or name == partition.topic


def _workload_request(name: str, text: str, version: str | None) -> MeasureRequest:
    is_own = name == workloads.OWN_TITLE
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return MeasureRequest(
        key=f"workload|{digest if is_own else name}|{version}",
        path_or_text=text if is_own else workloads.preset_name(name),
        kind="workload",
        is_text=is_own,
        version=version,
    )


def render_unmeasured(job: MeasureJob, tuning_scope: Scope) -> None:
    if job.error:
        restart = partial(measure_jobs.restart, job.request)
        return render_fault(job.error, tuning_scope.location, say("tuning.cannot"), restart)
    text = say("tuning.empty_below", name=option_text(tuning_scope.label))
    elements.empty("tuning", say("tuning.empty"), text)


@st.fragment(run_every=0.5)
def render_progress(job: MeasureJob | BatchingJob) -> None:
    """Draws the progress of a measurement, and reruns the page when it has ended."""
    if job.is_over:
        choice.rerun_page()
    progress = job.progress()
    done = progress.done_bytes
    total = progress.total_bytes
    aside = progress.name
    if isinstance(job, BatchingJob):
        text = say("batching.reading")
    elif total:
        text = say("tuning.measured", done=done, total=total)
        aside = _speed(done, total, job.seconds) or aside
    else:
        text = say("tuning.being_written")
    progress_strip.render_strip(
        "kv_strip_tuning",
        progress_strip.line_html(text, aside, progress.share if total else None),
        button_label=say("common.cancel"),
        button_key="kv_tuning_cancel",
        on_click=job.cancel,
    )


def _speed(done: int, total: int, seconds: float) -> str:
    if not done:
        return ""
    remaining = units.duration(1000 * math.ceil((total - done) * seconds / done))
    return say("tuning.speed", speed=done / seconds, left=remaining)


def render_fault(
    error: Exception, location: Location, finding: str, restart: Callable[[], None]
) -> None:
    """Draws a notice that a measurement has no result, with the reason.

    If the measurement was cancelled, also draws a button that starts it again.
    """
    if isinstance(error, JobCancelled):
        with elements.state("stopped", "info", say("tuning.stopped"), say("tuning.stopped_below")):
            st.button(say("tuning.measure_again"), key="kv_tuning_again", on_click=restart)
        return
    faults.unread(finding, error, location.directory)
