"""The Disk page and its tab Map: what uses each byte, and which files may be deleted.

The map is drawn first from the directory listing, and again after the files have been checked.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import disk, freeing
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.disk import DiskShare
from kafkaviz.analysis.freeing import FreeingStep, IndexPrice
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages import disk_compaction, disk_retention
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import check_jobs, cleaning_jobs
from kafkaviz.app.widgets import choice, elements, faults, progress_strip, tables
from kafkaviz.figures.disk import disk_map
from kafkaviz.figures.disk.disk_map import DiskMapView, DiskTable
from kafkaviz.html import tag
from kafkaviz.log.archives import archive
from kafkaviz.messages import say, say_count

MAP, RETENTION, COMPACTION = PAGES["Disk"].tabs
CONTROLS = {RETENTION: disk_retention.CONTROLS, COMPACTION: disk_compaction.CONTROLS}


class DiskAccount(NamedTuple):
    """The use of every byte, the files that may be deleted, and the cost of all indexes."""

    shares: tuple[DiskShare, ...]
    steps: tuple[FreeingStep, ...]
    prices: tuple[IndexPrice, ...]
    recovery: tuple[RecoveryReads, ...] | None = None  # of the next start-up; None if unknown


@in_turn
def render_page() -> None:
    location = frame("Disk")
    elements.apply_print_style()
    snapshot = faults.require_snapshot(location)
    elements.title(say("common.page_disk"), _lead(snapshot), gap=4)
    choice.open_by_address(CONTROLS)
    with st.container(gap=None, key="kv_lab"):
        tab, container = choice.render_tabs(PAGES["Disk"].tab_labels, CONTROLS)
        with container, st.container(gap=None):
            _render_tab(tab, snapshot)


def _render_tab(tab: str, snapshot: BrokerSnapshot) -> None:
    if tab == COMPACTION:
        return disk_compaction.render(snapshot)
    health = _checked(snapshot)
    if tab == MAP:
        _render_map(snapshot, health)
    elif health is not None:
        disk_retention.render(snapshot, health)


def _checked(snapshot: BrokerSnapshot) -> Health | None:
    """Returns the result of checking the broker, or draws the progress or the error."""
    if check_jobs.is_for_spark(snapshot):
        progress_strip.render_ingest_strip(snapshot)
        return None
    job = check_jobs.get_or_start(snapshot, "")
    if job.wait_until_over(progress_strip.QUICK_S) and job.error is None:
        return cast(Health, job.result)
    progress_strip.render_unfinished_check(snapshot, "")
    return None


def _lead(snapshot: BrokerSnapshot) -> str:
    shares = _listed_account(snapshot).shares
    directories = len(snapshot.broker.log_directories)
    return say(
        "disk.lead_directories" if directories > 1 else "disk.lead",
        n=directories,
        files=say_count("disk.n_files", sum(share.files for share in shares)),
        allocated=sum(share.allocated_bytes for share in shares),
        length=sum(share.length_bytes for share in shares),
    )


def _render_map(snapshot: BrokerSnapshot, health: Health | None) -> None:
    """Draws the tab Map. If `health` is None, shows only what the directory listing says."""
    account = _checked_account(snapshot, health) if health else _listed_account(snapshot)
    shares = _with_cleanings(snapshot, account.shares) if health else account.shares
    broker = snapshot.broker
    names = {
        directory.text: broker.directory_names[directory.path]
        for directory in broker.log_directories
    }
    if health is None:
        st.space(12)  # the progress of the check is above
    _render_unreadable(shares)
    with st.container(key="kv_disk_bars"):
        _render_bars(disk_map.directories_view(shares, names))
    st.space(16)
    topic_bars = disk_map.topics_view(shares)
    with st.container(key="kv_topic_bars"):
        _render_bars(topic_bars)
        _render_topic_menu(snapshot, [bar.name for bar in topic_bars.bars if not bar.is_other])
    st.space(32)
    name = units.escape_controls(snapshot.broker.name)
    _render_freeing(account, names, f"{name}-freeing.csv")
    _render_price(account, names)
    st.space(32)
    uses = disk_map.use_table(shares, names)
    _render_head(say("disk.uses_title"), say("disk.uses_below"), uses, f"{name}-disk.csv", "uses")
    _render_table(uses, "l" + "r" * (len(uses.heads) - 1))
    st.space(24)
    topics = disk_map.topic_table(shares)
    below = say("disk.topic_table_below")
    _render_head(say("disk.topic_table"), below, topics, f"{name}-disk-topics.csv", "topics")
    with st.container(key="kv_topic_rows", gap=8):
        _render_table(topics, "m" + "r" * (len(topics.heads) - 1), disk_map.MAX_TOPIC_ROWS)


def _with_cleanings(
    snapshot: BrokerSnapshot, shares: tuple[DiskShare, ...]
) -> tuple[DiskShare, ...]:
    sizes = cleaning_jobs.superseded_bytes(snapshot)
    if not sizes:
        return shares
    return tuple(
        disk.with_cleaning(share, sizes.get((share.log_directory, share.partition or ""), 0))
        for share in shares
    )


def _render_bars(view: DiskMapView) -> None:
    elements.figure_head(view.title, view.caption)
    if view.legend:
        st.html(elements.key((f"disk-{group}", label) for group, label in view.legend))
    st.html(disk_map.figure(view))


def _render_topic_menu(snapshot: BrokerSnapshot, topics: Sequence[str]) -> None:
    if not topics:
        return
    topic = st.menu_button(
        say("disk.partitions_of"),
        topics,
        format_func=elements.escape_markdown,
        type="tertiary",
        key="kv_partitions_of",
    )
    if topic:
        address = page_state.address(snapshot.directory)
        elements.open_page("Broker", address | {page_state.FILTER: topic})


def _render_head(title: str, below: str, table: DiskTable, file_name: str, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"kv_{key}_head"):
        elements.heading(title, below)
        data = tables.to_csv(table.columns, table.file_rows)
        tables.download("CSV", data, file_name, f"kv_{key}_csv")
    st.space(8)


def _render_table(table: DiskTable, kinds: str, max_rows: int = 0) -> None:
    """Draws at most `max_rows` rows of a table (all if 0), and below them its sums in bold."""
    count = len(table.rows) - table.sums
    row_count = min(count, max_rows or count)
    sums = [tuple(tag("b", elements.escape(cell)) for cell in row) for row in table.rows[count:]]
    tables.table(table.heads, (*table.rows[:row_count], *sums), kinds)
    elements.hidden_count("disk.more_topics_csv", count - row_count)


def _render_unreadable(shares: Sequence[DiskShare]) -> None:
    paths = dict.fromkeys(path for share in shares for path in share.unreadable)
    folders = [archive.display_text(path) for path in paths]
    if folders:
        reason = say("common.names", names=tuple(folders))
        elements.state("unreadable", "warning", say("disk.unreadable"), reason)
        st.space(16)


def _render_freeing(account: DiskAccount, names: Mapping[str, str], file_name: str) -> None:
    steps = account.steps
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_freeing_head"):
        elements.heading(disk_map.freeing_title(steps))
        if steps:
            data = tables.to_csv(disk_map.PATH_COLUMNS, disk_map.path_rows(steps))
            tables.download(say("disk.freeing_paths"), data, file_name, "kv_freeing_csv")
    if steps:
        elements.paragraph(say("disk.freeing_below"))
        st.space(8)
        table = disk_map.freeing_table(steps, names)
        tables.table(table.heads, table.rows, "wrrww" if len(names) == 1 else "wlrrww")
        st.space(8)
    elements.paragraph(say("disk.freeing_never"))


def _render_price(account: DiskAccount, names: Mapping[str, str]) -> None:
    if account.prices:
        st.space(24)
        elements.heading(disk_map.price_title(account.prices))
        elements.paragraph(disk_map.price_caption(account.prices))
        st.space(8)
        table = disk_map.price_table(account.prices, account.recovery, names)
        tables.table(table.heads, table.rows, "llrlrr")


# ---- kept between reruns


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _listed_account(snapshot: BrokerSnapshot) -> DiskAccount:
    shares = tuple(disk.disk_shares(snapshot.broker))
    steps = freeing.freeing_steps(snapshot.broker, shares)
    return DiskAccount(shares, steps, freeing.index_prices(snapshot.broker))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _checked_account(snapshot: BrokerSnapshot, _health: Health) -> DiskAccount:
    return DiskAccount(
        _health.all_shares(),
        _health.freeing_steps(),
        _health.index_prices(),
        _health.recovery_reads() if _health.restart else None,
    )
