"""The claims of the lesson on the cleaner, compared with its log, with a plain loop over its
records, and with logs that Kafka's classes cleaned.
"""

import re
from dataclasses import replace

import pytest

from kafkaviz import config_def, versions
from kafkaviz.analysis.compaction.decision import Barrier, DecisionReason
from kafkaviz.analysis.compaction.record_fates import GOES, Fate
from kafkaviz.format.batch import DELETE_HORIZON, has_delete_horizon
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import LANGUAGES, speaking
from kafkaviz.simulate import lesson_logs
from kafkaviz.units import DAY_MS, HOUR_MS
from kafkaviz.workshop.figures import LIVE, compaction, customer_log
from kafkaviz.workshop.figures.customer_log import PROFILES, TRANSACTIONS
from kafkaviz.workshop.lessons.grammar import LessonBlock, LessonStep
from tests.analysis.compaction.recorded import lines
from tests.support.pages import open_page, page_html
from tests.workshop import lesson_text

LESSON = "still-there"
WEEKS = (7, 14, 21, 28, 35, 42)  # the days on which a segment is closed
DATE = re.compile(r"2026-(\d\d)-(\d\d)")


def step(number: int, spoken: str = "en") -> LessonStep:
    return lesson_text.step(LESSON, number, spoken)


def text_of(number: int, spoken: str) -> str:
    """Returns all that a step says."""
    lines = [text for block in step(number, spoken).blocks() for _, text in block.lines]
    return " ".join([lesson_text.prose(LESSON, number, spoken), *lines])


def figure(number: int, kind: str) -> LessonBlock:
    return lesson_text.figure(LESSON, number, kind)


def check(day: int, story: str = PROFILES) -> customer_log.CleanerCheck:
    return customer_log.check(story, day)


def offsets(found) -> list[int]:
    return [record.offset for record in found]


def date(ms: int) -> str:
    return compaction._day(ms)[:10]


# ---- the log


def test_a_segment_is_closed_each_week():
    """By segment.ms, with two records in each of three batches."""
    log = lesson_logs.profiles(lesson_logs.day(43))
    assert [view.base_offset for view in log.segments] == [0, 6, 12, 18, 24, 30, 36]
    assert log.log_end_offset == 38


def test_each_cleaning_of_the_story_is_that_of_a_plain_loop():
    """Every record of the dirty part replaces all earlier ones of its key."""
    kept = {}  # the records of the clean part, by offset
    for day in WEEKS:
        look = check(day)
        decision = look.log.decision
        records = [
            found for found in look.records if found.offset < decision.first_uncleanable_segment
        ]
        dirty = [found for found in records if found.offset >= decision.first_dirty_offset]
        assert set(kept) == set(offsets(records)) - set(offsets(dirty))
        share = decision.cleanable_bytes / (decision.clean_bytes + decision.cleanable_bytes)
        assert (look.cleaning is not None) == (share > 0.5)
        if look.cleaning is None:
            continue
        latest = {found.key: found.offset for found in dirty}
        kept = {
            found.offset: found
            for found in records
            if found.offset >= latest.get(found.key, -1)
            and not (
                found.is_tombstone and (found.delete_horizon_ms or look.now_ms + 1) <= look.now_ms
            )
        }
        ranges = look.cleaning.removed.ranges.tolist()
        gone = {number for first, last in ranges for number in range(first, last + 1)}
        assert set(kept) == set(offsets(records)) - gone


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_dates_are_those_of_the_log(spoken):
    """The tombstone, the two cleanings, and the days between them."""
    for number in range(1, 11):
        for month, day in DATE.findall(text_of(number, spoken)):
            dates = {date(lesson_logs.day(each)) for each in (16, 21, 28, 29, 35, 42)}
            assert f"2026-{month}-{day}" in dates
    assert date(lesson_logs.day(16)) in text_of(1, spoken)
    tombstone = next(found for found in check(16).records if found.is_tombstone)
    assert (tombstone.offset, tombstone.key) == (15, lesson_logs.LEAVES.encode())
    assert tombstone.timestamp_ms == lesson_logs.day(16)
    assert date(lesson_logs.day(42)) in lesson_text.right(LESSON, 6, spoken)


# ---- step by step


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_retention_keeps_a_segment_for_its_newest_record(spoken):
    """Offset 3 is 19 days old, and the newest record of its segment 10; 14 days are the limit."""
    log = LIVE["log-retention"].make(figure(1, "log-retention"))
    first = log.segments[0]
    [address] = [found for found in check(21).records if found.offset == 3]
    assert (first.state, address.segment) == ("until", first.age.base_offset)
    assert log.now_ms - address.timestamp_ms == 19 * DAY_MS
    assert log.now_ms - first.age.timestamp_ms == 10 * DAY_MS
    assert log.limits.retention_ms == 14 * DAY_MS
    assert {"14", "19", "10", "15", "3"} <= set(re.findall(r"\d+", text_of(1, spoken)))


def test_a_consumer_gets_the_first_record_that_is_left():
    look = LIVE["cleaning"].make(figure(2, "cleaning"))
    assert min(found.offset for found in look.records if found.fate not in GOES) == 3
    assert "3" in lesson_text.right(LESSON, 2, "en")


def test_the_cleaner_has_nothing_to_do_while_the_tombstone_is_in_the_active_segment():
    look = LIVE["cleaner-log"].make(figure(3, "cleaner-log"))
    decision = look.log.decision
    tombstone = look.records_of(lesson_logs.LEAVES)[-1]
    assert (decision.held_by, decision.cleanable_bytes) == (Barrier.ACTIVE_SEGMENT, 0)
    assert tombstone.segment == decision.first_uncleanable_segment == 12


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_ratio_of_the_exercise_is_not_above_the_limit(spoken):
    decision = LIVE["cleaner-log"].make(figure(4, "cleaner-log")).log.decision
    assert decision.reason == DecisionReason.RATIO_TOO_LOW
    (exercise,) = step(4, spoken).blocks("exercise")
    numbers = re.findall(r"\d+", exercise["hint"])
    assert set(map(int, numbers)) == {decision.cleanable_bytes, decision.clean_bytes}
    assert f"**{100 * decision.cleanable_ratio:.0f}**" in exercise["solution"]


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_map_ends_where_the_cleanable_part_ends(spoken):
    """fred has 10 in the clean part and 25 in the active segment; the map has neither."""
    look = check(28)
    assert offsets(look.records_of("fred")) == [10, 25]
    assert [found.fate for found in look.records_of("fred")] == [Fate.REPLACED_LATER, Fate.LATEST]
    assert not any(found.is_mapped for found in look.records_of("fred"))
    assert max(found.offset for found in look.records if found.is_mapped) == 23
    assert f"{100 * look.log.decision.cleanable_ratio:.0f} %" in text_of(5, spoken)
    (exercise,) = step(5, spoken).blocks("exercise")
    named = re.findall(r"(\d+) (?!holds|stay)([a-z]+)", exercise["ask"])
    found_there = [found for found in look.records if found.segment in (12, 18)]
    assert named == [(str(found.offset), found.key.decode()) for found in found_there]


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_tombstone_goes_with_the_first_cleaning_after_its_horizon(spoken):
    """The horizon is a day after the first cleaning that keeps it."""
    looks = LIVE["cleaner-weeks"].make(figure(6, "cleaner-weeks"))
    by_day = dict(zip((16, 21, 28, 35, 42), looks, strict=True))
    [(offset, horizon_ms)] = by_day[28].cleaning.tombstones_left
    assert (offset, horizon_ms) == (15, lesson_logs.day(28) + 24 * HOUR_MS)
    assert date(horizon_ms) in step(6, spoken).blocks("predict")[0]["ask"]
    assert by_day[35].cleaning is None
    assert f"{100 * by_day[35].log.decision.cleanable_ratio:.0f} %" in text_of(6, spoken)
    [tombstone] = by_day[42].records_of(lesson_logs.LEAVES)
    assert (tombstone.fate, tombstone.delete_horizon_ms) == (Fate.TOMBSTONE_DUE, horizon_ms)
    assert (lesson_logs.day(28) - lesson_logs.day(16)) // DAY_MS == 12


def test_kafka_writes_the_horizon_into_bit_6_and_the_base_timestamp(clean):
    """In accounts-0 of a 4.3.1 broker: 24 hours of no record, later than every record."""
    segment = open_broker(clean).partition("accounts-0").live[0]
    batches = segment.batches()
    cleaned = batches[has_delete_horizon(batches)]
    assert len(cleaned) and DELETE_HORIZON == 1 << 6
    assert (cleaned["base_timestamp_ms"] > cleaned["max_timestamp_ms"]).all()


def test_kafkas_classes_kept_and_removed_tombstones_by_their_horizon():
    """As recorded: a tombstone without a horizon gets now plus delete.retention.ms."""
    first_times = 0
    for line in lines():
        if line["version"] != "4.4.0" or "cleaned" not in line:
            continue
        expected = line["now"] + line["settings"]["delete.retention.ms"]
        for _, before, after in line["cleaned"]["tombstones_left"]:
            if before is None and after is not None:
                first_times += 1
                assert after == expected
    assert first_times > 10


def test_an_aborted_record_replaces_nothing():
    """And the marker of its transaction gets a horizon when the log has no batch of it."""
    look = LIVE["cleaning"].make(figure(7, "cleaning"))
    fates = {found.offset: found.fate for found in look.records_of("anna")}
    assert fates == {0: Fate.LATEST, 3: Fate.ABORTED}
    assert dict(look.cleaning.markers_left) == {2: None, 5: None}
    later = check(14, TRANSACTIONS)
    assert dict(later.cleaning.markers_left)[5] == later.now_ms + DAY_MS
    assert later.log.state.oldest_transaction.first_offset == 12


def test_three_segments_become_one_with_the_first_name():
    look = LIVE["cleaned-files"].make(figure(8, "cleaned-files"))
    (written,) = look.cleaning.segments
    assert (written.base_offset, written.sources) == (0, (0, 12, 18))
    assert [view.base_offset for view in look.segments] == [0, 24]
    assert look.segments[0].size_bytes == written.log_bytes < look.cleaning.source_bytes


def test_one_setting_keeps_the_address_forever():
    looks = LIVE["cleaner-settings"].make(figure(9, "cleaner-settings"))
    by_the_segment = ("ratio", "roll", "map", "batch", "retention")
    held_by = {name: look.log.decision.held_by for name, look in looks.items()}
    assert held_by == dict.fromkeys(by_the_segment, Barrier.ACTIVE_SEGMENT) | {
        "lag": Barrier.MIN_COMPACTION_LAG,
        "transaction": Barrier.OPEN_TRANSACTION,
    }
    assert looks["ratio"].log.decision.cleanable_ratio == 1.0
    assert looks["roll"].log.decision.limits.active_segment == 0
    assert looks["map"].cleaning.passes > 1
    assert looks["batch"].error.startswith("org.apache.kafka.common.InvalidRecordException")
    gone = [found.offset for found in looks["retention"].records_of("cleo") if found.fate in GOES]
    assert gone == [3]


def test_a_small_map_only_needs_more_cleanings():
    """With room for 3 keys the address is gone once a later cleaning has mapped the tombstone."""
    settings = replace(customer_log.STANDARD, most_keys=3)
    left = [
        [found.offset for found in customer_log.check(PROFILES, day, settings).records_of("cleo")]
        for day in range(28, 43, 7)
    ]
    assert left == [[3, 15], [3, 15], []]


def test_a_map_takes_the_keys_of_the_note():
    assert customer_log.MAX_KEYS == 5_033_164
    default = config_def.BROKER_SETTINGS["log.cleaner.dedupe.buffer.size"]
    assert default.default(versions.NEWEST_RELEASE) == 128 << 20


def test_the_key_of_the_sample_has_five_records_in_the_active_segment():
    story = LIVE["key-story"].make(figure(10, "key-story"))
    active = story.log.decision.limits.active_segment
    assert [found.segment == active for found in story.records] == [False] + 5 * [True]
    assert story.log.decision.first_dirty_offset == active


# ---- the page


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize(
    ("number", "kind"),
    [(1, "log-retention"), (6, "cleaner-weeks"), (9, "cleaner-settings"), (10, "key-story")],
)
def test_a_table_waits_for_the_answer(number, kind, spoken):
    """Its base state has question marks in place of the answer."""
    block = figure(number, kind)
    with speaking(spoken):
        made = LIVE[kind].make(block)
        asked = "".join(map(str, LIVE[kind].question(made, block, "key")))
        shown = "".join(map(str, LIVE[kind].draw(made, block, "key")))
    assert ">?<" in asked and ">?<" not in shown


def test_a_step_shows_its_log():
    html = page_html(open_page("workshop", lesson="still-there", at="5"))
    assert "The cleaner may clean offsets 12 to 23" in html and html.count('"kv-cleaning"') == 1


def test_a_solved_exercise_shows_the_map_and_the_result():
    answers = "still-there.5a still-there.5x"
    html = page_html(open_page("workshop", lesson="still-there", at="5", answers=answers))
    assert "The map holds 7 keys" in html and html.count('"kv-cleaning"') == 2


def test_a_log_is_shown_with_its_sizes_before_the_ratio_is_known():
    block = figure(4, "cleaner-log")
    look = LIVE["cleaner-log"].make(block)
    (question,) = LIVE["cleaner-log"].question(look, block, "key")
    (answer,) = LIVE["cleaner-log"].draw(look, block, "key")
    asked, shown = ("".join(map(str, group.parts)) for group in (question, answer))
    assert "339" in asked and "275" in asked and "45" not in asked
    assert "dirty ratio 0.4479 is not above min.cleanable.dirty.ratio 0.5<" in shown
