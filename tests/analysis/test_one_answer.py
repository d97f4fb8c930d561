import contextlib
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import lookup_in_view
from tests.pipeline.source_reading import read
from tests.search.damaged_logs import make_log

SEEDS = st.integers(0, 2**31)


def dumped(log: Path) -> list[tuple[dict, list[dict]]]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(["dump", str(log), "--print-data-log", "--json"]) == 0
    batches: list[tuple[dict, list[dict]]] = []
    out.flush()
    for line in map(json.loads, out.buffer.getvalue().splitlines()):
        if line["kind"] == "batch":
            batches.append((line, []))
        elif line["kind"] == "record":
            batches[-1][1].append(line)
    return batches


def damaged_places(directory: Path) -> Iterator[tuple[str, range]]:
    for finding in check(open_broker(directory)).findings:
        if finding.severity == "error":
            start = finding.position or 0
            length = 2**62 if finding.length is None else finding.length
            yield Path(finding.file or "").suffix, range(start, start + max(length, 1))


def assert_answers_agree(seed: int) -> None:
    """Checks one damaged log in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "t-0"
        make_log(seed, directory)
        batches = dumped(directory / f"{0:020}.log")
        places = list(damaged_places(directory))
        records = {
            (record["offset"], -1 if record["timestamp_ms"] is None else record["timestamp_ms"])
            for _, chunk in batches
            for record in chunk
        }
        rows = read("kafka_records", directory, mode="DROPMALFORMED").to_pylist()
        delivered = {row["offset"] for row in rows}
        log = view_partition(open_broker(directory).partitions[0])
        profile = versions.search_profile()
        is_index_sound = not any(suffix.endswith("index") for suffix, _ in places)

        def is_damaged(position: int) -> bool:
            return any(suffix == ".log" and position in place for suffix, place in places)

        # what the source gives as a row is printed, and what a consumer finds; but for a damaged
        # batch, of which a consumer may get records that Kafka's dump tool does not print
        offsets = {offset for offset, _ in records}
        assert delivered <= offsets
        for offset in range(13):
            result = lookup_in_view(log, profile, offset=offset)
            if result.record and not is_damaged(result.record.batch_position):
                assert (result.answer.offset, result.answer.timestamp_ms) in records

        # a batch that is sound to `check` is printed completely and delivered; in front of all damage
        # it is found too, unless Kafka throws for the batch after it
        first_damage = min((p.start for suffix, p in places if suffix == ".log"), default=2**63)
        for batch, chunk in batches:
            if is_damaged(batch["position"]):
                continue
            found_offsets = [record["offset"] for record in chunk]
            assert found_offsets and found_offsets[-1] == batch["last_offset"]
            assert delivered.issuperset(found_offsets)
            if batch["position"] > first_damage or not is_index_sound:
                continue
            for offset in found_offsets:
                result = lookup_in_view(log, profile, offset=offset)
                assert result.error or result.answer.offset == offset


@given(SEEDS)
@settings(max_examples=8, deadline=None)
def test_a_few_damaged_logs(seed):
    assert_answers_agree(seed)


@pytest.mark.nightly
@given(SEEDS)
@settings(max_examples=400, deadline=None)
def test_many_damaged_logs(seed):
    assert_answers_agree(seed)
