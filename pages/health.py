"""Health: what is wrong with a broker directory, with the bytes that show it, and what its next start will do."""

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz import units, versions, words
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import checkup as drawn
from kafkaviz.figures import fault_words
from kafkaviz.log import file
from kafkaviz.ui import parts, pick, state, work, wrote
from kafkaviz.ui.cache import KEPT, Listed
from kafkaviz.ui.checkups import Checkup, Stopped, checkups, is_for_spark
from kafkaviz.ui.components.findings import findings
from kafkaviz.ui.frame import frame
from kafkaviz.ui.printed import printed
from kafkaviz.ui.rebuilt_indexes import rebuilt_indexes
from kafkaviz.ui.tables import report_name
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health

TRACES = "traces"  # in place of a release: what the directory's own traces say
QUICK_S = 0.8  # a checkup that takes no longer shows no progress


def release() -> str:
    """The release that the directory is judged by, as the address has it; "" where its own traces decide."""
    asked = st.query_params.get(state.RELEASE, "")
    with suppress(KafkavizError):
        return asked and ".".join(map(str, versions.parse(asked)))
    return ""


def head(here: Listed, health: "Health | None", asked: str) -> None:
    """The title, how the broker was left, by which release that is judged, and the findings to take along."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        parts.title(say("common.page_health"), say(f"health.{'stopped' if here.broker.clean else 'not_stopped'}_cleanly"), gap=0)
        choose_release(health, asked)
        if health:
            downloads(here, health, asked)


def downloads(here: Listed, health: "Health", asked: str) -> None:
    """The findings as JSON, and the whole report; both are made on click."""
    name, look = units.legible(here.broker.name), {"on_click": "ignore", "icon": ":material/download:"}
    st.download_button("JSON", lambda: as_json(health), f"{name}-health.json", "application/json", type="tertiary", key="kv_json", **look)
    look |= {"help": say("health.report_help"), "key": "kv_report"}
    st.download_button(say("health.report"), lambda: as_page(here, health, asked), report_name(here.broker), "text/html", **look)


def choose_release(health: "Health | None", asked: str) -> None:
    """The release whose behaviour is told: by default the one that the directory's own traces say."""
    how = "by_traces" if health and health.version.is_decided else "newest_known"
    traces = say(f"health.{how}", release=health.version.text) if health and not asked else say("health.as_traces_tell")
    offered = [one for one in (TRACES, *versions.OFFERED) if one != (asked or TRACES)]
    look = {"format_func": lambda one: traces if one == TRACES else say("health.as_release", release=one), "key": "kv_release"}
    told = wrote.because(health.version) if health else say("health.release_help")
    wanted = st.menu_button(say("health.as_release", release=asked) if asked else traces, offered, help=told, **look)
    if wanted:
        st.query_params.pop(state.RELEASE, None)
        if wanted != TRACES:
            st.query_params[state.RELEASE] = wanted
        st.rerun()


def as_json(health: "Health") -> str:
    """What `kafkaviz check --json` prints."""
    from kafkaviz.analyse.health_object import as_object

    return json.dumps(as_object(health), ensure_ascii=False, indent=2)


def as_page(here: Listed, health: "Health", asked: str) -> str:
    """What `kafkaviz report` writes; the directory is read once more for its inventory and its tuning."""
    from kafkaviz.report import report

    return report(here.broker, int(time.time() * 1000), asked or None, checked=health)


@st.fragment(run_every=0.4)
def waiting(here: Listed, asked: str) -> None:
    """How far the checkup is; the page is drawn anew once it is over."""
    checkup = checkups().of(here, asked)
    if checkup.over.is_set():
        st.rerun()
    share = checkup.done_bytes / checkup.total_bytes if checkup.total_bytes else 0
    text = say("health.reading_partition", partition=checkup.partition) if checkup.partition else say("health.reading")
    done, total = units.size(checkup.done_bytes), units.size(checkup.total_bytes)
    with st.container(horizontal=True, key="kv_strip_work", vertical_alignment="center"):
        st.html(
            f'<div class="kv-work" role="status">{parts.icon("bolt", True)}<span>{parts.escape(text)}</span>'
            f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
            f'<span class="kv-fnt">{say("health.read_of", done=done, total=total)}</span></div>'
        )
        st.button(say("health.cancel"), type="tertiary", key="kv_checkup_cancel", on_click=checkup.cancel)


def cause(error: Exception) -> str:
    """Why a checkup has no findings."""
    if isinstance(error, Stopped):
        return say("health.was_cancelled")
    own = say("health.own_fault", fault=f"{type(error).__name__}: {error}")
    return fault_words.told(error) if isinstance(error, KafkavizError) else own


def ended(here: Listed, checkup: Checkup, asked: str) -> None:
    """The findings, or why there are none."""
    if checkup.error is not None:
        with parts.state("checkup", "error", say("health.not_ended"), say("health.not_ended_why", error=cause(checkup.error))):
            st.button(say("health.check_again"), key="kv_checkup_again", on_click=checkups().again, args=(here, asked))
        return
    findings(_message(here.key, asked, words.language(), checkup.health))
    rebuilt_indexes(here, checkup.health.findings, asked or checkup.health.version.text)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _message(key: str, asked: str, spoken: str, _health: "Health") -> dict:
    broker = _health.broker
    logs = {(one.directory, found.base_offset): found.log.size_bytes for one in broker.partitions for found in one.segments if found.log}

    def read(name: str, position: int, length: int) -> bytes:
        with suppress(KafkavizError):
            return file.read(broker.path / name, position, length)
        return b""

    shown = drawn.view(_health.findings, _health.restart, logs, read, len(broker.partitions), _health.retention)
    return drawn.message(shown, f"{key} {asked}")


def main() -> None:
    """The page."""
    place = frame("Health")
    printed()
    here, asked = pick.listed(place), release()
    if not asked and is_for_spark(here):
        head(here, None, asked)
        work.strip(here)
        return
    shown = checkups().errors(here)
    checkup = checkups().of(here, asked)
    is_over = checkup.over.wait(QUICK_S)
    if is_over and checkups().errors(here) != shown:
        st.rerun()  # the sidebar was drawn before their number was known
    head(here, checkup.health if is_over else None, asked)
    if is_over:
        ended(here, checkup, asked)
    else:
        waiting(here, asked)


main()
