"""A run that was killed: what its tasks had finished is not read again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.ingest import job, task_results
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.ingest.commit import STAGING
from tests.pipeline.catalog_rows import assert_catalog_holds
from tests.pipeline.file_access import opened_files, touch
from tests.pipeline.small_logs import write_broker
from tests.support.ingest import InProcessRunner

SEGMENTS = [[100] * 5, [120] * 6, [90] * 7]

# an ingest with one task per segment, which its fourth task kills
KILLED = """
import os, signal, sys
from pathlib import Path
import pytest
from kafkaviz.pipeline.ingest import job, plan, task_runner
from tests.support import ingest

plan.MIN_BYTES = plan.MAX_BYTES = 1000
count, run_task = 0, task_runner.run_task

def run_and_kill(task, staging):
    global count
    count += 1
    if count > int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task, staging)

task_runner.run_task = run_and_kill
ingest.without_spark(pytest.MonkeyPatch())
ingest.run_ingest(Path(sys.argv[1]), catalog=Path(sys.argv[2]), findings=sys.argv[4] == "findings")
"""


@pytest.fixture
def broker(tmp_path) -> Path:
    return write_broker(tmp_path / "made", {"a-0": SEGMENTS, "b-1": SEGMENTS})


def kill_a_run(broker: Path, out: Path, tasks: int, findings: bool = False) -> None:
    """Starts a run and kills it with SIGKILL once so many tasks have ended."""
    arguments = [str(broker), str(out), str(tasks), "findings" if findings else "rows"]
    command = [sys.executable, "-c", KILLED, *arguments]
    process = subprocess.run(command, check=False, cwd=Path(__file__).parents[2])
    assert process.returncode == -signal.SIGKILL


def read_logs(opened: list[str]) -> set[str]:
    return {name for name in opened if name.endswith(".log")}


def test_what_a_killed_run_had_read_is_not_read_again(broker, in_process, out, monkeypatch):
    kill_a_run(broker, out, 4)
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out)
    assert len(read_logs(opened)) == run.done.read_segments == 2
    assert run.done.kept_segments == 4
    assert_catalog_holds(out, broker)
    assert not list(out.glob(f"{STAGING}*"))
    assert in_process(broker, catalog=out).progress().state == "fresh"


def test_findings_are_not_found_again(broker, in_process, out, tmp_path, monkeypatch):
    kill_a_run(broker, out, 5, findings=True)
    with opened_files(monkeypatch):
        run = in_process(broker, catalog=out, findings=True)
    assert run.done.kept_segments in (3, 4, 5)
    in_process(broker, catalog=tmp_path / "other", findings=True)
    for table in ("findings", "sweep", "batches", "segments", "retention"):
        resumed, other = (
            sorted(map(repr, catalog.read(path).table(table).to_pylist()))
            for path in (out, tmp_path / "other")
        )
        assert resumed == other


def test_a_run_killed_twice_keeps_both_parts(broker, in_process, out, monkeypatch):
    kill_a_run(broker, out, 2)
    (first,) = out.glob(f"{STAGING}*")
    kill_a_run(broker, out, 2)
    assert len(list(out.glob(f"{STAGING}*"))) == 2 and first.exists()
    assert in_process(broker, catalog=out).done.read_segments == 2
    assert_catalog_holds(out, broker)


def leave_a_task(broker: Path, out: Path, monkeypatch, **options: object) -> Path:
    """Starts a run that fails after its only task; returns its staging folder."""
    monkeypatch.setattr(plan_module, "MIN_BYTES", 1 << 28)

    class DyingRunner(InProcessRunner):
        def run(self, tasks: list, staging: Path) -> list:
            super().run(tasks, staging)
            os.rename(staging, staging.with_name("kept"))
            raise RuntimeError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(job, "task_runner", lambda spark, group: DyingRunner())
        run = job.start_ingest([broker], out, findings=False, **options)
        with pytest.raises(job.IngestError):
            run.wait()
    return (out / "kept").rename(out / f"{STAGING}killed")


@pytest.mark.parametrize("changed", [[], ["a-0/10"], ["a-0/0", "b-1/22"]])
def test_segments_that_changed_since_are_read(broker, in_process, out, monkeypatch, changed):
    leave_a_task(broker, out, monkeypatch)
    for name in changed:
        directory, base_offset = name.split("/")
        touch(broker / directory / f"{int(base_offset):020d}.log")
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out)
    assert len(read_logs(opened)) == run.done.read_segments == len(changed)
    assert_catalog_holds(out, broker)


@pytest.mark.parametrize("options", [{"full": True}, {"findings": True}])
def test_another_kind_of_run_reads_all(broker, in_process, out, monkeypatch, options):
    leave_a_task(broker, out, monkeypatch)
    assert in_process(broker, catalog=out, **options).done.read_segments == 6
    assert_catalog_holds(out, broker)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def other_rows(path: Path) -> None:
    path.unlink()


def nonsense(path: Path) -> None:
    path.write_bytes(b"PAR1")


@pytest.mark.parametrize("damage", [cut, other_rows, nonsense])
@pytest.mark.parametrize("folder", [task_results.FOLDER, "batches"])
def test_what_a_killed_machine_lost_is_read_again(
    broker, in_process, out, monkeypatch, damage, folder
):
    staging = leave_a_task(broker, out, monkeypatch)
    (path,) = (staging / folder).iterdir()
    damage(path)
    assert in_process(broker, catalog=out).done.read_segments == 6
    assert_catalog_holds(out, broker)


@pytest.mark.parametrize(
    "span",
    [
        ["../batches-00.parquet", 0, 5],
        ["batches-00.parquet", -1, 5],
        ["batches-00.parquet", 0, 0],
        ["segments-00.parquet", 0, 5],
    ],
)
def test_rows_elsewhere_are_not_taken(broker, in_process, out, monkeypatch, span):
    staging = leave_a_task(broker, out, monkeypatch)
    (path,) = (staging / task_results.FOLDER).iterdir()
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        row["spans"] = json.dumps(json.loads(row["spans"]) | {"batches": span})
    pq.write_table(pa.Table.from_pylist(rows, task_results.RESULTS), path)
    with pytest.raises(ValueError, match="no part of table"):
        list(task_results.read(staging, task_results.ResultFile(path.name, 0)))
    assert in_process(broker, catalog=out).done.read_segments == 6
    assert_catalog_holds(out, broker)


def test_a_summary_survives_its_file(broker, out, monkeypatch):
    staging = leave_a_task(broker, out, monkeypatch)
    (path,) = (staging / task_results.FOLDER).iterdir()
    summaries = list(task_results.read(staging, task_results.ResultFile(path.name, 0)))
    assert [summary.content.batches for summary in summaries] == [5, 6, 7] * 2
    assert json.dumps([summary.stop for summary in summaries]) == "[500, 720, 630, 500, 720, 630]"
