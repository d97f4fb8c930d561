"""Every command against a directory that changes all the time, for some seconds, or for MINUTES in
the slow test.
"""

import os
import time
from pathlib import Path
from random import Random

import pytest

from kafkaviz.__main__ import main
from tests.live import ends
from tests.live.churn import TOPICS, Churn

SECONDS, MINUTES = 6, float(os.environ.get("MINUTES") or 2)
LONGEST_S, STARTS_S = 60, 300  # of one command, and of one that may start Spark, on a busy machine
DUMPED = ("log", "index", "timeindex", "snapshot", "deleted")
DUMP_OPTIONS = (
    "--print-data-log",
    "--deep-iteration",
    "--verify-index-only",
    "--index-sanity-check",
    "--json",
)


def some_file(folder: Path, draw: Random, ending: str) -> str:
    try:
        paths = [str(path) for path in folder.glob(f"*/*.{ending}")]
    except OSError:  # a folder vanished under glob
        paths = []
    return draw.choice(paths or [str(folder / "orders-0" / f"{7:020d}.{ending}")])


def lookup(folder: Path, draw: Random) -> list[str]:
    if draw.random() < 0.5:
        where = [
            str(folder / draw.choice(TOPICS)),
            some_file(folder, draw, "log"),
            some_file(folder, draw, "index"),
        ]
        return [draw.choice(where), "--offset", str(draw.randrange(600))]
    where = [
        str(folder / draw.choice(TOPICS)),
        some_file(folder, draw, "log"),
        some_file(folder, draw, "timeindex"),
    ]
    return (
        [draw.choice(where[:2]), "--timestamp", draw.choice(("earliest", "latest", "max"))]
        if draw.random() < 0.5
        else [draw.choice(where), "--timestamp", str(1_772_352_000_000 + draw.randrange(15_000))]
    )


def command(folder: Path, out: Path, draw: Random, ingests: bool) -> list[str]:
    part, either = (
        str(folder / draw.choice(TOPICS)),
        str(draw.choice([folder, folder / draw.choice(TOPICS)])),
    )
    options = {
        "check": [either, *draw.choice([[], ["--json"]])],
        "dump": [
            some_file(folder, draw, draw.choice(DUMPED)),
            *(option for option in DUMP_OPTIONS if draw.random() < 0.4),
        ],
        "lookup": [*lookup(folder, draw), *draw.choice([[], ["--json"], ["--as-is"]])],
        "rebuild": [
            draw.choice([part, some_file(folder, draw, "log")]),
            "--out",
            str(out / "rebuilt"),
        ],
        "report": [
            either,
            "-o",
            str(out / "report.html"),
            *draw.choice([[], ["--sha256"], ["--payload"]]),
        ],
        "simulate": ["--replay", part, "--out", str(out / f"again-{draw.getrandbits(64)}")],
        "tune": [either, *draw.choice([[], ["--json"]])],
    } | (
        {"ingest": [either, "--catalog", str(out / "catalog"), "--master", "local[1]"]}
        if ingests
        else {}
    )
    name = draw.choice(sorted(options))
    return [name, *options[name]]


def churned(
    tmp_path: Path, capsys: pytest.CaptureFixture, seconds: float, seed: int, ingests: bool
) -> dict[tuple[str, int], int]:
    """Returns how often each command ended how; asserts that each ended as it may."""
    draw, counts, out = Random(seed), {}, tmp_path / "out"
    out.mkdir()
    with Churn(tmp_path / "kafka", seed) as churn:
        end, first = time.monotonic() + seconds, churn.steps
        while time.monotonic() < end:
            argv, since = command(tmp_path / "kafka", out, draw, ingests), time.monotonic()
            status = main(argv)
            output = capsys.readouterr()
            assert ends.well(status, output), (argv, status, output.err)
            assert time.monotonic() - since < (STARTS_S if argv[0] == "ingest" else LONGEST_S), argv
            counts[argv[0], status] = counts.get((argv[0], status), 0) + 1
        assert churn.steps > first
    return counts


@pytest.mark.nightly
def test_a_directory_that_always_changes(tmp_path, capsys):
    counts = churned(tmp_path, capsys, SECONDS, seed=1, ingests=False)
    assert sum(counts.values()) > 5


@pytest.mark.nightly
def test_a_directory_that_always_changes_for_minutes(tmp_path, capsys):
    """The same, with Spark."""
    counts = churned(tmp_path, capsys, 60 * MINUTES, seed=2, ingests=True)
    assert {name for name, status in counts if status != 2} == {
        "check",
        "dump",
        "ingest",
        "lookup",
        "rebuild",
        "report",
        "simulate",
        "tune",
    }
