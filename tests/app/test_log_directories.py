"""The pages over several log directories of one broker."""

import json
import os
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import kafkaviz as kv
from kafkaviz import units
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Finding
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.pages.tuning_scopes import directory_request
from kafkaviz.app.state import measure_jobs, page_location
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import health_view
from kafkaviz.figures.broker import broker_map
from kafkaviz.figures.disk import retention_view
from tests.support.pages import open_page, page_html, query_value

pytestmark = pytest.mark.usefixtures("starts")
NAMES = ("disk-a", "disk-b", "disk-c")
PAGES = ("broker", "segment", "lookup", "health", "tuning", "rolls", "page_cache", "explore")


def joined(disks: Path) -> str:
    return page_state.join_directories(disks / name for name in NAMES)


def opened(name: str, disks: Path, names=NAMES, **query: object) -> AppTest:
    """Returns a page over some of the directories, each a parameter `dir`."""
    return open_page(name, dir=[str(disks / directory) for directory in names], **query)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_all_of_them(disks, name):
    """Its address keeps each of them."""
    at = opened(name, disks)
    assert at.query_params[page_state.DIRECTORY] == [str(disks / name) for name in NAMES]


def test_the_map_has_a_group_a_directory(disks):
    """Its name, topic-partitions and bytes equal a plain listing's."""
    overview = broker_cache.overview(broker_cache.open_snapshot(joined(disks)))
    view = broker_map.view(overview)
    headings = {row.name: row.heading for row in view.rows if row.heading}
    for name in NAMES:
        folders = [path for path in (disks / name).iterdir() if path.is_dir()]
        size = sum(log.stat().st_size for path in folders for log in path.glob("*.log"))
        start = f"{len(folders)} topic-partitions, {units.format_bytes(size)} of log, "
        assert headings[name].startswith(start)
    assert [row.name for row in view.rows if row.heading] == list(NAMES)
    for bar in view.bars:
        above = [row.name for row in view.rows[: bar.row] if row.heading]
        assert (disks / above[-1] / bar.directory).is_dir()


def test_the_table_shows_the_directory(disks):
    """Only if there are several; the title says how many."""
    at = opened("broker", disks)
    (table,) = [frame.value for frame in at.dataframe if "Log directory" in frame.value]
    for name, directory in zip(table["Topic-partition"], table["Log directory"], strict=True):
        assert [*(disks / directory).glob(f"{name.removesuffix(' (deleted)')}*")]
    assert "in 3 log directories" in page_html(at)
    one = opened("broker", disks, ("disk-a",))
    assert not [frame for frame in one.dataframe if "Log directory" in frame.value]
    assert "log directories" not in page_html(one)


def test_a_directory_of_several_says_so(disks):
    """Only the directories without the metadata log say so."""
    words = "no opened log directory has the metadata log"
    assert words in page_html(opened("broker", disks, ("disk-b",)))
    assert words not in page_html(opened("broker", disks, ("disk-a",)))


def test_a_partition_in_two_directories_is_distinguished(disks, tmp_path):
    copy = Path(shutil.copytree(disks, tmp_path / "copy"))
    shutil.copytree(copy / "disk-b" / "audit-1", copy / "disk-c" / "audit-1")
    for directory in ("disk-b", "disk-c"):
        for name in ("segment", "lookup", "rolls", "tuning"):
            at = opened(name, copy, tp=f"{directory}/audit-1")
            assert query_value(at, "tp") == f"{directory}/audit-1"
        snapshot = broker_cache.open_snapshot(joined(copy))
        location = page_location.PartitionLocation("x", snapshot, None)
        partition = location.broker.partition(f"{directory}/audit-1")
        assert location.broker.partition_name(partition) == f"{directory}/audit-1"
        assert partition.path.parent.name == directory


def test_an_address_names_each_directory():
    several = page_state.join_directories(["/data/a,b", "/data/c"])
    address = page_state.address(several, "orders-0", 5)
    assert address == {"dir": ["/data/a,b", "/data/c"], "tp": "orders-0", "segment": "5"}
    assert page_state.directory_in(address) == several
    assert page_state.address("/data/a,b") == {"dir": "/data/a,b"}


def test_directories_are_typed_as_log_dirs_has_them(tmp_path):
    """Separated by commas; an existing path may have a comma in its name."""
    for name in ("a", "b", "a,b"):
        (tmp_path / name).mkdir()
    several = page_location.clean_path(f" {tmp_path}/a, '{tmp_path}/b' ")
    assert page_state.split_directories(several) == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert page_location.clean_path(f"{tmp_path}/a,b") == f"{tmp_path}/a,b"
    assert page_location.directory_text(several) == f"{tmp_path}/a, {tmp_path}/b"
    assert page_location.short_directory_text(several) == f"{tmp_path}/{{a,b}}"


def test_each_directory_has_to_be_allowed(disks, monkeypatch):
    """One directory outside refuses them all."""
    allowed = [disks / "disk-a", disks / "disk-b"]
    monkeypatch.setenv(access.ALLOW_ROOT, json.dumps(list(map(str, allowed))))
    snapshot = broker_cache.open_snapshot(page_state.join_directories(allowed))
    assert len(snapshot.broker.log_directories) == 2
    with pytest.raises(CannotOpen) as fault:
        broker_cache.open_snapshot(page_state.join_directories([*allowed, disks / "disk-c"]))
    assert fault.value.kind == "outside"


def test_a_listing_is_that_of_all_directories(disks, tmp_path):
    """One more directory, or a change in one, gives another listing and another catalog."""
    two = page_state.join_directories([disks / "disk-a", disks / "disk-b"])
    three = joined(disks)
    snapshots = [broker_cache.open_snapshot(directory) for directory in (two, three)]
    assert len({snapshot.key for snapshot in snapshots}) == 2
    assert len({broker_cache.catalog_path(snapshot.broker) for snapshot in snapshots}) == 2
    assert [snapshot.directory for snapshot in snapshots] == [two, three]
    assert snapshots[1].fingerprint.is_current(snapshots[1].broker)
    marker = disks / "disk-c" / ".kafka_cleanshutdown"
    marker.touch()
    try:
        assert broker_cache.open_snapshot(three).key != snapshots[1].key
    finally:
        marker.unlink()


def test_the_ingest_takes_all_directories(disks, starts):
    opened("broker", disks)
    assert [request[0] for request in starts.requests] == [[tuple(disks / name for name in NAMES)]]


def test_the_command_takes_several(disks, monkeypatch):
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call[2]))
    paths = [str(disks / name) for name in NAMES]
    main(["app", *paths])
    main(["app", paths[1]])
    assert json.loads(calls[0]["KAFKAVIZ_DIR"]) == paths
    assert calls[1]["KAFKAVIZ_DIR"] == paths[1]
    monkeypatch.setenv("KAFKAVIZ_DIR", calls[0]["KAFKAVIZ_DIR"])
    assert page_location.default_directory() == page_state.join_directories(paths)


def test_findings_and_steps_name_their_directory(disks):
    """Their links lead there, and bytes are read from that file."""
    health = check(kv.open_broker(disks))
    view = health_view.view(health)
    homes = {path.name: path.parent.name for path in disks.glob("disk-?/*") if path.is_dir()}
    members = [member for item in view.items for member in item.members if "tp" in member.link]
    assert members
    for member in members:
        directory, _, partition = member.link["tp"].partition("/")
        assert homes[partition] == directory and member.where.startswith(f"{directory}/{partition}")
    assert {bar.name.partition("/")[0] for bar in view.strip.bars} == set(NAMES)
    logs = retention_view.named_logs(health)
    assert all(homes[Path(log.partition).name] == Path(log.partition).parts[0] for log in logs)
    alone = health_view.view(check(kv.open_broker(disks / "disk-b")))
    assert not [bar for bar in alone.strip.bars if "/" in bar.name]


@pytest.mark.parametrize(
    ("damaged", "title"),
    [
        ((), "This broker will start. It will "),
        (("disk-b",), "This broker will start without {0}/disk-b"),
        (("disk-b", "disk-c"), "This broker will start without {0}/disk-b and {0}/disk-c"),
        (NAMES, "This broker will not start: "),
    ],
)
def test_a_start_has_three_outcomes(disks, tmp_path, damaged, title):
    """With all directories, without some, or not: zeros in a checkpoint take one offline.

    This checkpoint is read once the logs are loaded, so an open transaction does not end the start
    there.
    """
    copy = Path(shutil.copytree(disks, tmp_path / "copy"))
    for name in damaged:
        (copy / name / "cleaner-offset-checkpoint").write_bytes(bytes(64))
    verdict = health_view.view(check(kv.open_broker(copy))).verdict
    assert verdict.title.startswith(title.format(copy))
    assert ("The other log directories are served." in verdict.text) == ("without" in title)


@pytest.mark.parametrize(("name", "query"), [("segment", {}), ("rolls", {"of": "payments-2"})])
@pytest.mark.parametrize(
    ("language", "words", "default"),
    [
        ("en", "the metadata log is not in an opened log directory", "Kafka’s default"),
        ("zh", "元数据日志不在已打开的日志目录中", "Kafka 默认值"),
    ],
)
def test_a_setting_is_unknown_away_from_the_metadata_log(
    disks, name, query, language, words, default
):
    query |= {"tp": "payments-2", "lang": language}
    alone = page_html(opened(name, disks, ("disk-b",), **query))
    assert words in alone and default not in alone
    assert words not in page_html(opened(name, disks, **query))


def test_an_unknown_interval_is_inferred(disks):
    words = "index.interval.bytes is inferred from the entries, between "
    assert words in page_html(opened("tuning", disks, ("disk-b",), tp="payments-2"))
    assert words not in page_html(opened("tuning", disks, tp="payments-2"))


def test_retention_is_unknown_away_from_the_metadata_log(disks):
    table = retention_view.segment_table(check(kv.open_broker(disks / "disk-b")).retention)
    reasons = {row.cells[-1] for row in table.rows}
    assert reasons == {
        "Unknown whether it is kept: retention.ms, retention.bytes or cleanup.policy is unknown"
    }
    assert table.title.endswith(" is unknown")
    known = retention_view.segment_table(check(kv.open_broker(disks / "disk-a")).retention)
    assert "would delete none of " in known.title


@pytest.mark.usefixtures("patient")
def test_compare_takes_several_directories_a_side(disks):
    paths = [str(disks / name) for name in NAMES]
    at = opened("compare", disks, **{"with": paths, "tp": "audit-1"})
    assert at.query_params[page_state.COMPARED_DIRECTORY] == paths
    html = page_html(at)
    assert "The second directory cannot be opened" not in html
    joined = ",".join(paths)
    assert [code.value for code in at.code] == [f"kafkaviz compare {joined} {joined}"]
    field = next(box for box in at.text_input if box.label.startswith("A second"))
    assert field.value == ", ".join(paths)


@pytest.mark.usefixtures("patient")
def test_a_copied_command_names_all_directories(disks, monkeypatch):
    monkeypatch.setattr(Finding, "needs_replica", True)
    paths = [str(disks / name) for name in NAMES]
    at = opened("health", disks)
    assert f"kafkaviz compare {','.join(paths)}" in at.code[-1].value
    assert page_location.shell_paths(kv.open_broker(*paths)) == " ".join(paths)
    assert page_location.shell_paths(kv.open_broker(paths[0])) == paths[0]


def test_tuning_a_partition_knows_the_settings_of_its_topic(disks):
    """The metadata log is in disk-a, and the partition in disk-b."""
    snapshot = broker_cache.open_snapshot(joined(disks))
    name = snapshot.broker.partition_name(snapshot.broker.partition("audit-1"))
    job = measure_jobs.get_or_start(directory_request(snapshot, "partition", name, None))
    (case,) = job.wait(60).cases
    assert case.today.unknown_settings == ()
