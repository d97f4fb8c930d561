"""The tab Map of the Disk page: bars, tables, downloads, and the map before the check is over."""

from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.disk import FileLister
from kafkaviz.app.state import check_jobs
from kafkaviz.units import format_bytes, format_count
from tests.support.brokers import copy_partitions
from tests.support.pages import open_page, page_html

pytestmark = pytest.mark.usefixtures("starts", "patient")


def test_the_map_of_a_checked_broker(clean, tmp_path):
    names = ("__cluster_metadata-0", "orders-1", "weblogs-0")
    directory = copy_partitions(clean, tmp_path / "some", names)
    health = check(directory)
    html = page_html(open_page("disk", dir=directory))
    shares = health.all_shares()
    length = sum(share.length_bytes for share in shares)
    allocated = format_bytes(sum(share.allocated_bytes for share in shares))
    assert f"take {allocated} on the disk; their length is {format_bytes(length)}" in html
    assert "the largest part is records" in html and "disk-unread" not in html
    assert f"<b>{format_count(length)}</b>" in html
    for step in health.freeing_steps():
        assert format_bytes(step.allocated_bytes) in html
    at = open_page("disk", dir=directory)
    menus = {item.proto.label: list(item.proto.options) for item in at.get("menu_button")}
    assert sorted(menus["Topic-partitions of a topic"]) == [
        "\\_\\_cluster\\_metadata",
        "orders",
        "weblogs",
    ]
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["CSV of all paths", "CSV", "CSV"]


def test_log_directories_by_their_names(disks):
    html = page_html(open_page("disk", dir=disks))
    assert "3 log directories take" in html
    assert all(f'<span title="{name}">{name}</span>' in html for name in ("disk-a", "disk-c"))
    assert "waiting for deletion" in html


def test_a_large_directory_has_a_map_of_its_listing(damaged, monkeypatch):
    """It stands below the progress of the ingest, and nothing is divided yet."""
    monkeypatch.setattr(check_jobs, "is_for_spark", lambda _snapshot: True)
    monkeypatch.setattr(
        "kafkaviz.app.widgets.progress_strip.render_ingest_strip", lambda _snapshot: None
    )
    html = page_html(open_page("disk", dir=damaged))
    assert "disk-unread" in html and "disk-records" not in html
    assert "from the directory listing" in html


def test_a_folder_that_cannot_be_listed_is_named(damaged, monkeypatch):
    unreadable = damaged / "locked"
    folders_in = FileLister._folders_in

    def list_folders(lister: FileLister, folder: Path) -> list[str]:
        lister.unreadable.add(unreadable)
        return folders_in(lister, folder)

    monkeypatch.setattr(FileLister, "_folders_in", list_folders)
    html = page_html(open_page("disk", dir=damaged))
    assert "cannot be listed" in html and html.count(str(unreadable)) == 1
