"""The claims of the lesson on two replicas, compared with the logs of 4.4.0 and the output of
4.3.1's dump tool.
"""

import gzip
import json
import re
import struct
from pathlib import Path

import pytest

from kafkaviz import config_def
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.analysis.comparison.leader_epochs import EpochEndOffset, TruncationRule
from kafkaviz.figures.segment.segment_bytes import ByteWindow
from kafkaviz.format import metadata
from kafkaviz.format.batch_records import iterate
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import LANGUAGES
from kafkaviz.workshop.figures import LIVE, checks
from kafkaviz.workshop.lessons.grammar import LessonBlock, LessonStep, NoValue
from tests.conftest import DATA, REPLICAS
from tests.support.pages import open_page, page_html
from tests.workshop import lesson_text

with gzip.open(DATA / "kafka-4.4.0-replica.json.gz", "rt") as file:
    STORY = json.load(file)["partitions"]
LEADERS = {"en": "a, none, b, a, none, b, none", "zh": "a、无、b、a、无、b、无"}
PARTS = {"sightings-0": 1, "offers-0": 3, "bids-0": 4, "auctions-0": 6}  # by the step that has it


def step(number: int, spoken: str = "en") -> LessonStep:
    return lesson_text.step("two-replicas", number, spoken)


def figure(number: int) -> LessonBlock:
    """The logs that a step shows."""
    return step(number).blocks("replicas")[0]


def walk(number: int, leader: str):
    """Returns the follower's steps in a lesson step if this side leads."""
    return checks.compare_replicas(figure(number)).truncations["ab".index(leader)]


def numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", text)))


@pytest.mark.parametrize(
    ("number", "relation"),
    [
        (1, Relation.BEHIND),
        (3, Relation.DOOMED_TAIL),
        (4, Relation.DIVERGED),
        (6, Relation.IDENTICAL),
    ],
)
def test_a_step_shows_the_relation_that_it_names(number, relation):
    """As the story has it, of the same topic-partition."""
    block = figure(number)
    assert PARTS[block["tp"]] == number
    assert STORY[block["tp"]]["relation"].replace(" ", "-") == relation
    assert checks.compare_replicas(block).relation is relation


def test_whoever_leads_has_the_whole_of_its_log():
    """b drops nothing where a leads, as 4.4.0 chose; a drops 170 records where b does."""
    story = STORY["sightings-0"]
    assert story["when_started_together"] == {"leader": 1, "truncations": []}
    assert walk(1, "a").drop_count == 0
    assert walk(1, "b").follower_loses == ((180, 349),)
    (question,) = step(1).blocks("predict")
    assert numbers(question["ask"]) == [180, 349]
    assert story["behind"]["by_offsets"] == 170
    assert "170" in question["reveal"]


def test_an_epoch_without_a_leader_has_no_record(cache):
    """The metadata log's leaders of bids-0, one an epoch; no checkpoint has one of nobody's."""
    leaders = metadata_leaders(open_broker(REPLICAS[1]), "bids")
    assert leaders == [1, -1, 2, 1, -1, 2, -1]
    for replica in STORY["bids-0"]["replicas"].values():
        epochs = [epoch for epoch, _ in replica["leader_epochs"]]
        assert all(leaders[epoch] > 0 for epoch in epochs)
        assert 1 not in epochs


def metadata_leaders(broker, topic: str) -> list[int]:
    """Returns the leader of partition 0 after each record that changes it; -1 for none."""
    log = broker.partition("__cluster_metadata-0")
    leaders, topic_id = [], None
    for segment in log.live:
        data = segment.log.path.read_bytes()
        for batch in segment.batches():
            if int(batch["attributes"]) & 0x20:  # a marker of the quorum's leader
                continue
            start, size = int(batch["position"]), int(batch["size_bytes"])
            for record in iterate(data[start : start + size]):
                decoded = metadata.decode(record.value)
                values = decoded.values
                if decoded.type.name == "TOPIC_RECORD" and values["name"] == topic:
                    topic_id = values["topicId"]
                if decoded.type.name in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
                    leader = values.get("leader")
                    if values["topicId"] == topic_id and leader is not None and leader != -2:
                        leaders.append(leader)
    return leaders


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_notes_say_who_led_in_turn(spoken):
    (notes,) = step(2, spoken).blocks("notes")
    assert LEADERS[spoken] in notes["say"][0]


@pytest.mark.parametrize(("archive", "epoch"), [*zip(REPLICAS, (3, 5), strict=True)])
def test_bytes_12_to_15_of_a_batch_are_its_leader_epoch(archive, epoch, cache):
    """From 180 on the newest one of each side."""
    segments = open_broker(archive).partition("bids-0").live
    segment = next(each for each in segments if each.base_offset >= 180)
    data = segment.log.path.read_bytes()
    positions = segment.batches()["position"].tolist()
    assert {struct.unpack_from(">i", data, position + 12)[0] for position in positions} == {epoch}


def test_the_file_of_a_is_as_the_step_describes_it():
    """A version, how many lines follow, an epoch and an offset in each."""
    (block,) = step(2).blocks("bytes")
    file = LIVE["bytes"].make(block).read(window=ByteWindow())
    assert bytes(file.outer.data) == b"0\n3\n0 0\n2 120\n3 180\n"


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_leader_answers_as_4_4_0_logged_it(spoken):
    """Epoch 2 ends at 180; a cuts there, below its high watermark, and Kafka says so."""
    (cut,) = STORY["offers-0"]["when_started_together"]["truncations"]
    assert numbers(lesson_text.right("two-replicas", 3, spoken)) == [2, 180]
    assert "leaderEpoch=2, endOffset=180" in cut["why"]
    assert walk(3, "b").steps[0].answer == EpochEndOffset(2, 180)
    (misleads,) = step(3, spoken).blocks("misleads")
    warning = f"offers-0 to offset {cut['to']} below high watermark {cut['below_high_watermark']}"
    assert f"Truncating {warning}" in misleads["so"]
    for replica in STORY["offers-0"]["replicas"].values():
        assert replica["high_watermark"] == replica["log_end"]


def test_the_tail_stays_if_its_owner_leads():
    assert walk(3, "a").drop_count == 0
    assert walk(3, "b").drop_count == 45


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_each_side_of_a_parted_log_loses_its_own_history(spoken):
    """70 records or 40, 110 together; 4.4.0 cut the 70."""
    (cut,) = STORY["bids-0"]["when_started_together"]["truncations"]
    assert (cut["broker"], cut["to"]) == (1, 180)
    assert walk(4, "b").follower_loses == ((180, 249),)
    assert walk(4, "a").follower_loses == ((180, 219),)
    assert numbers(lesson_text.right("two-replicas", 4, spoken)) == [180, 249]
    (question,), (exercise,) = (step(4, spoken).blocks(kind) for kind in ("predict", "exercise"))
    assert str(walk(4, "b").drop_count) in question["reveal"]
    both = walk(4, "a").drop_count + walk(4, "b").drop_count
    assert str(both) in exercise["solution"]


def test_the_end_alone_would_cut_nothing():
    """The answer's end lies behind b's own; only its epoch says that b must ask again."""
    first, second = walk(5, "a").steps
    assert (first.epoch, first.fetch_offset, first.answer) == (5, 220, EpochEndOffset(3, 250))
    assert first.answer.end_offset >= first.fetch_offset
    assert (first.rule, first.truncates_to) == (TruncationRule.ASK_AGAIN, 180)
    assert (second.epoch, second.answer) == (2, EpochEndOffset(2, 180))
    assert second.rule is TruncationRule.KEEP


def test_equal_logs_say_nothing_of_what_was_cut(cache):
    """55 records of broker 1, of which neither a name nor a line in its directory speaks."""
    (cut,) = STORY["auctions-0"]["truncations_in_the_past"]
    assert (cut["lost"], cut["log_end_before"], cut["broker"]) == ([120, 174], 175, 1)
    assert cut["to"] == 120
    for archive in REPLICAS:
        folder = open_broker(archive).partition("auctions-0").path
        assert not [path.name for path in folder.iterdir() if "175" in path.name]
        assert "175" not in (folder / LEADER_EPOCHS).read_text()
        assert not list(folder.glob("*.deleted"))


def test_an_unclean_election_is_off_by_default():
    """In every release that the table of settings knows."""
    for release in ((2, 8), (3, 9), (4, 3), (4, 4)):
        assert config_def.defaults(release)["unclean.leader.election.enable"] is False


# ---- the figure


@pytest.mark.parametrize("answers", ["", "two-replicas.4c"])
def test_who_drops_what_waits_for_the_answer(answers):
    """Before it both logs as they lie, with their epochs; behind it the steps of the follower."""
    html = page_html(open_page("workshop", lesson="two-replicas", at="4", answers=answers))
    assert ("If b leads, a drops 70 records: 180 to 249" in html) == bool(answers)
    assert ("the follower truncates its log to 180" in html) == bool(answers)
    assert ("Leader epochs in leader-epoch-checkpoint" in html) != bool(answers)


def test_the_figure_goes_on_in_compare():
    page, address = LIVE["replicas"].destination(figure(5))
    assert page == "Compare"
    assert (address["tp"], address["leader"]) == ("bids-0", "a")
    assert [Path(address[name]) for name in ("dir", "with")] == REPLICAS


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"with": None}, "lesson.key_missing"),
        ({"with": "kafka-4.3.1-clean", "tp": "__consumer_offsets-0"}, "lesson.no_replicas"),
    ],
)
def test_two_logs_of_one_topic_are_needed(values, key):
    """A namesake is not a replica: each cluster has a topic of that name with an id of its own."""
    block = figure(4)
    with pytest.raises(NoValue) as refusal:
        checks.compare_replicas(LessonBlock(block.kind, 1, block.values | values, ()))
    assert refusal.value.message.key == key
