"""The Health page: the problems of a directory, and what the next broker start-up will do.

At the bottom, the page rebuilds the indexes of a topic-partition as a broker's recovery does,
compares them with the disk, and offers a download.
"""

import io
import json
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz import messages, units, versions
from kafkaviz.analysis.findings import Finding
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.frontend import findings
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import check_jobs, page_location
from kafkaviz.app.state.check_jobs import LARGE_BYTES, check_again, is_for_spark, is_large
from kafkaviz.app.widgets import elements, faults, progress_strip, tables
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures import health_view
from kafkaviz.format.names import natural_sort_key
from kafkaviz.html import tag
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import describe_error, end_sentence

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

TRACES = "traces"  # stands for the release inferred from the directory's files
SUFFIXES = (".index", ".timeindex", ".txnindex")
MAX_LOG_BYTES = 1 << 30  # .log bytes of a topic-partition; all are read while the page waits


@in_turn
def render_page() -> None:
    location = frame("Health")
    elements.apply_print_style()
    snapshot = faults.require_snapshot(location)
    chosen_release = address_release()
    # the pipeline checks very large directories, always for the release inferred from the files
    checked_release = "" if is_large(snapshot) else chosen_release
    if is_for_spark(snapshot):
        render_head(snapshot, None, checked_release)
        render_traces_notice(snapshot, chosen_release)
        return progress_strip.render_ingest_strip(snapshot)
    _render_check(snapshot, checked_release, chosen_release)


def _render_check(snapshot: BrokerSnapshot, checked_release: str, chosen_release: str) -> None:
    error_count = check_jobs.error_count(snapshot)
    job = check_jobs.get_or_start(snapshot, checked_release)
    is_over = job.wait_until_over(progress_strip.QUICK_S)
    if is_over and check_jobs.error_count(snapshot) != error_count:
        st.rerun()  # the sidebar, which shows this number, was drawn before the number was known
    render_head(snapshot, job.result if is_over else None, checked_release)
    render_traces_notice(snapshot, chosen_release)
    if not is_over or job.error is not None:
        return progress_strip.render_unfinished_check(snapshot, checked_release)
    health = cast("Health", job.result)
    finding_list, start = _payloads(snapshot, checked_release, messages.language(), health)
    findings(finding_list)
    st.space(16)
    version = checked_release or health.assumed_release.version
    render_rebuilt_indexes(snapshot, health.findings, version)
    if any(finding.needs_replica for finding in health.findings):
        _render_compare_link(snapshot)
    st.space(16)
    findings(start, "kv_start")


def _render_compare_link(snapshot: BrokerSnapshot) -> None:
    command = f"kafkaviz compare {page_location.shell_paths(snapshot.broker, ',')}"
    with st.expander(say("health.other_replica")):
        elements.paragraph(say("health.other_replica_below"))
        st.code(f"{command} {say('health.other_directory')}", language="bash", wrap_lines=True)
        directory = page_state.join_directories(map(address.display, snapshot.broker.sources))
        elements.page_link("Compare", say("health.compare"), page_state.address(directory))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _payloads(
    snapshot: BrokerSnapshot, release: str, language: str, _health: "Health"
) -> tuple[dict, dict]:
    view = health_view.view(_health)
    finding_list = health_view.findings_payload(view, f"{snapshot.key} {release}")
    return finding_list, health_view.start_payload(view)


def address_release() -> str:
    """Returns the release in the address, or "" if the address has no valid release."""
    release_text = st.query_params.get(page_state.RELEASE, "")
    with suppress(KafkavizError):
        return release_text and ".".join(map(str, versions.parse(release_text)))
    return ""


def render_head(snapshot: BrokerSnapshot, health: "Health | None", release: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = say(f"health.left_{snapshot.broker.shutdown_state}")
        elements.title(say("common.page_health"), lead, gap=0)
        _choose_release(health, release)
        if health:
            st.button(
                say("health.check_again"),
                on_click=check_again,
                args=(snapshot, release),
                type="tertiary",
                icon=":material/refresh:",
                help=say("health.check_again_help"),
                key="kv_check_again",
            )
            _render_downloads(snapshot, health, release)


def render_traces_notice(snapshot: BrokerSnapshot, release: str) -> None:
    if not (release and is_large(snapshot)):
        return
    paths = page_location.shell_paths(snapshot.broker)
    command = f"kafkaviz check {paths} --kafka-version {release}"
    size = units.format_bytes(LARGE_BYTES)
    finding = say("health.not_as", release=release)
    reason = say("health.not_as_why", size=size, command=command)
    with elements.state("by_traces", "info", finding, reason):
        forget = cast(Callable[..., None], st.query_params.pop)
        arguments = (page_state.RELEASE, None)
        st.button(say("health.as_traces_tell"), key="kv_by_traces", on_click=forget, args=arguments)
    st.space(12)


def _render_downloads(snapshot: BrokerSnapshot, health: "Health", release: str) -> None:
    name = units.escape_controls(snapshot.broker.name)
    file_name = f"{name}-health.json"
    tables.download("JSON", lambda: _health_json(health), file_name, "kv_json", "application/json")
    tables.download(
        say("common.report"),
        lambda: _report_html(snapshot, health, release),
        tables.report_name(snapshot.broker),
        "kv_report",
        "text/html",
        kind="secondary",
        help_text=say("health.report_help"),
    )


def _choose_release(health: "Health | None", release: str) -> None:
    text_key = "by_traces" if health and health.assumed_release.is_decided else "newest_known"
    traces_text = say("health.as_traces_tell")
    if health and not release:
        traces_text = say(f"health.{text_key}", release=health.assumed_release.version)
    labels = {TRACES: traces_text}
    for option in (*versions.SELECTABLE_RELEASES, *filter(None, [release])):
        labels[option] = say("health.as_release", release=option)
    label = labels.pop(release or TRACES)
    choice = st.menu_button(
        label,
        list(labels),
        help=render(health.assumed_release.reason) if health else say("health.release_help"),
        format_func=labels.__getitem__,
        key="kv_release",
    )
    if choice:
        st.query_params.pop(page_state.RELEASE, None)
        if choice != TRACES:
            st.query_params[page_state.RELEASE] = choice
        st.rerun()


def _health_json(health: "Health") -> str:
    from kafkaviz.analysis.broker_health import health_object

    return json.dumps(health_object(health), ensure_ascii=False, indent=2)


def _report_html(snapshot: BrokerSnapshot, health: "Health", release: str) -> str:
    from kafkaviz import report
    from kafkaviz.report.subject import gather

    subject = gather(snapshot.broker, release or None, known_health=health)
    return report.page(subject, int(time.time() * 1000))


@dataclass(frozen=True)
class IndexFileComparison:
    """A rebuilt index file and the file on disk."""

    name: str
    on_disk_bytes: int | None  # None if the file is missing
    rebuilt_bytes: int
    difference: str  # describes the first difference; "" if the files are equal


@st.fragment
def render_rebuilt_indexes(
    snapshot: BrokerSnapshot, findings: Sequence[Finding], version: str
) -> None:
    """Draws the menu of topic-partitions and, on request, the rebuilt indexes of the chosen one."""
    names = offer_partitions(snapshot, findings)
    if not names:
        return
    with st.expander(say("health.rebuilt"), key="kv_rebuilt_indexes"):
        elements.paragraph(end_sentence(say("health.rebuilt_as", release=version)))
        with st.container(horizontal=True, vertical_alignment="bottom", key="kv_rebuild_of"):
            directory = st.selectbox(
                say("common.topic_partition"),
                names,
                format_func=units.escape_controls,
                key="kv_rebuild",
                width=320,
            )
            partition = snapshot.broker.partition(directory)
            is_requested = _is_requested(partition, (snapshot.key, directory, version))
            download_slot = st.container(width="content")
        if is_requested:
            _render_indexes(download_slot, snapshot, partition, version=version)


def _is_requested(partition: Partition, request: tuple[str, str, str]) -> bool:
    if partition.live_log_bytes > MAX_LOG_BYTES:
        size = units.format_bytes(partition.live_log_bytes)
        st.html(tag("p", say("health.too_much", size=size), class_="kv-sm kv-fnt"))
        return False
    requests = st.session_state.setdefault(page_state.REBUILT_INDEXES, set())
    if st.button(say("health.build"), icon=":material/build:", key="kv_build"):
        requests.add(request)
    return request in requests


def _render_indexes(
    download_slot: "st.delta_generator.DeltaGenerator",
    snapshot: BrokerSnapshot,
    partition: Partition,
    *,
    version: str,
) -> None:
    try:
        with st.spinner(say("health.recovering")):
            rebuilt_files = _rebuild(snapshot, partition, version)
    except KafkavizError as fault:
        reason = say("common.nothing_changed", error=describe_error(fault))
        elements.state("rebuild", "error", say("health.not_through"), reason)
        return
    name = f"{units.escape_controls(partition.directory)}-rebuilt.tar.gz"
    with download_slot:
        label = say("health.download_indexes")
        data = partial(pack, rebuilt_files, partition)
        tables.download(label, data, name, "kv_rebuilt", "application/gzip", kind="secondary")
    _render_table(compare_files(rebuilt_files, partition))


def _render_table(rows: Sequence[IndexFileComparison]) -> None:
    changed = units.format_count(sum(bool(comparison.difference) for comparison in rows))
    summary = say("health.differ", changed=changed, all=units.format_count(len(rows)))
    st.html(tag("p", summary, class_="kv-sm", style="color:var(--kv-ink-2);margin:4px 0 8px"))
    with st.container(key="kv_rebuilt_table"):
        names = ("file", "on_disk", "rebuilt", "differ")
        tables.table([say(f"health.column_{name}") for name in names], map(_cells, rows), "lrrl")


def _cells(comparison: IndexFileComparison) -> tuple[str, ...]:
    on_disk = units.MISSING
    if comparison.on_disk_bytes is not None:
        on_disk = f"{units.format_count(comparison.on_disk_bytes)} B"
    return (
        elements.mono(comparison.name),
        on_disk,
        f"{units.format_count(comparison.rebuilt_bytes)} B",
        comparison.difference or tag("span", say("health.same_bytes"), class_="kv-fnt"),
    )


def offer_partitions(snapshot: BrokerSnapshot, findings: Sequence[Finding]) -> list[str]:
    """Returns the topic-partitions with a .log. Partitions with index findings come first."""
    broker = snapshot.broker
    live = [partition for partition in broker.partitions if partition.live]
    damaged = {
        (finding.log_directory, finding.partition)
        for finding in findings
        if finding.severity != "info" and finding.file and finding.file.endswith(SUFFIXES)
    }
    damaged_names = {
        broker.partition_name(partition)
        for partition in live
        if (broker.directory_of(partition).text, partition.directory) in damaged
        or (None, partition.directory) in damaged
    }
    return sorted(
        map(broker.partition_name, live),
        key=lambda name: (name not in damaged_names, natural_sort_key(name)),
    )


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _rebuild(snapshot: BrokerSnapshot, partition: Partition, version: str) -> dict[str, bytes]:
    from kafkaviz.analysis.opened_path import OpenedPath
    from kafkaviz.analysis.rebuild import open_rebuild_source

    opened = OpenedPath(
        path=partition.path, partition=partition, broker=snapshot.broker, typed_version=version
    )
    return {
        name: data
        for segment_indexes in open_rebuild_source(opened, {}).rebuild_segments()
        for name, data in segment_indexes.files().items()
    }


def compare_files(
    rebuilt_files: Mapping[str, bytes], partition: Partition
) -> list[IndexFileComparison]:
    return [_compare_file(name, data, partition) for name, data in rebuilt_files.items()]


def _compare_file(name: str, data: bytes, partition: Partition) -> IndexFileComparison:
    path = partition.path / name
    try:
        size_bytes = file.info(path).size_bytes
        disk_data = file.read(path, 0, min(size_bytes, len(data)))
    except CannotOpen:
        return IndexFileComparison(name, None, len(data), say("health.not_on_disk"))
    return IndexFileComparison(name, size_bytes, len(data), difference(disk_data, size_bytes, data))


def difference(disk_data: bytes, disk_bytes: int, data: bytes) -> str:
    """Describes the first difference between a file and `data`. "" if they are equal."""
    same_bytes = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(disk_data, data, strict=False))
    )
    if same_bytes < min(len(disk_data), len(data)):
        return say("health.from_byte_on", byte=same_bytes)
    if disk_bytes == len(data):
        return ""
    size = "more" if disk_bytes > len(data) else "fewer"
    return say_count(f"health.{size}_on_disk", abs(disk_bytes - len(data)))


def pack(rebuilt_files: Mapping[str, bytes], partition: Partition) -> bytes:
    """Returns the files as a .tar.gz, in a folder that is named like the topic-partition."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in rebuilt_files.items():
            member = tarfile.TarInfo(f"{partition.directory}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()
