"""kafkaviz check as an operator runs it: text, JSON, exit status."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Evidence
from kafkaviz.analysis.findings import finding as make_finding
from kafkaviz.analysis.freeing import FreeingKind
from kafkaviz.cli.text import check_text
from kafkaviz.figures.health_view import finding_items
from kafkaviz.figures.text import disk_text
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message


def test_the_json_is_as_documented(damaged, capsys):
    """Every key of the object, of a finding and of a step."""
    assert main(["check", str(damaged), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        "schema",
        "directory",
        "kafka_version",
        "log_directories",
        "findings",
        "restart",
        "counts",
        "retention",
        "metadata_retention",
        "topics",
        "disk",
        "recovery",
        "freeing",
    ]
    assert (
        report["kafka_version"]["assumed"] == "4.3.1"
        and "metadata.version" in report["kafka_version"]["because"]
    )
    assert list(report["findings"][0]) == [
        "code",
        "severity",
        "partition",
        "file",
        "position",
        "length",
        "message",
        "evidence",
        "consequence",
        "next_step",
        "reference",
        "log_directory",
    ]
    assert list(report["findings"][0]["evidence"]) == [
        "found",
        "expected",
        "found_hex",
        "expected_hex",
    ]
    severities = [finding["severity"] for finding in report["findings"]]
    assert severities == sorted(severities, key="error warning info".index)
    assert report["restart"]["clean"] and report["restart"]["starts"]
    assert list(report["restart"]["steps"][0]) == [
        "partition",
        "segment",
        "file",
        "action",
        "cause",
        "from_position",
        "bytes",
        "why",
        "log_directory",
        "error",
        "way_out",
    ]
    assert {step["action"] for step in report["restart"]["steps"]} <= {
        "truncate",
        "rebuild",
        "delete",
        "keep",
        "fail",
    }
    assert report["counts"]["error"] == 5
    assert list(report["retention"][0]) == [
        "partition",
        "log_directory",
        "now_ms",
        "deletes",
        "retention_ms",
        "retention_bytes",
        "tiered",
        "not_uploaded_bytes",
        "log_bytes",
        "over_bytes",
        "segments",
    ]
    assert list(report["retention"][0]["segments"][0]) == [
        "segment",
        "bytes",
        "timestamp_ms",
        "counted_by",
        "offset",
        "state",
        "until_ms",
        "gone_ms",
        "blocked_by",
        "more_bytes",
    ]


def test_the_words_name_file_bytes_evidence_and_what_to_do(damaged, capsys):
    assert main(["check", str(damaged / "bookings-0")]) == 1
    out = capsys.readouterr()
    assert "ERROR    index-offset-mismatch  00000000000000000858.index, bytes 24 to 31" in out.out
    assert "[0000005b00003ff4]" in out.out and "[0000005b00002445]" in out.out
    assert "will succeed" in out.out and "KAFKA-7283" in out.out
    assert out.err == ""
    assert max(map(len, out.out.splitlines())) < 200


@pytest.mark.parametrize(
    ("options", "status"), [([], 0), (["--fail-on", "error"], 0), (["--fail-on", "warning"], 1)]
)
def test_the_exit_status_says_whether_there_was_anything(clean, capsys, options, status):
    """The clean directory has a true warning and no error."""
    assert main(["check", str(clean / "tiny-index-0"), *options]) == status
    assert "0 errors, 1 warning," in capsys.readouterr().out


def test_a_killed_broker_reports_what_will_be_cut(killed, capsys):
    assert main(["check", str(killed)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[2].startswith(
            "nothing here stops the next start (not stopped cleanly), which will cut "
        )
        and " bytes off three logs" in lines[2]
    )
    assert sum(line.startswith("recovery-will-rebuild, ") for line in lines) == 1
    assert not any("unflushed" in line for line in lines)
    assert any("found     the segment extends past the recovery point" in line for line in lines)
    assert sum(line.startswith("           also ") for line in lines) >= 1


def test_a_partition_without_its_broker_counts_as_cleanly_stopped(clean, capsys, tmp_path):
    """The text says that this is an assumption."""
    shutil.copytree(clean / "orders-2", tmp_path / "orders-2")
    assert main(["check", str(tmp_path / "orders-2")]) == 0
    assert (
        capsys.readouterr().out.splitlines()[2]
        == "the next start (treated as stopped cleanly) will succeed, and change nothing"
    )


@pytest.mark.parametrize(("settings", "is_said"), [([], False), (["--kafka-version", "2.2"], True)])
@pytest.mark.parametrize("name", ["killed", "unstartable"])
def test_the_evidence_for_a_start_is_reported(name, settings, is_said, request, capsys):
    """If the release differs from that of the recorded starts, also for a start that fails."""
    main(["check", str(request.getfixturevalue(name)), *settings])
    head = capsys.readouterr().out.partition("\n\n")[0]
    assert (
        head.endswith(
            "\n  Known from the source of Kafka 2.2; starts were recorded only for 4.3.1 and 4.4.0."
        )
        == is_said
    )
    assert is_said or "recorded" not in head


def test_what_is_read_again_reads_as_on_the_page(clean, capsys, tmp_path):
    shutil.copytree(clean / "orders-2", tmp_path / "orders-2")
    shutil.copy2(clean / "meta.properties", tmp_path)
    assert main(["check", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
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
        (
            ["{clean}", "--kafka-version", "0.1"],
            "not a known release; give one from 0.10 to 4.4",
        ),
        (["{clean}", "--kafka-version", "3.99"], "Kafka 3.99 is not a known release"),
        (["{clean}", "--kafka-version", "5.0"], "Kafka 5.0 is not a known release"),
        (["{clean}/orders-0/leader-epoch-checkpoint"], "is a file"),
    ],
)
def test_what_cannot_be_checked_is_one_line(clean, capsys, arguments, words):
    assert main(["check", *(argument.format(clean=clean) for argument in arguments)]) == 2
    out = capsys.readouterr()
    assert out.out == "" and words in out.err and len(out.err.splitlines()) == 1


def test_a_refusing_start_says_why(clean, tmp_path, capsys):
    lone = tmp_path / "kafka"
    lone.mkdir()
    for name in ("meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint"):
        shutil.copy2(clean / name, lone / name)
    (lone / "old stuff").mkdir()
    assert main(["check", str(lone)]) == 1
    out = capsys.readouterr().out
    assert "WILL FAIL" in out and "Found directory old stuff" in out and "directory-name-bad" in out


def test_the_largest_topics_come_last(damaged, capsys):
    sizes: dict[str, list[int]] = {}
    for folder in damaged.iterdir():
        if folder.is_dir():
            topic = sizes.setdefault(folder.name.rpartition("-")[0], [0, 0, 0])
            topic[0] += 1
            for path in folder.iterdir():
                if kind := re.match(r"\d{20}\.(log|index|timeindex|txnindex)", path.name):
                    topic[1 if kind[1] == "log" else 2] += path.stat().st_size
    main(["check", str(damaged), "--json"])
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert {topic.pop("topic"): [*topic.values()] for topic in topics} == sizes
    main(["check", str(damaged)])
    block = capsys.readouterr().out.rpartition("\n\n")[2].splitlines()
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
def test_a_cause_of_many_directories_is_said_once(clean, tmp_path, capsys, folders, others):
    for name in ("meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint"):
        shutil.copy2(clean / name, tmp_path / name)
    for number in range(folders):
        (tmp_path / f"stuff {number}").mkdir()
    assert main(["check", str(tmp_path)]) == 1
    headline = capsys.readouterr().out.partition("\n\n")[0]
    assert headline.count("KafkaException: Found directory stuff 0,") == 1
    lines = [line.strip() for line in headline.splitlines()]
    assert [line for line in lines if line.startswith("the same in")] == others
    assert headline.count("out of the broker directory") == 1


def test_each_step_of_the_start_names_its_file_and_a_failing_one_its_exception(
    clean, tmp_path, capsys
):
    shutil.copytree(clean / "orders-0", tmp_path / "kafka" / "orders-0")
    for name in ("meta.properties", "bootstrap.checkpoint", "recovery-point-offset-checkpoint"):
        shutil.copy2(clean / name, tmp_path / "kafka" / name)
    (tmp_path / "kafka" / ".kafka_cleanshutdown").touch()
    for kind in ("index", "timeindex"):
        (tmp_path / "kafka" / "orders-0" / f"{0:020}.{kind}").unlink()
    (tmp_path / "kafka" / "old stuff").mkdir()
    steps = []
    for path in (tmp_path / "kafka" / "orders-0", tmp_path / "kafka"):
        main(["check", str(path), "--json"])
        steps += json.loads(capsys.readouterr().out)["restart"]["steps"]
    files = {step["file"] for step in steps if step["action"] == "rebuild" and step["segment"] == 0}
    assert files >= {f"orders-0/{0:020}.{kind}" for kind in ("index", "timeindex")}
    failing = [step for step in steps if step["action"] == "fail"]
    assert failing and all(
        "Found directory" in step["error"] and step["way_out"] for step in failing
    )
    assert all(
        step["error"] is step["way_out"] is None for step in steps if step["action"] != "fail"
    )


def test_a_setting_that_the_directory_does_not_show_is_typed(clean, capsys):
    """The sample ran with log.retention.ms=-1 in a server.properties that is missing; then only
    retention.bytes counts.
    """
    main(["check", str(clean), "--json", "--set", "log.retention.ms=-1"])
    retention = {log["partition"]: log for log in json.loads(capsys.readouterr().out)["retention"]}
    assert retention["weblogs-0"]["retention_ms"] == {
        "value": -1,
        "source": "log.retention.ms, as typed",
    }
    assert [segment["state"] for segment in retention["weblogs-0"]["segments"]] == [
        "bytes",
        "bytes",
    ]
    assert {segment["state"] for segment in retention["orders-0"]["segments"]} == {"unlimited"}
    assert main(["check", str(clean), "--set", "log.retention.ms=-2"]) == 2


def test_the_words_say_what_keeps_the_segments(damaged, capsys):
    main(["check", str(damaged)])
    out = " ".join(capsys.readouterr().out.split())
    # which cp -r does not keep
    assert (
        ", the newest time of a file here, would delete 13 of 30" in out
        and "broker wrote last" not in out
    )
    assert (
        "Retention at 2026-11-21 " in out
        and "5 more can go only after an older one" in out
        and "retention.ms 7 d (default of Kafka 4.3)" in out
    )
    assert (
        "metrics-0 segment 1201: 1970-01-01 00:00:00.000, a slot of the .timeindex that was never "
        "written: deleted"
    ) in out


def test_what_to_check_is_below_each_kind_of_deletable_files(damaged, capsys, tmp_path):
    """A stray replica may have the only records."""
    root = tmp_path / "kafka"
    shutil.copytree(damaged, root)
    stray = root / f"gone-0.{'0' * 32}-stray"
    stray.mkdir()
    (stray / f"{0:020d}.log").write_bytes(bytes(100))
    main(["check", str(root)])
    words = " ".join(capsys.readouterr().out.split())
    for kind in (FreeingKind.LEFTOVER, FreeingKind.STRAY):
        name = disk_text.freeing_text(kind)
        assert f"{name} check first: {kind.check} cost: {kind.cost}" in words
    assert "TopicId that is in its partition.metadata" in words
    steps = re.findall(
        r"(?<= )\d\. (Delete|Run|Start)", words[words.index("if the disk is full") :]
    )
    assert steps == ["Delete", "Delete", "Run", "Start"]
    assert f"files: {stray.name} " in words
    assert "Never delete the newest segment" in words and "Do not delete .index files" in words


def test_segments_that_retention_deletes_are_counted_once(clean, capsys, tmp_path):
    """They are deleted by hand in one step, so the start does not delete them again."""
    root = tmp_path / "kafka"
    shutil.copytree(clean, root)
    (root / "server.properties").write_text("log.cleanup.policy=delete\nlog.retention.bytes=0\n")
    main(["check", str(root), "--kafka-version", "4.3.1"])
    words = " ".join(capsys.readouterr().out.split())
    words = words[words.index("if the disk is full") :]
    assert disk_text.freeing_text(FreeingKind.RETENTION) in words
    assert "its next pass of retention deletes" not in words


def test_nothing_is_changed(damaged):
    def state():
        return sorted(
            (path, path.stat().st_size, path.stat().st_mtime_ns) for path in damaged.rglob("*")
        )

    before = state()
    main(["check", str(damaged), "--json"])
    assert state() == before


@pytest.fixture
def with_holes(clean, tmp_path) -> Path:
    """Returns a partition that lost seven segments, no two of them adjacent."""
    copy = tmp_path / "tiny-index-0"
    shutil.copytree(clean / "tiny-index-0", copy)
    for path in sorted(copy.glob("*.log"))[1:15:2]:
        for file in copy.glob(f"{path.stem}.*"):
            file.unlink()
    return copy


@pytest.mark.parametrize("name", ["with_holes", "damaged", "killed"])
def test_no_error_and_no_warning_is_in_json_alone(request, capsys, name):
    """The text has the place and message of each; findings that differ only by partition are
    printed once with the partitions. Of the cut of a tail, the consequence is enough.
    """
    path = str(request.getfixturevalue(name))
    main(["check", path, "--json"])
    findings = [
        finding
        for finding in json.loads(capsys.readouterr().out)["findings"]
        if finding["severity"] != "info"
    ]
    main(["check", path])
    text = "".join(capsys.readouterr().out.split())
    for finding in findings:
        partition = finding["partition"] or "thebrokerdirectory"
        place = (
            (finding["file"] or "").removeprefix(f"{finding['partition']}/")
            if finding["file"] != finding["partition"]
            else ""
        )
        if finding["position"] is not None:
            last = finding["position"] + (finding["length"] or 0) - 1
            place += (
                f", bytes {finding['position']} to {last}"
                if finding["length"]
                else f", byte {finding['position']}"
            )
        key = "consequence" if finding["code"] == "recovery-will-truncate" else "message"
        alike = [
            other[key]
            for other in findings
            if other["code"] == finding["code"] and _alike(other, finding)
        ]
        assert any("".join(words.split()) in text for words in alike), finding
        assert "".join(place.split()) in text and partition in text, finding


def _alike(finding: dict, other: dict) -> bool:
    texts = [
        finding_["message"].replace(finding_["partition"] or "-", "")
        for finding_ in (finding, other)
    ]
    return texts[0] == texts[1]


def test_the_first_of_many_notes_has_its_partition():
    evidence = Evidence(message("evidence.no_file"))
    text = message("finding.crc_mismatch")
    notes = [
        make_finding("index-unwritten-slots", text, evidence, partition=f"orders-{number}")
        for number in range(3)
    ]
    assert "in orders-0" in "\n".join(check_text._render_notes(notes))


def test_the_text_has_the_groups_of_the_page(killed, capsys):
    """A line "CODE, N times" for each item of the page that counts several findings."""
    main(["check", str(killed)])
    lines = capsys.readouterr().out.splitlines()
    items = finding_items(check(open_broker(killed)).findings, lambda *_: b"")
    assert [line for line in lines if line.endswith(" times; the first:")] == [
        f"{item.code}, {item.count} times; the first:" for item in items if item.count > 1
    ]


def test_a_cut_tail_is_one_finding_of_the_text_and_two_of_the_json(killed, capsys):
    """The text has the finding about the tail, with the consequence of the cut."""
    main(["check", str(killed)])
    text = capsys.readouterr().out
    main(["check", str(killed), "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    cuts = [finding for finding in findings if finding["code"] == "recovery-will-truncate"]
    assert len(cuts) == 3 and "recovery-will-truncate" not in text
    assert "3 errors, 6 warnings" in text
    assert text.count("The broker cuts these bytes off at its next start") == 3


def test_seven_holes_are_seven_lines(with_holes, capsys):
    """The first of more than three is printed in full, the others with place and message."""
    assert main(["check", str(with_holes)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        sum("no batch holds offsets" in line for line in lines) == 7
        and "segment-gap, 7 times; the first:" in lines
    )


@pytest.fixture
def strange(clean, tmp_path) -> Path:
    """Returns a broker directory with names that must not reach a terminal unchanged."""
    root = tmp_path / "kafka"
    shutil.copytree(clean / "tiny-index-0", root / "tiny-index-0")
    for name in ("meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint"):
        shutil.copy2(clean / name, root / name)
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
    root = Path(__file__).parents[2]
    run = subprocess.run(
        command,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(root)},
        capture_output=True,
    )
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


def test_digits_can_be_pasted(damaged, capsys):
    for options in ([], ["--json"]):
        main(["check", str(damaged), *options])
        out = capsys.readouterr().out
        assert re.search("[0-9]{5}", out) and "\u202f" not in out and "u202f" not in out


@pytest.mark.parametrize(
    ("setting", "starts"),
    [
        ("segment.index.bytes", True),
        ("log.index.size.max.bytes", False),
        ("log.index.interval.bytes", False),
    ],
)
def test_a_default_of_the_broker_makes_no_room_in_a_topics_index(shared, capsys, setting, starts):
    """meter-readings has segment.index.bytes=1024 and index.interval.bytes=150 of its own.

    A 4.3.1 broker was started on copies of this directory: with either default in its
    server.properties it ended on the full time index. Once the topic had another value, set while
    the node ran as a controller alone, it started.
    """
    main(
        [
            "check",
            str(shared / "data" / "kafka-4.3.1-unstartable.tar.gz"),
            "--set",
            f"{setting}=10485760",
            "--json",
        ]
    )
    restart = json.loads(capsys.readouterr().out)["restart"]
    assert restart["starts"] is starts
    ways_out = [
        step["way_out"].partition(" segment.index.bytes.")[0]
        for step in restart["steps"]
        if step["way_out"]
    ]
    assert ways_out == ([] if starts else ["give topic meter-readings a larger"])


@pytest.mark.parametrize(
    ("name", "says"), [("clean", "72 of 90 segments"), ("damaged", "13 of 30 segments")]
)
def test_retention_covers_the_same_segments_as_on_the_page(name, says, request, capsys):
    """Compacted logs are included, as in the table of the page."""
    from kafkaviz.analysis.broker_health import check
    from kafkaviz.figures.disk import retention_view
    from kafkaviz.log.broker import open_broker

    directory = request.getfixturevalue(name)
    table = retention_view.segment_table(check(open_broker(directory)).retention)
    main(["check", str(directory)])
    out = " ".join(capsys.readouterr().out.split())
    assert f"would delete {says}" in table.title and table.title in out
    assert table.notes[-1].startswith("This counts the segments in use") and table.notes[-1] in out


def test_a_directory_that_becomes_stray_is_reported_first(clean, tmp_path, capsys):
    """The start succeeds and serves one topic-partition fewer: an error, in the first lines."""
    for name in ("meta.properties", ".kafka_cleanshutdown"):
        shutil.copy(clean / name, tmp_path / name)
    for name in ("__cluster_metadata-0", "nulls-0"):
        shutil.copytree(clean / name, tmp_path / name)
    (tmp_path / "nulls-0" / "partition.metadata").write_text(
        "version: 0\ntopic_id: AkXzOiiERbadGF_c6qNvhw"
    )
    assert main(["check", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(
        "the next start (stopped cleanly) WILL NOT serve one directory, which it treats as stray; "
        "apart from that "
    )
    assert main(["check", str(tmp_path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    [finding] = [finding for finding in report["findings"] if finding["code"] == "becomes-stray"]
    assert (finding["severity"], finding["partition"], report["restart"]["starts"]) == (
        "error",
        "nulls-0",
        True,
    )


def test_many_empty_partitions_take_no_more_lines_than_some(tmp_path, capsys):
    """Some names, and how many more; --json has each."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    line_counts = []
    for count in (100, 400):
        for number in range(count):
            (tmp_path / f"empty-{number}").mkdir(exist_ok=True)
        assert main(["check", str(tmp_path)]) == 0
        output = capsys.readouterr().out
        assert f"empty-20 and {count - 21} more" in output
        line_counts.append(len(output.splitlines()))
    assert line_counts[0] == line_counts[1] < 60
    assert main(["check", str(tmp_path), "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    partitions = {item["partition"] for item in findings if item["code"] == "recovery-will-rebuild"}
    assert len(partitions) == 400


def test_many_causes_of_one_code_are_listed_to_an_end(tmp_path, capsys):
    """Damage that differs by directory: a line for some, a number for the rest."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    for number in range(100):
        folder = tmp_path / f"t-{number}"
        folder.mkdir()
        (folder / "leader-epoch-checkpoint").write_text(f"0\n1\n0 {'x' * (number + 1)}\n")
    assert main(["check", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert "and 80 more: --json lists all" in " ".join(output.split())
    assert len(output.splitlines()) < 200


def test_one_of_several_directories_speaks_for_itself(disks, capsys):
    """The other directories may stop the start, and hold the settings of retention."""
    main(["check", str(disks / "disk-b")])
    out = capsys.readouterr().out
    start = out.splitlines()[2]
    assert start.startswith("nothing here stops the next start (not stopped cleanly)")
    assert start.endswith("; the broker's other log directories were not read")
    assert "will succeed" not in out
    retention = " ".join(out.partition("\nretention\n")[2].partition("\n\n")[0].split())
    assert "retention.ms, retention.bytes or cleanup.policy is unknown" in retention
    assert "the metadata log is not in an opened log directory" in retention
    main(["check", str(disks)])
    assert "will succeed, and " in capsys.readouterr().out


@pytest.mark.parametrize(
    "names", [("disk-a",), ("disk-b",), ("disk-a", "disk-c"), ("disk-b", "disk-c")]
)
def test_the_command_the_page_and_the_report_say_what_was_not_read(disks, names, capsys, tmp_path):
    """One wording for a start of which only some directories are known, also with the metadata log,
    which names the others.
    """
    paths = [str(disks / name) for name in names]
    main(["check", *paths])
    lines = capsys.readouterr().out.splitlines()
    start = next(line for line in lines if "next start" in line)
    assert start.startswith("nothing here stops the next start")
    assert start.endswith("; the broker's other log directories were not read")
    out = tmp_path / "report.html"
    main(["report", *paths, "-o", str(out)])
    html = out.read_text()
    assert "Nothing read here stops this broker from starting. It will " in html
    assert "other log directories were not read." in html and "will start" not in html


def test_the_use_of_the_disk_in_json_and_text(damaged, capsys):
    main(["check", str(damaged), "--json"])
    disk = json.loads(capsys.readouterr().out)["disk"]
    lengths = [path.stat().st_size for path in damaged.rglob("*") if path.is_file()]
    assert sum(disk["uses"].values()) == disk["length_bytes"] == sum(lengths)
    assert [part["uses"] for part in disk["log_directories"]] == [disk["uses"]]
    main(["check", str(damaged)])
    text = capsys.readouterr().out
    assert "use of the disk: 2.10 MiB in files" in text
    assert "1.39 MiB  records\n" in text


@pytest.mark.parametrize("rate", ["0", "-1", "x", "nan", "inf", "1e9"])
def test_a_rate_that_no_disk_reads_at(damaged, capsys, rate):
    with pytest.raises(SystemExit) as ended:
        main(["check", str(damaged), f"--read-rate={rate}"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert f"'{rate}' is not a number of MB per second" in error and error.count("\n") == 1


def test_the_time_of_a_recovery_follows_the_rate(killed, capsys):
    """No server.properties is in the copy, so the number of threads is unknown."""
    main(["check", str(killed), "--read-rate", "1"])
    text = " ".join(capsys.readouterr().out.split())
    assert "recovery reads 1.18 MiB in 4 segments of 4 logs: 561 ms to 1.2 s" in text
    assert "; in the best case each thread reads 1 MB/s, in the worst all threads together" in text
    main(["check", str(killed)])
    assert "; assumed: in the best case each thread reads 100 MB/s" in " ".join(
        capsys.readouterr().out.split()
    )


def test_typed_settings_count_for_recovery_and_the_metadata_log(killed, clean, capsys):
    main(["check", str(killed), "--json", "--set", "num.recovery.threads.per.data.dir=8"])
    assert json.loads(capsys.readouterr().out)["recovery"][0]["threads"] == 8
    main(["check", str(clean), "--json", "--set", "metadata.max.retention.bytes=1"])
    assert json.loads(capsys.readouterr().out)["metadata_retention"]["freed_bytes"] > 0
