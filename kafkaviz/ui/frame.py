"""The frame around every page: the sidebar with the pages, the bar that says where you are, the
keys, and the look.

place = frame("Segment")  # the first call of a page
segment = pick.segment(place)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import quote, urlencode

import streamlit as st

from kafkaviz import versions
from kafkaviz.log.partition import Partition
from kafkaviz.ui import (
    access,
    charts,
    garbage,
    go_to,
    leftovers,
    parts,
    pick,
    seen,
    spoken,
    state,
    wrote,
)
from kafkaviz.ui import cache as doors
from kafkaviz.ui.checkups import checkups
from kafkaviz.ui.components import copy_link, keys, one_step, sidebar, theme_button
from kafkaviz.ui.pick import InPartition, InSegment, Place
from kafkaviz.units import group, legible
from kafkaviz.words import say

HERE = Path(__file__).parent
ROOT = HERE.parents[1]  # the checkout, where app.py and pages/ are
EMPTY: MappingProxyType[str, str] = MappingProxyType({})
Drawing = Callable[[], None]
# of a reader of the Workshop: no copied link tells them
OWN = (state.ANSWERS, state.GIVEN, state.NOTES)
MENU = 60  # longer lists are found in Go to, not in a menu
FOOT_CHARACTERS, CRUMB_CHARACTERS = 21, 48
# of a path and a topic-partition: at 1280 px both fit beside a segment
BESIDE_CHARACTERS, PARTITION_CHARACTERS = 31, 26


@dataclass(frozen=True)
class Page:
    """A page of the app: its script, its icon, and how far its address goes: broker 1,
    topic-partition 2, segment 3.
    """

    script: str
    icon: str
    depth: int
    group: int

    @property
    def exists(self) -> bool:
        """Whether its script is there; only then is it listed."""
        return (ROOT / self.script).exists()

    @property
    def path(self) -> str:
        """The page's place in the URL."""
        return "" if self.script == "app.py" else Path(self.script).stem


PAGES = {
    "Broker": Page("app.py", "dns", 1, 1),
    "Segment": Page("pages/segment.py", "straighten", 3, 1),
    "Lookup": Page("pages/lookup.py", "manage_search", 3, 1),
    "Page cache": Page("pages/page_cache.py", "memory", 1, 1),
    "Rolls": Page("pages/rolls.py", "layers", 2, 2),
    "Tuning": Page("pages/tuning.py", "tune", 2, 2),
    "Health": Page("pages/health.py", "ecg_heart", 1, 2),
    "Explore": Page("pages/explore.py", "terminal", 1, 3),
    "Workshop": Page("pages/workshop.py", "school", 1, 3),
}

# a chart was drawn for the dark page, and cannot be drawn anew for paper: its colours are turned
# around
DARK_CHARTS = (
    "@media print { .stApp :is(.stPlotlyChart, .stDataFrame) { filter: invert(1) "
    "hue-rotate(180deg); } }"
)
KEYS = [  # the page that must exist, the word of a heading, and its keys with theirs
    (None, "frame.anywhere", [("K", "go_to"), (("?", "Esc"), "keys")]),
    ("Segment", "common.page_segment", [("[]", "segments"), ("←→", "batches"), ("+−", "zoom")]),
    ("Lookup", "frame.stepper", [("←→", "step"), (("Home", "End"), "ends"), (("Space",), "play")]),
    ("Explore", "common.page_explore", [(("Ctrl", "Enter"), "run")]),
    ("Workshop", "common.page_workshop", [(("N", "B"), "lesson"), ("1234", "answer")]),
    (None, "frame.go_to", [("↑↓", "entries"), (("Enter",), "open")]),
]


def frame(name: str, crumbs: Drawing | None = None, tools: Drawing | None = None) -> Place:
    """Draws all that is around the page of this name, and says where its address points.

    crumbs: draws the breadcrumbs of a page that is about no directory; tools: what such a page has
    on the right of the bar.
    """
    spoken.keep()
    access.confine()
    st.set_page_config(
        f"{parts.page_name(name)} · kafkaviz",
        str(HERE / "art" / "mark.svg"),
        layout="wide",
        initial_sidebar_state=208,
    )
    st.html(f"<style>{_stylesheet()}{DARK_CHARTS if charts.mode() == 'dark' else ''}</style>")
    garbage.leave_out_what_stays()
    page = PAGES[name]
    place = pick.place(page.depth)
    _remember(name, place)
    _sidebar(name, place)
    _bar(page, place, crumbs, tools)
    _listen(page, place)
    _dialog(name, place)
    st.html('<div class="kv-under"></div>')
    return place


@cache
def _stylesheet() -> str:
    """The tokens, the marks of the severities, and the rules that config.toml cannot say."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(_drawing(name))}");'
        for name in parts.SEVERITIES
    )
    tokens, *rules = (
        (HERE / name).read_text(encoding="utf-8")
        for name in ("tokens.css", "look.css", "narrow.css", "paper.css")
    )
    return f"{tokens}:root {{ {' '.join(marks)} }}\n{''.join(rules)}"


def _drawing(name: str) -> str:
    return (HERE / "art" / f"{name}.svg").read_text(encoding="utf-8").strip()


def pages() -> dict[str, Page]:
    """The pages that exist, by name."""
    return {name: page for name, page in PAGES.items() if page.exists}


def _sidebar(current: str, place: Place) -> None:
    with st.sidebar.container(key="kv_side"):
        st.html('<div class="kv-brand"><div class="kv-mark"></div><span>kafkaviz</span></div>')
        with st.container(key="kv_nav"):
            shown = 1
            for name, page in pages().items():
                if page.group != shown:
                    st.html("<hr>")
                shown = page.group
                with st.container(
                    key="kv_nav_current" if name == current else f"kv_nav_{page.path or 'broker'}"
                ):
                    look: dict[str, Any] = {
                        "label": _label(name, place),
                        "icon": f":material/{page.icon}:",
                        "width": "stretch",
                    }
                    st.page_link(
                        page.script,
                        query_params=_carried(
                            page, place, st.session_state.get(state.PLACE, EMPTY)
                        ),
                        **look,
                    )
        _foot(place)


def _label(name: str, place: Place) -> str:
    """The page's name; behind Health the number of errors, once they are known."""
    errors = checkups().errors(place.listed) if name == "Health" and place.listed else 0
    return f"{parts.page_name(name)} :red[**{group(errors)}**]" if errors else parts.page_name(name)


def _remember(name: str, place: Place) -> None:
    """Keeps the place for the way back from a page that does not go as deep: Segment, Health, the
    same segment again.
    """
    page = PAGES[name]
    if page.depth > 1 and place.partition:
        pin = state.number(st.query_params.get(state.PIN)) if page is PAGES["Segment"] else None
        was = st.session_state.get(state.PLACE, {})
        told = _where(place) | ({state.PIN: str(pin)} if pin is not None else {})
        # a page that shows less of the same place
        goes_on = page is not PAGES["Segment"] and _where(place).items() <= was.items()
        st.session_state[state.PLACE] = was if goes_on else told
        seen.remember(name, place, pin)


def _where(place: Place) -> dict[str, str]:
    """The address without its language: a place is the same in all."""
    return {name: value for name, value in place.address.items() if name != state.LANGUAGE}


def _carried(
    page: Page, place: Place, last: dict[str, str] | MappingProxyType[str, str] = EMPTY
) -> dict[str, str]:
    """What a link to another page keeps of the address: as much as that page looks at.

    last: the place that was looked at before; where it lies below this one it is gone on with.
    """
    names = (state.DIRECTORY, state.TOPIC_PARTITION, state.SEGMENT)[: page.depth]
    kept = names if page is not PAGES["Segment"] else (*names, state.PIN)
    known = place.address
    if known and _where(place).items() <= last.items():
        known = known | last
    return {name: known[name] for name in (*kept, state.LANGUAGE) if name in known}


def _foot(place: Place) -> None:
    directory = legible(place.directory)
    with st.container(key="kv_foot"):
        shown = parts.mono(parts.middle(directory, FOOT_CHARACTERS) or say("frame.nothing_open"))
        by = place.listed and wrote.kafka(doors.looks(place.listed))
        told = say("frame.wrote_read_only", wrote=by) if by else say("frame.read_only")
        st.html(
            '<div class="kv-foot">'
            f'<div title="{escape(directory)}">{parts.icon("folder_open", True)}{shown}</div>'
            f'<div title="{escape(told)}">{parts.icon("verified", True)}'
            f"<span>{escape(told)}</span></div>{_newer(place)}</div>"
        )
        with st.container(horizontal=True, gap="xxsmall", key="kv_foot_row"):
            theme_button([page.path for page in PAGES.values()])
            st.button(
                f"`?` {say('frame.keys')}",
                type="tertiary",
                key="kv_keys",
                on_click=_open,
                args=("keys",),
            )


def _newer(place: Place) -> str:
    """That the directory is newer than any release that is known, and how it is read; "" where it
    is not.
    """
    looks = place.listed and doors.looks(place.listed)
    if not looks or not looks.is_newer:
        return ""
    why = f'title="{escape(wrote.because(looks.because))}"'
    told = escape(say("frame.newer", release=versions.NEWEST))
    return (
        f'<div class="kv-foot-newer" {why}>{parts.icon("warning", True)}<span>{told}</span></div>'
    )


def _bar(page: Page, place: Place, crumbs: Drawing | None, tools: Drawing | None) -> None:
    """The breadcrumbs, each a picker, and on the right what works on every page."""
    with st.container(key="kv_top", horizontal=True):
        (crumbs or partial(_directories, page, place))()
        if page.depth > 1 and place.partition:
            _separator()
            _partitions(page, cast(InPartition, place))
        if page.depth > 2 and place.segment:
            _separator()
            _segments(page, cast(InSegment, place))
        with st.container(key="kv_top_right", horizontal=True, horizontal_alignment="right"):
            if tools:
                tools()
            spoken.switch()
            copy_link(place.address, *_link(place))
            look: dict[str, Any] = {
                "icon": ":material/search:",
                "type": "tertiary",
                "shortcut": "k",
                "key": "kv_goto",
            }
            st.button(say("frame.go_to"), on_click=_open, args=("goto",), **look)


def _link(place: Place) -> tuple[list[str], str]:
    """What a copied link leaves out, and what is said of it.

    Left out: answers and the teacher's notes; the directory where a visitor sees it without being
    told, or may not open it: an upload of a server with several visitors. Any other path stays: it
    means something on this server alone, as the button says.
    """
    path, default = place.directory, pick.default_directory()
    is_upload = access.is_shared() and Path(path).is_relative_to(leftovers.folder())
    if not path or path == default or is_upload:
        return [*OWN, state.DIRECTORY], ""
    return [*OWN], say("frame.link_path", path=path)


def _separator() -> None:
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")


def _directories(page: Page, place: Place) -> None:
    room = BESIDE_CHARACTERS if page.depth > 1 and place.partition else CRUMB_CHARACTERS
    label = parts.middle(place.directory, room) or say("frame.open_a_directory")
    chosen = _menu("dir", label, go_to.directories(place), str, say("common.broker_directory"))
    if chosen:
        st.switch_page(page.script, query_params=state.address(chosen))


def _partitions(page: Page, place: InPartition) -> None:
    found = place.broker.partitions
    chosen = _menu(
        "tp",
        _short(place.partition),
        found,
        lambda one: legible(one.directory),
        say("common.topic_partition"),
    )
    if chosen and chosen != place.partition.directory:
        st.switch_page(page.script, query_params=state.address(place.directory, chosen))


def _short(partition: Partition) -> str:
    """Its directory's name, without the random part of a renamed one and cut in the middle where it
    is long.
    """
    renamed = "" if partition.state == "current" else f"…-{partition.state}"
    return parts.middle(f"{partition.label}{renamed}", PARTITION_CHARACTERS)


def _segments(page: Page, place: InSegment) -> None:
    found = place.partition.shown
    chosen = _menu(
        "segment",
        place.segment.name,
        found,
        attrgetter("name"),
        say("common.segment"),
        f"{place.partition.directory} ",
    )
    if chosen and chosen != place.segment.name:
        _to_segment(page, place, next(one.base_offset for one in found if one.name == chosen))


def _menu(
    key: str, label: str, found: Sequence, named: Callable[..., str], about: str, search: str = ""
) -> str | None:
    """A picker of things by their names, and what was chosen in this run.

    A long list is looked through in Go to, which then starts with `search`: of 100 000 segments
    nothing is named here.
    """
    look: dict[str, Any] = {"type": "tertiary", "key": f"kv_pick_{key}", "help": about}
    if len(found) > MENU:
        st.button(
            parts.plain(label),
            icon=":material/search:",
            on_click=_open,
            args=("goto", search),
            **look,
        )
        return None
    if not found:  # where files went while the page was open
        st.button(parts.plain(label), disabled=True, **look)
        return None
    return st.menu_button(
        parts.plain(label), [named(one) for one in found], format_func=parts.plain, **look
    )


def _to_segment(page: Page, place: InPartition, base_offset: int) -> None:
    st.switch_page(
        page.script,
        query_params=state.address(place.directory, place.partition.directory, base_offset),
    )


def _listen(page: Page, place: Place) -> None:
    """Keys that are no button's: ? for the list of keys, [ and ] for the segment before and after;
    and the browser's own Back.
    """
    one_step(urlencode(st.query_params.to_dict()))
    sidebar()
    pressed = keys("?[]" if place.segment else "?")
    if pressed == "?":
        _open("keys")
    elif pressed and place.segment:
        here = cast(InSegment, place)
        around = sorted(
            {here.segment.base_offset, *(one.base_offset for one in here.partition.shown)}
        )
        at = around.index(here.segment.base_offset) + (1 if pressed == "]" else -1)
        if 0 <= at < len(around):
            _to_segment(page, here, around[at])


def _open(dialog: str, text: str = "") -> None:
    """Opens a dialog in this run or the next, until it is dismissed or the reader is elsewhere: a
    rerun alone would close it.
    """
    st.session_state[state.DIALOG] = (dialog, text, None)


def _dialog(current: str, place: Place) -> None:
    opened, text, since = st.session_state.get(state.DIALOG, ("", "", None))
    here = current, _where(place)
    if not opened or since not in (None, here):
        return _closed()
    st.session_state[state.DIALOG] = opened, text, here
    if opened == "keys":
        st.dialog(say("frame.keys"), on_dismiss=_closed)(help_keys)()
    else:
        links = {
            name: (page, _carried(page, place, st.session_state.get(state.PLACE, EMPTY)))
            for name, page in pages().items()
        }
        st.dialog(say("frame.go_to"), on_dismiss=_closed)(go_to.dialog)(place, text, links, current)


def _closed() -> None:
    st.session_state.pop(state.DIALOG, None)


def help_keys() -> None:
    """Every key that works, by where it works."""
    rows = []
    for page, heading, lines in KEYS:
        if page is None or PAGES[page].exists:
            rows.append(f'<span class="g">{say(heading)}</span>')
            rows += [
                f"<span>{_caps(keys)}</span><span>{say(f'frame.key_{does}')}</span>"
                for keys, does in lines
            ]
    st.html(f'<div class="kv-kb">{"".join(rows)}</div>')


def _caps(keys: Iterable[str]) -> str:
    return "".join(f"<kbd>{key}</kbd> " for key in keys)
