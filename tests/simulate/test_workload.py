"""Workloads: read from TOML, written back, refused in one line."""

import re
from dataclasses import replace

import pytest
from hypothesis import given

from kafkaviz import versions
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.simulate.producers import traffic
from kafkaviz.simulate.producers.distributions import (
    LOGNORMAL,
    Spread,
)
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


@given(WORKLOADS)
def test_a_workload_reads_back_from_its_own_text(workload):
    assert load(to_toml(workload)) == workload


def test_the_example_at_the_top_of_the_module_is_read():
    text = re.search(
        r"\n\n((?:    .*\n|\n)+)",
        __import__("kafkaviz.simulate.producers.workload", fromlist=["x"]).__doc__,
    )[1]
    workload = load(text)
    assert [(phase.duration_ms, phase.silence_ms) for phase in workload.phases] == [
        (10_000, None),
        (None, 691_200_000),
    ]
    assert workload.phases[0].value_bytes == Spread(LOGNORMAL, 200)
    assert workload.settings == (("index.interval.bytes", 1024),)
    assert (workload.directory, workload.start_ms, workload.release) == (
        "orders-0",
        1_772_352_000_000,
        versions.NEWEST_RELEASE,
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("topic", "w.toml: Expected '=' after a key in a key/value pair (at end of document)"),
        (HEAD, "w.toml: give one to 1000 phases, each below a line [[phase]]"),
        ("phase = [1]", "w.toml: phase 1: 1 is not a table"),
        (
            "colour = 1\n" + PHASE,
            (
                "w.toml: colour: unknown key; the keys are title, story, topic, partition, start, "
                "start_offset, seed, kafka_version"
            ),
        ),
        ("topic = 7\n" + PHASE, "w.toml: topic: 7 is not a text in quotes"),
        ('topic = "../etc"\n' + PHASE, 'w.toml: topic: "../etc" is not a topic name'),
        ('topic = ".."\n' + PHASE, 'w.toml: topic: ".." is not a topic name'),
        (
            'start = "monday"\n' + PHASE,
            'w.toml: start: "monday" is not a time such as 2026-03-01T08:00:00Z',
        ),
        (
            "start = 0001-01-01T00:00:00Z\n" + PHASE,
            "w.toml: start: 0001-01-01T00:00:00+00:00 is not between 1970 and 2200",
        ),
        ("seed = true\n" + PHASE, "w.toml: seed: true is not a whole number"),
        (
            'kafka_version = "9.9"\n' + PHASE,
            (
                "w.toml: kafka_version: Kafka 9.9 is not a known release; give one from 0.10 to "
                "4.4, such as 3.9 or 4.3.1"
            ),
        ),
        ("settings = 1\n" + PHASE, "w.toml: settings: 1 is not a table"),
        (
            '[settings]\n"segment.bites" = 1\n' + PHASE,
            "w.toml: settings, segment.bites: Unknown topic config name: segment.bites",
        ),
        (
            '[settings]\n"segment.bytes" = 100\n' + PHASE,
            (
                "w.toml: settings, segment.bytes: Invalid value 100 for configuration "
                "segment.bytes: Value must be at least 1048576"
            ),
        ),
        (
            "[settings]\nsegment.bytes = 1048576\n" + PHASE,
            (
                "w.toml: settings, segment: is not a single value; write the name in quotes: "
                '"segment.bytes" = 1048576'
            ),
        ),
        (
            '[settings]\n"log.cleaner.threads" = 1\n' + PHASE,
            "w.toml: settings, log.cleaner.threads: is not a setting of a topic",
        ),
        (
            '[[phase]]\nduration = "10s"',
            "w.toml: phase 1: give one rate: records_per_s, bytes_per_s, batches_per_s",
        ),
        (
            PHASE + "bytes_per_s = 1",
            "w.toml: phase 1: give one rate: records_per_s, bytes_per_s, batches_per_s",
        ),
        (
            "[[phase]]\nrecords_per_s = 1",
            "w.toml: phase 1: give it an end: duration, records, batches, bytes",
        ),
        (
            PHASE + "[[phase]]\nrecords = 5\nrecords_per_s = 0",
            "w.toml: phase 2, records_per_s: 0 is below 1e-06",
        ),
        (
            "[[phase]]\nrecords = 5\nrecords_per_s = nan",
            "w.toml: phase 1, records_per_s: nan is not a number",
        ),
        (
            "[[phase]]\nduration = 10\nrecords_per_s = 1",
            (
                'w.toml: phase 1, duration: 10 is not a duration; give one such as "250ms", "10s", '
                '"5min", "2h" or "7d"'
            ),
        ),
        (
            '[[phase]]\nduration = "0s"\nrecords_per_s = 1',
            'w.toml: phase 1, duration: "0s" is not between 1ms and 36500d',
        ),
        (
            '[[phase]]\nduration = "0.5ms"\nrecords_per_s = 1',
            'w.toml: phase 1, duration: "0.5ms" is not a whole number of milliseconds',
        ),
        (
            '[[phase]]\nsilence = "1h"\nrecords_per_s = 1',
            "w.toml: phase 1, records_per_s: is not allowed in a phase of silence",
        ),
        (
            PHASE + 'codec = "rar"',
            'w.toml: phase 1, codec: "rar" is not one of none, gzip, snappy, lz4, zstd',
        ),
        (PHASE + "value_bytes = -1", "w.toml: phase 1, value_bytes: -1 is below 0"),
        (
            PHASE + "value_bytes = { least = 9, most = 3 }",
            "w.toml: phase 1, value_bytes: 9 to 3 is not within 0 to 67108864",
        ),
        (
            PHASE + "value_bytes = { least = 9 }",
            "w.toml: phase 1, value_bytes: give least and most, or a shape and a mean",
        ),
        (
            PHASE + 'value_bytes = { shape = "exponential" }',
            "w.toml: phase 1, value_bytes: give a mean from 0 to 67108864",
        ),
        (
            PHASE + 'value_bytes = { shape = "normal" }',
            (
                'w.toml: phase 1, value_bytes.shape: "normal" is not one of uniform, exponential, '
                "lognormal"
            ),
        ),
        (PHASE + "keys = { count = 0 }", "w.toml: phase 1, keys.count: 0 is below 1"),
        (PHASE + "keys = { zipf = 1 }", "w.toml: phase 1, keys.count: is missing"),
        (PHASE + "keys = 5", "w.toml: phase 1, keys: 5 is not a table"),
        (
            PHASE + "late = { share = 1.5, by_ms = 1 }",
            "w.toml: phase 1, late.share: 1.5 is above 1",
        ),
        (PHASE + "headers = [{ size_bytes = 1 }]", "w.toml: phase 1, headers[0].name: is missing"),
        (PHASE + "headers = 1", "w.toml: phase 1, headers: 1 is not a list of at most 100"),
        (
            PHASE + "idempotent = false\ntransactions = { batches = 1 }",
            "w.toml: phase 1, transactions: need idempotent = true",
        ),
        (
            PHASE + "leader_epoch = 3\n" + PHASE,
            "w.toml: phase 2, leader_epoch: 0 is below 3, the epoch of an earlier phase",
        ),
    ],
)
def test_a_wrong_text_is_reported_in_one_line_with_its_key(text, line):
    with pytest.raises(KafkavizError) as raised:
        load(text, "w.toml")
    assert str(raised.value) == line


def test_a_file_is_read_and_named(tmp_path):
    """Under its own name; text that is not TOML, or far too long, is refused."""
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
    """Where the TOML parser gives up."""
    with pytest.raises(KafkavizError, match=r"^w\.toml: "):
        load("a = " + "[" * 100_000, "w.toml")


def test_a_batch_of_a_size_alone_takes_as_many_records_as_go_in():
    """Without records_per_batch one record, but with batch_bytes a full batch."""
    assert load(PHASE).phases[0].records_per_batch.mean == 1
    assert (
        load(PHASE + "batch_bytes = 16384").phases[0].records_per_batch.mean == traffic.MAX_RECORDS
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_shows_its_story_in_two_sentences(name):
    """With a title, and it reads back from its own text."""
    workload = preset(name)
    assert workload.title
    assert len(re.findall(r"[.](?= [A-Z]|$)", workload.story)) == 2
    assert load(to_toml(workload)) == workload
    assert load(preset_text(name)) == workload


def test_every_preset_file_is_listed():
    from importlib import resources

    files = {
        file.name for file in (resources.files("kafkaviz.simulate.producers") / "presets").iterdir()
    }
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
    ("phases", "line"),
    [
        (
            '[[phase]]\nsilence = "36500d"\n' * 3,
            "w.toml: phase 2, silence: a workload lasts 36500d at most",
        ),
        (
            '[[phase]]\nsilence = "36500d"\n' + PHASE,
            "w.toml: phase 2, duration: a workload lasts 36500d at most",
        ),
        (
            PHASE.replace("10s", "36500d") + PHASE,
            "w.toml: phase 2, duration: a workload lasts 36500d at most",
        ),
    ],
)
def test_more_than_a_hundred_years_is_refused_with_its_key(phases, line):
    with pytest.raises(KafkavizError, match=f"^{re.escape(line)}"):
        load(HEAD + phases, "w.toml")
    assert len(load(HEAD + '[[phase]]\nsilence = "36500d"\n').phases) == 1
