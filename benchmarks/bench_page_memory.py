"""The memory and time of the Segment and Lookup pages over 1 GiB of 100-byte batches.

The memory is counted above that of a server that shows a small segment, and the time until the
figure is sent to the browser. The rival is the table of all batches in the same run. There is no
browser: only the script runs, each page in its own process, from the first call on.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import crc32c
import numpy as np

from benchmarks import row
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END

ROOT = Path(__file__).parents[1]
BATCH_BYTES, COUNT, SMALL_COUNT = 100, (1 << 30) // 100, 1000
AT_ONCE = 100_000
INTERVAL_BYTES = 4096  # index.interval.bytes
START_MS = 1_790_000_000_000
# the functions of kafkaviz.app.frontend that draw what a page is about
FIGURES = {"segment": ["ruler"], "lookup": ["stepper", "search_race"]}
TABLE = "table"
TIMESTAMP = {"by": "timestamp", "target": str(START_MS + COUNT // 3)}
QUERIES: dict[str, tuple[str, dict[str, str]]] = {
    "Segment": ("segment", {}),
    "Lookup, an offset": ("lookup", {"by": "offset", "target": str(COUNT // 3)}),
    "Lookup, a timestamp": ("lookup", TIMESTAMP),
}


def run() -> list[str]:
    """Returns a row per page: its peak memory, and the time of the first run."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        write(small, SMALL_COUNT)
        write(large, COUNT)
        table = measure(TABLE, {}, small, large)
        return [
            _page_row(name, measure(page, query, small, large), table)
            for name, (page, query) in QUERIES.items()
        ]


def _page_row(name: str, page: dict[str, float], table: dict[str, float]) -> str:
    measured = (
        f"{page['peak_bytes'] / 2**20:.0f} MiB at most, its figure after "
        f"{page['figure_processor_s']:.1f} s of processor, all of it after "
        f"{page['processor_s']:.1f} s"
    )
    whole = (
        f"the table of all batches alone, {table['peak_bytes'] / 2**20:.0f} MiB, "
        f"{table['processor_s']:.1f} s of processor"
    )
    return row(
        f"{name}, 1 GiB of 100 B batches, first run",
        measured,
        whole,
        f"{table['peak_bytes'] / page['peak_bytes']:.0f} ×",
    )


def write(directory: Path, count: int) -> Path:
    """Writes a broker directory of one topic-partition with one segment, stopped cleanly; returns
    it.

    Its batches have one record of 32 bytes each and true checksums, and are a millisecond apart.
    Both indexes have what Kafka writes for single appends.
    """
    partition = directory / "orders-0"
    partition.mkdir(parents=True)
    (directory / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=memory\n")
    (directory / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    stem = partition / f"{0:020d}"
    with open(stem.with_suffix(".log"), "wb") as log:
        for first in range(0, count, AT_ONCE):
            log.write(_batches(first, min(AT_ONCE, count - first)))
    step = INTERVAL_BYTES // BATCH_BYTES + 1  # more than the interval lies between two entries
    rows = np.arange(step, count, step)
    entries = np.zeros(len(rows), offset_index.ENTRY)
    entries["relative_offset"], entries["position"] = rows, rows * BATCH_BYTES
    stem.with_suffix(".index").write_bytes(offset_index.build(entries))
    timed_rows = rows if not count or (len(rows) and rows[-1] == count - 1) else [*rows, count - 1]
    times = np.zeros(len(timed_rows), time_index.ENTRY)
    times["relative_offset"] = timed_rows
    times["timestamp_ms"] = START_MS + times["relative_offset"].astype(np.int64)
    stem.with_suffix(".timeindex").write_bytes(time_index.build(times))
    return directory


def _batches(first: int, count: int) -> bytes:
    header = np.zeros(count, HEADER)
    header["base_offset"] = np.arange(first, first + count)
    header["batch_length_bytes"], header["magic"] = BATCH_BYTES - LENGTH_END, 2
    header["base_timestamp_ms"] = header["max_timestamp_ms"] = START_MS + header["base_offset"]
    header["record_count"] = 1
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    value = bytes(range(32))
    # length, attributes, timestamp and offset delta, no key, value, no header
    record = bytes([2 * 38, 0, 0, 0, 1, 2 * len(value)]) + value + b"\0"
    data = np.zeros((count, BATCH_BYTES), np.uint8)
    data[:, :HEADER_BYTES] = header.view(np.uint8).reshape(count, HEADER_BYTES)
    data[:, HEADER_BYTES:] = np.frombuffer(record, np.uint8)
    covered = np.ascontiguousarray(data[:, CRC_START:])
    header["crc"] = [crc32c.crc32c(batch) for batch in covered]
    data[:, :HEADER_BYTES] = header.view(np.uint8).reshape(count, HEADER_BYTES)
    return data.tobytes()


def measure(what: str, query: dict[str, str], small: Path, large: Path) -> dict[str, float]:
    """Returns what showing the large segment takes in a process that has shown the small one.

    Args:
        what: a page, or TABLE for the table of all batches, which no page makes.
    """
    command = [sys.executable, "-m", __name__, what, json.dumps(query), str(small), str(large)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return json.loads(output.splitlines()[-1])


def _measure_here(what: str, query: dict[str, str], small: Path, large: Path) -> dict[str, float]:
    show = _make_table if what == TABLE else _run_page
    show(small, what, {})
    figure_times: list[float] = []
    if what != TABLE:
        _note_calls(FIGURES[what], figure_times)
    before_bytes = _resident_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    processor_s = time.process_time()
    kept = show(large, what, query)
    taken = {
        "processor_s": time.process_time() - processor_s,
        "peak_bytes": _resident_bytes("VmHWM") - before_bytes,
        "kept_bytes": _resident_bytes("VmRSS") - before_bytes,
    }
    del kept
    for figure_s in figure_times[:1]:
        taken["figure_processor_s"] = figure_s - processor_s
    return taken


def _note_calls(figures: list[str], times: list[float]) -> None:
    """Notes when one of the functions is called, in processor time."""
    from kafkaviz.app import frontend

    for figure in figures:
        setattr(frontend, figure, partial(_noted, getattr(frontend, figure), times))


def _noted(draw: Callable[..., Any], times: list[float], *arguments: Any, **keywords: Any) -> Any:
    times.append(time.process_time())
    return draw(*arguments, **keywords)


def _make_table(directory: Path, _what: str, _query: dict[str, str]) -> np.ndarray:
    from kafkaviz.log.broker import open_broker

    return open_broker(directory).partition("orders-0").segment(0).batches()


def _run_page(directory: Path, page_name: str, query: dict[str, str]) -> object:
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
    address = {"dir": str(directory), "tp": "orders-0", "segment": "0"} | query
    for name, value in address.items():
        page.query_params[name] = value
    page.switch_page(f"pages/{page_name}.py")
    page.run()
    assert not page.exception, page.exception
    return page


def _resident_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) * 1024


if __name__ == "__main__":
    _page, _query, _small, _large = sys.argv[1:]
    print(json.dumps(_measure_here(_page, json.loads(_query), Path(_small), Path(_large))))
