import pytest

from kafkaviz.binary import codec
from kafkaviz.format import names, record
from kafkaviz.format.metadata import TOPIC_RESOURCE
from kafkaviz.format.record import Record
from kafkaviz.log import metadata_log
from kafkaviz.log.broker import open_broker
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import open_partition
from kafkaviz.messages import message, verbatim
from tests.pipeline import whole_logs
from tests.support.legacy_messages import build_message

ID = bytes(15) + b"\1"
BEGIN, END, ABORT = (bytes([1, kind, 0, 0]) for kind in (23, 24, 25))
FIRST = "00000000000000000000.log"


def text(value: str | None) -> bytes:
    return b"\0" if value is None else bytes([len(value) + 1]) + value.encode()


def topic(name: str) -> bytes:
    return b"\1\2\0" + text(name) + ID + b"\0"


def config(name: str, value: str | None) -> bytes:
    return b"\1\4\0\2" + text("orders") + text(name) + text(value) + b"\0"


def remove() -> bytes:
    return b"\1\x09\0" + ID + b"\0"


def partition(number: int, *replicas: int) -> bytes:
    lists = 2 * nodes(*replicas) + 2 * nodes()
    return b"\1\3\0" + number.to_bytes(4, "big") + ID + lists + bytes(12) + b"\0"


def nodes(*replicas: int) -> bytes:
    return bytes([len(replicas) + 1]) + b"".join(node.to_bytes(4, "big") for node in replicas)


def moved(number: int, *replicas: int) -> bytes:
    written = nodes(*replicas)
    return b"\1\5\0" + number.to_bytes(4, "big") + ID + bytes([1, 2, len(written)]) + written


def batch(base_offset: int, values: list[bytes], codec_name: str = "none") -> bytes:
    body = record.build(
        Record(offset_delta=delta, timestamp_delta_ms=0, key=None, value=value)
        for delta, value in enumerate(values)
    )
    packed = body if codec_name == "none" else codec.compress(codec_name, body)
    number = codec.CODECS.index(codec_name)
    return whole_logs.framed(base_offset, packed, [0] * len(values), number)


@pytest.fixture(params=["few bytes", "compiled"], autouse=True)
def both_ways(request, monkeypatch):
    """Runs each test twice: with a small log, read without compiled code, and as a large one."""
    if request.param == "compiled":
        monkeypatch.setattr(metadata_log, "FEW_BYTES", -1)


def replay_image(path, log: bytes, **snapshots: bytes) -> MetadataImage:
    directory = path / metadata_log.DIRECTORY
    directory.mkdir(parents=True)
    (directory / FIRST).write_bytes(log)
    for end_offset, data in snapshots.items():
        (directory / f"{int(end_offset[1:]):020}-0000000001.checkpoint").write_bytes(data)
    return metadata_log.build_image(
        open_partition(directory, names.parse_directory(metadata_log.DIRECTORY))
    )


def configs(state: MetadataImage) -> dict:
    return {name: config.value for name, config in state.topic_configs("orders").items()}


def test_later_records_win_and_null_takes_away(tmp_path):
    first = batch(0, [topic("orders"), config("a", "1"), config("b", "1")])
    state = replay_image(tmp_path, first + batch(3, [config("a", "2"), config("b", None)]))
    assert (configs(state), list(state.topic_ids), state.end_offset) == ({"a": "2"}, ["orders"], 5)
    assert state.topic_configs("orders")["a"] == ("2", FIRST, 3)


def test_a_removed_topic_forgets_its_settings(tmp_path):
    log = batch(0, [topic("orders"), config("a", "1"), remove(), topic("orders")])
    assert configs(replay_image(tmp_path, log)) == {}


@pytest.mark.parametrize(
    ("end", "expected"), [(END, {"a": "2"}), (ABORT, {"a": "1"}), (None, {"a": "1"})]
)
def test_a_transaction_counts_once_it_ends(tmp_path, end, expected):
    """An aborted or unfinished one does not."""
    values = [topic("orders"), config("a", "1"), BEGIN, config("a", "2")]
    log = batch(0, [*values, end] if end else values)
    assert configs(replay_image(tmp_path, log)) == expected


def test_the_log_is_replayed_from_the_end_of_the_newest_snapshot(tmp_path):
    log = batch(0, [topic("orders"), config("old", "1")]) + batch(2, [config("new", "1")])
    newest = batch(0, [topic("orders"), config("kept", "1")])
    state = replay_image(tmp_path, log, _1=batch(0, [topic("stale")]), _2=newest)
    assert configs(state) == {"kept": "1", "new": "1"}
    assert state.snapshot == f"{2:020}-0000000001.checkpoint"


def test_a_snapshot_that_cannot_be_read_gives_way_to_the_one_before(tmp_path):
    good = batch(0, [topic("orders"), config("a", "1")])
    bad = batch(0, [topic("orders"), config("a", "2")]).replace(text("2"), text("3"))
    state = replay_image(tmp_path, b"", _1=good, _2=bad)
    (problem,) = state.problems
    assert (configs(state), problem.path.name[:20]) == ({"a": "1"}, f"{2:020}")


def test_a_batch_with_a_wrong_checksum_ends_the_log(tmp_path):
    wrong = batch(2, [config("a", "2")]).replace(text("2"), text("3"))
    state = replay_image(tmp_path, batch(0, [topic("orders"), config("a", "1")]) + wrong)
    assert (configs(state), len(state.problems), state.end_offset) == ({"a": "1"}, 1, 2)


def test_a_record_that_cannot_be_read_is_reported_and_passed_over(tmp_path):
    log = batch(0, [topic("orders"), config("a", "1")[:-3], config("b", "1")])
    state = replay_image(tmp_path, log)
    kafkas = verbatim("Failed to deserialize record with type 4")
    assert configs(state) == {"b": "1"}
    (problem,) = state.problems
    assert problem.what == message("corrupt.at_record", offset=1, problem=kafkas)


@pytest.mark.parametrize("step", [1, 3])
def test_a_flipped_log_is_no_more_than_a_problem(tmp_path, clean, step):
    source = clean / metadata_log.DIRECTORY
    data = (source / FIRST).read_bytes()
    for at in range(step, len(data), len(data) // 40):
        flipped = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        assert replay_image(tmp_path / str(at), flipped).end_offset <= 1_000_000


def test_replicas_are_those_of_the_last_change(tmp_path):
    """A change in a transaction counts once that ends, and a removed topic has none."""
    first = [topic("orders"), partition(0, 1, 2), partition(1, 2, 3), moved(1, 3, 1)]
    state = replay_image(tmp_path / "a", batch(0, [*first, BEGIN, moved(0, 9), ABORT]))
    assert list(state.replicas.values()) == [{0: (1, 2), 1: (3, 1)}]
    assert set(state.replicas) == set(state.topic_ids.values())
    ended = replay_image(tmp_path / "b", batch(0, [*first, BEGIN, moved(0, 9), END]))
    assert list(ended.replicas.values()) == [{0: (9,), 1: (3, 1)}]
    assert replay_image(tmp_path / "c", batch(0, [*first, remove()])).replicas == {}


def test_a_real_log(clean):
    state = metadata_log.read_image(open_broker(clean))
    assert state.snapshot == "00000000000000000222-0000000001.checkpoint"
    assert (state.features["metadata.version"], state.problems) == (30, [])
    assert state.configs[TOPIC_RESOURCE, "tiny-index"]["segment.index.bytes"].value == "300"
    assert set(state.replicas) == set(state.topic_ids.values())
    of_topics = state.replicas.values()
    assert {replicas for partitions in of_topics for replicas in partitions.values()} == {(1,)}


def test_a_feature_at_level_0_is_off(tmp_path):
    """A broker that was downgraded removed it."""

    def level(name: str, number: int) -> bytes:
        return b"\1\x0c\0" + text(name) + bytes([0, number]) + b"\0"

    log = batch(0, [level("kraft.version", 1), level("eligible", 1), level("eligible", 0)])
    assert replay_image(tmp_path, log).features == {"kraft.version": 1}


@pytest.mark.parametrize(
    ("damage", "key"),
    [
        (lambda data: build_message(1, 2, b"k", b"v", timestamp_ms=5), "metadata_magic"),
        (lambda data: whole_logs.summed(data[:-2] + b"\x7f\x7f"), None),
    ],
)
def test_what_no_broker_writes_there_ends_the_log(tmp_path, damage, key):
    first = batch(0, [topic("orders"), config("a", "1")])
    state = replay_image(tmp_path, first + damage(batch(2, [config("a", "2")])))
    assert configs(state) == {"a": "1"}
    (problem,) = state.problems
    assert problem.path.name == FIRST
    assert key is None or problem.what.key == f"corrupt.{key}"


def test_a_log_that_expands_to_too_many_records_is_read_up_to_there(tmp_path, monkeypatch):
    """Compressed records cost nothing to write."""
    monkeypatch.setattr(metadata_log, "COMPRESSED_RECORDS", 3)
    first = batch(0, [topic("orders"), config("a", "1")], "gzip")
    second = batch(2, [config("a", "2"), config("a", "3")], "gzip")
    state = replay_image(tmp_path, first + second)
    assert configs(state) == {"a": "1"}
    (problem,) = state.problems
    assert problem.what.key == "corrupt.too_many_metadata_records"


def test_a_metadata_log_that_cannot_be_opened_is_a_problem(tmp_path):
    """The settings are then Kafka's defaults, and the problem is reported."""
    directory = whole_logs.broker(tmp_path / "kafka")
    (directory / metadata_log.DIRECTORY).symlink_to(metadata_log.DIRECTORY)
    state = metadata_log.read_image(open_broker(directory))
    assert [problem.path.name for problem in state.problems] in ([metadata_log.DIRECTORY], [])
    assert state.topic_ids == {}
