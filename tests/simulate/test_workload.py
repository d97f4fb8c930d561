"""Workloads: read from TOML, written back, refused in one line."""

import re
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given

from kafkaviz import versions
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.simulate.producers import traffic
from kafkaviz.simulate.producers import workload as workload_module
from kafkaviz.simulate.producers.distributions import LOGNORMAL, Spread
from kafkaviz.simulate.producers.workload import (
    FILE_BYTES,
    PRESETS,
    load,
    preset,
    preset_text,
    presets,
    to_toml,
)
from tests.simulate.workload_strategies import WORKLOADS

HEAD = 'topic = "orders"\nstart = 2026-03-01T08:00:00Z\n'
PHASE = '[[phase]]\nduration = "10s"\nrecords_per_s = 500\n'
SILENCE = '[[phase]]\nsilence = "36500d"\n'


@given(WORKLOADS)
def test_a_workload_reads_back_from_its_own_text(workload):
    assert load(to_toml(workload)) == workload


def test_the_example_at_the_top_of_the_module_is_read():
    text = re.search(r"\n\n((?:    .*\n|\n)+)", workload_module.__doc__)[1]
    workload = load(text)
    lasts = [(phase.duration_ms, phase.silence_ms) for phase in workload.phases]
    assert lasts == [(10_000, None), (None, 691_200_000)]
    assert workload.phases[0].value_bytes == Spread(LOGNORMAL, 200)
    assert workload.settings == (("index.interval.bytes", 1024),)
    assert (workload.directory, workload.start_ms) == ("orders-0", 1_772_352_000_000)
    assert workload.release == versions.NEWEST_RELEASE


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("topic", "Expected '=' after a key in a key/value pair (at end of document)"),
        (HEAD, "give one to 1000 phases, each below a line [[phase]]"),
        ("phase = [1]", "phase 1: 1 is not a table"),
        (
            PHASE + "[[phase]]\nrecords = 5\nrecords_per_s = 0",
            "phase 2, records_per_s: 0 is below 1e-06",
        ),
        (
            PHASE + "leader_epoch = 3\n" + PHASE,
            "phase 2, leader_epoch: 0 is below 3, the epoch of an earlier phase",
        ),
    ],
)
def test_a_wrong_text_is_reported_in_one_line(text, fault):
    assert refusal(text) == f"w.toml: {fault}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "colour = 1",
            "colour: unknown key; the keys are title, story, topic, partition, start, "
            "start_offset, seed, kafka_version",
        ),
        ("topic = 7", "topic: 7 is not a text in quotes"),
        ('topic = "../etc"', 'topic: "../etc" is not a topic name'),
        ('topic = ".."', 'topic: ".." is not a topic name'),
        ('start = "monday"', 'start: "monday" is not a time such as 2026-03-01T08:00:00Z'),
        (
            "start = 0001-01-01T00:00:00Z",
            "start: 0001-01-01T00:00:00+00:00 is not between 1970 and 2200",
        ),
        ("seed = true", "seed: true is not a whole number"),
        (
            'kafka_version = "9.9"',
            "kafka_version: Kafka 9.9 is not a known release; give one from 0.10 to "
            "4.4, such as 3.9 or 4.3.1",
        ),
        ("settings = 1", "settings: 1 is not a table"),
        (
            '[settings]\n"segment.bites" = 1',
            "settings, segment.bites: Unknown topic config name: segment.bites",
        ),
        (
            '[settings]\n"segment.bytes" = 100',
            "settings, segment.bytes: Invalid value 100 for configuration segment.bytes: "
            "Value must be at least 1048576",
        ),
        (
            "[settings]\nsegment.bytes = 1048576",
            "settings, segment: is not a single value; write the name in quotes: "
            '"segment.bytes" = 1048576',
        ),
        (
            '[settings]\n"log.cleaner.threads" = 1',
            "settings, log.cleaner.threads: is not a setting of a topic",
        ),
    ],
)
def test_a_wrong_value_is_reported_with_its_key(text, fault):
    assert refusal(f"{text}\n{PHASE}") == f"w.toml: {fault}"


def refusal(text: str) -> str:
    with pytest.raises(KafkavizError) as raised:
        load(text, "w.toml")
    return str(raised.value)


RATES = ": give the phase one rate, with exactly one of records_per_s, bytes_per_s, batches_per_s"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('duration = "10s"', RATES),
        ('duration = "10s"\nrecords_per_s = 1\nbytes_per_s = 1', RATES),
        (
            "records_per_s = 1",
            ": give the phase an end, with at least one of duration, records, batches, bytes",
        ),
        ("records = 5\nrecords_per_s = nan", ", records_per_s: nan is not a number"),
        (
            "duration = 10\nrecords_per_s = 1",
            ', duration: 10 is not a duration; give one such as "250ms", "10s", "5min", "2h" or '
            '"7d"',
        ),
        ('duration = "0s"\nrecords_per_s = 1', ', duration: "0s" is not between 1ms and 36500d'),
        (
            'duration = "0.5ms"\nrecords_per_s = 1',
            ', duration: "0.5ms" is not a whole number of milliseconds',
        ),
        (
            'silence = "1h"\nrecords_per_s = 1',
            ", records_per_s: is not allowed in a phase of silence",
        ),
    ],
)
def test_a_phase_without_one_rate_and_an_end_is_reported(text, fault):
    assert refusal(f"[[phase]]\n{text}") == f"w.toml: phase 1{fault}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('codec = "rar"', 'codec: "rar" is not one of none, gzip, snappy, lz4, zstd'),
        ("value_bytes = -1", "value_bytes: -1 is below 0"),
        (
            "value_bytes = { least = 9, most = 3 }",
            "value_bytes: 9 to 3 is not within 0 to 67108864",
        ),
        ("value_bytes = { least = 9 }", "value_bytes: give least and most, or a shape and a mean"),
        ('value_bytes = { shape = "exponential" }', "value_bytes: give a mean from 0 to 67108864"),
        (
            'value_bytes = { shape = "normal" }',
            'value_bytes.shape: "normal" is not one of uniform, exponential, lognormal',
        ),
        ("keys = { count = 0 }", "keys.count: 0 is below 1"),
        ("keys = { zipf = 1 }", "keys.count: is missing"),
        ("keys = 5", "keys: 5 is not a table"),
        ("late = { share = 1.5, by_ms = 1 }", "late.share: 1.5 is above 1"),
        ("headers = [{ size_bytes = 1 }]", "headers[0].name: is missing"),
        ("headers = 1", "headers: 1 is not a list of at most 100 items"),
        (
            "idempotent = false\ntransactions = { batches = 1 }",
            "transactions: need idempotent = true",
        ),
    ],
)
def test_a_wrong_value_of_a_phase_is_reported_with_its_key(text, fault):
    assert refusal(PHASE + text) == f"w.toml: phase 1, {fault}"


def test_a_file_is_read_and_named(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(HEAD + PHASE)
    assert load(file) == load(HEAD + PHASE)
    file.write_text("x")
    with pytest.raises(KafkavizError, match=r"^mine\.toml: "):
        load(file)
    file.write_bytes(b"\xff")
    with pytest.raises(CannotOpen, match="is not UTF-8 text"):
        load(file)
    file.write_bytes(b"#" * (FILE_BYTES + 1))
    with pytest.raises(CannotOpen, match="too large for a workload"):
        load(file)
    with pytest.raises(CannotOpen, match="No such file"):
        load(tmp_path / "missing.toml")


def test_lists_that_never_end_are_reported_too():
    assert refusal("a = " + "[" * 100_000).startswith("w.toml: ")


def test_a_batch_of_a_size_alone_takes_as_many_records_as_go_in():
    for size, records in (("", 1), ("batch_bytes = 16384", traffic.MAX_RECORDS)):
        assert load(PHASE + size).phases[0].records_per_batch.mean == records


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_shows_its_story_in_at_most_three_sentences(name):
    workload = preset(name)
    assert workload.title
    assert len(re.findall(r"[.](?= [A-Z]|$)", workload.story)) in (2, 3)
    assert load(to_toml(workload)) == workload
    assert load(preset_text(name)) == workload


def test_every_preset_file_is_listed():
    folder = resources.files("kafkaviz.simulate.producers") / "presets"
    files = {file.name for file in folder.iterdir()}
    assert files == {f"{name}.toml" for name in PRESETS}
    assert list(presets()) == list(PRESETS)
    with pytest.raises(KafkavizError, match='unknown preset "nothing"'):
        preset("nothing")


def test_a_follower_is_no_leader():
    """A leader's append holds one batch."""
    workload = load(PHASE)
    assert workload.is_leader
    assert not replace(workload, phases=(replace(workload.phases[0], fetch_batches=2),)).is_leader


@pytest.mark.parametrize(
    ("phases", "key"),
    [
        (SILENCE * 3, "silence"),
        (SILENCE + PHASE, "duration"),
        (PHASE.replace("10s", "36500d") + PHASE, "duration"),
    ],
)
def test_more_than_a_hundred_years_is_refused_with_its_key(phases, key):
    fault = f"phase 2, {key}: a workload lasts 36500d at most"
    assert refusal(HEAD + phases).startswith(f"w.toml: {fault}")
    assert len(load(HEAD + SILENCE).phases) == 1
