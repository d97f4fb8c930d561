"""The frame around every page: sidebar, bar with the location, key bindings and stylesheet.

A page calls `location = frame("Segment")` before it draws anything.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from kafkaviz import versions
from kafkaviz.app import access, middleware, page_state, scheduling, uploads
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.frontend import copy_link, keys, one_step, sidebar, theme_button
from kafkaviz.app.registry import MORE, PAGES, PROJECTOR_KEY, Keys, Page
from kafkaviz.app.state import check_jobs, page_location, session_language
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import charts, elements, go_to, progress_strip, projector
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import render, say
from kafkaviz.units import escape_controls, format_count

APP_FOLDER = Path(__file__).parent
Render = Callable[[], None]
MAX_MENU_ENTRIES = 60  # for a longer list, a button that opens Go to replaces the menu
FOOT_CHARACTERS = 21
CRUMB_CHARACTERS = 48
# most characters of a path and of a topic-partition that fit next to a segment at 1280 px
BESIDE_CHARACTERS = 31
PARTITION_CHARACTERS = 26
DISK_CHARACTERS = 14  # most characters of a log directory's name before a topic-partition

# charts were drawn for the dark theme and cannot be redrawn for print, so their colours are
# inverted
DARK_CHARTS = (
    "@media print { .stApp :is(.stPlotlyChart, .stDataFrame) { filter: invert(1) "
    "hue-rotate(180deg); } }"
)
# keys that belong to no page, in the form of Page.keys
KEYS_ANYWHERE: Keys = (("K", "go_to"), (("?", "Esc"), "keys"))
KEYS_OF_GO_TO: Keys = (("↑↓", "entries"), (("Enter",), "open"))


def frame(
    name: str,
    crumbs: Render | None = None,
    tools: Render | None = None,
    *,
    get_subject: Callable[[Location], str] = lambda _location: "",
) -> Location:
    """Draws everything around the page `name`. Returns the location in the address.

    Args:
        crumbs: draws the breadcrumbs, for a page that shows no directory.
        tools: draws additional controls on the right of the bar.
        get_subject: returns the name of the practice log that the page shows. It replaces the
            breadcrumbs. "" if the page shows a directory.
    """
    session_language.sync_address()
    access.confine()
    st.set_page_config(
        f"{elements.page_name(name)} · kafkaviz",
        str(APP_FOLDER / "art" / "mark.svg"),
        layout="wide",
        initial_sidebar_state=208,
    )
    _style()
    scheduling.freeze_survivors()
    page = PAGES[name]
    location = page_location.parse_address(
        page.depth, progress_strip.unpack, prefers_full_batches=name == "Segment"
    )
    _remember(name, location)
    _sidebar(name, location)
    subject = get_subject(location) if location.directory else ""
    if subject:
        crumbs = partial(elements.crumb, subject)
    _bar(page, location, crumbs, tools)
    _listen(page, location)
    _dialog(name, location)
    st.html(tag("div", class_="kv-under"))
    if PROJECTOR_KEY in page.keys and not tools:  # a page with tools does this itself
        projector.apply()
    return location


def _style() -> None:
    styles = [] if middleware.HtmlShell.in_use else [middleware.stylesheet()]
    styles += [DARK_CHARTS] if charts.mode() == "dark" else []
    if styles:
        elements.draw_style("".join(styles))


def pages() -> dict[str, Page]:
    return {name: page for name, page in PAGES.items() if page.exists}


def _sidebar(current: str, location: Location) -> None:
    with st.sidebar.container(key="kv_side"):
        mark = tag("div", class_="kv-mark")
        st.html(tag("div", mark, tag("span", "kafkaviz"), class_="kv-brand"))
        with st.container(key="kv_nav"):
            previous_group = 1
            addresses = _link_addresses(location)
            for name, page in pages().items():
                if page.group != previous_group:
                    heading = tag("div", say("frame.more"), class_="kv-nav-more")
                    st.html(join((tag("hr"), heading if page.group == MORE else "")))
                previous_group = page.group
                with st.container(key="kv_nav_current") if name == current else nullcontext():
                    st.page_link(
                        page.script,
                        query_params=addresses[name],
                        label=_label(name, location),
                        icon=f":material/{page.icon}:",
                        width="stretch",
                    )
        _foot(location)


def _label(name: str, location: Location) -> str:
    label = elements.page_name(name)
    errors = 0
    if name == "Health" and location.snapshot:
        errors = check_jobs.error_count(location.snapshot)
    return f"{label} :red[**{format_count(errors)}**]" if errors else label


def _remember(name: str, location: Location) -> None:
    """Stores the location in the session, so that links from Health lead back to the segment."""
    if PAGES[name].depth == 1 or not location.partition:
        return
    address = _location_parameters(location)
    pin = None
    if name == "Segment":
        pin = page_state.number(st.query_params.get(page_state.PIN))
        if pin is not None:
            address[page_state.PIN] = str(pin)
        st.session_state[page_state.LOCATION] = address
    # a page that shows less, such as only the partition, must not forget the segment and the pin
    elif not address.items() <= st.session_state.get(page_state.LOCATION, {}).items():
        st.session_state[page_state.LOCATION] = address
    go_to.remember(name, location, pin)


def _location_parameters(location: Location) -> dict[str, str]:
    return {name: value for name, value in location.address.items() if name != page_state.LANGUAGE}


def _link_addresses(location: Location) -> dict[str, dict[str, Any]]:
    """Returns the address parameters for a link to each page."""
    previous = st.session_state.get(page_state.LOCATION, {})
    return {name: _link_address(page, location, previous) for name, page in pages().items()}


def _link_address(page: Page, location: Location, previous: dict[str, Any]) -> dict[str, Any]:
    """Returns the address parameters for a link to another page.

    Args:
        previous: the parameters of the location shown last. The link keeps them if that location
            is inside the current one, such as a segment of the current topic-partition.
    """
    names = (page_state.DIRECTORY, page_state.TOPIC_PARTITION, page_state.SEGMENT)[: page.depth]
    parameters = names if page is not PAGES["Segment"] else (*names, page_state.PIN)
    address = location.address
    if address and _location_parameters(location).items() <= previous.items():
        address = address | previous
    return {name: address[name] for name in (*parameters, page_state.LANGUAGE) if name in address}


def _foot(location: Location) -> None:
    directory = escape_controls(page_location.short_directory_text(location.directory))
    with st.container(key="kv_foot"):
        directory_html = elements.mono(
            elements.cut_middle(directory, FOOT_CHARACTERS) or say("frame.nothing_open")
        )
        writer_version = location.snapshot and elements.describe_writer(
            broker_cache.inferred_release(location.snapshot)
        )
        status = say("frame.read_only")
        if writer_version:
            status = say("frame.wrote_read_only", wrote=writer_version)
        folder = elements.icon("folder_open", small=True)
        lines = (
            tag("div", folder, directory_html, title=directory),
            tag("div", elements.icon("verified", small=True), tag("span", status), title=status),
            _newer_release_note(location),
        )
        st.html(tag("div", *lines, class_="kv-foot"))
        with st.container(horizontal=True, gap="xxsmall", key="kv_foot_row"):
            theme_button([page.path for page in PAGES.values()])
            label = f"`?` {say('frame.keys')}"
            st.button(label, type="tertiary", key="kv_keys", on_click=_open_dialog, args=("keys",))


def _newer_release_note(location: Location) -> Html:
    release = location.snapshot and broker_cache.inferred_release(location.snapshot)
    if not release or not release.is_newer:
        return Html()
    text = tag("span", say("frame.newer", release=versions.NEWEST))
    icon = elements.icon("warning", small=True)
    return tag("div", icon, text, class_="kv-foot-newer", title=render(release.reason))


def _bar(page: Page, location: Location, crumbs: Render | None, tools: Render | None) -> None:
    with st.container(key="kv_top", horizontal=True):
        (crumbs or partial(_location_crumbs, page, location))()
        with st.container(key="kv_top_right", horizontal=True, horizontal_alignment="right"):
            if tools:
                tools()
            elif PROJECTOR_KEY in page.keys:
                projector.render_button()
            session_language.render_switch()
            copy_link(location.address, *_link(location))
            st.button(
                say("frame.go_to"),
                on_click=_open_dialog,
                args=("goto",),
                icon=":material/search:",
                type="tertiary",
                shortcut="k",
                key="kv_goto",
            )


def _link(location: Location) -> tuple[list[str], str]:
    """Returns the parameters that Copy link leaves out, and a note about the link.

    Private parameters are always left out. The default directory is left out, too. On a server with
    several visitors, the directory of an upload is left out. If the link keeps the directory, the
    note says that the link works only on this server.
    """
    private = [name for page in PAGES.values() for name in page.private_parameters]
    path = location.directory
    default = page_location.default_directory()
    is_upload = access.is_shared() and any(
        Path(part).is_relative_to(uploads.folder()) for part in page_state.split_directories(path)
    )
    if not path or path == default or is_upload:
        return [*private, page_state.DIRECTORY], ""
    return private, say("frame.link_path", path=location.directory_text)


def _location_crumbs(page: Page, location: Location) -> None:
    _directories(page, location)
    if page.depth > 1 and isinstance(location, PartitionLocation):
        elements.separator()
        _partitions(page, location)
    if page.depth > 2 and isinstance(location, SegmentLocation):
        elements.separator()
        _segments(page, location)


def _directories(page: Page, location: Location) -> None:
    has_partition = page.depth > 1 and location.partition
    max_characters = BESIDE_CHARACTERS if has_partition else CRUMB_CHARACTERS
    text = page_location.short_directory_text(location.directory)
    label = elements.cut_middle(text, max_characters) or say("frame.open_a_directory")
    directories = {
        page_location.directory_text(directory): directory
        for directory in go_to.directories(location)
    }
    text = _menu("dir", label, list(directories), str, say("common.broker_directory"))
    if text:
        st.switch_page(page.script, query_params=page_state.address(directories[text]))


def _partitions(page: Page, location: PartitionLocation) -> None:
    partitions = location.broker.partitions
    directory = _menu(
        "tp",
        _short_label(location),
        partitions,
        get_name=lambda partition: escape_controls(location.broker.partition_name(partition)),
        help_text=say("common.topic_partition"),
    )
    if directory and directory != location.partition_name:
        st.switch_page(page.script, query_params=page_state.address(location.directory, directory))


def _short_label(location: PartitionLocation) -> str:
    """Returns the partition's directory name, without the random suffix of a renamed directory.

    A long name is cut in the middle. If the broker has several log directories, the name of the log
    directory comes first.
    """
    partition = location.partition
    suffix = "" if partition.state == "current" else f"…-{partition.state}"
    name = elements.cut_middle(f"{partition.label}{suffix}", PARTITION_CHARACTERS)
    if len(location.broker.log_directories) == 1:
        return name
    return f"{elements.cut_middle(partition.path.parent.name, DISK_CHARACTERS)}/{name}"


def _segments(page: Page, location: SegmentLocation) -> None:
    segments = location.partition.segments_with_log
    name = location.segment.name
    search = f"{location.partition.directory} "
    chosen_name = _menu(
        "segment", name, segments, attrgetter("name"), say("common.segment"), search=search
    )
    if chosen_name and chosen_name != name:
        chosen = next(segment for segment in segments if segment.name == chosen_name)
        _to_segment(page, location, chosen.base_offset)


def _menu(
    key: str,
    label: str,
    items: Sequence,
    get_name: Callable[..., str],
    help_text: str,
    *,
    search: str = "",
) -> str | None:
    """Draws a menu of the items. Returns the name chosen in this run, or None.

    For more than MAX_MENU_ENTRIES items, draws a button that opens the Go to dialog with the text
    `search`.
    """
    arguments: dict[str, Any] = {"type": "tertiary", "key": f"kv_pick_{key}", "help": help_text}
    if len(items) > MAX_MENU_ENTRIES:
        st.button(
            elements.escape_markdown(label),
            icon=":material/search:",
            on_click=_open_dialog,
            args=("goto", search),
            **arguments,
        )
        return None
    if not items:  # the files may have been deleted while the page was open
        st.button(elements.escape_markdown(label), disabled=True, **arguments)
        return None
    return st.menu_button(
        elements.escape_markdown(label),
        [get_name(item) for item in items],
        format_func=elements.escape_markdown,
        **arguments,
    )


def _to_segment(page: Page, location: PartitionLocation, base_offset: int) -> None:
    address = page_state.address(location.directory, location.partition_name, base_offset)
    st.switch_page(page.script, query_params=address)


def _listen(page: Page, location: Location) -> None:
    """Handles the keys that have no button, and the browser's Back.

    ? opens the list of keys. [ and ] lead to the previous and the next segment.
    """
    parameters = {name: st.query_params.get_all(name) for name in st.query_params}
    one_step(urlencode(parameters, doseq=True))
    sidebar()
    pressed = keys("?[]" if location.segment else "?")
    if pressed == "?":
        _open_dialog("keys")
    elif pressed and isinstance(location, SegmentLocation):
        segments = (location.segment, *location.partition.segments_with_log)
        base_offsets = sorted({segment.base_offset for segment in segments})
        index = base_offsets.index(location.segment.base_offset) + (1 if pressed == "]" else -1)
        if 0 <= index < len(base_offsets):
            _to_segment(page, location, base_offsets[index])


def _open_dialog(dialog: str, text: str = "") -> None:
    st.session_state[page_state.DIALOG] = (dialog, text, None)


def _dialog(current: str, location: Location) -> None:
    dialog, text, origin = st.session_state.get(page_state.DIALOG, ("", "", None))
    view_key = current, _location_parameters(location)
    if not dialog or origin not in (None, view_key):
        return _close_dialog()
    st.session_state[page_state.DIALOG] = dialog, text, view_key
    if dialog == "keys":
        st.dialog(say("frame.keys"), on_dismiss=_close_dialog)(help_keys)()
    else:
        st.dialog(say("frame.go_to"), on_dismiss=_close_dialog)(go_to.dialog)(
            location, text, _link_addresses(location), current
        )


def _close_dialog() -> None:
    st.session_state.pop(page_state.DIALOG, None)


def help_keys() -> None:
    rows = [*_key_rows(say("frame.anywhere"), KEYS_ANYWHERE)]
    for name, page in pages().items():
        if page.keys:
            heading = say(page.keys_heading) if page.keys_heading else elements.page_name(name)
            rows += _key_rows(heading, page.keys)
    rows += _key_rows(say("frame.go_to"), KEYS_OF_GO_TO)
    st.html(tag("div", *rows, class_="kv-kb"))


def _key_rows(heading: str, keys_and_actions: Keys) -> Iterator[Html]:
    yield tag("span", heading, class_="g")
    for caps, action in keys_and_actions:
        yield tag("span", *(join((tag("kbd", cap), " ")) for cap in caps))
        yield tag("span", say(f"frame.key_{action}"))
