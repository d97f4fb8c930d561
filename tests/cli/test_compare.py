"""kafkaviz compare as an operator runs it: words, JSON, exit status."""

import json

import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.analysis.comparison.index_differences import IndexReason
from kafkaviz.analysis.comparison.leader_epochs import TruncationRule
from kafkaviz.analysis.comparison.start_changes import ChangeKind
from kafkaviz.messages import LANGUAGES, catalogue
from tests import conftest

REPLICAS = [*map(str, conftest.REPLICAS)]


@pytest.fixture(scope="module")
def report(cache) -> dict:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["compare", *REPLICAS, "--json"]) == 1
    return json.loads(printed.getvalue())


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
    assert {
        side: (walk["follower_keeps_below"], walk["follower_loses"])
        for side, walk in bids["if_leader"].items()
    } == {"a": (180, [[180, 219]]), "b": (180, [[180, 249]])}
    assert bids["differences"][0].keys() >= {"file", "position", "size_bytes", "what", "a", "b"}
    assert report["counts"]["diverged"] == 1 and sum(report["counts"].values()) == 24
    assert report["before_and_after"] is None and report["problems"] == []


def test_a_partition_on_one_side_has_the_same_fields(report):
    """Null where there is nothing to compare."""
    alone = next(item for item in report["partitions"] if item["partition"] == "crew-one-0")
    assert (alone["relation"], alone["if_leader"]) == ("only-in-a", None)
    assert alone.keys() == report["partitions"][0].keys()
    assert alone["only_in_a"]["records"] == 40


def test_the_worst_comes_first(capsys):
    assert main(["compare", *REPLICAS]) == 1
    text = capsys.readouterr().out
    names = ["manifests-0 ", "bids-0 ", "deposits-0 ", "crew-two-0 ", "loadings-0 ", "unused-0 "]
    places = [text.index(f"\n{name}") for name in names]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "status", "verdict"),
    [
        ("", 1, "differs: 17 of 24 partitions do not have the same records on both sides"),
        ("/cargo-0", 1, "differs: 1 of 1 partitions has different records"),
        ("/loadings-0", 0, "same: the partition has the same records on both sides"),
    ],
)
def test_the_verdict_comes_first(name, status, verdict, capsys):
    assert main(["compare", *(f"{path}{name}" for path in REPLICAS)]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(verdict) and lines[1].startswith("  ")


def test_two_directories_without_partitions_are_not_called_the_same(capsys, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert capsys.readouterr().out.startswith("nothing to compare")


def test_the_words(capsys):
    assert main(["compare", *(f"{path}/offers-0" for path in REPLICAS)]) == 1
    text = capsys.readouterr().out
    assert "if b leads, a drops 180–224:" in text and "if a leads, b drops nothing" in text
    assert "1 partition: " in text and "doomed-tail" in text
    arguments = ["--language", "zh", "compare", *(f"{path}/bids-0" for path in REPLICAS)]
    assert main(arguments) == 1
    assert "若 b 为 leader，a 会丢弃 180–249" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "status"), [("auctions-0", 0), ("watches-0", 0), ("loadings-0", 0), ("cargo-0", 1)]
)
def test_the_status_says_whether_the_records_are_the_same(name, status, capsys):
    assert main(["compare", *(f"{path}/{name}" for path in REPLICAS), "--json"]) == status
    assert len(json.loads(capsys.readouterr().out)["partitions"]) == 1


def test_one_moment_twice_is_reported(capsys):
    assert main(["compare", REPLICAS[0], REPLICAS[0]]) == 0
    assert "no file of a partition has changed" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nowhere", REPLICAS[0]], [REPLICAS[0], "nowhere"]])
def test_bad_input_is_one_line(arguments, capsys):
    assert main(["compare", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "nowhere" in error


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
