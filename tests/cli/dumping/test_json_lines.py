"""JSON lines: the content of a file, also after damage, and the same as in the text."""

import base64
import json
import os
import random
import re
import shutil
import struct
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.cli.dump import EPILOG
from kafkaviz.cli.dumping.json_lines import CRC, FORMATS
from kafkaviz.errors import CannotOpen
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, HEADER
from kafkaviz.format.txn_index import ENTRY as ABORTED
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.units import ungroup
from tests.cli.dumping.running import dumped, json_dumped
from tests.pipeline import whole_logs
from tests.support.recorded import recorded

BASE = "00000000000000000000"


def kinds(lines: list[dict], kind: str) -> list[dict]:
    return [
        {name: value for name, value in line.items() if name != "kind"}
        for line in lines
        if line["kind"] == kind
    ]


def overwrite(path: Path, position: int, new: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[position : position + len(new)] = new
    path.write_bytes(data)


def faults(lines: list[dict]) -> list[tuple[str, int, int]]:
    """Returns the code, position and size of each problem."""
    problems = kinds(lines, "problem")
    return [(each["code"], each["position"], each["size_bytes"]) for each in problems]


def codes(lines: list[dict]) -> list[str]:
    return [code for code, *_ in faults(lines)]


@pytest.fixture
def segment(data, tmp_path) -> Path:
    """Returns a copy of a small real segment to damage: batches at 0, 109, 370 and so on."""
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "nulls-0")
    return tmp_path / "nulls-0"


def test_a_batch_and_its_records(segment):
    """Every field of the first batch, and of its two records."""
    lines = json_dumped(segment, "--print-data-log", f"{BASE}.log")
    assert lines[:4] == [
        {
            "kind": "file",
            "schema": "dump/1",
            "path": f"{BASE}.log",
            "format": "log",
            "size_bytes": 10479,
        },
        {
            "kind": "batch",
            "position": 0,
            "size_bytes": 109,
            "base_offset": 0,
            "last_offset": 1,
            "leader_epoch": 0,
            "magic": 2,
            "codec": "none",
            "timestamp_type": "CreateTime",
            "is_transactional": False,
            "is_control": False,
            "delete_horizon_ms": None,
            "record_count": 2,
            "base_timestamp_ms": 1790000000000,
            "max_timestamp_ms": 1790000000001,
            "producer_id": None,
            "producer_epoch": None,
            "base_sequence": None,
            "last_sequence": None,
            "crc": 1225212743,
            "crc_valid": True,
        },
        {
            "kind": "record",
            "offset": 0,
            "timestamp_ms": 1790000000000,
            "sequence": None,
            "key": None,
            "value": base64.b64encode(b"value without key").decode(),
            "headers": [],
            "control": None,
        },
        {
            "kind": "record",
            "offset": 1,
            "timestamp_ms": 1790000000001,
            "sequence": None,
            "key": base64.b64encode(b"key-without-value").decode(),
            "value": None,
            "headers": [],
            "control": None,
        },
    ]
    assert len(kinds(lines, "record")) == 120


def test_an_option_prints_records(segment):
    assert {line["kind"] for line in json_dumped(segment, f"{BASE}.log")} == {"file", "batch"}


def test_a_marker_says_what_it_ends(damaged):
    lines = json_dumped(damaged, "--print-data-log", f"transfers-0/{BASE}.log")
    controls = [record["control"] for record in kinds(lines, "record") if record["control"]]
    assert {"type": "COMMIT", "version": 0, "coordinatorEpoch": 0} in controls
    assert {"type": "ABORT", "version": 0, "coordinatorEpoch": 0} in controls


@pytest.mark.parametrize("name", ["damaged", "clean"])
def test_batches_and_records_are_those_of_the_text(name, request):
    """Positions, offsets, counts and checksums of a whole directory's logs."""
    directory = request.getfixturevalue(name)
    for path in sorted(directory.glob("__*/*.log")):
        name = str(path.relative_to(directory))
        text = dumped(directory, ["--deep-iteration", name]).out.decode("utf-8", "replace")
        lines = json_dumped(directory, "--print-data-log", name)
        batches = [
            (b["base_offset"], b["position"], b["size_bytes"], b["crc"])
            for b in kinds(lines, "batch")
        ]
        matches = re.findall(
            r"^baseOffset: (\d+) .* position: (\d+) .* size: (\d+) .* crc: (\d+) ",
            text,
            re.MULTILINE,
        )
        assert batches == [tuple(map(int, numbers)) for numbers in matches]
        assert [r["offset"] for r in kinds(lines, "record")] == [
            int(n) for n in re.findall(r"^\| offset: (\d+)", text, re.MULTILINE)
        ]


def test_messages_of_old_magic_have_fewer_fields(tmp_path):
    """Fields that they lack are null; a wrapper's base offset is its first message's."""
    stretches = {
        line["file"].partition("/")[0]: bytes.fromhex(line["hex"])
        for line in recorded("legacy_logs")
        if line["start"] == 0
    }
    (tmp_path / f"{BASE}.log").write_bytes(stretches["v0.gzip-0"])
    output = json_dumped(tmp_path, "--print-data-log", f"{BASE}.log")
    first = kinds(output, "batch")[0]
    assert (first["base_offset"], first["magic"], first["codec"], first["timestamp_type"]) == (
        0,
        0,
        "gzip",
        "NoTimestampType",
    )
    missing = (
        "leader_epoch is_transactional record_count base_timestamp_ms max_timestamp_ms producer_id "
        "base_sequence"
    )
    assert {first[name] for name in missing.split()} == {None}
    assert kinds(output, "record")[0]["timestamp_ms"] is None
    (tmp_path / f"{BASE}.log").write_bytes(stretches["v1.none-0"])
    first = kinds(json_dumped(tmp_path, f"{BASE}.log"), "batch")[0]
    assert (first["base_offset"], first["last_offset"], first["timestamp_type"]) == (
        0,
        0,
        "CreateTime",
    )


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        (bytes(30), "log-zero-tail"),
        (bytes(9), "log-zero-tail"),
        (b"\xff" * 40, "log-garbage-tail"),
        (None, "log-torn-tail"),
    ],
)
def test_a_tail_is_a_problem_and_no_death(segment, tail, code):
    """Zeros are unwritten bytes too; a torn batch begins like the next one."""
    log = segment / f"{BASE}.log"
    data = log.read_bytes()
    log.write_bytes(data[:-10] if tail is None else data + tail)
    lines = json_dumped(segment, f"{BASE}.log")
    end = max(batch["position"] + batch["size_bytes"] for batch in kinds(lines, "batch"))
    assert faults(lines) == [(code, end, log.stat().st_size - end)]
    expected = [{"position": end, "size_bytes": len(tail)}] if code == "log-zero-tail" else []
    assert kinds(lines, "unwritten") == expected


@pytest.mark.parametrize("length", [0, -1, 13, 2**31 - 1, 48])
def test_batches_after_a_wrong_length_are_found_again(segment, length):
    """The third batch is wrong: its bytes are one problem, and all others are printed."""
    log = segment / f"{BASE}.log"
    before = kinds(json_dumped(segment, "--print-data-log", f"{BASE}.log"), "batch")
    position = before[2]["position"]
    overwrite(log, position + 8, length.to_bytes(4, "big", signed=True))
    lines = json_dumped(segment, "--print-data-log", f"{BASE}.log")
    assert faults(lines) == [("batch-bad-length", position, before[2]["size_bytes"])]
    assert kinds(lines, "batch") == before[:2] + before[3:]


@pytest.mark.parametrize(
    ("position", "value", "code"),
    [
        (90, 0xFF, "batch-crc-mismatch"),
        (16, 0xFF, "batch-bad-magic"),
        (16, 9, "batch-bad-magic"),
        (22, 6, "decompress-failed"),
    ],
)
def test_a_batch_that_is_wrong_is_named_and_passed(segment, position, value, code):
    log = segment / f"{BASE}.log"
    count = len(kinds(json_dumped(segment, f"{BASE}.log"), "batch"))
    overwrite(log, position, bytes([value]))
    lines = json_dumped(segment, f"{BASE}.log")
    assert faults(lines) == [(code, 0, 109)]
    assert len(kinds(lines, "batch")) == count


def test_a_record_that_cannot_be_read_is_named_and_passed(segment):
    overwrite(segment / f"{BASE}.log", 61 + 24, b"\x60")  # the length of the second record
    lines = json_dumped(segment, "--print-data-log", f"{BASE}.log")
    found = [(code, position) for code, position, _ in faults(lines)]
    assert found == [("batch-crc-mismatch", 0), ("batch-crc-mismatch", 85)]
    assert [record["offset"] for record in kinds(lines, "record")[:3]] == [0, 2, 3]


def test_entries_and_slots_never_written(damaged):
    """An index whose end is zeros, one that was cut, and one that leads astray."""
    names = (
        f"metrics-0/{2401:020}.index",
        f"metrics-0/{0:020}.index",
        f"bookings-0/{858:020}.index",
    )
    lines = json_dumped(damaged, *names)
    files = [place for place, line in enumerate(lines) if line["kind"] == "file"]
    zeroed, cut, wrong = lines[: files[1]], lines[files[1] : files[2]], lines[files[2] :]
    assert [entry["slot"] for entry in kinds(zeroed, "offset_entry")] == [*range(13)]
    assert kinds(zeroed, "unwritten") == [{"position": 104, "size_bytes": 112}]
    assert faults(cut) == [("index-size-not-multiple", 208, 5)]
    [problem] = kinds(wrong, "problem")
    assert (problem["code"], problem["position"]) == ("index-offset-mismatch", 24)
    where = (
        "the entry puts offset 949 at byte 16372, where the batch of offsets 1017 to 1025 starts"
    )
    assert problem["message"] == f"slot 3: {where}"


def test_time_entries_that_do_not_fit(damaged):
    """A timestamp was changed; the next one, though below it, is right."""
    lines = json_dumped(damaged, f"bookings-0/{BASE[:-4]}1721.timeindex")
    assert kinds(lines, "time_entry")[2] == {
        "slot": 2,
        "timestamp_ms": 1793087651220,
        "relative_offset": 66,
        "offset": 1787,
    }
    [(code, position, _)] = faults(lines)
    assert (code, position) == ("timeindex-timestamp-mismatch", 24)


def test_entries_of_older_versions_differ_from_wrong_ones(segment):
    """An entry for an append of two batches leads to the first and has the key of the last; a time
    entry names an offset of its time.
    """
    first, second, third = kinds(json_dumped(segment, f"{BASE}.log"), "batch")[1:4]
    entries = [
        (third["last_offset"], second["position"]),
        (third["last_offset"] + 1, first["position"]),
    ]
    (segment / f"{BASE}.index").write_bytes(
        b"".join(struct.pack(">ii", *entry) for entry in entries)
    )
    found = codes(json_dumped(segment, f"{BASE}.index"))
    assert found == ["index-coarse", "index-differs-from-rebuild"]
    inside, last_ms = first["base_offset"] + 1, first["max_timestamp_ms"]
    entries = [(last_ms, inside), (last_ms + 100_000_000, inside + 1)]
    (segment / f"{BASE}.timeindex").write_bytes(
        b"".join(struct.pack(">qi", *entry) for entry in entries)
    )
    found = codes(json_dumped(segment, f"{BASE}.timeindex"))
    assert found == ["timeindex-offset-mismatch", "timeindex-timestamp-mismatch"]


@pytest.mark.parametrize("name", ["gone", "09223372036854775808.log"])
def test_an_index_without_its_log_is_still_shown(segment, name):
    """Also if a .log is named beyond the largest offset."""
    (segment / f"{BASE}.log").rename(segment / name)
    lines = json_dumped(segment, f"{BASE}.index")
    assert codes(lines) == ["orphan-index"]
    assert kinds(lines, "offset_entry")


def test_producers_and_aborted_transactions(damaged):
    """A -1 that stands for none is null."""
    [first, *_] = kinds(json_dumped(damaged, f"transfers-0/{BASE[:-4]}1175.snapshot"), "producer")
    assert first["current_txn_first_offset"] is None or first["current_txn_first_offset"] >= 0
    lines = json_dumped(damaged, f"transfers-0/{BASE[:-3]}320.txnindex")
    size_bytes = (damaged / f"transfers-0/{BASE[:-3]}320.txnindex").stat().st_size
    assert len(kinds(lines, "aborted_transaction")) == size_bytes // ABORTED.itemsize
    bad = json_dumped(damaged, f"transfers-0/{BASE[:-4]}3429.snapshot")
    assert codes(bad) == ["snapshot-bad-crc"]


@pytest.mark.parametrize("name", ["3429.snapshot", "320.txnindex"])
def test_a_small_file_has_the_findings_of_a_check(damaged, name):
    """Findings about a .txnindex that need other logs are left out, because a dump does not read
    them.
    """
    stem, _, suffix = name.partition(".")
    path = f"transfers-0/{int(stem):020d}.{suffix}"
    [expected] = [
        (finding.code, finding.position, finding.length, ungroup(str(finding.message)))
        for finding in check(damaged).findings
        if finding.file == path and not finding.code.startswith("recovery-will-")
    ]
    lines = json_dumped(damaged, path)
    [problem] = kinds(lines, "problem")
    assert (*faults(lines)[0], problem["message"]) == expected


def test_a_torn_and_refused_txnindex(damaged, tmp_path):
    """Each entry of another version, and trailing bytes; the entries are still printed."""
    path = tmp_path / f"{BASE}.txnindex"
    path.write_bytes(b"\1" + (damaged / f"transfers-0/{BASE[:-3]}320.txnindex").read_bytes()[1:50])
    lines = json_dumped(tmp_path, path.name)
    assert faults(lines) == [("txnindex-mismatch", 0, 34), ("txnindex-torn", 34, 16)]
    assert len(kinds(lines, "aborted_transaction")) == 1


def test_a_file_of_another_kind_is_a_problem(damaged):
    lines = json_dumped(damaged, "rides-0/leader-epoch-checkpoint", f"rides-0/{BASE}.index")
    assert [line["kind"] for line in lines[:3]] == ["file", "problem", "file"]
    assert (lines[0]["format"], lines[1]["code"]) == (None, "unknown-file")


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(CannotOpen):
        json_dumped(tmp_path, f"{BASE}.log")


@pytest.mark.parametrize(
    "name",
    [f"{BASE}.log", f"{BASE}.index", f"{BASE}.timeindex", f"{BASE}.snapshot", f"{BASE}.txnindex"],
)
@pytest.mark.parametrize("how", ["a directory", "no permission"])
def test_what_cannot_be_read_is_one_line_and_2(segment, name, how, monkeypatch, capfdbinary):
    path = segment / name
    path.unlink(missing_ok=True)
    path.mkdir() if how == "a directory" else path.write_bytes(b"")
    if how == "no permission":
        monkeypatch.setattr("kafkaviz.log.file.open", refusing(path), raising=False)
    assert main(["dump", "--json", str(segment / f"{BASE}.index.dump"), str(path)]) == 2
    out, err = capfdbinary.readouterr()
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["file", "problem"]
    assert err.startswith(b"kafkaviz: ") and name.encode() in err and err.count(b"\n") == 1


def refusing(path: Path):
    """Makes open() refuse this file, which root could read."""

    def opened(target, *how, **more):
        if Path(target) == path:
            raise PermissionError(13, "Permission denied", str(target))
        return open(target, *how, **more)

    return opened


def test_the_fields_are_those_that_the_help_lists(damaged):
    """These files have one of each kind of line."""
    sections = re.findall(r"^  (\w+) {2,}(\S.*(?:\n {23}.*)*)", EPILOG, re.MULTILINE)
    aside = r"^with [^:]*: |^slots .*: | as \[\[.*?\]\]| of a finding|: what .*$"
    documented = {
        kind: re.findall(r"[a-z][a-z_]+", re.sub(aside, "", fields)) for kind, fields in sections
    }
    names = ("transfers-0/*.log", "transfers-0/*.txn*", "transfers-0/*.snap*", "metrics-0/*.*index")
    paths = [
        str(path.relative_to(damaged)) for name in names for path in sorted(damaged.glob(name))
    ]
    fields_by_kind = {}
    for line in json_dumped(damaged, "--print-data-log", *paths):
        fields_by_kind.setdefault(line.pop("kind"), set()).add(tuple(line))
    assert fields_by_kind == {kind: {tuple(fields)} for kind, fields in documented.items()}


def test_the_last_sequence_continues_from_0_after_the_largest(segment):
    """By incrementSequence of DefaultRecordBatch two records from 2147483647 on end with 0."""
    at = HEADER.fields["base_sequence"][1]
    overwrite(segment / f"{BASE}.log", at, (2**31 - 1).to_bytes(4, "big"))
    first = kinds(json_dumped(segment, f"{BASE}.log"), "batch")[0]
    expected = {"base_sequence": 2**31 - 1, "last_sequence": 0, "base_offset": 0, "last_offset": 1}
    assert first.items() >= expected.items()


def problem_codes(out: bytes) -> set[str]:
    lines = out.splitlines()
    return {json.loads(line)["code"] for line in lines if line.startswith(b'{"kind":"problem"')}


def findings_of_dump_alone(broker: Path) -> dict[str, set[str]]:
    """Returns the codes, by file, that dump --json has and check does not."""
    known: dict[str, set[str]] = {}
    for finding in check(broker).findings:
        known.setdefault(finding.file, set()).add(finding.code)
    files = [
        path.relative_to(broker)
        for path in sorted(broker.glob("*/*"))
        if path.suffix[1:] in FORMATS
    ]
    unknown = {
        str(path): problem_codes(dumped(broker, ["--json", str(path)]).out)
        - known.get(str(path), set())
        for path in files
    }
    return {path: codes for path, codes in unknown.items() if codes}


@pytest.mark.parametrize(
    "name", ["damaged", "killed", pytest.param("clean", marks=pytest.mark.nightly)]
)
def test_dump_finds_no_fault_that_check_does_not_find(request, name):
    """Every file of the samples."""
    assert findings_of_dump_alone(request.getfixturevalue(name)) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "2.8.2-legacy",
        *(
            pytest.param(name, marks=pytest.mark.nightly)
            for name in (
                "4.3.1-unstartable",
                "3.9.0-follower",
                "3.9.0-leader",
                "4.3.1-killed",
                "4.3.1-killed-restarted",
                "4.4.0-clean",
                "4.4.0-killed",
                "4.4.0-killed-restarted",
            )
        ),
    ],
)
def test_dump_finds_no_fault_in_what_older_brokers_wrote(shared, name):
    """Entries for whole appends, first-offset keys and deep offsets are right."""
    assert findings_of_dump_alone(unpack_if_archive(shared / "data" / f"kafka-{name}.tar.gz")) == {}


def test_an_index_next_to_damage_is_not_called_wrong(damaged):
    """The .timeindex next to a wrong .index, or to none, is right."""
    for name in (f"bookings-0/{BASE[:-3]}858.timeindex", f"rides-0/{BASE[:-4]}1811.timeindex"):
        assert kinds(json_dumped(damaged, name), "problem") == []


@pytest.mark.parametrize("seed", range(60))
def test_dump_and_check_agree_on_damage(segment, seed):
    """Bytes changed, lost or added: dump reports nothing that check does not."""
    chance = random.Random(seed)
    path = segment / f"{BASE}.{chance.choice(('log', 'log', 'index', 'timeindex'))}"
    data = bytearray(path.read_bytes())
    place = chance.choice(
        (
            chance.randrange(len(data)),
            chance.choice((0, 109, 370)) + chance.choice((8, 16, 22, 23, 57)),
        )
    )
    match chance.choice(("byte", "byte", "cut", "zeros", "garbage")):
        case "byte":
            data[place % len(data)] ^= chance.randrange(1, 256)
        case "cut":
            del data[place % len(data) :]
        case "zeros":
            data += bytes(chance.choice((5, 8, 24, 100)))
        case "garbage":
            data += chance.randbytes(chance.choice((5, 8, 24, 100)))
    path.write_bytes(data)
    known = {(finding.file, finding.code) for finding in check(segment).findings}
    for kind in ("log", "index", "timeindex"):
        out = dumped(segment, ["--json", "--print-data-log", f"{BASE}.{kind}"]).out
        assert {(f"nulls-0/{BASE}.{kind}", code) for code in problem_codes(out)} <= known


def test_a_name_that_is_no_utf8_is_no_half_character(tmp_path):
    """JSON that every reader accepts: U+FFFD, no lone surrogate."""
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(path)).write_bytes(b"")
    out = dumped(tmp_path, ["--json", os.fsdecode(path)]).out
    assert rb"\udce9" not in out and out.count(rb"caf\ufffd.txt") == 2


@pytest.mark.parametrize(
    ("suffix", "data", "code", "byte_range"),
    [
        (
            ".index",
            bytes(8) + struct.pack(">ii", 5, 70) + b"\0",
            "index-size-not-multiple",
            (16, 1),
        ),
        (".index", struct.pack(">iiii", 9, 70, -5, 90), "index-not-monotonic", (0, 16)),
        (".timeindex", struct.pack(">qiqi", 9, 1, 5, 2), "timeindex-not-monotonic", (0, 24)),
        (".timeindex", struct.pack(">qi", 9, -1), "timeindex-not-monotonic", (0, 12)),
        (
            ".timeindex",
            struct.pack(">qi", 9, 1) + b"\0" * 5,
            "timeindex-size-not-multiple",
            (12, 5),
        ),
    ],
)
def test_a_sanity_check_says_what_kafkas_says(tmp_path, suffix, data, code, byte_range):
    """It is a problem with the wrong bytes, and the entries are not printed."""
    path = tmp_path / f"{BASE}{suffix}"
    path.write_bytes(data)
    path.with_suffix(".log").write_bytes(b"")
    lines = json_dumped(tmp_path, "--index-sanity-check", path.name)
    assert faults(lines) == [(code, *byte_range)]
    assert not kinds(lines, "offset_entry") and not kinds(lines, "time_entry")


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_without_an_offset_in_its_name_has_no_absolute_offsets(segment, suffix):
    """The entries are printed, with the note that nothing is checked."""
    (segment / f"{BASE}{suffix}").rename(segment / f"copy{suffix}")
    lines = json_dumped(segment, f"copy{suffix}")
    assert codes(lines) == ["unknown-file"]
    entries = kinds(lines, "offset_entry" if suffix == ".index" else "time_entry")
    assert entries and {entry["offset"] for entry in entries} == {None}
    assert entries[0]["relative_offset"] > 0


def test_a_control_record_that_says_nothing_known_is_named(tmp_path):
    """Its bytes are printed; the checksum decides whether the record or the batch is wrong."""
    body = record.build([record.Record(offset_delta=0, timestamp_delta_ms=0, key=b"\0", value=b"")])
    data = whole_logs.framed(0, body, [whole_logs.START_MS], CONTROL)
    for batch, code in ((data, "record-malformed"), (data[:17] + b"junk" + data[21:], CRC)):
        (tmp_path / f"{BASE}.log").write_bytes(batch)
        lines = json_dumped(tmp_path, "--print-data-log", f"{BASE}.log")
        assert kinds(lines, "record")[0]["control"] is None
        [fault] = [line for line in lines if "control record" in line.get("message", "")]
        assert (fault["code"], fault["position"]) == (code, 0)
        assert fault["size_bytes"] == len(batch)
