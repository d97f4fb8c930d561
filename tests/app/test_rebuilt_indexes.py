"""The rebuilt indexes on the Health page: order, differences from the disk, downloads."""

import io
import tarfile

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.pages import health
from kafkaviz.app.pages.health import compare_files, difference, offer_partitions, pack
from tests.app.health_page import page
from tests.support.pages import page_html, press_label

INDEX = "00000000000000000858.index"


@pytest.fixture
def built(damaged) -> dict[str, bytes]:
    """Returns the indexes that recovery builds for the damaged bookings-0."""
    snapshot = broker_cache.open_snapshot(damaged)
    return health._rebuild(snapshot, snapshot.broker.partition("bookings-0"), "4.3.1")


def test_damaged_indexes_come_first(damaged):
    names = offer_partitions(broker_cache.open_snapshot(damaged), check(damaged).findings)
    first = [
        name for name in names if name in ("bookings-0", "metrics-0", "rides-0", "transfers-0")
    ]
    assert names[: len(first)] == first and len(first) == 4 and len(names) > 4


def test_each_file_is_compared_with_the_one_on_disk(damaged, built):
    """An untrimmed index is longer on disk; wrong entries differ from their byte on."""
    differences = {
        comparison.name: comparison.difference
        for comparison in compare_files(built, broker_cache.broker(damaged).partition("bookings-0"))
    }
    assert differences["00000000000000000000.index"].endswith("more on disk")
    assert differences[INDEX].startswith("from byte ")
    assert 8 * 3 + 4 <= int(differences[INDEX].split()[2]) < 8 * 4
    assert differences["00000000000000001721.timeindex"].startswith("from byte ")
    assert sum(not difference for difference in differences.values()) == len(differences) - 3


@pytest.mark.parametrize(
    ("now", "now_bytes", "data", "words"),
    [
        (b"ab", 2, b"ab", ""),
        (b"ab", 2, b"ac", "from byte 1 on"),
        (b"ab", 9, b"ab", "7 B more on disk"),
        (b"a", 1, b"abc", "2 B fewer on disk"),
        (b"", 0, b"", ""),
    ],
)
def test_a_difference_in_words(now, now_bytes, data, words):
    assert difference(now, now_bytes, data) == words


def test_the_archive_holds_the_files(damaged, built):
    with tarfile.open(
        fileobj=io.BytesIO(pack(built, broker_cache.broker(damaged).partition("bookings-0")))
    ) as tar:
        contents = {member.name: tar.extractfile(member).read() for member in tar}
    assert contents == {f"bookings-0/{name}": data for name, data in built.items()}


def test_nothing_is_built_unasked(damaged, starts):
    at = page(damaged)
    assert not [element for element in at.get("download_button") if "indexes" in element.label]
    press_label(at, "Build them")
    assert "Download the indexes" in [element.label for element in at.get("download_button")]
    assert "differ from those on disk" in page_html(at)
