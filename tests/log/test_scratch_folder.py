"""Temporary files are removed with their process, however it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.log.cache_folder import scratch_folder, sweep

WRITE = """
import sys, threading
from pathlib import Path
from kafkaviz.log.cache_folder import scratch_folder

def write() -> None:
    with scratch_folder(Path(sys.argv[1])) as folder:
        (folder / "x").touch()
        print("begun", flush=True)
        threading.Event().wait()

threading.Thread(target=write, daemon=True).start()
sys.stdin.read()
"""


def begun(parent: Path) -> subprocess.Popen:
    """Starts a process that writes in a thread, as a server does, and ends when its stdin ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    return process


def test_what_a_killed_process_left_is_swept(tmp_path):
    """Not while it lives; after a kill the next sweep, or the next writer, removes it."""
    other = tmp_path / "other"
    other.mkdir()
    with begun(tmp_path) as process:
        sweep(tmp_path)
        assert len(list(tmp_path.glob(".unpacking-*/x"))) == 1
        process.kill()
        process.wait()
    (tmp_path / ".unpacking-of-an-earlier-release").mkdir()
    assert len(list(tmp_path.iterdir())) == 3
    with scratch_folder(tmp_path) as folder:
        assert set(tmp_path.iterdir()) == {folder, other}
        sweep(tmp_path)
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == [other]


def test_a_server_that_is_stopped_leaves_nothing(tmp_path):
    with begun(tmp_path) as process:
        process.stdin.close()
        assert process.wait() == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_moved_away_stays(tmp_path):
    """Such as a completely unpacked archive; an error leaves nothing."""
    with scratch_folder(tmp_path / "new") as folder:
        (folder / "whole").mkdir(mode=0o700)
        (folder / "whole").rename(tmp_path / "whole")
    with pytest.raises(ValueError), scratch_folder(tmp_path / "new"):
        raise ValueError
    assert list((tmp_path / "new").iterdir()) == [] and (tmp_path / "whole").is_dir()
