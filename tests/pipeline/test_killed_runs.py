"""An ingest that is killed with SIGKILL anywhere: readers see the old catalog or the new one, and
the next run takes the dead process's lock and succeeds.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES
from kafkaviz.pipeline.ingest import commit
from tests.pipeline import killed_ingest
from tests.pipeline.catalog_rows import assert_catalog_holds
from tests.pipeline.small_logs import write_broker, write_segment

Content = dict[str, list[str]]


def content(path: Path) -> Content:
    read = catalog.read(path)
    return {
        table: sorted(map(repr, read.table(table).to_pylist()))
        for table in TABLES
        if table not in OWN_TABLES
    }


def content_by_folder(path: Path) -> Content:
    """Returns every row by a listing of the run's folder."""
    current = (path / commit.CURRENT).resolve()
    return {
        table: sorted(map(repr, ds.dataset(current / table).to_table().to_pylist()))
        for table in TABLES
        if table not in OWN_TABLES
    }


@pytest.mark.parametrize(
    ("scenario", "every"),
    [
        pytest.param("from a whole catalog", 1, marks=pytest.mark.nightly),
        pytest.param("behind a killed run", 1, marks=pytest.mark.nightly),
        pytest.param("from a whole catalog", 23, marks=pytest.mark.slow),
        pytest.param("behind a killed run", 23, marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_leaves_the_old_catalog_or_the_new_one(in_process, tmp_path, scenario, every):
    """At each call that changes a folder, waits for the disk or takes the lock."""
    broker = write_broker(
        tmp_path / "made", {"a-0": [[100] * 5, [120] * 6], "b-1": [[90] * 8, [95] * 9]}
    )
    out, new = tmp_path / "catalog", tmp_path / "new"
    in_process(broker, catalog=out, findings=True)
    before = content(out)
    assert_catalog_holds(out, broker)
    write_segment(broker / "b-1", [95] * 12, 16)
    shutil.copytree(out, new, symlinks=True)
    in_process(broker, catalog=new, findings=True)
    after = content(new)
    assert_catalog_holds(new, broker)
    assert before != after
    ends = []
    arguments = [str(broker), str(out), scenario, str(every)]
    command = [sys.executable, "-m", killed_ingest.__name__, *arguments]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        for line in process.stdout:
            end = json.loads(line)
            path = Path(end["catalog"])
            now = content(path)
            assert now in (before, after) and content_by_folder(path) == now, end
            ends.append((end["killed"], now == after))
            in_process(broker, catalog=path, findings=True)
            assert content(path) == content_by_folder(path) == after, end
            assert_catalog_holds(path, broker)
            assert not list(path.glob(f"{commit.STAGING}*"))
            shutil.rmtree(path)
    assert process.returncode == 0
    assert ends == sorted(ends, key=lambda end: (not end[0], end[1]))
    assert not ends[-1][0] and ends[-1][1] and not ends[0][1]
    assert len(ends) > 60 // every and any(killed and is_new for killed, is_new in ends)
