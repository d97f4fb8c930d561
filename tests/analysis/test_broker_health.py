"""Whole directories of real brokers: the check finds every damage, and nothing in healthy ones."""

import os
import pickle
import shutil
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz import messages, versions
from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.checks import settings
from kafkaviz.analysis.checks.state import _begin_ms
from kafkaviz.analysis.checks.summary import TimeAnomaly
from kafkaviz.analysis.findings import CODES, Evidence, Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message
from tests.analysis.lab import Lab
from tests.support.cases import all_cases
from tests.support.findings import alarms, checked, codes, only

MAY_NOT_BE_READ = message("errors.may_not_be_read")
TRUE_OF_CLEAN = {  # the topics were made so
    ("timestamp-in-future", "sensors-late-0/00000000000000010973.log"),
    ("timestamp-unit-suspect", "sensors-seconds-0/00000000000000000000.log"),
    ("time-index-limit-binds", "tiny-index-0/00000000000000000000.timeindex"),
}
DAMAGES = {  # twelve changes by hand
    ("timeindex-missing", "rides-0/00000000000000000607.timeindex"),
    ("index-missing", "rides-0/00000000000000001811.index"),
    ("orphan-index", "rides-0/00000000000000999999.index"),
    ("leftover-cleaned", "rides-0/00000000000000002418.log.cleaned"),
    ("index-zero-tail", "bookings-0/00000000000000000000.index"),
    ("index-offset-mismatch", "bookings-0/00000000000000000858.index"),
    ("timeindex-timestamp-mismatch", "bookings-0/00000000000000001721.timeindex"),
    ("index-size-not-multiple", "metrics-0/00000000000000000000.index"),
    ("timeindex-zero-tail", "metrics-0/00000000000000001201.timeindex"),
    ("index-zero-tail", "metrics-0/00000000000000002401.index"),
    ("txnindex-mismatch", "transfers-0/00000000000000000320.txnindex"),
    ("snapshot-bad-crc", "transfers-0/00000000000000003429.snapshot"),
}
PARTITIONS = ("clicks-none-0", "payments-0")


def archive(shared: Path, name: str) -> Path:
    return unpack_if_archive(shared / "data" / f"{name}.tar.gz")


def errors(health: Health) -> set[tuple[str, str | None, int | None, int | None]]:
    """Returns code, file, position and length of each error."""
    return {
        (finding.code, finding.file, finding.position, finding.length)
        for finding in health.findings
        if finding.severity == "error"
    }


@pytest.mark.parametrize(
    ("age_s", "has_lock", "key"),
    [
        (5, True, "finding.may_be_running"),
        (300, True, "finding.no_file"),
        (5, False, "finding.no_file"),
    ],
)
def test_a_fresh_checkpoint_next_to_a_lock_may_be_a_running_brokers(tmp_path, age_s, has_lock, key):
    """A broker of 4.3.1 writes its recovery points each minute, and a clean stop removes .lock."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    if has_lock:
        (tmp_path / ".lock").touch()
    checkpoint = tmp_path / "recovery-point-offset-checkpoint"
    checkpoint.write_text("0\n0\n")
    written_s = time.time() - age_s
    os.utime(checkpoint, (written_s, written_s))
    assert only(check(tmp_path), "unclean-shutdown").message.key == key


def test_a_clean_directory_has_no_error_and_only_true_warnings(clean):
    """91 segments of 4.3.1, some compacted or transactional, with deleted topics."""
    health = checked(clean)
    assert alarms(health) == TRUE_OF_CLEAN
    assert health.assumed_release.version == "4.3.1"
    assert health.restart.clean and health.restart.starts
    deleted = {
        (finding.code, finding.severity)
        for finding in health.findings
        if (finding.partition or "").endswith("-delete")
    }
    assert deleted == {("index-zero-tail", "info"), ("timeindex-zero-tail", "info")}


def test_each_damage_is_reported_and_nothing_else(damaged):
    """Other findings are only about what the next start will rebuild."""
    health = checked(damaged)
    assert alarms(health) - DAMAGES == {
        ("recovery-will-rebuild", "rides-0/00000000000000001811.index"),
        ("recovery-will-rebuild", "transfers-0/00000000000000000320.txnindex"),
    }
    assert alarms(health) >= DAMAGES
    assert health.restart.starts


def test_consequences_are_what_the_broker_did(damaged):
    """A 4.3.1 broker ran on this directory: asked for 954 it gave 1017; records of 1201 were found
    in 2401; 607 took every lookup.
    """
    health = checked(damaged)
    skips = only(health, "index-offset-mismatch").consequence
    assert skips.key == "consequence.search_skips"
    assert (skips["first"], skips["last"], skips["offset"]) == (949, 968, 1017)
    for code, text in {
        "timeindex-zero-tail": "skips the segment and answers with the next one",
        "timeindex-missing": "time lookups up to that time end in this segment",
        "txnindex-mismatch": "recovers the segment",
        "orphan-index": "deletes",
        "leftover-cleaned": "deletes",
    }.items():
        assert text in str(only(health, code).consequence), code


def test_evidence_has_the_bytes(damaged):
    """The slot shows its value and the right one: position 9285."""
    finding = only(checked(damaged), "index-offset-mismatch")
    assert (finding.position, finding.length) == (24, 8)
    assert finding.evidence.found_hex == "0000005b00003ff4"
    assert finding.evidence.expected_hex == "0000005b00002445"


def test_a_killed_directory_says_what_a_restart_will_do(killed):
    """Three tails were made by hand; unwritten slots are normal."""
    health = checked(killed)
    cuts = {
        (finding.file, finding.position, finding.length)
        for finding in health.findings
        if finding.code == "recovery-will-truncate"
    }
    assert cuts == {(file, position, length) for _, file, position, length in errors(health)}
    assert codes(health, "error") <= {"log-torn-tail", "log-zero-tail", "log-garbage-tail"}
    assert ("unclean-shutdown", ".kafka_cleanshutdown") in alarms(health)
    assert "index-unwritten-slots" in codes(health, "info")
    assert not health.restart.clean and health.restart.starts


def test_no_start_is_promised_to_cut_a_log_that_none_opens(killed, tmp_path, monkeypatch):
    """Kafka opens no .log of more than 2147483647 bytes, whether it was stopped cleanly or not, so
    someone has to cut or restore it.
    """
    shutil.copytree(killed / "weblogs-0", tmp_path / "weblogs-0")
    log = max((tmp_path / "weblogs-0").glob("*.log"))
    os.truncate(log, 2**31)
    for name in ("meta.properties", ".kafka_cleanshutdown"):
        shutil.copy(killed / "meta.properties", tmp_path / name)
        tail = only(check(tmp_path), "log-zero-tail")
        assert tail.consequence.key == "consequence.log_not_opened"
        assert tail.next_step.key == "next_step.cut_by_hand"
    os.truncate(log, 2**31 - 1)
    tail = only(check(tmp_path), "log-zero-tail")
    assert tail.consequence.key != "consequence.log_not_opened"
    monkeypatch.setattr("kafkaviz.analysis.checks.log.MAX_LOG_BYTES", 1000)
    tail = only(check(tmp_path), "log-zero-tail")
    assert tail.next_step.key == "next_step.restore_segment"


def test_the_whole_killed_directory(shared):
    """The only errors are the three tails, at the right bytes."""
    health = check(archive(shared, "kafka-4.3.1-killed"))
    assert errors(health) == {
        ("log-torn-tail", "clicks-zstd-0/00000000000000000000.log", 263_795, 464),
        ("log-zero-tail", "weblogs-0/00000000000000012138.log", 406_105, 512),
        ("log-garbage-tail", "append-time-0/00000000000000000000.log", 561_373, 45),
    }
    assert health.restart.starts


EXCERPT = "partition-missing"  # most partitions were left out, which the metadata log assigns
LOST_TRIMS = {  # made by hand in a directory of 4.4.0, in closed segments
    ("index-zero-tail", "tickets-any-0/00000000000000000000.index"),
    ("timeindex-zero-tail", "tickets-any-0/00000000000000000590.timeindex"),
}
UNFLUSHED_TRIM = CODES["index-zero-tail"].cause


def test_a_clean_stop_of_4_4_leaves_the_metadata_log_as_long_as_it_may_grow(restarted_4_4):
    """Every start recovers it. Lost trims in closed segments stay lost, and their cause is named."""
    health = checked(restarted_4_4)
    assert {alarm for alarm in alarms(health) if alarm[0] != EXCERPT} == LOST_TRIMS
    assert health.assumed_release.version == "4.4.0"
    assert (health.restart.clean, health.restart.starts) == (True, True)
    unwritten = {
        finding.file for finding in health.findings if finding.code == "index-unwritten-slots"
    }
    assert unwritten == {"__cluster_metadata-0/00000000000000000000.index"}
    assert all(
        finding.message["why"] == UNFLUSHED_TRIM
        for finding in health.findings
        if (finding.code, finding.file) in LOST_TRIMS
    )


@pytest.mark.parametrize(
    ("version", "consequence"),
    [("4.4.0", "consequence.metadata_log_untrimmed"), ("4.3.1", "consequence.preallocation_waste")],
)
def test_room_that_no_stop_gives_back_is_reported(restarted_4_4, tmp_path, version, consequence):
    """The metadata log's preallocated index was copied without its holes."""
    copy = Path(shutil.copytree(restarted_4_4, tmp_path / "kafka"))
    index = copy / "__cluster_metadata-0" / f"{0:020d}.index"
    index.write_bytes(index.read_bytes())
    finding = only(check(copy, version), "preallocation-waste")
    assert finding.file == f"__cluster_metadata-0/{index.name}"
    assert finding.consequence == message(consequence)


def test_a_stop_of_4_3_would_have_trimmed_the_metadata_log(restarted_4_4):
    """The same bytes as those of a 4.3.1 broker, which left no such indexes.

    The active segment was not rolled, so it lacks the trim of a stop. A broker of 4.3.1 would not
    start on the cluster's metadata.version.
    """
    tails = {
        (f"{kind}-zero-tail", f"__cluster_metadata-0/{0:020d}.{kind}")
        for kind in ("index", "timeindex")
    }
    health = checked(restarted_4_4, "4.3.1")
    others = ("recovery-will-fail", EXCERPT)
    assert {alarm for alarm in alarms(health) - LOST_TRIMS if alarm[0] not in others} == tails
    assert not [
        finding
        for finding in health.findings
        if (finding.code, finding.file) in tails and "KAFKA-20979" in str(finding.message)
    ]


@pytest.mark.slow
def test_whole_directories_of_4_4(shared):
    """Only the manual damage and the topics' intended faults are errors."""
    errors_by_stop = {}
    for stop in ("clean", "killed", "killed-restarted"):
        health = check(archive(shared, f"kafka-4.4.0-{stop}"))
        assert health.assumed_release.version == "4.4.0" and health.restart.starts
        errors_by_stop[stop] = errors(health)
    lost = {
        ("timeindex-zero-tail", "tickets-any-0/00000000000000000590.timeindex", 72, 65_460),
        ("timeindex-zero-tail", "parcels-0/00000000000000001026.timeindex", 120, 10_485_636),
    }
    torn = {
        ("log-zero-tail", "proxy-logs-0/00000000000000003201.log", 46_003, 512),
        ("log-garbage-tail", "arrived-at-0/00000000000000000000.log", 167_365, 45),
    }
    [tail] = [error for error in errors_by_stop["killed"] if error[0] == "log-torn-tail"]
    assert tail[1].startswith("tickets-zstd-0/")
    assert errors_by_stop == {
        "clean": set(),
        "killed": lost | torn | {tail},
        "killed-restarted": lost,
    }


def test_a_directory_that_no_broker_starts_on(shared):
    """segment.index.bytes of meter-readings was lowered to 1024, as the metadata log says. That
    holds for one partition next to the metadata log, too.
    """
    health = check(archive(shared, "kafka-4.3.1-unstartable"))
    assert codes(health, "error") == {"recovery-will-fail"}
    error = only(health, "recovery-will-fail")
    assert error.file.startswith("meter-readings-0/00000000000000000000.")
    found = str(error.evidence.found)
    assert "Attempt to append to a full time index (size = 84)" in found
    assert not health.restart.starts
    one_partition = check(archive(shared, "kafka-4.3.1-unstartable") / "meter-readings-0")
    assert not one_partition.restart.starts
    assert only(one_partition, "recovery-will-fail").partition == "meter-readings-0"
    assert check(archive(shared, "kafka-4.3.1-unstartable") / "orders-0").restart.starts


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("kafka-3.9.0-leader", "3.9", {"index-coarse", "offset-gap-explained"}),
        ("kafka-3.9.0-follower", "3.9", {"index-coarse", "offset-gap-explained"}),
        (
            "kafka-4.3.1-killed-restarted",
            "4.3.1",
            {"offset-gap-explained", "interval-without-effect"},
        ),
        (
            "kafka-2.8.2-legacy",
            "3.6",
            {"index-coarse", "offset-gap-explained", "timeindex-deep-offset", "retention-by-mtime"},
        ),
    ],
)
def test_healthy_directories_of_other_releases_have_no_error(shared, name, version, expected):
    """Entries per append or per batch, deep or not, rebuilt or not: their codes are information."""
    health = check(archive(shared, name))
    assert health.counts["error"] == 0
    assert codes(health, "info") == expected
    assert health.assumed_release.version == version
    assert codes(health, "warning") <= {
        *("timestamps-missing", "time-index-limit-binds"),
        *("hanging-transaction", "timestamp-in-future"),
    }


def test_the_behaviour_is_that_of_the_version_passed(damaged):
    old, new = checked(damaged, "2.2"), checked(damaged)
    assert old.assumed_release.traces == (message("release.given"),)
    code = "index-size-not-multiple"
    assert only(old, code).consequence != only(new, code).consequence
    old_codes, new_codes = ({code for code, _ in alarms(health)} for health in (old, new))
    assert old_codes ^ new_codes <= {"recovery-will-rebuild"}
    with pytest.raises(KafkavizError, match="not a version of Kafka"):
        check(damaged, "newest")


def test_one_partition_of_a_broker(damaged):
    health = check(damaged / "rides-0")
    assert {finding.partition for finding in health.findings} == {"rides-0"}
    files = {file for code, file in alarms(health) if code != "recovery-will-rebuild"}
    assert files == {file for _, file in DAMAGES if file.startswith("rides")}
    assert check(damaged, partition="rides-0").findings == health.findings


def test_a_partition_without_its_broker(clean, tmp_path):
    health = check(shutil.copytree(clean / "clicks-none-0", tmp_path / "clicks-none-0"))
    assert health.findings == () and health.assumed_release.version == versions.NEWEST
    assert [step for step in health.restart.steps if step.action != "keep"] == []


def test_a_broker_directory_without_meta_properties_is_one(killed, tmp_path):
    """It was not stopped cleanly, whatever is missing. Only a partition that is opened by itself
    may have no broker around it.
    """
    copy = Path(shutil.copytree(killed, tmp_path / "kafka"))
    before = alarms(check(copy))
    (copy / "meta.properties").unlink()
    health = check(copy)
    assert alarms(health) - before == {
        ("meta-properties-bad", "meta.properties"),
        ("recovery-will-fail", "meta.properties"),
    }
    assert alarms(health) >= before and ("unclean-shutdown", ".kafka_cleanshutdown") in before
    assert (health.restart.clean, health.restart.starts) == (False, False)


def test_one_broken_segment_hides_no_neighbour(clean, tmp_path):
    """A file that cannot be read is a finding, and the neighbouring segments are checked."""
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    first, second = lab.files("orders-0", ".log")[:2]
    first.unlink()
    first.mkdir()  # no regular file: as if it were gone
    lab.change(second, lambda data: data.__setitem__(200, data[200] ^ 1))
    assert codes(check(lab.path)) >= {"batch-crc-mismatch", "orphan-index"}


def test_a_batch_of_the_future_is_named_by_its_offsets(clean):
    """A header has the newest time of its records but not which record has it: 2027 is the time of
    offset 11000, the batch ends at 11001.
    """
    future = only(checked(clean), "timestamp-in-future").message
    assert future.key == "finding.future_batches"
    assert future["where"] == message("finding.in_batch", first=10_973, last=11_001)


@pytest.mark.parametrize(
    ("first", "last", "where"),
    [
        (3, 9, message("finding.in_batch", first=3, last=9)),
        (9, 9, message("finding.at_offset", offset=9)),
        (-1, 9, message("finding.in_batch_up_to", offset=9)),
    ],
)
def test_where_a_time_is_wrong(first, last, where):
    """A batch of one record is that record. An old compressed message may hide its first offset."""
    anomaly = TimeAnomaly(
        count=1, position=0, size_bytes=100, offset=last, timestamp_ms=5, first_offset=first
    )
    assert anomaly.offsets_text == where


def test_many_segments_need_many_maps(clean, monkeypatch):
    """Two maps per segment, and those of the JVM."""
    broker = open_broker(clean)
    segments = sum(len(partition.live) for partition in broker.partitions)
    monkeypatch.setattr(settings, "MAX_MAP_COUNT", 2 * segments + settings.MAPS_OF_JVM)
    (finding,) = settings.check_broker(broker, ())
    assert finding.code == "maps-near-limit" and finding.message.key == "finding.maps"
    assert finding.message["n"] == segments
    monkeypatch.undo()
    assert list(settings.check_broker(broker, ())) == []


def test_findings_cross_to_another_process(damaged):
    findings = checked(damaged).findings
    assert pickle.loads(pickle.dumps(findings)) == findings


def test_a_directory_that_may_not_be_read_is_a_finding(clean):
    """Its segments are not known, and the finding says so."""
    broker = open_broker(clean)
    problem = Problem(clean / "orders-9", MAY_NOT_BE_READ, "permission")
    directory = replace(broker.main_directory, problems=(problem,))
    health = check(replace(broker, log_directories=(directory,)))
    assert health.restart is None  # the broker may read it
    (finding,) = [finding for finding in health.findings if finding.partition == "orders-9"]
    assert (finding.code, finding.severity) == ("unreadable-file", "error")
    assert finding.message["problem"] == MAY_NOT_BE_READ


def test_a_log_that_grows_meanwhile_has_no_torn_tail(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["clicks-none-0"])
    last = lab.files("clicks-none-0", ".log")[-1]
    data = last.read_bytes()
    lab.write(last, data[:-10])
    broker = open_broker(lab.path)
    assert ("log-torn-tail", f"clicks-none-0/{last.name}") in alarms(check(broker))
    lab.write(last, data)
    assert "log-torn-tail" not in codes(check(broker))


@pytest.fixture
def cut_follower(killed, tmp_path):
    """A killed broker's partition whose active .log lost its second half, but not its entries."""
    lab = Lab(killed, tmp_path / "kafka", ["weblogs-0"])
    log = lab.files("weblogs-0", ".log")[-1]
    batches = open_broker(lab.path).partition("weblogs-0").segments[-1].batches()
    return lab, log, int(batches["position"][len(batches) // 2])


ENTRIES_BEYOND_LOG = {"index-position-beyond-log", "timeindex-timestamp-mismatch"}


def _new_alarms(lab, log, cut, broker=None):
    """Cuts the log, and returns the codes of new findings, of a broker opened before or after."""
    before = alarms(check(lab.path))
    lab.write(log, log.read_bytes()[:cut])
    return {code for code, _ in alarms(check(broker or lab.path)) - before}


def test_a_truncation_leaves_entries_in_the_index_of_a_running_broker(cut_follower):
    """LogSegment.truncateTo of 4.3.1 moves the position of its buffer, not the end of the file."""
    lab, *_ = cut_follower
    (lab.path / ".lock").touch()
    (lab.path / "recovery-point-offset-checkpoint").touch()
    assert not _new_alarms(*cut_follower) & ENTRIES_BEYOND_LOG


def test_without_a_running_broker_the_end_of_the_log_may_be_lost(cut_follower):
    assert "index-position-beyond-log" in _new_alarms(*cut_follower)


def test_a_log_that_is_cut_meanwhile_has_no_entry_beyond_its_end(cut_follower):
    """A follower truncates to its leader's log."""
    broker = open_broker(cut_follower[0].path)
    codes = _new_alarms(*cut_follower, broker)
    assert not codes & {*ENTRIES_BEYOND_LOG, "log-torn-tail"}


def test_an_empty_log_needs_no_index(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["clicks-none-0"])
    lab.write(lab.path / "clicks-none-0" / "00000000000000009999.log", b"")
    assert not codes(check(lab.path)) & {"index-missing", "timeindex-missing"}


def test_a_snapshot_after_an_entry_that_points_before_the_file(data, tmp_path):
    """Whether a batch begins at the snapshot's offset is then found from byte 0 on."""
    nulls = Path(shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "nulls-0"))
    index = nulls / "00000000000000000000.index"
    index.write_bytes(b"\0\0\0\1\xff\xff\xff\0" + index.read_bytes()[8:])
    for offset in (3, 5):
        (nulls / f"{offset:020}.snapshot").write_bytes(b"")
    assert codes(check(nulls)) >= {"index-position-beyond-log", "snapshot-stray"}


@all_cases("code", sorted(CODES))
def test_a_next_step_that_needs_a_replica_names_the_command(code):
    """In each language, and no other next step names it."""
    next_step = CODES[code].next_step
    is_named = [
        "`kafkaviz compare`" in next_step.render(language_code)
        for language_code in messages.LANGUAGES
    ]
    finding = Finding(
        code=code,
        severity="error",
        partition=None,
        file=None,
        position=None,
        length=None,
        message=next_step,
        evidence=Evidence(found=next_step),
        consequence=next_step,
        next_step=next_step,
    )
    assert is_named == [finding.needs_replica] * len(is_named)


@pytest.mark.parametrize("has_state", [True, False])
def test_an_open_transaction_names_its_producer(clean, tmp_path, has_state):
    states = [f"__transaction_state-{number}" for number in range(3)]
    partitions = ["__cluster_metadata-0", "payments-0", *(states if has_state else [])]
    path = Lab(clean, tmp_path / "kafka", partitions).path
    found = only(check(path), "open-transaction")
    assert (found.severity, found.partition) == ("info", "payments-0")
    name = "tx-payments-2 (producer 4)" if has_state else "producer 4"
    assert str(found.message).startswith(
        f"{name} began a transaction at offset 18\u202f900 at 2026-11-21 09:29:45.807 and "
        "last wrote to it at "
    )
    line = "abort --topic payments --partition 0"
    assert str(found.next_step).endswith(f"{line} --start-offset 18900")
    earlier = only(check(path, "2.8"), "open-transaction").next_step
    options = "--producer-id 4 --producer-epoch 189 --coordinator-epoch 0"
    assert str(earlier).endswith(f"{line} {options}")


def test_since_when_a_transaction_is_open_is_unknown_without_its_log(clean, tmp_path):
    """Retention may delete the .log between its check and this finding."""
    path = Lab(clean, tmp_path / "kafka", ("__cluster_metadata-0", "payments-0")).path
    segment = open_broker(path).partition("payments-0").active
    batches = segment.batches()
    row = batches[batches["base_offset"] == 18_900][0]
    assert _begin_ms(segment, int(row["position"])) == 1_795_253_385_807
    segment.log.path.unlink()
    assert _begin_ms(segment, int(row["position"])) == -1


@pytest.mark.parametrize(
    ("beside", "is_copy"), [((), True), (("log-start-offset-checkpoint",), False)]
)
def test_partitions_in_an_archive_are_a_copy_unless_a_file_of_a_broker_is_there(
    beside, is_copy, clean, tmp_path
):
    path = tmp_path / "copied.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in (*PARTITIONS, *beside):
            archive.add(clean / name, name)
    broker = open_broker(path)
    assert (broker.is_copy, broker.shutdown_state) == (is_copy, "unknown" if is_copy else "unclean")
    assert {partition.directory for partition in broker.partitions} == set(PARTITIONS)
    health = check(path, "4.3.1")
    assert health.restart.starts == is_copy
    assert ("meta-properties-bad" in codes(health)) == (not is_copy)
