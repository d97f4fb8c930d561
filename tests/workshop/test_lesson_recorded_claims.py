"""The lessons' claims about a leader's checks, the magic byte, a scan and a time entry, compared
with recordings of Kafka's classes.
"""

import re
import struct
from collections.abc import Iterator
from itertools import pairwise

import pytest

from kafkaviz.analysis.lookup import lookup_targets
from kafkaviz.app.cache import lookup_cache
from kafkaviz.messages import LANGUAGES, text_in
from tests.conftest import DATA
from tests.kafka.harness import content
from tests.support.vectors import json_lines
from tests.workshop.lesson_text import figure, prose, right, step

LINES = json_lines(DATA / "record_checks.jsonl")
APPENDS = {
    (line["version"], line["mode"], line["wrong"], line["codec"]): line
    for line in LINES
    if "wrong" in line
}
MAGIC = [line for line in LINES if "magic_bit" in line]
RELEASES = sorted({line["version"] for line in LINES})
TIME_ENTRY = struct.Struct(">qi")


# ---- records are checked by the leader


def test_the_releases_are_those_that_were_asked():
    """And each was asked about every fault, as leader and as follower."""
    assert RELEASES == ["3.9.0", "4.3.1"]
    assert len(APPENDS) == 2 * 2 * 2 * 5


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize("wrong", ["count", "timestamp", "key"])
def test_a_leader_looks_into_records(release, codec, wrong):
    """It refuses a wrong number, a time too far ahead, and no key in a compacted topic."""
    assert APPENDS[release, "leader", wrong, codec]["error"] is not None


@pytest.mark.parametrize("release", RELEASES)
def test_a_leader_looks_at_offsets_of_a_compressed_batch_alone(release):
    assert APPENDS[release, "leader", "offsets", "none"]["is_stored_as_sent"]
    assert APPENDS[release, "leader", "offsets", "lz4"]["error"] is not None


@pytest.mark.parametrize("release", RELEASES)
def test_a_follower_looks_into_no_record(release):
    """Whatever is wrong with them, it stores the bytes; and so does a leader where nothing is."""
    stored = {key for key, line in APPENDS.items() if line["is_stored_as_sent"]}
    asked = {key for key in APPENDS if key[0] == release}
    assert {key for key in asked if key[1] == "follower"} <= stored
    assert {key for key in asked if key[2] == "nothing"} <= stored


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_lesson_and_the_glossary_say_who_looks_into_records(spoken):
    """The leader's LogValidator, of the releases that were asked; and the follower does not."""
    (misleads,) = step("batches", 1, spoken).blocks("misleads")
    assert "`LogValidator`" in misleads["so"]
    assert "follower" in misleads["so"].lower()
    assert all(release in misleads["versions"] for release in RELEASES)
    assert "**leader**" in prose("batches", 1, spoken)
    assert "`LogValidator`" in text_in(spoken, "glossary.record_is")


# ---- a flipped bit of the magic


def unnoticed_bits(release: str) -> set[int]:
    """Returns the bits that a recovery does not notice; it checks size and CRC in the file."""
    lines = [line for line in MAGIC if line["version"] == release]
    assert len(lines) == 8
    return {line["magic_bit"] for line in lines if not line["recovery_cuts_bytes"]}


@pytest.mark.parametrize("release", RELEASES)
def test_six_of_eight_bits_of_the_magic_pass_a_check_of_the_file(release):
    """And whoever fetches such a batch refuses it by its magic."""
    unnoticed = unnoticed_bits(release)
    assert unnoticed == {0, 2, 3, 4, 5, 6}
    for line in MAGIC:
        magic = struct.unpack_from("b", bytes.fromhex(line["hex"]), 16)[0]
        is_unnoticed = line["magic_bit"] in unnoticed
        message = line["follower_error"]["message"]
        assert (magic >= 3) == is_unnoticed
        assert (message == f"Invalid magic found in record: {magic}") or not is_unnoticed


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_lesson_says_so_of_each_bit(spoken):
    (misleads,) = step("batches", 2, spoken).blocks("misleads")
    said = misleads["so"]
    assert "Invalid magic found in record: 3" in said
    bits = {"en": "bits 0 and 2 to 6", "zh": "位 0 或位 2 到 6"}[spoken]
    noticed = {"en": "Bits 1 and 7 of the magic", "zh": "位 1 或位 7"}[spoken]
    assert bits in said
    assert noticed in said


# ---- a scan that ends with the batch it starts at


def headers_read(release: str, target: int) -> list[int]:
    """The positions of the headers that a lookup in the lesson's log reads, in order."""
    profile = lookup_cache.release_profile(release, lookup_targets.KAFKAS_WARM, "offset")
    source = lookup_cache.practice_source("five")
    context = lookup_cache.lookup_context(source, "offset", target, profile)
    return list(dict.fromkeys(read.position for read in context.result.scan.reads))


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_an_equal_key_takes_one_header_more_from_4_1_on(spoken):
    """Recorded lookups of both releases hold the scans that are run here."""
    (exercise,) = step("last-offset", 3, spoken).blocks("exercise")
    before, since = headers_read("4.0", exercise["target"]), headers_read("4.3", exercise["target"])
    assert len(before) == 1
    assert before == since[:1]
    assert len(since) == 2
    said = re.findall(r"\d+(?:\.\d)?", exercise["solution"])
    assert {"838", "4.0", "4.1", "23", "27"} <= set(said)


# ---- a time entry speaks for its segment


def time_entries() -> Iterator[list[list[tuple[int, int]]]]:
    """Returns the entries of each time index in each recorded history of 4.3.1, oldest segment
    first.
    """
    for line in json_lines(DATA / "histories.jsonl.gz"):
        segments = line.get("final_closed", {}).get("segments", [])
        if line["version"] == "4.3.1":
            yield [
                list(TIME_ENTRY.iter_unpack(content(segment["timeindex"]) or b""))
                for segment in segments
            ]


def test_an_earlier_segment_may_have_newer_records():
    """Kafka wrote entries that are older than a record of a segment before."""
    older = [
        (entries[0], before[-1])
        for indexes in time_entries()
        for before, entries in pairwise(indexes)
        if before and entries and entries[0][0] < before[-1][0]
    ]
    assert len(older) > 3


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_lesson_keeps_the_promise_to_the_segment(spoken):
    """The right answer names where the segment begins; the one without it is wrong."""
    answer = right("time", 1, spoken)
    assert str(figure("time", 1, "bytes")["segment"]) in answer
    assert "19324" in answer
