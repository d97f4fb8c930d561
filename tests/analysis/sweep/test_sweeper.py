"""A sweep of the interval, compared with Kafka's counter, real indexes and golden numbers."""

import pickle

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.analysis import sweep
from kafkaviz.format.batch import BATCH
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.scan import translate
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.config import release_behaviour as writing
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.analysis import arrays
from tests.analysis.sweep import plain_sweep
from tests.analysis.sweep.plain_sweep import counted
from tests.support.tuning import quantile

KINDS = (sweep.BASE, sweep.EVERY)
TRACES = 1000


def trace(random: np.random.Generator) -> np.ndarray:
    """Draws a few batches: equal or not, of one record or several, with or without offset gaps, in
    or out of time order.
    """
    count = int(random.integers(1, 16))
    sizes = random.integers(70, random.choice([71, 100, 400, 3000]), count)
    table = arrays.batches(
        sizes.tolist(), random.integers(1, random.choice([2, 3, 9]), count).tolist()
    )
    gaps = np.cumsum(random.integers(0, random.choice([1, 4]), count))
    for name in ("base_offset", "last_offset"):
        table[name] += gaps
    table["max_timestamp_ms"] = random.integers(-1, random.choice([1, 5, 1000]), count)
    return table


@pytest.mark.slow
def test_equals_kafkas_counter_on_random_traces():
    random = np.random.default_rng(7)
    for _ in range(TRACES):
        batches, interval = trace(random), int(random.choice([0, 70, 99, 250, 1000, 5000]))
        kind, by_base = str(random.choice(KINDS)), bool(random.integers(2))
        append_bytes = random.choice([None, None, 150, 800, 4000])
        parts = sweep.parts(
            batches, [interval], targets=kind, by_base_offset=by_base, append_bytes=append_bytes
        )
        entries = (int(parts.entries[0]), int(parts.time_entries[0]))
        numbers = (*entries, counted(parts.headers_at(0)), int(parts.skipped_bytes[0]))
        assert numbers == plain_sweep.row(batches, interval, kind, by_base, append_bytes)


@pytest.mark.parametrize(
    ("interval", "entries"),
    [(4096, [5, 10, 15]), (4000, [5, 10, 15]), (3999, [4, 8, 12, 16]), (0, [*range(1, 20)])],
)
def test_twenty_batches_of_1000_bytes(interval, entries):
    """An entry needs strictly more than the interval, and never points to the first batch."""
    batches = arrays.batches([1000] * 20, [4] * 20)
    written, _ = plain_sweep.indexes(batches, interval)
    assert [position // 1000 for _, position in written] == entries
    assert sweep.sweep(batches, [interval])["entries"] == [len(entries)]


@pytest.mark.parametrize(("records", "mean"), [(10, 2 - 1 / 1000), (1, 1.0)])
def test_every_batch_indexed_still_costs_two_headers(records, mean):
    """The key is the batch's last offset, so only a batch of one record is found by its own entry.

    The first batch has no entry and costs 1.
    """
    rows = sweep.sweep(arrays.batches([500] * 1000, [records] * 1000), [0, 499])
    assert rows["headers_mean"].tolist() == [pytest.approx(mean), pytest.approx(mean)]
    assert rows["entries"].tolist() == [999, 999]


def test_below_the_smallest_batch_nothing_changes():
    """Every interval below the size of the smallest batch that another follows gives the same
    index; one at that size does not.
    """
    batches = arrays.batches([900, 700, 800, 100], [3] * 4)
    parts = sweep.parts(batches, [0, 64, 699, 700])
    assert parts.least_batch_bytes == 700
    assert parts.entries.tolist() == [3, 3, 3, 2]


@pytest.mark.parametrize(
    ("interval", "entries", "mean", "p99"), [(4096, 221_667, 4.12, 8), (65_536, 16_201, 34.9, 73)]
)
def test_a_gigabyte_of_lognormal_batches(interval, entries, mean, p99):
    random = np.random.default_rng(3)
    sigma = np.log(1 + 0.5) ** 0.5
    drawn = random.lognormal(np.log(1000) - sigma**2 / 2, sigma, 1_100_000)
    sizes = np.maximum(70, drawn).astype(np.int64)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), 1 << 30))]
    batches = np.zeros(len(sizes), BATCH)
    batches["size_bytes"] = sizes
    batches["base_offset"] = np.arange(len(sizes)) * 5
    batches["last_offset"] = batches["base_offset"] + 4
    row = sweep.sweep(batches, [interval])[0]
    assert row["entries"] == pytest.approx(entries, rel=0.005)
    assert row["headers_mean"] == pytest.approx(mean, rel=0.01)
    assert abs(row["headers_p99"] - p99) <= 1


def test_an_append_of_many_batches_costs_one_and_a_half_times_its_length():
    """A fetch has one entry, so a lookup inside it starts at the append before."""
    batches = arrays.batches([1000] * 20_000, [5] * 20_000)
    row = sweep.sweep(batches, [4096], append_bytes=64_000)[0]
    assert row["entries"] == 20_000 // 64
    assert row["headers_mean"] == pytest.approx(1.5 * 64, rel=0.02)
    assert sweep.sweep(batches, [4096])["headers_mean"][0] == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize(
    ("directory", "interval"),
    [
        ("heartbeat-0", 4096),
        ("orders-0", 4096),
        ("payments-0", 4096),
        ("dense-index-0", 0),
        ("sparse-index-0", 65_536),
    ],
)
def test_real_indexes_have_as_many_entries(clean, directory, interval):
    """The segments of a 4.3.1 broker, at the topic's interval."""
    for segment in open_broker(clean).partition(directory).live:
        parts = sweep.parts(segment.batches(), [interval])
        assert parts.entries[0] == len(segment.offset_index), segment.name
        assert parts.time_entries[0] == len(segment.time_index), segment.name


@pytest.mark.parametrize(
    ("directory", "row"),
    [
        ("heartbeat-0", (4096, 927, 18_588, 22.003, 22, 39, 43, 44, 2035)),
        ("payments-0", (0, 2164, 34_088, 1.883, 2, 2, 2, 2, 955)),
        ("orders-0", (0, 431, 8620, 1.982, 2, 2, 2, 2, 4909)),
    ],
)
def test_golden_rows_of_a_real_partition(clean, directory, row):
    segments = [segment.batches() for segment in open_broker(clean).partition(directory).live]
    result = sweep.sweep(segments, [row[0]], targets=sweep.EVERY)[0].item()
    assert (*result[:3], round(result[3], 3), *result[4:8], round(result[8])) == row


@pytest.mark.parametrize("version", ["4.3.1", "4.0"])
def test_every_offset_of_a_real_segment_as_the_lookup_has_it(clean, version):
    partition = open_broker(clean).partition("orders-0")
    segment = view_partition(partition).segments[0]
    search_profile = versions.search_profile(version)
    batches = partition.live[0].batches()
    parts = sweep.parts(
        batches, [4096], targets=sweep.EVERY, by_base_offset=search_profile.by_base_offset
    )
    headers = [
        len({header.position for header in translate(segment, offset, search_profile)[1].headers})
        for first, last in batches[["base_offset", "last_offset"]].tolist()
        for offset in range(first, last + 1)
    ]
    assert counted(parts.headers_at(0)) == counted(np.bincount(headers))


@pytest.mark.parametrize("interval", [0, 300, 4096, 40_000])
@pytest.mark.parametrize("version", ["4.3.1", "3.9"])
def test_the_writer_writes_as_many_entries(interval, version):
    """simulate.writer.writer.Log with the same batches in appends of several. Releases up to 4.0.0
    index an append once.
    """
    random = np.random.default_rng(5)
    sizes, counts = random.integers(80, 2000, 3000), random.integers(1, 6, 3000)
    table = arrays.batches(sizes.tolist(), counts.tolist())
    table["max_timestamp_ms"] += random.integers(-40, 40, 3000)
    rows = arrays.incoming(table, np.arange(3000) // 3)
    log = UnifiedLog(
        LogConfig(index_interval_bytes=interval),
        writing(tuple(map(int, version.split(".")))),
        now_ms=0,
        is_leader=False,
    )
    log.append(rows)
    log.close(now_ms=0)
    sweeper = sweep.Sweeper([interval], by_append=version == "3.9")
    sweeper.observe(rows)
    result = sweeper.result()
    (written,) = log.segments
    assert result.entries[0] == len(written.index.entries)
    assert result.time_entries[0] == len(written.timeindex.entries)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_base", [False, True])
@pytest.mark.parametrize("append_bytes", [None, 2000])
def test_chunks_and_sums_are_one_pass(kind, by_base, append_bytes):
    """A segment may be read in pieces of any length, and sums may be added after pickling."""
    random = np.random.default_rng(2)
    how = {"targets": kind, "by_base_offset": by_base, "append_bytes": append_bytes}
    segments = [
        arrays.batches(
            random.integers(70, 900, count).tolist(), random.integers(1, 4, count).tolist()
        )
        for count in (500, 1, 77)
    ]
    single_pass = sweep.parts(segments, **how)
    total = sweep.no_parts()
    for segment in segments:
        sweeper = sweep.Sweeper(**how)
        for piece in np.split(segment, np.unique(random.integers(0, len(segment) + 1, 9))):
            sweeper.observe(piece)
        total = total + pickle.loads(pickle.dumps(sweeper.result()))
    assert total.sweep().tolist() == single_pass.sweep().tolist()
    for name in ("batches", "segments", "targets", "log_bytes", "least_batch_bytes"):
        assert getattr(total, name) == getattr(single_pass, name), name
    log_bytes = sum(int(segment["size_bytes"].sum()) for segment in segments)
    assert (total.segments, total.batches, total.log_bytes) == (3, 578, log_bytes)


def test_nothing_to_sweep():
    for rows in (sweep.sweep([]), sweep.sweep(np.zeros(0, BATCH))):
        assert not rows["entries"].any() and not rows["headers_max"].any()
        assert np.isnan(rows["headers_mean"]).all() and np.isnan(rows["skipped_bytes_mean"]).all()
    assert len(sweep.sweep([])) == len(sweep.INTERVALS) == 50


def test_what_is_no_sweep_is_refused():
    with pytest.raises(ValueError, match="no interval is -1 bytes"):
        sweep.Sweeper([-1])
    with pytest.raises(ValueError, match="no batch is 0 bytes"):
        sweep.sweep(arrays.batches([100, 0, 100]))
    with pytest.raises(ValueError, match="different intervals"):
        sweep.no_parts([0]) + sweep.no_parts([1])


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [([0, 2, 2], 0.5, 1), ([0, 2, 2], 0.51, 2), ([0, 0, 1], 0.01, 2), ([], 0.5, 0)],
)
def test_quantile(counts, share, expected):
    """The least counted number that this share does not exceed, never a mean of two."""
    assert quantile(np.array(counts, np.int64), share) == expected
