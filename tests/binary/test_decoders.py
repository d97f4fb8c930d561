"""The compiled decompressors accept the same bytes as the libraries that codec.decompress uses."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.binary.decoders import runs
from kafkaviz.binary.decoders.runs import FULL, REFUSED, SLACK_BYTES, RunDecompressor
from tests.support.compressed_data import check, compressed, contents, damaged, read_compiled

ROOT = Path(__file__).parents[2]
COMPRESSED = codec.CODECS[1:]
COMPILED = runs.COMPILED
TEXT = b"".join(b'{"order":%d,"status":"shipped"}' % number for number in range(5000))


@pytest.mark.parametrize("name", COMPILED)
def test_what_writers_write_is_taken(name):
    """The library decodes concatenated snappy streams and pyarrow's linked lz4 blocks."""
    refused = {
        number
        for content in contents()
        for number, data in enumerate(compressed(name, content))
        if not check(name, data)
    }
    assert refused == {"snappy": {2}, "lz4": {1}}[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_damaged_data_is_refused_or_read_as_the_library_reads_it(name):
    """Small data is cut and flipped at every byte, large data at some."""
    for content in contents():
        for data in compressed(name, content):
            for broken in damaged(data, step=max(1, len(data) // 80)):
                check(name, broken)


@pytest.mark.parametrize("name", COMPILED)
@settings(deadline=None, max_examples=60)
@given(data=st.binary(max_size=300).map(lambda some: some * 3), drawn=st.data())
def test_any_data_comes_back_and_any_damage_agrees(name, data, drawn):
    """Round trips of random data, and three overwritten bytes."""
    writing = drawn.draw(st.sampled_from(list(compressed(name, data))))
    check(name, writing)
    broken = bytearray(writing)
    for _ in range(3):
        broken[drawn.draw(st.integers(0, len(broken) - 1))] = drawn.draw(st.integers(0, 255))
    check(name, bytes(broken))


@pytest.mark.parametrize("name", COMPILED)
@settings(deadline=None, max_examples=60)
@given(tail=st.binary(max_size=80), kept=st.integers(0, 60))
def test_any_bytes_agree(name, tail, kept):
    """With and without the first bytes of real data in front."""
    check(name, codec.compress(name, TEXT[:400])[:kept] + tail)


@pytest.mark.parametrize("name", COMPILED)
def test_room_that_does_not_do_is_full(name):
    data = TEXT[:9000]
    small = codec.compress(name, data)
    assert read_compiled(name, small, room=len(data), before=b"before") == data
    assert read_compiled(name, small, room=len(data) - 1, before=b"before") == FULL
    assert read_compiled(name, small, room=0) == FULL


@pytest.mark.parametrize("name", COMPILED)
def test_nothing_is_copied_from_what_was_written_before(name):
    """A match reaches no further back than its range, because a batch is compressed alone."""
    if name == "snappy":
        data = b"\x08" + bytes([0 << 2]) + b"a" + bytes([(7 - 1) << 2 | 2, 2, 0])
    else:
        block = b"\x13a\x02\x00" + b"\x50abcde"
        data = bytes.fromhex("04224d18604082") + len(block).to_bytes(4, "little") + block + bytes(4)
    assert read_compiled(name, data, before=b"secret") == REFUSED


@pytest.mark.parametrize("name", COMPRESSED)
def test_runs_give_what_the_library_gives(name, monkeypatch):
    """Ranges of every size, some damaged, some larger than the buffer, keep their order."""
    pieces = [TEXT[: 37 * number] for number in range(200)] + [bytes(3 << 20), b"", TEXT]
    written = [codec.compress(name, piece) for piece in pieces]
    written[20] = written[20][:-9]
    written[30] = b"nothing"
    data = np.frombuffer(b"".join(written) + bytes(SLACK_BYTES), np.uint8)
    ends = np.cumsum([len(piece) for piece in written])
    starts = ends - [len(piece) for piece in written]
    expected = [piece for place, piece in enumerate(pieces) if place not in (20, 30)]
    for library_ranges in (1 << 60, 0):
        monkeypatch.setattr(runs, "LIBRARY_RANGES", library_ranges)
        places, bodies = [], []
        for run in RunDecompressor().runs(name, data, starts, ends):
            places += run.places.tolist()
            edges = [0, *run.ends.tolist()]
            bodies += [run.data[start:end].tobytes() for start, end in pairwise(edges)]
        assert [place for place in range(len(pieces)) if place not in (20, 30)] == places
        assert bodies == expected


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_limit_holds_for_each_range(name, monkeypatch):
    """A range that expands beyond the limit is in no run."""
    monkeypatch.setattr(runs, "LIBRARY_RANGES", 0)
    written = [codec.compress(name, TEXT[:size]) for size in (100, 101, 99)]
    data = np.frombuffer(b"".join(written) + bytes(SLACK_BYTES), np.uint8)
    ends = np.cumsum([len(piece) for piece in written])
    starts = ends - [len(piece) for piece in written]
    found = [
        place
        for run in RunDecompressor().runs(name, data, starts, ends, limit_bytes=100)
        for place in run.places.tolist()
    ]
    assert found == [0, 2]


def test_pyarrow_is_the_second_opinion():
    """pyarrow's lz4 and snappy share no code with the compiled decompressors."""
    assert codec.decompress("snappy", pa.compress(TEXT, "snappy", asbytes=True)) == TEXT


@pytest.mark.slow
def test_no_bound_is_crossed(tmp_path):
    """Whole and damaged data, with a bounds check at every load and store."""
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.support.compressed_data"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
