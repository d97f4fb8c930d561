"""A sample of a log: its estimates against the exact numbers, and what stays exact."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.analysis.tuning import log_windows
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.analysis.tuning.tuning_case import TuningCase
from kafkaviz.simulate.producers.workload import load

SAMPLE_BYTES = 4 << 20
WORKLOAD = """
topic = "{shape}"
[settings]
"segment.bytes" = 8388608
"""
# records per batch and bytes per record of each phase, which has 12 MB
SHAPES = {"tiny": [(1, 100), (1, 120)], "mixed": [(2, 150), (40, 150)], "large": [(1000, 100)] * 2}
PHASE = """
[[phase]]
batches = {batches}
batches_per_s = 50
records_per_batch = {records}
value_bytes = {{ least = {least}, most = {most} }}
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns a topic-partition of each shape, of 24 MB in four segments."""
    partitions = {}
    for shape, phases in SHAPES.items():
        text = WORKLOAD.format(shape=shape)
        for records, value_bytes in phases:
            text += PHASE.format(
                batches=12_000_000 // (75 + records * (value_bytes + 20)),
                records=records,
                least=value_bytes - 30,
                most=value_bytes + 30,
            )
        folder = tmp_path_factory.mktemp(shape) / "kafka"
        kv.simulate(load(text)).write(folder)
        partitions[shape] = folder / f"{shape}-0"
    return partitions


@pytest.fixture(scope="module", autouse=True)
def _small_windows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_windows, "WINDOW_BYTES", 512 << 10)
        yield


@pytest.fixture(scope="module", params=SHAPES)
def cases(request, logs: dict[str, Path]) -> list[TuningCase]:
    """Returns the exact numbers of a shape, and those of a sample."""
    path = logs[request.param]
    return [open_source(path, most_bytes=most_bytes).total for most_bytes in (None, SAMPLE_BYTES)]


def test_estimates_are_near_the_exact_numbers(cases: list[TuningCase]):
    """All intervals up to a sixteenth of a window."""
    exact, sampled = cases
    assert exact.sample.is_whole and not sampled.sample.is_whole
    assert sampled.sample.sampled_bytes < 1.05 * SAMPLE_BYTES and len(sampled.sample.windows) == 8
    rows, estimates = (case.measurement.parts.sweep() for case in cases)
    shown = rows["interval_bytes"] <= 32 << 10
    columns = ("entries", "index_bytes", "headers_mean", "headers_p99")
    for column in columns:
        assert estimates[column][shown] == pytest.approx(rows[column][shown], rel=0.05), column
    today, estimate = (
        case.measurement.current_cost(case.today.interval_bytes).parts.sweep()[0] for case in cases
    )
    for column in columns:
        assert estimate[column] == pytest.approx(today[column], rel=0.05), column


def test_settings_and_files_are_exact(cases: list[TuningCase]):
    exact, sampled = cases
    assert sampled.today == exact.today
    assert sampled.disk_entries == exact.disk_entries
    assert sampled.index_files == exact.index_files
    assert sampled.measurement.segments == exact.measurement.segments
    assert sampled.measurement.log_bytes == exact.measurement.log_bytes
    parts = sampled.measurement.parts
    totals = [parts.headers_at(place).sum() for place in range(len(parts.intervals))]
    assert set(totals) == {parts.targets}


def test_a_window_of_the_whole_log_is_exact(logs: dict[str, Path]):
    exact = open_source(logs["mixed"], most_bytes=None).total
    sampled = open_source(logs["mixed"], most_bytes=exact.sample.log_bytes).total
    assert sampled.sample.is_whole
    assert np.array_equal(sampled.measurement.parts.sweep(), exact.measurement.parts.sweep())


def test_topics_have_the_same_share_of_a_sample(logs: dict[str, Path], tmp_path: Path):
    for path in logs.values():
        (tmp_path / path.name).symlink_to(path)
    source = open_source(tmp_path, most_bytes=SAMPLE_BYTES)
    total = source.total
    assert total.sample.sampled_bytes == pytest.approx(SAMPLE_BYTES, rel=0.05)
    shares = [case.sample.sampled_bytes / case.sample.log_bytes for case in source.cases]
    assert shares == pytest.approx([np.mean(shares)] * 3, rel=0.1)
    assert total.measurement.log_bytes == sum(case.sample.log_bytes for case in source.cases)
    batches = [case.measurement.parts.batches for case in source.cases]
    assert total.measurement.parts.batches == sum(batches)


def test_the_answer_says_what_is_estimated(logs: dict[str, Path], capsys):
    assert main(["tune", str(logs["large"]), "--sample", "4MiB", "--json"]) == 0
    sample = json.loads(capsys.readouterr().out)["sample"]
    assert (sample["windows"], sample["segments"], sample["is_whole"]) == (8, 3, False)
    assert sample["sampled_bytes"] < 5 << 20 < sample["log_bytes"]
    assert main(["tune", str(logs["large"]), "--sample", "all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sample"]["is_whole"]
    assert main(["tune", str(logs["large"]), "--sample", "4MiB"]) == 0
    assert "their error is unknown" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("size", ["0", "many", "5KB", "-1MiB"])
def test_other_sizes_of_a_sample_are_refused(size: str, capsys):
    with pytest.raises(SystemExit):
        main(["tune", "heartbeat", f"--sample={size}"])
    assert "128MiB" in capsys.readouterr().err
