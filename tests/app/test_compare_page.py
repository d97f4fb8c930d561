"""The Compare page without a browser: two brokers of a 4.4.0 cluster whose story is known."""

import csv
import gzip
import io
import json
import tarfile

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import BrokerComparison
from kafkaviz.app.pages.compare import comparison_json, partitions_csv
from kafkaviz.app.pages.compare_logs import offsets_of_interest
from kafkaviz.app.state.comparisons import comparisons
from tests.conftest import DATA, REPLICAS
from tests.support.pages import (
    assert_no_exception,
    box,
    open_page,
    page_html,
    query_value,
    select_option,
)

A, B = REPLICAS
with gzip.open(DATA / "kafka-4.4.0-replica.json.gz", "rt") as file:
    STORY = json.load(file)["partitions"]
pytestmark = pytest.mark.usefixtures("starts", "patient")


def page(**query: object):
    return open_page("compare", **{"dir": A, "with": B} | query)


@pytest.fixture(scope="module")
def comparison(cache) -> BrokerComparison:
    return compare(A, B)


def test_without_a_second_directory_it_asks_for_one():
    """The page also says what may be given."""
    html = page_html(open_page("compare", dir=A))
    assert "Which directory do you want to compare with?" in html and "kv-chip" not in html


def test_a_second_directory_that_is_not_there():
    html = page_html(page(**{"with": "/nowhere"}))
    assert "The second directory cannot be opened" in html and "/nowhere" in html


def test_the_worst_relations_come_first(comparison):
    at = page()
    html = page_html(at)
    for relation, count in comparison.counts.items():
        text = relation.value.replace("-", " ").capitalize()
        assert f"{count} {text.replace('Start differs', 'Log start differs')}" in html
    assert box(at, "Topic-partition").value == "manifests-0"
    assert html.index("2 Damaged") < html.index("1 Diverged") < html.index("2 Cleaned differently")
    assert "10 more; scroll" in html
    assert "5 of 24 topic-partitions have diverged or are damaged" in html


def test_a_parted_partition_and_who_leads():
    """Both ends of a log are included; without a switch nothing is said of one."""
    story = STORY["bids-0"]
    assert story["first_divergent_offset"] == 180
    assert story["leader_epochs_there"] == {"1": 3, "2": 5}
    html = page_html(page(tp="bids-0"))
    assert "The logs diverge at offset 180: leader epoch 3 in a, 5 in b" in html
    assert "Offsets of a: 0–249, of b: 0–219." in html and "0–250" not in html
    hint = "Choose which side leads"
    assert hint in html and hint not in page_html(page(tp="crew-one-0"))
    assert "If b leads, a drops 70 records: 180 to 249" in page_html(page(tp="bids-0", leader="b"))
    html = page_html(page(tp="bids-0", leader="a"))
    assert "If a leads, b drops 40 records: 180 to 219" in html
    assert "the follower has no such epoch, so it truncates its log to 180 and asks again" in html


def test_a_step_of_the_follower_is_in_the_address():
    at = page(tp="bids-0", leader="b", cut="1")
    assert query_value(at, "cut") == "1"
    assert page_html(at).index('<li class="on">The follower fetches from offset 250 with') > 0
    assert query_value(page(tp="bids-0", leader="b", cut="2"), "cut") is None


def test_a_changed_value_to_the_byte():
    html = page_html(page(tp="invoices-0"))
    assert "9 bytes of the batches from offset 27 differ" in html
    assert "<mark>6d</mark> <mark>61</mark> <mark>72</mark> <mark>73</mark> <mark>68</mark>" in (
        html.replace("\u00a0", "").replace("  ", " ")
    )
    assert "6d 61 72 73 68" in html and "57 52 4f 4e 47" in html


def test_the_later_moment_given_first_is_reported(tmp_path):
    for name in ("older", "newer"):
        with tarfile.open(A) as archive:
            archive.extractall(tmp_path / name, filter="data")
    older, newer = (tmp_path / name / "kafka-4.4.0-replica-1" for name in ("older", "newer"))
    log = next((newer / "__cluster_metadata-0").glob("*.log"))
    log.write_bytes(log.read_bytes() + bytes(100))
    html = page_html(page(**{"dir": newer, "with": older}))
    assert "b is the earlier one" in html and "Changes to the files" not in html
    html = page_html(page(**{"dir": older, "with": newer}))
    assert "b is the earlier one" not in html and "Changes to the files" in html


def test_another_offset_is_looked_at():
    at = select_option(page(tp="bids-0"), "Look at offset", "219")
    assert query_value(at, "pin") == "219" and "Batches around offset 219" in page_html(at)


@pytest.mark.parametrize("name", ["crew-one-0", "crew-two-0", "unused-0", "__cluster_metadata-0"])
def test_every_kind_of_partition_has_a_page(name):
    assert f'<h2 class="kv-h2">{name}' in page_html(page(tp=name))


def _unpack_two() -> None:
    from pathlib import Path

    from kafkaviz.app.widgets.progress_strip import _Strip

    for name, key_end in (("a.tar", ""), ("b.tar", "_second")):
        _Strip(Path(name), key_end).update(1)


def test_both_archives_may_be_unpacked_in_one_run():
    at = assert_no_exception(AppTest.from_function(_unpack_two).run())
    assert page_html(at).count("kv-state") == 2


def test_nothing_is_compared_twice():
    """Two visitors of the same two directories share one comparison."""
    page()
    count = len(comparisons().jobs())
    page(tp="bids-0")
    assert len(comparisons().jobs()) == count


def test_the_csv_has_what_the_story_tells(comparison):
    lines = csv.DictReader(io.StringIO(partitions_csv(comparison)))
    rows = {line["partition"]: line for line in lines}
    assert len(rows) == len(comparison.partitions)
    bids = rows["bids-0"]
    assert bids["first_divergent_offset"] == "180"
    assert (bids["leader_epoch_a"], bids["leader_epoch_b"]) == ("3", "5")
    assert bids["a_keeps_below_if_b_leads"] == bids["b_keeps_below_if_a_leads"] == "180"
    assert rows["crew-one-0"]["records_only_in_a"] == "40"


def test_the_json_is_that_of_the_command(comparison):
    parsed = json.loads(comparison_json(comparison))
    names = [item.partition for item in comparison.partitions]
    assert [item["partition"] for item in parsed["partitions"]] == names


def test_offsets_to_look_at(comparison):
    by_name = {item.partition: item for item in comparison.partitions}
    assert offsets_of_interest(by_name["bids-0"])[0] == 180
    assert offsets_of_interest(by_name["unused-0"]) == [0]
