"""Every command against a directory that changes all the time, for MINUTES."""

import os
import time
from pathlib import Path
from random import Random

import pytest

from kafkaviz.__main__ import main
from tests.live.churn import TOPICS, Churn, ended_well

MINUTES = float(os.environ.get("MINUTES") or 2)
LONGEST_S, STARTS_S = 60, 300  # of one command, and of one that may start Spark, on a busy machine
DUMPED = ("log", "index", "timeindex", "snapshot", "deleted")
DUMP_OPTIONS = (
    *("--print-data-log", "--deep-iteration", "--verify-index-only", "--index-sanity-check"),
    "--json",
)


def some_file(folder: Path, draw: Random, ending: str) -> str:
    try:
        paths = [str(path) for path in folder.glob(f"*/*.{ending}")]
    except OSError:  # a folder vanished under glob
        paths = []
    return draw.choice(paths or [str(folder / "orders-0" / f"{7:020d}.{ending}")])


def lookup(folder: Path, draw: Random) -> list[str]:
    is_offset = draw.random() < 0.5
    where = [
        str(folder / draw.choice(TOPICS)),
        some_file(folder, draw, "log"),
        some_file(folder, draw, "index" if is_offset else "timeindex"),
    ]
    if is_offset:
        return [draw.choice(where), "--offset", str(draw.randrange(600))]
    if draw.random() < 0.5:
        return [draw.choice(where[:2]), "--timestamp", draw.choice(("earliest", "latest", "max"))]
    return [draw.choice(where), "--timestamp", str(1_772_352_000_000 + draw.randrange(15_000))]


def command(folder: Path, out: Path, draw: Random) -> list[str]:
    part = str(folder / draw.choice(TOPICS))
    either = str(draw.choice([folder, folder / draw.choice(TOPICS)]))
    dump_options = [option for option in DUMP_OPTIONS if draw.random() < 0.4]
    report = [either, "-o", str(out / "report.html")]
    rebuilt = ["--out", str(out / "rebuilt")]
    options = {
        "check": [either, *draw.choice([[], ["--json"]])],
        "dump": [some_file(folder, draw, draw.choice(DUMPED)), *dump_options],
        "lookup": [*lookup(folder, draw), *draw.choice([[], ["--json"], ["--as-is"]])],
        "rebuild": [draw.choice([part, some_file(folder, draw, "log")]), *rebuilt],
        "report": [*report, *draw.choice([[], ["--sha256"], ["--payload"]])],
        "simulate": ["--replay", part, "--out", str(out / f"again-{draw.getrandbits(64)}")],
        "tune": [either, *draw.choice([[], ["--json"]])],
        "ingest": [either, "--catalog", str(out / "catalog"), "--master", "local[1]"],
    }
    name = draw.choice(sorted(options))
    return [name, *options[name]]


def churned(
    tmp_path: Path, capsys: pytest.CaptureFixture, seconds: float, seed: int
) -> dict[tuple[str, int], int]:
    """Returns how often each command ended how; asserts that each ended as it may."""
    draw, counts, out = Random(seed), {}, tmp_path / "out"
    out.mkdir()
    with Churn(tmp_path / "kafka", seed) as churn:
        end, first = time.monotonic() + seconds, churn.steps
        while time.monotonic() < end:
            argv, since = command(tmp_path / "kafka", out, draw), time.monotonic()
            status = main(argv)
            output = capsys.readouterr()
            assert ended_well(status, output), (argv, status, output.err)
            assert time.monotonic() - since < (STARTS_S if argv[0] == "ingest" else LONGEST_S), argv
            counts[argv[0], status] = counts.get((argv[0], status), 0) + 1
        assert churn.steps > first
    return counts


@pytest.mark.nightly
def test_a_directory_that_always_changes(tmp_path, capsys):
    counts = churned(tmp_path, capsys, 60 * MINUTES, seed=2)
    assert {name for name, status in counts if status != 2} == {
        *("check", "dump", "ingest", "lookup", "rebuild", "report", "simulate", "tune")
    }
