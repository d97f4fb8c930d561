"""Tiered storage: a broker of Kafka 4.3.1 with LocalTieredStorage, and a consumer."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import Health, check, with_unstored_facts
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.lookup import lookup
from kafkaviz.analysis.retention import LogRetention, segment_retention
from kafkaviz.analysis.segment import anatomy
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import is_control
from kafkaviz.format.record import Record, build
from kafkaviz.format.remote_segment import LEADER_EPOCHS, TopicIdPartition
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, join_tiered, open_broker, read_tiered_state
from kafkaviz.log.cache_folder import TEMPORARY
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import open_settings
from kafkaviz.log.tiered import segment_store, tiered_view
from kafkaviz.log.tiered.remote_log_metadata import (
    COPY_FINISHED,
    DELETE_STARTED,
    RemoteLogMetadata,
    RemoteLogMetadataCache,
)
from kafkaviz.log.tiered.tiered_partition import (
    SegmentPlace,
    TieredPartition,
    _path,
    join_partition,
)
from kafkaviz.messages import message, say
from kafkaviz.render.retention_text import reason_text
from kafkaviz.search.by_time import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
)
from tests.pipeline import whole_logs
from tests.support.tiered_storage import DATA, answers, partition_of, segment_of, write_aiven_store
from tests.support.vectors import json_lines

LAYOUTS = ("LocalTieredStorage", "Aiven, as it is", "Aiven, compressed")
ANSWERS = answers()


@pytest.fixture(scope="module")
def stores(tiered, tmp_path_factory) -> dict[str, Path]:
    logs, store = tiered
    folder = tmp_path_factory.mktemp("aiven")
    aiven = [
        write_aiven_store(store, logs, folder / f"bucket-{compressed}", compressed=compressed)
        for compressed in (False, True)
    ]
    return dict(zip(LAYOUTS, (store, *aiven), strict=True))


@pytest.fixture
def broken(tiered, tmp_path) -> tuple[Path, Path]:
    for folder in tiered:
        shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path / "logs", tmp_path / "store"


@pytest.fixture
def bucket(tiered, tmp_path) -> Path:
    logs, store = tiered
    return write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)


def files_of(store: Path, topic: str, start_offset: int, kind: str = "*") -> list[Path]:
    return sorted(store.glob(f"**/{topic}-*/**/{start_offset:020}-*.{kind}"))


def records(partition: Partition) -> Iterator[list]:
    """Returns the records of a consumer that reads uncommitted records too."""
    for segment in partition.live:
        batches = segment.batches()
        for batch in batches[~is_control(batches)]:
            epoch = int(batch["leader_epoch"])
            for record in segment.records(int(batch["position"])):
                digest = hashlib.sha256(record.value).hexdigest()[:16]
                yield [record.offset, record.timestamp_ms, epoch, record.key.decode(), digest]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("topic", ANSWERS)
def test_a_joined_directory_has_the_records_of_a_consumer(tiered, stores, layout, topic):
    """Every record from the log start on, from remote and local segments."""
    partition = open_broker(join_tiered(tiered[0], stores[layout])).partition(f"{topic}-0")
    answer = ANSWERS[topic]
    start = answer["log_start"]
    assert [record for record in records(partition) if record[0] >= start] == answer["records"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("topic", ANSWERS)
def test_a_store_alone_has_what_was_copied(stores, layout, topic):
    """Up to the last offset that the broker reports as tiered."""
    partition = open_broker(stores[layout]).partition(f"{topic}-0")
    answer = ANSWERS[topic]
    expected = [record for record in answer["records"] if record[0] <= answer["latest_tiered"]]
    start = answer["log_start"]
    assert [record for record in records(partition) if record[0] >= start] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "step"),
    [(LAYOUTS[0], 17), *(pytest.param(layout, 1, marks=pytest.mark.nightly) for layout in LAYOUTS)],
)
@pytest.mark.parametrize("topic", ANSWERS)
def test_a_lookup_of_an_offset_finds_its_record(tiered, stores, layout, step, topic):
    """One in 17 offsets, nightly every one; an offset of a marker finds the record after it."""
    partition = open_broker(join_tiered(tiered[0], stores[layout])).partition(f"{topic}-0")
    answer = ANSWERS[topic]
    offsets = [record[0] for record in answer["records"]]
    expected = {
        offset: next((item for item in offsets if item >= offset), None)
        for offset in range(answer["log_start"], answer["log_end"], step)
    }
    for offset, found in expected.items():
        record = lookup(partition, offset=offset).record
        assert (record and record.offset) == found, offset


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("topic", ANSWERS)
def test_a_lookup_by_time_answers_as_the_broker_did(tiered, topic, step):
    """ListOffsets of a time, in remote segments and in local ones."""
    partition = open_broker(join_tiered(*tiered)).partition(f"{topic}-0")
    for time, *expected in ANSWERS[topic]["by_time"][::step]:
        answer = lookup(partition, timestamp_ms=time).answer
        assert [answer.offset, answer.timestamp_ms] == expected, time


@pytest.mark.parametrize("topic", sorted(ANSWERS))
def test_the_bounds_are_those_of_the_broker(tiered, topic):
    """Its earliest, its earliest local, its latest tiered and its latest offset."""
    partition = open_broker(join_tiered(*tiered)).partition(f"{topic}-0")
    for name, time in (
        ("log_start", EARLIEST),
        ("local_log_start", EARLIEST_LOCAL),
        ("latest_tiered", LATEST_TIERED),
        ("log_end", LATEST),
    ):
        assert lookup(partition, timestamp_ms=time).answer.offset == ANSWERS[topic][name], name


def test_what_is_copied_next(tiered):
    """The offset after the last copied one (UnifiedLog.fetchEarliestPendingUploadOffset, 4.2)."""
    partition = open_broker(join_tiered(*tiered)).partition("orders-0")
    pending = lookup(partition, timestamp_ms=EARLIEST_PENDING_UPLOAD)
    assert pending.answer.offset == ANSWERS["orders"]["latest_tiered"] + 1


def test_without_a_store_nothing_is_copied(tiered):
    """A broker without tiered storage answers -1, and its log start as the local one."""
    partition = open_broker(tiered[0]).partition("orders-0")
    for time in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        assert lookup(partition, timestamp_ms=time).answer is None
    local = lookup(partition, timestamp_ms=EARLIEST_LOCAL)
    assert local.answer == lookup(partition, timestamp_ms=EARLIEST).answer


def test_each_segment_has_its_place(tiered):
    state = read_tiered_state(tiered[1], tiered[0])
    counts = {
        partition.directory: {place: count for place, count in partition.counts.items() if count}
        for partition in state.partitions
    }
    assert counts == {
        "audit-0": {"local": 1, "both": 2},
        "gone-0": {},
        "orders-0": {"local": 1, "both": 3, "remote": 15},
        "payments-0": {"local": 1, "both": 3, "remote": 8},
    }
    assert partition_of(state, "gone-0").deleted_segments == 5


def test_a_segment_of_two_leader_epochs(tiered):
    """Epoch 2 began with the second start of the broker, within a segment."""
    orders = partition_of(read_tiered_state(tiered[1], tiered[0]), "orders-0")
    epochs = [dict(segment.leader_epochs) for segment in orders.segments]
    assert {0: 170, 2: 180} in epochs and {2: 295, 4: 300} in epochs


@pytest.mark.parametrize(
    "layout", [LAYOUTS[0], pytest.param(LAYOUTS[1], marks=pytest.mark.nightly), LAYOUTS[2]]
)
def test_a_recorded_directory_is_in_order(tiered, stores, layout):
    """Joined in any layout, it has no finding."""
    health = check(join_tiered(tiered[0], stores[layout]))
    assert {finding.code for finding in health.findings} == {"offset-gap-explained"}
    orders = next(log for log in health.retention if log.partition == "orders-0")
    assert orders.segments[0].age.base_offset == 335  # what retention goes through is local
    active = orders.segments[-1].age
    assert active.base_offset == 395 == orders.highest_remote_offset + 1
    assert active.size_bytes == orders.not_uploaded_bytes > 0
    stored_logs = (replace(log, highest_remote_offset=None) for log in health.retention)
    stored = with_unstored_facts(replace(health, now_ms=None, retention=tuple(stored_logs)))
    assert stored.now_ms == health.now_ms
    for log, known in zip(stored.retention, health.retention, strict=True):
        assert log.highest_remote_offset == known.highest_remote_offset


def test_without_a_store_nothing_counts_as_not_uploaded(tiered):
    assert all(log.not_uploaded_bytes is None for log in check(tiered[0]).retention)


def test_a_lost_segment_is_an_error(broken, capsys):
    logs, store = broken
    for path in [*files_of(store, "orders", 41), *files_of(store, "orders", 355)]:
        path.unlink()
    assert main(["tiered", str(logs), "--tiered", str(store), "--json"]) == 1
    fields = json.loads(capsys.readouterr().out)
    orders = next(item for item in fields["partitions"] if item["partition"] == "orders-0")
    places = {item["start_offset"]: item["place"] for item in orders["segments"]}
    assert (places[41], places[355]) == ("lost", "local")
    findings = check(join_tiered(logs, store)).findings
    missing = [finding for finding in findings if finding.code == "remote-segment-missing"]
    assert [dict(finding.message.values)["first"] for finding in missing] == [41, 355]
    assert "segment-gap" in {finding.code for finding in findings}


def test_a_segment_without_metadata_is_dangling(broken):
    """So is one whose deletion has begun: no reader uses it."""
    logs, store = broken
    for path in files_of(store, "orders", 20):
        name = path.name.replace(path.name[21:43], "A" * 22)
        shutil.copy(path, path.with_name(name))
    state = read_tiered_state(store, logs)
    segments = partition_of(state, "orders-0").segments
    dangling = [each.segment_id for each in segments if each.place is SegmentPlace.DANGLING]
    assert dangling == ["A" * 22]
    codes = {finding.code for finding in check(join_tiered(logs, store)).findings}
    assert "remote-segment-dangling" in codes


def test_a_segment_without_its_index_is_ignored(broken):
    """A broker cannot read it; of a store alone it has no parts, and the missing file is named."""
    logs, store = broken
    (index,) = files_of(store, "orders", 41, "index")
    index.unlink()
    for directory, place in ((logs, SegmentPlace.LOST), (None, SegmentPlace.UNFINISHED)):
        segments = partition_of(read_tiered_state(store, directory), "orders-0").segments
        segment = next(segment for segment in segments if segment.start_offset == 41)
        assert segment.place is place
    with pytest.raises(CannotOpen, match="index") as fault:
        segment.stored.parts()
    assert fault.value.kind == "missing"


def encrypt(manifests: Iterable[Path]) -> None:
    for path in manifests:
        manifest = json.loads(path.read_text()) | {"encryption": {"dataKey": "k:x", "aad": "eA=="}}
        path.write_text(json.dumps(manifest))


def test_an_encrypted_segment_is_a_gap(tiered, bucket, capsys):
    """The others are read, and the list of segments says which are encrypted."""
    logs, _ = tiered
    encrypt(files_of(bucket, "orders", 41, "rsm-manifest"))
    assert main(["lookup", str(logs / "orders-0"), "--tiered", str(bucket), "--offset", "1"]) == 0
    capsys.readouterr()
    for view in (bucket, join_tiered(logs, bucket)):
        (gap,) = open_broker(view).partition("orders-0").remote_gaps
        assert (gap.first_offset, gap.last_offset, gap.kind) == (41, 64, "encrypted")
        assert gap.path == files_of(bucket, "orders", 41, "log")[0]
    state = read_tiered_state(bucket, logs)
    stored = [each.stored for each in partition_of(state, "orders-0").segments if each.stored]
    assert [each.start_offset for each in stored if each.is_encrypted] == [41]


def test_a_store_of_encrypted_segments_alone_says_so(bucket):
    """It must not claim that the store is empty."""
    encrypt(bucket.rglob("*.rsm-manifest"))
    for place in (bucket, bucket / "orders-0"):
        with pytest.raises(CannotOpen) as fault:
            open_broker(place)
        assert fault.value.kind == "encrypted"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("rsm-manifest", b"{}"),
        ("rsm-manifest", b"[" * 100_000),
        ("rsm-manifest", b'{"version": "2"}'),
        ("log", b"short"),
        ("indexes", b""),
    ],
)
def test_a_segment_that_cannot_be_read_is_a_gap(tiered, bucket, kind, content):
    (path,) = files_of(bucket, "orders", 41, kind)
    path.write_bytes(content)
    for view in (join_tiered(tiered[0], bucket), bucket):
        partition = open_broker(view).partition("orders-0")
        (gap,) = partition.remote_gaps
        assert (gap.first_offset, gap.last_offset, gap.path) == (41, 64, path)
        expected = [record for record in ANSWERS["orders"]["records"] if not 41 <= record[0] <= 64]
        if view is bucket:  # local segments are not in the store
            expected = [record for record in expected if record[0] < 395]
        assert list(records(partition)) == expected


def test_a_log_whose_chunks_are_not_compressed_is_named(tiered, bucket):
    """A chunk is opened when it is read."""
    (path,) = files_of(bucket, "orders", 41, "log")
    path.write_bytes(bytes(8000))
    with pytest.raises(CannotOpen) as fault:
        list(records(open_broker(join_tiered(tiered[0], bucket)).partition("orders-0")))
    assert fault.value.path == path


def gaps_of(*paths: Path) -> list[tuple[int, int | None, str]]:
    view = join_tiered(*paths) if len(paths) > 1 else paths[0]
    gaps = open_broker(view).partition("orders-0").remote_gaps
    return [(gap.first_offset, gap.last_offset, gap.what.key) for gap in gaps]


@pytest.mark.parametrize("has_metadata", [True, False])
def test_a_missing_segment_is_a_gap(broken, has_metadata):
    """One of its files, or all; the log start moves if retention explains it."""
    logs, store = broken
    if not has_metadata:
        for path in logs.glob("__remote_log_metadata-*"):
            shutil.rmtree(path)
    assert gaps_of(logs, store) == []
    for path in files_of(store, "orders", 41, "log"):
        path.unlink()
    assert gaps_of(logs, store) == [(41, 64, "tiered.incomplete")]
    for offset in (41, 65):
        for path in files_of(store, "orders", offset):
            path.unlink()
    lost = "tiered.lost" if has_metadata else "tiered.no_segment"
    found = gaps_of(logs, store)
    assert (found[0][0], found[-1][1]) == (41, 84) and {key for _, _, key in found} == {lost}
    for offset in (0, 20):
        for path in files_of(store, "orders", offset):
            path.unlink()
    found = gaps_of(logs, store)
    assert found[0][0] == 0 if has_metadata else found == []
    tiered_view._REFRESHED.clear()
    assert gaps_of(store) == []


def test_a_view_is_brought_up_to_date(broken):
    logs, store = broken
    view = join_tiered(logs, store)
    first = open_broker(view).partition("orders-0")
    assert len(first.live) == 19 and len(first.remote_bases) == 15
    local = sorted((logs / "orders-0").glob("00000000000000000335.*"))
    for path in local:
        path.unlink()
    again = open_broker(join_tiered(logs, store)).partition("orders-0")
    assert len(again.live) == 19 and 335 in again.remote_bases
    shutil.rmtree(logs / "payments-0")
    assert not (join_tiered(logs, store) / "payments-0" / "00000000000000000155.log").exists()


def test_a_path_into_a_store_leads_into_its_view(tiered, stores):
    """STORE/orders-0 is a partition directory, and is shown by the store's own path."""
    path = archive.locate(stores["Aiven, compressed"] / "orders-0")
    assert (path / "00000000000000000041.log").stat().st_size == 8075
    root = tiered_view.sources(path)[0]
    assert archive.display_path(path) == root / "orders-0"
    joined = join_tiered(tiered[0] / "orders-0", tiered[1])
    assert archive.display_path(joined) == tiered[0] / "orders-0"


def test_a_topic_that_was_made_again_is_shown_once(broken):
    """Only the generation of the local directory, or for a store alone the one written last."""
    logs, store = broken
    (folder,) = store.glob("*/orders-0-*")
    again = shutil.copytree(folder, folder.with_name(f"orders-0-{'C' * 22}"))
    for path in again.glob("0000000000000000000[1-9]*"):
        path.unlink()
    joined = open_broker(join_tiered(logs, store)).partition("orders-0")
    assert joined.topic_id == folder.name[-22:] and len(joined.live) == 19
    alone = open_broker(store).partition("orders-0")
    assert alone.topic_id == folder.name[-22:]
    for path in again.iterdir():
        path.touch()
    assert open_broker(join_tiered(logs, store)).partition("orders-0").topic_id == joined.topic_id
    tiered_view._REFRESHED.clear()
    # an id is its 16 bytes, whatever the padding bits of the name say
    assert open_broker(store).partition("orders-0").topic_id == f"{'C' * 21}A"


def test_other_folders_are_no_store(tiered, tmp_path):
    (tmp_path / "a-topic-with-a-very-long-name-0" / "0").mkdir(parents=True)
    for folder in (tiered[0], tmp_path, tmp_path / "a-topic-with-a-very-long-name-0"):
        assert tiered_view.open_directory(folder) == folder
        with pytest.raises(CannotOpen):
            read_tiered_state(folder)


@pytest.mark.parametrize("layout", ["LocalTieredStorage", "Aiven, compressed"])
def test_a_segment_that_others_overlap_is_cut(tiered, stores, layout, tmp_path):
    """If the local log begins within a remote segment, each record appears once."""
    logs, store = tmp_path / "logs", stores[layout]
    shutil.copytree(tiered[0], logs)
    orders = logs / "orders-0"
    segment = open_broker(logs).partition("orders-0").segment(335)
    batches = segment.batches()
    cut = int(batches["position"][2])
    base = int(batches["base_offset"][2])
    data = segment.log.path.read_bytes()
    for path in orders.glob("00000000000000000335.*"):
        path.unlink()
    (orders / f"{base:020}.log").write_bytes(data[cut:])
    for kind in ("index", "timeindex"):
        (orders / f"{base:020}.{kind}").touch()
    partition = open_broker(join_tiered(logs, store)).partition("orders-0")
    assert 335 in partition.remote_bases and base not in partition.remote_bases
    assert list(records(partition)) == ANSWERS["orders"]["records"]


def test_leader_epochs_decide_which_segment_serves():
    """A later leader's copy of the same epoch replaces one that reaches less far."""
    cache = RemoteLogMetadataCache()
    for segment in (
        segment_of("short", 0, 100, {0: 0}),
        segment_of("long", 0, 200, {0: 0, 1: 150}),
        segment_of("other", 120, 220, {0: 120, 2: 180}),
    ):
        cache.add(segment)
        cache.update(segment.segment_id, COPY_FINISHED)
    for name, places in (
        ("long", [(0, 0), (0, 119), (1, 150)]),
        ("other", [(0, 130), (0, 179), (2, 200)]),
    ):
        assert [cache.find(*place).segment_id for place in places] == [name] * 3
    assert cache.find(2, 179) is None


def test_an_announcement_with_other_epochs_leaves_no_trace_of_what_is_gone():
    """A segment is announced twice, then deleted: nothing serves its first epoch."""
    cache = RemoteLogMetadataCache()
    for epoch in (0, 1):
        cache.add(segment_of("twice", 0, 100, {epoch: 0}))
        cache.update("twice", COPY_FINISHED)
    for state in ("DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"):
        cache.update("twice", state)
    assert [cache.find(epoch, 50) for epoch in (0, 1, 2)] == [None, None, None]


class CountedStarts(dict):
    """Leader epochs that count how often all of them are read."""

    passes = 0

    def items(self):
        CountedStarts.passes += 1
        return super().items()

    def __iter__(self):
        CountedStarts.passes += 1
        return super().__iter__()


def test_many_epochs_and_segments_are_gone_through_once():
    """2000 epochs in a segment, and 2000 segments: each is read only some times."""
    count = 2000
    epochs = CountedStarts((epoch, 10 * epoch) for epoch in range(count))
    cache = RemoteLogMetadataCache()
    cache.add(segment_of("epochs", 0, 10 * count, epochs))
    cache.update("epochs", COPY_FINISHED)
    assert cache.find(7, 75).segment_id == "epochs" and cache.find(7, 80) is None
    assert CountedStarts.passes < 10
    for place in reversed(range(count)):
        cache.add(segment_of(str(place), place, place, CountedStarts({0: place})))
        cache.update(str(place), COPY_FINISHED)
    CountedStarts.passes = 0
    assert _path(cache, [(0, 0)], count, 0)
    assert CountedStarts.passes <= 2 * count


def test_histories_are_served_as_kafka_serves_them():
    """Overlapping segments of several leaders with states in any order: which one serves an offset."""
    for history in json_lines(DATA / "remote_segments.jsonl.gz"):
        cache = RemoteLogMetadataCache()
        for event in history["events"]:
            if "epochs" in event:
                epochs = {int(epoch): offset for epoch, offset in event["epochs"].items()}
                start, end = event["start"], event["end"]
                cache.add(segment_of(str(event["segment"]), start, end, epochs))
            else:
                cache.update(str(event["segment"]), event["state"])
        found_segments = [cache.find(*query) for query in history["queries"]]
        served = [segment and int(segment.segment_id) for segment in found_segments]
        assert served == history["answers"]


@pytest.mark.parametrize(
    ("segment_id", "states", "place"),
    [
        ("unknown", [COPY_FINISHED], SegmentPlace.UNFINISHED),
        ("old", [COPY_FINISHED, DELETE_STARTED], SegmentPlace.DANGLING),
    ],
)
def test_an_unfinished_or_deleted_copy_serves_nothing(segment_id, states, place):
    cache = RemoteLogMetadataCache()
    cache.add(segment_of("old", 0, 9, {0: 0}))
    for state in states:
        cache.update(segment_id, state)
    name = TopicIdPartition("t", 0, "B" * 22)
    partition = join_partition(name, (), RemoteLogMetadata({name: cache}), None)
    assert cache.find(0, 5) is None and partition.serving_segments == ()
    assert [segment.place for segment in partition.segments] == [place]


def change_manifest(bucket: Path, change) -> Path:
    (path,) = files_of(bucket, "orders", 41, "rsm-manifest")
    fields = json.loads(path.read_text())
    change(fields)
    path.write_text(json.dumps(fields))
    return path


def problems_of(partition: TieredPartition) -> list[Path]:
    return [problem.path for problem in partition.problems]


def test_a_segment_with_a_broken_manifest_says_nothing_of_itself(bucket):
    """Neither its size nor whether it is encrypted is known; the others identify its partition."""
    (path,) = files_of(bucket, "orders", 41, "rsm-manifest")
    path.write_text("{}")
    partition = partition_of(read_tiered_state(bucket), "orders-0")
    segment = next(segment for segment in partition.segments if segment.start_offset == 41)
    assert segment.place is SegmentPlace.UNFINISHED
    assert (segment.log_bytes, segment.stored.has_encryption) == (None, None)
    assert problems_of(partition) == [path, path]
    assert {segment.start_offset for segment in partition.serving_segments} > {20, 65}


def test_a_store_alone_must_have_the_offsets_of_its_segments(bucket):
    path = change_manifest(bucket, lambda fields: fields.pop("remoteLogSegmentMetadata"))
    partition = partition_of(read_tiered_state(bucket), "orders-0")
    (problem,) = partition.problems
    assert (problem.path, problem.what.key) == (path, "tiered.no_offsets")


def test_a_segment_without_leader_epochs_has_none(bucket):
    change_manifest(bucket, lambda fields: fields["segmentIndexes"].pop("leaderEpoch"))
    segments = partition_of(read_tiered_state(bucket), "orders-0").segments
    epochs = {segment.start_offset: segment.stored.leader_epochs() for segment in segments}
    assert epochs[41] == [] and epochs[20] == [(0, 0)]


def test_leader_epochs_that_cannot_be_read_are_a_problem(broken):
    _, store = broken
    (path,) = files_of(store, "orders", 41, LEADER_EPOCHS)
    path.write_text("junk")
    partition = partition_of(read_tiered_state(store), "orders-0")
    assert set(problems_of(partition)) == {path}
    places = {segment.start_offset: segment.place for segment in partition.segments}
    assert (places[41], places[20]) == (SegmentPlace.UNFINISHED, SegmentPlace.REMOTE)


def test_log_starts_that_cannot_be_read_are_a_problem(broken):
    logs, store = broken
    path = logs / "log-start-offset-checkpoint"
    path.write_text("0\n9\nrubbish\n")
    (problem,) = read_tiered_state(store, logs).problems
    assert problem.path == path


def test_a_local_directory_that_is_damaged_is_joined_as_far_as_it_can(broken):
    """By the epochs of the store, from its first offset on; the damaged file is named."""
    logs, store = broken
    epochs = logs / "orders-0" / "leader-epoch-checkpoint"
    for path in (epochs, logs / "log-start-offset-checkpoint"):
        path.write_text("junk")
    partition = partition_of(read_tiered_state(store, logs), "orders-0")
    assert problems_of(partition) == [epochs]
    assert partition.serving_segments[0].start_offset == 0


def test_metadata_is_read_up_to_a_broken_record(broken):
    """A tombstone says nothing; the partition with the damage is named, and the others count."""
    logs, store = broken
    before = partition_of(read_tiered_state(store, logs), "orders-0").counts
    records = [
        Record(offset_delta=place, timestamp_delta_ms=0, key=None, value=value)
        for place, value in enumerate((None, b"\x01\x63\x00no known record"))
    ]
    directory = logs / "__remote_log_metadata-49"
    shutil.rmtree(directory, ignore_errors=True)
    batch = whole_logs.framed(0, build(records), [whole_logs.START_MS] * 2)
    stem = whole_logs.write(directory, [batch])
    state = read_tiered_state(store, logs)
    assert [problem.path for problem in state.problems] == [stem.with_suffix(".log")]
    assert partition_of(state, "orders-0").counts == before


def test_a_view_that_was_changed_is_put_right(broken):
    """A foreign file in the place of ours is replaced, and other foreign files are removed; what
    another process is writing stays.
    """
    logs, store = broken
    view = join_tiered(logs, store)
    other_file = view / "orders-0" / f"{TEMPORARY}written"
    other_file.touch()
    (view / "orders-0" / "folder").mkdir()
    (view / "orders-0" / "file").touch()
    (view / "meta.properties").unlink()
    (view / "meta.properties").mkdir()
    shutil.rmtree(view / "payments-0")
    (view / "payments-0").symlink_to(logs / "payments-0")
    assert join_tiered(logs, store) == view
    assert other_file.exists()
    names = {path.name for path in (view / "orders-0").iterdir()}
    assert {"folder", "file"} & names == set()
    assert (view / "meta.properties").read_bytes() == (logs / "meta.properties").read_bytes()
    assert not (view / "payments-0").is_symlink()
    assert open_broker(view).partition("payments-0").remote_bases


@pytest.mark.parametrize(("prefix", "is_found"), [("abcdefg", True), ("abcdefgh", False)])
def test_a_store_is_found_to_a_limited_depth(tmp_path, prefix, is_found):
    root = tmp_path.joinpath(*prefix)
    partition = root / f"orders-0-{'A' * 22}"
    partition.mkdir(parents=True)
    assert segment_store.find_root(root) is None
    (partition / f"{0:020}-{'B' * 22}.log").touch()
    assert segment_store.find_root(tmp_path) == (root if is_found else None)


def forget_newest_copy(logs: Path, store: Path) -> None:
    """Leaves orders-0 as it was before segment 375 was uploaded, without metadata."""
    for directory in logs.glob("__remote_log_metadata-*"):
        shutil.rmtree(directory)
    for path in files_of(store, "orders", 375):
        path.unlink()


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        (f"{395:020}.snapshot", message("evidence.without_file", file=f"{395:020}.snapshot")),
        ("leader-epoch-checkpoint", message("evidence.no_epoch_below", offset=395)),
        (None, None),
    ],
)
def test_an_upload_that_always_fails_is_found(broken, name, evidence):
    """A check names the segment and the missing file; before the file is removed it does not."""
    logs, store = broken
    forget_newest_copy(logs, store)
    if name:
        (logs / "orders-0" / name).unlink()
    found = [
        (finding.partition, dict(finding.message.values)["segment"], finding.evidence.found)
        for finding in check(join_tiered(logs, store)).findings
        if finding.code == "tiering-blocked"
    ]
    assert found == ([("orders-0", 375, evidence)] if name else [])


def check_with(broker: Broker, overrides: dict[str, str]) -> tuple[Health, LogRetention]:
    """Returns the health with other settings, and what retention does in orders-0."""
    settings = replace(open_settings(broker, (4, 3, 1)), overrides=overrides)
    health = check(broker, settings=settings)
    return health, next(log for log in health.retention if log.partition == "orders-0")


def test_a_topic_of_which_nothing_was_uploaded_keeps_all(broken):
    """The store has no folder of it, so that retention deletes nothing and its upload can fail."""
    logs, store = broken
    forget_newest_copy(logs, store)
    shutil.rmtree(next(store.glob("*/orders-0-*")))
    (logs / "orders-0" / "leader-epoch-checkpoint").unlink()
    broker = open_broker(join_tiered(logs, store))
    health, log = check_with(broker, {"local.retention.bytes": "8192"})
    assert log.highest_remote_offset == -1 and log.due_bytes == 0
    assert [segment.state for segment in log.segments] == ["not-uploaded"] * 2 + ["bytes"] * 2
    (found,) = (one for one in health.findings if one.code == "tiering-blocked")
    assert dict(found.message.values) == {"segment": 335, "n": 3}


def test_the_page_of_a_segment_knows_what_was_uploaded(broken):
    logs, store = broken
    forget_newest_copy(logs, store)
    shutil.rmtree(next(store.glob("*/orders-0-*")))
    broker = open_broker(join_tiered(logs, store))
    overrides = {"local.retention.bytes": "8192"}
    planned = plan_check(
        broker, settings=replace(open_settings(broker, (4, 3, 1)), overrides=overrides)
    )
    partition = planned.broker.partition("orders-0")
    retentions = [
        segment_retention(
            partition,
            anatomy.read(segment),
            planned.limits(partition),
            clean=planned.is_partition_clean(partition),
            now_ms=planned.now_ms,
        )
        for segment in partition.live
    ]
    assert [retention[1].state for retention in retentions] == ["not-uploaded"] * 2 + ["bytes"] * 2


def test_metadata_alone_tells_what_was_uploaded(broken):
    """Without a store; of an uploaded segment the snapshot is no longer needed."""
    logs, _ = broken
    (logs / "orders-0" / f"{395:020}.snapshot").unlink()
    assert "tiering-blocked" not in {finding.code for finding in check(open_broker(logs)).findings}


def test_retention_says_why_a_segment_is_not_uploaded(broken):
    """KAFKA-19952: it is past local.retention.bytes; a stored health reads the reason again."""
    logs, store = broken
    forget_newest_copy(logs, store)
    for path in files_of(store, "orders", 355):
        path.unlink()
    (logs / "orders-0" / f"{395:020}.snapshot").unlink()
    broker = open_broker(join_tiered(logs, store))
    health, log = check_with(broker, {"local.retention.bytes": "0"})
    reasons = {segment.age.base_offset: segment.why and segment.why.key for segment in log.segments}
    assert reasons == {
        335: None,
        355: "upload.ready",
        375: "upload.snapshot-missing",
        395: "upload.active",
    }
    plain = tuple(replace(segment, why=None) for segment in log.segments)
    stored = with_unstored_facts(replace(health, retention=(replace(log, segments=plain),)))
    (stored_log,) = stored.retention
    assert stored_log.segments == log.segments
    blocked = log.segments[2]
    assert reason_text(log, blocked) == say("retention.not_uploaded_because", why=blocked.why)
