import pytest

from kafkaviz.analysis.segment import tail
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message


@pytest.fixture(scope="module")
def log(clean) -> tuple[bytes, int, int]:
    """Returns the bytes of a log, where its last batch starts, and the last offset before that."""
    segment = open_broker(clean).partition("orders-1").active
    batches = segment.batches()
    return (
        file.read(segment.log.path),
        int(batches["position"][-1]),
        int(batches["last_offset"][-2]),
    )


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (bytes(512), "512 zero bytes at the end"),
        (bytes(1), "1 zero byte at the end"),
        (b"\xff" * 45, "45 bytes that are not a batch"),
        (b"\xff", "1 byte that is not a batch"),
        (b"garbage", "7 bytes that are not a batch"),
        (b"\x00" * 20 + b"\x01" * 25, "45 bytes that are not a batch"),
    ],
)
def test_what_is_no_batch(tmp_path, log, behind, words):
    data, position, last_offset = log
    path = tmp_path / "torn.log"
    path.write_bytes(data[:position] + behind)
    assert str(tail.read(file.info(path), position, last_offset).summary) == words


@pytest.mark.parametrize("kept_bytes", [17, 61, 100])
def test_a_batch_cut_short(tmp_path, log, kept_bytes):
    data, position, last_offset = log
    path = tmp_path / "cut.log"
    path.write_bytes(data[: position + kept_bytes])
    assert tail.read(file.info(path), position, last_offset).summary == message("tail.torn")


def test_a_batch_from_before_does_not_belong(tmp_path, log):
    """Its offset is below the last one, so it does not continue the log."""
    data, position, last_offset = log
    path = tmp_path / "old.log"
    path.write_bytes(data[:position] + data[:100])
    assert tail.read(file.info(path), position, last_offset).summary == message(
        "tail.garbage", n=100
    )


def test_a_long_tail_is_read_in_part(tmp_path, monkeypatch, log):
    data, position, last_offset = log
    path = tmp_path / "long.log"
    path.write_bytes(data[:position] + bytes(4096))
    monkeypatch.setattr(tail, "READ_BYTES", 4095)
    assert tail.read(file.info(path), position, last_offset).summary == message(
        "tail.long", size=4096
    )
