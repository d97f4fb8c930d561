"""kafkaviz ingest: its output, and the state after it is stopped. Few tests run Spark."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.cli import ingest
from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.ingest import job
from tests.pipeline.small_logs import write_broker
from tests.support.commands import json_of, refusal_of, text_of

ROOT = Path(__file__).parents[2]
HANGS_S = 60  # a stopped command that lasts longer does not end at all
SMALL_TASKS = """
import sys
from kafkaviz.pipeline.ingest import plan
plan.MIN_BYTES = plan.MAX_BYTES = 1
plan.cuts = lambda segment, target_bytes: []
from kafkaviz.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def broker(tmp_path) -> Path:
    return write_broker(tmp_path / "made", {"a-0": [[100] * 5, [120] * 6]})


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "catalog"


def row_counts(health: Health) -> dict[str, int]:
    """Returns the rows of each table of the broker's catalog."""
    return {
        "partitions": 1,
        "segments": 2,
        "batches": 11,
        "offset_entries": 9,
        "time_entries": 9,
        "sweep": 100,
        "findings": len(health.findings),
        "restart_steps": len(health.restart.steps),
        "retention": 2,
        "checked": 3,
        "stamps": 3,
    }


def test_the_summary_goes_to_stdout(broker, out, in_process):
    """Tables with their rows, and how much was read and kept; stderr has only the progress."""
    lines = text_of("ingest", broker, "--catalog", out).splitlines()
    assert lines[0] == f"{out}: made"
    counts = check(broker).counts
    rows = [f"{name} {count}" for name, count in row_counts(check(broker)).items()]
    assert [" ".join(line.split()) for line in lines[1:12]] == rows
    assert (
        lines[12]
        == f"findings: {counts['error']} errors, {counts['warning']} warnings, {counts['info']} info"
    )
    assert lines[13] == (
        "read 2 segments (1.19 KiB of .log); unchanged segments that were not read again: 0"
    )
    assert lines[14].startswith("in ")


def test_json_is_one_object(broker, out, in_process):
    report, health = json_of("ingest", broker, "--catalog", out), check(broker)
    assert report.pop("seconds") > 0 and health.counts["error"] > 0
    (stored_broker,) = report.pop("broker")
    (log_directory,) = stored_broker.pop("log_directories")
    names = {"name": "made", "node_id": "7", "cluster_id": "made"}
    assert stored_broker == names | {"path": str(broker)}
    assert log_directory["path"] == str(broker)
    assert report == {
        "schema": "ingest/1",
        "catalog": str(out),
        "read": {"segments": 2, "bytes": 1220},
        "kept": {"segments": 0},
        "check": {"level": "records", "unchecked_codes": []},
        "rows": row_counts(health),
        "findings": health.counts,
        "problems": [],
    }
    again = json_of("ingest", broker, "--catalog", out)
    assert (again["read"], again["kept"]) == ({"segments": 0, "bytes": 0}, {"segments": 2})
    again = json_of("ingest", broker, "--catalog", out, "--full")
    assert again["read"] == {"segments": 2, "bytes": 1220}


def test_findings_can_be_left_out(broker, out, in_process):
    """They are not mentioned; the next run without that option reads the segments and adds them."""
    call = ("ingest", broker, "--catalog", out)
    report = json_of(*call, "--no-findings")
    assert report["findings"] is None
    assert report["rows"]["findings"] == report["rows"]["checked"] == 0
    report = json_of(*call)
    assert report["findings"] == check(broker).counts and report["read"]["segments"] == 2
    assert "findings: " not in text_of(*call, "--no-findings", "--full")


def test_what_could_not_be_read_is_reported(broker, out, in_process, monkeypatch):
    """In text and in JSON; the rest is complete, and the status is 0."""

    def reader(path: Path):
        raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")

    monkeypatch.setattr(file, "reader", reader)
    lines = text_of("ingest", broker, "--catalog", out).splitlines()
    assert sum("not read: " in line and "may not be read" in line for line in lines) == 2
    assert len(json_of("ingest", broker, "--catalog", out)["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["nowhere", "--catalog", "out"], "is not there"),
        (["made", "--catalog", "made/inside"], "only read"),
        (["made/meta.properties", "--catalog", "out"], "is a file"),
        ([".", "--catalog", "out"], "looks like a broker directory"),
    ],
)
def test_what_cannot_be_is_2_and_one_line(broker, tmp_path, monkeypatch, arguments, fault):
    monkeypatch.chdir(tmp_path)
    assert fault in refusal_of("ingest", *arguments)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("line", ["ingest", "ingest DIR", "ingest --catalog OUT"])
def test_wrong_usage_is_2(line):
    assert refusal_of(*line.split())


def test_a_terminal_sees_one_line_that_changes(capsys, monkeypatch):
    """It is wiped before the summary; without a terminal there are few lines."""
    bytes_read = {"done_bytes": 10 << 20, "total_bytes": 40 << 20, "bytes_per_s": 5e8}
    states = [
        job.Progress(),
        job.Progress(state="reading", done_tasks=1, total_tasks=4, **bytes_read),
        job.Progress(state="writing", done_tasks=4, total_tasks=4),
    ]

    class Run:
        def wait(self, timeout_s: float) -> bool | None:
            return None if states else True

        def progress(self) -> job.Progress:
            return states.pop(0)

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ingest._watch(Run())
    assert capsys.readouterr().err.split("\r") == [
        "",
        "Spark is starting\x1b[K",
        "reading: 10 MiB of 40 MiB, task 1 of 4, 500 MB/s\x1b[K",
        "writing the catalog\x1b[K",
        "\x1b[K",
    ]


def command(*arguments: object, cache: Path) -> subprocess.Popen:
    """Starts kafkaviz in a process group of its own, with tasks of one segment each.

    A shell's background job ignores Ctrl-C, and so would its children.
    """
    environ = os.environ | {"KAFKAVIZ_CACHE": str(cache), "PYTHONUNBUFFERED": "1"}
    line, pipe = [sys.executable, "-c", SMALL_TASKS, *map(str, arguments)], subprocess.PIPE
    return subprocess.Popen(
        line,
        cwd=ROOT,
        env=environ,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def without_progress(err: str) -> list[str]:
    progress = ("Spark is starting", "reading: ", "writing")
    return [line for line in err.splitlines() if not line.startswith(progress)]


def content_of(folder: Path) -> dict[str, bytes]:
    """Returns every file of a catalog that readers depend on."""
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != "_catalog.lock" and ".staging" not in str(path)
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def until_reading(out: Path) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end and not list(out.glob(".staging-*/batches/*.parquet")):
        time.sleep(0.02)
    assert list(out.glob(".staging-*/batches/*.parquet"))


def descendants(root: int) -> set[int]:
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    found = {root}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_status_shows_the_signal(broker, out, monkeypatch, capsys, number):
    monkeypatch.setattr(os, "_exit", sys.exit)
    cancelled = []
    # the jobs that a shell runs in the background ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    class Run:
        def wait(self, timeout_s: float) -> None:
            os.kill(os.getpid(), number)
            time.sleep(5)

        def cancel(self) -> None:
            cancelled.append(True)

        def settle(self, timeout_s: float) -> None:
            pass

    monkeypatch.setattr(job, "start_ingest", lambda *arguments, **options: Run())
    try:
        with pytest.raises(SystemExit) as stop:
            main(["ingest", str(broker), "--catalog", str(out)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert stop.value.code == 128 + number and cancelled == [True]
    assert capsys.readouterr().err == "kafkaviz: stopped\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)]
)
def test_ctrl_c_leaves_the_catalog(broker, out, cache, tmp_path, in_process, number):
    """Status 130, or 143 for SIGTERM, one line and no wait."""
    in_process(broker, catalog=out)
    before = content_of(out)
    many = write_broker(tmp_path / "many", {"a-0": [[100] * 3] * 1000})
    with command("ingest", many, "--catalog", out, "--master", "local[2]", cache=cache) as process:
        until_reading(out)
        process.send_signal(number)
        printed = process.communicate(timeout=HANGS_S)
    assert process.returncode == 128 + number and printed[0] == ""
    assert without_progress(printed[1]) == ["kafkaviz: stopped"]
    assert content_of(out) == before and not list(out.glob(".staging-*"))


@pytest.mark.nightly
def test_kill_9_leaves_the_catalog(broker, out, cache, tmp_path, in_process):
    """No byte of it changes; the next run removes the leftovers and succeeds."""
    in_process(broker, catalog=out)
    before = content_of(out)
    many = write_broker(tmp_path / "many", {"a-0": [[100] * 3] * 300})
    with command("ingest", many, "--catalog", out, "--master", "local[2]", cache=cache) as process:
        until_reading(out)
        others = descendants(process.pid)
        process.kill()
    assert others
    end = time.monotonic() + 15
    while time.monotonic() < end and any(Path(f"/proc/{other}").exists() for other in others):
        time.sleep(0.1)
    assert not [other for other in others if Path(f"/proc/{other}").exists()]
    assert content_of(out) == before and list(out.glob(".staging-*"))
    assert catalog.read(out).info.rows["batches"] == 11
    in_process(many, catalog=out)
    assert not list(out.glob(".staging-*"))
    assert catalog.read(out).info.rows["batches"] == 900


@pytest.mark.nightly
def test_the_real_thing_says_nothing_but_its_own_words(broker, out, cache):
    """As a run that is stopped, and its stdout is the object alone."""
    with command("ingest", broker, "--catalog", out, "--json", cache=cache) as process:
        printed = process.communicate()
    assert process.returncode == 0 and json.loads(printed[0])["rows"]["batches"] == 11
    assert without_progress(printed[1]) == []
