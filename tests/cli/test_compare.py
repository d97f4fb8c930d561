"""kafkaviz compare as an operator runs it: words, JSON, exit status."""

import pytest

import kafkaviz as kv
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.analysis.comparison.index_differences import IndexReason
from kafkaviz.analysis.comparison.leader_epochs import TruncationRule
from kafkaviz.analysis.comparison.start_changes import ChangeKind
from kafkaviz.messages import LANGUAGES, catalogue
from tests import conftest
from tests.support.commands import json_of, refusal_of, text_of

REPLICAS = [*map(str, conftest.REPLICAS)]


@pytest.fixture(scope="module")
def report(cache) -> dict:
    return json_of("compare", *REPLICAS, status=1)


def test_the_json_is_as_documented(report):
    assert (report["a"], report["b"]) == tuple(REPLICAS)
    bids = next(item for item in report["partitions"] if item["partition"] == "bids-0")
    expected = {
        "relation": "diverged",
        "compared_from": 0,
        "compared_to": 220,
        "first_divergent_offset": 180,
        "leader_epochs_there": {"a": 3, "b": 5},
        "segment_bases_equal": False,
        "only_in_a": {"records": 30, "ranges": [[220, 249]]},
        "only_in_b": {"records": 0, "ranges": []},
    }
    assert {name: bids[name] for name in expected} == expected
    for side, last in (("a", 219), ("b", 249)):
        loses = {"follower_keeps_below": 180, "follower_loses": [[180, last]]}
        assert bids["if_leader"][side].items() >= loses.items()
    assert bids["differences"][0].keys() >= {"file", "position", "size_bytes", "what", "a", "b"}
    assert report["counts"]["diverged"] == 1 and sum(report["counts"].values()) == 24
    assert report["before_and_after"] is None and report["problems"] == []


def test_a_partition_on_one_side_has_the_same_fields(report):
    """Null where there is nothing to compare."""
    alone = next(item for item in report["partitions"] if item["partition"] == "crew-one-0")
    assert (alone["relation"], alone["if_leader"]) == ("only-in-a", None)
    assert alone.keys() == report["partitions"][0].keys()
    assert alone["only_in_a"]["records"] == 40


def test_the_worst_comes_first():
    text = text_of("compare", *REPLICAS, status=1)
    names = ["manifests-0 ", "bids-0 ", "deposits-0 ", "crew-two-0 ", "loadings-0 ", "unused-0 "]
    places = [text.index(f"\n{name}") for name in names]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "status", "count", "verdict"),
    [
        ("", 1, 24, "differs: 17 of 24 partitions do not have the same records on both sides"),
        ("/cargo-0", 1, 1, "differs: 1 of 1 partitions has different records"),
        ("/loadings-0", 0, 1, "same: the partition has the same records on both sides"),
    ],
)
def test_the_verdict_and_the_status_say_whether_the_records_are_the_same(
    name, status, count, verdict
):
    paths = [f"{path}{name}" for path in REPLICAS]
    lines = text_of("compare", *paths, status=status).splitlines()
    assert lines[0].startswith(verdict) and lines[1].startswith("  ")
    assert len(json_of("compare", *paths, status=status)["partitions"]) == count


def test_two_directories_without_partitions_are_not_called_the_same(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    assert text_of("compare", tmp_path / "a", tmp_path / "b").startswith("nothing to compare")


def test_the_words():
    text = text_of("compare", *(f"{path}/offers-0" for path in REPLICAS), status=1)
    assert "if b leads, a drops 180–224:" in text and "if a leads, b drops nothing" in text
    assert "1 partition: " in text and "doomed-tail" in text
    bids = (f"{path}/bids-0" for path in REPLICAS)
    text = text_of("--language", "zh", "compare", *bids, status=1)
    assert "若 b 为 leader，a 会丢弃 180–249" in text


def test_one_moment_twice_is_reported():
    assert "no file of a partition has changed" in text_of("compare", REPLICAS[0], REPLICAS[0])


@pytest.mark.parametrize("arguments", [["nowhere", REPLICAS[0]], [REPLICAS[0], "nowhere"]])
def test_bad_input_is_one_line(arguments):
    assert "nowhere" in refusal_of("compare", *arguments)


def test_the_library_says_the_same():
    comparison = kv.compare(*REPLICAS)
    assert comparison.counts[Relation.DOOMED_TAIL] == 1
    assert not comparison.has_equal_records


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_json_has_a_sentence(language):
    keys = {
        *(f"relation_{relation.value}" for relation in Relation),
        *(f"index_{reason.value}" for reason in IndexReason),
        *(f"step_{rule.value}" for rule in TruncationRule),
        *(f"change_{kind.value}" for kind in ChangeKind),
    }
    texts = catalogue(language)
    assert [key for key in keys if f"comparison.{key.replace('-', '_')}" not in texts] == []
