"""What a page says when there is nothing to show, or only part: one sentence what, one why, one way
on.
"""

import os
import stat
from collections.abc import Sequence
from functools import partial as given
from pathlib import Path
from typing import Literal

import streamlit as st

from kafkaviz import units
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import fault_words
from kafkaviz.figures.finding_words import sentence
from kafkaviz.figures.listed import either, named, sentences
from kafkaviz.log import archive
from kafkaviz.log.broker import Problem
from kafkaviz.ui import access, cache, parts, state
from kafkaviz.words import counted, say

HOME = "app.py"
NEARBY = 3  # buttons to directories one level down
LISTED = 8  # problems named one by one


def nothing_open() -> None:
    """No directory was given, and there is no sample."""
    with parts.empty("directory", say("faults.nothing_open"), say("faults.nothing_open_why")):
        _samples("secondary")


def cannot_open(fault: CannotOpen) -> None:
    """A path that is no broker directory, or may not be read."""
    SAYS.get(fault.kind, _unreadable)(fault)


def _missing(fault: CannotOpen) -> None:
    _refused(
        "missing",
        "error",
        say("faults.missing", path=archive.given(fault.path)),
        say("faults.missing_why"),
    )


def _not_kafka(fault: CannotOpen) -> None:
    found = [str(path) for path in fault.nearby[:NEARBY]]
    why = sentence(fault_words.what(fault.what))
    if not found:
        why = sentences((why, sentence(fault_words.what(fault.next_step))))
    else:
        why = counted("faults.nearby", len(found), why=why, paths=named(found))
    with parts.state(
        "not_kafka", "info", say("faults.not_kafka", path=archive.given(fault.path)), why, level=1
    ):
        for place, path in enumerate(found):
            kind = "secondary" if place else "primary"
            label = parts.plain(say("faults.open_path", path=path))
            st.button(label, key=f"kv_nearby_{place}", type=kind, on_click=go, args=(path,))
        _again("tertiary" if found else "secondary")
        if not found:
            _samples("tertiary")


def _no_permission(fault: CannotOpen) -> None:
    why = say("faults.permission_why", owner=_owner(fault.path))
    _refused("permission", "lock", say("faults.permission", path=archive.given(fault.path)), why)


def _owner(path: Path) -> str:
    """Whose it is, as far as that can be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return say("faults.owner_unknown")
    kind = "directory" if stat.S_ISDIR(found.st_mode) else "file"
    owner = "own" if found.st_uid == os.geteuid() else "other"
    return say(f"faults.{kind}_{owner}", mode=f"{stat.S_IMODE(found.st_mode):04o}")


def _outside(fault: CannotOpen) -> None:
    below = [str(root) for root in access.roots() or [access.SAMPLES]]
    roots = either(below)
    finding = say("faults.outside", path=archive.given(fault.path))
    with parts.state("outside", "lock", finding, say("faults.outside_why", roots=roots), level=1):
        _samples("secondary")


def _bad_archive(fault: CannotOpen) -> None:
    why = say(
        "faults.archive_why",
        what=fault_words.what(fault.what),
        next=sentence(fault_words.what(fault.next_step)),
    )
    _refused("archive", "error", say("faults.archive", name=fault.path.name), why)


def _unreadable(fault: CannotOpen) -> None:
    why = say("faults.unreadable_why", what=fault_words.what(fault.what))
    _refused("unreadable", "error", say("faults.unreadable", path=archive.given(fault.path)), why)


def _refused(name: str, mark: str, finding: str, why: str) -> None:
    """A path that cannot be opened now but perhaps later; there are samples meanwhile."""
    with parts.state(name, mark, finding, why, level=1):
        _again()
        _samples("tertiary")


SAYS = {
    "missing": _missing,
    "not-kafka": _not_kafka,
    "permission": _no_permission,
    "outside": _outside,
    "archive": _bad_archive,
}


def not_in_broker(fault: CannotOpen, directory: str) -> None:
    """The broker directory is open, but has no such topic-partition or segment; the fault, of
    ui/pick.py, says so in a sentence.
    """
    with parts.state("gone", "info", fault.what, say("faults.gone_why"), level=1):
        st.page_link(
            HOME,
            label=say("common.show_broker"),
            icon=":material/dns:",
            query_params=state.address(directory),
        )


def no_partition(directory: Path, problems: Sequence[Problem]) -> None:
    """A broker directory that shows nothing: it holds no topic-partition, or none can be read."""
    if not problems:
        with parts.empty(
            "partitions",
            say("faults.no_partition", name=directory.name),
            say("faults.no_partition_why"),
            level=1,
        ):
            _again()
            _samples("tertiary")
        return
    finding, evidence = (
        say("faults.nothing", path=archive.given(directory)),
        given(problem_table, directory, problems),
    )
    with parts.state("nothing", "lock", finding, say("faults.nothing_why"), evidence, level=1):
        _again()


def partial(shown: int, total: int, directory: Path, problems: Sequence[Problem]) -> None:
    """Some files could not be read."""
    of = {"shown": units.group(shown), "total": units.group(total)}
    finding = say("faults.partial", **of) if shown < total else say("faults.partial_directory")
    why = counted("faults.partial_why", len(problems), n=units.group(len(problems)))
    with parts.state(
        "partial", "warning", finding, why, lambda: problem_table(directory, problems)
    ):
        _again()


def problem_table(directory: Path, problems: Sequence[Problem]) -> None:
    """What could not be read, and why."""
    mark, shown = parts.severity("warning"), problems[:LISTED]
    cells = (
        (mark, parts.mono(_inside(one.path, directory)), parts.escape(fault_words.what(one.what)))
        for one in shown
    )
    rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in cells]
    if len(problems) > LISTED:
        rows.append(
            "<td></td>"
            '<td class="kv-fnt" colspan="2">'
            f"{say('common.n_more', n=units.group(len(problems) - LISTED))}</td>"
        )
    parts.table("", (f"<tr>{row}</tr>" for row in rows))


def _inside(path: Path, directory: Path) -> str:
    return (
        str(path.relative_to(directory))
        if path.is_relative_to(directory)
        else str(archive.given(path))
    )


def _again(kind: Literal["secondary", "tertiary"] = "secondary") -> None:
    st.button(say("common.try_again"), key="kv_again", type=kind, on_click=cache.read_again)


def _samples(kind: Literal["secondary", "tertiary"]) -> None:
    if access.samples():
        st.button(
            say("faults.use_sample"),
            key="kv_sample",
            type=kind,
            on_click=go,
            args=(str(access.samples()[0]),),
        )


def go(directory: str) -> None:
    """Opens another broker directory on this page: for a button's on_click."""
    st.query_params.from_dict(state.address(directory))
