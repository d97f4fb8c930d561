"""The how-tos are true: every command that begins with $ prints the text below it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.console_blocks import BLOCK, LEFT_OUT, commands, missing

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, ("bash", "tar", "cmp"))),
        reason="the how-tos use bash, tar and cmp",
    ),
]


def printed(command: str, folder: Path) -> list[str]:
    """Returns the lines of its stdout, with the folder as the pages write it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = f'kafkaviz() {{ "{sys.executable}" -m kafkaviz "$@"; }}\n{command}'
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    output = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True
    ).stdout
    return output.replace(str(folder), LEFT_OUT).splitlines()


@pytest.mark.parametrize(
    "page",
    [
        *("teach.md", "disk-is-full.md", "operate.md"),
        pytest.param("tune.md", marks=pytest.mark.nightly),
    ],
)
def test_a_how_to_prints_what_it_tells(page, tmp_path):
    """The commands of a page run in one folder; blocks of text are parts of earlier output."""
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    everything: list[str] = []
    ran = 0
    for kind, block in BLOCK.findall((HOW_TO / page).read_text(encoding="utf-8")):
        if kind == "text" and page != "teach.md":  # there it is of a file that the reader writes
            assert set(filter(str.strip, block.splitlines())) - set(everything) == set()
            continue
        for command, expected in commands(block):
            lines = printed(command, tmp_path)
            assert missing(expected, lines) == [], command
            everything += lines
            ran += 1
    assert ran >= 2


def test_a_line_that_does_not_come_is_named():
    assert missing(["a", "...", "c"], ["a", "b", "c "]) == []
    assert missing(["b", "a"], ["a", "b"]) == ["a"]
