import pytest

from kafkaviz.simulate.appends import DiscardedLogs, LogBytes, MemoryLogs
from kafkaviz.simulate.directory.folder import DiskLogs


@pytest.fixture(params=["memory", "disk"])
def logs(request, tmp_path):
    """Returns two .log files, of which the second is written to."""
    logs = MemoryLogs() if request.param == "memory" else DiskLogs(tmp_path / "t-0")
    logs.append(0, b"first")
    logs.append(7, memoryview(b"sec"))
    logs.append(7, b"ond")
    yield logs
    if isinstance(logs, DiskLogs):
        logs.close()


def content(logs: LogBytes, base_offset: int) -> bytes:
    return logs.stored(base_offset).content()


def test_what_was_appended_is_stored(logs):
    assert (content(logs, 0), content(logs, 7), content(logs, 9)) == (b"first", b"second", b"")
    assert logs.stored(9).name == f"{9:020}.log"


def test_a_log_is_cut_and_written_on(logs, tmp_path):
    logs.cut(7, 3)
    logs.cut(9, 0)
    assert content(logs, 7) == b"sec"
    if isinstance(logs, DiskLogs):
        assert (tmp_path / "t-0" / f"{7:020}.log").read_bytes() == b"sec"
    logs.append(7, b"ret")
    assert content(logs, 7) == b"secret"


def test_a_deleted_log_is_begun_again(logs):
    for base_offset in (7, 0, 9):
        logs.delete(base_offset)
        assert content(logs, base_offset) == b""
    logs.append(7, b"again")
    assert content(logs, 7) == b"again"


def test_a_batch_without_bytes_cannot_be_kept(logs):
    with pytest.raises(ValueError, match="without its bytes"):
        logs.append(7, None)


def test_a_counter_has_nothing_to_read_again():
    counter = DiscardedLogs()
    counter.append(0, None)
    with pytest.raises(ValueError, match="written without its bytes"):
        counter.stored(0)
