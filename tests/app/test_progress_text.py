"""How far an ingest is, in words."""

import pytest

from kafkaviz.app.widgets import progress_strip
from kafkaviz.messages import verbatim
from kafkaviz.pipeline.ingest.job import Progress

MIB = 1 << 20
MEANWHILE = (
    "sizes and states above are final; batches, records and torn last batches are still to come"
)
FINAL = "every figure on this page is final"
WITHOUT = "batches, records and torn last batches are known only if Spark reads the directory"


def reading(done_mib: int, speed: int | None, state: str = "reading") -> Progress:
    return Progress(
        done_tasks=2,
        total_tasks=5,
        done_bytes=done_mib * MIB,
        total_bytes=20 * MIB,
        bytes_per_s=speed,
        state=state,
    )


@pytest.mark.parametrize(
    ("progress", "text", "aside"),
    [
        (Progress(), "Spark is starting", MEANWHILE),
        (reading(0, None), "Spark: reading 20 MiB", MEANWHILE),
        (reading(5, MIB), "Spark: 5 MiB of 20 MiB read", "1.05 MB/s, about 15 s left"),
        (reading(5, 2 * MIB), "Spark: 5 MiB of 20 MiB read", "2.10 MB/s, about 8 s left"),
        (reading(20, MIB), "Spark: 20 MiB of 20 MiB read", "1.05 MB/s"),
        (reading(20, None, "writing"), "Spark: all of 20 MiB read, writing the catalog", MEANWHILE),
        (
            Progress(state="failed", error=verbatim("no Java found")),
            "Spark stopped: no Java found",
            WITHOUT,
        ),
        (Progress(state="cancelled"), "Spark was cancelled", WITHOUT),
        (reading(20, None, "done"), "Spark: all of 20 MiB read", FINAL),
        (Progress(state="fresh"), "Spark: nothing has changed since it was read", FINAL),
    ],
)
def test_every_state_has_its_words(progress, text, aside):
    assert progress_strip.ingest_text(progress) == text
    assert progress_strip.ingest_aside(progress) == aside


def test_the_strip_draws_a_bar_only_while_there_is_a_measure():
    """A quarter at a quarter, and none before reading begins."""
    assert "width:25%" in progress_strip.ingest_html(reading(5, MIB))
    assert "kv-prog" not in progress_strip.ingest_html(Progress())


def test_an_error_becomes_no_markup():
    failed = Progress(state="failed", error=verbatim("<b>x</b>"))
    assert "<b>" not in progress_strip.ingest_html(failed)
