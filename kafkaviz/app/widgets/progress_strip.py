"""The progress strip of a job such as an ingest: one line about the job, and a button."""

import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.app import access, page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import check_jobs, ingests
from kafkaviz.app.widgets import choice, elements, faults
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.html import Html, tag
from kafkaviz.jobs import Job, JobCancelled, ReadProgress
from kafkaviz.log.archives import archive
from kafkaviz.messages import render, say
from kafkaviz.render.sentences import describe_error, to_sentence

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.job import Progress

Result = TypeVar("Result")
QUICK_S = 0.8  # seconds; a job that ends sooner shows no progress
# states of an ingest that has succeeded
ENDED = ("done", "fresh")
MARKS = {"failed": "error", "done": "ok", "fresh": "ok"}
RETRY_LABELS = {"failed": "common.try_again", "cancelled": "common.start_again"}


def render_reading_job(job: Job[Any, ReadProgress], text: str, *, button_key: str) -> None:
    """Draws the progress of a job that reads logs, and a button that cancels the job."""
    progress = job.progress()
    done = units.format_bytes(progress.done_bytes)
    total = units.format_bytes(progress.total_bytes)
    render_strip(
        "kv_strip_work",
        line_html(text, say("health.read_of", done=done, total=total), progress.share),
        button_label=say("common.cancel"),
        button_key=button_key,
        on_click=job.cancel,
    )


@st.fragment(run_every=0.4)
def render_running_job(get_job: Callable[[], Job[Any, ReadProgress]], text: str) -> None:
    """Draws the progress of a job, and reruns the page when the job has ended."""
    job = get_job()
    if job.is_over:
        choice.rerun_page()
    render_reading_job(job, text, button_key="kv_job_cancel")


def wait_for_result(
    get_job: Callable[[], Job[Result, ReadProgress]],
    text: str,
    render_error: Callable[[Exception], None],
) -> Result | None:
    """Returns the result of a job, or draws its progress or error and returns None."""
    job = get_job()
    if not job.wait_until_over(QUICK_S):
        render_running_job(get_job, text)
        return None
    if job.error is not None:
        render_error(job.error)
    return job.result


def render_unfinished_check(snapshot: BrokerSnapshot, release: str) -> None:
    """Draws the progress of a check, or why it failed. Reruns the page when the check has ended."""
    job = check_jobs.get_or_start(snapshot, release)
    if job.error is None:
        get_job = partial(check_jobs.get_or_start, snapshot, release)
        return render_read_partition(get_job, "health", "kv_check_cancel")
    reason = say("common.nothing_changed", error=failure_text(job.error))
    again = partial(check_jobs.check_again, snapshot, release)
    with elements.state("check", "error", say("health.not_ended"), reason):
        st.button(say("health.check_again"), key="kv_check_retry", on_click=again)


@st.fragment(run_every=0.4)
def render_read_partition(
    get_job: Callable[[], Job[Any, ReadProgress]], page: str, button_key: str
) -> None:
    """Draws which partition a job reads. Reruns the page when the job has ended.

    `page`: the file of the messages, such as "health".
    """
    job = get_job()
    if job.is_over:
        choice.rerun_page()
    name = job.progress().name
    text = say(f"{page}.reading")
    if name:
        text = say(f"{page}.reading_partition", partition=units.escape_controls(name))
    render_reading_job(job, text, button_key=button_key)


def render_failure(error: Exception, on_click: Callable[[], None]) -> None:
    """Draws the error of a job that has failed or was cancelled, and a button to start it again."""
    elements.paragraph(to_sentence(failure_text(error)), above_px=8)
    st.space(8)
    st.button(say("common.start_again"), key="kv_cleaning_again", on_click=on_click)


def failure_text(error: Exception) -> str:
    if isinstance(error, JobCancelled):
        return say("health.was_cancelled")
    if isinstance(error, KafkavizError):
        return describe_error(error)
    return say("health.own_fault", fault=f"{type(error).__name__}: {error}")


def render_strip(
    key: str,
    line: Html,
    *,
    button_label: str = "",
    button_key: str = "",
    on_click: Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """Draws a line made by `line_html`, and a button if it has a label."""
    with st.container(horizontal=True, key=key, vertical_alignment="center"):
        st.html(line)
        if button_label:
            st.button(button_label, type="tertiary", key=button_key, on_click=on_click, args=args)


def line_html(text: str, aside: str, share: float | None = None, mark: Html | None = None) -> Html:
    """Returns a progress line as HTML: a sentence, a bar if `share` is known, and a note.

    Args:
        share: the finished part, from 0 to 1.
        mark: an icon that replaces the one for a running job.
    """
    bar = ""
    if share is not None:
        bar = tag("div", tag("i", style=f"width:{100 * share:.0f}%"), class_="kv-prog")
    return tag(
        "div",
        mark or elements.icon("bolt", small=True),
        tag("span", text),
        bar,
        tag("span", aside, class_="kv-fnt"),
        class_="kv-work",
        role="status",
    )


def ingest_html(progress: "Progress", pending_texts: tuple[str, str] | None = None) -> Html:
    """Returns the progress line of an ingest.

    `pending_texts` are (the note while the ingest runs, the note after it has failed).
    """
    mark = elements.severity(MARKS[progress.state]) if progress.state in MARKS else None
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0
    return line_html(
        ingest_text(progress),
        ingest_aside(progress, pending_texts),
        share if progress.state in ("reading", "writing") else None,
        mark,
    )


def ingest_text(progress: "Progress") -> str:
    size = units.format_bytes(progress.total_bytes)
    if progress.state == "failed":
        error = render(progress.error) if progress.error else say("progress.no_reason")
        return say("progress.stopped", error=error)
    if progress.state == "cancelled":
        return say("progress.cancelled")
    if progress.state in ENDED and not progress.total_bytes:
        return say("progress.unchanged")
    if progress.state in ENDED:
        return say("progress.all_read", size=size)
    if progress.state == "writing":
        return say("progress.writing", size=size)
    if progress.state == "reading" and not progress.done_bytes:
        return say("progress.reading", size=size)
    if progress.state == "reading":
        return say("progress.part_read", done=progress.done_bytes, size=size)
    return say("progress.starting")


def ingest_aside(progress: "Progress", pending_texts: tuple[str, str] | None = None) -> str:
    broker_texts = say("progress.owed_broker"), say("progress.missed_broker")
    pending_text, failure_text = pending_texts or broker_texts
    if progress.state in ("failed", "cancelled"):
        return failure_text
    if progress.state in ENDED:
        return say("progress.final")
    if progress.state == "reading" and progress.bytes_per_s:
        left_s = (progress.total_bytes - progress.done_bytes) / progress.bytes_per_s
        rate = units.rate(progress.bytes_per_s)
        time_left = units.duration(1000 * math.ceil(left_s))
        return say("progress.left", rate=rate, time=time_left) if left_s else rate
    return pending_text


def render_ingest_strip(
    snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None = None
) -> None:
    """Draws the progress of the ingest, if any, and a button to cancel or restart it."""
    ingest = ingests.get_or_start(snapshot)
    if ingest is None:
        return
    watched_sources = st.session_state.setdefault(page_state.WATCHED_INGESTS, set())
    if not ingest.is_over:
        watched_sources.add(snapshot.directory)
        _render_progress(snapshot, pending_texts)
    elif ingest.state in RETRY_LABELS:
        render_strip(
            "kv_strip_work",
            ingest_html(ingest.progress(), pending_texts),
            button_label=say(RETRY_LABELS[ingest.state]),
            button_key="kv_work_again",
            on_click=ingests.restart,
            args=(snapshot,),
        )
    elif snapshot.directory in watched_sources:
        # The strip stays, so that the page below does not jump under the pointer.
        render_strip("kv_strip_done", ingest_html(ingest.progress()))


@st.fragment(run_every=0.5)
def _render_progress(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None) -> None:
    ingest = ingests.get_or_start(snapshot)
    if ingest is None or ingest.is_over:
        choice.rerun_page()
    render_strip(
        "kv_strip_work",
        ingest_html(ingest.progress(), pending_texts),
        button_label=say("common.cancel"),
        button_key="kv_work_cancel",
        on_click=ingest.cancel,
    )


def unpack(directory: str, key_end: str = "") -> None:
    """Unpacks the archives in `directory`, unless that was done before, and draws the progress.

    Raises CannotOpen if an archive cannot be read. `key_end` is a suffix of the widget keys. Two
    calls in the same run of the page need different suffixes.
    """
    for number, path in enumerate(page_state.split_directories(directory)):
        _unpack_one(path, f"{key_end} {number}" if number else key_end)


def _unpack_one(directory: str, key_end: str) -> None:
    path = access.resolve_typed_path(directory)
    archive.refresh(path)
    archive_path = archive.enclosing_archive(path) or path
    if (
        not archive.is_archive(archive_path)
        or not os.path.isfile(archive_path)
        or archive.unpack_target(archive_path).exists()
    ):
        return
    strip = _Strip(archive_path, key_end)
    try:
        archive.unpack_if_archive(archive_path, strip.update)
    except CannotOpen:
        strip.clear()
        raise
    strip.clear()


class _Strip:
    """The progress strip of one archive, drawn when the unpacking first reports progress."""

    def __init__(self, archive_path: Path, key_end: str) -> None:
        self._key_end = key_end
        self._archive_path = archive_path
        self._slot: DeltaGenerator | None = None
        self._line: DeltaGenerator  # set by _draw

    def update(self, bytes_read: int) -> None:
        if self._slot is None:
            self._slot = st.empty()
            self._draw(self._slot)
        text = say("progress.unpacked", size=bytes_read)
        self._line.html(tag("div", text, class_="kv-sm kv-fnt"))

    def _draw(self, slot: DeltaGenerator) -> None:
        finding = say("progress.unpacking", name=units.escape_controls(self._archive_path.name))
        with slot.container():
            st.space(48)  # the page is still empty
            name = f"unpacking{self._key_end}"
            reason = say("progress.unpacking_why")
            with elements.state(name, "unarchive", finding, reason, level=1):
                self._line = st.empty()
                if directory := self._fallback_directory():
                    st.button(
                        say("common.cancel"),
                        key=f"kv_unpack_cancel{self._key_end}",
                        on_click=faults.open_directory,
                        args=(directory,),
                    )

    def _fallback_directory(self) -> str | None:
        """Returns the directory to open after Cancel: the server's default, else a sample."""
        candidates = list(map(Path, access.configured_directories()))
        return next(
            (str(path) for path in [*candidates, *access.samples()] if path != self._archive_path),
            None,
        )

    def clear(self) -> None:
        if self._slot is not None:
            self._slot.empty()
