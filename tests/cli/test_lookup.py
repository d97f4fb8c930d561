"""kafkaviz lookup as a user runs it: text, JSON, exit status."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.cli.text import lookup_text
from kafkaviz.format import batch, offset_index
from kafkaviz.messages import say
from tests.pipeline import whole_logs
from tests.support.commands import json_of, refusal_of, text_of
from tests.support.legacy_messages import build_message

lookup_json = partial(json_of, "lookup")


@pytest.fixture
def article(tmp_path):
    """Returns a log whose index has the keys 6 14 22 26 31, as in the article."""
    log, entries = b"", []
    for base_offset, last_offset in pairwise([-1, 2, 6, 14, 22, 26, 31, 33]):
        deltas = range(last_offset - base_offset)
        records = b"".join(bytes([12, 0, 0, 2 * delta, 1, 1, 0]) for delta in deltas)
        entries.append((last_offset, len(log)))
        log += whole_logs.framed(base_offset + 1, records, [1_700_000_000_000] * len(deltas))
    directory = tmp_path / "orders-0"
    directory.mkdir()
    (directory / f"{0:020}.log").write_bytes(log)
    index = offset_index.build(np.array(entries[1:-1], offset_index.ENTRY))
    (directory / f"{0:020}.index").write_bytes(index)
    return directory


def test_the_json_is_as_documented(article):
    answer = lookup_json(article, "--offset", 23)
    search = {
        "file": f"{0:020}.index",
        "entries": 5,
        "warm_from_slot": 0,
        "section": "warm",
        "probes": [
            {"slot": 0, "key": 6, "lo": 0, "hi": 4, "compare": "<", "page": 0},
            {"slot": 2, "key": 22, "lo": 0, "hi": 4, "compare": "<", "page": 0},
            {"slot": 3, "key": 26, "lo": 2, "hi": 4, "compare": ">", "page": 0},
        ],
        "slot": 2,
        "entry": {"offset": 22, "position": 288},
        "pages": [0],
    }
    found = {"offset": 23, "timestamp_ms": 1_700_000_000_000}
    expected = {
        "schema": "lookup/1",
        "target": {"offset": 23},
        "kafka_version": versions.NEWEST,
        "partition": "orders-0",
        "segments": [
            {"base_offset": 0, "chosen": True, "why": "greatest base offset not above 23"}
        ],
        "searches": [search],
        "scan": {
            "from_position": 288,
            "reads": [{"position": 288, "size": 17}, {"position": 405, "size": 17}],
            "batch": {"base_offset": 23, "last_offset": 26, "position": 405},
        },
        "record": found | {"segment": 0, "batch_position": 405},
        "answer": found,
    }
    assert answer == expected and [*answer] == [*expected]


def test_an_index_by_itself(article, clean):
    (article / f"{0:020}.log").unlink()
    index = article / f"{0:020}.index"
    answer = lookup_json(index, "--offset", 23, "--search", "plain")
    assert " ".join(answer) == "schema target kafka_version partition searches answer"
    [search] = answer["searches"]
    assert [probe["slot"] for probe in search["probes"]] == [0, 2, 3]
    assert search["warm_from_slot"] is None
    assert answer["answer"] == {"offset": 22, "position": 288}
    answer = lookup_json(index, "--offset", 5)
    [search] = answer["searches"]
    assert (search["slot"], search["entry"]) == (-1, None)
    assert answer["answer"] == {"offset": 0, "position": 0}
    time_index = clean / "orders-0" / f"{0:020}.timeindex"
    found = lookup_json(time_index, "--timestamp", 1790000827426)["answer"]
    assert found["timestamp_ms"] <= 1790000827426 and [*found] == ["timestamp_ms", "offset"]


@pytest.mark.parametrize(
    "written",
    ["2026-09-21 14:27:07.426", "2026-09-21T14:27:07.426Z", "2026-09-21T16:27:07.426+02:00"],
)
def test_a_timestamp_as_it_is_printed(clean, written):
    answer = lookup_json(clean / "orders-0", "--timestamp", written)["answer"]
    assert answer == {"offset": 5000, "timestamp_ms": 1790000827426}


def test_a_timestamp_and_its_names(clean):
    """The time index comes first; the log's start and end have no timestamp and no record."""
    answer = lookup_json(clean / "orders-0", "--timestamp", 1790000827426)
    assert [search["file"][20:] for search in answer["searches"]] == [".timeindex", ".index"]
    assert answer["answer"] == {"offset": 5000, "timestamp_ms": 1790000827426}
    answer = lookup_json(clean / "device-events.v2-0", "--timestamp", "earliest")
    assert answer["target"] == {"timestamp": "earliest"}
    assert answer["answer"]["timestamp_ms"] == -1 and answer["answer"]["offset"] > 0
    assert answer["searches"] == [] and answer["scan"] is answer["record"] is None
    assert lookup_json(clean / "orders-0", "--timestamp", "max")["answer"]["offset"] > 0
    latest = (clean / "payments-0", "--timestamp", "latest")
    committed = lookup_json(*latest, "--isolation", "read_committed")
    assert committed["answer"]["offset"] < lookup_json(*latest)["answer"]["offset"]


@pytest.mark.parametrize(
    ("partition", "time", "reason"),
    [
        ("refunds-0", "2030-01-01", say("cli_lookup.none_so_late", ms=1795253387139)),
        ("payments-0", "2026-11-21T09:29:45.82", say("cli_lookup.none_below_stable", stable=18900)),
        ("late-file-0", "2030-01-01", say("cli_lookup.none_in_segment")),
    ],
)
def test_a_timestamp_without_an_answer_has_a_reason(clean, tmp_path, partition, time, reason):
    """The .log of late-file-0 is newer than its records, and no time index says so."""
    late = tmp_path / "late-file-0"
    late.mkdir()
    log = shutil.copy(clean / "refunds-0" / f"{0:020}.log", late)
    os.utime(log, (2_051_222_400, 2_051_222_400))
    home = tmp_path if partition == late.name else clean
    options = ["--timestamp", time, "--isolation", "read_committed"]
    assert text_of("lookup", home / partition, *options).splitlines()[1] == reason


def test_what_has_no_answer_is_null(clean):
    end, beyond = ((clean / "orders-0", "--offset", offset) for offset in (38736, 38737))
    answer = lookup_json(*end)
    assert answer["answer"] is answer["record"] is None and "error" not in answer
    assert text_of("lookup", *end).splitlines()[1] == "answer    none: the log ends there"
    answer = lookup_json(*beyond)
    exception = "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received"
    assert answer["answer"] is None and answer["error"].startswith(exception)
    assert "but we only have log segments upto 38736." in text_of("lookup", *beyond)
    committed = (clean / "payments-0", "--isolation", "read_committed")
    stable = lookup_json(*committed, "--timestamp", "latest")["answer"]["offset"]
    words = f"no record for this consumer from the target to the last stable offset {stable}"
    assert words in text_of("lookup", *committed, "--offset", stable)


def test_the_words_say_each_step(clean):
    out = text_of("lookup", clean / "orders-0", "--offset", "5000")
    assert "greatest base offset not above 5000" in out and "9 probes on page 0" in out
    assert "slot 101      8970 > 5000   of slots 0 to 202   page 0" in out
    assert "4 reads, 112 B: offsets 4951 to 5037 in the batch at byte 274809" in out
    answer = out.splitlines()[1]
    assert answer.startswith("answer    offset 5000 of ")
    assert answer.endswith("in the batch at byte 274809 of 00000000000000000000.log")


def test_a_wrong_unit_is_reported(clean, capsys):
    for typed, meant in ((1790000827, 1790000827000), (1790000827426000000, 1790000827426)):
        text_of("lookup", clean / "orders-0", "--timestamp", typed)
        assert str(meant) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "arguments", "words"),
    [
        # not the log of the cluster's metadata, nor one that waits for deletion
        ("", ["--offset", "1"], "kafka-4.3.1-clean/accounts-0"),
        ("nothing-0", ["--offset", "1"], "is not there"),
        ("orders-0/partition.metadata", ["--offset", "1"], "is not a file of a segment"),
        (f"orders-0/{0:020}.index", ["--timestamp", "1"], "is searched for an offset"),
        ("orders-0", ["--offset", "1", "--kafka-version", "new"], "is not a version of Kafka"),
        # the name as typed, not the number that Kafka sends for it
        ("orders-0", ["--timestamp=max", "--kafka-version=2.8"], 'answers "max" only from 3.0 on'),
    ],
)
def test_wrong_input_is_one_line(clean, path, arguments, words):
    assert words in refusal_of("lookup", clean / path, *arguments)


def test_neither_compiler_nor_tables_are_loaded(clean):
    code = (
        "import sys\nfrom kafkaviz.__main__ import main\nmain(sys.argv[1:])\nprint({'numba', "
        "'pandas', 'pyspark'} & set(sys.modules))"
    )
    lookup = ["lookup", str(clean / "heartbeat-0"), "--offset", "500", "--json"]
    command = [sys.executable, "-c", code, *lookup]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "set()"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_encoding_that_lacks_letters_ends_no_lookup(article, options):
    """A character that ASCII lacks is escaped."""
    renamed = article.rename(article.parent / "été-0")
    command = [sys.executable, "-m", "kafkaviz", "lookup", str(renamed), "--offset", "23", *options]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    run = subprocess.run(command, env=environment, capture_output=True)
    assert (run.returncode, run.stderr) == (0, b"")
    if options:
        assert json.loads(run.stdout)["partition"] == "été-0"
    else:
        assert rb"t\xe9-0" in run.stdout


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_a_wrong_checksum_is_what_a_consumer_throws(article, isolation):
    """The exception replaces the record, also after unreadable bytes."""
    log = article / f"{0:020}.log"
    content = bytearray(log.read_bytes())
    lookup = (article, "--offset", 23, "--isolation", isolation)
    before = lookup_json(*lookup)
    content[before["scan"]["batch"]["position"] + batch.HEADER_BYTES + 5] ^= 4
    log.write_bytes(content)
    answer = lookup_json(*lookup)
    assert answer["record"] is answer["answer"] is None and answer["scan"] == before["scan"]
    assert answer["error"].startswith(
        "org.apache.kafka.common.errors.CorruptRecordException: Record batch for partition orders-0 "
        "at offset 23 is invalid, cause: Record is corrupt (stored crc = "
    )
    assert lookup_json(article, "--offset", 22)["record"]["offset"] == 22
    words = "error     CorruptRecordException: Record batch for partition orders-0"
    assert words in text_of("lookup", article, "--offset", 24)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrong_checksum_of_a_message(tmp_path, magic):
    messages = [bytearray(build_message(magic, offset, b"k", b"value")) for offset in range(3)]
    messages[1][-1] ^= 1
    folder = tmp_path / "old-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"".join(messages))
    (folder / f"{0:020}.index").touch()
    answers = [lookup_json(folder, "--offset", offset) for offset in range(3)]
    assert [answer["record"] is None for answer in answers] == [False, True, False]
    assert "Record for partition old-0 at offset 1 is invalid" in answers[1]["error"]


@pytest.mark.parametrize("option", ["--offset", "--timestamp"])
@pytest.mark.parametrize("value", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_what_is_no_int64_is_refused(article, option, value):
    assert "s have 64 bits" in refusal_of("lookup", article, f"{option}={value}")


@pytest.mark.parametrize("option", ["--offset", "--timestamp"])
@pytest.mark.parametrize("value", ["abc", "z" * 50, "1_0", "", " 7", "\u0663", "0x10", "1.5"])
def test_what_is_no_number_is_called_so(article, option, value):
    """The message names neither a function nor a number that was not typed."""
    err = refusal_of("lookup", article, f"{option}={value}")
    assert f"argument {option}: {value!r} is not a" in err and "_offset" not in err


def test_every_fetch_is_reported_and_the_segment_of_the_record(clean):
    assert lookup_json(clean / "accounts-0", "--offset", 0)["record"]["segment"] == 0
    record = lookup_json(clean / "refunds-0", "--offset", 55)["record"]
    assert record["segment"] == 1
    out = text_of("lookup", clean / "refunds-0", "--offset", 55)
    assert out.count("fetch     next from offset") == 2
    assert f"the batch at byte {record['batch_position']} of {1:020}.log" in out


def test_recovered_bytes_are_named(killed, clean, capsys):
    """On stderr, because they go by the names of files with other bytes; --as-is reads those."""
    directory = killed / "weblogs-0"
    index = max(directory.glob("*.index"))
    for arguments, names in (
        ((directory,), 2),
        ((index,), 1),
        ((directory, "--as-is"), 0),
        ((clean / "orders-0",), 0),
    ):
        text_of("lookup", *arguments, "--offset", 100)
        err = capsys.readouterr().err
        assert err.count(".index") + err.count(".timeindex") == names
        assert ("a recovery with the default index.interval.bytes" in err) == bool(names)


def test_a_start_that_ends_with_an_exception_is_reported(killed, tmp_path, capsys):
    """On stderr and in the object, for a log and for an index alone; not with --as-is."""
    shutil.copytree(killed, tmp_path / "kafka")
    directory = tmp_path / "kafka" / "weblogs-0"
    (directory / "leader-epoch-checkpoint").write_text("0\nmany\n")
    for arguments, is_told in (
        ((directory,), True),
        ((max(directory.glob("*.index")),), True),
        ((directory, "--as-is"), False),
    ):
        error = lookup_json(*arguments, "--offset", 100).get("start_error", "")
        assert ("KafkaStorageException: Error while reading checkpoint" in error) == is_told
        assert (f"next start fails here with {error}" in capsys.readouterr().err) == is_told


def test_a_log_that_no_start_opens_is_not_called_recovered(killed, tmp_path, capsys):
    """Kafka opens no .log of more than 2147483647 bytes, so no recovery cuts its zeros."""
    shutil.copytree(killed, tmp_path / "kafka")
    directory = tmp_path / "kafka" / "weblogs-0"
    os.truncate(max(directory.glob("*.log")), 2**31)
    text_of("lookup", directory, "--offset", 12141)
    err = capsys.readouterr().err
    assert "A .log of more than 2147483647 bytes is shown with its content on disk" in err
    assert "the broker would rebuild" not in err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--offset", "99999999"), " for offset 99999999"),
        (("--timestamp", "latest"), ": the log's end is known"),
    ],
)
def test_a_search_of_no_segment_is_reported_once(clean, arguments, why):
    out = text_of("lookup", clean / "heartbeat-0", *arguments)
    line = f"4 segments, offsets 0 to 39999: no segment is searched{why}"
    assert out.count("no segment is searched") == 1 and line in out.splitlines()


@pytest.fixture
def emptied(tmp_path):
    """Returns ten batches of three records without an index, and an active segment from 60 on
    without a batch, as compaction leaves it.
    """
    start_ms = whole_logs.START_MS
    batches = [whole_logs.batch(base, [start_ms] * 3) for base in range(0, 30, 3)]
    stem = whole_logs.write(tmp_path / "orders-0", batches)
    stem.with_suffix(".index").write_bytes(b"")
    whole_logs.write(tmp_path / "orders-0", [], 60)
    return tmp_path / "orders-0"


def test_an_offset_that_no_segment_holds_any_more_has_no_record(emptied):
    """Up to the end of the log, which the text names."""
    answer = text_of("lookup", emptied, "--offset", 40, "--as-is").splitlines()[1]
    assert answer == say("cli_lookup.none_to_end", end=60)


def test_many_reads_are_the_first_and_how_many_more(emptied, monkeypatch):
    """A scan may read thousands of headers."""
    monkeypatch.setattr(lookup_text, "MAX_READS", 4)
    lines = text_of("lookup", emptied, "--offset", "29", "--as-is").splitlines()
    count = len(lookup_json(emptied, "--offset", 29, "--as-is")["scan"]["reads"])
    assert count == 11
    assert f"  {say('cli_lookup.more_reads', n=count - 4)}" in lines


def set_batch_length(log: Path, position: int, length_bytes: int) -> None:
    with log.open("r+b") as file:
        file.seek(position + batch.LENGTH_END - 4)
        file.write(length_bytes.to_bytes(4, "big", signed=True))


@pytest.mark.parametrize("length_bytes", [5, 0, -7])
@pytest.mark.parametrize(
    "target", [["--offset", "2"], ["--timestamp", "max"], ["--timestamp", "1700000000000"]]
)
def test_a_log_whose_end_cannot_be_found_has_an_error(article, length_bytes, target):
    """From the source: a start calls LogSegment.readNextOffset, which throws."""
    log, index = article / f"{0:020d}.log", article / f"{0:020d}.index"
    position = int(offset_index.parse(index.read_bytes())["position"][-1])
    set_batch_length(log, position, length_bytes)
    answer = json_of("lookup", article, *target)
    exception = "org.apache.kafka.common.errors.CorruptRecordException"
    words = f"byte {position}: Found record size {length_bytes} smaller than minimum"
    assert answer["error"].startswith(f"{exception}: ") and words in answer["error"]
    assert answer["answer"] is answer["record"] is None
    [search] = answer["searches"]
    assert search["file"] == index.name and search["entry"]["position"] == position
    assert answer["scan"]["reads"][-1]["position"] == position
    text = text_of("lookup", article, *target)
    assert words in text and say("segment_choice.bounds_unknown") in text


def test_bytes_that_are_too_large_to_be_read_are_refused_as_json(article, capsys):
    """Kafka reads such a batch, so no answer is claimed."""
    log = article / f"{0:020d}.log"
    (article / f"{0:020d}.index").unlink()
    set_batch_length(log, 0, 280 << 20)
    os.truncate(log, 300 << 20)
    assert main(["lookup", str(article), "--timestamp", "1700000000000", "--json"]) == 2
    output = capsys.readouterr()
    answer = json.loads(output.out)
    assert set(answer) == {"schema", "target", "kafka_version", "partition", "refused"}
    assert answer["target"] == {"timestamp_ms": 1700000000000}
    assert answer["refused"] in output.err and len(output.err.splitlines()) == 1


def test_an_entry_that_leads_past_its_batch_is_named(damaged):
    """Kafka answers 1017 to offset 950, although another batch has it; check finds the entry."""
    path = damaged / "bookings-0"
    text = text_of("lookup", path, "--offset", "950")
    assert "slot 3 of 00000000000000000858.index is wrong: it gives offset 949" in text
    assert "skips offsets 949 to 1016, which may exist; run kafkaviz check" in text
    (wrong_entry,) = json_of("lookup", path, "--offset", "950")["wrong_entries"]
    assert wrong_entry.pop("why") in " ".join(text.split())
    assert wrong_entry == {"file": "00000000000000000858.index", "slot": 3, "base_offset": 1017}
    assert "wrong_entries" not in json_of("lookup", path, "--offset", "930")
