"""The tables of the tab Compaction, compared with what Kafka's Cleaner left."""

from collections import Counter
from dataclasses import replace

from kafkaviz.analysis.compaction.compaction import decide_logs, with_dirty_ratio
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.figures.disk import compaction_view
from kafkaviz.render.log_text import describe_reason
from kafkaviz.units import moment
from tests.analysis.compaction.recorded import clean_recorded, lines, unpacked, write_broker

BY_ID = {line["id"]: line for line in lines()}


def test_what_stays_for_now_is_counted_by_its_delete_horizon(tmp_path):
    line = next(
        line for line in lines() if len(line.get("cleaned", {}).get("markers_left", ())) > 3
    )
    cleaned = line["cleaned"]
    _, cleaning = clean_recorded(line, tmp_path)
    rows = compaction_view.horizon_rows(cleaning)
    counts = Counter(
        "none" if after_ms is None else moment(after_ms)
        for offset, _, after_ms in (*cleaned["tombstones_left"], *cleaned["markers_left"])
        if offset < line["report"]["first_uncleanable_segment"]
    )
    drawn = Counter()
    for row in rows:
        drawn[row.horizon] += int(row.tombstones) + int(row.markers)
    assert drawn == counts


def test_the_reasons_add_up_to_the_records_that_go(tmp_path):
    line = BY_ID["4.4.0-compact-2-1"]
    _, cleaning = clean_recorded(line, tmp_path)
    rows = dict(compaction_view.number_rows(cleaning, 100))
    counts = [int(value) for name, value in rows.items() if name.startswith("<span")]
    assert sum(counts) == int(rows["Records removed"]) == cleaning.removed.records == 12
    assert rows["Offset map (log.cleaner.dedupe.buffer.size)"] == "3 of 100 keys"


def test_the_table_has_the_order_of_the_cleaner_and_one_row_for_idle_logs(tmp_path):
    folder = write_broker(BY_ID["4.4.0-compact-53-0"], tmp_path / "broker")
    for number in range(3):
        (folder / f"__consumer_offsets-{number}").mkdir()
        (folder / f"__consumer_offsets-{number}" / f"{0:020}.log").write_bytes(b"")
    (folder / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    decisions = decide_logs(folder)
    table = compaction_view.log_table(decisions)
    assert [row[:2] for row in table.rows] == [
        ("1", "t-0"),
        ("", "__consumer_offsets (3 partitions)"),
    ]
    values = compaction_view.log_values(decisions)
    assert [row[0] for row in values] == [
        "t-0",
        *(f"__consumer_offsets-{number}" for number in range(3)),
    ]
    assert values[0][7] == len(unpacked(BY_ID["4.4.0-compact-53-0"]["files"][f"{0:020}.log"]))
    assert compaction_view.headline(decisions) == (
        "The cleaner takes 1 of 4 compacted logs now, t-0 first"
    )


def test_the_reason_has_one_unit_and_the_source_of_an_assumed_limit(tmp_path):
    folder = write_broker(BY_ID["4.4.0-compact-53-0"], tmp_path / "broker")
    (folder / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    [log] = decide_logs(folder).logs
    limit = f"{DIRTY_RATIO} 0.5 (default of Kafka 4.4)"
    reason = str(describe_reason(log.decision, log.settings))
    assert reason == f"taken now, because its dirty ratio 1 is above {limit}"
    chosen = with_dirty_ratio(log, 1, 0)
    reason = str(describe_reason(chosen.decision, chosen.settings))
    assert reason == f"not taken, because its dirty ratio 1 is not above {DIRTY_RATIO} 1"
    clean = replace(chosen.decision, cleanable_bytes=0)
    reason = str(describe_reason(clean, chosen.settings))
    assert reason == "not taken, because it has nothing new to clean"
