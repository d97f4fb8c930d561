"""`kafkaviz tune` on logs whose batches have times from one end of 64 bits to the other."""

import pytest

from tests.pipeline import whole_logs
from tests.support.commands import text_of

LEAST_MS, MOST_MS = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    "times_ms", [[0, MOST_MS], [MOST_MS, MOST_MS - 1], [LEAST_MS, MOST_MS], [-5, -1]], ids=str
)
def test_times_of_64_bits_are_taken(tmp_path, times_ms):
    """No batch time ends the sweep."""
    batches = [whole_logs.batch(offset, [times_ms[offset % 2]], 900) for offset in range(40)]
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(b"".join(batches))
    assert "40 batches" in text_of("tune", tmp_path / "t-0", "--kafka-version", "4.3.1")
