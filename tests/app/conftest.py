"""Fixtures of the page tests: no Spark, and no job left from the test before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz import messages, workshop
from kafkaviz.app.state import session_language
from kafkaviz.app.widgets import progress_strip
from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest.job import Progress
from tests.app.fakes import FakeStarts, forget_runs
from tests.support.segment_files import make_segment

workshop.register()  # as the script of each page does


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> FakeStarts:
    """Records the ingests that pages start. Set .progress before a page runs.

    No directory, root or master comes from the environment.
    """
    for name in ("KAFKAVIZ_DIR", "KAFKAVIZ_ALLOW_ROOT", "KAFKAVIZ_MASTER"):
        monkeypatch.delenv(name, raising=False)
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
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a page wait for its jobs, so that no progress is drawn."""
    monkeypatch.setattr(progress_strip, "QUICK_S", 60)


@pytest.fixture
def nothing_cached() -> Iterator[None]:
    """Empties the caches before and after a test that changes how something is read or computed."""
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(autouse=True)
def only_english_is_formatted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes an f-string of a message or error raise in Chinese, where it would silently be English.
    Use render() for the reader's language, and str() for English.
    """

    def text(sentence: messages.Message | KafkavizError, spec: str) -> str:
        if messages.language() != messages.ENGLISH:
            raise AssertionError(f"English in another language: {str(sentence)!r}")
        return format(str(sentence), spec)

    for kind in (messages.Message, KafkavizError):
        monkeypatch.setattr(kind, "__format__", text)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the reader's language to 中文, also between two runs, where AppTest formats options."""
    # session_language registers itself when it is imported, so not while this replaces it
    monkeypatch.setattr(session_language.messages, "_language_sources", [lambda: "zh"])


@pytest.fixture
def directory(tmp_path, starts) -> Path:
    make_segment(tmp_path / "kafka" / "orders-0", 0, 1000, [400], times=1)
    (tmp_path / "kafka" / "meta.properties").write_text("version=1\n")
    return tmp_path / "kafka"
