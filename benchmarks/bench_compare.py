"""Compares two catalogs by their checksums, on Spark and with DuckDB, against reading the logs.

Each catalog is of 10 GiB of logs in batches of 16 KiB. Its rows are made here, as an ingest of such
logs would write them. Reading is measured on 1 GiB per side, both in the page cache, and multiplied
by ten.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import best, row
from kafkaviz.analysis.comparison.record_alignment import align
from kafkaviz.format.batch import HEADER
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.catalog import NAME
from kafkaviz.pipeline.catalog.schema import BATCHES, PARTITIONS, TABLES

BATCHES_PER_SIDE, BATCH_BYTES = 655_360, 16 << 10  # 10 GiB
PARTITION_COUNT = 64
PARTED_BATCHES = 100  # at the end of one partition, which differ
READ_BYTES, READ_SHARE = 1 << 30, 10
RECORDS = 16  # of each batch


def run() -> list[str]:
    """Returns a row per engine: its time, and how many times as long reading both sides takes."""
    with tempfile.TemporaryDirectory() as folder:
        catalogs = [write_catalog(Path(folder, side), side) for side in "ab"]
        brokers = [write_log(Path(folder, f"logs-{side}"), side) for side in "ab"]
        read_s = READ_SHARE * best(lambda: read_both(brokers), runs=2)
        engines = {"Spark, `local[2]`": on_spark(catalogs), "DuckDB": on_duckdb(catalogs)}
    what = (
        f"2 × 10 GiB in batches of 16 KiB, which are 2 × {BATCHES_PER_SIDE}, compared by checksums"
    )
    against = f"both logs read and compared, {read_s:.1f} s (ten times 2 × 1 GiB, page cache)"
    return [
        row(f"{what}: {engine}", f"{seconds:.1f} s", against, f"{read_s / seconds:.1f} ×")
        for engine, seconds in engines.items()
    ]


def on_spark(catalogs: list[Path]) -> float:
    """Returns the shortest of three times in a running session, and checks the answer."""
    from kafkaviz.pipeline.spark.session import session
    from kafkaviz.pipeline.sql.catalog_comparison import compare_on_spark, open_pair

    spark = session("local[2]")
    times = []
    for _ in range(3):
        start = time.perf_counter()
        rows = [line.asDict() for line in compare_on_spark(spark, open_pair(*catalogs)).collect()]
        times.append(time.perf_counter() - start)
        check(rows)
    return min(times)


def on_duckdb(catalogs: list[Path]) -> float:
    """Does the same in this process."""
    from kafkaviz.pipeline.sql.catalog_comparison import compare_catalogs, open_pair

    check(compare_catalogs(open_pair(*catalogs)))
    return best(lambda: compare_catalogs(open_pair(*catalogs)), runs=3)


def check(rows: list[dict]) -> None:
    """Checks that one partition differs, and no other."""
    assert len(rows) == PARTITION_COUNT
    (parted,) = (line for line in rows if line["relation"] != "same-batches")
    batches = BATCHES_PER_SIDE // PARTITION_COUNT
    assert parted["relation"] == "diverged" and parted["different_batches"] == 2 * PARTED_BATCHES
    assert parted["first_different_offset"] == (batches - PARTED_BATCHES) * RECORDS


def write_catalog(folder: Path, side: str) -> Path:
    """Writes the compared tables and the description."""
    numbers = np.arange(BATCHES_PER_SIDE)
    place, partition = np.divmod(numbers, PARTITION_COUNT)
    batches = BATCHES_PER_SIDE // PARTITION_COUNT
    is_parted = (partition == 0) & (place >= batches - PARTED_BATCHES)
    crcs = np.random.default_rng(1).integers(0, 1 << 32, BATCHES_PER_SIDE)
    epochs = np.where(is_parted, 3 if side == "a" else 5, 2)
    columns = {
        "topic": np.full(BATCHES_PER_SIDE, "orders"),
        "partition": partition,
        "segment_base_offset": np.zeros(BATCHES_PER_SIDE, np.int64),
        "position": place * BATCH_BYTES,
        "size_bytes": np.full(BATCHES_PER_SIDE, BATCH_BYTES),
        "base_offset": place * RECORDS,
        "last_offset": place * RECORDS + RECORDS - 1,
        "leader_epoch": epochs,
        "record_count": np.full(BATCHES_PER_SIDE, RECORDS),
        "crc": np.where(is_parted & (side == "b"), crcs ^ 1, crcs),
    }
    partitions = [
        {
            "topic": "orders",
            "partition": number,
            "directory": f"orders-{number}",
            "state": "current",
            "log_start_offset": 0,
            "log_end_offset": batches * RECORDS,
        }
        for number in range(PARTITION_COUNT)
    ]
    tables = {
        "batches": pa.table(
            {
                field.name: pa.array(columns[field.name]).cast(field.type)
                if field.name in columns
                else pa.nulls(BATCHES_PER_SIDE, field.type)
                for field in BATCHES
            }
        ),
        "partitions": pa.Table.from_pylist(partitions, PARTITIONS),
    }
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(table, folder / name / f"{name}-all.parquet", compression="zstd")
    source = catalog_info.CatalogSource(
        broker=side,
        path=folder,
        given=folder,
        node_id=None,
        cluster_id=None,
        directories=(),
        files={},
    )
    files = {name: {f"{name}-all.parquet": len(table)} for name, table in tables.items()}
    info = catalog_info.CatalogInfo(
        kafkaviz="benchmark",
        sources=(source,),
        tables={name: files.get(name, {}) for name in TABLES},
    )
    (folder / NAME).write_text(json.dumps(catalog_info.to_json(info)))
    return folder


def write_log(folder: Path, side: str) -> Broker:
    """Writes 1 GiB of batches, the last of which differs in its last byte.

    The checksums are wrong, which a comparison of equal bytes does not notice.
    """
    path = folder / "orders-0" / "00000000000000000000.log"
    path.parent.mkdir(parents=True)
    (folder / "meta.properties").write_text("version=1\n")
    count = READ_BYTES // BATCH_BYTES
    payload = np.random.default_rng(2).integers(0, 256, BATCH_BYTES - HEADER.itemsize, np.uint8)
    headers = np.zeros(count, HEADER)
    headers["base_offset"] = np.arange(count) * RECORDS
    headers["batch_length_bytes"], headers["magic"] = BATCH_BYTES - 12, 2
    headers["last_offset_delta"], headers["record_count"] = RECORDS - 1, RECORDS
    headers["producer_id"] = headers["producer_epoch"] = headers["base_sequence"] = -1
    with open(path, "wb") as out:
        for header in headers:
            out.write(header.tobytes() + payload.tobytes())
        if side == "b":
            out.seek(-1, 2)
            out.write(bytes([payload[-1] ^ 1]))
    return open_broker(folder)


def read_both(brokers: list[Broker]) -> None:
    """Does what `kafkaviz compare` does with both directories."""
    alignment = align(*(broker.partitions[0].live for broker in brokers))
    assert alignment.difference_count or alignment.damaged_batches != [0, 0]
