"""The fate of every record of a small log, compared with what Kafka's Cleaner removed."""

from collections import Counter

from kafkaviz.analysis.compaction.record_fates import GOES, log_records
from tests.analysis.compaction.recorded import clean_recorded, lines
from tests.support.cases import all_cases

CLEANED = [line for line in lines() if "cleaned" in line and not line["damage"]]


@all_cases("line", CLEANED, ids=lambda line: line["id"])
def test_the_records_that_go_are_those_that_kafka_removed(line, tmp_path):
    log, cleaning = clean_recorded(line, tmp_path)
    records = log_records(log, cleaning, line["now"], max_records=10_000)
    removed = {
        offset for first, last in line["cleaned"]["removed"] for offset in range(first, last + 1)
    }
    assert {record.offset for record in records if record.fate in GOES} == removed
    fates = Counter(record.fate for record in records)
    assert [fates[fate] for fate in GOES] == [
        cleaning.expired_tombstones,
        cleaning.replaced_records,
        cleaning.aborted_records,
        cleaning.removed_markers,
        cleaning.keyless_records,
    ]
    expected_map = line["cleaned"]["map"]
    mapped = {record.key.decode(): record.offset for record in records if record.is_mapped}
    assert mapped == expected_map
