"""kafkaviz check as an operator runs it: text, JSON, exit status."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Evidence
from kafkaviz.analysis.findings import finding as make_finding
from kafkaviz.analysis.freeing import FreeingKind
from kafkaviz.cli.text import check_text
from kafkaviz.figures.disk import retention_view
from kafkaviz.figures.health_view import finding_items
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message
from kafkaviz.render import disk_text
from tests.support.commands import json_of, refusal_of, text_of

OWN_FILES = ("meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint")


@pytest.fixture(scope="module")
def damaged_report(damaged) -> dict:
    return json_of("check", damaged, status=1)


@pytest.fixture(scope="module")
def damaged_text(damaged) -> str:
    return text_of("check", damaged, status=1)


@pytest.fixture(scope="module")
def killed_report(killed) -> dict:
    return json_of("check", killed, status=1)


@pytest.fixture(scope="module")
def killed_text(killed) -> str:
    return text_of("check", killed, status=1)


def copy_of(broker: Path, root: Path, *names: str) -> Path:
    """Returns a new broker directory with these files and topic-partitions of another."""
    root.mkdir(exist_ok=True)
    for name in names:
        copy = shutil.copytree if (broker / name).is_dir() else shutil.copy2
        copy(broker / name, root / name)
    return root


@pytest.fixture(scope="module")
def few_logs(clean, tmp_path_factory) -> Path:
    """Returns a directory with the metadata log and some closed segments, two of them compacted."""
    names = ("__cluster_metadata-0", "weblogs-0", "orders-0", "heartbeat-0", "accounts-0")
    return copy_of(clean, tmp_path_factory.mktemp("few-logs"), *OWN_FILES, *names)


def test_the_json_is_as_documented(damaged_report):
    """Every key of the object, of a finding and of a step."""
    report = damaged_report
    assert " ".join(report) == (
        "schema directory kafka_version log_directories findings restart counts retention "
        "metadata_retention topics disk recovery freeing"
    )
    assert report["kafka_version"]["assumed"] == "4.3.1"
    assert "metadata.version" in report["kafka_version"]["because"]
    finding = report["findings"][0]
    assert " ".join(finding) == (
        "code severity partition file position length message evidence consequence next_step "
        "reference log_directory"
    )
    assert " ".join(finding["evidence"]) == "found expected found_hex expected_hex"
    severities = [finding["severity"] for finding in report["findings"]]
    assert severities == sorted(severities, key="error warning info".index)
    assert report["restart"]["clean"] and report["restart"]["starts"]
    assert " ".join(report["restart"]["steps"][0]) == (
        "partition segment file action cause from_position bytes why log_directory error way_out"
    )
    actions = {step["action"] for step in report["restart"]["steps"]}
    assert actions <= {"truncate", "rebuild", "delete", "keep", "fail"}
    assert report["counts"]["error"] == 5
    log = report["retention"][0]
    assert " ".join(log) == (
        "partition log_directory now_ms deletes retention_ms retention_bytes tiered "
        "not_uploaded_bytes log_bytes over_bytes segments"
    )
    assert " ".join(log["segments"][0]) == (
        "segment bytes timestamp_ms counted_by offset state until_ms gone_ms blocked_by more_bytes"
    )


def test_the_words_name_file_bytes_evidence_and_what_to_do(damaged, capsys):
    text = text_of("check", damaged / "bookings-0", status=1)
    assert "ERROR    index-offset-mismatch  00000000000000000858.index, bytes 24 to 31" in text
    assert "[0000005b00003ff4]" in text and "[0000005b00002445]" in text
    assert "will succeed" in text and "KAFKA-7283" in text
    assert capsys.readouterr().err == ""
    assert max(map(len, text.splitlines())) < 200


@pytest.mark.parametrize(
    ("options", "status"), [([], 0), (["--fail-on", "error"], 0), (["--fail-on", "warning"], 1)]
)
def test_the_exit_status_says_whether_there_was_anything(clean, options, status):
    """The clean directory has a true warning and no error."""
    text = text_of("check", clean / "tiny-index-0", *options, status=status)
    assert "0 errors, 1 warning," in text


def test_a_killed_broker_reports_what_will_be_cut(killed_text):
    lines = killed_text.splitlines()
    start = "nothing here stops the next start (not stopped cleanly), which will cut "
    assert lines[2].startswith(start) and " bytes off three logs" in lines[2]
    assert sum(line.startswith("recovery-will-rebuild, ") for line in lines) == 1
    assert not any("unflushed" in line for line in lines)
    assert any("found     the segment extends past the recovery point" in line for line in lines)
    assert sum(line.startswith("           also ") for line in lines) >= 1


def test_a_partition_without_its_broker_counts_as_cleanly_stopped(clean, tmp_path):
    """The text says that this is an assumption."""
    shutil.copytree(clean / "orders-2", tmp_path / "orders-2")
    start = "the next start (treated as stopped cleanly) will succeed, and change nothing"
    assert text_of("check", tmp_path / "orders-2").splitlines()[2] == start


@pytest.mark.parametrize(("settings", "is_said"), [([], False), (["--kafka-version", "2.2"], True)])
@pytest.mark.parametrize("name", ["killed", "unstartable"])
def test_the_evidence_for_a_start_is_reported(name, settings, is_said, request):
    """If the release differs from that of the recorded starts, also for a start that fails."""
    text = text_of("check", request.getfixturevalue(name), *settings, status=1)
    head = text.partition("\n\n")[0]
    known = "Known from the source of Kafka 2.2; starts were recorded only for 4.3.1 and 4.4.0."
    assert head.endswith(f"\n  {known}") == is_said
    assert is_said or "recorded" not in head


def test_what_is_read_again_reads_as_on_the_page(clean, tmp_path):
    lines = text_of("check", copy_of(clean, tmp_path, "meta.properties", "orders-2")).splitlines()
    assert lines[2].startswith(
        "nothing here stops the next start (not stopped cleanly), which will do only"
    )
    assert " ".join(map(str.strip, lines[3:5])) == (
        "The broker was not stopped cleanly, so it will read 1 log again from its recovery point and "
        "rebuild its indexes to the same bytes."
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere/at/all"], "is not there"),
        (["{clean}", "--kafka-version", "new"], "not a version of Kafka"),
        (["{clean}", "--kafka-version", "0.1"], "not a known release; give one from 0.10 to 4.4"),
        (["{clean}", "--kafka-version", "3.99"], "Kafka 3.99 is not a known release"),
        (["{clean}/orders-0/leader-epoch-checkpoint"], "is a file"),
    ],
)
def test_what_cannot_be_checked_is_one_line(clean, arguments, words):
    assert words in refusal_of("check", *(argument.format(clean=clean) for argument in arguments))


def test_a_refusing_start_says_why(clean, tmp_path):
    (tmp_path / "old stuff").mkdir()
    out = text_of("check", copy_of(clean, tmp_path, *OWN_FILES), status=1)
    assert "WILL FAIL" in out and "Found directory old stuff" in out and "directory-name-bad" in out


def test_the_largest_topics_come_last(damaged, damaged_report, damaged_text):
    sizes: dict[str, list[int]] = {}
    for folder in damaged.iterdir():
        if folder.is_dir():
            topic = sizes.setdefault(folder.name.rpartition("-")[0], [0, 0, 0])
            topic[0] += 1
            for path in folder.iterdir():
                if kind := re.match(r"\d{20}\.(log|index|timeindex|txnindex)", path.name):
                    topic[1 if kind[1] == "log" else 2] += path.stat().st_size
    topics = {topic["topic"]: [*topic.values()][1:] for topic in damaged_report["topics"]}
    assert topics == sizes
    block = damaged_text.rpartition("\n\n")[2].splitlines()
    assert block[0] == "largest topics, by file length"
    largest = sorted(sizes, key=lambda topic: -sum(sizes[topic][1:]))
    assert [line.split()[2] for line in block[1:-1]] == [f"{topic}:" for topic in largest[:5]]
    assert block[-1].strip().startswith(f"{len(sizes) - 5} more topics: ")


@pytest.mark.parametrize(
    ("folders", "others"),
    [
        (1, []),
        (4, ["the same in stuff 1, stuff 2, stuff 3"]),
        (51, ["the same in 50 more: stuff 1, stuff 10, stuff 11 and 47 others"]),
    ],
)
def test_a_cause_of_many_directories_is_said_once(clean, tmp_path, folders, others):
    for number in range(folders):
        (tmp_path / f"stuff {number}").mkdir()
    root = copy_of(clean, tmp_path, *OWN_FILES)
    headline = text_of("check", root, status=1).partition("\n\n")[0]
    assert headline.count("KafkaException: Found directory stuff 0,") == 1
    lines = [line.strip() for line in headline.splitlines()]
    assert [line for line in lines if line.startswith("the same in")] == others
    assert headline.count("out of the broker directory") == 1


def test_each_step_of_the_start_names_its_file_and_a_failing_one_its_exception(clean, tmp_path):
    names = (*OWN_FILES, "recovery-point-offset-checkpoint", "orders-0")
    root = copy_of(clean, tmp_path / "kafka", *names)
    for kind in ("index", "timeindex"):
        (root / "orders-0" / f"{0:020}.{kind}").unlink()
    (root / "old stuff").mkdir()
    steps = json_of("check", root / "orders-0")["restart"]["steps"]
    steps += json_of("check", root, status=1)["restart"]["steps"]
    files = {step["file"] for step in steps if step["action"] == "rebuild" and step["segment"] == 0}
    assert files >= {f"orders-0/{0:020}.{kind}" for kind in ("index", "timeindex")}
    failing = [step for step in steps if step["action"] == "fail"]
    assert failing
    assert all("Found directory" in step["error"] and step["way_out"] for step in failing)
    others = [step for step in steps if step["action"] != "fail"]
    assert all(step["error"] is step["way_out"] is None for step in others)


def test_a_setting_that_the_directory_does_not_show_is_typed(few_logs):
    """The sample ran with log.retention.ms=-1 in a server.properties that is missing; then only
    retention.bytes counts.
    """
    report = json_of("check", few_logs, "--set", "log.retention.ms=-1")
    retention = {log["partition"]: log for log in report["retention"]}
    typed = {"value": -1, "source": "log.retention.ms, as typed"}
    assert retention["weblogs-0"]["retention_ms"] == typed
    states = [segment["state"] for segment in retention["weblogs-0"]["segments"]]
    assert states == ["bytes", "bytes"]
    assert {segment["state"] for segment in retention["orders-0"]["segments"]} == {"unlimited"}
    assert refusal_of("check", few_logs, "--set", "log.retention.ms=-2")


def test_the_words_say_what_keeps_the_segments(damaged_text):
    out = " ".join(damaged_text.split())
    # which cp -r does not keep
    assert ", the newest time of a file here, would delete 13 of 30" in out
    assert "broker wrote last" not in out
    assert "Retention at 2026-11-21 " in out
    assert "5 more must wait for an older segment" in out
    assert "retention.ms 7 d (default of Kafka 4.3)" in out
    because = "1970-01-01 00:00:00.000, a slot of the .timeindex that was never written: deleted"
    assert f"metrics-0 segment 1201: {because}" in out


def test_what_to_check_is_below_each_kind_of_deletable_files(damaged, tmp_path):
    """A stray replica may have the only records."""
    root = shutil.copytree(damaged, tmp_path / "kafka")
    stray = root / f"gone-0.{'0' * 32}-stray"
    stray.mkdir()
    (stray / f"{0:020d}.log").write_bytes(bytes(100))
    words = " ".join(text_of("check", root, status=1).split())
    for kind in (FreeingKind.LEFTOVER, FreeingKind.STRAY):
        name = disk_text.freeing_text(kind)
        assert f"{name} check first: {kind.check} cost: {kind.cost}" in words
    assert "TopicId that is in its partition.metadata" in words
    full_disk = words.partition("if the disk is full")[2]
    steps = re.findall(r"(?<= )\d\. (Delete|Run|Start)", full_disk)
    assert steps == ["Delete", "Delete", "Run", "Start"]
    assert f"files: {stray.name} " in words
    assert "Never delete the newest segment" in words and "Do not delete .index files" in words


def test_segments_that_retention_deletes_are_counted_once(clean, tmp_path):
    """They are deleted by hand in one step, so the start does not delete them again."""
    root = shutil.copytree(clean, tmp_path / "kafka")
    (root / "server.properties").write_text("log.cleanup.policy=delete\nlog.retention.bytes=0\n")
    text = text_of("check", root, "--kafka-version", "4.3.1")
    words = " ".join(text.split()).partition("if the disk is full")[2]
    assert disk_text.freeing_text(FreeingKind.RETENTION) in words
    assert "its next pass of retention deletes" not in words


def test_nothing_is_changed(damaged, fingerprint):
    before = fingerprint(damaged)
    json_of("check", damaged, status=1)
    assert fingerprint(damaged) == before


@pytest.fixture
def with_holes(clean, tmp_path) -> Path:
    """Returns a partition that lost seven segments, no two of them adjacent."""
    copy = shutil.copytree(clean / "tiny-index-0", tmp_path / "tiny-index-0")
    for path in sorted(copy.glob("*.log"))[1:15:2]:
        for file in copy.glob(f"{path.stem}.*"):
            file.unlink()
    return copy


@pytest.fixture
def with_holes_report(with_holes) -> dict:
    return json_of("check", with_holes)


@pytest.fixture
def with_holes_text(with_holes) -> str:
    return text_of("check", with_holes)


@pytest.mark.parametrize("name", ["with_holes", "damaged", "killed"])
def test_no_error_and_no_warning_is_in_json_alone(request, name):
    """The text has the place and message of each; findings that differ only by partition are
    printed once with the partitions. Of the cut of a tail, the consequence is enough.
    """
    findings = request.getfixturevalue(f"{name}_report")["findings"]
    findings = [finding for finding in findings if finding["severity"] != "info"]
    text = "".join(request.getfixturevalue(f"{name}_text").split())
    for finding in findings:
        partition = finding["partition"] or "thebrokerdirectory"
        place = ""
        if finding["file"] != finding["partition"]:
            place = finding["file"].removeprefix(f"{partition}/")
        if finding["length"]:
            last = finding["position"] + finding["length"] - 1
            place += f", bytes {finding['position']} to {last}"
        elif finding["position"] is not None:
            place += f", byte {finding['position']}"
        key = "consequence" if finding["code"] == "recovery-will-truncate" else "message"
        alike = [
            other[key]
            for other in findings
            if other["code"] == finding["code"] and _alike(other, finding)
        ]
        assert any("".join(words.split()) in text for words in alike), finding
        assert "".join(place.split()) in text and partition in text, finding


def _alike(finding: dict, other: dict) -> bool:
    first, second = (
        each["message"].replace(each["partition"] or "-", "") for each in (finding, other)
    )
    return first == second


def test_the_first_of_many_notes_has_its_partition():
    evidence = Evidence(message("evidence.no_file"))
    text = message("finding.crc_mismatch")
    notes = [
        make_finding("index-unwritten-slots", text, evidence, partition=f"orders-{number}")
        for number in range(3)
    ]
    assert "in orders-0" in "\n".join(check_text._render_notes(notes))


def test_the_text_has_the_groups_of_the_page(killed, killed_text):
    """A line "CODE, N times" for each item of the page that counts several findings."""
    items = finding_items(check(open_broker(killed)).findings, lambda *_: b"")
    assert [line for line in killed_text.splitlines() if line.endswith(" times; the first:")] == [
        f"{item.code}, {item.count} times; the first:" for item in items if item.count > 1
    ]


def test_a_cut_tail_is_one_finding_of_the_text_and_two_of_the_json(killed_text, killed_report):
    """The text has the finding about the tail, with the consequence of the cut."""
    codes = [finding["code"] for finding in killed_report["findings"]]
    assert codes.count("recovery-will-truncate") == 3
    assert "recovery-will-truncate" not in killed_text
    assert "3 errors, 6 warnings" in killed_text
    assert killed_text.count("The broker cuts these bytes off at its next start") == 3


def test_seven_holes_are_seven_lines(with_holes_text):
    """The first of more than three is printed in full, the others with place and message."""
    lines = with_holes_text.splitlines()
    assert sum("no batch holds offsets" in line for line in lines) == 7
    assert "segment-gap, 7 times; the first:" in lines


@pytest.fixture
def strange(clean, tmp_path) -> Path:
    """Returns a broker directory with names that must not reach a terminal unchanged."""
    root = copy_of(clean, tmp_path / "kafka", *OWN_FILES, "tiny-index-0")
    (root / "tiny-index-0" / "a\x1b[31mb\nc\u2028d").write_bytes(b"")
    for name in (b"caf\xe9", b"two\nlines", b"\xe2\x80\xae-0"):
        os.mkdir(os.path.join(os.fsencode(root), name))
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "options"),
    [
        ("ascii", []),
        ("utf-8", []),
        ("latin-1", ["--json"]),
        # the output has no other bit
        *(
            pytest.param(*output, marks=pytest.mark.nightly)
            for output in (("latin-1", []), ("ascii", ["--json"]), ("utf-8", ["--json"]))
        ),
    ],
)
def test_no_name_and_no_encoding_ends_a_check(strange, encoding, options):
    """One line per finding in any encoding, without control characters."""
    command = [sys.executable, "-m", "kafkaviz", "check", str(strange), *options]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    run = subprocess.run(command, env=environment, capture_output=True)
    assert run.returncode == 1 and b"Traceback" not in run.stderr
    out = run.stdout.decode(encoding)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", out)
    assert "Found directory" in out
    if options:
        assert out.isascii()
        files = {finding["file"] for finding in json.loads(out)["findings"]}
        assert {"two\nlines", "caf\ufffd", "tiny-index-0/a\x1b[31mb\nc\u2028d"} <= files
    else:
        assert r"a\x1b[31mb\nc\u2028d" in out and r"two\nlines" in out


def test_digits_can_be_pasted(damaged_text, damaged_report):
    for out in (damaged_text, json.dumps(damaged_report)):
        assert re.search("[0-9]{5}", out) and "\u202f" not in out and "u202f" not in out


@pytest.mark.parametrize(
    ("setting", "starts"),
    [
        ("segment.index.bytes", True),
        ("log.index.size.max.bytes", False),
        ("log.index.interval.bytes", False),
    ],
)
def test_a_default_of_the_broker_makes_no_room_in_a_topics_index(shared, setting, starts):
    """meter-readings has segment.index.bytes=1024 and index.interval.bytes=150 of its own.

    A 4.3.1 broker was started on copies of this directory: with either default in its
    server.properties it ended on the full time index. Once the topic had another value, set while
    the node ran as a controller alone, it started.
    """
    archive = shared / "data" / "kafka-4.3.1-unstartable.tar.gz"
    report = json_of("check", archive, "--set", f"{setting}=10485760", status=int(not starts))
    assert report["restart"]["starts"] is starts
    [*ways_out] = filter(None, (step["way_out"] for step in report["restart"]["steps"]))
    assert len(ways_out) == (not starts)
    for way_out in ways_out:
        assert way_out.startswith("give topic meter-readings a larger segment.index.bytes.")


@pytest.mark.parametrize(
    ("name", "says", "status"),
    [("few_logs", "9 of 11 segments", 0), ("damaged", "13 of 30 segments", 1)],
)
def test_retention_covers_the_same_segments_as_on_the_page(name, says, status, request):
    """Compacted logs are included, as in the table of the page."""
    directory = request.getfixturevalue(name)
    table = retention_view.segment_table(check(open_broker(directory)).retention)
    out = " ".join(text_of("check", directory, status=status).split())
    assert f"would delete {says}" in table.title and table.title in out
    assert table.notes[-1].startswith("This counts the segments in use") and table.notes[-1] in out


def test_a_directory_that_becomes_stray_is_reported_first(clean, tmp_path):
    """The start succeeds and serves one topic-partition fewer: an error, in the first lines."""
    copy_of(clean, tmp_path, *OWN_FILES, "__cluster_metadata-0", "nulls-0")
    (tmp_path / "nulls-0" / "partition.metadata").write_text(
        "version: 0\ntopic_id: AkXzOiiERbadGF_c6qNvhw"
    )
    lines = text_of("check", tmp_path, status=1).splitlines()
    assert lines[2].startswith(
        "the next start (stopped cleanly) WILL NOT serve one directory, which it treats as stray; "
        "apart from that "
    )
    report = json_of("check", tmp_path, status=1)
    [finding] = [finding for finding in report["findings"] if finding["code"] == "becomes-stray"]
    assert (finding["severity"], finding["partition"]) == ("error", "nulls-0")
    assert report["restart"]["starts"] is True


def test_many_empty_partitions_take_no_more_lines_than_some(tmp_path):
    """Some names, and how many more; --json has each."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    line_counts = []
    for count in (100, 400):
        for number in range(count):
            (tmp_path / f"empty-{number}").mkdir(exist_ok=True)
        output = text_of("check", tmp_path)
        assert f"empty-20 and {count - 21} more" in output
        line_counts.append(len(output.splitlines()))
    assert line_counts[0] == line_counts[1] < 60
    findings = json_of("check", tmp_path)["findings"]
    partitions = {item["partition"] for item in findings if item["code"] == "recovery-will-rebuild"}
    assert len(partitions) == 400


def test_many_causes_of_one_code_are_listed_to_an_end(tmp_path):
    """Damage that differs by directory: a line for some, a number for the rest."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    for number in range(100):
        folder = tmp_path / f"t-{number}"
        folder.mkdir()
        (folder / "leader-epoch-checkpoint").write_text(f"0\n1\n0 {'x' * (number + 1)}\n")
    output = text_of("check", tmp_path, status=1)
    assert "and 80 more: --json lists all" in " ".join(output.split())
    assert len(output.splitlines()) < 200


def test_one_of_several_directories_speaks_for_itself(disks):
    """The other directories may stop the start, and hold the settings of retention."""
    out = text_of("check", disks / "disk-b")
    start = out.splitlines()[2]
    assert start.startswith("nothing here stops the next start (not stopped cleanly)")
    assert start.endswith("; the broker's other log directories were not read")
    assert "will succeed" not in out
    retention = " ".join(out.partition("\nretention\n")[2].partition("\n\n")[0].split())
    assert "retention.ms, retention.bytes or cleanup.policy is unknown" in retention
    assert "the metadata log is not in an opened log directory" in retention
    assert "will succeed, and " in text_of("check", disks, status=1)


@pytest.mark.parametrize(
    "names",
    [
        ("disk-a",),
        ("disk-b",),
        pytest.param(("disk-a", "disk-c"), marks=pytest.mark.nightly),
        pytest.param(("disk-b", "disk-c"), marks=pytest.mark.nightly),
    ],
)
def test_the_command_the_page_and_the_report_say_what_was_not_read(disks, names, tmp_path):
    """One wording for a start of which only some directories are known, also with the metadata log,
    which names the others.
    """
    paths = [str(disks / name) for name in names]
    lines = text_of("check", *paths, status=int("disk-a" in names)).splitlines()
    start = next(line for line in lines if "next start" in line)
    assert start.startswith("nothing here stops the next start")
    assert start.endswith("; the broker's other log directories were not read")
    out = tmp_path / "report.html"
    text_of("report", *paths, "-o", out)
    html = out.read_text()
    assert "Nothing in the files read here stops this broker from starting. It will " in html
    assert "other log directories were not read." in html and "will start" not in html


def test_the_use_of_the_disk_in_json_and_text(damaged, damaged_report, damaged_text):
    disk = damaged_report["disk"]
    lengths = [path.stat().st_size for path in damaged.rglob("*") if path.is_file()]
    assert sum(disk["uses"].values()) == disk["length_bytes"] == sum(lengths)
    assert [part["uses"] for part in disk["log_directories"]] == [disk["uses"]]
    assert "use of the disk: 2.10 MiB in files" in damaged_text
    assert "1.39 MiB  records\n" in damaged_text


@pytest.mark.parametrize("rate", ["0", "-1", "x", "nan", "inf", "1e9"])
def test_a_rate_that_no_disk_reads_at(damaged, rate):
    error = refusal_of("check", damaged, f"--read-rate={rate}")
    assert f"'{rate}' is not a number of MB per second" in error


def test_the_time_of_a_recovery_follows_the_rate(killed, killed_text):
    """No server.properties is in the copy, so the number of threads is unknown."""
    text = " ".join(text_of("check", killed, "--read-rate", "1", status=1).split())
    assert "recovery reads 1.18 MiB in 4 segments of 4 logs: 561 ms to 1.2 s" in text
    assert "; speed: 1 MB/s, in the best case for each thread, in the worst for all threads" in text
    assumed = "; assumed speed: 100 MB/s, in the best case for each thread"
    assert assumed in " ".join(killed_text.split())


def test_typed_settings_count_for_recovery_and_the_metadata_log(killed, few_logs):
    threads = ("--set", "num.recovery.threads.per.data.dir=8")
    assert json_of("check", killed, *threads, status=1)["recovery"][0]["threads"] == 8
    report = json_of("check", few_logs, "--set", "metadata.max.retention.bytes=1")
    assert report["metadata_retention"]["freed_bytes"] > 0
