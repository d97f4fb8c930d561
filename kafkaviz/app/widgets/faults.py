"""Notices that a page cannot show all of a directory, with the reason and the next step.

The functions require_* return the open location, or show a notice and stop the page.
"""

import functools
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.errors import CannotOpen
from kafkaviz.html import Html, tag
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Problem
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import (
    describe_error_sentence,
    join_and,
    join_each_or,
    join_sentences,
    to_sentence,
)

STORE_MESSAGES = ("remote.", "tiered.")  # prefixes of messages about a store or address
MAX_NEARBY = 3  # most buttons to directories one level down
MAX_PROBLEMS = 8  # most problems that are listed


def nothing_open() -> None:
    with elements.empty("directory", say("faults.nothing_open"), say("faults.nothing_open_why")):
        _sample_button("secondary")


def cannot_open(fault: CannotOpen) -> None:
    is_of_store = fault.what.key.startswith(STORE_MESSAGES)
    (_unreadable if is_of_store else RENDERERS.get(fault.kind, _unreadable))(fault)


def _missing(fault: CannotOpen) -> None:
    finding = say("faults.missing", path=archive.display_path(fault.path))
    _render_refusal("missing", "error", finding, say("faults.missing_why"))


def _not_kafka(fault: CannotOpen) -> None:
    nearby_paths = [str(archive.display_path(path)) for path in fault.nearby[:MAX_NEARBY]]
    reason = to_sentence(render(fault.what))
    if nearby_paths:
        paths = join_and(nearby_paths)
        reason = say_count("faults.nearby", len(nearby_paths), why=reason, paths=paths)
    else:
        reason = join_sentences((reason, to_sentence(render(fault.next_step))))
    finding = say("faults.not_kafka", path=archive.display_path(fault.path))
    with elements.state("not_kafka", "info", finding, reason, level=1):
        for index, path in enumerate(nearby_paths):
            kind = "secondary" if index else "primary"
            label = elements.escape_markdown(say("faults.open_path", path=path))
            st.button(
                label, key=f"kv_nearby_{index}", type=kind, on_click=open_directory, args=(path,)
            )
        _retry_button("tertiary" if nearby_paths else "secondary")
        if not nearby_paths:
            _sample_button("tertiary")


def _no_permission(fault: CannotOpen) -> None:
    reason = say("faults.permission_why", owner=_owner(fault.path))
    finding = say("faults.permission", path=archive.display_path(fault.path))
    _render_refusal("permission", "lock", finding, reason)


def _owner(path: Path) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return say("faults.owner_unknown")
    kind = "directory" if stat.S_ISDIR(status.st_mode) else "file"
    owner = "own" if status.st_uid == os.geteuid() else "other"
    return say(f"faults.{kind}_{owner}", mode=f"{stat.S_IMODE(status.st_mode):04o}")


def _outside(fault: CannotOpen) -> None:
    below = [str(archive.display_path(root)) for root in access.roots() or [access.SAMPLES]]
    finding = say("faults.outside", path=archive.display_path(fault.path))
    reason = say("faults.outside_why", roots=join_each_or(below))
    with elements.state("outside", "lock", finding, reason, level=1):
        _sample_button("secondary")


def _bad_archive(fault: CannotOpen) -> None:
    reason = say(
        "faults.archive_why", problem=render(fault.what), next=to_sentence(render(fault.next_step))
    )
    _render_refusal("archive", "error", say("faults.archive", name=fault.path.name), reason)


def _unreadable(fault: CannotOpen) -> None:
    if fault.what.key.startswith(STORE_MESSAGES):
        parts = filter(None, (fault.what, fault.next_step))
        reason = join_sentences([to_sentence(render(part)) for part in parts])
    else:
        reason = say("faults.unreadable_why", problem=render(fault.what))
    finding = say("faults.unreadable", path=archive.display_path(fault.path))
    _render_refusal("unreadable", "error", finding, reason)


def _render_refusal(name: str, mark: str, finding: str, reason: str) -> None:
    with elements.state(name, mark, finding, reason, level=1):
        _retry_button()
        _sample_button("tertiary")


RENDERERS = {  # by CannotOpen.kind
    "missing": _missing,
    "not-kafka": _not_kafka,
    "permission": _no_permission,
    "outside": _outside,
    "archive": _bad_archive,
}


def not_in_broker(location: Location) -> None:
    """Draws a notice that the directory lacks the topic-partition or segment in the address."""
    text = render(cast(CannotOpen, location.fault).what)
    with elements.state("gone", "info", text, say("faults.gone_why"), level=1):
        broker_link(location.directory)


def unread(finding: str, error: Exception, directory: str) -> None:
    """Draws why a log could not be read, and a link to the Health page of its directory."""
    with elements.state("unread", "error", finding, describe_error_sentence(error)):
        elements.page_link("Health", say("common.show_wrong"), page_state.address(directory))


def broker_link(directory: str) -> None:
    elements.page_link("Broker", say("common.show_broker"), page_state.address(directory))


def no_partition(directory: Path, problems: Sequence[Problem]) -> None:
    """Draws a notice that a directory has no topic-partition, or none that can be read."""
    if not problems:
        finding = say("faults.no_partition", name=directory.name)
        with elements.empty("partitions", finding, say("faults.no_partition_why"), level=1):
            _retry_button()
            _sample_button("tertiary")
        return
    finding = say("faults.nothing", path=archive.display_path(directory))
    evidence = functools.partial(problem_table, directory, problems)
    with elements.state("nothing", "lock", finding, say("faults.nothing_why"), evidence, level=1):
        _retry_button()


def partial(readable: int, total: int, directory: Path, problems: Sequence[Problem]) -> None:
    """Draws a notice that some files could not be read, with a table of them."""
    finding = say("faults.partial_directory")
    if readable < total:
        count = units.format_count(readable)
        finding = say("faults.partial", shown_count=count, total=total)
    reason = say_count("faults.partial_why", len(problems))
    evidence = functools.partial(problem_table, directory, problems)
    with elements.state("partial", "warning", finding, reason, evidence):
        _retry_button()


def problem_table(directory: Path, problems: Sequence[Problem]) -> None:
    mark = elements.severity("warning")
    rows = [
        tag(
            "tr",
            tag("td", mark),
            tag("td", elements.mono(_relative_path(problem.path, directory))),
            tag("td", render(problem.what)),
        )
        for problem in problems[:MAX_PROBLEMS]
    ]
    if len(problems) > MAX_PROBLEMS:
        text = say_count("common.n_more", len(problems) - MAX_PROBLEMS)
        rows.append(tag("tr", tag("td"), tag("td", text, class_="kv-fnt", colspan=2)))
    elements.table(Html(), rows)


def _relative_path(path: Path, directory: Path) -> str:
    if path.is_relative_to(directory):
        return str(path.relative_to(directory))
    return str(archive.display_path(path))


def _retry_button(kind: Literal["secondary", "tertiary"] = "secondary") -> None:
    st.button(say("common.try_again"), key="kv_again", type=kind, on_click=broker_cache.clear_all)


def _sample_button(kind: Literal["secondary", "tertiary"]) -> None:
    if samples := access.samples():
        label = say("faults.use_sample")
        arguments = (str(samples[0]),)
        st.button(label, key="kv_sample", type=kind, on_click=open_directory, args=arguments)


def open_directory(directory: str) -> None:
    st.query_params.from_dict(page_state.address(directory))


def require_snapshot(location: Location) -> BrokerSnapshot:
    """Returns the open broker directory, or shows why none is open and stops the page."""
    if location.snapshot is None:
        cannot_open(location.fault) if location.fault else nothing_open()
        st.stop()
    page_location.remember(location.directory)
    return location.snapshot


def require_partition(location: Location) -> PartitionLocation:
    """Returns the location if its topic-partition exists, else shows why and stops the page."""
    broker = require_snapshot(location).broker
    if not isinstance(location, PartitionLocation):
        if broker.partitions:
            not_in_broker(location)
        else:
            no_partition(broker.path, broker.problems)
        st.stop()
    return location


def require_segment(location: Location) -> SegmentLocation:
    """Returns the location if its segment exists, else shows why and stops the page."""
    location = require_partition(location)
    if not isinstance(location, SegmentLocation):
        not_in_broker(location)
        st.stop()
    return location
