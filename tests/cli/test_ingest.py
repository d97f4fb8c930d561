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
from kafkaviz.analysis.broker_health import check
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.ingest import job
from tests.pipeline.small_logs import write_broker

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


def test_the_summary_goes_to_stdout(broker, out, in_process, capsys):
    """Tables with their rows, and how much was read and kept; stderr has only the progress."""
    assert main(["ingest", str(broker), "--catalog", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{out}: made"
    counts = check(broker).counts
    assert [line.split() for line in lines[1:12]] == [
        ["partitions", "1"],
        ["segments", "2"],
        ["batches", "11"],
        ["offset_entries", "9"],
        ["time_entries", "9"],
        ["sweep", "100"],
        ["findings", str(sum(counts.values()))],
        ["restart_steps", str(len(check(broker).restart.steps))],
        ["retention", "2"],
        ["checked", "3"],
        ["stamps", "3"],
    ]
    numbers = [counts["error"], counts["warning"], counts["info"]]
    words = ["error" if numbers[0] == 1 else "errors", "warning" if numbers[1] == 1 else "warnings"]
    assert lines[12] == "findings: " + ", ".join(
        f"{number} {word}" for number, word in zip(numbers, (*words, "info"), strict=True)
    )
    assert lines[13] == (
        "read 2 segments (1.19 KiB of .log); unchanged segments that were not read again: 0"
    )
    assert lines[14].startswith("in ")


def test_json_is_one_object(broker, out, in_process, capsys):
    assert main(["ingest", str(broker), "--catalog", str(out), "--json"]) == 0
    report, health = json.loads(capsys.readouterr().out), check(broker)
    assert report.pop("seconds") > 0 and health.counts["error"] > 0
    (stored_broker,) = report.pop("broker")
    (log_directory,) = stored_broker.pop("log_directories")
    assert stored_broker == {
        "name": "made",
        "path": str(broker),
        "node_id": "7",
        "cluster_id": "made",
    }
    assert log_directory["path"] == str(broker)
    assert report == {
        "schema": "ingest/1",
        "catalog": str(out),
        "read": {"segments": 2, "bytes": 1220},
        "kept": {"segments": 0},
        "check": {"level": "records", "unchecked_codes": []},
        "rows": {
            "partitions": 1,
            "segments": 2,
            "batches": 11,
            "offset_entries": 9,
            "time_entries": 9,
        }
        | {
            "sweep": 100,
            "findings": len(health.findings),
            "restart_steps": len(health.restart.steps),
            "retention": 2,
            "checked": 3,
            "stamps": 3,
        },
        "findings": health.counts,
        "problems": [],
    }
    main(["ingest", str(broker), "--catalog", str(out), "--json"])
    again = json.loads(capsys.readouterr().out)
    assert (again["read"], again["kept"]) == ({"segments": 0, "bytes": 0}, {"segments": 2})
    main(["ingest", str(broker), "--catalog", str(out), "--json", "--full"])
    assert json.loads(capsys.readouterr().out)["read"] == {"segments": 2, "bytes": 1220}


def test_findings_can_be_left_out(broker, out, in_process, capsys):
    """They are not mentioned; the next run without that option reads the segments and adds them."""
    assert main(["ingest", str(broker), "--catalog", str(out), "--no-findings", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] is None and (
        report["rows"]["findings"],
        report["rows"]["checked"],
    ) == (
        0,
        0,
    )
    main(["ingest", str(broker), "--catalog", str(out), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == check(broker).counts and report["read"]["segments"] == 2
    main(["ingest", str(broker), "--catalog", str(out), "--no-findings", "--full"])
    assert "findings: " not in capsys.readouterr().out


def test_what_could_not_be_read_is_reported(broker, out, in_process, capsys, monkeypatch):
    """In text and in JSON; the rest is complete, and the status is 0."""
    from kafkaviz.errors import CannotOpen
    from kafkaviz.log import file

    def reader(path: Path):
        raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")

    monkeypatch.setattr(file, "reader", reader)
    assert main(["ingest", str(broker), "--catalog", str(out)]) == 0
    assert (
        sum(
            "not read: " in line and "may not be read" in line
            for line in capsys.readouterr().out.splitlines()
        )
        == 2
    )
    main(["ingest", str(broker), "--catalog", str(out), "--json"])
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["nowhere", "--catalog", "out"], "is not there"),
        (["made", "--catalog", "made/inside"], "only read"),
        (["made/meta.properties", "--catalog", "out"], "is a file"),
        ([".", "--catalog", "out"], "looks like a broker directory"),
    ],
)
def test_what_cannot_be_is_2_and_one_line(broker, tmp_path, capsys, monkeypatch, arguments, fault):
    monkeypatch.chdir(tmp_path)
    assert main(["ingest", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and fault in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("line", ["ingest", "ingest DIR", "ingest --catalog OUT"])
def test_wrong_usage_is_2(line, capsys):
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2


def test_a_terminal_sees_one_line_that_changes(broker, out, capsys, monkeypatch):
    """It is wiped before the summary; without a terminal there are few lines."""
    from kafkaviz.cli import ingest

    states = [
        job.Progress(),
        job.Progress(
            done_tasks=1,
            total_tasks=4,
            done_bytes=10 << 20,
            total_bytes=40 << 20,
            bytes_per_s=5e8,
            state="reading",
        ),
        job.Progress(
            done_tasks=4,
            total_tasks=4,
            done_bytes=1,
            total_bytes=1,
            bytes_per_s=None,
            state="writing",
        ),
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
    descendants = {root}
    while (
        more := {process for process, parent in parents.items() if parent in descendants}
        - descendants
    ):
        descendants |= more
    return descendants - {root}


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
    assert [
        line
        for line in printed[1].splitlines()
        if not line.startswith(("Spark is starting", "reading: "))
    ] == ["kafkaviz: stopped"]
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


@pytest.mark.slow
def test_the_real_thing_says_nothing_but_its_own_words(broker, out, cache):
    with command("ingest", broker, "--catalog", out, "--json", cache=cache) as process:
        printed = process.communicate()
    assert process.returncode == 0 and json.loads(printed[0])["rows"]["batches"] == 11
    assert [
        line
        for line in printed[1].splitlines()
        if not line.startswith(("Spark is starting", "reading: ", "writing"))
    ] == []
