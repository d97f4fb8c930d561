"""What a page says when there is nothing to show, or only part: one sentence what, one why, one way on."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from kafkaviz import units
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import Problem
from kafkaviz.ui import cache, parts, state

HOME = "app.py"
NEARBY = 3  # buttons to directories one level down
LISTED = 8  # problems named one by one


def nothing_open() -> None:
    """No directory was given, and there is no sample."""
    with parts.empty(
        "directory", "No broker directory open", "Give the path of a log directory, or of an archive of one. It is only read."
    ):
        _samples("secondary")


def cannot_open(fault: CannotOpen) -> None:
    """A path that is no broker directory, or may not be read."""
    SAYS.get(fault.kind, _unreadable)(fault)


def _missing(fault: CannotOpen) -> None:
    why = "There is no file or directory of this name. It may have been moved, or its name may be mistyped."
    _refused("missing", "error", f"{fault.path} is not there", why)


def _listed(names: list[str]) -> str:
    """A; A and B; A, B and C."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _not_kafka(fault: CannotOpen) -> None:
    found = [str(path) for path in fault.nearby[:NEARBY]]
    why = f"{fault.what[:1].upper()}{fault.what[1:]}."
    if found:
        looks = "looks like a broker directory" if len(found) == 1 else "look like broker directories"
        why += f" One level down, {_listed(found)} {looks}."
    with parts.state("not_kafka", "info", f"No topic-partition found in {fault.path}", why, level=1):
        for place, path in enumerate(found):
            kind = "secondary" if place else "primary"
            st.button(parts.plain(f"Open {path}"), key=f"kv_nearby_{place}", type=kind, on_click=go, args=(path,))
        _again("tertiary" if found else "secondary")
        if not found:
            _samples("tertiary")


def _no_permission(fault: CannotOpen) -> None:
    why = f"{_owner(fault.path)} Copy it, or start kafkaviz as a user who may read it."
    _refused("permission", "lock", f"{fault.path} may not be read", why)


def _owner(path: Path) -> str:
    """Whose it is, as far as that can be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return "A directory above it does not let this user through."
    kind = "directory" if stat.S_ISDIR(found.st_mode) else "file"
    owner = "this user" if found.st_uid == os.geteuid() else "another user"
    return f"The {kind} belongs to {owner} and its mode is {stat.S_IMODE(found.st_mode):04o}."


def _outside(fault: CannotOpen) -> None:
    roots = os.environ.get(cache.ALLOW_ROOT, "").replace(os.pathsep, " or ")
    why = f"This server opens only what lies below {roots}, links followed. Give a path there, or upload an archive."
    with parts.state("outside", "lock", f"{fault.path} may not be opened here", why, level=1):
        _samples("secondary")


def _bad_archive(fault: CannotOpen) -> None:
    why = f"It {fault.what}. Pack the directory again, with tar or zip."
    _refused("archive", "error", f"{fault.path.name} could not be unpacked", why)


def _unreadable(fault: CannotOpen) -> None:
    why = f"The system says: {fault.what}. Nothing in it was changed."
    _refused("unreadable", "error", f"{fault.path} could not be read", why)


def _refused(name: str, mark: str, finding: str, why: str) -> None:
    """A path that cannot be opened now but perhaps later; there are samples meanwhile."""
    with parts.state(name, mark, finding, why, level=1):
        _again()
        _samples("tertiary")


SAYS = {"missing": _missing, "not-kafka": _not_kafka, "permission": _no_permission, "outside": _outside, "archive": _bad_archive}


def not_in_broker(fault: CannotOpen, directory: str) -> None:
    """The broker directory is open, but has no such topic-partition or segment."""
    why = "It may have been deleted since the link was made; a broker removes old segments, and a topic with all of its directories."
    with parts.state("gone", "info", f"{fault.path} {fault.what}", why, level=1):
        st.page_link(HOME, label="Show the broker", icon=":material/dns:", query_params=state.address(directory))


def no_partition(directory: Path, problems: Sequence[Problem]) -> None:
    """A broker directory that shows nothing: it holds no topic-partition, or none can be read."""
    if not problems:
        why = "There is a meta.properties, but no directory named topic-number. A broker makes one for each replica that it is given."
        with parts.empty("partitions", f"{directory.name} holds no topic-partition", why, level=1):
            _again()
            _samples("tertiary")
        return
    why = "Copy the directory as a user who may read it, or start kafkaviz as one. Nothing in it was changed."
    with parts.state("nothing", "lock", f"Nothing in {directory} could be read", why, lambda: problem_table(directory, problems), level=1):
        _again()


def partial(shown: int, total: int, directory: Path, problems: Sequence[Problem]) -> None:
    """Some files could not be read."""
    left_out = "One file or directory" if len(problems) == 1 else f"{units.group(len(problems))} files or directories"
    finding = f"{units.group(shown)} of {units.group(total)} segments are shown" if shown < total else "Part of the directory is shown"
    why = f"{left_out} could not be read; everything else is complete and the totals leave them out."
    with parts.state("partial", "warning", finding, why, lambda: problem_table(directory, problems)):
        _again()


def problem_table(directory: Path, problems: Sequence[Problem]) -> None:
    """What could not be read, and why."""
    rows = [
        f"<tr><td>{parts.severity('warning')}</td><td>{parts.mono(_inside(one.path, directory))}</td><td>{parts.escape(one.what)}</td></tr>"
        for one in problems[:LISTED]
    ]
    if len(problems) > LISTED:
        rows.append(f'<tr><td></td><td class="kv-fnt" colspan="2">and {units.group(len(problems) - LISTED)} more</td></tr>')
    parts.table("", rows)


def _inside(path: Path, directory: Path) -> str:
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)


def _again(kind: str = "secondary") -> None:
    st.button("Try again", key="kv_again", type=kind, on_click=cache.read_again)


def _samples(kind: str) -> None:
    if cache.samples():
        st.button("Use a sample", key="kv_sample", type=kind, on_click=go, args=(str(cache.samples()[0]),))


def go(directory: str) -> None:
    """Opens another broker directory on this page: for a button's on_click."""
    st.query_params.from_dict(state.address(directory))
