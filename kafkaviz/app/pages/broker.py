"""The Broker page: the contents of a broker directory, and how densely it is indexed.

The map has one row per topic-partition and one bar per segment.
"""

from collections.abc import Generator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis.overview import BrokerOverview, inactive_segments
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame, pages
from kafkaviz.app.frontend import art
from kafkaviz.app.pages.broker_table import render_partition_table
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import ingests, page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.uploads import save, save_files
from kafkaviz.app.widgets import charts, choice, elements, faults, progress_strip
from kafkaviz.figures.broker import map_rows
from kafkaviz.figures.broker.map_rows import LARGEST, REMOTE, ROWS_PER_PAGE, TEXT_KEYS
from kafkaviz.format.names import find_segment_name
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import SEGMENT_KINDS, Broker
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.segment_text import included_text
from kafkaviz.render.sentences import join_details, join_or, join_sentences

if TYPE_CHECKING:
    from kafkaviz.figures.broker.broker_map import BrokerMapView

# kinds of segments that the legend always lists, and kinds that it lists only if they occur
MAP = "kv_map"  # the key of the figure
USUAL_KINDS = ("closed", "active", "deleted")
RARE_KINDS = ("cleaned", "swap")
WRITTEN_KINDS = ("log", "index", "timeindex")  # files that Kafka creates with each segment


@in_turn
def render_page() -> None:
    location = frame("Broker")
    status_slot = _render_path_form(location)
    snapshot = faults.require_snapshot(location)
    overview = broker_cache.overview(snapshot)
    if not overview.partitions:
        return faults.no_partition(snapshot.broker.path, overview.problems)
    key = "broker.read_full" if broker_cache.is_fresh(snapshot) else "broker.read_names"
    status_slot.html(tag("div", say(key), class_="kv-sm kv-fnt kv-right"))
    render_head(snapshot, overview)
    render_page_links(location, overview)
    st.space(12)
    render_segment_map(location, snapshot, overview)
    st.space(12)
    with st.expander(say("broker.details"), key="kv_details"):
        _render_details(snapshot, overview)
        strip = st.container()
    st.space(12)
    render_partition_table(location, overview)
    if overview.problems:
        st.space(28)
        readable = int((~overview.segments["left_out"]).sum())
        total = len(overview.segments)
        faults.partial(readable, total, snapshot.broker.path, overview.problems)
    with strip:  # drawn last because it may start Spark; the browser has the rest by then
        progress_strip.render_ingest_strip(snapshot)


def _render_path_form(location: Location) -> DeltaGenerator:
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # The field gets a new key whenever a path is opened, even if the path is the same: under
        # the old key the browser would keep the typed text.
        directory_text = units.escape_controls(location.directory_text)
        open_count = st.session_state.get(page_state.OPEN_COUNT, 0)
        key = f"kv_directory {open_count} {directory_text}"
        request = (key, location.directory)
        st.text_input(
            say("broker.field"),
            directory_text,
            label_visibility="collapsed",
            key=key,
            width=520,
            on_change=_request_open,
            args=request,
        )
        st.button(
            say("broker.open"), type="primary", key="kv_open", on_click=_request_open, args=request
        )
        if (new_directory := st.session_state.pop(page_state.TYPED_PATH, None)) is not None:
            st.session_state[page_state.OPEN_COUNT] = open_count + 1
            elements.open_page("Broker", page_state.address(new_directory))
        if access.takes_uploads() and st.button(
            say("broker.upload"), icon=":material/upload:", key="kv_upload"
        ):
            st.dialog(say("broker.upload"))(_upload_form)()
        return st.empty()


def _request_open(key: str, directory: str) -> None:
    text = st.session_state.get(key)
    is_same = text in (None, units.escape_controls(page_location.directory_text(directory)))
    path = page_location.clean_path(directory if is_same else text)
    st.session_state[page_state.TYPED_PATH] = path


def render_segment_map(
    location: Location, snapshot: BrokerSnapshot, overview: BrokerOverview
) -> None:
    """Draws the map of segments. A click on a bar opens the segment of the bar."""
    with st.container(key="kv_fig_map"):
        head = _map_row("head")
        middle = st.container()
        foot = _map_row("foot")
        heading = head.container()
        with head:
            row_order = choice.buttons(
                say("broker.order"),
                TEXT_KEYS,
                LARGEST,
                page_state.ORDER,
                lambda order_name: say(TEXT_KEYS[order_name]),
            )
        broker_map = broker_cache.broker_map(
            snapshot, row_order, _choose_page(foot, len(overview.partitions)), charts.mode()
        )
        with heading:
            elements.figure_head(broker_map.view.title, broker_map.view.caption)
            st.html(_legend_html(overview, broker_map.view))
        with middle:
            charts.plot(
                broker_map.figure,
                MAP,
                broker_map.view.alt,
                on_select=charts.keep_click(MAP, charts.first_point),
                selection_mode="points",
            )
    if (clicked := charts.take_click(MAP)) is not None:
        directory, base_offset = clicked
        address = page_state.address(location.directory, directory, int(base_offset))
        elements.open_page("Segment", address)


def _map_row(name: str) -> DeltaGenerator:
    return st.container(horizontal=True, key=f"kv_map_{name}")


def _legend_html(overview: BrokerOverview, view: "BrokerMapView") -> Html:
    kinds = [*USUAL_KINDS, *(kind for kind in RARE_KINDS if overview.count_kind(kind))]
    swatches = {kind: f"common.kind_{kind}" for kind in kinds}
    if "deleted" in swatches:
        swatches["deleted"] = "disk.use_waiting_for_deletion"
    if any(partition.remote_bases for partition in overview.partitions):
        swatches[REMOTE] = "broker.hover_remote"
    if overview_table.torn_mask(overview.segments).any():
        swatches["torn"] = "broker.key_torn"
    swatches["dense"] = "broker.key_dense"
    severities = {row.badge.severity for row in view.rows if row.badge}
    for severity in ("error", "warning"):
        if severity in severities:
            swatches[severity] = f"broker.key_{severity}"
    return elements.key((swatch, say(key)) for swatch, key in swatches.items())


def _choose_page(foot: DeltaGenerator, count: int) -> int:
    if map_rows.page_count(count) == 1:
        return 0
    page = foot.pagination(map_rows.page_count(count), key=page_state.ROWS, bind="query-params") - 1
    first = page * ROWS_PER_PAGE + 1
    last = min((page + 1) * ROWS_PER_PAGE, count)
    rows_text = say("broker.rows_of", first=first, last=last, count=units.format_count(count))
    foot.html(tag("div", rows_text, class_="kv-sm kv-fnt"))
    return page


def render_head(snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    total = overview.total
    count = len(overview.partitions)
    values = {
        "partitions": say_count("common.n_topic_partitions", count),
        "log": units.format_bytes(total.log_bytes),
    }
    if total.index_bytes is None:
        title = say("broker.title_unread", **values)
    else:
        title = say("broker.title", **values, index=total.index_bytes)
    directories = len(snapshot.broker.log_directories)
    if directories > 1:
        title = say("broker.title_directories", title=title, n=directories)
    if snapshot.broker.is_simulated:
        title = say("broker.title_simulated", title=title)
    elements.title(title, gap=12)
    _render_chips(snapshot, overview)
    elements.metrics(_metrics(overview), is_pending=ingests.is_awaited(snapshot))


def _metrics(overview: BrokerOverview) -> list[tuple[str, str, str]]:
    total = overview.total
    group = units.format_count
    empty_count = sum(row.sums.log_bytes == 0 for row in overview.partitions)
    empty_text = say_count("broker.n_empty", empty_count)
    share_text = say("broker.share_of_log", share=units.format_percent(total.index_share, 1))
    bytes_per_entry = None if total.bytes_per_entry is None else round(total.bytes_per_entry)
    batches_text = say(  # say_count uses the plural if the count is None
        "broker.batches_records",
        batches=say_count("common.n_batches", total.batches),
        records=say_count("common.n_records", total.records),
    )
    entries_text = say(
        "broker.entries", offset=group(total.offset_entries), time=group(total.time_entries)
    )
    return [
        (say("common.topic_partitions"), group(len(overview.partitions)), empty_text),
        (say("common.segments"), group(total.segments), _describe_kinds(overview)),
        (say("broker.log"), units.format_bytes(total.log_bytes), batches_text),
        (say("common.index"), units.format_bytes(total.index_bytes), share_text),
        (say("broker.covers"), units.format_bytes(bytes_per_entry), entries_text),
    ]


def _describe_kinds(overview: BrokerOverview) -> str:
    counts = {kind: overview.count_kind(kind) for kind in overview_table.KINDS if kind != "closed"}
    texts = [
        say_count(f"broker.kinds_{kind}", count)
        for kind, count in counts.items()
        if count or kind == "active"
    ]
    return join_details(texts)


def _render_chips(snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    broker = snapshot.broker
    chips = []
    warning = elements.icon("warning", small=True)
    if broker.is_simulated:
        science = elements.icon("science", small=True)
        chips.append(("info", join((science, say("broker.simulated")))))
    check = elements.icon("check", small=True)
    chips.append(
        {
            "clean": ("ok", join((check, say("broker.stopped_cleanly")))),
            "unclean": ("warning", join((warning, say("broker.not_stopped_cleanly")))),
            "unknown": ("", say("broker.alone")),
        }[broker.shutdown_state]
    )
    warnings = []
    if missing := _missing_kinds(broker):
        warnings.append(say("broker.without_files", names=missing))
    if overview.problems:
        warnings.append(say_count("broker.not_read", len(overview.problems)))
    if broker.lacks_metadata_log:
        warnings.append(say("broker.lacks_metadata_log"))
    chips += [("warning", join((warning, text))) for text in warnings]
    chips.append(("", elements.describe_writer(broker_cache.inferred_release(snapshot))))
    if broker.node_id:
        chips.append(("", say("broker.node", id=broker.node_id)))
    elements.chips(chips)


def _render_details(snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    broker = snapshot.broker
    ids = [("broker.cluster", broker.cluster_id)]
    if len(broker.log_directories) == 1:
        ids.append(("broker.directory", broker.directory_id))
    chips = [("", worded(key, id=elements.mono(value))) for key, value in ids if value]
    reason = broker_cache.inferred_release(snapshot).reason
    elements.chips(chips, note=render(reason) if reason else "")
    total = overview.total
    is_sparse = total.allocated_bytes < total.length_bytes
    key = "broker.on_disk_sparse" if is_sparse else "broker.on_disk"
    space = say(key, size=total.allocated_bytes, length=total.length_bytes)
    unused_text = included_text(tuple(inactive_segments(broker.partitions)))
    elements.paragraph(join_sentences([space, unused_text]), is_faint=True)


def _missing_kinds(broker: Broker) -> tuple[str, ...]:
    segments = [segment for partition in broker.partitions for segment in partition.segments]
    if not broker.is_lone or len(segments) != 1:
        return ()
    return tuple(f".{kind}" for kind in WRITTEN_KINDS if getattr(segments[0], kind) is None)


def render_page_links(location: Location, overview: BrokerOverview) -> None:
    st.space(12)
    largest_segment = overview_table.largest_segment(overview)
    learn, inspect, tune = st.columns(3, gap=12)
    with _card(learn, "learn"):
        learn_page = pages().get("Workshop", pages()["Lookup"])
        learn_address = page_state.address(location.directory)
        st.page_link(learn_page.script, label=say("broker.learn"), query_params=learn_address)
    with _card(inspect, "inspect"):
        script = pages()["Segment"].script if largest_segment else "app.py"
        segment_address = page_state.address(location.directory, *(largest_segment or ()))
        st.page_link(script, label=say("broker.inspect"), query_params=segment_address)
    with _card(tune, "tune"):
        script = pages()["Tuning"].script
        tuning_address = page_state.address(location.directory)
        tuning_address[page_state.TUNING_SUBJECT] = page_state.WHOLE_BROKER
        st.page_link(script, label=say("broker.tune"), query_params=tuning_address)


@contextmanager
def _card(column: DeltaGenerator, name: str) -> Generator[None]:
    """Draws a card. In the with block, the caller draws a link that covers the whole card."""
    with column.container(key=f"kv_door_{name}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name, 64, 46)
            st.html(tag("div", say(f"broker.{name}_below"), class_="kv-door"))


# ---- uploads


def _upload_form() -> None:
    st.markdown(elements.escape_markdown(upload_hint()))
    uploads = st.file_uploader(
        say("broker.upload_field"),
        type=(*archive.SUFFIXES, *(f".{kind}" for kind in SEGMENT_KINDS)),
        accept_multiple_files=True,
        label_visibility="collapsed",
        key="kv_archive",
    )
    if not uploads:
        return
    contents = {find_segment_name(upload.name): upload for upload in uploads}
    if len(uploads) == 1 and archive.is_archive(Path(uploads[0].name)):
        path = save(uploads[0], uploads[0].name)
    elif None in contents or len(contents) < len(uploads):
        names = tuple(units.escape_controls(upload.name) for upload in uploads)
        st.warning(elements.escape_markdown(say("broker.upload_mixed", names=names)))
        return
    else:
        path = save_files(cast("dict[str, BufferedIOBase]", contents))
    faults.open_directory(str(path))
    st.rerun()


def upload_hint() -> str:
    largest = units.format_bytes(int(st.get_option("server.maxUploadSize")) << 20)
    kinds = join_or(f".{kind}" for kind in SEGMENT_KINDS)
    formats = join_or(archive.SUFFIXES)
    return say("broker.upload_words", formats=formats, kinds=kinds, size=largest)
