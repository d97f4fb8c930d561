"""When a directory is listed again, and which values come from its catalog."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.app import access
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.scheduling import RunQueue
from kafkaviz.app.state import ingests
from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.messages import message
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.read import inventory
from tests.support.segment_files import columns, make_segment

REAL_START = job.start_ingest
NAMES = [f"orders-0/{0:020d}.{kind}" for kind in ("log", "index", "timeindex")]


def test_a_refused_path_says_nothing_about_itself(monkeypatch, directory):
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(directory / "orders-0"))
    for path in (directory, directory / "nothing-here"):
        with pytest.raises(CannotOpen) as refused:
            broker_cache.broker(path)
        assert refused.value.kind == "outside"


def test_a_link_inside_the_root_does_not_lead_out(monkeypatch, directory, tmp_path):
    """Holds for a topic-partition and for one of its files; without a root links are followed."""
    elsewhere = tmp_path / "elsewhere" / "secret-0"
    make_segment(elsewhere, 0, 10, [])
    (directory / "secret-0").symlink_to(elsewhere)
    assert len(broker_cache.broker(directory).partitions) == 2
    broker_cache.st.cache_resource.clear()
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(directory))
    with pytest.raises(CannotOpen, match="secret-0: is outside"):
        broker_cache.broker(directory)
    (directory / "secret-0").unlink()
    (directory / "orders-0" / f"{9:020d}.log").symlink_to(elsewhere / f"{0:020d}.log")
    with pytest.raises(CannotOpen, match=r"00009\.log: is outside"):
        broker_cache.broker(directory)


@pytest.mark.parametrize("text", ["\0", "/data\0/kafka", "~nobody-of-this-name/kafka", "x" * 5000])
def test_what_is_no_path_is_refused_in_words(text, starts):
    with pytest.raises(CannotOpen):
        broker_cache.broker(text)


def test_a_directory_is_listed_once_and_again_when_it_changes(directory):
    """A log that grew, or a new topic-partition, makes a new listing; nothing else does."""
    first = broker_cache.open_snapshot(directory)
    assert broker_cache.open_snapshot(directory) is first
    with open(directory / "orders-0" / f"{0:020d}.log", "ab") as log:
        log.write(b"more")
    grown = broker_cache.open_snapshot(directory)
    assert grown.broker.partitions[0].active.log.size_bytes == 1004 and grown.key != first.key
    make_segment(directory / "orders-1", 0, 10, [])
    partitions = broker_cache.open_snapshot(directory).broker.partitions
    assert [partition.directory for partition in partitions] == ["orders-0", "orders-1"]


def test_an_error_is_not_cached(tmp_path, starts):
    with pytest.raises(CannotOpen):
        broker_cache.broker(tmp_path / "kafka")
    make_segment(tmp_path / "kafka" / "orders-0", 0, 10, [])
    (tmp_path / "kafka" / "meta.properties").write_text("version=1\n")
    assert len(broker_cache.broker(tmp_path / "kafka").partitions) == 1


def test_two_directories_have_two_catalogs(directory, tmp_path, starts):
    other = tmp_path / "other" / "kafka"
    make_segment(other / "orders-0", 0, 10, [])
    (other / "meta.properties").write_text("version=1\n")
    brokers = [broker_cache.broker(path) for path in (directory, other)]
    assert len({broker_cache.catalog_path(broker) for broker in brokers}) == 2


def test_a_catalog_of_another_version_is_no_catalog(directory, starts):
    """The next ingest replaces it."""
    snapshot = broker_cache.open_snapshot(directory)
    path = broker_cache.catalog_path(snapshot.broker)
    path.mkdir(parents=True)
    (path / "_catalog.json").write_text('{"format": 999}')
    assert not broker_cache.is_fresh(snapshot)
    assert broker_cache.overview(snapshot).total.batches is None
    assert broker_cache.overview(snapshot).total.offset_entries == 1


@pytest.fixture
def read_once(directory, in_process, starts, monkeypatch) -> Path:
    """Makes the directory's catalog by a real run; further visits start real runs too."""
    path = broker_cache.catalog_path(broker_cache.broker(directory))
    monkeypatch.setattr(job, "start_ingest", REAL_START)
    in_process(directory, catalog=path)
    return path


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path: Path) -> None:
    content = path.read_bytes()
    footer_bytes = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(bytes(len(content) - footer_bytes) + content[-footer_bytes:])


def replace_by_folder(path: Path) -> None:
    """A directory of the same name."""
    path.unlink()
    path.mkdir()


def misshape(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tables": {}}))


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE = {
    "_catalog.json": (cut, misshape, replace_by_folder),
    "segments/*": (cut, garble, replace_by_folder, Path.unlink, empty),
}


@pytest.mark.parametrize(
    ("name", "harm"), [(name, harm) for name, harms in DAMAGE.items() for harm in harms]
)
def test_a_damaged_catalog_is_replaced_by_the_next_ingest(directory, read_once, name, harm):
    snapshot = broker_cache.open_snapshot(directory)
    assert broker_cache.is_fresh(snapshot) and broker_cache.overview(snapshot).total.batches == 0
    harm(next(read_once.glob(name)))
    broker_cache.st.cache_resource.clear()
    assert broker_cache.overview(snapshot).total.batches is None
    assert broker_cache.overview(snapshot).total.offset_entries == 1
    assert not broker_cache.is_fresh(snapshot)
    ingests.get_or_start(snapshot).wait(30)
    assert broker_cache.is_fresh(snapshot) and broker_cache.overview(snapshot).total.batches == 0


def test_segments_and_their_rows_are_of_one_run(directory, read_once, in_process):
    """If a run replaced the catalog meanwhile, the segment names are read again."""
    stamp = broker_cache.catalog_stamp(broker_cache.broker(directory))
    known = broker_cache._catalog(bytes(read_once), stamp)
    make_segment(directory / "alone-0", 0, 100, [50], times=1)
    in_process(directory, catalog=read_once, full=True)
    columns = broker_cache._segments(known)
    assert columns["directory"] == ["alone-0", "orders-0"] and columns["log_bytes"] == [100, 1000]


@pytest.mark.parametrize("kind", ["log", "index", "timeindex"])
def test_an_unreadable_file_is_one_problem_of_its_name(
    directory, starts, in_process, monkeypatch, kind
):
    """Whether this server, the pipeline or both find it, the page names only that file, once."""
    unreadable = directory / "orders-0" / f"{0:020d}.{kind}"
    for name in ("reader", "read_data"):
        monkeypatch.setattr(file, name, refusing(unreadable, getattr(file, name)))
    monkeypatch.setattr(job, "start_ingest", REAL_START)
    snapshot = broker_cache.open_snapshot(directory)
    in_process(directory, catalog=broker_cache.catalog_path(snapshot.broker))
    known = broker_cache.overview(snapshot)
    assert known.problems == (Problem(unreadable, message("errors.may_not_be_read")),)
    assert known.segments["left_out"].tolist() == [True] and known.codecs is not None


def refusing(unreadable: Path, door: Callable) -> Callable:
    def opened(path: Path) -> object:
        if path == unreadable:
            raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")
        return door(path)

    return opened


class FakeCatalog:
    """A catalog of one broker directory, with the columns the Broker page asks for."""

    def __init__(self, health, **counted) -> None:
        self._columns = columns(health, **counted)
        stored = zip(*(self._columns[name] for name in broker_cache.STAMP_FIELDS), strict=True)
        self._stored = [
            SimpleNamespace(**dict(zip(broker_cache.STAMP_FIELDS, stored_segment, strict=True)))
            for stored_segment in stored
        ]

    def segments(self, columns) -> tuple[list[SimpleNamespace], pa.Table]:
        return self._stored, pa.table({column: self._columns[column] for column in columns})

    def table(self, name, columns, filters) -> pa.Table:
        return pa.table({column: [] for column in columns})


def test_a_fresh_catalog_gives_all_numbers_without_an_ingest(directory, starts, monkeypatch):
    snapshot = broker_cache.open_snapshot(directory)
    folder = broker_cache.catalog_path(snapshot.broker)
    folder.mkdir(parents=True)
    (folder / "_catalog.json").touch()
    counted = {"batches": [3], "records": [30], "last_offset": [29], "codecs": [("zstd", "lz4")]}
    counted |= {"valid_bytes": [600], "torn_bytes": [400]}
    catalog = FakeCatalog(snapshot.broker, **counted)
    monkeypatch.setattr(broker_cache, "_catalog", lambda path, stamp: catalog)
    monkeypatch.setattr(inventory, "is_fresh", lambda catalog, brokers: True)
    known = broker_cache.overview(snapshot)
    assert (known.total.batches, known.partitions[0].codecs) == (3, ("lz4", "zstd"))
    ((place, tail),) = broker_cache.torn_tails(snapshot).items()
    assert (place, tail.summary) == (("orders-0", 0), message("tail.zeros", n=400))
    title = broker_cache.broker_map(snapshot, "By size", 0, "light").view.title
    assert title == "One log ends in bytes that are not a batch: 400 bytes in all"
    assert broker_cache.is_fresh(snapshot) and not ingests.is_awaited(snapshot)
    assert ingests.get_or_start(snapshot) is None and starts.requests == []


def lead_out(path: Path, folder: Path) -> None:
    """Makes the file a link to a secret in this folder."""
    (folder / "secret").write_text("root:x:0:0")
    path.unlink(missing_ok=True)
    path.symlink_to(folder / "secret")


def test_a_linked_small_file_is_refused_before_it_is_read(monkeypatch, directory, tmp_path):
    """A checkpoint that links out of the root: none of the target's content is shown."""
    lead_out(directory / "replication-offset-checkpoint", tmp_path)
    monkeypatch.setenv(access.ALLOW_ROOT, str(directory))
    with pytest.raises(CannotOpen) as raised:
        broker_cache.open_snapshot(directory)
    assert raised.value.kind == "outside" and "root:x" not in str(raised.value)


def test_a_lone_partition_says_nothing_through_its_parents_links(monkeypatch, directory, tmp_path):
    """The broker directory around it is read too, and may hold a link that leads out of the root."""
    lead_out(directory / "meta.properties", tmp_path)
    monkeypatch.setenv(access.ALLOW_ROOT, str(directory))
    access.confine()
    broker = broker_cache.broker(directory / "orders-0")
    assert dict(broker.properties) == {}
    assert [(problem.path.name, problem.kind) for problem in broker.problems] == [
        ("meta.properties", "outside")
    ]


def test_a_fresh_catalog_shows_the_health(directory, read_once, in_process):
    """None if the catalog has no findings or the directory has changed."""
    snapshot = broker_cache.open_snapshot(directory)
    assert broker_cache.catalog_health(snapshot) is None
    in_process(directory, catalog=read_once, full=True, findings=True)
    stored, expected = broker_cache.catalog_health(snapshot), check(snapshot.broker)
    assert stored.findings == expected.findings
    assert stored.restart == expected.restart
    assert stored.assumed_release == expected.assumed_release
    assert stored.now_ms == expected.now_ms
    assert stored.metadata_retention() == expected.metadata_retention()
    assert broker_cache.catalog_error_count(snapshot) == stored.counts["error"] > 0
    (directory / "orders-0" / f"{1000:020d}.log").write_bytes(b"x")
    assert broker_cache.catalog_health(broker_cache.open_snapshot(directory)) is None
    assert broker_cache.catalog_error_count(broker_cache.open_snapshot(directory)) == 0


def overwrite(path: Path) -> None:
    """Overwrites the file in place with as many other bytes, as `cp` does."""
    number = path.stat().st_ino
    with open(path, "r+b") as file:
        file.write(b"\1" * 4)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert path.stat().st_ino == number


@pytest.fixture
def many(monkeypatch) -> list[float]:
    """Makes every directory count as very large, with a clock that the test sets."""
    monkeypatch.setattr(broker_cache, "MAX_QUICK_FILES", 0)
    monkeypatch.setattr(broker_cache, "PAUSE_S", 100.0)
    clock = [0.0]
    monkeypatch.setattr(broker_cache.time, "monotonic", lambda: clock[0])
    return clock


SMALL = ("meta.properties", "orders-0/leader-epoch-checkpoint", "recovery-point-offset-checkpoint")


@pytest.mark.parametrize("name", [*NAMES, *SMALL])
def test_a_file_overwritten_in_place_makes_a_new_listing(directory, name):
    """Neither a folder's time nor a length has changed."""
    (directory / name).touch()
    (directory / "recovery-point-offset-checkpoint").touch()
    before = broker_cache.open_snapshot(directory)
    assert broker_cache.open_snapshot(directory) is before
    if (directory / name).stat().st_size:
        overwrite(directory / name)
    else:
        os.utime(directory / name, ns=(0, 1))
    after = broker_cache.open_snapshot(directory)
    assert after.key != before.key and broker_cache.open_snapshot(directory) is after


def test_of_very_many_files_each_is_looked_at_now_and_then(directory, many):
    """Between two complete looks only the folders and the growing logs are checked."""
    before = broker_cache.open_snapshot(directory)
    overwrite(directory / NAMES[1])
    many[0] = 100.0
    assert broker_cache.open_snapshot(directory) is before
    many[0] = 1000.0
    after = broker_cache.open_snapshot(directory)
    assert after.key != before.key
    with open(directory / NAMES[0], "ab") as log:
        log.write(b"more")
    assert broker_cache.open_snapshot(directory).key != after.key


def test_a_look_that_found_nothing_puts_off_the_next(directory, many):
    before = broker_cache.open_snapshot(directory)
    many[0] = 1000.0
    assert broker_cache.open_snapshot(directory) is before
    overwrite(directory / NAMES[1])
    many[0] = 1100.0
    assert broker_cache.open_snapshot(directory) is before


def test_runs_that_wait_for_one_another_share_a_look(directory):
    """A run accepts observations made after its request, none older."""
    queue = RunQueue()
    with queue.turn():
        before = broker_cache.open_snapshot(directory)
        assert before.fingerprint.is_current(before.broker)  # looks
        overwrite(directory / NAMES[0])
        assert before.fingerprint.is_current(before.broker)  # has seen it since it was asked for
    assert not before.fingerprint.is_current(
        before.broker
    )  # a fragment's run, which asks by itself
    with queue.turn():
        assert not before.fingerprint.is_current(before.broker)
