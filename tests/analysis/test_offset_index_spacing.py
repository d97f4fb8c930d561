"""Missing entries that a recovery would write, as opposed to gaps of restarts and settings."""

from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Finding
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.walk import walk
from kafkaviz.messages import message
from tests.analysis.lab import Lab

NAME, PLAIN = "index-differs-from-rebuild", "clicks-none-0"


@pytest.fixture
def lab(clean, tmp_path) -> Lab:
    return Lab(clean, tmp_path / "kafka", [PLAIN])


def written(rows: np.ndarray, starts: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns both indexes as a live broker writes them (LogSegment.append, 4.3.1), batch by batch.

    `starts`: the interval of a broker that starts before this batch; batch 0 is the first start.
    """
    entries, times, since, newest, owner = [], [], 0, -1, 0

    def add_time() -> None:
        if newest > (times[-1][0] if times else -1):
            times.append((newest, owner))

    for number, row in enumerate(rows.tolist()):
        row = dict(zip(rows.dtype.names, row, strict=True))
        if number in starts:
            add_time()  # a stop writes the last time entry
            since, interval = 0, starts[number]
        if row["max_timestamp_ms"] > newest:
            newest, owner = row["max_timestamp_ms"], row["last_offset"]
        if since > interval:
            entries.append((row["last_offset"], row["position"]))
            add_time()
            since = 0
        since += row["size_bytes"]
    add_time()
    return np.array(entries, offset_index.ENTRY), np.array(times, time_index.ENTRY)


def findings_with(lab: Lab, entries: np.ndarray, times: np.ndarray) -> list[Finding]:
    lab.entries(lab.files(PLAIN, ".index")[0], lambda _: entries)
    lab.entries(lab.files(PLAIN, ".timeindex")[0], lambda _: times)
    findings = check(lab.path, partition=PLAIN).findings
    assert not [finding for finding in findings if finding.severity == "error"]
    return [finding for finding in findings if finding.code == NAME]


def rows_of(lab: Lab) -> np.ndarray:
    return walk(lab.files(PLAIN, ".log")[0].read_bytes())[0]


@pytest.mark.parametrize("seed", range(12))
def test_restarts_and_changed_settings_leave_no_finding(lab, seed):
    """A restart here and there, with the same interval or from then on with another one."""
    random, rows = Random(seed), rows_of(lab)
    interval = random.choice([900, 4096, 9000])
    starts = {0: interval}
    at = 0
    while (at := at + random.randrange(2 * interval // 300 + 8, 120)) < len(rows):
        starts[at] = interval
    if seed % 3 == 0:
        later = random.choice(sorted(starts))
        starts = {
            number: start if number < later else 3 * interval for number, start in starts.items()
        }
    assert findings_with(lab, *written(rows, starts)) == []


def test_entries_lost_from_both_indexes_are_reported(lab):
    """One entry of each index. No missing time entry marks a stop, although timestamps grew."""
    entries, times = written(rows_of(lab), {0: 8192})
    lost = entries[12]
    left = times[times["relative_offset"] != lost["relative_offset"]]
    (finding,) = findings_with(lab, np.delete(entries, 12), left)
    assert finding.message.key == "finding.entries_missing"
    assert finding.message["entries"] == message("evidence.recovery_entries", n=1)
    assert finding.evidence.expected_hex == lost.tobytes().hex()
    assert finding.position == 12 * offset_index.ENTRY.itemsize


def test_entries_lost_from_one_index_are_reported(lab):
    entries, times = written(rows_of(lab), {0: 4096})
    (finding,) = findings_with(lab, np.delete(entries, [12, 13, 14]), times)
    assert finding.message.key == "finding.entries_missing"
    assert finding.message["entries"] == message("evidence.recovery_entries", n=3)
    assert finding.evidence.expected_hex == entries[12].tobytes().hex()
    assert findings_with(lab, np.delete(entries, 12), times) == []


def test_a_new_leader_epoch_decides_nothing(lab):
    rows = rows_of(lab)
    entries, times = written(rows, {0: 4096})
    lost = entries[12]
    middle = int(np.searchsorted(rows["position"], lost["position"]))
    lab.batches(
        lab.files(PLAIN, ".log")[0],
        lambda row: {"leader_epoch": 7} if row["position"] >= rows["position"][middle] else {},
    )
    left = times[times["relative_offset"] != lost["relative_offset"]]
    assert findings_with(lab, np.delete(entries, 12), left) == []


def test_an_emptied_time_index_says_nothing_of_before(lab):
    rows = rows_of(lab)
    entries, times = written(rows, {0: 4096, 150: 4096})
    later = times[times["relative_offset"] > rows["last_offset"][160]]
    assert findings_with(lab, entries, later) == []
