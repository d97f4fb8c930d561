"""Fixtures of the page tests: no Spark, and no job left from the test before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz import messages, workshop
from kafkaviz.app.state import session_language
from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest.job import Progress
from tests.app.fakes import FakeStarts, forget_runs
from tests.support.segment_files import make_segment

workshop.register()  # as the script of each page does


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> FakeStarts:
    """The ingests that pages start; set .progress before a page runs."""
    fake = FakeStarts(
        Progress(
            done_tasks=2,
            total_tasks=5,
            done_bytes=3 << 20,
            total_bytes=20 << 20,
            bytes_per_s=1.3e9,
            state="reading",
        )
    )
    monkeypatch.setattr(job, "start_ingest", fake)
    forget_runs()
    return fake


@pytest.fixture
def nothing_cached() -> Iterator[None]:
    """For a test that changes how something is read or worked out: no page has it from a test
    before, nor will have it of this one.
    """
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(autouse=True)
def only_english_is_formatted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message or an error in an f-string is English, on a Chinese page too, and nothing tells: so
    there it raises. Who means the reader's language says render(), who means English says str().
    """

    def text(sentence: messages.Message | KafkavizError, spec: str) -> str:
        if messages.language() != messages.ENGLISH:
            raise AssertionError(f"English in another language: {str(sentence)!r}")
        return format(str(sentence), spec)

    for kind in (messages.Message, KafkavizError):
        monkeypatch.setattr(kind, "__format__", text)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of 中文: between two runs too, where AppTest asks what an option is called."""
    # session_language says whose language it is when it is imported: not while this stands in
    monkeypatch.setattr(session_language.messages, "_language_sources", [lambda: "zh"])


@pytest.fixture
def directory(tmp_path, starts) -> Path:
    """A broker directory with one topic-partition."""
    make_segment(tmp_path / "kafka" / "orders-0", 0, 1000, [400], times=1)
    (tmp_path / "kafka" / "meta.properties").write_text("version=1\n")
    return tmp_path / "kafka"
