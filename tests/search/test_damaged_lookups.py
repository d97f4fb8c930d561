"""Lookups in damaged logs, compared with the answers of Kafka's own classes."""

import pytest

from kafkaviz import versions
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import lookup_in_view
from tests.conftest import DATA
from tests.search.damaged_logs import make_log
from tests.support.cases import all_cases
from tests.support.vectors import json_lines

LINES = [line for line in json_lines(DATA / "damaged_lookups.jsonl.gz") if "start" not in line]
QUICK_SEEDS = 30


@all_cases("line", [line for line in LINES if line["seed"] < QUICK_SEEDS])
def test_each_answer_is_kafkas(line, tmp_path):
    """4.3.1 and 4.4.0: bits flipped, checksums mended, data cut, entries changed."""
    assert_answers_are_kafkas(line, tmp_path)


@pytest.mark.nightly
@all_cases("line", [line for line in LINES if line["seed"] >= QUICK_SEEDS])
def test_each_answer_to_the_other_logs_is_kafkas(line, tmp_path):
    assert_answers_are_kafkas(line, tmp_path)


def assert_answers_are_kafkas(line, tmp_path):
    log_files = tmp_path / f"{line['release']}-{line['seed']}" / "t-0"
    questions = make_log(line["seed"], log_files)
    log = view_partition(open_broker(log_files).partitions[0])
    profile = versions.search_profile(line["release"])
    for kind, target in (("offsets", "offset"), ("timestamps", "timestamp_ms")):
        for value, answer in zip(questions[kind], line[kind], strict=True):
            result = lookup_in_view(log, profile, **{target: value})
            found = result.answer and [result.answer.offset, result.answer.timestamp_ms]
            if result.error:
                found = result.error.class_name
            assert found == answer, (kind, value, result.error)


@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_the_recorded_logs_show_every_kind_of_answer(release):
    answers = [
        answer
        for line in LINES
        if line["release"] == release
        for answer in line["offsets"] + line["timestamps"]
    ]
    classes = {answer.rpartition(".")[2] for answer in answers if isinstance(answer, str)}
    kinds = ("CorruptRecord", "IllegalArgument", "InvalidRecord", "Kafka", "OffsetOutOfRange")
    assert classes == {f"{kind}Exception" for kind in kinds}
    assert None in answers and sum(isinstance(answer, list) for answer in answers) > 1000
